//! Solvers, and programs on integers.

use crate::polybench::{Array, check};

#[test]
fn trisolv() {
    check("trisolv", |of| {
        let [l, b] = of.get(["L", "b"]);
        let [n] = b.size();
        let mut x = Array::zero(&[n]);
        for i in 0..n {
            x[[i]] = b[[i]];
            for j in 0..i {
                x[[i]] -= l[[i, j]] * x[[j]];
            }
            x[[i]] /= l[[i, i]];
        }
        vec![("x", x)]
    });
}

/// L and U in the place of a matrix.
fn factored(mut a: Array) -> Array {
    let [n, _] = a.size();
    for k in 0..n {
        for i in k + 1..n {
            a[[i, k]] /= a[[k, k]];
            for j in k + 1..n {
                a[[i, j]] -= a[[i, k]] * a[[k, j]];
            }
        }
    }
    a
}

#[test]
fn lu() {
    check("lu", |of| {
        let [a] = of.get(["A"]);
        vec![("A", factored(a))]
    });
}

#[test]
fn ludcmp() {
    check("ludcmp", |of| {
        let [a, b] = of.get(["A", "b"]);
        let ([n], lu) = (b.size(), factored(a));
        let mut y = b.clone();
        for i in 0..n {
            for j in 0..i {
                y[[i]] -= lu[[i, j]] * y[[j]];
            }
        }
        let mut x = y.clone();
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[[i]] -= lu[[i, j]] * x[[j]];
            }
            x[[i]] /= lu[[i, i]];
        }
        vec![("A", lu), ("x", x), ("y", y)]
    });
}

#[test]
fn cholesky() {
    check("cholesky", |of| {
        let [mut a] = of.get(["A"]);
        let [n, _] = a.size();
        for k in 0..n {
            a[[k, k]] = a[[k, k]].sqrt();
            for i in k + 1..n {
                a[[i, k]] /= a[[k, k]];
            }
            for i in k + 1..n {
                for j in k + 1..=i {
                    a[[i, j]] -= a[[i, k]] * a[[j, k]];
                }
            }
        }
        vec![("A", a)]
    });
}

#[test]
fn durbin() {
    check("durbin", |of| {
        let [r] = of.get(["r"]);
        let [n] = r.size();
        let mut y = Array::zero(&[n]);
        y[[0]] = -r[[0]];
        let (mut alpha, mut beta) = (-r[[0]], 1.0);
        for k in 1..n {
            beta *= 1.0 - alpha * alpha;
            let sum: f64 = (0..k).map(|i| r[[k - i - 1]] * y[[i]]).sum();
            alpha = -(r[[k]] + sum) / beta;
            let z: Vec<f64> = (0..k).map(|i| y[[i]] + alpha * y[[k - i - 1]]).collect();
            for i in 0..k {
                y[[i]] = z[i];
            }
            y[[k]] = alpha;
        }
        vec![("y", y)]
    });
}

#[test]
fn gramschmidt() {
    check("gramschmidt", |of| {
        let [mut a, mut r, mut q] = of.get(["A", "R", "Q"]);
        let [m, n] = a.size();
        for k in 0..n {
            r[[k, k]] = (0..m).map(|i| a[[i, k]] * a[[i, k]]).sum::<f64>().sqrt();
            for i in 0..m {
                q[[i, k]] = a[[i, k]] / r[[k, k]];
            }
            for j in k + 1..n {
                r[[k, j]] = (0..m).map(|i| q[[i, k]] * a[[i, j]]).sum();
                for i in 0..m {
                    a[[i, j]] -= q[[i, k]] * r[[k, j]];
                }
            }
        }
        vec![("R", r), ("Q", q)]
    });
}

#[test]
fn floyd_warshall() {
    check("floyd-warshall", |of| {
        let [mut path] = of.get(["path"]);
        let [n, _] = path.size();
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    path[[i, j]] = path[[i, j]].min(path[[i, k]] + path[[k, j]]);
                }
            }
        }
        vec![("path", path)]
    });
}

#[test]
fn nussinov() {
    check("nussinov", |of| {
        let [seq, mut table] = of.get(["seq", "table"]);
        let [n] = seq.size();
        for i in (0..n).rev() {
            for j in i + 1..n {
                let mut best = table[[i, j]].max(table[[i, j - 1]]);
                if i + 1 < n {
                    best = best.max(table[[i + 1, j]]);
                    let pairs = i + 1 < j && seq[[i]] + seq[[j]] == 3.0;
                    best = best.max(table[[i + 1, j - 1]] + f64::from(u8::from(pairs)));
                }
                for k in i + 1..j {
                    best = best.max(table[[i, k]] + table[[k + 1, j]]);
                }
                table[[i, j]] = best;
            }
        }
        vec![("table", table)]
    });
}
