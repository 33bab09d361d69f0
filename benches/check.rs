//! How long the proof takes for the plans of the scripts, at their full sizes.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use teml::legality::{Verdict, check};
use teml::script::{Mode, Session, Workbench};

/// The nest of each script that took the most steps.
fn scripts(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    for script in [
        "blur", "bmm", "coars", "gconv", "helm", "interp", "mm", "mttkrp", "sddmm", "tmm",
    ] {
        let workbench = Workbench {
            mode: Mode::Emit,
            ..Workbench::default()
        };
        let session = Session::new(Box::new(std::io::sink()), workbench);
        let path = directory.join(script).with_extension("rhai");
        let Ok(mut session) = session else { return };
        assert!(session.run_file(&path).is_ok(), "{script}");
        let nests = session.shared().lock().workbench.nests.clone();
        let Some(nest) = nests.iter().max_by_key(|n| n.path().len()) else {
            continue;
        };
        let nests = std::slice::from_ref(nest);
        let policy = session.shared().lock().workbench.settings.reductions;
        assert_eq!(check(nests, policy), Verdict::Legal, "{script}");
        let name = format!("{script}, {} steps", nest.path().len());
        group.bench_function(name, |b| b.iter(|| check(black_box(nests), policy)));
    }
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
