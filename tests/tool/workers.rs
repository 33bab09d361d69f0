//! Workers of a process, as the system sees them.

use std::time::{Duration, Instant};

/// How long to wait on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until a kernel runs: a worker of this process has had the processor for a while.
pub fn wait_for_a_kernel(of: &str) {
    // The system counts hundredths of seconds.
    wait_for_a_worker(of, 50);
}

/// Waits until a worker of this process has used this many hundredths of seconds.
pub fn wait_for_a_worker(of: &str, least: u64) {
    let start = Instant::now();
    while !times(of).iter().any(|used| *used >= least) {
        assert!(start.elapsed() < LIMIT, "no worker of {of} runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The time that each worker of a process has used.
fn times(of: &str) -> Vec<u64> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let time = |process: std::fs::DirEntry| {
        let command = std::fs::read(process.path().join("cmdline")).ok()?;
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let stat: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let is_worker = command == b"teml\0worker\0" && stat.get(1) == Some(&of);
        is_worker.then(|| stat.get(11)?.parse().ok())?
    };
    processes.filter_map(time).collect()
}
