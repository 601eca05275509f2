//! The flags of the program, and the line of JSON that each phase of its work ends with: the same
//! as those of the Go programs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

pub const DONE_LABEL: &str = "done";
pub const AT_ANNOTATION: &str = "bench.example.com/at";

/// What the program is told.
#[derive(Clone, Default)]
pub struct Args {
    pub server: String,
    pub scenario: String,
    pub kind: String,
    pub objects: i64,
    pub events: i64,
    pub rate: i64,
    pub window: i64,
    pub workers: u16,
}

impl Args {
    pub fn parse() -> Args {
        let mut args =
            Args { scenario: "cache".into(), kind: "pods".into(), objects: 20_000, events: 100_000, workers: 2, ..Default::default() };
        let mut words = std::env::args().skip(1);
        while let Some(name) = words.next() {
            let value = words.next().unwrap_or_else(|| panic!("{name} has no value"));
            let number = || value.parse::<i64>().unwrap_or_else(|e| panic!("{name} {value}: {e}"));
            match name.as_str() {
                "-server" => args.server = value,
                "-scenario" => args.scenario = value,
                "-kind" => args.kind = value,
                "-format" => assert_eq!(value, "json", "kube-rs speaks JSON alone"),
                "-objects" => args.objects = number(),
                "-events" => args.events = number(),
                "-rate" => args.rate = number(),
                "-window" => args.window = number(),
                "-workers" => args.workers = number() as u16,
                "-profiles" => assert_eq!(value, "", "there are no profiles of kube-rs"),
                _ => panic!("no flag {name}"),
            }
        }
        args
    }

    pub async fn start_events(&self) {
        self.post(&format!("/bench/events?count={}&rate={}&window={}", self.events, self.rate, self.window)).await;
    }

    pub async fn expire(&self) {
        self.post("/bench/expire").await;
    }

    /// Called with the number of reconciles so far: asks for another window of events when the
    /// last one is through, and says whether every object was reconciled for the first time.
    pub async fn reconciled(&self, n: i64) -> bool {
        let events = n - self.objects;
        if self.window > 0 && events > 0 && events % self.window == 0 {
            self.post("/bench/next").await;
        }
        n == self.objects
    }

    async fn post(&self, path: &str) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let host = self.server.strip_prefix("http://").expect("-server is http");
        let mut connection = tokio::net::TcpStream::connect(host).await.expect("connect");
        let request = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        connection.write_all(request.as_bytes()).await.expect("write");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.expect("read");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[derive(Serialize)]
struct Phase<'a> {
    phase: &'a str,
    wall: f64,
    user: f64,
    system: f64,
    peak: u64,
    settled: u64,
    allocs: u64,
    allocated: u64,
    count: i64,
    p50: f64,
    p99: f64,
}

/// Measures phases, one after another.
pub struct Meter {
    begin: Instant,
    user: f64,
    system: f64,
    allocs: u64,
    allocated: u64,
}

impl Meter {
    pub fn new() -> Meter {
        Meter { begin: Instant::now(), user: 0.0, system: 0.0, allocs: 0, allocated: 0 }
    }

    /// Ends a phase, prints it, and begins the next.
    pub fn end(&mut self, phase: &str, count: i64, latencies: Option<&Latencies>) {
        let wall = self.begin.elapsed().as_secs_f64();
        let (user, system) = processor_time();
        let peak = status("VmHWM:");
        let (allocs, allocated) = allocations();
        unsafe { libc::malloc_trim(0) };
        let (p50, p99) = latencies.map(Latencies::quantiles).unwrap_or_default();
        let line = Phase {
            phase,
            wall,
            user: user - self.user,
            system: system - self.system,
            peak,
            settled: status("VmRSS:"),
            allocs: allocs - self.allocs,
            allocated: allocated - self.allocated,
            count,
            p50,
            p99,
        };
        println!("{}", serde_json::to_string(&line).expect("a phase as JSON"));
        std::fs::write("/proc/self/clear_refs", "5").expect("reset the peak");
        (self.allocs, self.allocated) = allocations();
        (self.user, self.system) = processor_time();
        self.begin = Instant::now();
    }
}

fn processor_time() -> (f64, f64) {
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

/// A number of /proc/self/status, in bytes.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let line = text.lines().find_map(|l| l.strip_prefix(name)).expect("a line of /proc/self/status");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("kB") << 10
}

/// How long things took.
#[derive(Default)]
pub struct Latencies(Mutex<Vec<Duration>>);

impl Latencies {
    /// Adds the time since an event was sent, as its annotation says.
    pub fn add(&self, sent: Option<&String>) {
        let Some(sent) = sent.and_then(|text| text.parse().ok()) else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
        self.0.lock().unwrap().push(now.saturating_sub(Duration::from_nanos(sent)));
    }

    fn quantiles(&self) -> (f64, f64) {
        let mut all = self.0.lock().unwrap();
        all.sort();
        if all.is_empty() {
            return (0.0, 0.0);
        }
        (all[all.len() / 2].as_secs_f64(), all[all.len() * 99 / 100].as_secs_f64())
    }
}

/// The system's allocator, which counts. Each thread counts for itself, so that it costs nothing
/// worth mentioning.
pub struct Counting;

#[repr(align(64))]
struct Counter {
    allocs: AtomicU64,
    allocated: AtomicU64,
}

static COUNTERS: [Counter; 64] = [const { Counter { allocs: AtomicU64::new(0), allocated: AtomicU64::new(0) } }; 64];
static THREADS: AtomicUsize = AtomicUsize::new(0);
thread_local!(static THREAD: Cell<usize> = const { Cell::new(usize::MAX) });

fn count(size: usize) {
    let _ = THREAD.try_with(|thread| {
        if thread.get() == usize::MAX {
            thread.set(THREADS.fetch_add(1, Relaxed) % COUNTERS.len());
        }
        let counter = &COUNTERS[thread.get()];
        counter.allocs.store(counter.allocs.load(Relaxed) + 1, Relaxed);
        counter.allocated.store(counter.allocated.load(Relaxed) + size as u64, Relaxed);
    });
}

fn allocations() -> (u64, u64) {
    COUNTERS.iter().fold((0, 0), |(n, bytes), c| (n + c.allocs.load(Relaxed), bytes + c.allocated.load(Relaxed)))
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(old, layout, size) }
    }
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}
