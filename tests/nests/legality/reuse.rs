//! Reused memory: the programs of Ullrich's thesis and others, before and after.

use super::{illegal, legal, not_done, shown};

/// Figs. 10, 12 and 15: with a temporary, without one, and into another variable.
const VECTORS: &str = "
    let s = scalar();
    let x = tensor([30]);
    let v = tensor([30]);
    let w = tensor([4]);
    fn copied(value) {
        let x = tensor([30]);
        let xtmp = eq(value, [i]);
        x = eq(xtmp, [i] -> [i]);
        fuse_outer(build(xtmp), build(x), 0)
    }
    let scaled = copied(vmul(s, x, [(), [i]]));
    let times = copied(vmul(x, v, [[i], [i]]));
    let turned = copied(vmul(x, v, [[29 - i], [i]]));
    let y = eq(vmul(s, x, [(), [i]]), [i]);
    let outer = eq(vmul(y, w, [[i], [j]]), [i, j]);
    let program = fuse_outer(build(y), build(outer), 0);
    let backwards = eq(vmul(s, x, [(), [29 - i]]), [i]);
    let after = eq(vmul(backwards, w, [[i], [j]]), [i, j]);
    let crossed = fuse_outer(build(backwards), build(after), 0);
";

#[track_caller]
fn shows(script: &str, nest: &str, lines: &[&str]) {
    let text = shown(script, nest).unwrap_or_else(|e| panic!("{e}"));
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(text, lines, "{nest}");
}

#[test]
fn copies_of_the_thesis_are_avoided() {
    let plans = [
        "scaled.avoid_copy(\"xtmp\")",
        "times.avoid_copy(\"xtmp\")",
        "scaled.parallelize(\"i\").parallelize(\"i_2\").avoid_copy(\"xtmp\")",
    ];
    legal(VECTORS, &plans);
    shows(
        VECTORS,
        plans[2],
        &[
            "f64 s, x[30]",
            "parallel for i in 0..30",
            "  x[i] = s * x[i]",
        ],
    );
    // The other half is read after it is overwritten.
    illegal(VECTORS, "turned.avoid_copy(\"xtmp\")", &["x[14]"]);
}

/// Fig. 13: a single number is kept, not a vector.
#[test]
fn products_of_a_matrix_and_a_vector_are_stored_at_once() {
    let script = "
        let u = tensor([9, 8]);
        let v = tensor([8]);
        let x = tensor([9]);
        let tmp = eq(vsum(vmul(u, v, [[i, j], [j]]), [j]), [i]);
        let xtmp = eq(vmul(tmp, x, [[i], [i]]), [i]);
        x = eq(xtmp, [i] -> [i]);
        let steps = fuse_outer(fuse_outer(build(tmp), build(xtmp), 0), build(x), 0);
        let a = steps.fuse(\"i\", \"i_2\").place_init(\"i\").localize(tmp);
        let b = a.avoid_copy(xtmp);
    ";
    legal(script, &["a", "b", "b.parallelize(\"i\")"]);
    shows(
        script,
        "b",
        &[
            "f64 u[9][8], v[8], x[9]",
            "for i in 0..9",
            "  local f64 tmp[]",
            "  fill tmp[] = 0",
            "  for j in 0..8",
            "    tmp[] += u[i][j] * v[j]",
            "  x[i] = tmp[] * x[i]",
        ],
    );
}

/// Figs. 15 and 16.
#[test]
fn values_overwrite_what_they_are_computed_of() {
    let plans = [
        "program.donate(x).reduce_cache_miss(y)",
        "program.donate(x).reduce_cache_miss(y, x).parallelize(\"i\").parallelize(\"i_2\")",
    ];
    legal(VECTORS, &plans);
    shows(
        VECTORS,
        plans[0],
        &[
            "f64 s, x[30], outer[30][4], w[4]",
            "for i in 0..30",
            "  x[i] = s * x[i]",
            "for i_2 in 0..30",
            "  for j in 0..4",
            "    outer[i_2][j] = x[i_2] * w[j]",
        ],
    );
    not_done(
        VECTORS,
        "program.reduce_cache_miss(y, x)",
        "what x holds may be needed after the nest",
    );
    // Not compatible: the first half overwrites operands of the second one.
    illegal(
        VECTORS,
        "crossed.donate(x).reduce_cache_miss(backwards, x)",
        &["x[14]"],
    );
    // Overwriting a value that is still needed is reported.
    illegal(
        VECTORS,
        "[program.donate(x).reduce_cache_miss(y, x), build(backwards)]",
        &["x["],
    );
}

/// Figs. 18 to 20 and 26, the interpolation operator.
const INTERPOLATION: &str = "
    let A = tensor([5, 5]);
    let B = tensor([5, 5]);
    let C = tensor([5, 5]);
    let u = tensor([5, 5, 5]);
    let tmp1 = contract(C, u, [2, 3]);
    let tmp2 = contract(B, tmp1, [2, 3]);
    let v = contract(A, tmp2, [2, 3]);
    let program = fuse_outer(fuse_outer(build(tmp1), build(tmp2), 0), build(v), 0);
    let begun = [tmp1, tmp2, v].map(|t| build(t).place_init(\"i3\"));
    let inside = fuse_outer(fuse_outer(begun[0], begun[1], 0), begun[2], 0).donate(u);
";

#[test]
fn memory_of_the_interpolation_is_used_again() {
    legal(
        INTERPOLATION,
        &[
            "program",
            "program.donate(u).reuse_buffer(tmp1).reuse_buffer(tmp2)",
            "program.donate(u).reuse_buffer(tmp1, v).reuse_buffer(tmp2, u)",
            "program.donate(u).reuse_buffer(tmp2)",
            "inside.reuse_buffer(tmp1).reuse_buffer(tmp2).parallelize(\"i1\").parallelize(\"i1_2\")",
            "program.localize(tmp1).localize(tmp2).reuse_buffer(tmp1, v)",
        ],
    );
    // Fig. 19: no statement may overwrite what it contracts.
    illegal(
        INTERPOLATION,
        "inside.reduce_cache_miss(tmp1, u)",
        &["u[0][0]"],
    );
    not_done(
        INTERPOLATION,
        "program.donate(u).reduce_cache_miss(tmp1, u)",
        "u is used while tmp1 is needed",
    );
    // tmp1 is in v while tmp2 is computed.
    not_done(
        INTERPOLATION,
        "program.donate(u).reuse_buffer(tmp1, v).reuse_buffer(tmp2, v)",
        "v is used while tmp2 is needed",
    );
}

/// Buffers that are dead take the next temporary: two for any number.
#[test]
fn two_buffers_are_enough_for_a_chain() {
    let script = "
        let x = tensor([12]);
        let weights = [0.25, 0.5, 0.25];
        fn smooth(t) { vstencil(t, [[-1], [0], [1]], [0.25, 0.5, 0.25]) }
        let a = eq(smooth(x), [i] -> [i], [12], 0);
        let b = eq(smooth(a), [i] -> [i], [12], 0);
        let c = eq(smooth(b), [i] -> [i], [12], 0);
        let d = eq(smooth(c), [i] -> [i], [12], 0);
        let chain = [build(b), build(c), build(d)].reduce(|all, n| fuse_outer(all, n, 0), build(a));
        let local = chain.localize(a).localize(b).localize(c);
        let two = local.reuse_buffer(c, a);
    ";
    legal(script, &["chain", "local", "two"]);
    let text = shown(script, "two").unwrap();
    assert_eq!(text.matches("local").count(), 2, "{text}");
    not_done(
        script,
        "local.reuse_buffer(c, b)",
        "b is used while c is needed",
    );
}

#[test]
fn nests_that_build_made_in_steps_are_shortened_by_hand() {
    let script = "
        let x = tensor([20]);
        x = eq(vadd(x, x, [[i - 1], [i + 1]]), [i]);
        let both = build(x);
    ";
    legal(script, &["both"]);
    // That the copy is needed was proved before.
    illegal(script, "both.avoid_copy(\"x_tmp\")", &["x["]);
    illegal(script, "both.reverse(\"i\").avoid_copy(\"x_tmp\")", &["x["]);
}
