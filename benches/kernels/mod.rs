//! The scripts of the kernels, as benches of the tool take them.

use std::path::Path;
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::script::{Mode, Session, Workbench};

/// The name of a script, what it builds and compares at its full size, in order, and what it says
/// about reductions.
pub type Built = (&'static str, Vec<Nest>, Reductions);

/// All of them; a script that fails ends the bench.
pub fn all() -> impl Iterator<Item = Built> {
    let names = [
        "blur", "bmm", "coars", "gconv", "helm", "interp", "mm", "mttkrp", "sddmm", "tmm",
    ];
    names.into_iter().map(built)
}

fn built(name: &'static str) -> Built {
    let workbench = Workbench {
        mode: Mode::Emit,
        ..Workbench::default()
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let path = directory.join(name).with_extension("rhai");
    let run = Session::new(Box::new(std::io::sink()), workbench).and_then(|mut session| {
        session.run_file(&path)?;
        Ok(session)
    });
    let session = match run {
        Ok(session) => session,
        Err(error) => {
            eprintln!("{}", error.render(false));
            std::process::exit(1);
        }
    };
    let shared = session.shared().lock();
    let Workbench {
        nests, settings, ..
    } = &shared.workbench;
    (name, nests.clone(), settings.reductions)
}
