//! Random programs of the model language and of TeIL. A program with a type runs and computes the
//! papers' definitions (progress and safety: Theorem 1 of the model language, Theorem 4.6 of TeIL).
//! A program without one is rejected with the rule.
//!
//! The evaluator is Fig. 6 of TeIL, element by element; it shares nothing with the tool. Shifts are
//! beyond the paper.

use crate::config::config;
use crate::papers::{Choices, computed, element, elements, sizes};
use proptest::prelude::*;
use teml::lang::{self, Notation};

/// A term, dimensions counted from 0.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Variable(usize),
    Add(Box<Term>, Box<Term>),
    Subtract(Box<Term>, Box<Term>),
    Multiply(Box<Term>, Box<Term>),
    Product(Box<Term>, Box<Term>),
    Sum(usize, Box<Term>),
    Greatest(usize, Box<Term>),
    Transpose(usize, usize, Box<Term>),
    Diagonal(usize, usize, Box<Term>),
    Expand(usize, u64, Box<Term>),
    Project(usize, u64, Box<Term>),
    Contract(usize, usize, Box<Term>),
    Shift(usize, i64, Box<Term>),
}

pub(crate) const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// The shapes of the variables.
pub(crate) type Shapes = Vec<Vec<u64>>;

/// A term with its type, from choices.
pub(crate) fn typed(
    choices: &mut Choices,
    shapes: &Shapes,
    depth: usize,
    is_model: bool,
) -> (Term, Vec<u64>) {
    if depth == 0 || choices.below(6) == 0 {
        let k = choices.below(shapes.len());
        return (Term::Variable(k), shapes[k].clone());
    }
    let (of, shape) = typed(choices, shapes, depth - 1, is_model);
    let rank = shape.len();
    let of = Box::new(of);
    let equal: Vec<(usize, usize)> = (0..rank)
        .flat_map(|m| (m + 1..rank).map(move |n| (m, n)))
        .filter(|(m, n)| shape[*m] == shape[*n])
        .collect();
    let without = |gone: &[usize]| -> Vec<u64> {
        let kept = shape.iter().enumerate().filter(|(k, _)| !gone.contains(k));
        kept.map(|(_, extent)| *extent).collect()
    };
    match choices.below(if is_model { 5 } else { 11 }) {
        0 => {
            let twin = of.clone();
            let op = match choices.below(3) {
                0 => Term::Add(of, twin),
                1 => Term::Subtract(of, twin),
                _ => Term::Multiply(of, twin),
            };
            (op, shape)
        }
        1 => {
            let (other, more) = typed(choices, shapes, depth - 1, is_model);
            if rank + more.len() > 5 {
                return (*of, shape);
            }
            let all = shape.iter().chain(&more).copied().collect();
            (Term::Product(of, Box::new(other)), all)
        }
        2 | 3 if !equal.is_empty() => {
            let (m, n) = equal[choices.below(equal.len())];
            (Term::Contract(m, n, of), without(&[m, n]))
        }
        4 if rank > 1 => {
            let (m, n) = (choices.below(rank), choices.below(rank));
            let mut swapped = shape.clone();
            swapped.swap(m, n);
            (Term::Transpose(m, n, of), swapped)
        }
        5 if rank > 0 => {
            let k = choices.below(rank);
            (Term::Sum(k, of), without(&[k]))
        }
        6 if rank > 0 => {
            let k = choices.below(rank);
            (Term::Greatest(k, of), without(&[k]))
        }
        7 if !equal.is_empty() => {
            let (m, n) = equal[choices.below(equal.len())];
            (Term::Diagonal(m, n, of), without(&[n]))
        }
        8 if rank < 5 => {
            let (k, extent) = (choices.below(rank + 1), choices.below(3) as u64 + 1);
            let mut longer = shape.clone();
            longer.insert(k, extent);
            (Term::Expand(k, extent, of), longer)
        }
        9 if rank > 0 => {
            let k = choices.below(rank);
            let at = choices.below(shape[k] as usize) as u64;
            (Term::Project(k, at, of), without(&[k]))
        }
        10 if rank > 0 => {
            let k = choices.below(rank);
            let most = shape[k] as i64 - 1;
            let by = choices.below(2 * most as usize + 1) as i64 - most;
            (Term::Shift(k, by, of), shape)
        }
        _ => (*of, shape),
    }
}

impl Term {
    /// In TeIL.
    pub(crate) fn teil(&self) -> String {
        match self {
            Term::Variable(k) => NAMES[*k].to_owned(),
            Term::Add(a, b) => format!("(add {} {})", a.teil(), b.teil()),
            Term::Subtract(a, b) => format!("(sub {} {})", a.teil(), b.teil()),
            Term::Multiply(a, b) => format!("(mul {} {})", a.teil(), b.teil()),
            Term::Product(a, b) => format!("(prod {} {})", a.teil(), b.teil()),
            Term::Sum(k, of) => format!("(red+ {} {})", k + 1, of.teil()),
            Term::Greatest(k, of) => format!("(redmax {} {})", k + 1, of.teil()),
            Term::Transpose(m, n, of) => format!("(transp {} {} {})", m + 1, n + 1, of.teil()),
            Term::Diagonal(m, n, of) => format!("(diag {} {} {})", m + 1, n + 1, of.teil()),
            Term::Expand(k, n, of) => format!("(expa {} {n} {})", k + 1, of.teil()),
            Term::Project(k, at, of) => format!("(proj {} {} {})", k + 1, at + 1, of.teil()),
            Term::Contract(m, n, of) => format!("(contr {} {} {})", m + 1, n + 1, of.teil()),
            Term::Shift(k, by, of) => format!("(shift {} {by} {})", k + 1, of.teil()),
        }
    }

    /// In the model language; only terms made for it.
    pub(crate) fn model(&self) -> String {
        match self {
            Term::Variable(k) => NAMES[*k].to_owned(),
            Term::Add(a, b) => format!("({} + {})", a.model(), b.model()),
            Term::Subtract(a, b) => format!("({} - {})", a.model(), b.model()),
            Term::Multiply(a, b) => format!("({} * {})", a.model(), b.model()),
            Term::Product(a, b) => format!("({} # {})", a.model(), b.model()),
            Term::Transpose(m, n, of) => format!("({} ^ [{} {}])", of.model(), m + 1, n + 1),
            Term::Contract(m, n, of) => format!("({} . [{} {}])", of.model(), m + 1, n + 1),
            _ => unreachable!("not in the model language"),
        }
    }

    fn rank(&self, shapes: &Shapes) -> usize {
        self.shape(shapes).len()
    }

    fn shape(&self, shapes: &Shapes) -> Vec<u64> {
        match self {
            Term::Variable(k) => shapes[*k].clone(),
            Term::Add(a, _) | Term::Subtract(a, _) | Term::Multiply(a, _) => a.shape(shapes),
            Term::Product(a, b) => [a.shape(shapes), b.shape(shapes)].concat(),
            Term::Sum(k, of) | Term::Greatest(k, of) | Term::Project(k, _, of) => {
                let mut shape = of.shape(shapes);
                shape.remove(*k);
                shape
            }
            Term::Transpose(m, n, of) => {
                let mut shape = of.shape(shapes);
                shape.swap(*m, *n);
                shape
            }
            Term::Diagonal(_, n, of) => {
                let mut shape = of.shape(shapes);
                shape.remove(*n);
                shape
            }
            Term::Shift(_, _, of) => of.shape(shapes),
            Term::Expand(k, extent, of) => {
                let mut shape = of.shape(shapes);
                shape.insert(*k, *extent);
                shape
            }
            Term::Contract(m, n, of) => {
                let mut shape = of.shape(shapes);
                shape.remove(*n);
                shape.remove(*m);
                shape
            }
        }
    }

    /// The element at an index: TeIL, Fig. 6.
    pub(crate) fn at(&self, shapes: &Shapes, index: &[u64]) -> f64 {
        let with = |places: &[(usize, u64)]| {
            let mut index = index.to_vec();
            for (place, value) in places {
                index.insert(*place, *value);
            }
            index
        };
        match self {
            Term::Variable(k) => {
                let flat = index
                    .iter()
                    .zip(&shapes[*k])
                    .fold(0, |flat, (i, n)| flat * n + i);
                element(NAMES[*k], flat)
            }
            Term::Add(a, b) => a.at(shapes, index) + b.at(shapes, index),
            Term::Subtract(a, b) => a.at(shapes, index) - b.at(shapes, index),
            Term::Multiply(a, b) => a.at(shapes, index) * b.at(shapes, index),
            Term::Product(a, b) => {
                let (left, right) = index.split_at(a.rank(shapes));
                a.at(shapes, left) * b.at(shapes, right)
            }
            Term::Sum(k, of) => {
                let extent = of.shape(shapes)[*k];
                (0..extent).map(|i| of.at(shapes, &with(&[(*k, i)]))).sum()
            }
            Term::Greatest(k, of) => {
                let extent = of.shape(shapes)[*k];
                let all = (0..extent).map(|i| of.at(shapes, &with(&[(*k, i)])));
                all.fold(f64::NEG_INFINITY, f64::max)
            }
            Term::Transpose(m, n, of) => {
                let mut index = index.to_vec();
                index.swap(*m, *n);
                of.at(shapes, &index)
            }
            Term::Diagonal(m, n, of) => of.at(shapes, &with(&[(*n, index[*m])])),
            Term::Expand(k, _, of) => {
                let mut index = index.to_vec();
                index.remove(*k);
                of.at(shapes, &index)
            }
            Term::Project(k, at, of) => of.at(shapes, &with(&[(*k, *at)])),
            Term::Shift(k, by, of) => {
                let (extent, from) = (of.shape(shapes)[*k], index[*k] as i64 - by);
                let mut index = index.to_vec();
                index[*k] = match u64::try_from(from) {
                    Ok(from) if from < extent => from,
                    _ => return 0.0,
                };
                of.at(shapes, &index)
            }
            Term::Contract(m, n, of) => {
                let extent = of.shape(shapes)[*m];
                (0..extent)
                    .map(|i| of.at(shapes, &with(&[(*m, i), (*n, i)])))
                    .sum()
            }
        }
    }
}

pub(crate) fn shapes(choices: &mut Choices) -> Shapes {
    (0..NAMES.len())
        .map(|_| {
            let rank = choices.below(4);
            (0..rank).map(|_| choices.below(3) as u64 + 1).collect()
        })
        .collect()
}

pub(crate) fn list(shape: &[u64], separator: &str) -> String {
    let texts: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", texts.join(separator))
}

pub(crate) fn program(shapes: &Shapes, result: &[u64], value: &str, is_model: bool) -> String {
    let (word, separator) = if is_model {
        ("var", " ")
    } else {
        ("alloc", ", ")
    };
    let mut lines: Vec<String> = NAMES
        .iter()
        .zip(shapes)
        .map(|(name, shape)| format!("{word} input {name} : {}", list(shape, separator)))
        .collect();
    lines.push(format!("{word} output X : {}", list(result, separator)));
    lines.push(format!("X = {value}"));
    lines.join("\n")
}

/// All indices of a shape, row-major.
pub(crate) fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![Vec::new()], |found, extent| {
        let each = found
            .into_iter()
            .flat_map(|index| (0..*extent).map(move |i| [index.clone(), vec![i]].concat()));
        each.collect()
    })
}

fn is_right(numbers: &[u32], is_model: bool) -> Result<(), TestCaseError> {
    let mut choices = Choices(numbers.iter());
    let shapes = shapes(&mut choices);
    let (term, shape) = typed(&mut choices, &shapes, 4, is_model);
    let (notation, value) = if is_model {
        (Notation::Model, term.model())
    } else {
        (Notation::Teil, term.teil())
    };
    let text = program(&shapes, &shape, &value, is_model);
    let read = lang::read(notation, &text, &sizes(&[]));
    let read = read.map_err(|problems| TestCaseError::fail(format!("{text}\n{problems:?}")))?;
    let expected: Vec<f64> = indices(&shape)
        .iter()
        .map(|index| term.at(&shapes, index))
        .collect();
    prop_assert_eq!(
        elements(&computed(&read), "X"),
        expected.clone(),
        "{}",
        text
    );
    // The program is the same in another notation.
    for notation in [Notation::Model, Notation::Teil, Notation::Sac] {
        let Ok(written) = lang::written(&read, notation) else {
            continue;
        };
        let again = lang::read(notation, &written, &sizes(&[]));
        let again = again
            .map_err(|problems| TestCaseError::fail(format!("{text}\n{written}\n{problems:?}")))?;
        prop_assert_eq!(
            elements(&computed(&again), "X"),
            expected.clone(),
            "{}\n{}",
            text,
            written
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn well_typed_programs_of_the_model_language_compute_their_definition(
        numbers in prop::collection::vec(any::<u32>(), 0..60)
    ) {
        is_right(&numbers, true)?;
    }

    #[test]
    fn well_typed_programs_of_teil_compute_their_definition(
        numbers in prop::collection::vec(any::<u32>(), 0..60)
    ) {
        is_right(&numbers, false)?;
    }

    /// Breaks one operation; the message names the rule that it violates.
    #[test]
    fn programs_without_a_type_are_rejected_with_the_rule(
        numbers in prop::collection::vec(any::<u32>(), 0..60),
        fault in 0usize..10,
    ) {
        let mut choices = Choices(numbers.iter());
        let shapes = shapes(&mut choices);
        let (term, shape) = typed(&mut choices, &shapes, 3, false);
        let (of, rank) = (term.teil(), shape.len());
        let unequal = (0..rank)
            .flat_map(|m| (m + 1..rank).map(move |n| (m, n)))
            .find(|(m, n)| shape[*m] != shape[*n]);
        let (value, rule) = match (fault, unequal) {
            (0, Some((m, n))) => (format!("diag {} {} {of}", m + 1, n + 1), "t-diag"),
            (1, Some((m, n))) => (format!("contr {} {} {of}", m + 1, n + 1), "t-contr"),
            (2, _) => (format!("red+ {} {of}", rank + 1), "t-red"),
            (3, _) => (format!("transp 1 {} {of}", rank + 1), "t-trans"),
            (4, _) if rank > 0 => (format!("proj {rank} {} {of}", shape[rank - 1] + 1), "t-proj"),
            (5, _) => (format!("expa {} 2 {of}", rank + 2), "t-expa"),
            (7, _) if rank > 0 => (format!("shift 1 -{} {of}", shape[0]), "t-shift"),
            (8, _) => (format!("shift {} 0 {of}", rank + 1), "t-shift"),
            (6, _) if rank > 0 => (format!("add {of} (proj 1 1 {of})"), "t-elem"),
            _ => (format!("add {of} Y"), "t-var"),
        };
        let text = program(&shapes, &shape, &value, false);
        let problems = lang::read(Notation::Teil, &text, &sizes(&[])).expect_err(&text);
        let rules: Vec<_> = problems.iter().filter_map(|p| p.rule).collect();
        prop_assert!(rules.contains(&rule), "{}\n{:?}", text, problems);
    }

    /// Dead code and common subexpressions change no output.
    #[test]
    fn steps_on_programs_keep_the_outputs(numbers in prop::collection::vec(any::<u32>(), 0..80)) {
        let mut choices = Choices(numbers.iter());
        let shapes = shapes(&mut choices);
        let terms: Vec<(Term, Vec<u64>)> =
            (0..3).map(|_| typed(&mut choices, &shapes, 3, false)).collect();
        let mut lines: Vec<String> = NAMES
            .iter()
            .zip(&shapes)
            .map(|(name, shape)| format!("alloc input {name} : {}", list(shape, ", ")))
            .collect();
        for (k, (_, shape)) in terms.iter().enumerate() {
            let role = if k == 0 { "" } else { "output " };
            lines.push(format!("alloc {role}X{k} : {}", list(shape, ", ")));
        }
        let again = terms.iter().enumerate().chain([(2, &terms[2])]);
        lines.extend(again.map(|(k, (term, _))| format!("X{k} = {}", term.teil())));
        let text = lines.join("\n");
        let program = lang::read(Notation::Teil, &text, &sizes(&[]));
        let program = program.map_err(|p| TestCaseError::fail(format!("{text}\n{p:?}")))?;
        let before = computed(&program);
        use teml::transform::{lift, program as steps};
        let live = steps::without_dead_code(&program);
        prop_assert!(live.assignments().len() < program.assignments().len());
        let shared = steps::without_common_subexpressions(&live);
        let lifted = lift::lifted(&live).map_err(|e| TestCaseError::fail(e.to_string()))?;
        for (step, made) in [("live", live), ("shared", shared), ("lifted", lifted)] {
            let after = computed(&made);
            for name in ["X1", "X2"] {
                let (old, new) = (elements(&before, name), elements(&after, name));
                prop_assert_eq!(old, new, "{} of\n{}\n{}", step, text, made);
            }
        }
    }
}
