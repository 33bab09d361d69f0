//! The first hyperplanes of classic kernels, as data.

use super::nest;
use teml::baseline::{Fuse, NoSchedule, Schedule, schedule};

/// The hyperplanes of each statement: coefficients of its iterators, then the constant.
fn hyperplanes(schedule: &Schedule) -> Vec<Vec<Vec<i64>>> {
    let mut statements = schedule.statements();
    statements.sort_unstable();
    let of = |s: &usize| {
        let rows = schedule.rows(*s).into_iter();
        rows.map(|r| [r.coefficients, vec![r.constant]].concat())
            .collect()
    };
    statements.iter().map(of).collect()
}

fn found(script: &str, nests: &str, fuse: Fuse) -> Schedule {
    let nest = nest(script, nests);
    schedule(&[nest], fuse).unwrap_or_else(|error: NoSchedule| panic!("{error}"))
}

/// The sizes of the bands, from the outermost one in, of the first statement.
fn bands(schedule: &Schedule) -> Vec<usize> {
    match schedule {
        Schedule::Statement(_) => Vec::new(),
        Schedule::Sequence(parts) => bands(&parts[0]),
        Schedule::Band(band) => {
            let inside = bands(&band.inside);
            [vec![band.levels.len()], inside].concat()
        }
    }
}

/// Whether each loop of the outermost band is parallel wherever it stands.
fn coincident(schedule: &Schedule) -> Vec<bool> {
    match schedule {
        Schedule::Band(band) => band.levels.iter().map(|l| l.coincident).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn matmul() {
    let script = "
        let A = tensor([12, 13]);
        let B = tensor([13, 14]);
        let C = contract(A, B, [2, 1]);
        let l = build(C);";
    let s = found(script, "l", Fuse::Smart);
    let expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]];
    assert_eq!(hyperplanes(&s), [expected]);
    assert_eq!(bands(&s), [3]);
    assert_eq!(coincident(&s), [true, true, false]);
}

#[test]
fn two_matrix_products() {
    let script = "
        let A = tensor([12, 13]);
        let B = tensor([13, 14]);
        let C = tensor([14, 15]);
        let T = contract(A, B, [2, 1]);
        let D = contract(T, C, [2, 1]);
        let l = fuse_outer(build(T), build(D), 0);";
    let s = found(script, "l", Fuse::Smart);
    // The column of the first product is what the second one sums over.
    assert_eq!(
        hyperplanes(&s),
        [
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
            [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]],
        ]
    );
    assert_eq!(bands(&s), [2, 1]);
    assert_eq!(coincident(&s), [true, false]);
    let apart = found(script, "l", Fuse::No);
    assert!(matches!(&apart, Schedule::Sequence(parts) if parts.len() == 2));
    let each = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]];
    assert_eq!(hyperplanes(&apart), [each, each]);
}

#[test]
fn gemver() {
    let script = "
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
        let w = eq(vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
        let both = fuse_outer(update, product, 0);
        let l = fuse_outer(fuse_outer(both, build(x), 0), build(w), 0);";
    let s = found(script, "l", Fuse::Smart);
    // The update and the first product share loops, one of them interchanged; the vector update,
    // which has one loop, and the last product stand by themselves.
    let rows = hyperplanes(&s);
    assert_eq!(rows[0], [[0, 1, 0], [1, 0, 0]]);
    assert_eq!(rows[1], [[1, 0, 0], [0, 1, 0]]);
    assert_eq!(rows[2], [[1, 0]]);
    assert_eq!(rows[3], [[1, 0, 0], [0, 1, 0]]);
    let Schedule::Sequence(parts) = &s else {
        panic!("{s:?}")
    };
    let groups: Vec<Vec<usize>> = parts.iter().map(Schedule::statements).collect();
    assert_eq!(groups, [vec![0, 1], vec![2], vec![3]]);
}

#[test]
fn mvt() {
    let script = "
        let A = tensor([12, 12]);
        let y1 = tensor([12]);
        let y2 = tensor([12]);
        let x1 = eq(vsum(vmul(A, y1, [[i, j], [j]]), [j]), [i]);
        let x2 = eq(vsum(vmul(A, y2, [[j, i], [j]]), [j]), [i]);
        let l = fuse_outer(build(x1), build(x2), 0);";
    let s = found(script, "l", Fuse::Smart);
    // Nothing but what both read relates them, and that is no dependence.
    let each = [[1, 0, 0], [0, 1, 0]];
    assert_eq!(hyperplanes(&s), [each, each]);
    assert_eq!(coincident(&s), [true, false]);
}

#[test]
fn jacobi_1d() {
    let script = "
        let A = tensor([20]);
        let B = tensor([20]);
        B = eq(vstencil(A, [[-1], [0], [1]], [1, 1, 1]) * 0.33, [i] -> [i], [20]);
        let first = build(B);
        A = eq(B, [i] -> [i], [20]);
        let l = fuse_outer(first, build(A), 0).repeat(\"t\", 9);";
    let s = found(script, "l", Fuse::Smart);
    assert_eq!(
        hyperplanes(&s),
        [[[1, 0, 0], [2, 1, 0]], [[1, 0, 0], [2, 1, 1]]]
    );
    assert_eq!(bands(&s), [2]);
}

#[test]
fn jacobi_2d() {
    let script = "
        let A = tensor([14, 15]);
        let star = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]];
        let weights = [1, 1, 1, 1, 1];
        let B = eq(vstencil(A, star, weights) * 0.2, [i, j] -> [i, j], [14, 15]);
        let first = build(B);
        let A = eq(vstencil(B, star, weights) * 0.2, [i, j] -> [i, j], [14, 15]);
        let l = fuse_outer(first, build(A), 0).repeat(\"t\", 6);";
    let s = found(script, "l", Fuse::Smart);
    assert_eq!(
        hyperplanes(&s),
        [
            [[1, 0, 0, 0], [2, 1, 0, 0], [2, 0, 1, 0]],
            [[1, 0, 0, 0], [2, 1, 0, 1], [2, 0, 1, 1]],
        ]
    );
    assert_eq!(bands(&s), [3]);
    assert_eq!(coincident(&s), [false, false, false]);
}

#[test]
fn seidel_2d() {
    let script = "
        let A = tensor([11, 12]);
        let square = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1]];
        let sum = vstencil(A, square, [1, 1, 1, 1, 1, 1, 1, 1, 1]);
        A = eq(sum / 9, [i, j] -> [i, j], [11, 12]);
        let l = sweep(A).repeat(\"t\", 5);";
    let s = found(script, "l", Fuse::Smart);
    let expected = [[1, 0, 0, 0], [1, 1, 0, 0], [2, 1, 1, 0]];
    assert_eq!(hyperplanes(&s), [expected]);
    assert_eq!(bands(&s), [3]);
}

#[test]
fn fdtd_2d() {
    let script = "
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
        let fields = fuse_outer(fuse_outer(first, second, 0), build(hz), 0);
        let l = fields.repeat(\"t\", 4);";
    let s = found(script, "l", Fuse::Smart);
    let fields = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]];
    let magnetic = [[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 1]];
    assert_eq!(hyperplanes(&s), [fields, fields, magnetic]);
    assert_eq!(bands(&s), [3]);
}

#[test]
fn heat_3d() {
    let script = "
        let A = tensor([7, 8, 6]);
        let star = [[0, 0, 0], [0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]];
        let weights = [2, 1, 1, 1, 1, 1, 1];
        let B = eq(vstencil(A, star, weights) * 0.125, [i, j, k] -> [i, j, k], [7, 8, 6]);
        let first = build(B);
        let A = eq(vstencil(B, star, weights) * 0.125, [i, j, k] -> [i, j, k], [7, 8, 6]);
        let l = fuse_outer(first, build(A), 0).repeat(\"t\", 3);";
    let s = found(script, "l", Fuse::Smart);
    let first = [
        [1, 0, 0, 0, 0],
        [2, 1, 0, 0, 0],
        [2, 0, 1, 0, 0],
        [2, 0, 0, 1, 0],
    ];
    let second = [
        [1, 0, 0, 0, 0],
        [2, 1, 0, 0, 1],
        [2, 0, 1, 0, 1],
        [2, 0, 0, 1, 1],
    ];
    assert_eq!(hyperplanes(&s), [first, second]);
    assert_eq!(bands(&s), [4]);
}
