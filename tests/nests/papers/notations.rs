//! One computation in several notations: equal nests and equal C.

use crate::papers::{computed, elements, sizes};
use std::sync::Arc;
use teml::analysis::work::flops;
use teml::codegen;
use teml::ir::{Nest, Program};
use teml::lang::{self, Notation};
use teml::legality::Reductions;
use teml::lower::build::build;
use teml::script::Session;
use teml::trial::Collect;
use teml::verbs::Workbench;

fn program(notation: Notation, text: &str) -> Program {
    lang::read(notation, text, &sizes(&[])).unwrap_or_else(|p| panic!("{text}\n{p:?}"))
}

fn nests(program: &Program) -> Vec<Nest> {
    program
        .assignments()
        .iter()
        .map(|a| build(a).unwrap())
        .collect()
}

/// The nests that a script generates code for.
fn of_script(text: &str) -> Vec<Nest> {
    let workbench = Workbench {
        runner: Arc::new(Collect),
        ..Workbench::default()
    };
    let mut session = Session::new(Box::new(std::io::sink()), workbench).unwrap();
    session
        .run_text("script", text)
        .unwrap_or_else(|e| panic!("{text}\n{}", e.render(false)));
    let bench = session.bench().lock();
    let comparisons = bench.kept.comparisons.first().expect("a comparison");
    comparisons.variants[0].nests.clone()
}

/// The nests as text, and their C but for the comments, which say what step made a loop.
fn shown(nests: &[Nest]) -> String {
    let kernel = codegen::generate(nests, "kernel", Reductions::Strict);
    let code = kernel.unwrap_or_else(|e| panic!("{e}")).function;
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    let code: Vec<&str> = lines
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let texts: Vec<String> = nests.iter().map(Nest::to_string).collect();
    format!("{}\n{}", texts.join("\n"), code.join("\n"))
}

fn are_equal(all: &[(&str, Vec<Nest>)]) {
    let first = shown(&all[0].1);
    for (name, nests) in &all[1..] {
        assert_eq!(shown(nests), first, "{name}");
    }
}

#[test]
fn matrix_products_in_all_notations_are_equal() {
    let rhai = "let A = tensor([30, 40]); let B = tensor([40, 50]);
        let C = contract(A, B, [2, 1]);
        compare(build(C));";
    let teml = "A = tensor(double, [30, 40])
        B = tensor(double, [40, 50])
        C = eq(vcontract(A, B, [2, 1]), [i1, i2] -> [i1, i2])
        l = build(C)
        compare(l)";
    let model = "var A : [30 40]\nvar B : [40 50]\nvar C : [30 50]\nC = (A # B) . [2 3]";
    let teil = "alloc A : [30, 40]\nalloc B : [40, 50]\nalloc C : [30, 50]\n\
        C = red+ 2 (diag 2 3 (prod A B))";
    let sac = "double[30,40] A;\ndouble[40,50] B;\n\
        C = { [i1,i2] -> sum({ [i3] -> A[i1,i3] * B[i3,i2] }) };";
    are_equal(&[
        ("Rhai", of_script(rhai)),
        ("TeML", of_script(teml)),
        (
            "the model language",
            nests(&program(Notation::Model, model)),
        ),
        ("TeIL", nests(&program(Notation::Teil, teil))),
        ("SaC", nests(&program(Notation::Sac, sac))),
    ]);
}

#[test]
fn interpolations_in_all_notations_are_equal() {
    let rhai = "let A = tensor([7, 7]); let u = tensor([7, 7, 7]);
        let t = contract(A, u, [2, 2]);
        let s = contract(A, t, [2, 2]);
        compare([[build(t), build(s)]]);";
    let teml = "A = tensor(double, [7, 7])
        u = tensor(double, [7, 7, 7])
        t = contract(A, u, [2, 2])
        s = contract(A, t, [2, 2])
        l1 = build(t)
        l2 = build(s)
        compare([[l1, l2]])";
    let model = "var A : [7 7]\nvar u : [7 7 7]\nvar t : [7 7 7]\nvar s : [7 7 7]\n\
        t = (A # u) . [2 4]\ns = (A # t) . [2 4]";
    let teil = "alloc A : [7, 7]\nalloc u : [7, 7, 7]\nalloc t : [7, 7, 7]\nalloc s : [7, 7, 7]\n\
        t = contr 2 4 (prod A u)\ns = contr 2 4 (prod A t)";
    let sac = "double[7,7] A;\ndouble[7,7,7] u;\n\
        t = { [i1,i2,i3] -> sum({ [i4] -> A[i1,i4] * u[i2,i4,i3] }) };\n\
        s = { [i1,i2,i3] -> sum({ [i4] -> A[i1,i4] * t[i2,i4,i3] }) };";
    are_equal(&[
        ("Rhai", of_script(rhai)),
        ("TeML", of_script(teml)),
        (
            "the model language",
            nests(&program(Notation::Model, model)),
        ),
        ("TeIL", nests(&program(Notation::Teil, teil))),
        ("SaC", nests(&program(Notation::Sac, sac))),
    ]);
}

#[test]
fn stencils_in_scripts_and_in_sac_are_equal() {
    let rhai = "let u = tensor([100]); let v = tensor([100]);
        v = partition([eq(vadd(vadd(u, u, [[i - 1], [i]]), u, [(), [i + 1]]), [i])], u);
        compare(build(v));";
    let quoted = "let u = tensor([100]);
        let v = sac { [i] -> u[i-1] + u[i] + u[i+1] | [1] <= [i] < [99]; iv -> u[iv] };
        compare(build(v));";
    let sac = "double[100] u;\n\
        v = { [i] -> u[i-1] + u[i] + u[i+1] | [1] <= [i] < [99]; iv -> u[iv] };";
    let renamed = |text: String| text.replace("i_2", "i1").replace("i_3", "i1_2");
    let rhai = renamed(shown(&of_script(rhai)));
    assert_eq!(
        shown(&of_script(quoted)),
        shown(&nests(&program(Notation::Sac, sac)))
    );
    assert_eq!(rhai, shown(&of_script(quoted)));
}

/// The model language's operators associate to the left, whatever they are (§3.1).
#[test]
fn operators_of_the_model_language_associate_to_the_left() {
    let of = |value: &str| {
        let text = format!("var A : [4]\nvar B : [4]\nvar C : [4]\nvar D : [4]\nD = {value}");
        program(Notation::Model, &text)
    };
    let operators = ["+", "-", "*", "/"];
    for first in operators {
        for second in operators {
            let plain = of(&format!("A {first} B {second} C"));
            assert_eq!(plain, of(&format!("(A {first} B) {second} C")));
            assert_ne!(plain, of(&format!("A {first} (B {second} C)")));
        }
    }
    assert_eq!(of("A # B.[1 2] * C"), of("((A # B).[1 2]) * C"));
}

#[test]
fn programs_of_declarations_alone_are_read_and_written() {
    let texts = [
        (Notation::Model, "var x : [300 400 500]\nvar s : []"),
        (Notation::Model, "var input x : [3]"),
        (Notation::Teil, "alloc x : [300, 400]\nalloc s : []"),
    ];
    for (notation, text) in texts {
        let read = program(notation, text);
        assert!(read.assignments().is_empty());
        assert_eq!(lang::written(&read, notation).unwrap(), text);
    }
    let unset = lang::read(Notation::Model, "var output x : [3]", &sizes(&[]));
    assert!(unset.is_err(), "nothing assigns the output");
}

#[test]
fn extents_of_the_model_language_have_names() {
    let text = |m, n| format!("var A : [{m} {n}]\nvar B : [{n} {m}]\nB = A ^ [1 2]");
    let of = sizes(&[("m", 3), ("n", 4)]);
    let named = lang::read(Notation::Model, &text("m", "n"), &of).unwrap();
    assert_eq!(named, program(Notation::Model, &text("3", "4")));
}

/// Core-TeIL leaves out dimensions (TeIL, Fig. 12).
#[test]
fn core_forms_of_teil_are_those_of_the_first_dimensions() {
    let of = |extents: &str, value: &str| {
        let text = format!("alloc A : [3, 3, 4]\nalloc x : [{extents}]\nx = {value}");
        lang::read(Notation::Teil, &text, &sizes(&[("n", 5)])).expect(value)
    };
    let pairs = [
        ("3, 4", "red+ A", "red+ 1 A"),
        ("3, 4", "redmax A", "redmax 1 A"),
        ("3, 4", "diag A", "diag 1 2 A"),
        ("4", "red+ diag A", "red+ 1 (diag 1 2 A)"),
        ("3, 4, 3", "transp 2 A", "transp 2 3 A"),
        ("2, 3, 3, 4", "expa 2 A", "expa 1 2 A"),
        ("5, 3, 3, 4", "expa n A", "expa 1 n A"),
        ("3, 4", "proj 2 A", "proj 1 2 A"),
        ("4", "proj 2 proj 3 A", "proj 1 2 (proj 1 3 A)"),
    ];
    for (extents, core, full) in pairs {
        assert_eq!(of(extents, core), of(extents, full), "{core}");
    }
}

#[test]
fn statements_after_core_forms_begin_on_their_own() {
    let text = "alloc A : [3]\nalloc B : [2, 3]\nalloc C : [2, 3]\nB = expa 2 A\nC = B";
    let parenthesized = text.replace("expa 2 A", "(expa 1 2 A)");
    assert_eq!(
        program(Notation::Teil, text),
        program(Notation::Teil, &parenthesized)
    );
}

/// The elements of `v` that a program of the operator language computes.
fn of_operators(text: &str, of: &[(&str, u64)]) -> Vec<f64> {
    let read = lang::read(Notation::Operators, text, &sizes(of));
    let read = read.unwrap_or_else(|p| panic!("{text}\n{p:?}"));
    elements(&computed(&read), "v")
}

#[test]
fn operators_apply_to_each_element_of_a_batch() {
    let matrices = "auto A = Matrix(2, 3), B = Matrix(4, 3);";
    let leading = format!("{matrices} auto u = Tensor<3>(5, 3, 3); auto v = (A*B)(u);");
    let model = "var A : [2 3] var B : [4 3] var u : [5 3 3] var v : [5 2 4]
        v = u # A # B . [[2 5] [3 7]]";
    let expected = elements(&computed(&program(Notation::Model, model)), "v");
    assert_eq!(of_operators(&leading, &[]), expected);
    let trailing = format!("{matrices} auto u = Tensor<3>(3, 3, 5); auto v = (A*B)(u);");
    let model = "var A : [2 3] var B : [4 3] var u : [3 3 5] var v : [2 4 5]
        v = A # B # u . [[2 5] [4 6]]";
    let expected = elements(&computed(&program(Notation::Model, model)), "v");
    assert_eq!(of_operators(&trailing, &[]), expected);
}

/// The names of extents say where a batch is, whatever their values are.
#[test]
fn a_batch_that_fits_in_two_places_is_refused() {
    let text = |tensor: &str| {
        format!("auto A = Matrix(n, n); auto u = Tensor<2>({tensor}); auto v = A(u);")
    };
    let of = [("n", 4), ("e", 4)];
    assert_eq!(of_operators(&text("e, n"), &of).len(), 16);
    let refused = lang::read(Notation::Operators, &text("n, n"), &sizes(&of)).unwrap_err();
    let message = "this application can be read in two ways";
    assert_eq!(refused[0].message, message);
}

#[test]
fn operators_have_names_and_divisors() {
    let given = "auto A = Matrix(3, 3), B = Matrix(3, 3); auto u = Tensor<2>(3, 3);";
    let named = format!("{given} auto L = A*B + B*A/2; auto v = L(L(u)) - u/4;");
    let spelled =
        format!("{given} auto w = (A*B)(u) + (B*A)(u)/2; auto v = (A*B)(w) + (B*A)(w)/2 - u/4;");
    assert_eq!(of_operators(&named, &[]), of_operators(&spelled, &[]));
    let third = format!("{given} auto v = (A*B/3)(u);");
    let third = program(Notation::Operators, &third).to_string();
    assert!(third.ends_with(" / 3"), "{third}");
}

/// The arithmetic operations of a program.
fn operations(program: &Program) -> f64 {
    let all = nests(program);
    all.iter().map(|nest| flops(nest).unwrap()).sum()
}

/// A product of operators on a tensor of `d` dimensions takes (d + 1) n^(2d) operations as written.
/// Lifted, it takes d steps of 2 n^(d + 1) operations (TeIL, §5).
#[test]
fn operators_are_lifted_to_the_operations_of_the_theory() {
    for (d, n) in [(1, 5), (2, 7), (3, 16), (5, 3), (11, 2)] {
        let extents = vec!["n"; d].join(", ");
        let matrices: Vec<String> = (0..d).map(|k| format!("M{k}")).collect();
        let declared = matrices.iter().map(|m| format!("{m} = Matrix(n, n)"));
        let declared: Vec<String> = declared.collect();
        let text = format!(
            "auto {};\nauto u = Tensor<{d}>({extents});\nauto v = ({})(u);",
            declared.join(", "),
            matrices.join("*")
        );
        let read = lang::read(Notation::Operators, &text, &sizes(&[("n", n)])).unwrap();
        let (d, n) = (d as i32, n as f64);
        assert_eq!(
            operations(&read),
            f64::from(d + 1) * n.powi(2 * d),
            "{text}"
        );
        let lifted = teml::transform::lift::lifted(&read).unwrap();
        let steps = f64::from(d) * 2.0 * n.powi(d + 1);
        assert_eq!(operations(&lifted), steps, "{text}\n{lifted}");
    }
}
