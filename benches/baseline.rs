//! How long the baseline looks for a schedule of each kernel, at the sizes of its script.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use teml::baseline::{Fuse, Options, pluto, schedule};
use teml::ir::Nest;
use teml::script::{Mode, Session, Workbench};

/// What each script compares first, without steps.
fn scripts(c: &mut Criterion) {
    let mut group = c.benchmark_group("baseline");
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
        if let Err(error) = session.run_file(&path) {
            println!("{}", error.render(false));
            return;
        }
        let nests = session.shared().lock().workbench.nests.clone();
        let of_one = |nest: &&Nest| nest.path().len() == 1;
        let naive: Vec<Nest> = nests.iter().take_while(of_one).cloned().collect();
        // The schedule, and all of it: path and proof, too.
        group.bench_function(format!("{script}, schedule"), |b| {
            b.iter(|| schedule(black_box(&naive), Fuse::Smart).is_ok());
        });
        group.bench_function(format!("{script}, nest"), |b| {
            b.iter(|| pluto(black_box(&naive), &Options::default()).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
