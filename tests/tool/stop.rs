//! Stopping proofs and codegen from another thread. Alone in its process, because it stops them
//! everywhere.

use std::sync::mpsc;
use std::time::Duration;
use teml::codegen::{NoCode, generate};
use teml::ir::parse_nest;
use teml::legality::Reductions;
use teml::poly::{self, Error, Set};

/// Subtracts ever more slices from a cube: a question that isl never finishes.
fn endless() -> Result<bool, Error> {
    let mut rest = Set::read("{ [i, j, k] : 0 <= i, j, k < 10000 }")?;
    for n in 1.. {
        let slice = format!(
            "{{ [i, j, k] : {n} <= i + {n}*j - 2*k <= {n} + 5 and {n}*j - i >= k and k + {n}*i >= j }}"
        );
        rest = rest.subtract(&Set::read(&slice)?)?;
    }
    rest.is_empty()
}

#[test]
fn what_takes_long_is_stopped() {
    if poly::available().is_err() {
        return eprintln!("isl is not installed: nothing is stopped");
    }
    let (begun, has_begun) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        begun.send(()).unwrap();
        done.send(endless()).unwrap();
        // Still in the same context.
        while Set::read("{ [i] : i > 0 }").is_err() {
            std::thread::yield_now();
        }
    });
    has_begun.recv().unwrap();
    let early = is_done.recv_timeout(Duration::from_millis(500));
    assert!(early.is_err(), "isl was too quick");
    poly::stop();
    assert_eq!(is_done.recv().unwrap(), Err(Error::Stopped));
    // Questions of other threads are stopped as well, in earlier and in later contexts.
    let asked = std::thread::spawn(|| Set::read("{ [i] : i > 0 }").map(|_| ()));
    assert_eq!(asked.join().unwrap(), Err(Error::Stopped));
    // Codegen is stopped as well, in each of its passes.
    let copy = parse_nest("f64 A[4], B[4]\nfor i in 0..4\n  B[i] = A[i]").unwrap();
    let code = || generate(std::slice::from_ref(&copy), "copy", Reductions::Strict);
    assert_eq!(code(), Err(NoCode::Stopped));
    poly::resume();
    thread.join().unwrap();
    assert!(!Set::read("{ [i] : i > 0 }").unwrap().is_empty().unwrap());
    assert!(code().is_ok());
}
