//! TeML §3.1: the domains of trees, eqs. 1 to 3.

use crate::teml::trees::*;
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::Elem;
use teml::lower::build::build;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::tensor::declare;

#[test]
fn eq_1_tensor_expressions() {
    let a = tensor("A", &[4, 5]);
    let s = bind("s", declare::scalar(Elem::F64));
    let sum = vop(Add, &a, &s, ["i1 i2", "ε"]);

    // Leaves are identifiers, with iterators, without them (ε) or without a place for them (•).
    assert_eq!(a.notation(), "⟨(A, [4, 5], ε), []⟩");
    assert_eq!(s.notation(), "⟨(s, [], •), []⟩");
    // An operation has a shape and • in place of iterators.
    assert_eq!(
        sum.notation(),
        "⟨(+, [4, 5], •), [⟨(A, [4, 5], [i1, i2]), []⟩, ⟨(s, [], •), []⟩]⟩"
    );
    // ε, [] and • are three different things.
    let rank_0 = tensor("r", &[]);
    let both = vop(Mul, &rank_0, &s, ["", "ε"]);
    assert_eq!(rank_0.notation(), "⟨(r, [], ε), []⟩");
    assert_eq!(
        both.notation(),
        "⟨(*, [], •), [⟨(r, [], []), []⟩, ⟨(s, [], •), []⟩]⟩"
    );
}

#[test]
fn eq_2_loop_nests() {
    let nest = copy("B", "A", &[4, 5], "i1 i2");
    assert_eq!(
        nest.notation(),
        "⟨i1, [⟨i2, [⟨(=, •, •), [⟨(B, [4, 5], [i1, i2]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩]⟩]⟩"
    );
    // A loop holds loops and tensor expressions side by side.
    let imperfect = crate::teml::trees::nest(&[
        "f64 A[4], B[4][4]",
        "for i in 0..4",
        "  A[i] = A[i]",
        "  for j in 0..4",
        "    B[i][j] = A[j]",
    ]);
    assert_eq!(
        imperfect.notation(),
        "⟨i, [⟨(=, •, •), [⟨(A, [4], [i]), []⟩, ⟨(A, [4], [i]), []⟩]⟩, \
         ⟨j, [⟨(=, •, •), [⟨(B, [4, 4], [i, j]), []⟩, ⟨(A, [4], [j]), []⟩]⟩]⟩]⟩"
    );
}

#[test]
fn eq_3_sequences_at_the_top() {
    // An assignment that no loop surrounds is a sequence of one.
    let a = tensor("A", &[]);
    let alone = build(&eq("B", &a, "", "")).unwrap();
    assert_eq!(
        alone.notation(),
        "⟨•, [⟨(=, •, •), [⟨(B, [], []), []⟩, ⟨(A, [], []), []⟩]⟩]⟩"
    );
    let unrolled = transformed(&UNROLL, &copy("B", "A", &[2], "i"), &[level(1)]);
    assert_eq!(
        unrolled.notation(),
        "⟨•, [⟨(=, •, •), [⟨(B, [2], [0]), []⟩, ⟨(A, [2], [0]), []⟩]⟩, \
         ⟨(=, •, •), [⟨(B, [2], [1]), []⟩, ⟨(A, [2], [1]), []⟩]⟩]⟩"
    );
    // An initialization is a tree of the sequence.
    let x = tensor("x", &[3]);
    let total = teml::transform::tensor::vreduce::vsum(
        &vop(Mul, &x, &x, ["i", "i"]),
        &list("i"),
        teml::ir::Domain::default(),
    );
    let norm = build(&eq("n", &total.unwrap(), "ε", "")).unwrap();
    assert_eq!(
        norm.notation(),
        "⟨•, [⟨(fill 0, •, •), [⟨(n, [], []), []⟩]⟩, ⟨i, [⟨(+=, •, •), [⟨(n, [], []), []⟩, \
         ⟨(*, [3], •), [⟨(x, [3], [i]), []⟩, ⟨(x, [3], [i]), []⟩]⟩]⟩]⟩]⟩"
    );
}

#[test]
fn ranges_are_triples_with_the_last_value() {
    let nest = nest(&[
        "f64 A[9], B[9]",
        "for i in 1..9 step 2",
        "  for j in max(i, 2)..min(i + 2, 9)",
        "    B[j] = A[j]",
    ]);
    let ranges: Vec<String> = nest
        .loops()
        .iter()
        .map(|(_, l)| l.range.notation())
        .collect();
    assert_eq!(ranges, ["(1, 8, 2)", "(max(i, 2), min(i + 1, 8), 1)"]);
}
