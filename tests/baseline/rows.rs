//! TeML's Table 2, row by row: which of Pluto's options give the order of loops, the tiles, the
//! parallel and the vector loop that the paper's steps make. tests/table2.rs has the steps.

use super::{nest, string};
use teml::ir::{Loop, Nest, Tree};
use teml::legality::{Reductions, Verdict, check};

/// The loops around each statement, the outermost first, with `parallel` and `vector`.
fn loops(nest: &Nest) -> Vec<String> {
    fn walk(trees: &[Tree], around: &mut Vec<String>, found: &mut Vec<String>) {
        for tree in trees {
            match tree {
                Tree::Loop(l) => {
                    around.push(marked(l));
                    walk(&l.body, around, found);
                    around.pop();
                }
                Tree::Stmt(_) => found.push(around.join(", ")),
                Tree::Fill(_) | Tree::Local(_) => {}
            }
        }
    }
    fn marked(l: &Loop) -> String {
        let marks = [(l.parallel, "parallel "), (l.vector, "vector ")];
        let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
        format!("{}{}", marks.collect::<String>(), l.name)
    }
    let mut found = Vec::new();
    walk(nest.trees(), &mut Vec::new(), &mut found);
    found
}

/// Asserts the loops of what the baseline makes, which is legal.
#[track_caller]
fn row(script: &str, call: &str, expected: &[&str]) {
    let nest = nest(script, call);
    assert_eq!(loops(&nest), expected, "{nest}");
    assert_eq!(check(&[nest], Reductions::Strict), Verdict::Legal);
}

#[test]
fn mttkrp() {
    let script = r#"
        B = tensor([3, 4, 5])
        C = tensor([4, 6])
        D = tensor([5, 6])
        A = einsum("ikl,lj,kj->ij", B, D, C)
        l = build(A)"#;
    let call = "pluto(l, #{tile: false, prevector: false, unrolljam: false})";
    row(script, call, &["parallel i, k, j, l"]);
    // With vectors, the loop that moves inward goes all the way.
    let call = "pluto(l, #{tile: false, unrolljam: false})";
    row(script, call, &["parallel i, k, l, vector j"]);
}

#[test]
fn sddmm() {
    let script = "
        B = tensor([3, 4])
        C = tensor([3, 5])
        D = tensor([5, 4])
        A = entrywise_mul(B, vcontract(C, D, [2, 1]))
        l = build(A)";
    let call = "pluto(l, #{tile: false, unrolljam: false})";
    row(script, call, &["parallel i1, i3, vector i2"]);
}

const BMM: &str = r#"
    A = tensor([5, 40, 33])
    B = tensor([5, 33, 36])
    C = einsum("bik,bkj->bij", A, B)
    l = build(C)"#;

#[test]
fn bmm() {
    let expected = "parallel b_o, i_o, j_o, k_o, b_i, i_i, k_i, vector j_i";
    row(BMM, "pluto(l, #{unrolljam: false})", &[expected]);
}

#[test]
fn the_path_is_a_script() {
    let path = string(BMM, "`${path(pluto(l, #{unrolljam: false}))}`");
    let steps: Vec<&str> = path.lines().skip_while(|l| *l != "build(C)").collect();
    assert_eq!(
        steps,
        [
            "build(C)",
            "    .stripmine(\"b\", 32)",
            "    .stripmine(\"i\", 32)",
            "    .stripmine(\"j\", 32)",
            "    .stripmine(\"k\", 32)",
            "    .reorder([\"i_o\", \"j_o\", \"k_o\", \"b_i\", \"i_i\", \"k_i\", \"j_i\"])",
            "    .parallelize(\"b_o\")",
            "    .vectorize(\"j_i\")",
        ],
        "{path}"
    );
}

/// As scripts/gconv.rhai has it, on the eight iterators that the convolution has: the width is
/// innermost, and the channels, which are summed over, stand before the window.
#[test]
fn gconv() {
    let script = "
        I = tensor([2, 3, 4, 8, 18])
        W = tensor([3, 2, 4, 3, 3])
        IW = vmul(I, W, [[n, g, c, h + kh, w + kw], [g, f, c, kh, kw]])
        O = eq(vsum(IW, [c, kh, kw]), [n, g, f, h, w])
        l = build(O)";
    let call = "pluto(l, #{tile: false, unrolljam: false})";
    row(script, call, &["parallel n, g, f, h, c, kh, kw, vector w"]);
}

const INTERP: &str = r#"
    A = tensor([5, 5])
    u = tensor([7, 5, 5, 5])
    t = einsum("il,elmn->eimn", A, u)
    s = einsum("jm,eimn->eijn", A, t)
    v = einsum("kn,eijn->eijk", A, s)
    l = [build(t), build(s), build(v)]"#;

#[test]
fn interp() {
    let call = "pluto(l, #{tile: false, fuse: \"nofuse\", unrolljam: false})";
    row(
        INTERP,
        call,
        &[
            "parallel e, i, m, l, vector n",
            "parallel e_2, i_2, j, m_2, vector n_2",
            "parallel e_3, i_3, j_2, k, n_3",
        ],
    );
}

/// The default fuses as far as the sums allow.
#[test]
fn interp_fused() {
    row(
        INTERP,
        "pluto(l, #{tile: false, unrolljam: false})",
        &[
            "parallel e, i, n, m, l",
            "parallel e, i, n, m, j",
            "parallel e, i, n, j_2, k",
        ],
    );
}

/// The paper's row does not compute the operator (tests/table2.rs): its fusions at level 5 read
/// sums that are not complete. What it has beside them is that each nest runs on threads over the
/// elements of the mesh, and that the first three are vectorized.
#[test]
fn helm() {
    let script = r#"
        A = tensor([5, 5])
        D = tensor([7, 5, 5, 5])
        u = tensor([7, 5, 5, 5])
        t1 = einsum("li,elmn->eimn", A, u)
        t2 = einsum("mj,eimn->eijn", A, t1)
        t = einsum("nk,eijn->eijk", A, t2)
        v1 = einsum("il,elmn->eimn", A, ventrywise_div(t, D))
        v2 = einsum("jm,eimn->eijn", A, v1)
        v = einsum("kn,eijn->eijk", A, v2)
        l = [t1, t2, t, v1, v2, v].map(|x| build(x))"#;
    row(
        script,
        "pluto(l, #{tile: false, fuse: \"nofuse\", unrolljam: false})",
        &[
            "parallel e, i, m, l, vector n",
            "parallel e_2, i_2, j, m_2, vector n_2",
            "parallel e_3, i_3, j_2, n_3, vector k",
            "parallel e_4, i_4, m_3, l_2, vector n_4",
            "parallel e_5, i_5, j_3, m_4, vector n_5",
            "parallel e_6, i_6, j_4, k_2, n_6",
        ],
    );
    // Fused, all of them share the elements, and more where sums allow.
    row(
        script,
        "pluto(l, #{tile: false, unrolljam: false})",
        &[
            "parallel e, i, n, m, l",
            "parallel e, i, n, m, j",
            "parallel e, i, n, j_2, vector k",
            "parallel e, i_4, n_4, m_3, l_2",
            "parallel e, i_4, n_4, m_3, j_3",
            "parallel e, i_4, n_4, j_4, k_2",
        ],
    );
}

#[test]
fn coars() {
    let script = "
        Sxx = tensor([40, 50])
        Syy = tensor([40, 50])
        Sxy = tensor([40, 50])
        T = Sxx + Syy
        R = stored(Sxx * Syy - Sxy * Sxy - 0.04 * (T * T))
        l = build(R)";
    row(
        script,
        "pluto(l, #{unrolljam: false})",
        &["parallel i1_o, i2_o, i1_i, vector i2_i"],
    );
}

/// Table 1's others, which the paper leaves to the literature.
#[test]
fn mm_and_tmm() {
    let script = "
        A = tensor([40, 35])
        B = tensor([35, 50])
        C = contract(A, B, [2, 1])
        mm = build(C)
        At = tensor([35, 40])
        Ct = contract(vtranspose(At, [[1, 2]]), B, [2, 1])
        tmm = build(Ct)";
    for nest in ["mm", "tmm"] {
        row(
            script,
            &format!("pluto({nest}, #{{unrolljam: false}})"),
            &["parallel i1_o, i2_o, i3_o, i1_i, i3_i, vector i2_i"],
        );
    }
}
