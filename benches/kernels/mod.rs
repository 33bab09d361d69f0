//! The scripts of the kernels, as benches of the tool take them.

use std::path::Path;
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::script::{Mode, Session, Workbench};

/// What a script builds and compares, at its full size, in the order of the script.
pub struct Built {
    /// The script's name.
    pub name: &'static str,
    /// Its nests.
    pub nests: Vec<Nest>,
    /// What it says about reductions.
    pub policy: Reductions,
}

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
    Built {
        name,
        nests: shared.workbench.nests.clone(),
        policy: shared.workbench.settings.reductions,
    }
}
