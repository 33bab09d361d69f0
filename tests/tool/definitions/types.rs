//! `elem`: the type of elements where nothing names one.

use super::{fault, printed, teml};

#[test]
fn texts_and_numbers_have_the_type_of_the_script() {
    for (script, expected) in [
        (
            "teil(`alloc x : [5] alloc y : [5] y = add x x`)",
            "f32 x[5]\nf32 y[5]\ny[i1] = x[i1] + x[i1]\n",
        ),
        (
            "model(`var input s : [] var output t : [] t = s`)",
            "input f32 s\noutput f32 t\nt = s\n",
        ),
        (
            "operators(`auto A = Matrix(3, 3); auto u = Tensor<1>(3); auto v = (2.5*A)(u);`)",
            "input f32 A[3][3]\ninput f32 u[3]\noutput f32 v[3]\n\
             v[i1] = 2.5 * sum(i2: A[i1][i2] * u[i2])\n",
        ),
        // The text names the types of its declarations.
        (
            "sac(`double[4] a; float[4] b; c = { iv -> a[iv] }; d = { iv -> 0.5 * b[iv] };`)",
            "input f64 a[4]\ninput f32 b[4]\noutput f64 c[4]\noutput f32 d[4]\n\
             c[i1] = a[i1]\nd[i1] = 0.5 * b[i1]\n",
        ),
        ("eq(2.5, [i], [4])", "f32 □[4]\n□[i] = 2.5\n"),
        ("eq(2, [i], [4])", "f32 □[4]\n□[i] = 2\n"),
        ("m", "f32 m[4]\n"),
        (
            "sac { iv -> m[iv] * 0.5 }",
            "f32 □[4], m[4]\n□[i1] = m[i1] * 0.5\n",
        ),
        (
            "sac { iv -> sqrt(2) | iv < [3] }",
            "f32 □[3]\n□[i1] = sqrt(2)\n",
        ),
        (
            "untree(#{kind: \"access\", name: \"T\", shape: [3]})",
            "f32 T[3]\n",
        ),
    ] {
        let script = format!("elem(\"f32\"); let m = tensor([4]); print({script});");
        assert_eq!(printed(&script), expected, "{script}");
    }
    let half = printed("elem(\"i32\"); print(eq(2.5, [i], [4])); print(eq(2, [i], [4]));");
    assert_eq!(half, "f64 □[4]\n□[i] = 2.5\ni32 □[4]\n□[i] = 2\n");
}

/// The C of texts in `f32` computes what the definition says.
#[test]
fn texts_in_other_types_run() {
    for elem in ["f32", "i32", "i64"] {
        let script = format!(
            "elem(\"{elem}\");
             let p = model(`
                 var input A : [5 7] var input B : [7 4] var output C : [5 4]
                 C = (A # B).[2 3]
             `);
             compare([nests(p), optimized(p)]);
             let A = tensor([5, 7]); let B = tensor([7, 4]);
             let E = einsum(\"ik,kj->ij\", A, B);
             print(close(run(p).C, run(E).E)); print(run(p).C.elem);"
        );
        let (code, out, err) = teml(&["run"], &script);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.ends_with(&format!("true\n{elem}\n")), "{out}");
    }
}

#[test]
fn numbers_of_texts_have_a_value_of_the_type() {
    let text = "auto A = Matrix(3, 3); auto u = Tensor<1>(3); auto v = (2.5*A)(u);";
    let (message, _) = fault(&format!("elem(\"i32\"); operators(`{text}`);"));
    assert!(
        message.contains("2.5 is not a value of type i32"),
        "{message}"
    );
    let (message, at) = fault("elem(\"f32\"); sac { iv -> 1e300 | iv < [3] };");
    assert!(message.contains("is not a value of type f32"), "{message}");
    assert_eq!(at, "1e300");
}

/// Beside a tensor, a size is a number; an iterator has many values.
#[test]
fn sizes_are_numbers_of_the_tensor_beside_them() {
    let head = "let n = size(\"N\"); let x = tensor([n], \"f32\"); let c = tensor([n], \"i64\");";
    for (value, expected) in [
        ("x / n", "x[_1] / f32(index(N))"),
        ("2 * n * x", "f32(index(2*N)) * x[_1]"),
        ("c - (n + 1)", "c[_1] - index(N + 1)"),
    ] {
        let shown = printed(&format!("{head} let y = stored({value}); print(y);"));
        assert!(shown.ends_with(&format!("y[_1] = {expected}\n")), "{shown}");
    }
    let mean = format!("{head} compare(build(stored(einsum(\"i->\", x) / n)));");
    let (code, out, err) = teml(&["run"], &mean);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("equal the definition"), "{out}");
    let (message, at) = fault(&format!("{head} x * i;"));
    assert_eq!(message, "`*` cannot be applied to a tensor and an iterator");
    assert_eq!(at, "*");
}
