//! TeML's Table 2 as data: each kernel with options of Pluto and the path that it makes with them.

/// A row of the table.
pub struct Row {
    /// Its name.
    pub kernel: &'static str,
    /// Ends in `l`, the nest, or the nests in order.
    pub definition: &'static str,
    /// Options of `pluto`.
    pub options: &'static str,
    /// The calls of the paper on `l`, or on the nests `l1`, `l2`, …: they make `p`.
    pub paper: &'static str,
    /// The steps of the baseline's path, as it is printed.
    pub path: &'static [&'static str],
    /// The loops around each statement: their order, the tiled band (`_o` over blocks, `_i`
    /// within), the parallel and the vector loop.
    pub loops: &'static [&'static str],
    /// Further steps of the paper, which do not change the result.
    pub beside: &'static str,
}

/// In the order of the paper.
pub const TABLE: [Row; 7] = [
    Row {
        kernel: "mttkrp",
        definition: r#"
            B = tensor([3, 4, 5])
            C = tensor([4, 6])
            D = tensor([5, 6])
            A = einsum("ikl,lj,kj->ij", B, D, C)
            l = build(A)"#,
        options: "#{tile: false, prevector: false, unrolljam: false}",
        paper: "
            p = parallelize(l, 1)
            p = interchange(p, 2, 3)",
        path: &[r#".interchange("j", "k")"#, r#".parallelize("i")"#],
        loops: &["parallel i, k, j, l"],
        beside: "",
    },
    Row {
        kernel: "sddmm",
        definition: "
            B = tensor([3, 4])
            C = tensor([3, 5])
            D = tensor([5, 4])
            A = entrywise_mul(B, vcontract(C, D, [2, 1]))
            l = build(A)",
        options: "#{tile: false, unrolljam: false}",
        paper: "
            p = interchange(l, 2, 3)
            p = parallelize(p, 1)
            p = vectorize(p, 3)",
        path: &[
            r#".interchange("i2", "i3")"#,
            r#".parallelize("i1")"#,
            r#".vectorize("i2")"#,
        ],
        loops: &["parallel i1, i3, vector i2"],
        beside: "",
    },
    Row {
        kernel: "bmm",
        definition: r#"
            A = tensor([5, 40, 33])
            B = tensor([5, 33, 36])
            C = einsum("bik,bkj->bij", A, B)
            l = build(C)"#,
        options: "#{unrolljam: false}",
        paper: "
            p = tile(l, 32)
            p = interchange(p, 7, 8)
            p = parallelize(p, 1)
            p = vectorize(p, 8)",
        path: &[
            r#".stripmine("b", 32)"#,
            r#".stripmine("i", 32)"#,
            r#".stripmine("j", 32)"#,
            r#".stripmine("k", 32)"#,
            r#".reorder(["i_o", "j_o", "k_o", "b_i", "i_i", "k_i", "j_i"])"#,
            r#".parallelize("b_o")"#,
            r#".vectorize("j_i")"#,
        ],
        loops: &["parallel b_o, i_o, j_o, k_o, b_i, i_i, k_i, vector j_i"],
        beside: "",
    },
    // The paper has nine levels, but the convolution has eight iterators: its width is blocked, as
    // in tests/table2.rs. The reduction loops come before the width.
    Row {
        kernel: "gconv",
        definition: "
            I = tensor([2, 3, 4, 8, 18])
            W = tensor([3, 2, 4, 3, 3])
            IW = vmul(I, W, [[n, g, c, h + kh, w + kw], [g, f, c, kh, kw]])
            O = eq(vsum(IW, [c, kh, kw]), [n, g, f, h, w])
            l = build(O)",
        options: "#{tile: false, unrolljam: false}",
        paper: r#"
            p = interchange_n(stripmine(l, "w", 8), "w_i", 3)
            p = interchange(interchange(p, "w_o", "c"), "h", "c")
            p = interchange(p, 4, 5)
            p = interchange(p, 5, 6)
            p = parallelize(p, 1)
            p = vectorize(p, 9)"#,
        path: &[
            r#".reorder(["c", "kh", "kw", "w"])"#,
            r#".parallelize("n")"#,
            r#".vectorize("w")"#,
        ],
        loops: &["parallel n, g, f, h, c, kh, kw, vector w"],
        beside: r#".stripmine("w", 8).reorder(["w_o", "c", "kh", "kw"])"#,
    },
    Row {
        kernel: "interp",
        definition: r#"
            A = tensor([5, 5])
            u = tensor([7, 5, 5, 5])
            t = einsum("il,elmn->eimn", A, u)
            s = einsum("jm,eimn->eijn", A, t)
            v = einsum("kn,eijn->eijk", A, s)
            l1 = build(t)
            l2 = build(s)
            l3 = build(v)
            l = [l1, l2, l3]"#,
        options: "#{tile: false, fuse: \"nofuse\", unrolljam: false}",
        paper: "
            l1 = interchange(l1, 4, 5)
            l1 = vectorize(l1, 5)
            l2 = interchange(l2, 4, 5)
            l2 = vectorize(l2, 5)
            l1 = parallelize(l1, 1)
            l2 = parallelize(l2, 1)
            l3 = parallelize(l3, 1)
            p = fuse_outer(fuse_outer(l1, l2, 0), l3, 0)",
        path: &[
            r#".interchange("n", "l")"#,
            r#".parallelize("e")"#,
            r#".vectorize("n")"#,
            r#".interchange("n_2", "m_2")"#,
            r#".parallelize("e_2")"#,
            r#".vectorize("n_2")"#,
            r#".parallelize("e_3")"#,
        ],
        loops: &[
            "parallel e, i, m, l, vector n",
            "parallel e_2, i_2, j, m_2, vector n_2",
            "parallel e_3, i_3, j_2, k, n_3",
        ],
        beside: "",
    },
    // The paper does not print its definition. Its calls vectorize loops at the levels 2, 3 and 4
    // of the first three nests, and fuse three nests of five levels. Pluto does the same for an
    // operator with the constructs of Table 1: coefficients from two outer products, one division
    // per element, and one contraction along each direction.
    Row {
        kernel: "helm",
        definition: "
            a = tensor([5])
            b = tensor([5])
            c = tensor([5])
            S = tensor([5, 5])
            u = tensor([7, 5, 5, 5])
            w2 = outerproduct(a, b)
            w3 = outerproduct(w2, c)
            r = div(u, w3, [[e, i, j, k], [i, j, k]] -> [e, i, j, k])
            x = eq(vsum(vmul(S, r, [[i, m], [e, m, j, k]]), [m]), [e, i, j, k])
            y = eq(vsum(vmul(S, r, [[j, m], [e, i, m, k]]), [m]), [e, i, j, k])
            z = eq(vsum(vmul(S, r, [[k, m], [e, i, j, m]]), [m]), [e, i, j, k])
            l1 = build(w2)
            l2 = build(w3)
            l3 = build(r)
            l4 = build(x)
            l5 = build(y)
            l6 = build(z)
            l = [l1, l2, l3, l4, l5, l6]",
        options: "#{tile: false, intratileopt: false, unrolljam: false}",
        paper: "
            l4 = fuse_outer(l4, l5, 5)
            l4 = fuse_outer(l4, l6, 5)
            l1 = parallelize(l1, 1)
            l2 = parallelize(l2, 1)
            l3 = parallelize(l3, 1)
            l4 = parallelize(l4, 1)
            l1 = vectorize(l1, 2)
            l2 = vectorize(l2, 3)
            l3 = vectorize(l3, 4)
            p = fuse_outer(fuse_outer(fuse_outer(l1, l2, 0), l3, 0), l4, 0)",
        path: &[
            r#".place_init(0, "y")"#,
            r#".place_init(0, "z")"#,
            r#".fuse("e_2", "e_3", "guard")"#,
            r#".fuse("e_2", "e_4", "guard")"#,
            r#".fuse("i_2", "i_3", "guard")"#,
            r#".fuse("i_2", "i_4", "guard")"#,
            r#".fuse("j_2", "j_3", "guard")"#,
            r#".fuse("j_2", "j_4", "guard")"#,
            r#".fuse("k_2", "k_3", "guard")"#,
            r#".fuse("k_2", "k_4", "guard")"#,
            r#".fuse("m", "m_2", "guard")"#,
            r#".fuse("m", "m_3", "guard")"#,
            r#".parallelize("i1")"#,
            r#".vectorize("i2")"#,
            r#".parallelize("i1_2")"#,
            r#".vectorize("i3")"#,
            r#".parallelize("e")"#,
            r#".vectorize("k")"#,
            r#".parallelize("e_2")"#,
        ],
        loops: &[
            "parallel i1, vector i2",
            "parallel i1_2, i2_2, vector i3",
            "parallel e, i, j, vector k",
            "parallel e_2, i_2, j_2, k_2, m",
            "parallel e_2, i_2, j_2, k_2, m",
            "parallel e_2, i_2, j_2, k_2, m",
        ],
        beside: "",
    },
    Row {
        kernel: "coars",
        definition: "
            Sxx = tensor([40, 50])
            Syy = tensor([40, 50])
            Sxy = tensor([40, 50])
            T = Sxx + Syy
            R = stored(Sxx * Syy - Sxy * Sxy - 0.04 * (T * T))
            l = build(R)",
        options: "#{unrolljam: false}",
        paper: "
            p = tile(l, 32)
            p = parallelize(p, 1)
            p = vectorize(p, 4)",
        path: &[
            r#".stripmine("i1", 32)"#,
            r#".stripmine("i2", 32)"#,
            r#".interchange("i1_i", "i2_o")"#,
            r#".parallelize("i1_o")"#,
            r#".vectorize("i2_i")"#,
        ],
        loops: &["parallel i1_o, i2_o, i1_i, vector i2_i"],
        beside: "",
    },
];

/// The script that defines a kernel of the table.
pub fn definition(kernel: &str) -> &'static str {
    let row = TABLE.iter().find(|row| row.kernel == kernel);
    row.map_or("", |row| row.definition)
}
