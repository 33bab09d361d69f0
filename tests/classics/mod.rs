//! Definitions of classic kernels, for tests that schedule or transform them. Those of stencils end
//! in `l`, the time loop around `steps`, which are the nests `first`, `second` and so on in order.

// Not every test needs all of them.
#![allow(dead_code)]

/// Three neighbors, and a copy back.
pub const JACOBI_1D: &str = "
    let A = tensor([20]);
    let B = tensor([20]);
    B = eq(vstencil(A, [[-1], [0], [1]], [1, 1, 1]) * 0.33, [i] -> [i], [20]);
    let first = build(B);
    A = eq(B, [i] -> [i], [20]);
    let steps = fuse_outer(first, build(A), 0);
    let l = steps.repeat(\"t\", 9);";

/// Five neighbors, there and back.
pub const JACOBI_2D: &str = "
    let A = tensor([14, 15]);
    let star = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]];
    let weights = [1, 1, 1, 1, 1];
    let B = eq(vstencil(A, star, weights) * 0.2, [i, j] -> [i, j], [14, 15]);
    init(B, 0);
    let first = build(B);
    let A = eq(vstencil(B, star, weights) * 0.2, [i, j] -> [i, j], [14, 15]);
    let second = build(A);
    let steps = fuse_outer(first, second, 0);
    let l = steps.repeat(\"t\", 6);";

/// In place.
pub const SEIDEL_2D: &str = "
    let A = tensor([11, 12]);
    let square = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1]];
    let sum = vstencil(A, square, [1, 1, 1, 1, 1, 1, 1, 1, 1]);
    A = eq(sum / 9, [i, j] -> [i, j], [11, 12]);
    let l = sweep(A).repeat(\"t\", 5);";

/// Two electric fields and a magnetic one.
pub const FDTD_2D: &str = "
    let ex = tensor([9, 10]);
    let ey = tensor([9, 10]);
    let hz = tensor([9, 10]);
    let along_x = vsub(hz, hz, [[i, j], [i - 1, j]]);
    let ey = eq(vsub(ey, vmul(along_x, 0.5), [[i, j], ]), [i, j], [9, 10]);
    let first = build(ey);
    let along_y = vsub(hz, hz, [[i, j], [i, j - 1]]);
    let ex = eq(vsub(ex, vmul(along_y, 0.5), [[i, j], ]), [i, j], [9, 10]);
    let second = build(ex);
    let curl = vadd(vsub(ex, ex, [[i, j + 1], [i, j]]), vsub(ey, ey, [[i + 1, j], [i, j]]));
    let hz = eq(vsub(hz, vmul(curl, 0.7), [[i, j], ]), [i, j], [9, 10]);
    let third = build(hz);
    let fields = fuse_outer(first, second, 0);
    let steps = fuse_outer(fields, third, 0);
    let l = steps.repeat(\"t\", 4);";

/// Seven neighbors, there and back.
pub const HEAT_3D: &str = "
    let A = tensor([7, 8, 6]);
    let star = [[0, 0, 0], [0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]];
    let weights = [2, 1, 1, 1, 1, 1, 1];
    let B = eq(vstencil(A, star, weights) * 0.125, [i, j, k] -> [i, j, k], [7, 8, 6]);
    init(B, 0);
    let first = build(B);
    let A = eq(vstencil(B, star, weights) * 0.125, [i, j, k] -> [i, j, k], [7, 8, 6]);
    let steps = fuse_outer(first, build(A), 0);
    let l = steps.repeat(\"t\", 3);";

/// The nests `update` and `product`, and the assignments `x` and `w` of the others.
pub const GEMVER: &str = "
    let A = tensor([12, 12]);
    let u1 = tensor([12]);
    let v1 = tensor([12]);
    let u2 = tensor([12]);
    let v2 = tensor([12]);
    let y = tensor([12]);
    let z = tensor([12]);
    let outer = vadd(vmul(u1, v1, [[i], [j]]), vmul(u2, v2, [[i], [j]]));
    let A = eq(vadd(A, outer, [[i, j], ]), [i, j]);
    let update = build(A);
    let t = eq(vsum(vmul(A, y, [[j, i], [j]]), [j]), [i]);
    let product = build(t);
    let x = eq(vadd(t, z, [[i], [i]]), [i]);
    let w = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);";
