//! The kube-rs peer: a reflector whose stream is followed, and a controller whose reconciler has
//! its object from the store. It has the best settings that kube-rs offers: streaming lists,
//! managedFields dropped before an object is stored, shared objects that are not copied. Built-in
//! kinds travel as JSON, which is all that kube-rs speaks.

mod cache;
mod measure;
mod read;
mod reconcile;
mod unary;
mod webapp;

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Config, Resource};
use serde::de::DeserializeOwned;

use measure::{Args, Meter};
use webapp::WebApp;

#[global_allocator]
static ALLOCATOR: measure::Counting = measure::Counting;

/// What all kinds have. They are known at compile time.
pub trait Kind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}

/// The watch of all clients of the benchmark: a streaming list, without managedFields.
pub fn watch<K: Kind>(
    client: &Client,
) -> impl futures::Stream<Item = kube::runtime::watcher::Result<kube::runtime::watcher::Event<K>>> + Send + 'static {
    use kube::runtime::{WatchStreamExt, watcher};
    watcher(Api::<K>::all(client.clone()), watcher::Config::default().streaming_lists())
        .default_backoff()
        .modify(|object| object.meta_mut().managed_fields = None)
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let meter = Meter::new();
    let client = Client::try_from(Config::new(args.server.parse().expect("-server is no URL"))).expect("client");
    match args.kind.as_str() {
        "pods" => run::<Pod>(args, meter, client).await,
        "secrets" => run::<Secret>(args, meter, client).await,
        "webapps" => run::<WebApp>(args, meter, client).await,
        kind => panic!("no kind {kind}"),
    }
    std::process::exit(0); // the runtime would wait for what it runs
}

async fn run<K: Kind>(args: Args, meter: Meter, client: Client) {
    match args.scenario.as_str() {
        "cache" | "relist" => cache::run::<K>(args, meter, client).await,
        "reconcile" => reconcile::run::<K>(args, meter, client).await,
        "read" => read::run::<K>(args, meter, client).await,
        "unary" => unary::run(args, meter, client).await,
        scenario => panic!("no scenario {scenario}"),
    }
}
