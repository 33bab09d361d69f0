//! Speed of the tool itself: scripts with many transformations, and the time to the first printed
//! line.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::process::Command;
use teml::script::Session;
use teml::verbs::Workbench;

const STEPS: &str = "
    let A = tensor([64, 64]);
    let l = build(eq_of(A));
    for n in 0..25000 {
        l = l.interchange(1, 2);
        let tiled = l.stripmine(1, 8).parallelize(1).vectorize(3);
    }
    fn eq_of(A) { let B = eq(A, [i, j] -> [j, i]); B }
";

/// A script with 100,000 transformation calls, from parsing to the end.
fn hundred_thousand_transformations(c: &mut Criterion) {
    let mut group = c.benchmark_group("script");
    group.sample_size(10);
    group.bench_function("100,000 transformation calls", |b| {
        b.iter(|| {
            let session = Session::new(Box::new(std::io::sink()), Workbench::default());
            let mut session = session.map_err(|e| e.to_string());
            let result = session
                .as_mut()
                .map(|s| s.run_text("bench", black_box(STEPS)));
            assert!(matches!(result, Ok(Ok(()))));
        });
    });
    group.finish();
}

const STATEMENTS: &str = "
    let A = tensor([22, 22]);
    let B = tensor([22, 22]);
    let C = contract(A, B, [2, 1]);
    codegen(build(C).unroll(3).unroll(2).unroll(1));
";

/// A product of 10,648 statements without a loop: unrolled, proved and emitted.
fn ten_thousand_statements(c: &mut Criterion) {
    let mut group = c.benchmark_group("script");
    group.sample_size(10);
    group.bench_function("10,648 statements", |b| {
        b.iter(|| {
            let workbench = Workbench {
                runner: std::sync::Arc::new(teml::trial::Emit::default()),
                ..Workbench::default()
            };
            let session = Session::new(Box::new(std::io::sink()), workbench);
            let mut session = session.map_err(|e| e.to_string());
            let emitted = session.as_mut().ok().and_then(|s| {
                s.run_text("bench", black_box(STATEMENTS)).ok()?;
                s.emitted()
            });
            assert_eq!(emitted.map(|c| c.matches("+=").count()), Some(10_648));
        });
    });
    group.finish();
}

/// A process that prints one line.
fn start_up(c: &mut Criterion) {
    let directory = tempfile::tempdir().map_err(|e| e.to_string());
    let Ok(directory) = directory else { return };
    let script = directory.path().join("hello.rhai");
    if std::fs::write(&script, "print(\"hello\");").is_err() {
        return;
    }
    c.bench_function("start-up to the first print", |b| {
        b.iter(|| {
            let output = Command::new(env!("CARGO_BIN_EXE_teml"))
                .arg("run")
                .arg(&script)
                .output();
            assert!(output.is_ok_and(|o| o.stdout == b"hello\n"));
        });
    });
}

criterion_group!(
    benches,
    hundred_thousand_transformations,
    ten_thousand_statements,
    start_up
);
criterion_main!(benches);
