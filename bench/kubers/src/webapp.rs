//! The custom resource that the replay server has.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "WebApp", namespaced, status = "WebAppStatus")]
pub struct WebAppSpec {
    pub image: String,
    pub replicas: i32,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub hosts: Vec<String>,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebAppStatus {
    pub available_replicas: i32,
    pub ready: bool,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}
