//! Results.

use crate::runtime::workshop::*;
use teml::codegen::{Kernel, Param, Role, c_type};
use teml::ir::{Elem, Name, Strides};
use teml::runtime::{Compiled, Data, Run, RuntimeError, Scalar, Values, View, compare, run_once};

/// y = 2 x + y, for every element type.
#[test]
fn every_element_type() {
    for elem in Elem::ALL {
        let c = c_type(elem);
        let source = format!(
            "#include <stdint.h>\nvoid axpy(const {c} *restrict x, {c} *restrict y) {{\n\
             for (int i = 0; i < 1000; i++) y[i] += 2 * x[i];\n}}"
        );
        let params = vec![
            param("x", &[10, 100], elem, Role::In),
            param("y", &[10, 100], elem, Role::InOut),
        ];
        let kernel = compiled(&kernel("axpy", &source, params));
        let data = [Data::Pattern(0), Data::Pattern(1)];
        let run = run_once(&kernel, &data, &control()).unwrap();
        let y = run.outputs.get("y").unwrap();
        assert_eq!(y.view().elem(), elem);
        for k in 0..1000 {
            let float = |value: Scalar| match value {
                Scalar::Float(value) => value,
                Scalar::Integer(value) => value as f64,
            };
            let [x, old] = [0, 1].map(|n| float(data[n].value(elem, k).unwrap()));
            let actual = float(y.view().get(k as usize).unwrap());
            assert!((actual - (2.0 * x + old)).abs() < 1e-6, "{elem} {k}");
        }
    }
}

#[test]
fn integers_wrap_and_values_arrive() {
    let source = "#include <stdint.h>\nvoid inc(const int32_t *a, int32_t *b, int64_t *c) {\n\
                  for (int i = 0; i < 3; i++) { b[i] = a[i] + 1; c[i] -= 1; }\n}";
    let params = vec![
        param("a", &[3], Elem::I32, Role::In),
        param("b", &[3], Elem::I32, Role::Out),
        param("c", &[3], Elem::I64, Role::InOut),
    ];
    let kernel = compiled(&kernel("inc", source, params));
    let a = Data::Values(Values::I32(vec![i32::MAX, -5, 0]).into());
    let c = Data::Constant(i64::MIN.into());
    let run = run_once(&kernel, &[a, Data::Unset, c], &control()).unwrap();
    let b = run.outputs.get("b").unwrap();
    assert_eq!(b.view(), View::I32(&[i32::MIN, -4, 1]));
    let c = run.outputs.get("c").unwrap();
    assert_eq!(c.view(), View::I64(&[i64::MAX; 3]));
    assert_eq!(run.outputs.iter().count(), 2);
    assert!(run.outputs.get("a").is_none());
}

/// y = 2 x for matrices that lie apart.
fn twice(strides: Strides, body: &str) -> Compiled {
    let strided = |name, role| {
        let Param { tensor, role } = param(name, &[5, 7], Elem::F64, role);
        let tensor = tensor.strided(strides);
        Param { tensor, role }
    };
    let params = vec![strided("y", Role::Out), strided("x", Role::In)];
    let strides = params.iter().flat_map(|param| param.tensor.strides());
    let sizes: Vec<(Name, i64)> = strides.map(|name| (name, 0)).collect();
    let numbers: String = sizes
        .iter()
        .map(|(name, _)| format!("int64_t {name}, "))
        .collect();
    let source = format!(
        "#include <stdint.h>\n\
         void twice({numbers}double *y, const double *x) {{\n\
         for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) {body}\n}}"
    );
    let kernel = kernel("twice", &source, params);
    compiled(&Kernel { sizes, ..kernel })
}

fn with_gap(kernel: &Compiled, gap: i64) -> Result<Run, RuntimeError> {
    let data = [Data::Unset, Data::Pattern(1)];
    run_once(&kernel.with_gaps(gap), &data, &control())
}

fn is_twice(run: &Run) {
    let y = run.outputs.get("y").unwrap();
    for k in 0..35 {
        let Some(Scalar::Float(x)) = Data::Pattern(1).value(Elem::F64, k) else {
            panic!("no number");
        };
        assert_eq!(y.view().get(k as usize), Some(Scalar::Float(2.0 * x)));
    }
}

fn crashes(kernel: &Compiled) {
    match with_gap(kernel, 3).map(|_| ()).unwrap_err() {
        RuntimeError::Crashed { signal, .. } => assert_eq!(signal, "SIGABRT"),
        other => panic!("{other}"),
    }
}

#[test]
fn rows_may_lie_apart() {
    let of = |body: &str| twice(Strides::Rows, body);
    let right = of("y[i*ldy + j] = 2 * x[i*ldx + j];");
    for gap in [0, 1, 3] {
        is_twice(&with_gap(&right, gap).unwrap());
    }
    // Without gaps, nothing lies between rows.
    let dense = of("y[i*7 + j] = 2 * x[i*ldx + j];");
    assert!(with_gap(&dense, 0).is_ok());
    crashes(&dense);
    for wrong in [
        "{ y[i*ldy + j] = 2 * x[i*ldx + j]; if (i == 2 && j == 6) y[i*ldy + 7] = 0; }",
        "{ y[i*ldy + j] = 2 * x[i*ldx + j]; if (i == 2) ((double *)x)[i*ldx + j] = 9; }",
    ] {
        crashes(&of(wrong));
    }
}

#[test]
fn indices_may_lie_apart_and_backwards() {
    let of = |body: &str| twice(Strides::All, body);
    let element = "y[i*ldy_1 + j*ldy_2] = 2 * x[i*ldx_1 + j*ldx_2];";
    let right = of(element);
    for gap in [0, 1, 3] {
        is_twice(&with_gap(&right, gap).unwrap());
    }
    let backwards = right.with_gaps(3);
    let strides: Vec<i64> = backwards.kernel().sizes.iter().map(|(_, n)| *n).collect();
    assert_eq!(strides, [31, -4, 31, -4]);
    let adjacent = of("y[i*ldy_1 + j] = 2 * x[i*ldx_1 + j*ldx_2];");
    assert!(with_gap(&adjacent, 0).is_ok());
    let between = of(&format!(
        "{{ {element} if (i == 2) y[i*ldy_1 + j*ldy_2 - 1] = 0; }}"
    ));
    for wrong in [adjacent, between] {
        crashes(&wrong);
    }
}

#[test]
fn what_a_kernel_forgets_to_write_is_nan() {
    let source = "void half(double *y) { for (int i = 0; i < 8; i++) y[i] = 1.0; }";
    let params = vec![param("y", &[4, 4], Elem::F64, Role::Out)];
    let kernel = compiled(&kernel("half", source, params));
    let run = run_once(&kernel, &[Data::Unset], &control()).unwrap();
    let y = run.outputs.get("y").unwrap();
    let shape = y.tensor().shape();
    let difference = compare(View::F64(&[1.0; 16]), y.view(), shape, 1e-9).unwrap();
    assert_eq!(difference.differing, 8);
    assert_eq!(difference.first.unwrap().index, [2, 0]);
}

#[test]
fn a_scalar_is_a_tensor_of_one_element() {
    let source = "void s(const double *x, double *y) { *y = *x + 1; }";
    let params = vec![
        param("x", &[], Elem::F64, Role::In),
        param("y", &[], Elem::F64, Role::Out),
    ];
    let kernel = compiled(&kernel("s", source, params));
    let run = run_once(
        &kernel,
        &[Data::Constant(Scalar::Float(41.0)), Data::Unset],
        &control(),
    )
    .unwrap();
    assert_eq!(run.outputs.get("y").unwrap().view(), View::F64(&[42.0]));
}

#[test]
fn elements_are_aligned() {
    let check = on_x(
        "aligned",
        "#include <stdint.h>",
        "x[0] = (uintptr_t)x % 64;",
    );
    let run = run_on_x(&check, &control()).unwrap();
    let x = run.outputs.get("x").unwrap();
    assert_eq!(x.view().get(0), Some(Scalar::Float(0.0)));
}

#[test]
fn threads_are_as_many_as_asked_for() {
    let body = "#pragma omp parallel num_threads(8)\n#pragma omp single\n\
                x[1] = omp_get_num_threads();\nx[0] = omp_get_max_threads();";
    let count = on_x("count", "#include <omp.h>", body);
    for threads in [1, 2] {
        let control = teml::runtime::Control {
            threads,
            ..control()
        };
        let run = run_on_x(&count, &control).unwrap();
        let x = run.outputs.get("x").unwrap();
        for k in [0, 1] {
            assert_eq!(x.view().get(k), Some(Scalar::Float(threads as f64)));
        }
    }
}

#[test]
fn kernels_may_print_and_find_no_input() {
    let body = "puts(\"{\\\"Ran\\\":{\\\"nanoseconds\\\":7}}\"); fflush(stdout); printf(\"no end\");\n\
                x[0] = getchar();";
    let print = on_x("print", "#include <stdio.h>", body);
    let run = run_on_x(&print, &control()).unwrap();
    let x = run.outputs.get("x").unwrap();
    assert_eq!(x.view().get(0), Some(Scalar::Float(-1.0)));
}

#[test]
fn data_must_fit() {
    let ints = vec![param("n", &[2, 2], Elem::I32, Role::InOut)];
    let kernel = compiled(&kernel("nop", "void nop(int *n) { (void)n; }", ints));
    let run = |data: &[Data]| run_once(&kernel, data, &control()).unwrap_err();
    assert!(matches!(
        run(&[]),
        RuntimeError::Arguments {
            expected: 1,
            given: 0,
            ..
        }
    ));
    let error = run(&[Data::Values(Values::I32(vec![1; 3]).into())]);
    assert!(matches!(
        error,
        RuntimeError::DataLength {
            expected: 4,
            given: 3,
            ..
        }
    ));
    let error = run(&[Data::Values(Values::I64(vec![1; 4]).into())]);
    assert!(error.to_string().contains("i32, and i64 values"), "{error}");
    let error = run(&[Data::Constant(Scalar::Float(0.5))]);
    assert!(error.to_string().contains("whole numbers"), "{error}");
    assert!(matches!(
        run(&[Data::Constant(Scalar::Float(3e9))]),
        RuntimeError::NotAnElement { .. }
    ));
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    let huge = vec![param("B", &[1 << 22, 1 << 22], Elem::F64, Role::In)];
    let kernel = compiled(&kernel(
        "huge",
        "void huge(const double *B) { (void)B; }",
        huge,
    ));
    let error = run_once(&kernel, &[Data::Pattern(0)], &control()).unwrap_err();
    assert!(matches!(error, RuntimeError::Allocation { .. }));
    let text = error.to_string();
    assert!(text.contains("`B`") && text.contains("128.0 TiB"), "{text}");
}

#[test]
fn a_kernel_named_like_a_library_function_is_the_kernel() {
    // `select` is in every process, with another meaning.
    let kernel = on_x("select", "", "x[3] = 7.0;");
    let run = run_on_x(&kernel, &control()).unwrap();
    let x = run.outputs.get("x").unwrap().view().get(3);
    assert_eq!(x, Some(teml::runtime::Scalar::Float(7.0)));
}

#[test]
fn minima_of_selected_values_are_right() {
    let params = vec![
        param("R", &[7, 1, 1, 2], Elem::F64, Role::Out),
        param("T1", &[4, 9, 3, 3, 4], Elem::F64, Role::In),
        param("T0", &[9], Elem::F64, Role::In),
        param("E", &[2, 7, 1, 1, 2], Elem::F64, Role::In),
    ];
    let kernel = kernel("kernel", include_str!("choosing.c"), params);
    let numbers = |count: u64, salt: u64| {
        let value = |x: u64| ((x * 7 + salt) % 11) as f64 - 5.0;
        Data::Values(Values::F64((0..count).map(value).collect()).into())
    };
    let data = [
        Data::Unset,
        numbers(1296, 13),
        numbers(9, 26),
        numbers(28, 39),
    ];
    let run = run_once(&compiled(&kernel), &data, &control()).unwrap();
    let View::F64(r) = run.outputs.get("R").unwrap().view() else {
        panic!("another type")
    };
    // As gcc computes it without optimization.
    let expected = [
        -9., -20., -40., -18., -20., -40., -4., 10., 2., -3., 6., 0., -48., -12.,
    ];
    assert_eq!(r, expected);
}
