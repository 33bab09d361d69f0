//! Vector loops in C: which ones use vector types, and that they compute the same on all targets.

use crate::dialog;
use crate::worker;
use dialog::nest;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use teml::codegen::{self, Kernel, Param};
use teml::interp::store::{Data as Values, Store};
use teml::interp::{definition, execute};
use teml::ir::{Nest, Tensor};
use teml::legality::Reductions;
use teml::runtime::{Compiler, Control, Data, Options, run_once};
use teml::target::Target;
use worker::view;

fn kernel(nest: &Nest) -> Kernel {
    let nests = std::slice::from_ref(nest);
    codegen::generate(nests, "kernel", Reductions::Strict).unwrap()
}

/// The C of the nest's function for 32 registers of 64 bytes, whatever this machine has.
fn c(script: &str, expression: &str) -> String {
    let target = Target::named("avx512").unwrap();
    let nests = [nest(script, expression)];
    let kernel = codegen::generate_for(&nests, "kernel", Reductions::Strict, &target);
    kernel.unwrap().function
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
    // 30 = 24 + a part of 6.
    for rest in [
        "for (int64_t j = 24; j < 30; j += TEML_F64XN)",
        "TEML_F64XN_SET(B[i][j], 30 - j, f64xn_part(A[i][j], 30 - j) * x[i] + f64xn_part(y[j], 30 - j));",
    ] {
        assert!(text.contains(rest), "{text}");
    }
}

#[test]
fn a_rest_that_is_a_vector_is_one() {
    let text = c(
        "let A = tensor([3, 12]); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\")",
    );
    assert!(text.contains("f64x4(B[i][8]) = f64x4(A[i][8]);"), "{text}");
    assert!(!text.contains("_part"), "{text}");
}

#[test]
fn masks_are_for_what_is_in_the_cache() {
    let script = "let A = tensor([40000, 7]); let x = tensor([7]);
         let B = eq(vmul(A, x, [[i, j], [j]]), [i, j]); let l = build(B).vectorize(\"j\");";
    let far = c(script, "l");
    assert!(
        far.contains("f64x4(B[i][0]) = ") && !far.contains("_part"),
        "{far}"
    );
    let fetched = c(script, "l.prefetch(\"i\", A, 8).prefetch(\"i\", B, 8)");
    assert!(fetched.contains("f64xn_part(A[i][j], 7 - j)"), "{fetched}");
}

#[test]
fn sums_in_memory_have_no_masks() {
    let text = c(
        "let A = tensor([3, 5, 6]); let B = einsum(\"ikj->ij\", A); let l = build(B);",
        "l.interchange(\"j\", \"k\").vectorize(\"j\")",
    );
    assert!(
        text.contains("f64x4(B[i][0]) += f64x4(A[i][k][0]);"),
        "{text}"
    );
    assert!(!text.contains("_part"), "{text}");
}

#[test]
fn rows_of_tiles_have_room_for_whole_vectors() {
    let text = c(
        "let A = tensor([9, 5]); let B = tensor([5, 13]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).vectorize(\"i2\")",
    );
    for part in [
        "TEML_LOCAL(double, C_tile, [3][16]);",
        // The rows are addressed relative to the first row of the tile.
        "f64xn(C_tile[i1_i][i2]) += (&A[3*i1_o])[i1_i][i3] * f64xn_part(B[i3][i2], 13 - i2);",
        "TEML_F64XN_SET(C[C_store_1 + 3*i1_o][C_store_2], 13 - C_store_2, f64xn(C_tile[C_store_1][C_store_2]));",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_is_left_of_rows_in_registers_is_part_of_a_whole_vector() {
    for columns in [17, 18, 20] {
        let script = format!(
            "let A = tensor([9, 5]); let B = tensor([5, {columns}]); let C = contract(A, B, [2, 1]);
             let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);
             let l = l.stage(\"i1_o\", C);"
        );
        let packed = c(
            &script,
            "l.pack(0, B).panels(\"B_pack\", 2, 24).vectorize(\"i2\")",
        );
        let whole = "f64xn(C_tile[i1_i][i2]) += (&A[3*i1_o])[i1_i][i3] * f64xn(B_pack[0][i3][i2]);";
        assert_eq!(packed.matches(whole).count(), 2, "{packed}");
        // Elements beyond the end of an argument's row are not touched; a mask would be slower.
        let plain = c(&script, "l.vectorize(\"i2\")");
        assert!(plain.contains("C_tile[i1_i][16]"), "{plain}");
        assert!(!plain.contains("_part"), "{plain}");
    }
}

#[test]
fn copies_in_registers_are_loaded_once() {
    let text = c(
        "let A = tensor([40000, 24]); let x = tensor([4]);
         let B = eq(vmul(A, x, [[j, k], [i]]), [j, i, k]);",
        "build(B).pack(\"j\", A).vectorize(\"k\")",
    );
    assert!(
        text.contains("f64xn(A_pack[A_pack_2]) = teml_f64xn_held(f64xn(A[j][A_pack_2]));"),
        "{text}"
    );
    // The loops after it read whole vectors, so that the remainder of a row is loaded as a partial
    // vector, at any offset.
    let text = c(
        "let A = tensor([40000, 20]); let x = tensor([4]);
         let B = eq(vmul(A, x, [[j, k], [i]]), [j, i, k]);",
        "build(B).pack(\"j\", A).vectorize(\"k\")",
    );
    assert!(text.contains("TEML_LOCAL(double, A_pack, [24]);"), "{text}");
    assert!(
        text.contains("teml_f64xn_held(f64xn_part(A[j][A_pack_2], 20 - A_pack_2))"),
        "{text}"
    );
}

#[test]
fn elements_that_others_use_are_not_overwritten() {
    let text = c(
        "let A = tensor([9, 5]); let B = tensor([5, 14]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).peel(\"i2\", 1, \"back\").vectorize(\"i2\")",
    );
    assert!(text.contains("f64x4(C_tile[i1_i][8]) += "), "{text}");
    assert!(text.contains("C_tile[i1_i][12] += "), "{text}");
}

#[test]
fn lanes_are_as_many_as_the_script_says() {
    let text = c(ROWS, "l.vectorize(\"j\", 4)");
    assert!(text.contains("j += 4)"), "{text}");
    assert!(text.contains("f64x4(B[i][j])"), "{text}");
}

#[test]
fn what_is_left_of_any_number_is_cut_into_shorter_vectors() {
    let text = c(ROWS, "l.stripmine(\"j\", 9).vectorize(\"j_i\")");
    for part in [
        "const int64_t teml_end = teml_min64(9, 30 - 9*j_o);",
        "for (; j_i + TEML_F64XN <= teml_end; j_i += TEML_F64XN) {",
        "for (; j_i + 4 <= teml_end; j_i += 4) {",
        "for (; j_i + 2 <= teml_end; j_i += 2) {",
        "if (j_i < teml_end) {\n                    B[i][j_i + 9*j_o] =",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn rows_in_registers_are_masked_at_any_end() {
    let script = "let m = size(\"M\"); let k = size(\"K\"); let A = tensor([8, k]);
                  let B = tensor([k, m]); let C = einsum(\"ik,kj->ij\", A, B);
                  let l = build(C).stripmine(\"j\", 8).reorder([\"j_o\", \"k\", \"i\", \"j_i\"]);";
    let text = c(script, "l.stage(\"j_o\", C).vectorize(\"j_i\")");
    for part in [
        "const int64_t teml_end = teml_min64(8, M - 8*j_o);",
        "f64xn(C_tile[i][j_i]) += A[i*K + k] * f64xn_part(B[k*M + j_i + 8*j_o], TEML_LEFT(teml_end - j_i));",
        "TEML_F64XN_SET(",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Sums of squared differences are not 0 in lanes whose elements are masked.
#[test]
fn rows_that_are_read_behind_an_end_are_not_masked() {
    let kept = "let y = tensor([8, 8]); let a = tensor([8]); let c = tensor([8]);
        let l = nest(`
          ${y}
          ${a}
          ${c}
          local f64 t[8]
          fill t[0..8] = 0
          for j in 0..8
            for i in 0..j
              t[i] += (a[i] - c[j]) * (a[i] - c[j])
            for k in 0..j
              y[j][k] = t[k]
        `);";
    let summed = "let m = size(\"M\"); let n = size(\"N\"); let A = tensor([m, n]);
        let c = tensor([m]);
        let y = eq(vsum(vsub(A, c, [[i, j], [i]]) * vsub(A, c, [[i, j], [i]]), [j]), [i]);
        let l = build(y).stripmine(\"j\", 8).rfactor(\"j_i\");";
    for (script, expression) in [
        (kept, "l.vectorize(\"i\")"),
        (
            summed,
            "assume(l, \"sums are regrouped\").vectorize(\"j_i\")",
        ),
    ] {
        let text = c(script, expression);
        assert!(!text.contains("f64xn_part"), "{text}");
        assert!(text.contains("f64x4("), "{text}");
    }
}

#[test]
fn what_no_cache_holds_is_stored_past_it() {
    let text = c(
        ROWS,
        "l.parallelize(\"i\").vectorize(\"j\").stream(\"j\", B)",
    );
    for part in [
        "TEML_STREAM(f64xn(B[i][j]), f64xn(A[i][j]) * x[i] + f64xn(y[j]));",
        // Parts of lines are not.
        "f64x4(B[i][24]) = f64x4(A[i][24])",
        // Each thread fences its stores before it waits for the others.
        "    #pragma omp parallel\n    {\n        #pragma omp for nowait\n",
        "        }\n        teml_fence();\n    }\n}",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("teml_fence").count(), 1, "{text}");
}

#[test]
fn a_fence_stands_before_other_threads_read() {
    let script = "
        let A = tensor([5, 30]); let B = eq(A, [i, j] -> [i, j]); let D = eq(B, [i, j] -> [i, j]);
        let both = build(B).vectorize(\"j\").stream(\"i\", B)
            .fuse_outer(build(D).parallelize(\"i\"), 0);";
    let text = c(script, "both");
    let fence = text.find("teml_fence();").unwrap();
    let region = text.find("#pragma omp parallel").unwrap();
    assert!(fence < region, "{text}");
    assert_eq!(text.matches("teml_fence").count(), 1, "{text}");
    // Outside the loops that one thread runs.
    assert!(text.contains("\n    teml_fence();"), "{text}");
}

#[test]
fn rows_are_stored_past_the_caches_from_their_first_aligned_element_on() {
    let wide = "let A = tensor([5, 801]); let B = eq(2 * A, [i, j] -> [i, j]); let l = build(B);";
    let text = c(wide, "l.vectorize(\"j\").stream(\"j\", B)");
    let head = "for (; j < 801 && !TEML_ALIGNED(f64xn(B[i][j])); j++) {";
    assert!(text.contains(head), "{text}");
    // All rows begin at a multiple of 64 bytes.
    let even = wide.replace("801", "800");
    let text = c(&even, "l.vectorize(\"j\").stream(\"j\", B)");
    assert!(!text.contains("TEML_ALIGNED"), "{text}");
    assert!(text.contains("j < 800; j += TEML_F64XN"), "{text}");
}

#[test]
fn what_registers_hold_of_a_rest_goes_past_the_caches_lane_by_lane() {
    let options = "#{lanes: 8, registers: 32, l2: 4096, l3: 1, rows: 6}";
    let text = c(
        WIDE_BLUR,
        &format!("schedules::stencil([first, second], {options})"),
    );
    // Columns 1 to 7, whole lines, and columns 104 to 110.
    for line in [
        "TEML_F64XN_PUT(R[y_2 + 6*y_o + 1][x_f_i + 1], 7 - x_f_i, (",
        "TEML_STREAM_IF(teml_aligned, f64xn(R[y + 6*y_o + 1][x_i + 32*x_o + 8]), (",
        "TEML_F64XN_PUT(R[y_3 + 6*y_o + 1][x_i_2 + 104], 7 - x_i_2, (",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("_SET(R"), "{text}");
}

#[test]
fn rows_that_follow_each_other_are_stored_past_the_caches_as_one_block() {
    let product = |columns: i64| {
        let script = format!(
            "let A = tensor([6, 21, 7]); let B = tensor([6, 7, {columns}]);
             let C = einsum(\"bik,bkj->bij\", A, B);"
        );
        let sizes = "#{lanes: 8, registers: 32, mr: 8, nr: 16, l2: 1, l3: 1, threads: 2}";
        c(
            &script,
            &format!("schedules::small_gemm(build(C), {sizes})"),
        )
    };
    let text = product(43);
    let copy = "teml_copy_past((char *)&C[b][8*i_o][0], (const char *)&C_tile[0][0], 2752);";
    assert!(text.contains(copy), "{text}");
    // Rows of the copy are not padded to whole vectors.
    assert!(text.contains(" C_tile, [8][43]);"), "{text}");
    // Each row is in whole lines already.
    let text = product(48);
    assert!(!text.contains("teml_copy_past"), "{text}");
    assert!(
        text.contains("TEML_STREAM_IF(teml_aligned, f64xn(C["),
        "{text}"
    );
}

#[test]
fn functions_take_vectors() {
    let row = |value: &str| {
        let script = format!(
            "let A = tensor([5, 16]); let x = tensor([5]); let B = eq({value}, [i, j]); let l = build(B);"
        );
        c(&script, "l.vectorize(\"j\")")
    };
    for (value, text) in [
        (
            "vmaximum(vexp(vsub(A, x, [[i, j], [i]])), 0.5)",
            "teml_vmax(teml_vexp(f64xn(A[i][j]) - x[i]), 0.5 - (teml_f64xn){0})",
        ),
        (
            "vmul(vexp(x, [i]), vabs(A, [i, j]))",
            "exp(x[i]) * teml_vabs(f64xn(A[i][j]))",
        ),
        (
            "vselect(x, \"<\", 2, A, 1, [[i], (), [i, j], ()])",
            "teml_vselect((x[i] - (teml_f64xn){0}) < 2.0, f64xn(A[i][j]), 1.0 - (teml_f64xn){0})",
        ),
    ] {
        let c = row(value);
        assert!(c.contains(&format!("f64xn(B[i][j]) = {text};")), "{c}");
    }
    let script = "let A = tensor([5, 16]); let B = max(A, [1]); let l = build(B);";
    let c = c(script, "l.interchange(1, 2).vectorize(\"i1\")");
    let update = "f64xn(B[i1]) = teml_vmax(f64xn(B[i1]), f64xn(A[i2][i1]));";
    assert!(c.contains(update), "{c}");
}

#[test]
fn what_has_no_neighbors_is_left_to_the_compiler() {
    for (script, loop_name) in [
        // The elements of a column are not contiguous, and fill many vectors.
        (
            "let A = tensor([80, 8]); let B = eq(A, [i, j] -> [j, i]); let l = build(B);",
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
fn what_threads_have_in_common_is_in_no_register() {
    let script = "
        let A = tensor([40, 3]);
        let B = tensor([3, 16]);
        let C = contract(A, B, [2, 1]);
        let l = build(C).reorder([\"i1\", \"i3\", \"i2\"]).place_init(\"i1\").vectorize(\"i2\").pack(0, B);";
    let within = c(script, "l.parallelize(\"i1\")");
    assert!(within.contains("B_pack[i3][i2]"), "{within}");
    assert!(!within.contains("UNROLL(3)"), "{within}");
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
        "f64xn(C_tile[i1_i][i2_i]) += (&A[4*i1_o])[i1_i][i3] * f64xn(B[i3][i2_i + 16*i2_o]);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn bounds_that_never_count_are_left_out() {
    // All blocks but the last are whole, and the last one has its own loop.
    let text = c(
        ROWS,
        "l.stripmine(\"j\", 8).vectorize(\"j_i\").peel(\"j_o\", 1, \"back\")",
    );
    assert!(!text.contains("teml_min"), "{text}");
    assert!(text.contains("f64xn(B[i][j_i + 8*j_o])"), "{text}");
    let rest = "TEML_F64XN_SET(B[i][j_i_2 + 24], 6 - j_i_2, ";
    assert!(text.contains(rest), "{rest}\n{text}");
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
        text.contains("f64xn(C_tile[C_tile_set_1][C_tile_set_2]) = (teml_f64xn){0};"),
        "{text}"
    );
}

fn control() -> Control {
    Control {
        cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors")),
        ..worker::control()
    }
}

/// Two stencils on an image of these extents.
macro_rules! blur {
    ($extents:literal) => {
        concat!(
            "let A = tensor(",
            $extents,
            ");
             let rows = vstencil(A, [[0, -1], [0, 0], [0, 1]], [1, 2, 1]);
             let B = eq(rows / 4, [y, x] -> [y, x - 1]);
             let columns = vstencil(B, [[-1, 0], [0, 0], [1, 0]], [1, 2, 1]);
             let R = eq(columns / 4, [y, x - 1] -> [y, x], ",
            $extents,
            ");
             let first = build(B);
             let second = build(R);"
        )
    };
}

const BLUR: &str = blur!("[13, 43]");

const WIDE_BLUR: &str = blur!("[22, 112]");

/// Runs the C of a nest, compiled with these flags, and compares it with the definition. A program
/// is its own definition, in the order of its loops.
fn computes(
    (nest, kernel): (&Nest, &Kernel),
    (compiler, openmp): (&Compiler, bool),
    is_program: bool,
    flags: &[&str],
) {
    let mut store: Store = HashMap::new();
    // An intermediate tensor may be local, and not an argument.
    let targets = nest.definition().iter().filter_map(|e| e.tensor().cloned());
    for (k, tensor) in nest.tensors().into_iter().chain(targets).enumerate() {
        let value = move |x: u64| ((x * 7 + k as u64 * 5) % 9) as f64 - 4.0;
        store.insert(
            tensor.name().unwrap().clone(),
            Values::generate(&tensor, value),
        );
    }
    let options = Options {
        openmp,
        extra: flags.iter().map(|f| (*f).to_owned()).collect(),
        ..Options::default()
    };
    let control = control();
    let compiled = compiler.compile(kernel, &options, &control).unwrap();
    let name = |t: &Tensor| t.name().unwrap().clone();
    let values = |p: &Param| Data::Values(Arc::new(view(&store[&name(&p.tensor)]).into()));
    let inputs: Vec<Data> = kernel.params.iter().map(values).collect();
    let run = run_once(&compiled, &inputs, &control).unwrap();
    if is_program {
        execute::run(nest, &mut store).unwrap();
    } else {
        definition::run(nest.definition(), &mut store).unwrap();
    }
    for (tensor, expected) in &store {
        let Some(found) = run.outputs.get(tensor.as_str()) else {
            continue;
        };
        for x in 0..expected.len() {
            let (a, b) = (view(expected).get(x), found.view().get(x));
            assert_eq!(
                a.map(|a| a.to_string()),
                b.map(|b| b.to_string()),
                "{} {flags:?} {tensor}",
                compiler.version()
            );
        }
    }
}

/// A product whose elements get a matrix factor and a bias per column.
const EPILOGUE: &str = "
    let A = tensor([21, 35]); let B = tensor([35, 43]); let b = tensor([43]); let M = tensor([21, 43]);
    let T = contract(A, B, [2, 1]);
    let S = eq(vadd(vmul(T, M, [[i, j], [i, j]]), b, [(), [j]]), [i, j]);
";

#[test]
fn what_tiles_share_is_loaded_after_their_sums() {
    let options = "#{mr: 4, nr: 16, mc: 8, l1: 64, lanes: 8}";
    let schedule = format!("schedules::gemm_at(build(T), build(S), {options})");
    let text = c(EPILOGUE, &schedule);
    // Columns are those of all tiles of a panel.
    let sum = text.find("f64xn(S_tile[i1_i][i2_i]) +=").unwrap();
    let here = text.find("teml_load_here();").unwrap();
    let read = text.find("f64xn(b[").unwrap();
    assert!(sum < here && here < read, "{text}");
    let own = EPILOGUE.replace("b, [(), [j]]", "M, [(), [i, j]]");
    let text = c(&own, &schedule);
    let tile = text.split("S_store_1").next().unwrap();
    assert!(
        tile.contains("f64xn(M[") && !tile.contains("teml_load_here"),
        "{text}"
    );
}

/// Odd extents, offsets, lanes that a script chooses, single precision, and one number in all
/// lanes. Also bounds that depend on other loops, and a register tile that divides no extent.
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
    // Rows that end within a vector, in arguments and in tiles.
    (
        "let A = tensor([9, 5]); let B = tensor([5, 13]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).vectorize(\"i2\")",
    ),
    (
        "let A = tensor([7, 5], \"f32\"); let B = tensor([5, 27], \"f32\");
         let C = contract(A, B, [2, 1]); let l = build(C).reorder([\"i3\", \"i1\", \"i2\"]);",
        "l.stage(\"i3\", C).vectorize(\"i2\")",
    ),
    (
        "let A = tensor([9, 5]); let B = tensor([5, 14]); let C = contract(A, B, [2, 1]);
         let l = build(C).stripmine(\"i1\", 3).reorder([\"i1_o\", \"i3\", \"i1_i\", \"i2\"]);",
        "l.stage(\"i1_o\", C).peel(\"i2\", 1, \"back\").vectorize(\"i2\")",
    ),
    (
        "let A = tensor([4, 3]); let B = eq(vdiv(1, A, [(), [i, j]]), [i, j]); let l = build(B);",
        "l.vectorize(\"j\")",
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
    // Streaming stores: aligned rows and others, numbers of lanes that no register holds, single
    // precision, and from a register tile.
    (ROWS, "l.vectorize(\"j\").stream(\"j\", B)"),
    (
        ROWS,
        "l.parallelize(\"i\").vectorize(\"j\", 8).stream(\"i\", B)",
    ),
    (
        ROWS,
        "l.skew(\"j\", \"i\", 1).vectorize(\"j\").stream(\"j\", B)",
    ),
    (
        ROWS,
        "l.stripmine(\"j\", 8).parallelize(\"i\", #{collapse: 2, threshold: 3}).vectorize(\"j_i\").stream(\"i\", B)",
    ),
    (
        "let A = tensor([7, 299]); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\").stream(\"j\", B)",
    ),
    (
        "let A = tensor([3, 304], \"f32\"); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\", 16).stream(\"j\", B).parallelize(\"i\")",
    ),
    (
        "let A = tensor([3, 301], \"f32\"); let B = eq(A, [i, j] -> [i, j]); let l = build(B);",
        "l.vectorize(\"j\", 2).stream(\"j\", B)",
    ),
    (
        "let A = tensor([4, 16]); let B = tensor([4, 16]); let n = eq(2 * A, [i, j] -> [i, j]);
         let l = build(n).tile([2, 8]).stage(\"j_o\", n);",
        "l.stream(\"i_o\", n)",
    ),
    // Rows that are not whole cache lines, collected and stored past the caches as blocks.
    (
        "let A = tensor([6, 21, 7]); let B = tensor([6, 7, 43]); let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::small_gemm(build(C), #{lanes: 8, mr: 8, nr: 16, l2: 1, l3: 1, threads: 2})",
    ),
    (
        "let A = tensor([4, 19, 5], \"f32\"); let B = tensor([4, 5, 83], \"f32\");
         let C = einsum(\"bik,bkj->bij\", A, B);",
        "schedules::small_gemm(build(C), #{lanes: 16, mr: 10, nr: 32, l2: 1, l3: 1, threads: 1})",
    ),
    // Stencils in blocks that begin at multiples of vectors, with rows and columns left over.
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 3, lanes: 8, l2: 1, l3: 1})",
    ),
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 6, lanes: 4})",
    ),
    (
        BLUR,
        "schedules::stencil([first, second], #{rows: 50, lanes: 64, l2: 1, l3: 1})",
    ),
    // Blocks of several vectors whose rows are whole cache lines, and in which each row is used
    // right away.
    (
        WIDE_BLUR,
        "schedules::stencil([first, second], #{lanes: 8, registers: 32, l2: 4096, l3: 1, rows: 6})",
    ),
    (
        WIDE_BLUR,
        "schedules::stencil([first, second], #{lanes: 4, registers: 16, l2: 1, l3: 1, rows: 7})",
    ),
    (
        "let A = tensor([3, 15, 160], \"f32\");
         let rows = vstencil(A, [[0, 0, -1], [0, 0, 2]], [1, 3]);
         let B = eq(rows, [c, y, x] -> [c, y, x - 1]);
         let columns = vstencil(B, [[0, -1, 0], [0, 2, 0]], [1, 2]);
         let C = eq(columns, [c, y, x - 1] -> [c, y, x], [3, 15, 160]);",
        "schedules::stencil([build(B), build(C)], #{lanes: 16, registers: 32, l2: 1, l3: 1, rows: 4})",
    ),
    (
        "let A = tensor([3, 11, 23], \"f32\");
         let B = eq(vadd(A, A, [[c, y, x - 1], [c, y + 1, x + 1]]), [c, y, x], [3, 11, 23]);",
        "schedules::stencil([build(B)], #{rows: 4, lanes: 16, l2: 1, l3: 1})",
    ),
    (
        "let A = tensor([7, 21], \"f32\"); let R = 2 * A - A / (1 + A * A); let R = stored(R);",
        "schedules::pointwise(build(R), #{l2: 1, l3: 1})",
    ),
    (
        "let x = tensor([1001]); let y = eq(x * x, [i] -> [i]);",
        "schedules::pointwise(build(y), #{l2: 800, l3: 1})",
    ),
    // Schedules of the library, with tiles that divide no extent, and packed operands.
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
        "schedules::gemm(build(C), #{mr: 4, nr: 8, mc: 8, nc: 32, kc: 5, l1: 64, l2: 64, threads: 3})",
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
        "let B = tensor([3, 23, 7]); let C = tensor([23, 26]); let D = tensor([7, 26]);
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 16, l1: 64})",
    ),
    (
        "let B = tensor([3, 23, 7], \"f32\"); let C = tensor([23, 33], \"f32\");
         let D = tensor([7, 33], \"f32\");
         let T = contract(B, D, [3, 1]); let A = einsum(\"ikj,kj->ij\", T, C);",
        "schedules::gemm_at(build(T), build(A), #{mr: 4, nr: 32, l1: 64, l3: 64})",
    ),
    // Epilogues of products, inside the tiles: with one block of terms, two, and several.
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 8, l1: 64})",
    ),
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 16, mc: 8, kc: 20, l1: 64, threads: 2})",
    ),
    (
        EPILOGUE,
        "schedules::gemm_at(build(T), build(S), #{mr: 8, nr: 16, kc: 9, nc: 16, l1: 64, l2: 64})",
    ),
    (EPILOGUE, "schedules::optimize([build(T), build(S)])"),
    (
        "let A = tensor([2, 11, 9]); let B = tensor([2, 9, 17]); let v = tensor([2, 11]);
         let T = einsum(\"bik,bkj->bij\", A, B);
         let S = sub(T, v, [[n, i, j], [n, i]] -> [n, i, j]);",
        "schedules::gemm_at(build(T), build(S), #{mr: 4, nr: 16})",
    ),
    (
        "let I = tensor([2, 3, 23]); let W = tensor([2, 5, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[g, c, w + k], [g, f, c, k]]), [c, k]), [g, f, w]);",
        "schedules::conv(build(O), #{mr: 4, nr: 16})",
    ),
    (
        "let A = tensor([7, 7]); let u = tensor([5, 7, 7]);
         let t = einsum(\"il,elm->eim\", A, u); let v = einsum(\"jm,eim->eij\", A, t);",
        "schedules::element_operators([build(t), build(v)], \"e\")",
    ),
    (
        "let A = tensor([13, 13]); let u = tensor([3, 13, 13]); let D = tensor([3, 13, 13]);
         let t = einsum(\"il,elm->eim\", A, u);
         let q = mul(t, D, [[e, i, m], [e, i, m]] -> [e, i, m]);
         let v = einsum(\"jm,eim->eij\", A, q);",
        "schedules::element_operators([t, q, v].map(|x| build(x)), \"e\")",
    ),
    (
        "let I = tensor([2, 11, 40]); let W = tensor([2, 3, 3]);
         let O = eq(vsum(vmul(I, W, [[c, y + p, x + q], [c, p, q]]), [p, q]), [c, y, x]);",
        "schedules::filters(build(O), #{mr: 4, nr: 16, lanes: 8})",
    ),
    (
        "let I = tensor([11, 58], \"f32\"); let W = tensor([3, 3], \"f32\");
         let O = eq(vsum(vmul(I, W, [[y + p, x + q], [p, q]]), [p, q]), [y, x]);",
        "schedules::filters(build(O), #{mr: 4, nr: 32, lanes: 16, l2: 64, l3: 64})",
    ),
    (
        "let A = tensor([16, 13]); let B = tensor([13, 32]); let C = contract(A, B, [2, 1]);
         let l = build(C).tile([\"i2\", \"i1\"], [16, 4]);
         l = l.reorder([\"i2_o\", \"i1_o\", \"i3\", \"i1_i\", \"i2_i\"]).pack(\"i2_o\", B);",
        "l.stage(\"i1_o\", C).vectorize(\"i2_i\")",
    ),
];

/// The number of steps that points stay near.
const ORBITS: &str = "
    fn orbits(n, elem, count) {
        let m = max(n, 1);
        nest(`
          ${count} c[3][${m}]
          ${elem} p[${m}], q[3]
          for y in 0..3
            for x in 0..${n}
              local ${elem} a
              local ${elem} b
              local ${elem} t
              local ${count} k
              a = 0
              b = 0
              k = 0
              for s in 0..3
                t = a * a - b * b + p[x]
                b = 2 * a * b + q[y]
                a = t
                k += select(a * a + b * b < 4, 1, 0)
              c[y][x] = k
        `)
    }
";

/// Many small matrices, factored in place.
const FACTORS: &str = "
    fn factors(order, elem) {
        let at = |b, i, j| { let t = order; t.replace(`[i]`, `[${i}]`); t.replace(`[j]`, `[${j}]`); t.replace(`[b]`, `[${b}]`); t };
        let e = |i, j| `A` + at.call(`b`, i, j);
        let shape = at.call(21, 3, 3);
        nest(`
          ${elem} A${shape}
          for b in 0..21
            for k in 0..3
              for i in k + 1..3
                ${e.call(`i`, `k`)} = ${e.call(`i`, `k`)} / select(${e.call(`k`, `k`)} < 0, 2, 4)
                for j in k + 1..3
                  ${e.call(`i`, `j`)} -= ${e.call(`i`, `k`)} * ${e.call(`k`, `j`)}
        `)
    }
    let A = tensor([21, 3, 3], `f32`);
";

/// Programs, which are their own definition.
const PROGRAMS: &[(&str, &str)] = &[
    // Lanes with loops, local tensors and selections inside: blocks of several vectors and of one,
    // with parts behind them, and extents of 1 and 0.
    (ORBITS, "orbits(13, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(77, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(45, \"f32\", \"f32\").vectorize(\"x\")"),
    (ORBITS, "orbits(21, \"f32\", \"i64\").vectorize(\"x\")"),
    (ORBITS, "orbits(22, \"f64\", \"i32\").vectorize(\"x\", 4)"),
    (ORBITS, "orbits(1, \"f64\", \"f64\").vectorize(\"x\")"),
    (ORBITS, "orbits(0, \"f64\", \"f64\").vectorize(\"x\")"),
    (
        ORBITS,
        "orbits(50, \"f64\", \"f64\").parallelize(\"x\").vectorize(\"x\")",
    ),
    (
        ORBITS,
        "orbits(50, \"f64\", \"f64\").stripmine(\"x\", 16).vectorize(\"x_i\")",
    ),
    // Elements that are apart are gathered and scattered, in place and by copies.
    (FACTORS, "factors(\"[i][j][b]\", \"f64\").vectorize(\"b\")"),
    (FACTORS, "factors(\"[b][i][j]\", \"f64\").vectorize(\"b\")"),
    (FACTORS, "factors(\"[b][i][j]\", \"f32\").vectorize(\"b\")"),
    (
        FACTORS,
        "factors(\"[b][i][j]\", \"f64\").parallelize(\"b\").vectorize(\"b\")",
    ),
    (
        FACTORS,
        "factors(\"[b][i][j]\", \"f32\").stage(\"b\", A).vectorize(\"b\")",
    ),
    (
        "let A = tensor([30, 3]); let x = tensor([30]); let s = tensor([30]);",
        "nest(`
           ${s}
           ${A}
           ${x}
           vector for i in 2..21
             local f64 w[3]
             fill w[0..3] = 1
             for k in 0..3
               w[k] += A[i][k] * x[29 - i]
             for k_2 in 0..3
               s[i] max= w[k_2] / 2
         `)",
    ),
];

/// Compiler flags for the targets that this machine supports.
fn targets() -> Vec<Vec<&'static str>> {
    let mut targets = vec![vec![]];
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
    targets
}

#[test]
fn vectors_compute_the_same_on_all_targets() {
    let compiler = Compiler::find(&control()).unwrap();
    all_compute_the_same((compiler, true));
}

/// Runs all nests with the flags of each target.
fn all_compute_the_same(compiler: (&Compiler, bool)) {
    let all = VARIETY.iter().map(|one| (one, false));
    let all: Vec<_> = all.chain(PROGRAMS.iter().map(|one| (one, true))).collect();
    all.par_iter()
        .for_each(|((script, expression), is_program)| {
            let nest = nest(script, expression);
            for flags in targets() {
                computes((&nest, &kernel(&nest)), compiler, *is_program, &flags);
            }
        });
}

/// Blocks of lanes depend on the target.
#[test]
fn programs_compute_the_same_in_lanes_of_all_targets() {
    let compiler = Compiler::find(&control()).unwrap();
    PROGRAMS.par_iter().for_each(|(script, expression)| {
        let nest = nest(script, expression);
        for target in ["sse2", "avx2", "avx512"] {
            let (target, nests) = (Target::named(target).unwrap(), std::slice::from_ref(&nest));
            let kernel = codegen::generate_for(nests, "kernel", Reductions::Strict, &target);
            computes((&nest, &kernel.unwrap()), (compiler, true), true, &[]);
        }
    });
}

/// A clang from version 16 on, if one is installed, and whether it has OpenMP.
fn clang() -> Option<(Compiler, bool)> {
    let versions = (16..=30).rev().map(|version| format!("clang-{version}"));
    let mut compilers =
        versions.filter_map(|name| Compiler::from_path(Path::new(&name), &control()).ok());
    let compiler = compilers.next()?;
    let probe = kernel(&nest(ROWS, "l.parallelize(\"i\")"));
    let with = compiler.compile(&probe, &Options::default(), &control());
    Some((compiler, with.is_ok()))
}

#[test]
fn vectors_compute_the_same_with_clang() {
    let Some((compiler, openmp)) = clang() else {
        return;
    };
    all_compute_the_same((&compiler, openmp));
}
