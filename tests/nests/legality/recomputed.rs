//! Values that are recomputed in each iteration that reads them.

use super::{illegal, legal};

const MIRRORED: &str = "
    let x = tensor([13]);
    let w = tensor([13]);
    let y = eq(x * w, [i] -> [i]);
    let z = eq(vadd(y, y, [[i], [12 - i]]), [i]);
    let p = build(y);
    let c = build(z);
";

#[test]
fn all_of_a_producer_can_be_computed_in_each_iteration() {
    legal(
        MIRRORED,
        &[
            "p.compute_at(c, \"i\")",
            "p.compute_at(c, \"i\").parallelize(\"i\")",
            "p.vectorize(\"i\").compute_at(c.stripmine(\"i\", 4), \"i_o\")",
            "p.compute_at(c, \"i\").reverse(\"i_2\")",
            "p.inline(c)",
            "p.compute_at(c, 0)",
        ],
    );
}

#[test]
fn producers_of_other_loops_can_be_computed_in_each_iteration() {
    let script = "
        let x = tensor([6]);
        let w = tensor([6, 6]);
        let y = eq(vmul(x, x, [[j], [j]]), [j]);
        let z = eq(vadd(y, w, [[j], [i, j]]), [i, j]);
        let p = build(y);
        let c = build(z);
    ";
    legal(
        script,
        &[
            "p.compute_at(c, \"i\")",
            "p.compute_at(c, \"i\").parallelize(\"i\").vectorize(\"j\")",
            "p.compute_at(c.interchange(1, 2), \"i\")",
            "p.compute_at(c, \"j\")",
        ],
    );
    // A whole sum for a row of its consumer, and its consumer for a row of the next.
    let chain = "
        let w = tensor([6, 6]);
        let s = vsum(vmul(w, w, [[i, k], [k, i]]), [k]);
        let s = eq(s, [i]);
        let t = eq(vadd(s, s, [[i], [5 - i]]), [i]);
        let u = eq(vmul(t, t, [[i], [j]]), [i, j]);
        let a = build(s);
        let b = build(t);
        let c = build(u);
    ";
    legal(
        chain,
        &[
            "[a.compute_at(b, \"i\"), c]",
            "a.compute_at(b, \"i\").stripmine(\"k\", 4).parallelize(\"i\")",
            "[a, b.compute_at(c, \"j\")]",
        ],
    );
}

/// Packing computes a tensor whose values are stored in place of its reads.
#[test]
fn copies_of_what_is_inlined_compute_it() {
    legal(
        MIRRORED,
        &[
            "p.inline(c.stripmine(\"i\", 4).pack(\"i_i\", y))",
            "p.inline(c.stripmine(\"i\", 4).pack(\"i_o\", y))",
            "p.inline(c.pack(0, y)).vectorize(\"y_pack_1\")",
        ],
    );
}

/// Each iteration has a local tensor of its own, however large.
#[test]
fn local_tensors_of_the_shape_of_others_are_not_those() {
    let script = "
        let x = tensor([6]);
        let y = eq(x * x, [i] -> [i]);
        let z = eq(vadd(y, x, [[i], [i]]), [i]);
        let u = eq(vmul(y, z, [[i], [i]]), [i]);
        let a = build(y);
        let b = build(z);
        let c = build(u);
    ";
    legal(script, &["[a, b, c]", "a.compute_at(b, 0)"]);
    illegal(
        script,
        "[a.compute_at(b, 0), c]",
        &["where y[0] holds what y[0] held at the start"],
    );
}

const COPIED: &str = "
    reductions(\"reassoc\");
    let x = tensor([6, 6]);
    let z = eq(2 * x, [i, j] -> [i, j]);
    let c = eq(z, [i, j] -> [i, j]);
    let e = eq(3 * c, [i, j] -> [i, j]);
    let b = padded(z, [1, 2]);
    let d = eq(vat(z, [i, i]), [i]);
    let v = eq(vat(z, [5 - i, j]), [i, j]);
    let f = eq(vat(c, [5 - i, j]), [j, i]);
    let g = eq(vat(z, [i, j]), [6*i + j]);
    let s = sum(v, [2]);
    let k = eq(vat(b, [i, j]) + vat(b, [i + 1, j + 2]), [i, j]);
    let Z = build(z);
    let C = build(c);
    let S = build(s);
    x = eq(x + 1, [i, j] -> [i, j]);
    let X = build(x);
";

/// A copy of an element has the element's value, whoever computes it.
#[test]
fn producers_are_computed_by_copies() {
    legal(
        COPIED,
        &[
            "Z.inline(C)",
            "Z.inline(build(b))",
            "Z.inline(build(d))",
            "Z.inline(build(v)).parallelize(\"i\").vectorize(\"j\")",
            "Z.inline(build(g))",
            // Copies of copies, and what reads them.
            "Z.inline(C.inline(build(f)))",
            "Z.inline(C).inline(build(f))",
            "Z.inline(C.inline(build(e)))",
            "[Z.inline(C), build(e)]",
            "[Z.inline(build(b)), build(k).reverse(1)]",
            "[Z.inline(build(v)), S.rfactor(2)]",
            "fuse_outer(Z.inline(build(v)), S, 1).localize(\"v\")",
        ],
    );
    illegal(
        COPIED,
        "fuse_outer(X, Z.inline(build(v)), 1)",
        &["gets a wrong value from x[5][0]"],
    );
}
