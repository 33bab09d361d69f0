//! Every script of PolyBench has a legal baseline with each code generator, even if the definition
//! has another order than PolyBench.

use std::path::PathBuf;
use teml::script::Session;
use teml::verbs::{Size, Workbench};

/// The part of a script that defines the untransformed nests.
pub fn definition(kernel: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("scripts/{kernel}.rhai"));
    let script = std::fs::read_to_string(&file).unwrap();
    let end = script.find("let plan").or_else(|| script.find("compare("));
    let lines = script[..end.unwrap_or(script.len())].lines();
    let lines = lines.filter(|line| !line.starts_with("init("));
    lines.collect::<Vec<&str>>().join("\n")
}

/// The values of expressions after a definition.
pub fn values(size: Size, definition: &str, expressions: &[String]) -> Vec<String> {
    let workbench = Workbench {
        size,
        ..Workbench::default()
    };
    let session = Session::new(Box::new(std::io::sink()), workbench);
    let mut session = session.unwrap_or_else(|error| panic!("{}", error.render(false)));
    let mut value = |text: &str| {
        let value = session.eval_line(text);
        value.unwrap_or_else(|error| panic!("{}", error.render(false)))
    };
    value(definition);
    let shown = expressions.iter().map(|e| value(e).unwrap_or_default());
    shown.collect()
}

#[test]
fn every_script_has_a_baseline() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts/polybench");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "rhai") {
            continue;
        }
        count += 1;
        let kernel = path.file_stem().unwrap().to_string_lossy().into_owned();
        let definition = definition(&format!("polybench/{kernel}"));
        let calls = [
            "check(pluto(naive)).message",
            "let plain = pluto(naive, #{code: \"pluto\"})",
            "check(plain).message",
            "`${codegen(plain)}`",
        ];
        let calls = calls.map(str::to_owned);
        let shown = values(Size::Mini, &definition, &calls);
        for k in [0, 2] {
            assert_eq!(shown[k], "=> \"legal\"", "{kernel}");
        }
        let lines: Vec<&str> = shown[3].lines().map(str::trim_start).collect();
        let after = lines.windows(2).filter(|w| w[0].starts_with("#pragma omp"));
        for w in after {
            assert!(w[1].starts_with("for ("), "{kernel}: {}\n{}", w[0], w[1]);
        }
    }
    assert_eq!(count, 30);
}

/// Rows that read a pivot, and factorizations that update everything behind it.
#[test]
fn programs_in_order_with_pivots_have_a_baseline() {
    let scripts = [
        (
            "X = eq(vsub(X, X, [[k - 1, i], [k - 1, k - 1]]), [k, i])",
            "",
        ),
        ("X = eq(vadd(X, X, [[k - 1, i], [k - 1, 0]]), [k, i])", ""),
        ("X = eq(vadd(X, X, [[k, i - 1], [k - 1, i]]), [k, i])", ""),
    ];
    for (statement, _) in scripts {
        let definition = format!("let X = tensor([8, 8]); {statement}; let naive = sweep(X);");
        for options in [
            "",
            ", #{tile_sizes: [3]}",
            ", #{tile: false}",
            ", #{multipar: true}",
        ] {
            let check = format!("check(pluto(naive{options})).message");
            let message = values(Size::Mini, &definition, &[check]);
            assert_eq!(message, ["=> \"legal\""], "{statement}{options}");
        }
    }
}
