//! The scripts in `scripts/`, at tiny sizes that neither tiles nor vectors divide. Every variant is
//! checked against the definition, and the C compiles without warnings.

use crate::folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use teml::codegen::Kernel;
use teml::ir::{Elem, Nest};
use teml::legality::{self, Reductions, Verdict};
use teml::script::Session;
use teml::script::trees::{Closed, closed, of_expr, of_nest};
use teml::transform::trace;
use teml::trial::{Collect, Emit};
use teml::verbs::{Size, Workbench};

/// The names of all scripts.
fn scripts() -> Vec<String> {
    let scripts = folder::scripts(path("mm").parent().unwrap()).into_iter();
    let names = scripts.map(|p| p.file_stem().unwrap().to_string_lossy().into_owned());
    names.collect()
}

/// The kernels that are benchmarks.
const KERNELS: [&str; 10] = [
    "mm", "tmm", "bmm", "gconv", "mttkrp", "sddmm", "interp", "helm", "blur", "coars",
];

fn path(script: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    directory.join(script).with_extension("rhai")
}

fn teml(command: &str, script: &str, cache: &Path) -> Output {
    let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
    teml.arg(command).arg(path(script)).args(["--size", "mini"]);
    let output = teml.env("TEML_CACHE_DIR", cache).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {shown}");
    assert!(!shown.contains("warning"), "{script}: {shown}");
    output
}

#[test]
fn every_size_of_every_script_has_a_mini_one() {
    for script in scripts() {
        let text = std::fs::read_to_string(path(&script)).unwrap();
        let sizes = text.split("param(").skip(1);
        let sizes: Vec<&str> = sizes.map(|s| s.split(')').next().unwrap()).collect();
        // `--size mini` makes every `size(..)` tiny.
        assert!(!sizes.is_empty() || text.contains("= size("), "{script}");
        for size in sizes {
            assert_eq!(size.split(',').count(), 3, "{script}: {size}");
        }
    }
}

#[test]
fn schedules_of_kernels_are_short() {
    for kernel in KERNELS {
        let text = std::fs::read_to_string(path(kernel)).unwrap();
        let code = text.lines().map(str::trim);
        let code = code.filter(|line| !line.is_empty() && !line.starts_with("//"));
        let beyond = code.skip_while(|line| !line.starts_with("let naive ="));
        let count = beyond.skip(1).count();
        assert!((1..=15).contains(&count), "{kernel}: {count} lines");
    }
}

#[test]
fn every_script_computes_the_same_in_every_variant() {
    let directory = tempfile::tempdir().unwrap();
    for script in &scripts() {
        let output = teml("run", script, directory.path());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("equal the"), "{script}: {shown}");
        assert!(shown.contains("1.00x"), "{script}: {shown}");
    }
}

#[test]
fn what_every_script_emits_compiles_without_warnings() {
    let directory = tempfile::tempdir().unwrap();
    for script in &scripts() {
        let output = teml("emit", script, directory.path());
        let file = directory.path().join(script).with_extension("c");
        std::fs::write(&file, output.stdout).unwrap();
        let compiled = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c"])
            .arg(&file)
            .arg("-o")
            .arg(file.with_extension("o"))
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(compiled.status.success(), "{script}: {shown}");
    }
}

/// Results and inputs of all variants come in the same order; variants only differ in temporaries.
#[test]
fn variants_have_one_signature() {
    for script in &scripts() {
        let workbench = Workbench {
            runner: Arc::new(Emit::default()),
            size: Size::Mini,
            ..Workbench::default()
        };
        let session = Session::new(Box::new(std::io::sink()), workbench);
        let mut session = session.ok().unwrap();
        if let Err(error) = session.run_file(&path(script)) {
            panic!("{}", error.render(false));
        }
        let bench = session.bench().lock();
        let signature = |kernel: &Kernel| -> Vec<String> {
            let params = kernel.params.iter();
            params.map(|p| p.tensor.label().to_owned()).collect()
        };
        let all: Vec<Vec<String>> = bench.kept.compared.iter().map(signature).collect();
        assert!(!all.is_empty(), "{script}");
        for (one, variant) in all.iter().zip(&bench.kept.emitted) {
            assert_eq!(one, &all[0], "{script}: {}", variant.label);
        }
    }
}

/// The nests that a script compares, and those from which they were made.
fn nests(script: &str) -> Vec<Nest> {
    let workbench = Workbench {
        runner: Arc::new(Emit::default()),
        size: Size::Mini,
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench)
        .ok()
        .unwrap();
    if let Err(error) = session.run_file(&path(script)) {
        panic!("{}", error.render(false));
    }
    let mut found: Vec<Nest> = Vec::new();
    for nest in session.bench().lock().kept.nests.drain(..) {
        let before = (1..).map_while(|steps| trace::undo(&nest, steps).ok());
        let all = before.chain([nest.clone()]);
        found.extend(all.filter(|n| !found.contains(n)).collect::<Vec<_>>());
    }
    found
}

/// A text of a nest with its tensors in the order of their names: loops written as a text declare
/// them in the order of their use.
fn in_order(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(' ') {
        Some(("f64" | "f32" | "i32" | "i64", tensors)) => {
            let mut tensors: Vec<&str> = tensors.split(", ").collect();
            tensors.sort_unstable();
            tensors.join(", ")
        }
        // Drops the note on vector loops, which only printed nests have.
        _ => line.split("  // left to").next().unwrap_or(line).to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_path_of_every_script_makes_its_nest_again() {
    for script in &scripts() {
        let nests = nests(script);
        assert!(nests.len() > 1, "{script}");
        for nest in nests {
            let path = trace::script(&nest, trace::Calls::Unfolded).unwrap();
            let mut session = Session::new(Box::new(std::io::sink()), Workbench::default())
                .ok()
                .unwrap();
            match session.eval_line(&path) {
                Ok(shown) => {
                    let shown = shown.unwrap_or_default();
                    let [shown, made] = [shown, nest.to_string()].map(|text| in_order(&text));
                    assert_eq!(shown, made, "{script}\n{path}");
                }
                Err(error) => panic!("{script}\n{path}\n{}", error.render(false)),
            }
            let json = trace::to_json(&nest).unwrap();
            assert_eq!(trace::from_json(&json).unwrap(), nest, "{script}\n{json}");
            let built = (1..)
                .map_while(|steps| trace::undo(&nest, steps).ok())
                .last();
            let again = trace::replay(nest.path(), &built.unwrap_or(nest.clone())).unwrap();
            assert_eq!(again, nest, "{script}\n{path}");
        }
    }
}

/// The nests that each comparison of a script begins with, and the session after it.
fn first_variants(script: &Path) -> (Session, Vec<(Vec<Nest>, Reductions)>) {
    let workbench = Workbench {
        runner: Arc::new(Collect),
        size: Size::Mini,
        ..Workbench::default()
    };
    let session = Session::new(Box::new(std::io::sink()), workbench);
    let mut session = session.unwrap_or_else(|error| panic!("{}", error.render(false)));
    // Comparisons before an error count.
    let _ = session.run_file(script);
    let comparisons = std::mem::take(&mut session.bench().lock().kept.comparisons);
    let firsts = comparisons.into_iter().filter_map(|comparison| {
        let first = comparison.variants.into_iter().next()?;
        Some((first.nests, comparison.settings.reductions))
    });
    (session, firsts.collect())
}

/// The defect of the nests that a call makes of others, if there is one.
fn wrong(
    session: &mut Session,
    call: &str,
    nests: &[Nest],
    reductions: Reductions,
) -> Option<String> {
    let given = nests.iter().map(|nest| match trace::to_json(nest) {
        Ok(text) => Ok(format!("replay({text:?})")),
        Err(error) => Err(error.to_string()),
    });
    let given = match given.collect::<Result<Vec<String>, String>>() {
        Ok(given) if given.len() == 1 => given.concat(),
        Ok(given) => format!("[{}]", given.join(", ")),
        Err(why) => return Some(why),
    };
    match session.nests_of(&call.replace("NESTS", &given)) {
        Ok(made) => match legality::check(&made, reductions) {
            Verdict::Legal => None,
            Verdict::Illegal(violation) => Some(format!("illegal: {violation}")),
            Verdict::Undecided(why) => Some(format!("undecided: {why}")),
        },
        Err(error) => Some(error.render(false)),
    }
}

/// The first variant of each script has legal schedules. `TEML_SCRIPTS` names a directory whose
/// scripts are taken in place of these, `TEML_CALL` another call than `schedules::optimize(NESTS)`.
#[test]
fn what_every_script_computes_is_optimized() {
    let directory = std::env::var_os("TEML_SCRIPTS").map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| path("mm").parent().unwrap().to_owned());
    let call = std::env::var("TEML_CALL");
    let call = call.unwrap_or_else(|_| "schedules::optimize(NESTS)".to_owned());
    let scripts = folder::scripts(directory);
    let (mut count, mut failed) = (0, Vec::new());
    for script in &scripts {
        let (mut session, firsts) = first_variants(script);
        for (nests, reductions) in firsts {
            if legality::check(&nests, reductions) == Verdict::Legal {
                count += 1;
                let wrong = wrong(&mut session, &call, &nests, reductions);
                failed.extend(wrong.map(|why| format!("{}: {why}", script.display())));
            }
        }
    }
    assert!(count > 0);
    assert!(
        failed.is_empty(),
        "{} of {count}\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// Each expression and each nest of a script is what is made of its tree.
#[test]
fn every_tree_of_every_script_is_read_back() {
    let directory = path("mm").parent().unwrap().to_owned();
    let directories = [directory.clone(), directory.join("polybench")];
    let scripts = directories.iter().flat_map(folder::scripts);
    let (mut nests, mut expressions) = (0, 0);
    for script in scripts {
        let workbench = Workbench {
            runner: Arc::new(Collect),
            size: Size::Mini,
            ..Workbench::default()
        };
        let session = Session::new(Box::new(std::io::sink()), workbench);
        let mut session = session.unwrap_or_else(|error| panic!("{}", error.render(false)));
        // Comparisons before an error count.
        let _ = session.run_file(&script);
        let comparisons = std::mem::take(&mut session.bench().lock().kept.comparisons);
        let variants = comparisons.into_iter().flat_map(|c| c.variants);
        for nest in variants.flat_map(|variant| variant.nests) {
            nests += 1;
            match closed(&of_nest(&nest), Elem::default()) {
                Ok(Closed::Nest(same)) => assert!(same.is(&nest)),
                other => panic!("{}: {other:?}\n{nest}", script.display()),
            }
            let texts = nest.originals().iter().any(|part| part.is_program);
            // An assignment of a text is a statement and its loops, which `eq` does not make.
            for expr in nest.definition().iter().filter(|_| !texts) {
                expressions += 1;
                match closed(&of_expr(expr), Elem::default()) {
                    Ok(Closed::Expr(same)) => assert_eq!(&same, expr, "{}", script.display()),
                    other => panic!("{}: {other:?}\n{expr}", script.display()),
                }
            }
        }
    }
    assert!(nests > 100 && expressions > 100, "{nests}, {expressions}");
}

/// Plans for large sizes are proved for all, and those for small ones run at sizes that neither
/// tiles nor vectors divide.
#[test]
fn schedules_with_sizes_are_right_at_all_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let files = std::fs::read_dir(path("sizes").with_extension("")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let script = format!("sizes/{name}");
        let output = teml("run", &script, directory.path());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("equal the"), "{script}: {shown}");
        let mut check = Command::new(env!("CARGO_BIN_EXE_teml"));
        check.arg("check").arg(path(&script));
        let output = check
            .env("TEML_CACHE_DIR", directory.path())
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{script}: {shown}");
        assert!(
            shown.contains("plan: legal") || shown.contains("all: legal"),
            "{script}: {shown}"
        );
    }
}

/// Kernels whose numbers are only extents.
const OF_ANY_SIZE: [&str; 19] = [
    "argmax",
    "checkerboard",
    "coars",
    "gemv",
    "sddmm",
    "slices",
    "tmm",
    "triangular",
    "polybench/2mm",
    "polybench/3mm",
    "polybench/atax",
    "polybench/bicg",
    "polybench/doitgen",
    "polybench/gemm",
    "polybench/gemver",
    "polybench/gesummv",
    "polybench/mvt",
    "polybench/syr2k",
    "polybench/syrk",
];

#[test]
fn kernels_are_proved_for_any_size() {
    let directory = tempfile::tempdir().unwrap();
    for script in OF_ANY_SIZE {
        let mut check = Command::new(env!("CARGO_BIN_EXE_teml"));
        check.arg("check").arg(path(script)).args(["--size", "any"]);
        let output = check
            .env("TEML_CACHE_DIR", directory.path())
            .output()
            .unwrap();
        let shown = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let [stdout, stderr] = &shown;
        assert!(output.status.success(), "{script}: {stderr}");
        assert!(stdout.contains(": legal"), "{script}: {stdout}");
    }
}

#[test]
fn plans_are_compared_at_given_sizes() {
    let directory = tempfile::tempdir().unwrap();
    let run = |options: &str| {
        let script = format!(
            "let n = size(\"N\");\nlet A = tensor([n]);\nlet B = stored(2 * A);\n\
             let naive = build(B);\nlet plan = naive.vectorize(\"i1\");\n\
             compare([naive, plan], {options});\n"
        );
        let file = directory.path().join("compared.rhai");
        std::fs::write(&file, script).unwrap();
        let mut teml = Command::new(env!("CARGO_BIN_EXE_teml"));
        teml.arg("run").arg(&file);
        let output = teml.env("TEML_CACHE_DIR", directory.path()).output();
        let output = output.unwrap();
        let both = [output.stdout, output.stderr];
        both.map(|text| String::from_utf8(text).unwrap()).concat()
    };
    let shown = run("#{at: [#{N: 7}, #{N: 40}]}");
    for part in [
        "at N = 7:",
        "all 7 elements",
        "at N = 40:",
        "all 40 elements",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for (options, part) in [
        ("#{at: [#{M: 7}]}", "no variant has the size `M`"),
        ("#{at: [#{N: -1}]}", "`N` is never -1"),
        ("#{at: []}", "has no sizes"),
        ("#{sizes: [#{N: 7}]}", "has no option `sizes`"),
        ("#{at: [7]}", "a list of maps of sizes"),
    ] {
        let shown = run(options);
        assert!(shown.contains(part), "{options}: {shown}");
    }
}
