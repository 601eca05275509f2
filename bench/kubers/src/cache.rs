//! A store, and somebody who follows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use futures::StreamExt;
use kube::runtime::{WatchStreamExt, reflector, reflector::Store, watcher::Event};
use kube::{Client, ResourceExt};
use tokio::sync::Notify;

use crate::measure::{Args, DONE_LABEL, Meter};
use crate::{Kind, watch};

/// What the follower has seen.
#[derive(Default)]
pub struct Seen {
    pub events: AtomicI64,
    pub done: Notify,
    synced: Notify,
}

/// Runs a reflector, and returns when its stream has told of all objects.
pub async fn follow<K: Kind>(client: &Client) -> (Store<K>, Arc<Seen>) {
    let (reader, writer) = reflector::store::<K>();
    let seen = Arc::new(Seen::default());
    let stream = watch::<K>(client).reflect(writer);
    tokio::spawn({
        let seen = seen.clone();
        async move {
            let mut stream = std::pin::pin!(stream);
            while let Some(event) = stream.next().await {
                match event {
                    Err(_) | Ok(Event::Init) => {} // an expired watch is an error, and lists again
                    Ok(Event::InitDone) => seen.synced.notify_one(),
                    Ok(Event::InitApply(object) | Event::Apply(object) | Event::Delete(object)) => {
                        seen.events.fetch_add(1, Relaxed);
                        if object.labels().contains_key(DONE_LABEL) {
                            seen.done.notify_one();
                        }
                    }
                }
            }
        }
    });
    seen.synced.notified().await;
    (reader, seen)
}

pub async fn run<K: Kind>(args: Args, mut meter: Meter, client: Client) {
    let (store, seen) = follow::<K>(&client).await;
    meter.end("sync", args.objects, None);
    let before = seen.events.load(Relaxed);
    if args.scenario == "relist" {
        args.expire().await;
        seen.done.notified().await;
        seen.synced.notified().await;
        meter.end("relist", args.objects, None);
    } else {
        args.start_events().await;
        seen.done.notified().await;
        meter.end("events", seen.events.load(Relaxed) - before, None);
    }
    assert_eq!(store.len() as i64, args.objects);
}
