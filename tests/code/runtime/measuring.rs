//! Everything about timing except the times themselves.

use crate::runtime::workshop::*;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use teml::codegen::Role;
use teml::ir::Elem;
use teml::runtime::{
    Budget, Control, Data, Event, RuntimeError, Scalar, View, Workload, measure, measure_and_tell,
    run_once,
};

fn variant(label: &str, kernel: &teml::codegen::Kernel, data: &[Data], threads: usize) -> Workload {
    Workload {
        label: label.to_owned(),
        kernel: compiled(kernel),
        data: data.to_vec(),
        threads,
        apart: false,
        checked: None,
    }
}

/// Appends a letter to a file on each call, and checks that `x` has its initial contents.
fn logging(letter: char, log: &Path) -> teml::codegen::Kernel {
    let body = format!(
        "FILE *f = fopen(\"{}\", \"a\");\nfputc(x[0] == 1.0 ? '{letter}' : '!', f); fclose(f);\n\
         x[0] = 2.0;",
        log.display()
    );
    on_x(&format!("log_{letter}"), "#include <stdio.h>", &body)
}

#[test]
fn variants_take_turns_on_restored_outputs() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let ones = [Data::Constant(1.0.into())];
    let variants = [
        variant("first", &logging('a', &log), &ones, 1),
        variant("second", &logging('b', &log), &ones, 2),
        variant("third", &logging('c', &log), &ones, 1),
    ];
    let budget = Budget {
        min_runs: 5,
        max_runs: 7,
        time: Duration::from_secs(600),
        enough: None,
        ..Budget::default()
    };
    let timings = measure(&variants, &budget, &control()).unwrap();
    // One warm-up call of each variant, or two if calls are short. Then they take turns, each with
    // an untimed call before the timed one.
    let called = std::fs::read_to_string(&log).unwrap();
    let turns = "aabbcc".repeat(7);
    let warm_up = called.strip_suffix(&turns).expect("seven turns");
    let mut letters: Vec<char> = warm_up.chars().collect();
    assert!(
        letters.is_sorted() && (3..=6).contains(&letters.len()),
        "{called}"
    );
    letters.dedup();
    assert_eq!(letters, ['a', 'b', 'c']);
    for (timing, variant) in timings.iter().zip(&variants) {
        assert_eq!(timing.label, variant.label);
        assert_eq!(timing.runs.len(), 7);
        assert!(timing.min <= timing.median && timing.spread >= 0.0);
        assert!(timing.runs.contains(&timing.min));
    }
}

/// An untimed call precedes each timed one, so that the caches' previous contents do not matter,
/// unless calls take long.
#[test]
fn a_call_that_does_not_count_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let slow = |letter: char, microseconds: u32| {
        let body = format!(
            "FILE *f = fopen(\"{}\", \"a\");\nfputc('{letter}', f); fclose(f);\n\
             usleep({microseconds}); x[0] = 2.0;",
            log.display()
        );
        let head = "#include <stdio.h>\nint usleep(unsigned);";
        on_x(&format!("slow_{letter}"), head, &body)
    };
    let variants = [
        variant("short", &slow('a', 2_000), &[Data::Unset], 1),
        variant("long", &slow('b', 60_000), &[Data::Unset], 1),
    ];
    let budget = Budget {
        min_runs: 3,
        max_runs: 3,
        enough: None,
        ..Budget::default()
    };
    let timings = measure(&variants, &budget, &control()).unwrap();
    let called = std::fs::read_to_string(&log).unwrap();
    assert_eq!(called, format!("ab{}", "aab".repeat(3)));
    assert!(timings.iter().all(|timing| timing.runs.len() == 3));
}

/// Disturbed runs are repeated, but permanent interference does not keep the measurement from
/// ending.
#[test]
fn a_patient_measurement_counts_as_many_runs() {
    let patient = Control {
        patient: true,
        ..control()
    };
    let kernel = on_x("twos", "", "x[0] = 2.0;");
    let variants = [
        variant("one", &kernel, &[Data::Unset], 1),
        variant("two", &kernel, &[Data::Unset], 2),
    ];
    let budget = Budget {
        min_runs: 4,
        max_runs: 4,
        enough: None,
        ..Budget::default()
    };
    let timings = measure(&variants, &budget, &patient).unwrap();
    assert!(timings.iter().all(|timing| timing.runs.len() == 4));
}

/// Memory pages change times: all variants in a worker use the same ones.
#[test]
fn outputs_change_places_between_runs() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let ones = [Data::Constant(1.0.into())];
    let logging = |letter: char| {
        let body = format!(
            "FILE *f = fopen(\"{}\", \"a\");\n\
             fprintf(f, \"%c %p %g\\n\", '{letter}', (void *)x, x[0]); fclose(f);\n\
             usleep(60000); x[0] = {};",
            log.display(),
            u32::from(letter)
        );
        let head = "#include <stdio.h>\nint usleep(unsigned);";
        on_x(&format!("place_{letter}"), head, &body)
    };
    let entrant = |letter: char, threads: usize| {
        let kernel = logging(letter);
        let outputs = run_once(&compiled(&kernel), &ones, &control())
            .unwrap()
            .outputs;
        Workload {
            checked: Some(Arc::new(outputs)),
            ..variant("v", &kernel, &ones, threads)
        }
    };
    let variants = [
        entrant('a', 1),
        entrant('d', 2),
        entrant('b', 1),
        entrant('c', 1),
    ];
    std::fs::remove_file(&log).unwrap();
    let budget = Budget {
        min_runs: 3,
        max_runs: 3,
        enough: None,
        ..Budget::default()
    };
    // Each variant still has its last output.
    measure(&variants, &budget, &control()).unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    let places = |letter: &str| {
        let lines = log.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let own = lines.filter(|words| words[0] == letter);
        // The first call is a warm-up.
        let own: Vec<(&str, &str)> = own.skip(1).map(|words| (words[1], words[2])).collect();
        assert!(own.iter().all(|(_, first)| *first == "1"), "{log}");
        let mut places: Vec<&str> = own.iter().map(|(place, _)| *place).collect();
        assert_eq!(places.len(), 3, "{log}");
        places.sort_unstable();
        places.dedup();
        places
    };
    assert_eq!(places("a").len(), 3, "{log}");
    assert_eq!(places("a"), places("b"));
    assert_eq!(places("a"), places("c"));
    // It runs in another worker.
    assert_eq!(places("d").len(), 1);
}

#[test]
fn the_budget_ends_after_the_least_number_of_runs() {
    let idle = on_x("brief", "", "x[0] += 1.0;");
    let budget = Budget {
        time: Duration::ZERO,
        enough: None,
        ..Budget::default()
    };
    let timings = measure(
        &[variant("v", &idle, &[Data::Unset], 1)],
        &budget,
        &control(),
    );
    assert_eq!(timings.unwrap()[0].runs.len(), 5);
    assert!(measure(&[], &budget, &control()).unwrap().is_empty());
}

#[test]
fn times_are_told_as_soon_as_they_are_known() {
    let sleeping = "#include <stdio.h>\nint usleep(unsigned);";
    let slow = on_x(
        "asleep",
        sleeping,
        "usleep(999999); usleep(100000); x[0] = 2.0;",
    );
    let quick = on_x("awake", "", "x[0] = 2.0;");
    let ones = [Data::Constant(1.0.into())];
    let mut variants = [
        variant("quick", &quick, &ones, 1),
        variant("slow", &slow, &ones, 1),
    ];
    let expected = run_on_x(&quick, &control()).unwrap().outputs;
    let expected = Arc::new(expected);
    for variant in &mut variants {
        variant.checked = Some(expected.clone());
    }
    let budget = Budget {
        min_runs: 5,
        max_runs: 5,
        patience: Duration::from_secs(1),
        enough: None,
        ..Budget::default()
    };
    let mut told = Vec::new();
    let mut tell = |event: Event<'_>| match event {
        Event::Runs { variant, run } => told.push(format!("{variant} runs {run}")),
        Event::Known { variant, timing } => {
            told.push(format!(
                "{variant}: {} after {}",
                timing.label,
                timing.runs.len()
            ));
        }
    };
    let timings = measure_and_tell(&variants, &budget, &control(), &mut tell).unwrap();
    // The slow one uses up all patience with its warm-up.
    let expected = [
        "0 runs 0",
        "1 runs 0",
        "0 runs 1",
        "1: slow after 1",
        "0 runs 2",
        "0 runs 3",
        "0 runs 4",
        "0 runs 5",
        "0: quick after 5",
    ];
    assert_eq!(told, expected);
    let labels: Vec<&str> = timings.iter().map(|t| t.label.as_str()).collect();
    assert_eq!(labels, ["quick", "slow"]);
}

#[test]
fn an_output_that_changes_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("mark");
    // Correct as long as the file does not exist.
    let body = format!(
        "FILE *f = fopen(\"{0}\", \"r\"); x[3] = f ? 9.0 : 4.0; if (f) fclose(f);",
        mark.display()
    );
    let fickle = on_x("fickle", "#include <stdio.h>", &body);
    let mut variant = variant("fickle", &fickle, &[Data::Constant(1.0.into())], 1);
    let run = run_once(&variant.kernel, &variant.data, &control()).unwrap();
    variant.checked = Some(Arc::new(run.outputs));
    let budget = Budget::default();
    measure(std::slice::from_ref(&variant), &budget, &control()).unwrap();
    std::fs::write(&mark, "").unwrap();
    let error = measure(&[variant], &budget, &control()).unwrap_err();
    let RuntimeError::Unstable { comparison, .. } = &error else {
        panic!("{error}");
    };
    let first = comparison.first.as_ref().unwrap();
    assert_eq!(
        (first.index.as_slice(), first.actual),
        (&[3][..], Scalar::Float(9.0))
    );
}

/// A parallel reduction gives the result of a serial loop, in any worker.
#[test]
fn parallel_kernels_are_right() {
    let source = "void dot(const double *restrict a, const double *restrict b, double *y) {\n\
                  double s = 0;\n#pragma omp parallel for reduction(+:s)\n\
                  for (int i = 0; i < 100000; i++) s += a[i] * b[i];\n*y = s;\n}";
    let params = vec![
        param("a", &[100_000], Elem::F64, Role::In),
        param("b", &[100_000], Elem::F64, Role::In),
        param("y", &[], Elem::F64, Role::Out),
    ];
    let dot = kernel("dot", source, params);
    let data = [Data::Pattern(0), Data::Pattern(1), Data::Unset];
    let at = |n: usize, k: u64| match data[n].value(Elem::F64, k) {
        Some(Scalar::Float(value)) => value,
        other => panic!("{other:?}"),
    };
    let expected: f64 = (0..100_000).map(|k| at(0, k) * at(1, k)).sum();
    let run = run_once(&compiled(&dot), &data, &control()).unwrap();
    let y = run.outputs.get("y").unwrap();
    let View::F64(&[actual]) = y.view() else {
        panic!("{:?}", y.view());
    };
    assert!((actual - expected).abs() < 1e-9 * expected.abs());
    let checked = Some(Arc::new(run.outputs));
    let variants = [1, 2].map(|threads| Workload {
        checked: checked.clone(),
        ..variant("dot", &dot, &data, threads)
    });
    measure(&variants, &Budget::default(), &control()).unwrap();
}

#[test]
fn patience_ends_before_the_least_number_of_runs() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let ones = [Data::Constant(1.0.into())];
    let budget = Budget {
        patience: Duration::ZERO,
        ..Budget::default()
    };
    // Long enough on any machine that one warm-up suffices.
    let body = format!(
        "FILE *f = fopen(\"{}\", \"a\");\nfputc('a', f); fclose(f);\nusleep(2000); x[0] = 2.0;",
        log.display()
    );
    let kernel = on_x(
        "patience",
        "#include <stdio.h>\nint usleep(unsigned);",
        &body,
    );
    let variants = [variant("v", &kernel, &ones, 1)];
    let timings = measure(&variants, &budget, &control()).unwrap();
    // The warm-up is the only run.
    assert_eq!(timings[0].runs.len(), 1);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "a");
}

#[test]
fn what_runs_apart_has_threads_that_are_not_bound() {
    let bound = "#include <stdlib.h>\n#include <string.h>";
    let body = "const char *bind = getenv(\"OMP_PROC_BIND\"); \
                x[0] = bind && !strcmp(bind, \"false\") ? 1 : 2;";
    let kernel = on_x("binding", bound, body);
    let ones = [Data::Constant(1.0.into())];
    let expected = run_on_x(&kernel, &control()).unwrap().outputs;
    let View::F64(x) = expected.get("x").unwrap().view() else {
        panic!("not f64")
    };
    assert_eq!(x[0], 2.0);
    let mut kernel = variant("v", &kernel, &ones, 2);
    kernel.checked = Some(Arc::new(expected));
    let once = Budget {
        max_runs: 1,
        min_runs: 1,
        ..Budget::default()
    };
    measure(std::slice::from_ref(&kernel), &once, &control()).unwrap();
    kernel.apart = true;
    let error = measure(&[kernel], &once, &control()).unwrap_err();
    assert!(matches!(error, RuntimeError::Unstable { .. }), "{error}");
}

/// Compiling, running and measuring at the same time ends, however few threads there are.
#[test]
fn measuring_from_many_threads_ends() {
    let source =
        "void copy(const float *a, float *b) { for (int i = 0; i < 1 << 20; i++) b[i] = a[i]; }";
    let params = vec![
        param("a", &[1 << 20], Elem::F32, Role::In),
        param("b", &[1 << 20], Elem::F32, Role::Out),
    ];
    let copy = kernel("copy", source, params);
    let budget = Budget {
        max_runs: 5,
        ..Budget::default()
    };
    (0..6u64).into_par_iter().for_each(|k| {
        let data = [Data::Pattern(k), Data::Unset];
        let mut variant = variant("copy", &copy, &data, 1);
        let run = run_once(&variant.kernel, &data, &control()).unwrap();
        variant.checked = Some(Arc::new(run.outputs));
        measure(&[variant], &budget, &control()).unwrap();
    });
}
