//! `simplify`: the equational rules of TeIL §3.6, and random terms, whose values it keeps and whose
//! operations it does not add to.

use crate::config::config;
use crate::papers::terms::{indices, program, shapes, typed};
use crate::papers::{Choices, computed, elements, sizes};
use proptest::prelude::*;
use teml::analysis::work::flops;
use teml::ir::{Program, parse_expr};
use teml::lang::{self, Notation};
use teml::lower::build::build;
use teml::transform::simplify::{Rule, proves_equal, simplified, simplified_program};
use teml::transform::tensor::with_shapes;
use teml::verbs::{Bench, Workbench, equal};

fn operations(program: &Program) -> f64 {
    let nests = program.assignments().iter().map(|a| build(a).unwrap());
    nests.map(|nest| flops(&nest).unwrap()).sum()
}

fn teil(text: &str) -> Program {
    lang::read(Notation::Teil, text, &sizes(&[])).unwrap()
}

fn simple(text: &str) -> String {
    simplified_program(&teil(text), &[]).to_string()
}

const DECLARED: &str = "alloc input A : [3, 4] alloc input x : [4] alloc input u : [3] \
                        alloc input v : [3] alloc output y : [3] ";

/// The assignments of a text over [`DECLARED`], simplified.
fn lines(statement: &str) -> Vec<String> {
    let all = simple(&format!("{DECLARED} {statement}"));
    let lines = all.lines().filter(|line| line.contains('='));
    lines.map(str::to_owned).collect()
}

/// Eqs. 3 and 4: diagonals and transpositions are index expressions, in one form each.
#[test]
fn eqs_3_and_4_index_expressions_have_one_form() {
    let text = |value: &str| teil(&format!("{DECLARED} y = {value}")).assignments()[0].clone();
    assert_eq!(text("add u v"), text("add u v"));
    let square = "alloc input S : [3, 3] alloc output y : [3] ";
    let of = |value: &str| teil(&format!("{square} y = {value}")).assignments()[0].clone();
    assert_eq!(of("diag 1 2 (transp 1 2 S)"), of("diag 1 2 S"));
    assert_eq!(of("diag 1 2 (transp 1 2 (transp 1 2 S))"), of("diag 1 2 S"));
}

#[test]
fn eq_5_a_sum_of_what_does_not_change_is_a_multiple() {
    assert_eq!(lines("y = red+ 2 (expa 2 7 u)"), ["y[i1] = u[i1] * 7"]);
}

/// The rule of eq. 5 for the other reductions, also inside of another one.
#[test]
fn other_reductions_of_what_does_not_change_are_short() {
    assert_eq!(lines("y = redmax 2 (expa 2 7 u)"), ["y[i1] = u[i1]"]);
    assert_eq!(lines("y = redmin 2 (expa 2 7 u)"), ["y[i1] = u[i1]"]);
    assert_eq!(lines("y = red* 2 (expa 2 7 u)"), ["y[i1] = pow(u[i1], 7)"]);
    assert_eq!(lines("y = red* 2 (expa 2 1 u)"), ["y[i1] = u[i1]"]);
    assert_eq!(
        lines("y = redmin 2 (redmax 2 (expa 2 7 A))"),
        ["y[i1] = min(i2: A[i1][i2])"]
    );
}

#[test]
fn short_reductions_keep_values() {
    let values = [
        "red* 2 (expa 2 5 u)",
        "redmax 2 (redmin 2 (expa 2 5 A))",
        "red* 2 (expa 2 3 (red+ 2 A))",
        "red+ 2 (red* 2 (expa 2 3 A))",
    ];
    for value in values {
        let read = teil(&format!("{DECLARED} y = {value}"));
        let simple = simplified_program(&read, &[]);
        let expected = elements(&computed(&read), "y");
        assert_eq!(elements(&computed(&simple), "y"), expected, "{simple}");
        assert!(operations(&simple) < operations(&read), "{simple}");
    }
}

#[test]
fn factors_leave_sums() {
    let lines = lines("y = red+ 2 (mul (expa 2 4 u) A)");
    assert_eq!(
        lines,
        ["A2[i1] = sum(i2: A[i1][i2])", "y[i1] = u[i1] * A2[i1]"]
    );
}

#[test]
fn equal_products_are_joined() {
    let lines = lines("y = add (mul u v) (mul v u)");
    assert_eq!(lines, ["y[i1] = v[i1] * (u[i1] + u[i1])"]);
}

#[test]
fn iterators_of_one_name_keep_their_ranges() {
    let text = "f64 s[3], x[3], A[4], B[5]\n\
                s[i] = x[i] * sum(k: A[k]) + x[i] * sum(k: B[k])";
    let assignment = with_shapes(&parse_expr(text).unwrap()).unwrap();
    let made = simplified(&assignment, &[], &mut Vec::new());
    let made: Vec<String> = made.iter().map(ToString::to_string).collect();
    let last = |text: &String| text.lines().last().unwrap().to_owned();
    assert_eq!(
        made.iter().map(last).collect::<Vec<_>>(),
        [
            "A2 = sum(k: A[k])",
            "B2 = sum(k_2: B[k_2])",
            "s[i] = x[i] * (A2 + B2)"
        ]
    );
}

/// Integers that are compared beside floating-point numbers are divided as integers.
#[test]
fn numbers_of_another_type_keep_their_rules() {
    let of = |condition: &str| {
        let text =
            format!("f64 y[9], x[9]\ni64 n[9]\ny[i] = select({condition} == n[i], x[i], x[i] + 1)");
        with_shapes(&parse_expr(&text).unwrap()).unwrap()
    };
    let [exact, rounded] = [of("2 * n[i] / 2"), of("2 * (n[i] / 2)")];
    let same = std::slice::from_ref(&exact);
    assert!(proves_equal(same, same, &[]));
    assert!(!proves_equal(&[exact], &[rounded], &[]));
}

/// `simplify` finds the steps of `lift` by itself: d of 2 n^(d + 1) operations (TeIL, §5).
#[test]
fn operators_are_lifted() {
    for operators in ["A*B", "A*B*C"] {
        let d = operators.split('*').count() as i32;
        let extents = vec!["n"; d as usize].join(", ");
        let text = format!(
            "auto A = Matrix(n, n), B = Matrix(n, n), C = Matrix(n, n);\n\
             auto u = Tensor<{d}>({extents});\nauto v = ({operators})(u);"
        );
        let read = lang::read(Notation::Operators, &text, &sizes(&[("n", 6)])).unwrap();
        let steps = f64::from(d) * 2.0 * 6f64.powi(d + 1);
        let simple = simplified_program(&read, &[]);
        assert_eq!(operations(&simple), steps, "{text}\n{simple}");
    }
}

fn keeps_values(numbers: &[u32], is_model: bool, rules: &[Rule]) -> Result<(), TestCaseError> {
    let mut choices = Choices(numbers.iter());
    let shapes = shapes(&mut choices);
    let (term, shape) = typed(&mut choices, &shapes, 4, is_model);
    let (notation, text) = if is_model {
        let text = program(&shapes, &shape, &term.model(), true);
        (Notation::Model, text)
    } else {
        (
            Notation::Teil,
            program(&shapes, &shape, &term.teil(), false),
        )
    };
    let read = lang::read(notation, &text, &sizes(&[]));
    let read = read.map_err(|problems| TestCaseError::fail(format!("{text}\n{problems:?}")))?;
    let simple = simplified_program(&read, rules);
    let expected: Vec<f64> = indices(&shape)
        .iter()
        .map(|index| term.at(&shapes, index))
        .collect();
    prop_assert_eq!(
        elements(&computed(&simple), "X"),
        expected,
        "{}\n{}",
        text,
        simple
    );
    prop_assert!(
        operations(&simple) <= operations(&read),
        "{text}\n{read}\n{simple}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn simplified_terms_keep_their_values(
        numbers in prop::collection::vec(any::<u32>(), 0..60)
    ) {
        keeps_values(&numbers, false, &[])?;
        keeps_values(&numbers, true, &[])?;
    }
}

/// Rules that hold for whole numbers in any place.
const SOUND: &[[&str; 2]] = &[
    ["a + b", "b + a"],
    ["a - b", "a + neg(b)"],
    ["a*(b - c)", "a*b - a*c"],
    ["a*b - a*c", "a*(b - c)"],
    ["a + a", "2*a"],
    ["neg(a)*b", "neg(a*b)"],
    ["a - (b - c)", "a - b + c"],
    ["sum(k: a*b[k])", "a*sum(k: b[k])"],
    ["a*sum(k: b[k])", "sum(k: a*b[k])"],
    ["sum(k: a[k] - b[k])", "sum(k: a[k]) - sum(k: b[k])"],
    ["sum(k, l: a[k][l])", "sum(l: sum(k: a[k][l]))"],
];

/// Rules that are wrong for most numbers.
const UNSOUND: &[[&str; 2]] = &[
    ["a + b", "a"],
    ["a - b", "b - a"],
    ["a*b", "a + b"],
    ["a*b", "a"],
    ["sum(k: a[k])", "2*sum(k: a[k])"],
    ["sum(k: a[k]*b[k])", "sum(k: a[k])*sum(k: b[k])"],
    ["sum(k: a[k] + b)", "sum(k: a[k]) + b"],
    ["neg(a)", "a"],
];

fn chosen(rules: &[[&str; 2]], picks: &[prop::sample::Index]) -> Vec<Rule> {
    let picks = picks.iter().map(|pick| pick.get(rules));
    picks
        .map(|[from, to]| Rule::new(from, to).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn sound_rules_of_users_keep_values(
        numbers in prop::collection::vec(any::<u32>(), 0..60),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let rules = chosen(SOUND, &picks);
        keeps_values(&numbers, false, &rules)?;
    }

    /// `equal` does not believe what a wrong rule has made.
    #[test]
    fn unsound_rules_are_found(
        numbers in prop::collection::vec(any::<u32>(), 0..60),
        pick in any::<prop::sample::Index>(),
    ) {
        let rules = chosen(UNSOUND, &[pick]);
        let mut choices = Choices(numbers.iter());
        let shapes = shapes(&mut choices);
        let (term, shape) = typed(&mut choices, &shapes, 4, false);
        let text = program(&shapes, &shape, &term.teil(), false);
        let read = lang::read(Notation::Teil, &text, &sizes(&[])).unwrap();
        let bench = Bench::from(Workbench::default());
        let verdicts = read.assignments().iter().map(|assignment| {
            let made = simplified(assignment, &rules, &mut Vec::new());
            equal(&bench, std::slice::from_ref(assignment), &made, &[]).unwrap().holds()
        });
        let believed = verdicts.collect::<Vec<_>>().into_iter().all(|holds| holds);
        let values = |rules: &[Rule]| elements(&computed(&simplified_program(&read, rules)), "X");
        prop_assert!(!believed || values(&rules) == values(&[]), "{} {:?}", text, rules);
    }
}
