//! TeML's compositional definitions, §4: what each abstract operation is composed of, eqs. 27 to
//! 35.

use teml::script::Session;
use teml::verbs::Workbench;

/// The tree that a program binds to `made`.
fn made(program: &str) -> String {
    let mut session = Session::new(Box::new(std::io::sink()), Workbench::default()).unwrap();
    let declarations = "
        let A = tensor([4, 6, 8]);
        let B = tensor([4, 6, 8]);
        let x = tensor([6]);
        let y = tensor([4]);
        let S = add(A, B, [[i1, i2, i3], [i1, i2, i3]] -> [i1, i2, i3]);
        let l = build(S);
    ";
    let run = session.run_text("program", &format!("{declarations}{program}"));
    run.unwrap_or_else(|error| panic!("{}", error.render(false)));
    let shown = session.eval_line("notation(made)");
    let shown = shown.unwrap_or_else(|error| panic!("{}", error.render(false)));
    shown.unwrap()
}

fn are_equal(left: &str, right: &str) {
    assert_eq!(made(left), made(right));
}

#[test]
fn eq_27_stripmine_n() {
    are_equal(
        "let made = stripmine_n(l, 3, 2);",
        "let l1 = stripmine(l, 1, 2);
         let l2 = stripmine(l1, 3, 2);
         let made = stripmine(l2, 5, 2);",
    );
}

#[test]
fn eq_28_interchange_n() {
    are_equal(
        "let made = interchange_n(l, 1, 2);",
        "let l1 = interchange(l, 1, 2);
         let made = interchange(l1, 2, 3);",
    );
}

#[test]
fn eq_29_tile() {
    are_equal(
        "let made = tile(l, 2);",
        "let l0 = stripmine_n(l, 3, 2);
         let l1 = interchange_n(l0, 2, 4);
         let l2 = interchange_n(l1, 3, 3);
         let made = interchange_n(l2, 4, 2);",
    );
}

#[test]
fn eq_30_ventrywise() {
    are_equal(
        "let T = eq(ventrywise_mul(A, B), [i1, i2, i3] -> [i1, i2, i3]); let made = build(T);",
        "let T = eq(vmul(A, B, [[i1, i2, i3], [i1, i2, i3]]), [i1, i2, i3]); let made = build(T);",
    );
}

#[test]
fn eq_31_entrywise() {
    are_equal(
        "let T = entrywise_mul(A, B);
         let made = build(T);",
        "let T = mul(A, B, [[i1, i2, i3], [i1, i2, i3]] -> [i1, i2, i3]);
         let made = build(T);",
    );
}

#[test]
fn eq_32_transpose() {
    are_equal(
        "let T = transpose(A, [[1, 3]]);
         let made = build(T);",
        "let T = eq(A, [i3, i2, i1] -> [i1, i2, i3]);
         let made = build(T);",
    );
}

#[test]
fn eq_33_contract() {
    // With an accumulator that begins at 0, as the initialization of a reduction is in the nest.
    are_equal(
        "let T = contract(A, x, [2, 1]);
         let made = build(T);",
        "let t2 = vmul(A, x, [[i1, i3, i2], [i3]]);
         let T = eq(vsum(t2, [i3]), [i1, i2]);
         let made = build(T);",
    );
}

#[test]
fn eq_34_vouterproduct() {
    are_equal(
        "let T = eq(vouterproduct([x, y]), [i1, i2] -> [i1, i2]);
         let made = build(T);",
        "let T = eq(vmul(x, y, [[i1], [i2]]), [i1, i2]);
         let made = build(T);",
    );
}

#[test]
fn eq_35_outerproduct() {
    are_equal(
        "let T = outerproduct([x, y]);
         let made = build(T);",
        "let T = eq(vouterproduct([x, y]), [i1, i2] -> [i1, i2]);
         let made = build(T);",
    );
}
