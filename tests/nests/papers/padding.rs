//! Padded storage: Theorems 2 and 3 of the model language, over random programs with divisions.
//!
//! The expected values are those of the paper's evaluation without padding, with the undefined
//! value of Defs. 3, 4 and 8, which `None` is here.

use crate::config::config;
use crate::papers::terms::{NAMES, Shapes, Term, indices, list, shapes, typed};
use crate::papers::{Choices, computed, element, elements, sizes};
use proptest::prelude::*;
use teml::lang::{self, Notation};
use teml::transform::padding::{NotPadded, padded};

/// Controlled division (Defs. 4 and 8): 0 over anything is 0, and anything else over 0 undefined.
fn quotient(a: f64, b: f64) -> Option<f64> {
    match (a, b) {
        (0.0, _) => Some(0.0),
        (_, 0.0) => None,
        _ => Some(a / b),
    }
}

/// `X = term`, or `X = term / divisor`, and `Y = X` contracted with itself or transposed.
fn text(shapes: &Shapes, shape: &[u64], value: &str) -> String {
    let declared = NAMES.iter().zip(shapes);
    let mut lines: Vec<String> = declared
        .map(|(name, shape)| format!("var input {name} : {}", list(shape, " ")))
        .collect();
    lines.push(format!("var output X : {}", list(shape, " ")));
    lines.push(format!("X = {value}"));
    lines.join("\n")
}

fn simulates(numbers: &[u32]) -> Result<(), TestCaseError> {
    let mut choices = Choices(numbers.iter());
    let multiple = choices.below(5) as u64 + 1;
    let shapes = shapes(&mut choices);
    let (term, shape) = typed(&mut choices, &shapes, 4, true);
    let fits = |k: &usize| shapes[*k] == shape || shapes[*k].is_empty();
    let divisors: Vec<usize> = (0..NAMES.len()).filter(fits).collect();
    let divisor = if divisors.is_empty() || choices.below(2) == 0 {
        None
    } else {
        Some(divisors[choices.below(divisors.len())])
    };
    let value = match divisor {
        Some(k) => format!("({}) / {}", term.model(), NAMES[k]),
        None => term.model(),
    };
    let text = text(&shapes, &shape, &value);
    let read = lang::read(Notation::Model, &text, &sizes(&[]));
    let read = read.map_err(|problems| TestCaseError::fail(format!("{text}\n{problems:?}")))?;
    // Progress (Theorem 2): all operations of the language keep zeros.
    let wide = padded(&read, multiple);
    let wide = wide.map_err(|error| TestCaseError::fail(format!("{text}\n{error}")))?;
    let store = computed(&wide);
    let found = elements(&store, "X");
    for (flat, index) in indices(&shape).iter().enumerate() {
        let whole = term.at(&shapes, index);
        let expected = match divisor {
            None => Some(whole),
            Some(k) => {
                let at: &[u64] = if shapes[k].is_empty() { &[] } else { index };
                quotient(whole, Term::Variable(k).at(&shapes, at))
            }
        };
        // Simulation (Theorem 3).
        if let Some(expected) = expected {
            prop_assert_eq!(found[flat], expected, "{}\n{}", text, wide);
        }
    }
    // The store stays padded with zeros (Theorem 2).
    for variable in wide.variables() {
        let label = variable.tensor.label();
        let extents = variable.tensor.shape().extents();
        prop_assert!(!label.contains("padded") || extents.iter().all(|e| e % multiple == 0));
        let Some(plain) = label.strip_suffix("_padded") else {
            continue;
        };
        let own = match NAMES.iter().position(|name| *name == plain) {
            Some(k) => &shapes[k],
            None => &shape,
        };
        let held = elements(&store, label);
        for (flat, index) in indices(extents).iter().enumerate() {
            let is_beyond = index.iter().zip(own).any(|(i, n)| i >= n);
            prop_assert!(
                !is_beyond || held[flat] == 0.0,
                "{label}{index:?}\n{text}\n{wide}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn padded_storage_simulates_the_program(
        numbers in prop::collection::vec(any::<u32>(), 0..60)
    ) {
        simulates(&numbers)?;
    }
}

/// The elements that tests give to inputs have zeros, so that quotients are undefined at times.
#[test]
fn some_inputs_are_zero() {
    assert!((0..5).any(|k| element("A", k) == 0.0));
}

fn refusal(notation: Notation, text: &str) -> NotPadded {
    let read = lang::read(notation, text, &sizes(&[])).unwrap();
    padded(&read, 4).unwrap_err()
}

#[test]
fn what_loses_zeros_is_refused() {
    let expanded = "alloc x : [5] alloc A : [5, 3] A = expa 2 3 x";
    let least = "alloc A : [5, 3] alloc x : [5] x = redmin 2 A";
    let neighbors = "double[9] v; w = { [i] -> v[i] + v[i + 1] | [0] <= [i] < [8] };";
    for (notation, text, words) in [
        (Notation::Teil, expanded, "is not 0 where"),
        (Notation::Teil, least, "only sums gain nothing"),
        (Notation::Sac, neighbors, "may reach zeros"),
    ] {
        let message = refusal(notation, text).to_string();
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn a_padded_program_reads_well() {
    let text = "var input A : [5 7] var input x : [7] var output y : [5] y = (A # x).[2 3]";
    let read = lang::read(Notation::Model, text, &sizes(&[])).unwrap();
    insta::assert_snapshot!(padded(&read, 8).unwrap(), @r"
    input f64 A[5][7]
    f64 A_padded[8][8]
    input f64 x[7]
    f64 x_padded[8]
    output f64 y[5]
    f64 y_padded[8]
    A_padded[i1][i2] = A[i1][i2] where i1 in 0..5, i2 in 0..7 elsewhere 0
    x_padded[i1] = x[i1] where i1 in 0..7 elsewhere 0
    y_padded[i1] = sum(i2: A_padded[i1][i2] * x_padded[i2])
    y[i1] = y_padded[i1] where i1 in 0..5
    ");
}
