//! Requests for one object.

use std::collections::BTreeMap;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};

use crate::measure::{Args, Meter};

/// How many requests are under way at a time.
const AT_A_TIME: usize = 8;

pub async fn run(args: Args, mut meter: Meter, client: Client) {
    let pods = |i: i64| -> (Api<Pod>, String) {
        let i = i % args.objects;
        (Api::namespaced(client.clone(), &format!("team-{}", i % 50)), format!("web-6d4cf56db6-{i:05}"))
    };
    meter.end("start", 1, None);
    stream::iter(0..args.events)
        .for_each_concurrent(AT_A_TIME, |i| {
            let (api, name) = pods(i);
            async move {
                api.get(&name).await.expect("get");
            }
        })
        .await;
    meter.end("get", args.events, None);
    let params = PatchParams::apply("bench").force();
    stream::iter(0..args.events)
        .for_each_concurrent(AT_A_TIME, |i| {
            let (api, name) = pods(i);
            let params = &params;
            async move {
                let labels = BTreeMap::from([("bench".to_string(), i.to_string())]);
                let pod = Pod {
                    metadata: ObjectMeta { name: Some(name.clone()), labels: Some(labels), ..Default::default() },
                    ..Default::default()
                };
                api.patch(&name, params, &Patch::Apply(&pod)).await.expect("apply");
            }
        })
        .await;
    meter.end("apply", args.events, None);
}
