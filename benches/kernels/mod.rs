//! The scripts of the kernels, for the benches of the tool.

use std::path::Path;
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::script::{ScriptError, Session};
use teml::verbs::Workbench;

/// The name of a script, the nests that it builds and compares at full size, in order, and its
/// policy of reductions.
pub type Built = (&'static str, Vec<Nest>, Reductions);

/// All scripts; a script that fails ends the bench.
pub fn all() -> impl Iterator<Item = Built> {
    let names = [
        "blur", "bmm", "coars", "gconv", "helm", "interp", "mm", "mttkrp", "sddmm", "tmm",
    ];
    names.into_iter().map(built)
}

fn built(name: &'static str) -> Built {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let path = directory.join(name).with_extension("rhai");
    run(name, |session| session.run_file(&path))
}

/// Cases that no script has: a stencil in a time loop, as large as in PolyBench, and LU as a list
/// of nests, two per column. The nests of two loops are blocked.
pub fn others() -> [Built; 2] {
    let heat = "
        let A = tensor([120, 120, 120]);
        let star = [[0, 0, 0], [0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]];
        let weights = [2, 1, 1, 1, 1, 1, 1];
        let B = eq(vstencil(A, star, weights) * 0.125, [i, j, k] -> [i, j, k], [120, 120, 120]);
        let first = build(B);
        let A = eq(vstencil(B, star, weights) * 0.125, [i, j, k] -> [i, j, k], [120, 120, 120]);
        compare([fuse_outer(first, build(A), 0).repeat(\"t\", 500)]);";
    let lu = "
        let A = tensor([101, 101]);
        let one = tensor([101]);
        let nests = [];
        for step in 0..100 {
            A = eq(vdiv(vmul(A, one, [[i + step + 1, step], [i]]), A, [(), [step, step]]), [i + step + 1, step]);
            nests += build(A);
            let column = vmul(A, one, [[i + step + 1, step], [i]]);
            let row = vmul(A, one, [[step, j + step + 1], [j]]);
            let product = vmul(column, row, [(), ()]);
            A = eq(vsub(A, product, [[i + step + 1, j + step + 1], ()]), [i + step + 1, j + step + 1]);
            nests += build(A).stripmine(\"i\", 8).parallelize(\"i_o\").vectorize(\"j\");
        }
        compare([nests]);";
    [("heat_3d", heat), ("lu", lu)]
        .map(|(name, text)| run(name, |session| session.run_text(name, text)))
}

/// The nests that a script builds and compares; a script that fails ends the bench.
pub fn run(
    name: &'static str,
    script: impl FnOnce(&mut Session) -> Result<(), ScriptError>,
) -> Built {
    let workbench = Workbench {
        runner: std::sync::Arc::new(teml::trial::Emit::default()),
        ..Workbench::default()
    };
    let run = Session::new(Box::new(std::io::sink()), workbench).and_then(|mut session| {
        script(&mut session)?;
        Ok(session)
    });
    let session = match run {
        Ok(session) => session,
        Err(error) => {
            eprintln!("{}", error.render(false));
            std::process::exit(1);
        }
    };
    let bench = session.bench().lock();
    (name, bench.kept.nests.clone(), bench.reductions())
}
