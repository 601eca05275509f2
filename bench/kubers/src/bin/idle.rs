//! The smallest operator: a controller of one custom resource, which reaches its cluster as
//! programs do.

#[path = "../webapp.rs"]
mod webapp;

use std::convert::Infallible;
use std::sync::Arc;

use futures::StreamExt;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use webapp::WebApp;

async fn reconcile(app: Arc<WebApp>, _: Arc<()>) -> Result<Action, Infallible> {
    eprintln!("reconciled {}/{}", app.namespace().unwrap_or_default(), app.name_any());
    Ok(Action::await_change())
}

#[tokio::main]
async fn main() -> Result<(), kube::Error> {
    let client = Client::try_default().await?;
    Controller::new(Api::<WebApp>::all(client), watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, |_, _, _| Action::await_change(), Arc::new(()))
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}
