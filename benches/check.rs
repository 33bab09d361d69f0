//! Time of proofs at the full sizes of the scripts: of their plans, of a list of 200 nests, and of
//! the legal next steps.

mod kernels;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use teml::advice::{Scope, moves};
use teml::legality::{Verdict, check};

/// The nest of each script with the most steps.
fn plans(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for (name, nests, policy) in kernels::all() {
        let Some(nest) = nests.iter().max_by_key(|n| n.path().len()) else {
            continue;
        };
        let one = std::slice::from_ref(nest);
        assert_eq!(check(one, policy), Verdict::Legal, "{name}");
        let name = format!("{name}, {} steps", nest.path().len());
        group.bench_function(name, |b| b.iter(|| check(black_box(one), policy)));
    }
    let [_, (name, nests, policy)] = kernels::others();
    assert_eq!(check(&nests, policy), Verdict::Legal, "{name}");
    let name = format!("{name}, {} nests", nests.len());
    group.bench_function(name, |b| b.iter(|| check(black_box(&nests), policy)));
    group.finish();
}

/// The untransformed nest of each script with the most loops.
fn next_steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("moves");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    for (name, nests, policy) in kernels::all() {
        let built = nests.iter().filter(|n| n.path().len() == 1);
        let Some(nest) = built.max_by_key(|n| n.loops().len()) else {
            continue;
        };
        let name = format!("{name}, {} loops", nest.loops().len());
        group.bench_function(name, |b| {
            b.iter(|| moves(black_box(nest), &Scope::All, policy))
        });
    }
    group.finish();
}

criterion_group!(benches, plans, next_steps);
criterion_main!(benches);
