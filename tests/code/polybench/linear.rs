//! Linear algebra: products of matrices and vectors, BLAS.

use crate::polybench::{Array, check};

/// a b, times a factor.
fn product(a: &Array, b: &Array, factor: f64) -> Array {
    let ([n, m], [_, l]) = (a.size(), b.size());
    let mut c = Array::zero(&[n, l]);
    for i in 0..n {
        for j in 0..l {
            for k in 0..m {
                c[[i, j]] += factor * a[[i, k]] * b[[k, j]];
            }
        }
    }
    c
}

fn add(to: &mut Array, factor: f64, other: &Array) {
    for (x, y) in to.data.iter_mut().zip(&other.data) {
        *x = factor * *x + y;
    }
}

fn transposed(a: &Array) -> Array {
    let [n, m] = a.size();
    let mut t = Array::zero(&[m, n]);
    for i in 0..n {
        for j in 0..m {
            t[[j, i]] = a[[i, j]];
        }
    }
    t
}

/// a x, times a factor.
fn applied(a: &Array, x: &Array, factor: f64) -> Array {
    let [n, m] = a.size();
    let mut y = Array::zero(&[n]);
    for i in 0..n {
        for j in 0..m {
            y[[i]] += factor * a[[i, j]] * x[[j]];
        }
    }
    y
}

#[test]
fn gemm() {
    check("gemm", |of| {
        let [a, b, mut c] = of.get(["A", "B", "C"]);
        add(&mut c, 1.2, &product(&a, &b, 1.5));
        vec![("C", c)]
    });
}

#[test]
fn two_products() {
    check("2mm", |of| {
        let [a, b, c, mut d] = of.get(["A", "B", "C", "D"]);
        add(&mut d, 1.2, &product(&product(&a, &b, 1.5), &c, 1.0));
        vec![("D", d)]
    });
}

#[test]
fn three_products() {
    check("3mm", |of| {
        let [a, b, c, d] = of.get(["A", "B", "C", "D"]);
        let (e, f) = (product(&a, &b, 1.0), product(&c, &d, 1.0));
        vec![("G", product(&e, &f, 1.0))]
    });
}

#[test]
fn atax() {
    check("atax", |of| {
        let [a, x] = of.get(["A", "x"]);
        vec![("y", applied(&transposed(&a), &applied(&a, &x, 1.0), 1.0))]
    });
}

#[test]
fn bicg() {
    check("bicg", |of| {
        let [a, r, p] = of.get(["A", "r", "p"]);
        let s = applied(&transposed(&a), &r, 1.0);
        vec![("s", s), ("q", applied(&a, &p, 1.0))]
    });
}

#[test]
fn mvt() {
    check("mvt", |of| {
        let [a, mut x1, mut x2, y1, y2] = of.get(["A", "x1", "x2", "y1", "y2"]);
        add(&mut x1, 1.0, &applied(&a, &y1, 1.0));
        add(&mut x2, 1.0, &applied(&transposed(&a), &y2, 1.0));
        vec![("x1", x1), ("x2", x2)]
    });
}

#[test]
fn gemver() {
    check("gemver", |of| {
        let [mut a, u1, v1, u2, v2] = of.get(["A", "u1", "v1", "u2", "v2"]);
        let [mut x, y, z, mut w] = of.get(["x", "y", "z", "w"]);
        let [n, _] = a.size();
        for i in 0..n {
            for j in 0..n {
                a[[i, j]] += u1[[i]] * v1[[j]] + u2[[i]] * v2[[j]];
            }
        }
        add(&mut x, 1.0, &applied(&transposed(&a), &y, 1.2));
        add(&mut x, 1.0, &z);
        add(&mut w, 1.0, &applied(&a, &x, 1.5));
        vec![("w", w)]
    });
}

#[test]
fn gesummv() {
    check("gesummv", |of| {
        let [a, b, x] = of.get(["A", "B", "x"]);
        let mut y = applied(&a, &x, 1.5);
        add(&mut y, 1.0, &applied(&b, &x, 1.2));
        vec![("y", y)]
    });
}

/// `c` with the lower triangle of 1.2 c + `other` in its own.
fn lower(mut c: Array, other: &Array) -> Array {
    let [n, _] = c.size();
    for i in 0..n {
        for j in 0..=i {
            c[[i, j]] = 1.2 * c[[i, j]] + other[[i, j]];
        }
    }
    c
}

#[test]
fn syrk() {
    check("syrk", |of| {
        let [a, c] = of.get(["A", "C"]);
        vec![("C", lower(c, &product(&a, &transposed(&a), 1.5)))]
    });
}

#[test]
fn syr2k() {
    check("syr2k", |of| {
        let [a, b, c] = of.get(["A", "B", "C"]);
        let mut both = product(&a, &transposed(&b), 1.5);
        add(&mut both, 1.0, &product(&b, &transposed(&a), 1.5));
        vec![("C", lower(c, &both))]
    });
}

#[test]
fn symm() {
    check("symm", |of| {
        let [mut a, b, mut c] = of.get(["A", "B", "C"]);
        let [m, _] = a.size();
        for i in 0..m {
            for j in i + 1..m {
                a[[i, j]] = a[[j, i]];
            }
        }
        add(&mut c, 1.2, &product(&a, &b, 1.5));
        vec![("C", c)]
    });
}

#[test]
fn trmm() {
    check("trmm", |of| {
        let [mut a, b] = of.get(["A", "B"]);
        let [m, _] = a.size();
        for i in 0..m {
            a[[i, i]] = 1.0;
            for j in i + 1..m {
                a[[i, j]] = 0.0;
            }
        }
        vec![("B", product(&transposed(&a), &b, 1.5))]
    });
}

#[test]
fn doitgen() {
    check("doitgen", |of| {
        let [mut a, c4] = of.get(["A", "C4"]);
        let [nr, nq, np] = a.size();
        for r in 0..nr {
            for q in 0..nq {
                let mut row = vec![0.0; np];
                for p in 0..np {
                    for s in 0..np {
                        row[p] += a[[r, q, s]] * c4[[s, p]];
                    }
                }
                for p in 0..np {
                    a[[r, q, p]] = row[p];
                }
            }
        }
        vec![("A", a)]
    });
}

/// The data less the mean of each column, over `divisor` of a column.
fn reduced(data: &Array, divisor: &dyn Fn(&[f64]) -> f64) -> Array {
    let [n, m] = data.size();
    let mut result = data.clone();
    for j in 0..m {
        let mean = (0..n).map(|i| data[[i, j]]).sum::<f64>() / n as f64;
        let column: Vec<f64> = (0..n).map(|i| data[[i, j]] - mean).collect();
        let by = divisor(&column);
        for i in 0..n {
            result[[i, j]] = column[i] / by;
        }
    }
    result
}

#[test]
fn covariance() {
    check("covariance", |of| {
        let [data] = of.get(["data"]);
        let [n, _] = data.size();
        let d = reduced(&data, &|_| 1.0);
        vec![("cov", product(&transposed(&d), &d, 1.0 / (n - 1) as f64))]
    });
}

#[test]
fn correlation() {
    check("correlation", |of| {
        let [data] = of.get(["data"]);
        let d = reduced(&data, &|column| {
            let n = column.len() as f64;
            let deviation = (column.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
            n.sqrt() * if deviation <= 0.1 { 1.0 } else { deviation }
        });
        vec![("corr", product(&transposed(&d), &d, 1.0))]
    });
}
