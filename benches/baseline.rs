//! How long the baseline looks for a schedule of each kernel, at the sizes of its script, and of a
//! stencil in a time loop.

mod kernels;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use teml::baseline::{Fuse, Options, pluto, schedule};
use teml::ir::Nest;

/// What each script compares first, without steps.
fn scripts(c: &mut Criterion) {
    let mut group = c.benchmark_group("baseline");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    let [stencil, _] = kernels::others();
    for (name, nests, _) in kernels::all().chain([stencil]) {
        let of_one = |nest: &&Nest| nest.path().len() == 1;
        let naive: Vec<Nest> = nests.iter().take_while(of_one).cloned().collect();
        let naive = if naive.is_empty() { nests } else { naive };
        // The schedule, and all of it: path and proof, too.
        assert!(schedule(&naive, Fuse::Smart).is_ok(), "{name}");
        group.bench_function(format!("{name}, schedule"), |b| {
            b.iter(|| schedule(black_box(&naive), Fuse::Smart).is_ok());
        });
        group.bench_function(format!("{name}, nest"), |b| {
            b.iter(|| pluto(black_box(&naive), &Options::default()).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
