//! Programs in Rust, without a script: a matrix product and a stencil from text to results.

use crate::worker::control;
use std::sync::Arc;
use teml::ir::Name;
use teml::{
    Arg, Bench, Data, Inputs, Nest, Reductions, Values, Variant, Verdict, Workbench, check,
    compare, nest, run, step,
};

fn of(name: &str) -> Arg {
    Arg::Loop(name.into())
}

fn inputs<const N: usize>(given: [(&str, Vec<f64>); N]) -> Bench {
    let given = given.into_iter();
    let given = given.map(|(name, values)| {
        let values = Data::Values(Arc::new(Values::F64(values)));
        (Name::new(name).unwrap(), values)
    });
    let inputs: Inputs = given.collect();
    let control = control();
    Bench::from(Workbench {
        control,
        inputs,
        ..Workbench::default()
    })
}

fn elements(nests: &[Nest], bench: &Bench, name: &str) -> Vec<f64> {
    let results = run(bench, nests).unwrap();
    let (_, values) = results
        .into_iter()
        .find(|(t, _)| t.label() == name)
        .unwrap();
    match values {
        Values::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_matrix_product() {
    let naive = nest(
        "
         f64 C[9][7], A[9][5], B[5][7]
         fill C[0..9][0..7] = 0
         for i in 0..9
           for j in 0..7
             for k in 0..5
               C[i][j] += A[i][k] * B[k][j]",
    )
    .unwrap();
    let plan = step(&naive, "interchange", &[of("j"), of("k")]).unwrap();
    let plan = step(&plan, "stripmine", &[of("i"), Arg::Int(4)]).unwrap();
    let plan = step(&plan, "vectorize", &[of("j")]).unwrap();
    let plan = step(&plan, "parallelize", &[of("i_o")]).unwrap();
    assert_eq!(
        check(std::slice::from_ref(&plan), Reductions::Strict),
        Verdict::Legal
    );
    let numbers = |count: usize, from: f64| (0..count).map(|k| from + k as f64).collect();
    let (a, b): (Vec<f64>, Vec<f64>) = (numbers(45, 1.0), numbers(35, -3.0));
    let mut product = vec![0.0; 63];
    for (at, c) in product.iter_mut().enumerate() {
        let (i, j) = (at / 7, at % 7);
        *c = (0..5).map(|k| a[5 * i + k] * b[7 * k + j]).sum();
    }
    let given = inputs([("A", a), ("B", b)]);
    assert_eq!(elements(std::slice::from_ref(&plan), &given, "C"), product);
    let variants = [("naive", naive), ("plan", plan)].map(|(label, nest)| Variant {
        label: label.to_owned(),
        nests: vec![nest],
    });
    let (_, ranking) = compare(&given, variants.to_vec(), &[]).unwrap();
    let ranking = ranking.unwrap();
    let labels: Vec<&str> = ranking.measured().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["naive", "plan"]);
}

#[test]
fn a_stencil_in_time() {
    let steps = nest(
        "
         f64 A[20], B[20]
         for t in 0..6
           for i in 1..19
             B[i] = 0.25 * A[i - 1] + 0.5 * A[i] + 0.25 * A[i + 1]
           for j in 1..19
             A[j] = B[j]",
    )
    .unwrap();
    let plan = step(&steps, "shift", &[of("j"), Arg::Int(1)]).unwrap();
    let plan = step(&plan, "vectorize", &[of("i")]).unwrap();
    assert_eq!(
        check(std::slice::from_ref(&plan), Reductions::Strict),
        Verdict::Legal
    );
    let mut now: Vec<f64> = (0..20).map(|k| f64::from(k * k % 7)).collect();
    let given = inputs([("A", now.clone()), ("B", vec![0.0; 20])]);
    for _ in 0..6 {
        let before = now.clone();
        for i in 1..19 {
            now[i] = 0.25 * before[i - 1] + 0.5 * before[i] + 0.25 * before[i + 1];
        }
    }
    assert_eq!(elements(&[plan], &given, "A"), now);
}

#[test]
fn what_is_wrong_is_an_error() {
    let text = nest("f64 A[4]\nfor i in 0..4\n  A[i] = B[i]").unwrap_err();
    assert!(text.text.contains('B'), "{}", text.text);
    let copy = nest("f64 B[4], A[4]\nfor i in 0..4\n  B[i] = A[i]").unwrap();
    let unknown = step(&copy, "stripmin", &[]).unwrap_err();
    assert!(unknown.text.contains("`stripmin`"), "{}", unknown.text);
    assert!(step(&copy, "stripmine", &[of("j"), Arg::Int(2)]).is_err());
}
