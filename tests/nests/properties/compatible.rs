//! Exact compatibility (Ullrich, Def. 2), compared with his type system (Figs. 6 and 7) on random
//! expressions of his language.

use crate::config::config;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use teml::analysis::shape::IteratorRange;
use teml::ir::{Index, Name, Node, parse_expr};
use teml::legality::{InPlace, in_place};

/// An expression of the language of the thesis; tensors other than x are named after their rank.
#[derive(Clone, Debug)]
enum Term {
    Target,
    Other(usize),
    /// `e0 # e1`.
    Product(Box<Term>, Box<Term>),
    /// `e ^ [m n]`, counted from 0.
    Transposed(Box<Term>, usize, usize),
    /// `e . [m n]`, counted from 0, with m < n.
    Contracted(Box<Term>, usize, usize),
    /// Element by element, or with a number on the left.
    Entrywise(char, Box<Term>, Box<Term>),
}

/// The rank of the term, if it has one; all dimensions have the same extent.
fn rank(term: &Term, of_target: usize) -> Option<usize> {
    let rank = |term: &Term| rank(term, of_target);
    match term {
        Term::Target => Some(of_target),
        Term::Other(rank) => Some(*rank),
        Term::Product(one, two) => Some(rank(one)? + rank(two)?).filter(|r| *r <= 5),
        Term::Transposed(term, m, n) => rank(term).filter(|r| m < r && n < r),
        Term::Contracted(term, m, n) => {
            let inner = rank(term).filter(|r| m < n && n < r)?;
            Some(inner - 2)
        }
        Term::Entrywise(op, one, two) => match (rank(one)?, rank(two)?) {
            (a, b) if a == b => Some(a),
            (0, b) if *op == '*' => Some(b),
            _ => None,
        },
    }
}

/// Indices of the sums in what comes; none is used twice.
fn fresh(next: &Cell<usize>) -> String {
    next.set(next.get() + 1);
    format!("l{}", next.get())
}

/// The indices inside of a contraction.
fn inserted(at: &[String], m: usize, n: usize, index: &str) -> Vec<String> {
    let mut at = at.to_vec();
    at.insert(m, index.to_owned());
    at.insert(n, index.to_owned());
    at
}

/// The rules of Figs. 6 and 7, from the bottom: whether the term may be accessed at `at` while x
/// is assigned at `assigned`.
fn accepts(
    term: &Term,
    assigned: &[String],
    at: &[String],
    of_target: usize,
    next: &Cell<usize>,
) -> bool {
    let rank = |term: &Term| rank(term, of_target).expect("it has one");
    let accepts = |term: &Term, at: &[String]| accepts(term, assigned, at, of_target, next);
    match term {
        // tc-var-xx, tc-var-xy
        Term::Target => at == assigned,
        Term::Other(_) => true,
        // tc-prod
        Term::Product(one, two) => {
            let (left, right) = at.split_at(rank(one));
            accepts(one, left) && accepts(two, right)
        }
        // tc-trans
        Term::Transposed(term, m, n) => {
            let mut at = at.to_vec();
            at.swap(*m, *n);
            accepts(term, &at)
        }
        // tc-contr
        Term::Contracted(term, m, n) => accepts(term, &inserted(at, *m, *n, &fresh(next))),
        // tc-elem, tc-smul
        Term::Entrywise(_, one, two) => {
            let left = if rank(one) == at.len() { at } else { &[] };
            accepts(one, left) && accepts(two, at)
        }
    }
}

/// The value of the term at `at`: eval of Fig. 5, as a text.
fn text(term: &Term, at: &[String], of_target: usize, next: &Cell<usize>) -> String {
    let rank = |term: &Term| rank(term, of_target).expect("it has one");
    let text = |term: &Term, at: &[String]| text(term, at, of_target, next);
    let access = |name: &str| {
        let index: String = at.iter().map(|i| format!("[{i}]")).collect();
        let index = if at.is_empty() {
            "[]".to_owned()
        } else {
            index
        };
        format!("{name}{index}")
    };
    match term {
        Term::Target => access("x"),
        Term::Other(rank) => access(&format!("y{rank}")),
        Term::Product(one, two) => {
            let (left, right) = at.split_at(rank(one));
            format!("({} * {})", text(one, left), text(two, right))
        }
        Term::Transposed(term, m, n) => {
            let mut at = at.to_vec();
            at.swap(*m, *n);
            text(term, &at)
        }
        Term::Contracted(term, m, n) => {
            let index = fresh(next);
            let inner = text(term, &inserted(at, *m, *n, &index));
            format!("sum({index}: {inner})")
        }
        Term::Entrywise(op, one, two) => {
            let left = if rank(one) == at.len() { at } else { &[] };
            format!("({} {op} {})", text(one, left), text(two, at))
        }
    }
}

fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![2 => Just(Term::Target), 1 => (0..=3usize).prop_map(Term::Other)];
    leaf.prop_recursive(5, 12, 2, |inner| {
        let two = || (inner.clone(), inner.clone()).prop_map(|(a, b)| (Box::new(a), Box::new(b)));
        let dimensions = (0..4usize, 0..4usize);
        prop_oneof![
            2 => two().prop_map(|(a, b)| Term::Product(a, b)),
            2 => (two(), prop::sample::select(vec!['+', '-', '*']))
                .prop_map(|((a, b), op)| Term::Entrywise(op, a, b)),
            1 => (inner.clone(), dimensions.clone())
                .prop_map(|(t, (m, n))| Term::Transposed(Box::new(t), m, n)),
            2 => (inner, dimensions)
                .prop_map(|(t, (m, n))| Term::Contracted(Box::new(t), m.min(n), m.max(n))),
        ]
    })
}

/// Whether `x = term` is compatible by Def. 2, decided exactly.
fn is_compatible(term: &Term, rank: usize, extent: i64) -> bool {
    let assigned: Vec<String> = ["i", "j"][..rank].iter().map(|s| (*s).to_owned()).collect();
    let next = Cell::new(0);
    let value = text(term, &assigned, rank, &next);
    let tensor = |name: &str, rank: usize| {
        let extents = match rank {
            0 => "[]".to_owned(),
            rank => format!("[{extent}]").repeat(rank),
        };
        format!("{name}{extents}")
    };
    let mut declared = vec![tensor("x", rank)];
    declared.extend((0..=3).map(|rank| tensor(&format!("y{rank}"), rank)));
    let target: String = assigned.iter().map(|i| format!("[{i}]")).collect();
    let assignment = format!("f64 {}\nx{target} = {value}", declared.join(", "));
    let assignment = parse_expr(&assignment).unwrap_or_else(|e| panic!("{e}\n{assignment}"));
    let Node::Assign { target, value, .. } = assignment.node() else {
        panic!("{assignment}");
    };
    let Node::Access { tensor, index } = target.node() else {
        panic!("{assignment}");
    };
    let range = |name: &str| IteratorRange {
        name: Name::new(name).unwrap(),
        low: 0,
        high: extent,
        alone: None,
        given: None,
    };
    let own: Vec<IteratorRange> = assigned.iter().map(|i| range(i)).collect();
    let others: Vec<IteratorRange> = (1..=next.get()).map(|k| range(&format!("l{k}"))).collect();
    let Index::At(index) = index else {
        panic!("{assignment}");
    };
    let found = in_place(tensor, index, value, &own, &others);
    matches!(found, Ok(InPlace::Compatible { .. }))
}

/// Conjecture 1 says that it accepts nothing else either, for two or more elements.
#[test]
fn the_type_system_of_the_thesis_accepts_what_is_compatible() {
    let counts: [Cell<u32>; 2] = Default::default();
    let [accepted, refused] = &counts;
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(ProptestConfig {
        max_global_rejects: 1 << 20,
        ..config(600)
    });
    let cases = (1..=2usize, term());
    let result = runner.run(&cases, |(of_target, term)| {
        prop_assume!(rank(&term, of_target) == Some(of_target));
        let assigned: Vec<String> = ["i", "j"][..of_target]
            .iter()
            .map(|s| (*s).to_owned())
            .collect();
        let is_accepted = accepts(&term, &assigned, &assigned, of_target, &Cell::new(0));
        more(if is_accepted { accepted } else { refused });
        for extent in [2, 3] {
            prop_assert_eq!(
                is_compatible(&term, of_target, extent),
                is_accepted,
                "{:?}",
                term
            );
        }
        // A single element is always read for itself.
        prop_assert!(is_compatible(&term, of_target, 1), "{:?}", term);
        Ok(())
    });
    let [accepted, refused] = counts.map(|c| c.get());
    println!("{accepted} are accepted, {refused} are not");
    assert!(result.is_ok(), "{result:?}");
    assert!(accepted > 100 && refused > 100);
}
