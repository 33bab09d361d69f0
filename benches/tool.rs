//! How fast the tool itself is: scripts with many transformations, the time to the first printed
//! line, and what the REPL answers while somebody types.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;
use teml::repl::Repl;
use teml::script::{Session, Workbench};

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
                runner: std::sync::Arc::new(teml::trial::Emit),
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

fn dialog() -> Option<Repl> {
    let session = Session::new(Box::new(std::io::sink()), Workbench::default());
    session.ok().map(Repl::new)
}

/// The hint for each of these, with a nest of 500 loops in scope.
fn hints(c: &mut Criterion) {
    let Some(mut repl) = dialog() else { return };
    let loops = (0..250)
        .map(|k| format!("for i{k} in 0..8\\n  for j{k} in 0..8\\n    A[i{k}][j{k}] = {k}\\n"));
    let text: String = loops.collect();
    repl.handle_line(&format!("let l = nest(\"f64 A[8][8]\\n{text}\");"));
    let nests = repl.session().nests();
    assert_eq!(nests.first().map(|(_, l)| l.loops().len()), Some(500));
    let mut group = c.benchmark_group("hint");
    group.sample_size(10);
    group.measurement_time(Duration::from_secs(1));
    for typed in ["l.", "l.inter", "l.interchange(", "l.interchange(\"i12"] {
        group.bench_function(typed, |b| b.iter(|| repl.hint(black_box(typed))));
    }
    group.finish();
}

/// `:moves` with predictions, of the untransformed nest of each kernel and of that with the most
/// steps.
fn moves(c: &mut Criterion) {
    let mut group = c.benchmark_group(":moves");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(100));
    group.measurement_time(Duration::from_secs(1));
    for kernel in teml::bench::scripts() {
        let Some(mut repl) = dialog() else { return };
        repl.handle_line(&format!(":kernels {}", kernel.name));
        let nests = repl.session().nests();
        let steps = nests.iter().map(|(name, nest)| (nest.path().len(), name));
        let (least, most) = (steps.clone().min(), steps.max());
        for (steps, name) in least.into_iter().chain(most) {
            let line = format!(":moves {name}");
            let label = format!("{}, {name}, {steps} steps", kernel.name);
            group.bench_function(label, |b| b.iter(|| repl.handle_line(black_box(&line))));
        }
    }
    group.finish();
}

criterion_group!(
    benches,
    hundred_thousand_transformations,
    ten_thousand_statements,
    start_up,
    hints,
    moves
);
criterion_main!(benches);
