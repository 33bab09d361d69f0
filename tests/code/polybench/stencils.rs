//! Stencils in time, and recursive filters.

use crate::polybench::{Array, check};

#[test]
fn jacobi_1d() {
    check("jacobi-1d", |of| {
        let [mut a, mut b] = of.get(["A", "B"]);
        let [n] = a.size();
        for _ in 0..20 {
            for i in 1..n - 1 {
                b[[i]] = 0.33333 * (a[[i - 1]] + a[[i]] + a[[i + 1]]);
            }
            for i in 1..n - 1 {
                a[[i]] = 0.33333 * (b[[i - 1]] + b[[i]] + b[[i + 1]]);
            }
        }
        vec![("A", a), ("B", b)]
    });
}

fn star(to: &mut Array, from: &Array) {
    let [n, m] = from.size();
    for i in 1..n - 1 {
        for j in 1..m - 1 {
            let beside = from[[i, j - 1]] + from[[i, j + 1]];
            let across = from[[i - 1, j]] + from[[i + 1, j]];
            to[[i, j]] = 0.2 * (from[[i, j]] + beside + across);
        }
    }
}

#[test]
fn jacobi_2d() {
    check("jacobi-2d", |of| {
        let [mut a, mut b] = of.get(["A", "B"]);
        for _ in 0..8 {
            star(&mut b, &a);
            star(&mut a, &b);
        }
        vec![("A", a), ("B", b)]
    });
}

#[test]
fn seidel_2d() {
    check("seidel-2d", |of| {
        let [mut a] = of.get(["A"]);
        let [n, _] = a.size();
        for _ in 0..6 {
            for i in 1..n - 1 {
                for j in 1..n - 1 {
                    let mut sum = 0.0;
                    for x in i - 1..=i + 1 {
                        for y in j - 1..=j + 1 {
                            sum += a[[x, y]];
                        }
                    }
                    a[[i, j]] = sum / 9.0;
                }
            }
        }
        vec![("A", a)]
    });
}

fn heat(to: &mut Array, from: &Array) {
    let [n, _, _] = from.size();
    for i in 1..n - 1 {
        for j in 1..n - 1 {
            for k in 1..n - 1 {
                let old = from[[i, j, k]];
                let x = from[[i + 1, j, k]] - 2.0 * old + from[[i - 1, j, k]];
                let y = from[[i, j + 1, k]] - 2.0 * old + from[[i, j - 1, k]];
                let z = from[[i, j, k + 1]] - 2.0 * old + from[[i, j, k - 1]];
                to[[i, j, k]] = old + 0.125 * (x + y + z);
            }
        }
    }
}

#[test]
fn heat_3d() {
    check("heat-3d", |of| {
        let [mut a, mut b] = of.get(["A", "B"]);
        for _ in 0..4 {
            heat(&mut b, &a);
            heat(&mut a, &b);
        }
        vec![("A", a), ("B", b)]
    });
}

#[test]
fn fdtd_2d() {
    check("fdtd-2d", |of| {
        let [mut ex, mut ey, mut hz, fict] = of.get(["ex", "ey", "hz", "fict"]);
        let ([nx, ny], [steps]) = (ex.size(), fict.size());
        for t in 0..steps {
            for j in 0..ny {
                ey[[0, j]] = fict[[t]];
            }
            for i in 1..nx {
                for j in 0..ny {
                    ey[[i, j]] -= 0.5 * (hz[[i, j]] - hz[[i - 1, j]]);
                }
            }
            for i in 0..nx {
                for j in 1..ny {
                    ex[[i, j]] -= 0.5 * (hz[[i, j]] - hz[[i, j - 1]]);
                }
            }
            for i in 0..nx - 1 {
                for j in 0..ny - 1 {
                    let along = ex[[i, j + 1]] - ex[[i, j]];
                    let across = ey[[i + 1, j]] - ey[[i, j]];
                    hz[[i, j]] -= 0.7 * (along + across);
                }
            }
        }
        vec![("ex", ex), ("ey", ey), ("hz", hz)]
    });
}

#[test]
fn adi() {
    check("adi", |of| {
        let [mut u, mut v, mut p, mut q] = of.get(["u", "v", "p", "q"]);
        let ([n, _], steps) = (u.size(), 4);
        let (dx, dt) = (1.0 / n as f64, 1.0 / steps as f64);
        let (mul1, mul2) = (2.0 * dt / (dx * dx), dt / (dx * dx));
        let (a, b, d, e) = (-mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2);
        for _ in 0..steps {
            for i in 1..n - 1 {
                v[[0, i]] = 1.0;
                p[[i, 0]] = 0.0;
                q[[i, 0]] = v[[0, i]];
                for j in 1..n - 1 {
                    let pivot = a * p[[i, j - 1]] + b;
                    p[[i, j]] = -a / pivot;
                    let next = -d * u[[j, i - 1]] + (1.0 + 2.0 * d) * u[[j, i]];
                    let next = next - d * u[[j, i + 1]];
                    q[[i, j]] = (next - a * q[[i, j - 1]]) / pivot;
                }
                v[[n - 1, i]] = 1.0;
                for j in (1..n - 1).rev() {
                    v[[j, i]] = p[[i, j]] * v[[j + 1, i]] + q[[i, j]];
                }
            }
            for i in 1..n - 1 {
                u[[i, 0]] = 1.0;
                p[[i, 0]] = 0.0;
                q[[i, 0]] = u[[i, 0]];
                for j in 1..n - 1 {
                    let pivot = d * p[[i, j - 1]] + e;
                    p[[i, j]] = -d / pivot;
                    let next = -a * v[[i - 1, j]] + (1.0 + 2.0 * a) * v[[i, j]];
                    let next = next - a * v[[i + 1, j]];
                    q[[i, j]] = (next - d * q[[i, j - 1]]) / pivot;
                }
                u[[i, n - 1]] = 1.0;
                for j in (1..n - 1).rev() {
                    u[[i, j]] = p[[i, j]] * u[[i, j + 1]] + q[[i, j]];
                }
            }
        }
        vec![("u", u), ("v", v), ("p", p), ("q", q)]
    });
}

/// The filter forward and backward along a row.
fn filtered(row: &[f64]) -> Vec<f64> {
    let n = row.len();
    let alpha = 0.25f64;
    let decay = (-alpha).exp();
    let k = (1.0 - decay).powi(2) / (1.0 + 2.0 * alpha * decay - (2.0 * alpha).exp());
    let (a1, a2) = (k, k * decay * (alpha - 1.0));
    let (a3, a4) = (k * decay * (alpha + 1.0), -k * (-2.0 * alpha).exp());
    let (b1, b2) = (2.0f64.powf(-alpha), -(-2.0 * alpha).exp());
    let (mut forward, mut backward) = (vec![0.0; n], vec![0.0; n]);
    let (mut x1, mut f1, mut f2) = (0.0, 0.0, 0.0);
    for j in 0..n {
        forward[j] = a1 * row[j] + a2 * x1 + b1 * f1 + b2 * f2;
        (x1, f2, f1) = (row[j], f1, forward[j]);
    }
    let (mut x1, mut x2, mut f1, mut f2) = (0.0, 0.0, 0.0, 0.0);
    for j in (0..n).rev() {
        backward[j] = a3 * x1 + a4 * x2 + b1 * f1 + b2 * f2;
        (x2, x1, f2, f1) = (x1, row[j], f1, backward[j]);
    }
    forward.iter().zip(&backward).map(|(a, b)| a + b).collect()
}

#[test]
fn deriche() {
    check("deriche", |of| {
        let [image] = of.get(["image"]);
        let [w, h] = image.size();
        let mut out = Array::zero(&[w, h]);
        for i in 0..w {
            let row: Vec<f64> = (0..h).map(|j| image[[i, j]]).collect();
            for (j, x) in filtered(&row).into_iter().enumerate() {
                out[[i, j]] = x;
            }
        }
        for j in 0..h {
            let column: Vec<f64> = (0..w).map(|i| out[[i, j]]).collect();
            for (i, x) in filtered(&column).into_iter().enumerate() {
                out[[i, j]] = x;
            }
        }
        vec![("out", out)]
    });
}
