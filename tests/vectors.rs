//! Vector loops in C: what is written with vector types, and that it computes the same on all
//! targets.

// A test that cannot go on has failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dialog;

use dialog::nest;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use teml::codegen::{self, Kernel, Param};
use teml::interp::definition;
use teml::interp::store::{Data as Values, Store};
use teml::ir::{Nest, Tensor};
use teml::legality::Reductions;
use teml::runtime::{Control, Data, Options, View, compile, run_once};

fn kernel(nest: &Nest) -> Kernel {
    let nests = std::slice::from_ref(nest);
    codegen::generate(nests, "kernel", Reductions::Strict).unwrap()
}

/// The C of the nest's function.
fn c(script: &str, expression: &str) -> String {
    kernel(&nest(script, expression)).function
}

const ROWS: &str = "
    let A = tensor([5, 30]);
    let x = tensor([5]);
    let y = tensor([30]);
    let B = eq(vadd(vmul(A, x, [[i, j], [i]]), y, [(), [j]]), [i, j]);
    let l = build(B);
";

#[test]
fn neighbors_are_vectors_and_others_are_spread() {
    let text = c(ROWS, "l.vectorize(\"j\")");
    assert!(
        text.contains("f64xn(B[i][j]) = f64xn(A[i][j]) * x[i] + f64xn(y[j]);"),
        "{text}"
    );
    assert!(
        text.contains("for (int64_t j = 0; j < 24; j += TEML_F64XN)"),
        "{text}"
    );
    // 30 = 24 + 4 + 2.
    for rest in [
        "{ const int64_t j = 24;\n            f64x4(B[i][j])",
        "{ const int64_t j = 28;\n            f64x2(B[i][j])",
    ] {
        assert!(text.contains(rest), "{text}");
    }
}

#[test]
fn lanes_are_as_many_as_the_script_says() {
    let text = c(ROWS, "l.vectorize(\"j\", 4)");
    assert!(text.contains("j += 4)"), "{text}");
    assert!(text.contains("f64x4(B[i][j])"), "{text}");
}

#[test]
fn what_has_no_neighbors_is_left_to_the_compiler() {
    for (script, loop_name) in [
        // The rows of a column are no neighbors.
        (ROWS, "i"),
        (
            "let A = tensor([30]); let B = exp(A, [i] -> [i]); let l = build(B);",
            "i",
        ),
        (
            "let A = tensor([30], \"i32\"); let B = eq(A, [i] -> [i]); let l = build(B);",
            "i",
        ),
    ] {
        let text = c(script, &format!("l.vectorize({loop_name:?})"));
        assert!(text.contains("#pragma omp simd"), "{text}");
        assert!(!text.contains("64x"), "{text}");
    }
}

#[test]
fn tiles_that_fit_into_registers_are_unrolled() {
    let script = "
        let A = tensor([16, 40]);
        let B = tensor([40, 32]);
        let C = contract(A, B, [2, 1]);
        let l = build(C).tile([\"i2\", \"i1\"], [16, 4]).reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"])
            .stage(\"i1_o\", C).vectorize(\"i2_i\");";
    let text = c(script, "l");
    for part in [
        "TEML_UNROLL(4)\n            for (int64_t C_load_1 = 0;",
        "f64xn(C_tile[i1_i][i2_i]) += A[i1_i + 4*i1_o][i3] * f64xn(B[i3][i2_i + 16*i2_o]);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn bounds_that_never_count_are_left_out() {
    // All blocks but the last one are whole, and the last one has a loop of its own.
    let text = c(
        ROWS,
        "l.stripmine(\"j\", 8).vectorize(\"j_i\").peel(\"j_o\", 1, \"back\")",
    );
    assert!(!text.contains("teml_min"), "{text}");
    assert!(text.contains("f64xn(B[i][j_i + 8*j_o])"), "{text}");
    for rest in ["f64x4(B[i][j_i_2 + 24])", "f64x2(B[i][j_i_2 + 24])"] {
        assert!(text.contains(rest), "{rest}\n{text}");
    }
    assert!(!text.contains("j_o_b"), "{text}");
}

#[test]
fn bounds_that_count_stay() {
    let text = c(ROWS, "l.stripmine(\"j\", 8)");
    assert!(text.contains("teml_min"), "{text}");
}

#[test]
fn tiles_in_registers_are_set_by_vectors() {
    let script = "
        let A = tensor([8, 40]);
        let B = tensor([40, 32]);
        let C = contract(A, B, [2, 1]);
        let l = build(C).tile([\"i2\", \"i1\"], [16, 4]).reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"])
            .place_init(\"i1_o\").stage(\"i1_o\", C).vectorize(\"i2_i\");";
    let text = c(script, "l");
    assert!(
        text.contains("f64xn(C_tile[C_tile_set_1][C_tile_set_2]) = 0.0"),
        "{text}"
    );
}

/// The elements as `f64`.
fn view<'a>(values: &'a Values<'a>) -> View<'a> {
    match values {
        Values::F64(d) => View::F64(d),
        Values::F32(d) => View::F32(d),
        Values::I32(d) => View::I32(d),
        Values::I64(d) => View::I64(d),
    }
}

/// Runs the C of a nest, compiled with these flags, and compares it with the definition.
fn computes(nest: &Nest, flags: &[&str]) {
    let mut store: Store = HashMap::new();
    // What one assignment computes for another may be local, and no argument.
    let targets = nest.definition().iter().filter_map(|e| e.tensor().cloned());
    for (k, tensor) in nest.tensors().into_iter().chain(targets).enumerate() {
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 - 4.0;
        store.insert(
            tensor.name().unwrap().clone(),
            Values::generate(&tensor, value),
        );
    }
    let kernel = kernel(nest);
    let options = Options {
        extra: flags.iter().map(|f| (*f).to_owned()).collect(),
        ..Options::default()
    };
    let control = Control {
        worker: env!("CARGO_BIN_EXE_teml").into(),
        cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors")),
        threads: 2,
        ..Control::default()
    };
    let compiled = compile(&kernel, &options, &control).unwrap();
    let name = |t: &Tensor| t.name().unwrap().clone();
    let values = |p: &Param| Data::Values(Arc::new(view(&store[&name(&p.tensor)]).into()));
    let inputs: Vec<Data> = kernel.params.iter().map(values).collect();
    let run = run_once(&compiled, &inputs, &control).unwrap();
    definition::run(nest.definition(), &mut store).unwrap();
    for (tensor, expected) in &store {
        let Some(found) = run.outputs.get(tensor.as_str()) else {
            continue;
        };
        for x in 0..expected.len() {
            let (a, b) = (view(expected).get(x), found.view().get(x));
            assert_eq!(
                a.map(|a| a.to_string()),
                b.map(|b| b.to_string()),
                "{flags:?} {tensor}"
            );
        }
    }
}

/// Odd extents, offsets, lanes that a script chooses, single precision, one number in all lanes,
/// bounds that depend on other loops, and a tile in registers whose sizes divide nothing.
const VARIETY: &[(&str, &str)] = &[
    (ROWS, "l.vectorize(\"j\")"),
    (ROWS, "l.vectorize(\"j\", 4)"),
    (ROWS, "l.stripmine(\"j\", 7).vectorize(\"j_i\")"),
    (ROWS, "l.skew(\"j\", \"i\", 1).vectorize(\"j\")"),
    (ROWS, "l.shift(\"j\", -3).vectorize(\"j\")"),
    (
        "let A = tensor([3, 53], \"f32\"); let x = tensor([3], \"f32\");
         let B = eq(vdiv(vneg(A, [i, j]), x, [(), [i]]), [i, j]); let l = build(B);",
        "l.vectorize(\"j\")",
    ),
    (
        "let x = tensor([3]); let B = tensor([3, 21]); let E = tensor([21]);
         B = eq(vmul(x, 2, [[i], ()]), [i, j], [3, 21]); let l = build(B);",
        "l.vectorize(\"j\")",
    ),
    (
        "let A = tensor([11, 13]); let B = tensor([13, 19]); let C = contract(A, B, [2, 1]);
         let l = build(C).tile([\"i2\", \"i1\"], [16, 4]);
         l = l.reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"]);",
        "l.stage(\"i1_o\", C).vectorize(\"i2_i\")",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 8).vectorize(\"j_i\").peel(\"j_o\", 1, \"back\")",
    ),
    (
        ROWS,
        "l.stripmine(\"i\", 1).stripmine(\"j\", 29).parallelize(\"i_o\").vectorize(\"j_i\")",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 30).parallelize(\"i\", #{collapse: 2}).vectorize(\"j_i\")",
    ),
    // Schedules of the library, where tiles divide nothing, and operands are packed.
    (
        "let A = tensor([13, 21]); let B = tensor([21, 43]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, kc: 8, l1: 64})",
    ),
    (
        "let A = tensor([21, 13]); let B = tensor([43, 21]); let C = contract(A, B, [1, 2]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, kc: 8})",
    ),
    (
        "let A = tensor([21, 13]); let B = tensor([13, 71]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mr: 4, nr: 8, mc: 8, nc: 32, kc: 5, l1: 64, threads: 3})",
    ),
    (
        "let A = tensor([1, 9]); let B = tensor([9, 33]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{kc: 4})",
    ),
    (
        "let A = tensor([23, 9]); let B = tensor([9, 1]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mc: 8, kc: 4, l1: 64})",
    ),
    (
        "let A = tensor([23, 1]); let B = tensor([1, 33]); let C = contract(A, B, [2, 1]);",
        "schedules::gemm(build(C), #{mc: 8, nc: 16})",
    ),
    (
        "let A = tensor([3, 11, 5], \"f32\"); let B = tensor([3, 5, 37], \"f32\");
         let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::gemm(build(C), #{mr: 4, lanes: 16})",
    ),
    (
        "let A = tensor([4, 9, 3, 5]); let B = tensor([5, 3, 6, 18]);
         let C = einsum(\"aikl,lkbj->ibaj\", A, B);",
        "schedules::gemm(build(C), #{mr: 4, nr: 16, l1: 64})",
    ),
    (
        "let B = tensor([3, 11, 7]); let C = tensor([11, 19]); let D = tensor([7, 19]);
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 8, l1: 64})",
    ),
    (
        "let I = tensor([2, 3, 23]); let W = tensor([2, 5, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[g, c, w + k], [g, f, c, k]]), [c, k]), [g, f, w]);",
        "schedules::conv(build(O), #{mr: 4, nr: 16})",
    ),
    (
        "let A = tensor([3, 3]); let u = tensor([12, 3, 3]);
         let t = einsum(\"il,elm->ime\", A, u); let w = einsum(\"jm,ime->ije\", A, t);
         let v = eq(w, [i, j, e] -> [e, i, j]);",
        "schedules::element_operators([build(t), build(w), build(v)], \"e\")",
    ),
    (
        "let A = tensor([16, 13]); let B = tensor([13, 32]); let C = contract(A, B, [2, 1]);
         let l = build(C).tile([\"i2\", \"i1\"], [16, 4]);
         l = l.reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"]).pack(\"i2_o\", B);",
        "l.stage(\"i1_o\", C).vectorize(\"i2_i\")",
    ),
];

#[test]
fn vectors_compute_the_same_on_all_targets() {
    let mut targets: Vec<Vec<&str>> = vec![vec![]];
    #[cfg(target_arch = "x86_64")]
    {
        targets.push(vec!["-march=x86-64"]);
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            targets.push(vec!["-march=x86-64", "-mavx2", "-mfma"]);
        }
        if is_x86_feature_detected!("avx512f") {
            targets.push(vec!["-march=x86-64", "-mavx512f"]);
        }
    }
    for (script, expression) in VARIETY {
        let nest = nest(script, expression);
        for flags in &targets {
            computes(&nest, flags);
        }
    }
}
