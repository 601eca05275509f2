//! A controller whose reconciler looks at its object.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use futures::StreamExt;
use kube::runtime::controller::{Action, Config, Controller};
use kube::runtime::{WatchStreamExt, reflector};
use kube::{Client, ResourceExt};
use tokio::sync::Notify;

use crate::measure::{AT_ANNOTATION, Args, DONE_LABEL, Latencies, Meter};
use crate::{Kind, watch};

struct Context {
    args: Args,
    count: AtomicI64,
    all: Notify,
    done: Notify,
    latencies: Latencies,
}

async fn reconcile<K: Kind>(object: Arc<K>, context: Arc<Context>) -> Result<Action, Infallible> {
    let n = context.count.fetch_add(1, Relaxed) + 1;
    if context.args.rate > 0 {
        context.latencies.add(object.annotations().get(AT_ANNOTATION));
    }
    if context.args.reconciled(n).await {
        context.all.notify_one();
    }
    if object.labels().contains_key(DONE_LABEL) {
        context.done.notify_one();
    }
    Ok(Action::await_change())
}

pub async fn run<K: Kind>(args: Args, mut meter: Meter, client: Client) {
    let context = Arc::new(Context {
        args: args.clone(),
        count: AtomicI64::new(0),
        all: Notify::new(),
        done: Notify::new(),
        latencies: Latencies::default(),
    });
    let (reader, writer) = reflector::store::<K>();
    let stream = watch::<K>(&client).reflect(writer).applied_objects();
    let controller = Controller::for_stream(stream, reader).with_config(Config::default().concurrency(args.workers)).run(
        reconcile::<K>,
        |_, _, _| Action::await_change(),
        context.clone(),
    );
    tokio::spawn(controller.for_each(|_| std::future::ready(())));
    context.all.notified().await;
    meter.end("start", context.count.load(Relaxed), None);
    args.start_events().await;
    context.done.notified().await;
    meter.end("events", context.count.load(Relaxed) - args.objects, Some(&context.latencies));
}
