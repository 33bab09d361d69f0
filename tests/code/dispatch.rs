//! Kernels that choose between plans when they are called.

use crate::worker::control;
use std::sync::Arc;
use teml::codegen::generate;
use teml::ir::{Condition, Name};
use teml::{
    Arg, Bench, Data, Inputs, Nest, Reductions, Values, Verdict, Workbench, check, nest, run, step,
};

const PRODUCT: &str = "
    size M, N, K
    f64 C[M][N], A[M][K], B[K][N]
    fill C[0..M][0..N] = 0
    for i in 0..M
      for j in 0..N
        for k in 0..K
          C[i][j] += A[i][k] * B[k][j]";

fn under(nest: &Nest, condition: &str) -> Nest {
    step(nest, "specialize", &[Arg::Word(condition.to_owned())]).unwrap()
}

fn take(nest: &Nest, op: &str, l: &str, more: &[Arg]) -> Nest {
    let args = [Arg::Loop(l.into())]
        .into_iter()
        .chain(more.iter().cloned());
    step(nest, op, &args.collect::<Vec<_>>()).unwrap()
}

/// A product with plans that are wrong at all other sizes.
fn product() -> Nest {
    let naive = nest(PRODUCT).unwrap();
    let four = take(&under(&naive, "N == 4"), "unroll", "j", &[]);
    let whole = [Arg::Int(8), Arg::Word("exact".to_owned())];
    let eights = take(
        &under(&naive, "M % 8 == 0 && M >= 16"),
        "stripmine",
        "i",
        &whole,
    );
    let short = take(&naive, "stripmine", "k", &[Arg::Int(5)]);
    let short = take(&short, "parallelize", "k_o", &[]);
    let verdict = check(std::slice::from_ref(&short), Reductions::Strict);
    assert!(matches!(verdict, Verdict::Illegal(_)), "{verdict:?}");
    let needed = teml::legality::needs(std::slice::from_ref(&short), Reductions::Strict);
    assert_eq!(needed, Ok(Condition::parse("K <= 5").unwrap()));
    let short = under(&short, "K <= 5");
    let plans = [short, eights, four].into_iter();
    let chosen = plans.fold(naive, |nest, plan| {
        step(&nest, "prefer", &[Arg::Nest(plan)]).unwrap()
    });
    let all = std::slice::from_ref(&chosen);
    assert_eq!(check(all, Reductions::Strict), Verdict::Legal);
    chosen
}

#[test]
fn each_plan_runs_where_its_condition_holds() {
    let chosen = product();
    for (m, n, k) in [
        (3, 4, 9),
        (16, 4, 2),
        (24, 5, 9),
        (8, 5, 9),
        (15, 3, 5),
        (17, 3, 6),
        (1, 1, 1),
        (0, 4, 9),
        (32, 3, 0),
    ] {
        let numbers = |count: i64, from: f64| (0..count).map(|x| from + x as f64).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = (numbers(m * k, 1.0), numbers(k * n, -3.0));
        let expected: Vec<f64> = (0..m * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                (0..k)
                    .map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize])
                    .sum()
            })
            .collect();
        let inputs: Inputs = [("A", a), ("B", b)]
            .into_iter()
            .map(|(name, values)| {
                let values = Data::Values(Arc::new(Values::F64(values)));
                (Name::new(name).unwrap(), values)
            })
            .collect();
        let bench = Bench::from(Workbench {
            control: control(),
            inputs,
            ..Workbench::default()
        });
        let values = [("M", m), ("N", n), ("K", k)].map(|(name, v)| (Name::new(name).unwrap(), v));
        let results = run(&bench, &[chosen.at_sizes(&values)]).unwrap();
        let (_, found) = results.into_iter().find(|(t, _)| t.label() == "C").unwrap();
        assert_eq!(found, Values::F64(expected), "M = {m}, N = {n}, K = {k}");
    }
}

#[test]
fn variants_are_narrowed_and_chosen_among_others() {
    let all = std::slice::from_ref;
    let chosen = product();
    // 4 is not among these sizes, and the plan for multiples of 8 always runs.
    let narrow = under(&chosen, "N <= 3 && M % 16 == 0 && M >= 32");
    let conditions = |nest: &Nest| -> Vec<String> {
        let choices = nest.choices();
        choices
            .map(|(condition, _)| condition.to_string())
            .collect()
    };
    assert_eq!(
        conditions(&chosen),
        ["N == 4", "M >= 16 && M % 8 == 0", "K <= 5"]
    );
    assert_eq!(conditions(&narrow), [""; 0]);
    let loops = |nest: &Nest| {
        nest.loops()
            .iter()
            .map(|(_, l)| l.name.to_string())
            .collect()
    };
    let found: Vec<String> = loops(&narrow);
    assert_eq!(found[..2], ["i_o", "i_i"], "{narrow}");
    // Nothing asks for a size with one value.
    let five = under(&chosen, "K == 5 && N >= 2");
    assert_eq!(conditions(&five), ["N == 4", "M >= 16 && M % 8 == 0"]);
    assert_eq!(check(all(&five), Reductions::Strict), Verdict::Legal);
    let outer = step(
        &nest(PRODUCT).unwrap(),
        "prefer",
        &[Arg::Nest(five.clone())],
    )
    .unwrap();
    let expected = [
        "N == 4 && K == 5",
        "M >= 16 && M % 8 == 0 && K == 5 && N >= 2",
        "K == 5 && N >= 2",
    ];
    assert_eq!(conditions(&outer), expected);
    assert_eq!(check(all(&outer), Reductions::Strict), Verdict::Legal);
    for nest in [&five, &outer] {
        generate(all(nest), "kernel", Reductions::Strict).unwrap();
    }
}

/// D = A + beta C, where C does not matter if beta is 0.
const SCALED: &str = "
    size N
    f64 D[N], A[N], C[N], beta
    for i in 0..N
      D[i] = select(beta == 0, A[i], A[i] + beta * C[i])";

#[test]
fn plans_for_scalars_run_where_these_have_the_value() {
    let naive = nest(SCALED).unwrap();
    let zero = under(&naive, "beta == 0");
    let labels = |nest: &Nest| {
        nest.tensors()
            .iter()
            .map(|t| t.label().to_owned())
            .collect()
    };
    let used: Vec<String> = labels(&zero);
    assert_eq!(used, ["D", "A"], "{zero}");
    // A factor of 1 is left out.
    let one = under(&naive, "beta == 1");
    assert!(one.to_string().contains("D[i] = A[i] + C[i]"), "{one}");
    let zero = take(&zero, "stripmine", "i", &[Arg::Int(4)]);
    let chosen = [zero, one].into_iter().fold(naive, |nest, plan| {
        step(&nest, "prefer", &[Arg::Nest(plan)]).unwrap()
    });
    let all = std::slice::from_ref(&chosen);
    assert_eq!(check(all, Reductions::Strict), Verdict::Legal);
    for (beta, expected) in [(0.0, 1.0), (-0.0, 1.0), (1.0, 3.0), (2.5, 6.0)] {
        // Where beta is 0, nothing reads C.
        let c = if beta == 0.0 { f64::NAN } else { 2.0 };
        let inputs = [("A", 1.0), ("C", c), ("beta", beta)].map(|(name, value)| {
            let value = Data::Values(Arc::new(Values::F64(match name {
                "beta" => vec![value],
                _ => vec![value; 5],
            })));
            (Name::new(name).unwrap(), value)
        });
        let bench = Bench::from(Workbench {
            control: control(),
            inputs: inputs.into_iter().collect::<Inputs>(),
            ..Workbench::default()
        });
        let five = [(Name::new("N").unwrap(), 5)];
        let results = run(&bench, &[chosen.at_sizes(&five)]).unwrap();
        let (_, found) = results.into_iter().find(|(t, _)| t.label() == "D").unwrap();
        assert_eq!(found, Values::F64(vec![expected; 5]), "beta = {beta}");
    }
}

#[test]
fn a_plan_for_a_scalar_is_not_taken_where_the_kernel_changes_it() {
    let scaled = nest("f64 D[4], A[4], beta\nfor i in 0..4\n  D[i] = beta * A[i]").unwrap();
    let zero = under(&scaled, "beta == 1");
    let chosen = step(&scaled, "prefer", &[Arg::Nest(zero)]).unwrap();
    let before = nest("f64 beta, A[4]\nbeta = A[0]").unwrap();
    assert_eq!(Nest::plans(std::slice::from_ref(&chosen)).len(), 2);
    assert_eq!(Nest::plans(&[before, chosen]).len(), 1);
}
