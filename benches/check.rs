//! How long proofs take, at the full sizes of the scripts: of their plans, and of the steps that
//! are legal next.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use teml::advice::moves;
use teml::ir::Nest;
use teml::legality::{Reductions, Verdict, check};
use teml::script::{Mode, Session, Workbench};

const SCRIPTS: [&str; 10] = [
    "blur", "bmm", "coars", "gconv", "helm", "interp", "mm", "mttkrp", "sddmm", "tmm",
];

/// The nests of a script, and what may become of reductions.
fn nests(script: &str) -> Option<(Vec<Nest>, Reductions)> {
    let workbench = Workbench {
        mode: Mode::Emit,
        ..Workbench::default()
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut session = Session::new(Box::new(std::io::sink()), workbench).ok()?;
    let path = directory.join(script).with_extension("rhai");
    assert!(session.run_file(&path).is_ok(), "{script}");
    let state = session.shared().lock();
    let workbench = &state.workbench;
    Some((workbench.nests.clone(), workbench.settings.reductions))
}

/// The nest of each script that took the most steps.
fn plans(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for script in SCRIPTS {
        let Some((nests, policy)) = nests(script) else {
            return;
        };
        let Some(nest) = nests.iter().max_by_key(|n| n.path().len()) else {
            continue;
        };
        let nests = std::slice::from_ref(nest);
        assert_eq!(check(nests, policy), Verdict::Legal, "{script}");
        let name = format!("{script}, {} steps", nest.path().len());
        group.bench_function(name, |b| b.iter(|| check(black_box(nests), policy)));
    }
    group.finish();
}

/// The nest of each script that has the most loops, of those that nothing was done to, and the
/// one that took the most steps.
fn next_steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("moves");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for script in SCRIPTS {
        let Some((nests, policy)) = nests(script) else {
            return;
        };
        let built = nests.iter().filter(|n| n.path().len() == 1);
        let naive = built.max_by_key(|n| n.loops().len());
        let plan = nests.iter().max_by_key(|n| n.path().len());
        for (kind, nest) in [("naive", naive), ("plan", plan)] {
            let Some(nest) = nest else { continue };
            let name = format!("{script}, {kind}, {} loops", nest.loops().len());
            group.bench_function(name, |b| b.iter(|| moves(black_box(nest), None, policy)));
        }
    }
    group.finish();
}

criterion_group!(benches, plans, next_steps);
criterion_main!(benches);
