//! What the tool knows about the machine that it runs on.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::process::Command;
use teml::machine::{Machine, forget, speed, speed_at_best};
use teml::runtime::Control;
use teml::script::{Session, Workbench};

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

fn control() -> Control {
    Control {
        worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
        cache_dir: Some(PathBuf::from(CACHE)),
        ..Control::default()
    }
}

#[test]
fn this_machine_has_threads_and_no_smaller_cache_behind_a_larger_one() {
    let machine = Machine::this();
    assert!(machine.threads > 0);
    assert!(machine.caches.is_sorted_by_key(|c| (c.level, c.bytes)));
    for cache in &machine.caches {
        assert!(cache.bytes > 0 && cache.count > 0, "{cache:?}");
    }
}

#[test]
fn what_was_measured_is_remembered_until_it_is_forgotten() {
    let own = tempfile::tempdir().unwrap();
    let control = Control {
        cache_dir: Some(own.path().to_owned()),
        ..control()
    };
    let first = speed(1, &control).unwrap();
    let rates = first.rates;
    let arithmetic = [rates.gflops_f64, rates.gflops_f32];
    let memory = [rates.read, rates.copy, rates.triad];
    for rate in arithmetic.into_iter().chain(memory) {
        assert!(rate.is_finite() && rate > 0.0, "{rates:?}");
    }
    assert_eq!(speed(1, &control).unwrap(), first);
    let again = speed_at_best(1, &control).unwrap();
    assert!(again.rates.gflops_f64 >= rates.gflops_f64 && again.rates.read >= rates.read);
    assert_eq!(speed(1, &control).unwrap(), again);
    let kept = || {
        let entries = std::fs::read_dir(own.path()).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".json")).count()
    };
    assert_eq!(kept(), 1);
    forget(&control).unwrap();
    assert_eq!(kept(), 0);
}

#[test]
fn scripts_know_the_machine() {
    let machine = Machine::this();
    let workbench = Workbench {
        control: Control {
            threads: machine.threads + 1,
            ..control()
        },
        ..Workbench::default()
    };
    let session = Session::new(Box::new(std::io::sink()), workbench);
    let mut session = session.ok().unwrap();
    let mut line = |text: &str| match session.eval_line(text) {
        Ok(shown) => shown.unwrap_or_default(),
        Err(error) => error.render(false),
    };
    let known = |fact: Option<u64>| fact.map_or("=> true".to_owned(), |n| format!("=> {n}"));
    line("let m = machine()");
    // Those that kernels get.
    assert_eq!(line("m.threads"), known(Some(machine.threads as u64 + 1)));
    let unknown = |name: &str| format!("if m.{name} == () {{ true }} else {{ m.{name} }}");
    for (name, level) in [("l1", 1), ("l2", 2), ("l3", 3)] {
        assert_eq!(line(&unknown(name)), known(machine.cache(level)));
    }
    let vector = machine.vector.as_ref();
    let bytes = vector.map(|v| v.bytes as u64);
    assert_eq!(line(&unknown("vector_bytes")), known(bytes));
    // Nothing is measured unless it is asked for.
    assert_eq!(line("\"all\" in m"), "=> false");
    assert_eq!(
        line("let m = machine(\"measured\"); m.one.f64 > 0.0 && m.all.triad > 0.0"),
        "=> true"
    );
    let wrong = line("machine(\"guessed\")");
    assert!(wrong.contains("must be \"measured\""), "{wrong}");
}

#[test]
fn the_command_says_what_it_knows() {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg("machine").env("TEML_CACHE_DIR", CACHE);
    let output = teml.output().unwrap();
    assert!(output.status.success());
    let shown = String::from_utf8(output.stdout).unwrap();
    for fact in ["processor", "level 1 cache", "with 1 thread:", "GFLOP/s"] {
        assert!(shown.contains(fact), "no {fact} in\n{shown}");
    }
}
