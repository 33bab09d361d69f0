//! Processes that share a cache directory measure one after the other.

use crate::waiting::eventually;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The file that measuring processes lock.
fn name() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    format!("measuring-{}.lock", boot.split('-').next().unwrap())
}

/// The file.
fn lock(cache: &Path) -> File {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(cache.join(name())).unwrap()
}

/// A process that measures a product of matrices of this size.
fn measuring(cache: &Path, size: u32) -> Child {
    let file = cache.join("mm.rhai");
    let script = format!(
        "let A = tensor([{size}, {size}]);
         let C = contract(A, A, [2, 1]);
         compare(build(C));"
    );
    std::fs::write(&file, script).unwrap();
    Command::new(env!("CARGO_BIN_EXE_teml"))
        .arg("run")
        .arg(file)
        .env("TEML_CACHE_DIR", cache)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The first line of what a process says on standard error.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let errors = child.stderr.take().unwrap();
    BufReader::new(errors).read_line(&mut line).unwrap();
    line
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let kill = Command::new("kill").args([name, &id]).status();
    assert!(kill.unwrap().success());
}

#[test]
fn who_waits_says_so_and_goes_on_afterwards() {
    let cache = tempfile::tempdir().unwrap();
    let held = lock(cache.path());
    held.lock().unwrap();
    std::fs::write(cache.path().join(name()), "12345").unwrap();
    let mut child = measuring(cache.path(), 8);
    let said = first_line(&mut child);
    let expected = "waiting for another measurement on this machine, by process 12345\n";
    assert_eq!(said, expected);
    assert_eq!(child.try_wait().unwrap(), None);
    held.unlock().unwrap();
    assert!(child.wait().unwrap().success());
    held.try_lock().unwrap();
}

#[test]
fn who_waits_can_be_stopped() {
    let cache = tempfile::tempdir().unwrap();
    let held = lock(cache.path());
    held.lock().unwrap();
    let mut child = measuring(cache.path(), 8);
    assert!(first_line(&mut child).ends_with("by another process\n"));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn who_was_killed_holds_nothing() {
    let cache = tempfile::tempdir().unwrap();
    // Long enough to overlap with the other measurement.
    let mut child = measuring(cache.path(), 700);
    let lock = lock(cache.path());
    let met = || matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    assert!(eventually(|| met() || {
        lock.unlock().unwrap();
        false
    }));
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(lock.try_lock().is_ok());
}
