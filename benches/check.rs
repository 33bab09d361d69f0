//! How long the proof takes for the plans of the scripts, at their full sizes.

mod kernels;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use teml::legality::{Verdict, check};

/// The nest of each script that took the most steps.
fn scripts(c: &mut Criterion) {
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
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
