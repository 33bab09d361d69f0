//! Kernels that never end.

use crate::runtime::workshop::*;
use crate::waiting::eventually;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;
use teml::codegen::Kernel;
use teml::runtime::{Control, RuntimeError};

/// Writes the number of its process to a file, then runs forever.
fn endless(symbol: &str, pid: &Path) -> Kernel {
    let body = format!(
        "FILE *f = fopen(\"{}\", \"w\"); fprintf(f, \"%d\\n\", (int)getpid()); fclose(f);\n{ENDLESS}",
        pid.display()
    );
    on_x(
        symbol,
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <unistd.h>",
        &body,
    )
}

fn read(pid: &Path) -> Option<String> {
    let text = std::fs::read_to_string(pid).ok()?;
    text.ends_with('\n').then_some(text)
}

#[test]
fn an_endless_kernel_is_stopped_at_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let limit = Duration::from_secs(2);
    let own = Control {
        run_limit: limit,
        ..control()
    };
    let error = run_on_x(&endless("forever", &pid), &own).unwrap_err();
    let kernel = "forever".to_owned();
    assert_eq!(error, RuntimeError::TimedOut { kernel, limit });
    assert!(!alive(&read(&pid).unwrap()));
}

#[test]
fn an_endless_kernel_is_stopped_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let control = control();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(eventually(|| read(&pid).is_some()));
            control.interrupt.store(true, Ordering::Relaxed);
        });
        run_on_x(&endless("stopped", &pid), &control).unwrap_err()
    });
    let during = "running kernel `stopped`".to_owned();
    assert_eq!(error, RuntimeError::Interrupted { during });
    assert!(!alive(&read(&pid).unwrap()));
}

/// The file into which an endless kernel writes its process, in the process that runs it.
const CHILD: &str = "TEML_TEST_ENDLESS";

/// Does something only in the process that the next test starts.
#[test]
fn endless_in_another_process() {
    if let Some(pid) = std::env::var_os(CHILD) {
        let _ = run_on_x(&endless("orphan", &PathBuf::from(pid)), &control());
    }
}

#[test]
fn a_worker_dies_with_the_program_that_started_it() {
    let directory = tempfile::tempdir().unwrap();
    let pid = directory.path().join("pid");
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "runtime::stopping::endless_in_another_process"])
        .env(CHILD, &pid)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(eventually(|| read(&pid).is_some()));
    let worker = read(&pid).unwrap();
    assert!(alive(&worker));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(eventually(|| !alive(&worker)));
}
