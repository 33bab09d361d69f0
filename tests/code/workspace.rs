//! Intermediate tensors with sizes: callers do not see them, and may give the space for them. In C++, views
//! are arguments.

use crate::kernels::{build, python, succeeds, text};

const SCRIPT: &str = r#"
let m = size("M", #{likely: 7}); let n = size("N", #{likely: 6}); let k = size("K", #{likely: 5});
for transposed in [[], ["A"]] {
    let turns = transposed.len() > 0;
    let A = strided(tensor(if turns { [k, m] } else { [m, k] }));
    let B = strided(tensor([k, n]));
    let x = tensor([n]);
    let T = einsum(if turns { "ki,kj->ij" } else { "ik,kj->ij" }, A, B);
    let y = einsum("ij,j->i", T, x);
    // A transpose needs one more product.
    let z = tensor([m]);
    z = if turns { eq(y + 0, [i]) } else { eq(y * 1, [i]) };
    export_kernel(nests(z), "product", [], transposed);
}
"#;

const CPP: &str = r#"
#include <array>
#include <cstdio>
#include <cstring>
#include <kernels.h>
#include <vector>
#if __has_include(<mdspan>)
#include <mdspan>
#endif

// The members of a view.
template <class T, std::size_t N> struct View {
    T *first;
    std::array<std::size_t, N> extents, strides;
    static constexpr std::size_t rank() { return N; }
    std::size_t extent(std::size_t d) const { return extents[d]; }
    std::size_t stride(std::size_t d) const { return strides[d]; }
    T *data_handle() const { return first; }
};

int main()
{
    const int64_t M = 3, N = 4, K = 5;
    std::vector<double> A(M * K), B(K * N), x(N), z(M), z2(M), turned(M * K);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            A[i * K + k] = turned[k * M + i] = i + 2 * k;
    for (size_t e = 0; e < B.size(); e++)
        B[e] = double(e % 7);
    for (int j = 0; j < N; j++)
        x[j] = j + 1;
    const char *why = product_checked(M, N, K, z.data(), nullptr, A.data(), nullptr, B.data(), nullptr, x.data(), nullptr, nullptr);
    std::puts(why ? why : "right");
    double error = 0;
    for (int i = 0; i < M; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j] * x[j];
        error += sum > z[i] ? sum - z[i] : z[i] - sum;
    }
    // The workspace begins anywhere, and nothing outside of it is written.
    const int64_t bytes = product_workspace(M, N, K);
    std::vector<char> space(bytes + 64, 7);
    why = product_checked(M, N, K, z2.data(), nullptr, A.data(), nullptr, B.data(), nullptr, x.data(), nullptr, space.data() + 33);
    std::puts(why ? why : z == z2 ? "equal" : "differs");
    for (int64_t e = 0; e < 64; e++)
        error += space[e < 33 ? e : bytes + e] != 7;
    why = product_checked(M, N, K, z2.data(), nullptr, A.data(), nullptr, B.data(), nullptr, x.data(), nullptr, A.data());
    std::puts(why ? why : "not refused");
    std::printf("%g %d %d\n", error, product_workspace(0, 0, 0) >= 0, product_workspace(1, INT64_MAX, 1) < 0);

    const View<double, 1> to{z2.data(), {3}, {1}}, of{x.data(), {4}, {1}};
    const View<const double, 2> a{A.data(), {3, 5}, {5, 1}}, b{B.data(), {5, 4}, {4, 1}};
    const View<const double, 2> turn{turned.data(), {3, 5}, {1, 3}}, part{B.data(), {4, 4}, {4, 1}};
    for (const auto &each : {a, turn}) {
        z2.assign(M, 0);
        why = product(to, each, b, of);
        std::puts(why ? why : z == z2 ? "equal" : "differs");
    }
    z2.assign(M, 0);
    why = product(to, turn, b, of, space.data());
    std::puts(why ? why : z == z2 ? "equal" : "differs");
    std::puts(product(to, a, part, of));
#if defined(__cpp_lib_mdspan)
    why = product(std::mdspan(z2.data(), M), std::mdspan(A.data(), M, K), std::mdspan(B.data(), K, N), std::mdspan(x.data(), N));
    if (why)
        std::puts(why);
#endif
}
"#;

const PYTHON: &str = r#"
import inspect
import numpy as np
import kernels

rng = np.random.default_rng(7)
assert list(inspect.signature(kernels.product).parameters) == ["A", "B", "x", "z"]
assert "T" not in kernels.product.__doc__
for m, n, k in (0, 3, 4), (1, 1, 1), (5, 4, 1), (4, 3, 0), (33, 20, 17):
    A, B, x = rng.random((m, k)), rng.random((k, n)), rng.random(n)
    for given in A, A.copy(order="F"):
        for right in B, np.pad(B, 1)[1:k + 1, 1:n + 1]:
            assert np.allclose(kernels.product(given, right, x), A @ B @ x)
            kernel = kernels._product_of_arrays
            kernels._product_of_arrays = lambda *_: True
            assert np.allclose(kernels.product(given, right, x), A @ B @ x)
            kernels._product_of_arrays = kernel
"#;

#[test]
fn workspaces_are_given_or_allocated() {
    let directory = tempfile::tempdir().unwrap();
    let output = build(SCRIPT, directory.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = directory.path().join("out");
    std::fs::write(out.join("example/views.cpp"), CPP).unwrap();
    let files = ["example/main.cpp", "lib/libkernels.a", "-fopenmp", "-lm"];
    let flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Iinclude"];
    for (file, made) in [
        ("example/main.cpp", "./main"),
        ("example/views.cpp", "./views"),
    ] {
        let files = [&[file], &files[1..], &["-o", made]].concat();
        succeeds("g++", &[&flags[..], &files[..]].concat(), &out);
    }
    assert!(succeeds("./main", &[], &out).starts_with("product: z[0] ="));
    assert_eq!(
        succeeds("./views", &[], &out),
        "right\nequal\nproduct: its workspace and A overlap\n0 1 1\nequal\nequal\nequal\n\
         product: B must have the extents K x N\n"
    );
    let Some(python) = python() else {
        return eprintln!("no Python with NumPy is installed: kernels are not called from it");
    };
    std::fs::write(out.join("python/call.py"), PYTHON).unwrap();
    succeeds(&python, &["call.py"], &out.join("python"));
}
