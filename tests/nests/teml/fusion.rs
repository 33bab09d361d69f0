//! TeML Fig. 9, eqs. 22 and 23: fusion. Every fused nest is also executed and compared with its
//! parts.

use crate::teml::trees::*;
use teml::transform::Arg;
use teml::transform::nest::fuse_inner::FUSE_INNER;
use teml::transform::nest::fuse_outer::{FUSE_OUTER, fuse_outer};
use teml::transform::nest::unroll::UNROLL;

#[test]
fn eq_22_fuse_outer() {
    let first = copy("B", "A", &[3, 4, 5], "i1 i2 i3");
    let second = copy("D", "C", &[3, 4, 5], "i1 i2 i3");
    let xs = copying("B", "A", "[3, 4, 5]", "i1, i2, i3");
    let ys = |i3: &str| copying("D", "C", "[3, 4, 5]", &format!("i1, i2, {i3}"));
    let fused = |r| {
        let nests = [
            Arg::Nest(first.clone()),
            Arg::Nest(second.clone()),
            Arg::Int(r),
        ];
        let fused = transform(&FUSE_OUTER, &nests).unwrap();
        let mut apart = results(&first);
        apart.extend(results(&second));
        assert_eq!(results(&fused), apart, "{fused}");
        fused.notation()
    };
    // xs || ys at the level where sharing ends. Loops are known by name, so those of the second
    // nest that are not shared get names of their own.
    assert_eq!(
        fused(1),
        format!(
            "⟨i1, [⟨i2, [⟨i3, [{xs}]⟩]⟩, ⟨i2_2, [⟨i3_2, [{}]⟩]⟩]⟩",
            copying("D", "C", "[3, 4, 5]", "i1, i2_2, i3_2")
        )
    );
    assert_eq!(
        fused(2),
        format!("⟨i1, [⟨i2, [⟨i3, [{xs}]⟩, ⟨i3_2, [{}]⟩]⟩]⟩", ys("i3_2"))
    );
    assert_eq!(
        fused(3),
        format!("⟨i1, [⟨i2, [⟨i3, [{xs}, {}]⟩]⟩]⟩", ys("i3"))
    );
}

#[test]
fn eq_22_fuse_outer_joins_lists_of_subtrees() {
    let [one, two, three] = [("B", "A"), ("D", "C"), ("F", "E")]
        .map(|(target, source)| copy(target, source, &[3], "i"));
    let pair = fuse_outer(&one, &two, 1).unwrap();
    let [b, d, f] = [("B", "A"), ("D", "C"), ("F", "E")]
        .map(|(target, source)| copying(target, source, "[3]", "i"));
    assert_eq!(pair.notation(), format!("⟨i, [{b}, {d}]⟩"));
    assert_eq!(
        fuse_outer(&pair, &three, 1).unwrap().notation(),
        format!("⟨i, [{b}, {d}, {f}]⟩")
    );
    assert_eq!(
        fuse_outer(&three, &pair, 1).unwrap().notation(),
        format!("⟨i, [{f}, {b}, {d}]⟩")
    );
    // The iterator of the fused loop has the first nest's name, also in the second one's trees.
    let other = copy("D", "C", &[3], "j");
    assert_eq!(fuse_outer(&one, &other, 1).unwrap(), pair);
}

#[test]
fn eq_22_fuse_outer_names_what_remains() {
    // j_2, the obvious name, is taken in the second nest itself.
    let first = copy("B", "A", &[3, 4], "i j");
    let second = copy("D", "C", &[3, 4, 5], "i j j_2");
    assert_eq!(
        fuse_outer(&first, &second, 1).unwrap().notation(),
        format!(
            "⟨i, [⟨j, [{}]⟩, ⟨j_3, [⟨j_2, [{}]⟩]⟩]⟩",
            copying("B", "A", "[3, 4]", "i, j"),
            copying("D", "C", "[3, 4, 5]", "i, j_3, j_2")
        )
    );
}

#[test]
fn eq_23_fuse_inner() {
    // ⟨i1, [⟨j, xs1⟩, ⟨j, xs2⟩, ⟨j, xs3⟩]⟩ becomes ⟨i1, [⟨j, xs1 || xs2 || xs3⟩]⟩.
    let nest = nest(&[
        "f64 A[3][4], B[3][4], C[3][4], D[3][4]",
        "for i1 in 0..3",
        "  for j in 0..4",
        "    B[i1][j] = A[i1][j]",
        "  for k in 0..4",
        "    C[i1][k] = B[i1][k]",
        "    C[i1][k] += A[i1][k]",
        "  for l in 0..4",
        "    D[i1][l] = C[i1][l]",
    ]);
    let fused = transformed(&FUSE_INNER, &nest, &[level(2)]);
    let text = |target, source| copying(target, source, "[3, 4]", "i1, j");
    let update = text("C", "A").replace("(=,", "(+=,");
    assert_eq!(
        fused.notation(),
        format!(
            "⟨i1, [⟨j, [{}, {}, {update}, {}]⟩]⟩",
            text("B", "A"),
            text("C", "B"),
            text("D", "C")
        )
    );
    assert_eq!(transformed(&FUSE_INNER, &nest, &[named("l")]), fused);
}

#[test]
fn eq_23_fuse_inner_level_by_level() {
    let first = copy("B", "A", &[3, 4, 5], "i1 i2 i3");
    let second = copy("D", "C", &[3, 4, 5], "i1 i2 i3");
    let one_level = fuse_outer(&first, &second, 1).unwrap();
    let two_levels = transformed(&FUSE_INNER, &one_level, &[level(2)]);
    assert_eq!(two_levels, fuse_outer(&first, &second, 2).unwrap());
    let three_levels = transformed(&FUSE_INNER, &two_levels, &[level(3)]);
    assert_eq!(three_levels, fuse_outer(&first, &second, 3).unwrap());
}

#[test]
fn eq_23_fuse_inner_in_a_sequence() {
    // At level 1 the parent is the sequence ⟨•, […]⟩, and one loop of it is left.
    let nest = nest(&[
        "f64 A[4], B[4], C[4]",
        "for i in 0..4",
        "  B[i] = A[i]",
        "for k in 0..4",
        "  C[k] = B[k]",
    ]);
    let [b, c] = [("B", "A"), ("C", "B")].map(|(t, s)| copying(t, s, "[4]", "i"));
    assert_eq!(
        nest.notation(),
        format!("⟨•, [⟨i, [{b}]⟩, ⟨k, [{}]⟩]⟩", c.replace("[i]", "[k]"))
    );
    let fused = transformed(&FUSE_INNER, &nest, &[level(1)]);
    assert_eq!(fused.notation(), format!("⟨i, [{b}, {c}]⟩"));
    // An initialization before the loops keeps its place.
    let filled = crate::teml::trees::nest(&[
        "f64 A[4], B[4], C[4]",
        "fill B[0..4] = 0",
        "for i in 0..4",
        "  B[i] = A[i]",
        "for k in 0..4",
        "  C[k] = B[k]",
    ]);
    let fused = transformed(&FUSE_INNER, &filled, &[level(1)]);
    assert_eq!(
        fused.notation(),
        format!("⟨•, [⟨(fill 0, •, •), [⟨(B, [4], [0..4]), []⟩]⟩, ⟨i, [{b}, {c}]⟩]⟩")
    );
}

#[test]
fn eq_23_after_eq_25_is_unroll_and_jam() {
    let nest = copy("B", "A", &[2, 3], "i1 i2");
    let unrolled = transformed(&UNROLL, &nest, &[level(1)]);
    let [first, second] = ["0, i2", "1, i2"].map(|index| copying("B", "A", "[2, 3]", index));
    assert_eq!(
        transformed(&FUSE_INNER, &unrolled, &[level(1)]).notation(),
        format!("⟨i2, [{first}, {second}]⟩")
    );
}
