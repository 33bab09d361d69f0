//! TeML Fig. 9, fusion apart: what each loop expression denotes. Every transformed nest is also
//! executed and compared with the one that it came from.

use crate::teml::trees::*;
use teml::ir::BinaryOp::Add;
use teml::ir::Nest;
use teml::lower::build::{NoNest, build};
use teml::transform::nest::fuse_outer::fuse_outer;
use teml::transform::nest::interchange::INTERCHANGE;
use teml::transform::nest::stripmine::STRIPMINE;
use teml::transform::nest::unroll::UNROLL;
use teml::transform::tensor::{eq, vreduce};
use teml::transform::{Arg, Arrow};

/// The loops and their ranges (lb, ub, st), outermost first.
fn ranges(nest: &Nest) -> Vec<(String, String)> {
    let loops = nest.loops();
    let range = |l: &teml::ir::Loop| (l.name.to_string(), l.range.notation());
    loops.into_iter().map(|(_, l)| range(l)).collect()
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected
        .map(|(name, range)| (name.to_owned(), range.to_owned()))
        .to_vec()
}

#[test]
fn eq_19_build() {
    // r = 3 iterators: a loop for each, (0, ub_k, 1), around the expression as it is.
    let (a, x) = (tensor("A", &[4, 5, 6]), tensor("x", &[6]));
    let b = op("B", Add, [&a, &x], ["i1 i2 i3", "i3"], "i1 i2 i3");
    let nest = build(&b).unwrap();
    assert_eq!(
        nest.notation(),
        format!("⟨i1, [⟨i2, [⟨i3, [{}]⟩]⟩]⟩", b.notation())
    );
    assert_eq!(
        ranges(&nest),
        pairs([
            ("i1", "(0, 3, 1)"),
            ("i2", "(0, 4, 1)"),
            ("i3", "(0, 5, 1)")
        ])
    );
    // Level k is iterator i_k, at any position in the expression.
    let transposed = build(&eq("T", &a, "i3 i1 i2", "i2 i3 i1")).unwrap();
    assert_eq!(
        ranges(&transposed),
        pairs([
            ("i1", "(0, 4, 1)"),
            ("i2", "(0, 5, 1)"),
            ("i3", "(0, 3, 1)")
        ])
    );
}

#[test]
fn eq_19_builds_assignments_only() {
    let a = tensor("A", &[4]);
    let not = |what| Err(NoNest::NotAnAssignment { what });
    assert_eq!(build(&a), not("a tensor without a value"));
    let sum = vop(Add, &a, &a, ["i", "i"]);
    assert_eq!(build(&sum), not("a virtual expression"));
}

#[test]
fn eq_19_initializes_what_a_reduction_writes() {
    // y[i + 2] = sum(j: A[i][j]) leaves the first elements of y alone.
    let a = eq("A", &tensor("S", &[4, 5]), "i j", "i j");
    let twice = vop(Add, &a, &a, ["i j", "i j"]);
    let arrow = Arrow {
        from: vec![None],
        to: vec![it("i").plus_constant(2)],
    };
    let sums = vreduce::vsum(&twice, &list("j"), teml::ir::Domain::default()).unwrap();
    let nest = build(&bind("y", eq::eq(&sums, &arrow).unwrap())).unwrap();
    assert_eq!(
        nest.notation(),
        "⟨•, [⟨(fill 0, •, •), [⟨(y, [6], [2..6]), []⟩]⟩, \
         ⟨i, [⟨j, [⟨(+=, •, •), [⟨(y, [6], [i + 2]), []⟩, \
         ⟨(+, [4, 5], •), [⟨(A, [4, 5], [i, j]), []⟩, ⟨(A, [4, 5], [i, j]), []⟩]⟩]⟩]⟩]⟩]⟩"
    );
}

#[test]
fn eq_20_stripmine() {
    // (b, e, 1) = (0, 7, 1) and v = 4. The paper divides e - b, which takes e for one past the
    // last value; its eq. 25 counts (e - b)/s + 1 values, as the printed C does. With e the
    // last value everywhere, the blocks are (e - b + 1)/v.
    let nest = copy("B", "A", &[8, 5], "i1 i2");
    let mined = transformed(&STRIPMINE, &nest, &[level(1), Arg::Int(4)]);
    assert_eq!(
        mined.notation(),
        format!(
            "⟨i1_o, [⟨i1_i, [⟨i2, [{}]⟩]⟩]⟩",
            copying("B", "A", "[8, 5]", "i1_i, i2")
        )
    );
    assert_eq!(
        ranges(&mined),
        pairs([
            ("i1_o", "(0, 1, 1)"),
            ("i1_i", "(4*i1_o, 4*i1_o + 3, 1)"),
            ("i2", "(0, 4, 1)"),
        ])
    );
    // The inner loop, and a lower bound b that is not 0.
    let interior = crate::teml::trees::nest(&[
        "f64 B[3][10], A[3][10]",
        "for i1 in 0..3",
        "  for i2 in 1..10",
        "    B[i1][i2] = A[i1][i2]",
    ]);
    let mined = transformed(&STRIPMINE, &interior, &[level(2), Arg::Int(3)]);
    assert_eq!(
        ranges(&mined),
        pairs([
            ("i1", "(0, 2, 1)"),
            ("i2_o", "(0, 2, 1)"),
            ("i2_i", "(3*i2_o + 1, 3*i2_o + 3, 1)"),
        ])
    );
}

#[test]
fn eq_20_stripmine_by_factors_that_do_not_divide() {
    let nest = copy("B", "A", &[10], "i");
    let blocks = |factor| {
        let mined = transformed(&STRIPMINE, &nest, &[level(1), Arg::Int(factor)]);
        ranges(&mined)
    };
    let guarded = |outer, inner| pairs([("i_o", outer), ("i_i", inner)]);
    assert_eq!(
        blocks(4),
        guarded("(0, 2, 1)", "(4*i_o, min(4*i_o + 3, 9), 1)")
    );
    assert_eq!(
        blocks(9),
        guarded("(0, 1, 1)", "(9*i_o, min(9*i_o + 8, 9), 1)")
    );
    // The limits: blocks of one value, one block, and one block that would be larger.
    assert_eq!(blocks(1), guarded("(0, 9, 1)", "(i_o, i_o, 1)"));
    assert_eq!(blocks(10), guarded("(0, 0, 1)", "(10*i_o, 10*i_o + 9, 1)"));
    assert_eq!(
        blocks(64),
        guarded("(0, 0, 1)", "(64*i_o, min(64*i_o + 63, 9), 1)")
    );
}

#[test]
fn eq_20_stripmine_a_block_again() {
    let nest = copy("B", "A", &[16], "i");
    let twice = |first, second| {
        let mined = transformed(&STRIPMINE, &nest, &[named("i"), Arg::Int(first)]);
        ranges(&transformed(
            &STRIPMINE,
            &mined,
            &[named("i_i"), Arg::Int(second)],
        ))
    };
    assert_eq!(
        twice(8, 2),
        pairs([
            ("i_o", "(0, 1, 1)"),
            ("i_i_o", "(0, 3, 1)"),
            ("i_i_i", "(2*i_i_o + 8*i_o, 2*i_i_o + 8*i_o + 1, 1)"),
        ])
    );
    // Neither 5 divides 16 nor 2 divides 5: the end of a block and the end of the range remain.
    assert_eq!(
        twice(5, 2),
        pairs([
            ("i_o", "(0, 3, 1)"),
            ("i_i_o", "(0, 2, 1)"),
            (
                "i_i_i",
                "(2*i_i_o + 5*i_o, min(2*i_i_o + 5*i_o + 1, 5*i_o + 4, 15), 1)"
            ),
        ])
    );
    // The loop over blocks is an ordinary loop.
    let mined = transformed(&STRIPMINE, &nest, &[named("i"), Arg::Int(4)]);
    assert_eq!(
        ranges(&transformed(
            &STRIPMINE,
            &mined,
            &[named("i_o"), Arg::Int(2)]
        )),
        pairs([
            ("i_o_o", "(0, 1, 1)"),
            ("i_o_i", "(2*i_o_o, 2*i_o_o + 1, 1)"),
            ("i_i", "(4*i_o_i, 4*i_o_i + 3, 1)"),
        ])
    );
}

#[test]
fn eq_21_interchange() {
    let nest = copy("B", "A", &[3, 4, 5, 6], "i1 i2 i3 i4");
    let inside = copying("B", "A", "[3, 4, 5, 6]", "i1, i2, i3, i4");
    let order = |r1, r2| {
        let swapped = transformed(&INTERCHANGE, &nest, &[level(r1), level(r2)]);
        let loops: Vec<String> = swapped
            .loops()
            .iter()
            .map(|(_, l)| l.name.to_string())
            .collect();
        let [a, b, c, d] = loops.as_slice() else {
            panic!("four loops stay four: {swapped}")
        };
        // Only the loops change places; the expression stays what it is.
        let expected = format!("⟨{a}, [⟨{b}, [⟨{c}, [⟨{d}, [{inside}]⟩]⟩]⟩]⟩");
        assert_eq!(swapped.notation(), expected);
        // Each loop takes its range along.
        let mut moved = ranges(&swapped);
        moved.sort();
        assert_eq!(moved, ranges(&nest));
        loops.join(" ")
    };
    assert_eq!(order(1, 2), "i2 i1 i3 i4");
    // Loops that are not adjacent: those between them stay.
    assert_eq!(order(1, 3), "i3 i2 i1 i4");
    assert_eq!(order(2, 4), "i1 i4 i3 i2");
    assert_eq!(order(1, 4), "i4 i2 i3 i1");
    // Which is given first does not matter, and a loop changes places with itself.
    assert_eq!(order(4, 1), "i4 i2 i3 i1");
    assert_eq!(order(2, 2), "i1 i2 i3 i4");
}

#[test]
fn eq_25_unroll() {
    let nest = copy("B", "A", &[2, 3], "i1 i2");
    let at = |index: &str| copying("B", "A", "[2, 3]", index);
    // The inner loop: xs'_j takes the place of ⟨i2, xs⟩, with j for i2.
    assert_eq!(
        transformed(&UNROLL, &nest, &[level(2)]).notation(),
        format!("⟨i1, [{}, {}, {}]⟩", at("i1, 0"), at("i1, 1"), at("i1, 2"))
    );
    // The outermost loop leaves a sequence; loops that are copied get names of their own.
    assert_eq!(
        transformed(&UNROLL, &nest, &[level(1)]).notation(),
        format!(
            "⟨•, [⟨i2_u0, [{}]⟩, ⟨i2_u1, [{}]⟩]⟩",
            at("0, i2_u0"),
            at("1, i2_u1")
        )
    );
    // Nothing is left to name but the statements.
    let inner = transformed(&UNROLL, &nest, &[level(2)]);
    let all = transformed(&UNROLL, &inner, &[level(1)]);
    let statements = ["0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2"].map(at);
    assert_eq!(all.notation(), format!("⟨•, [{}]⟩", statements.join(", ")));
}

#[test]
fn eq_25_unroll_between_other_loops() {
    // A loop in the middle, with another subtree beside it.
    let nest = crate::teml::trees::nest(&[
        "f64 A[2][2][2], B[2][2][2], C[2]",
        "for i in 0..2",
        "  C[i] = A[i][0][0]",
        "  for j in 0..2",
        "    for k in 0..2",
        "      B[i][j][k] = A[i][j][k]",
    ]);
    let [first, second] =
        ["i, 0, k_u0", "i, 1, k_u1"].map(|index| copying("B", "A", "[2, 2, 2]", index));
    assert_eq!(
        transformed(&UNROLL, &nest, &[named("j")]).notation(),
        format!(
            "⟨i, [⟨(=, •, •), [⟨(C, [2], [i]), []⟩, ⟨(A, [2, 2, 2], [i, 0, 0]), []⟩]⟩, \
             ⟨k_u0, [{first}]⟩, ⟨k_u1, [{second}]⟩]⟩"
        )
    );
}

#[test]
fn eq_25_unroll_with_a_step() {
    // (b, e, s) = (1, 7, 3): k = (7 - 1)/3 + 1 copies, at s*j + b.
    let nest =
        crate::teml::trees::nest(&["f64 A[8], B[8]", "for i in 1..8 step 3", "  B[i] = A[i]"]);
    assert_eq!(ranges(&nest), pairs([("i", "(1, 7, 3)")]));
    let statements = ["1", "4", "7"].map(|index| copying("B", "A", "[8]", index));
    assert_eq!(
        transformed(&UNROLL, &nest, &[level(1)]).notation(),
        format!("⟨•, [{}]⟩", statements.join(", "))
    );
}

#[test]
fn transformations_leave_their_argument_as_it_was() {
    let nest = copy("B", "A", &[4, 4], "i1 i2");
    let before = nest.notation();
    transformed(&STRIPMINE, &nest, &[level(1), Arg::Int(2)]);
    transformed(&INTERCHANGE, &nest, &[level(1), level(2)]);
    transformed(&UNROLL, &nest, &[level(1)]);
    fuse_outer(&nest, &copy("D", "C", &[4, 4], "i1 i2"), 2).unwrap();
    assert_eq!(nest.notation(), before);
}
