//! The first hyperplanes of classic kernels, as data.

use super::classics::{self, GEMVER};
use super::{nest, string};
use teml::baseline::{Fuse, NoSchedule, Options, Schedule, schedule};

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
    let options = Options {
        fuse,
        ..Options::default()
    };
    found_with(script, nests, &options)
}

fn found_with(script: &str, nests: &str, options: &Options) -> Schedule {
    let nest = nest(script, nests);
    schedule(&[nest], options).unwrap_or_else(|error: NoSchedule| panic!("{error}"))
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

/// Whether each loop of the outermost band is parallel at any position.
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
    // The second product sums over the column of the first one.
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
    let script = &format!(
        "{GEMVER}
        let both = fuse_outer(update, product, 0);
        let l = fuse_outer(fuse_outer(both, build(x), 0), build(w), 0);"
    );
    let s = found(script, "l", Fuse::Smart);
    // The update and the first product share loops, one of them interchanged. The vector update,
    // which has one loop, and the last product have their own loops.
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
    // Initializations, which have one loop, are between the products, so that these share none.
    let each = [[1, 0, 0], [0, 1, 0]];
    assert_eq!(hyperplanes(&s), [each, each]);
    assert!(matches!(&s, Schedule::Sequence(parts) if parts.len() == 2));
    // Only a common input relates them, which is not a dependence.
    let together = found(script, "l", Fuse::Max);
    assert_eq!(hyperplanes(&together), [each, each]);
    assert_eq!(coincident(&together), [true, false]);
}

/// Only common inputs relate both statements: one of them is interchanged on request.
#[test]
fn reads_of_one_element_are_close_on_request() {
    let script = "
        let A = tensor([12, 12]);
        let B = tensor([12, 12]);
        let C = tensor([12, 12]);
        let l = nest(`
          ${A}
          ${B}
          ${C}
          for i in 0..12
            for j in 0..12
              B[i][j] = 2 * A[i][j]
          for i in 0..12
            for j in 0..12
              C[i][j] = 3 * A[j][i]
        `);";
    let as_written = [[1, 0, 0], [0, 1, 0]];
    let interchanged = [[0, 1, 0], [1, 0, 0]];
    let without = found(script, "l", Fuse::Smart);
    assert_eq!(hyperplanes(&without), [as_written, as_written]);
    let options = Options {
        rar: true,
        ..Options::default()
    };
    let close = found_with(script, "l", &options);
    assert_eq!(hyperplanes(&close), [as_written, interchanged]);
    assert_eq!(coincident(&close), [true, true]);
    for more in [
        "",
        ", tile_sizes: [5]",
        ", tile: false",
        ", code: \"pluto\"",
    ] {
        let call = format!("check(pluto(l, #{{rar: true{more}}})).message");
        assert_eq!(string(script, &call), "legal", "{more}");
    }
}

/// The second statement waits for the first one, which reads the elements in the opposite
/// direction. A loop that ran them close to each other would be illegal.
#[test]
fn reads_ask_for_no_order() {
    let script = "
        let a = tensor([20]);
        let b = tensor([20]);
        let c = tensor([20]);
        let l = nest(`
          ${a}
          ${b}
          ${c}
          for i in 1..20
            b[i] = b[i - 1] + a[20 - i]
          for i in 1..20
            c[i] = b[i] * a[i]
        `);";
    for fuse in ["smartfuse", "maxfuse", "nofuse", "typedfuse"] {
        let call = format!("check(pluto(l, #{{fuse: \"{fuse}\", rar: true}})).message");
        assert_eq!(string(script, &call), "legal", "{fuse}");
    }
    let options = Options {
        rar: true,
        ..Options::default()
    };
    let found = found_with(script, "l", &options);
    assert_eq!(hyperplanes(&found), [[[1, 0]], [[1, 0]]]);
}

#[test]
fn jacobi_1d() {
    let s = found(classics::JACOBI_1D, "l", Fuse::Smart);
    assert_eq!(
        hyperplanes(&s),
        [[[1, 0, 0], [2, 1, 0]], [[1, 0, 0], [2, 1, 1]]]
    );
    assert_eq!(bands(&s), [2]);
}

#[test]
fn jacobi_2d() {
    let s = found(classics::JACOBI_2D, "l", Fuse::Smart);
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
    let s = found(classics::SEIDEL_2D, "l", Fuse::Smart);
    let expected = [[1, 0, 0, 0], [1, 1, 0, 0], [2, 1, 1, 0]];
    assert_eq!(hyperplanes(&s), [expected]);
    assert_eq!(bands(&s), [3]);
}

#[test]
fn fdtd_2d() {
    let s = found(classics::FDTD_2D, "l", Fuse::Smart);
    let fields = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]];
    let magnetic = [[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 1]];
    assert_eq!(hyperplanes(&s), [fields, fields, magnetic]);
    assert_eq!(bands(&s), [3]);
}

/// Statements of different numbers of loops in one circle: the one that has all of its own gets
/// another loop, which depends on these.
#[test]
fn lu() {
    let script = "
        let A = tensor([12, 12]);
        let l = nest(`
          ${A}
          for k in 0..12
            for i in k + 1..12
              A[i][k] /= A[k][k]
              for j in k + 1..12
                A[i][j] -= A[i][k] * A[k][j]
        `);";
    let s = found(script, "l", Fuse::Smart);
    let column = vec![vec![1, 0, 0], vec![0, 1, 0], vec![1, 0, 0]];
    let update = vec![vec![1, 0, 0, 0], vec![0, 1, 0, 0], vec![0, 0, 1, 0]];
    assert_eq!(hyperplanes(&s), [column, update]);
    assert_eq!(bands(&s), [3]);
}

#[test]
fn heat_3d() {
    let s = found(classics::HEAT_3D, "l", Fuse::Smart);
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

/// Each row reads one element of the row before: rows come one after the other, and what is in one
/// is not jammed with what is in the next.
#[test]
fn rows_that_read_a_pivot() {
    for (rows, value) in [
        (5, "vsub(X, X, [[k - 1, i], [k - 1, k - 1]])"),
        (
            8,
            "vsub(vmul(X, X, [[k - 1, i], [k - 2, k - 2]]), X, [(), [k - 1, k - 1]])",
        ),
    ] {
        let script = format!(
            "
            let X = tensor([{rows}, {rows}]);
            X = eq({value}, [k, i]);
            let l = sweep(X);"
        );
        let s = found(&script, "l", Fuse::Smart);
        assert_eq!(hyperplanes(&s), [[[1, 0, 0], [0, 1, 0]]]);
        assert_eq!(bands(&s), [1, 1]);
        for options in [
            "",
            ", #{tile_sizes: [2]}",
            ", #{ufactor: 3}",
            ", #{unrolljam: false}",
        ] {
            let check = format!("check(pluto(l{options})).message");
            assert_eq!(string(&script, &check), "legal", "{value}{options}");
        }
    }
}
