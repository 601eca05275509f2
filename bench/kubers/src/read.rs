//! Reading from the store.

use std::hint::black_box;

use kube::runtime::reflector::ObjectRef;
use kube::{Client, ResourceExt};

use crate::Kind;
use crate::cache::follow;
use crate::measure::{Args, Meter};

pub async fn run<K: Kind>(args: Args, mut meter: Meter, client: Client) {
    let (store, _) = follow::<K>(&client).await;
    let refs: Vec<ObjectRef<K>> = store.state().iter().map(|object| ObjectRef::from_obj(object.as_ref())).collect();
    let at = |i: i64| &refs[(i as usize * 7919) % refs.len()];
    let rounds = (args.events / args.objects).max(1);
    meter.end("sync", args.objects, None);
    for i in 0..args.events {
        black_box(store.get(at(i)).expect("an object").as_ref().clone());
    }
    meter.end("get, a copy", args.events, None);
    for i in 0..args.events {
        black_box(store.get(at(i)).expect("an object"));
    }
    meter.end("get, shared", args.events, None);
    for _ in 0..rounds {
        for object in store.state() {
            black_box(object.as_ref().clone());
        }
    }
    meter.end("list, copies", rounds * args.objects, None);
    let mut found = 0;
    for _ in 0..rounds {
        for object in store.state() {
            found += object.labels().contains_key("app") as i64;
        }
    }
    assert_eq!(found, rounds * args.objects);
    meter.end("list, shared", rounds * args.objects, None);
}
