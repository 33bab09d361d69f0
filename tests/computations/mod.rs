//! The ten kernels at mini sizes, a product of a matrix and a vector, and filters.

/// Declarations, what is to be computed of them, and the schedule for that.
pub const KERNELS: &[(&str, &str, &str)] = &[
    (
        "let A = tensor([17, 23]); let B = tensor([23, 19]);
         let C = contract(A, B, [2, 1]);",
        "build(C)",
        "schedules::gemm(build(C))",
    ),
    (
        "let A = tensor([23, 17]); let B = tensor([23, 19]);
         let C = contract(vtranspose(A, [[1, 2]]), B, [2, 1]);",
        "build(C)",
        "schedules::gemm(build(C))",
    ),
    (
        "let A = tensor([5, 9, 7]); let B = tensor([5, 7, 11]);
         let C = einsum(\"bik,bkj->bij\", A, B);",
        "build(C)",
        "schedules::small_gemm(build(C))",
    ),
    (
        "let I = tensor([2, 3, 3, 7, 8]); let W = tensor([3, 2, 3, 3, 3]);
         let IW = vmul(I, W, [[n, g, c, h + kh, w + kw], [g, f, c, kh, kw]]);
         let O = eq(vsum(IW, [c, kh, kw]), [n, g, f, h, w]);",
        "build(O)",
        "schedules::conv(build(O))",
    ),
    (
        "reductions(\"reassoc\");
         let B = tensor([7, 9, 13]); let C = tensor([9, 11]); let D = tensor([13, 11]);
         let A = einsum(\"ikl,lj,kj->ij\", B, D, C);
         let l = factor_out(A, C).map(|s| build(s));",
        "l",
        "schedules::gemm_at(l[0], l[1])",
    ),
    (
        "reductions(\"reassoc\");
         let B = tensor([17, 19]); let C = tensor([17, 23]); let D = tensor([23, 19]);
         let A = entrywise_mul(B, vcontract(C, D, [2, 1]));
         let l = factor_out(A, B).map(|s| build(s));",
        "l",
        "schedules::gemm_at(l[0], l[1])",
    ),
    (
        "let A = tensor([5, 5]); let u = tensor([13, 5, 5, 5]);
         let t = einsum(\"il,elmn->eimn\", A, u);
         let s = einsum(\"jm,eimn->eijn\", A, t);
         let v = einsum(\"kn,eijn->eijk\", A, s);
         let l = [t, s, v].map(|x| build(x));",
        "l",
        "schedules::element_operators(l, \"e\")",
    ),
    (
        "let A = tensor([5, 5]); let u = tensor([7, 5, 5, 5]); let D = tensor([7, 5, 5, 5]);
         let a1 = einsum(\"li,elmn->eimn\", A, u);
         let a2 = einsum(\"mj,eimn->eijn\", A, a1);
         let a3 = einsum(\"nk,eijn->eijk\", A, a2);
         let q = div(a3, D, [[e, i, j, k], [e, i, j, k]] -> [e, i, j, k]);
         let b1 = einsum(\"il,elmn->eimn\", A, q);
         let b2 = einsum(\"jm,eimn->eijn\", A, b1);
         let v = einsum(\"kn,eijn->eijk\", A, b2);
         let l = [a1, a2, a3, q, b1, b2, v].map(|x| build(x));",
        "l",
        "schedules::element_operators(l, \"e\")",
    ),
    (
        "let image = tensor([29, 31]);
         let rows = vstencil(image, [[0, -1], [0, 0], [0, 1]], [1, 1, 1]);
         let b = eq(rows / 3, [y, x] -> [y, x - 1]);
         let columns = vstencil(b, [[-1, 0], [0, 0], [1, 0]], [1, 1, 1]);
         let out = eq(columns / 3, [y, x - 1] -> [y, x], [29, 31]);
         let l = [build(b), build(out)];",
        "l",
        "schedules::stencil(l)",
    ),
    (
        "let Sxx = tensor([29, 32]); let Syy = tensor([29, 32]); let Sxy = tensor([29, 32]);
         let T = Sxx + Syy;
         let R = stored(Sxx * Syy - Sxy * Sxy - 0.04 * (T * T));",
        "build(R)",
        "schedules::pointwise(build(R))",
    ),
    (
        "let A = tensor([29, 31]); let x = tensor([31]);
         let y = einsum(\"ij,j->i\", A, x);",
        "build(y)",
        "schedules::reduction(build(y))",
    ),
    (
        "let I = tensor([2, 3, 9, 21]); let W = tensor([3, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[n, c, h + p, w + q], [c, p, q]]), [p, q]), [n, c, h, w]);",
        "build(O)",
        "schedules::filters(build(O))",
    ),
];
