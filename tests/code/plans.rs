//! Plans: the examples in the headers of passes, plans of scripts, and support code.
//!
//! `TEML_BLESS=1 cargo test --test code plans` writes what the examples print into the headers.

use crate::dialog;
use dialog::nest;
use std::path::Path;
use std::process::Command;
use teml::codegen::{self, Plan, Stage};
use teml::ir::Nest;
use teml::legality::Reductions;
use teml::target::Target;

fn target() -> Target {
    Target::named("avx512").unwrap()
}

/// The comment at the top of a file, without the marks.
fn header(file: &str) -> String {
    let lines = file.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The code blocks of a language in a text.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("```{language}\n");
    let rest = text.split(start.as_str()).skip(1);
    rest.map(|block| block.split("\n```").next().unwrap())
        .collect()
}

fn example(stage: &Stage) -> Nest {
    let header = header(stage.file);
    let [script] = blocks(&header, "rhai")[..] else {
        panic!("{} has one example", stage.name);
    };
    let (before, last) = script.rsplit_once(";\n").unwrap_or(("", script));
    nest(&format!("{before};"), last)
}

/// The stages of a nest.
fn stages(nest: &Nest) -> Vec<Stage> {
    codegen::stages(std::slice::from_ref(nest), &target()).unwrap()
}

fn shown(plan: &Plan) -> String {
    plan.to_string().trim_end().to_owned()
}

/// `file`, with other texts in its header.
fn blessed(file: &str, texts: &[String; 2]) -> String {
    let mut result = String::new();
    let mut rest = file;
    for text in texts {
        let (before, after) = rest.split_once("//! ```text\n").unwrap();
        let (_, after) = after.split_once("//! ```\n").unwrap();
        let lines: String = text.lines().map(|line| format!("//! {line}\n")).collect();
        result.extend([before, "//! ```text\n", lines.as_str(), "//! ```\n"]);
        rest = after;
    }
    result + rest
}

#[test]
fn headers_of_passes_show_what_they_do() {
    let any = nest(
        "let x = tensor([4]); let y = eq(x, [i] -> [i]);",
        "build(y)",
    );
    for pass in stages(&any) {
        let stages = stages(&example(&pass));
        let stage = stages.iter().find(|stage| stage.name == pass.name).unwrap();
        let texts = [&stage.before, &stage.after].map(shown);
        assert_ne!(
            texts[0], texts[1],
            "the example of {} shows nothing",
            pass.name
        );
        if std::env::var_os("TEML_BLESS").is_some() {
            let passes = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codegen/plan");
            let file = passes.join(pass.name).with_extension("rs");
            std::fs::write(file, blessed(pass.file, &texts)).unwrap();
            continue;
        }
        let header = header(pass.file);
        assert_eq!(blocks(&header, "text"), texts, "{}", pass.name);
    }
}

#[test]
fn plans_say_why_loops_are_not_vectors() {
    let script = "
        let A = tensor([80, 8]);
        let x = tensor([8]);
        let B = eq(A, [i, j] -> [j, i]);
        let y = eq(vmul(A, x, [[i, j], [j]]), [i, j]);
        fn of_integers(elem, value) {
            nest(`
              ${elem} r[50], n[50], m[50]
              f64 x[50]
              vector for i in 0..50
                r[i] = ${value}
            `)
        }
        fn inside(head, body) {
            nest(`
              f64 T[9][9]
              for o in 0..4
                vector ${head}
                  ${body}
                    T[i][j] = 1
            `)
        }
    ";
    for (expression, why) in [
        (
            "build(B).vectorize(\"i\")",
            "A[i][j] is not unit-stride in i",
        ),
        (
            "inside(\"for i in 0..9\", \"for j in 0..i\")",
            "the bounds of loop j depend on i",
        ),
        (
            "inside(\"for i in o..8\", \"for j in 0..5\")",
            "the number of its iterations is not a constant",
        ),
        (
            "build(y).vectorize(\"j\", 16)",
            "16 lanes do not fit a vector of 64 bytes",
        ),
        (
            "of_integers(\"i32\", \"n[i] / m[i]\")",
            "no vector instruction divides elements of type i32",
        ),
        (
            "of_integers(\"i64\", \"mod(n[i], m[i])\")",
            "no vector instruction computes remainders of elements of type i64",
        ),
        (
            "of_integers(\"i32\", \"n[i] + i32(i64(m[i]) * 3)\")",
            "its vectors of i32 have no lanes of i64",
        ),
        (
            "of_integers(\"i32\", \"select(x[i] < 1, n[i], m[i])\")",
            "its vectors of i32 have no lanes of f64",
        ),
        (
            "of_integers(\"i64\", \"select(f32(x[i]) * 2 < 1, n[i], m[i])\")",
            "f32 would fill a part of a register beside i64",
        ),
        (
            "of_integers(\"i64\", \"i64(x[i]) + n[i]\")",
            "no vector instruction converts f64 to i64 and saturates",
        ),
    ] {
        let nest = nest(script, expression);
        let last = shown(&stages(&nest).pop().unwrap().after);
        assert!(last.contains(&format!("// no vectors: {why}")), "{last}");
    }
}

#[test]
fn short_sums_stay_loops_where_copies_need_more_registers() {
    let plan = |rows: usize, terms: usize| {
        let text = format!(
            "nest(`
            f64 C[9][{rows}][8], A[{rows}][{terms}], B[9][{terms}][8]
            for e in 0..9
              local f64 T[{rows}][8]
              fill T[0..{rows}][0..8] = 0
              for k in 0..{terms}
                for i in 0..{rows}
                  vector for j in 0..8
                    T[i][j] += A[i][k] * B[e][k][j]
              for i_2 in 0..{rows}
                vector for j_2 in 0..8
                  C[e][i_2][j_2] = T[i_2][j_2]
            `)"
        );
        shown(&stages(&nest("", &text)).pop().unwrap().after)
    };
    let is_rolled = |rows, terms| plan(rows, terms).contains("not unrolled");
    // 32 registers hold 4 sums and 28 elements of A, but not 32.
    assert!(!is_rolled(4, 7) && is_rolled(4, 8));
    // Few sums do not hide the overhead of a loop, and compilers do not unroll long ones.
    assert!(!is_rolled(3, 16));
    assert!(is_rolled(4, 16) && !is_rolled(4, 17));
}

#[test]
fn emit_prints_plans() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/mm.rhai");
    let mut command = Command::new(env!("CARGO_BIN_EXE_teml"));
    command.args([
        "emit",
        "--plan",
        "--size",
        "mini",
        "--threads",
        "2",
        "--target",
        "avx2",
    ]);
    let output = command.arg(script).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "in registers",
        "unrolled",
        "in vectors of f64",
        "parallel for",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn support_code_is_what_the_kernel_uses() {
    let script = "
        let A = tensor([64, 64]);
        let x = tensor([64]);
        let y = einsum(\"ij,j->i\", A, x);
        let B = eq(vadd(A, A, [[i, j], [i, j]]), [i, j]);
    ";
    let lines = |expression: &str| {
        let nests = [nest(script, expression)];
        let kernel = codegen::generate_for(&nests, "kernel", Reductions::Strict, &target());
        let source = kernel.unwrap().source();
        let (support, _) = source.split_once("// kernel computes").unwrap();
        support.to_owned()
    };
    insta::assert_snapshot!("no_support", lines("build(y)"));
    insta::assert_snapshot!("vectors_of_one_type", lines("build(B).vectorize(\"j\")"));
}
