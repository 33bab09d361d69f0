//! The time that processes have used, as the system counts it: in hundredths of seconds.

use crate::waiting::eventually;

/// Waits until a kernel runs: a worker of this process has had the processor for a while.
pub fn wait_for_a_kernel(of: &str) {
    wait_for_a_worker(of, 50);
}

/// Waits until a worker of this process has used this many hundredths of seconds.
pub fn wait_for_a_worker(of: &str, least: u64) {
    let is_there = || times(of).iter().any(|used| *used >= least);
    assert!(eventually(is_there), "no worker of {of} runs");
}

/// Waits until a process, with the compilers that it waited for, has used a quarter of a second
/// more.
pub fn wait_for_work(of: &str) {
    let used = || {
        let stat = stat(format!("/proc/{of}/stat")).unwrap_or_default();
        let times = stat.get(11..15).unwrap_or_default().iter();
        times.filter_map(|time| time.parse::<u64>().ok()).sum()
    };
    let before: u64 = used();
    assert!(eventually(|| used() >= before + 25), "{of} does nothing");
}

/// The time that each worker of a process has used.
fn times(of: &str) -> Vec<u64> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let time = |process: std::fs::DirEntry| {
        let command = std::fs::read(process.path().join("cmdline")).ok()?;
        let stat = stat(process.path().join("stat"))?;
        let is_worker = command == b"teml\0worker\0" && stat.get(1).is_some_and(|it| it == of);
        is_worker.then(|| stat.get(11)?.parse().ok())?
    };
    processes.filter_map(time).collect()
}

/// The system's figures of a process, behind its name.
fn stat(file: impl AsRef<std::path::Path>) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(file).ok()?;
    let fields = stat.rsplit(')').next()?.split_whitespace();
    Some(fields.map(str::to_owned).collect())
}
