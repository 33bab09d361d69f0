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
    for kernel in kernels::all() {
        let Some(nest) = kernel.nests.iter().max_by_key(|n| n.path().len()) else {
            continue;
        };
        let (nests, policy) = (std::slice::from_ref(nest), kernel.policy);
        assert_eq!(check(nests, policy), Verdict::Legal, "{}", kernel.name);
        let name = format!("{}, {} steps", kernel.name, nest.path().len());
        group.bench_function(name, |b| b.iter(|| check(black_box(nests), policy)));
    }
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
