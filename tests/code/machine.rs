//! The facts that the tool knows about its machine.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use teml::machine::{Machine, forget, known_speed, speed, speed_at_best};
use teml::runtime::Control;
use teml::script::Session;
use teml::verbs::Workbench;

/// A separate cache directory: rates that were measured with small bounds are useless to others.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache-machine");

/// Small bounds: the measured rates mean little, but take the usual path.
const MEMORY: u64 = 32 << 20;

fn control() -> Control {
    Control {
        worker: PathBuf::from(env!("CARGO_BIN_EXE_teml")),
        cache_dir: Some(PathBuf::from(CACHE)),
        probe_time: Duration::from_millis(100),
        probe_memory: Some(MEMORY),
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
    assert_eq!(known_speed(1, &control).as_ref(), Some(&first));
    if first.quiet {
        assert_eq!(speed(1, &control).unwrap(), first);
    }
    let again = speed_at_best(1, &control).unwrap();
    assert!(again.rates.gflops_f64 >= rates.gflops_f64 && again.rates.read >= rates.read);
    assert_eq!(known_speed(1, &control), Some(again));
    let kept = || {
        let entries = std::fs::read_dir(own.path()).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
        names.sort();
        names
            .iter()
            .map(|name| name[..7].to_owned())
            .collect::<Vec<_>>()
    };
    // If the capacity of the caches was measured, it determines the size of arrays.
    let measured = Machine::known(&control).capacity.is_some();
    let caches = measured.then(|| "caches-".to_owned());
    let region = Machine::known(&control).region;
    let region = region.map(|_| "region-".to_owned());
    let all = caches.into_iter().chain(["machine".to_owned()]);
    let mut known = all.chain(region);
    // Files of disturbed measurements are there, and nothing is known from them.
    assert!(known.all(|name| kept().contains(&name)), "{:?}", kept());
    forget(&control).unwrap();
    assert_eq!(kept(), [] as [String; 0]);
    assert_eq!(Machine::known(&control), Machine::this());
}

#[test]
fn the_capacity_of_caches_is_measured_within_bounds() {
    let own = tempfile::tempdir().unwrap();
    let control = Control {
        cache_dir: Some(own.path().to_owned()),
        ..control()
    };
    let estimated = Machine::this().last_caches();
    assert_eq!(Machine::known(&control).last_caches(), estimated);
    let measured = Machine::measured(&control).unwrap();
    // Disturbed measurements are not remembered.
    let is_quiet = measured.capacity.is_none_or(|capacity| capacity.quiet)
        && measured.region.is_none_or(|region| region.quiet);
    if is_quiet {
        assert_eq!(Machine::known(&control), measured);
    }
    let last = measured.caches.last();
    let reported = last.map_or(0, |cache| cache.bytes * cache.count as u64);
    assert!(estimated <= reported && measured.last_caches() <= reported);
    if let Some(capacity) = measured.capacity {
        assert!(capacity.bytes <= MEMORY, "{capacity:?}");
        assert!(
            capacity.within >= capacity.beyond && capacity.beyond > 0.0,
            "{capacity:?}"
        );
    }
}

#[test]
fn a_probe_without_time_or_memory_leaves_the_capacity_unknown() {
    for (time, memory) in [
        (Duration::from_nanos(1), MEMORY),
        (Duration::from_secs(1), 0),
    ] {
        let own = tempfile::tempdir().unwrap();
        let control = Control {
            cache_dir: Some(own.path().to_owned()),
            probe_time: time,
            probe_memory: Some(memory),
            ..control()
        };
        assert_eq!(Machine::measured(&control).unwrap().capacity, None);
        assert_eq!(Machine::known(&control).capacity, None);
    }
}

#[test]
fn a_parallel_loop_costs_some_time() {
    let own = tempfile::tempdir().unwrap();
    let control = Control {
        cache_dir: Some(own.path().to_owned()),
        ..control()
    };
    assert_eq!(Machine::known(&control).region, None);
    let measured = Machine::measured(&control).unwrap();
    if measured.region.is_none_or(|region| region.quiet) {
        assert_eq!(Machine::known(&control).region, measured.region);
    }
    let one_thread = measured.threads == 1;
    assert!(!one_thread || measured.region.is_none());
    if let Some(region) = measured.region {
        assert!(
            region.seconds > 0.0 && region.operations > 0.0,
            "{region:?}"
        );
    }
}

#[test]
fn scripts_know_the_machine() {
    let own = tempfile::tempdir().unwrap();
    let control = Control {
        cache_dir: Some(own.path().to_owned()),
        ..control()
    };
    Machine::measured(&control).unwrap();
    let machine = Machine::known(&control);
    let workbench = Workbench {
        control: Control {
            threads: machine.threads + 1,
            ..control
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
    // Nothing is measured unless requested.
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
    // The command reuses cached rates.
    let threads = Control::default().threads;
    for threads in [1, threads] {
        speed(threads, &control()).unwrap();
    }
    let capacity = Machine::known(&control()).capacity;
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg("machine").env("TEML_CACHE_DIR", CACHE);
    let output = teml.output().unwrap();
    assert!(output.status.success());
    let shown = String::from_utf8(output.stdout).unwrap();
    let (reported, measured) = shown.split_once("\nmeasured:\n").unwrap();
    for fact in ["processor", "level 1 cache"] {
        assert!(reported.contains(fact), "no {fact} in\n{shown}");
    }
    for fact in ["with 1 thread:", "GFLOP/s"] {
        assert!(measured.contains(fact), "no {fact} in\n{shown}");
    }
    assert_eq!(measured.contains("for all threads"), capacity.is_some());
}
