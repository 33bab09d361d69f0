//! TeML Figs. 4 to 6, for N = N1 = 4 and N2 = 5: trees node for node, C line for line.

use crate::teml::trees::*;
use teml::codegen::generate;
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::{Expr, Nest};
use teml::legality::Reductions;
use teml::lower::build::build;
use teml::transform::tensor::partition::retarget;

/// The lines between the braces of the generated function.
fn body(nest: &Nest) -> Vec<String> {
    let c = generate(std::slice::from_ref(nest), "kernel", Reductions::Strict)
        .unwrap()
        .function;
    let (_, after) = c.split_once("\n{\n").unwrap();
    let body = after.strip_suffix("\n}\n").unwrap();
    body.lines().map(str::to_owned).collect()
}

/// The paper's loops over i1 and i2 around `statement`.
fn loops(extents: [u64; 2], statement: &str) -> Vec<String> {
    let [n1, n2] = extents;
    vec![
        format!("    for (int64_t i1 = 0; i1 < {n1}; i1++) {{"),
        format!("        for (int64_t i2 = 0; i2 < {n2}; i2++) {{"),
        format!("            {statement}"),
        "        }".to_owned(),
        "    }".to_owned(),
    ]
}

/// ⟨i1, [⟨i2, [expression]⟩]⟩, which is underlined in all three figures.
fn around(expression: &Expr) -> String {
    format!("⟨i1, [⟨i2, [{}]⟩]⟩", expression.notation())
}

#[test]
fn fig_4_transposition() {
    let a = tensor("A", &[4, 5]);
    let b = eq("B", &a, "i1 i2", "i2 i1");
    assert_eq!(a.notation(), "⟨(A, [4, 5], ε), []⟩");
    assert_eq!(
        b.notation(),
        "⟨(=, •, •), [⟨(B, [5, 4], [i2, i1]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩"
    );
    let nest = build(&b).unwrap();
    assert_eq!(nest.notation(), around(&b));
    assert_eq!(body(&nest), loops([4, 5], "B[i2][i1] = A[i1][i2];"));
}

#[test]
fn fig_5_renaming() {
    let [a, b, c] = ["A", "B", "C"].map(|name| tensor(name, &[4, 4]));
    let sum = op("C", Add, [&a, &b], ["i1 i2", "i1 i2"], "i1 i2");
    let d = retarget(&sum, c.tensor().unwrap()).unwrap();
    assert_eq!(
        d.notation(),
        "⟨(=, •, •), [⟨(C, [4, 4], [i1, i2]), []⟩, \
         ⟨(+, [4, 4], •), [⟨(A, [4, 4], [i1, i2]), []⟩, ⟨(B, [4, 4], [i1, i2]), []⟩]⟩]⟩"
    );
    let nest = build(&d).unwrap();
    assert_eq!(nest.notation(), around(&d));
    // The figure's C says C[i2][i1], against its own tree: `-> [i1, i2]` indexes C.
    assert_eq!(
        body(&nest),
        loops([4, 4], "C[i1][i2] = A[i1][i2] + B[i1][i2];")
    );
}

#[test]
fn fig_6_a_virtual_operand() {
    let [a, b, c] = ["A", "B", "C"].map(|name| tensor(name, &[4, 4]));
    let d = vop(Add, &a, &b, ["i1 i2", "i1 i2"]);
    let e = op("E", Mul, [&c, &d], ["i1 i2", "ε"], "i1 i2");
    assert_eq!(
        d.notation(),
        "⟨(+, [4, 4], •), [⟨(A, [4, 4], [i1, i2]), []⟩, ⟨(B, [4, 4], [i1, i2]), []⟩]⟩"
    );
    assert_eq!(
        e.notation(),
        format!(
            "⟨(=, •, •), [⟨(E, [4, 4], [i1, i2]), []⟩, \
             ⟨(*, [4, 4], •), [⟨(C, [4, 4], [i1, i2]), []⟩, {}]⟩]⟩",
            d.notation()
        )
    );
    let nest = build(&e).unwrap();
    assert_eq!(nest.notation(), around(&e));
    assert_eq!(
        body(&nest),
        loops([4, 4], "E[i1][i2] = C[i1][i2] * (A[i1][i2] + B[i1][i2]);")
    );
}
