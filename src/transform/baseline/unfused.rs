//! Turns each statement's own loops into its hyperplanes.
//!
//! A hyperplane is an existing loop, its pivot, skewed by the outer loops and shifted. The order of
//! the pivots becomes the order of the loops. If a hyperplane contains iterators of inner loops,
//! these loops move outward until they have skewed it. A linearly dependent hyperplane is a
//! single-trip loop in blocks of size 1 of the innermost loop.

use super::error::NoSchedule;
use super::linear::solved;
use super::problem::Row;
use super::work::{Work, named};
use crate::ir::{Affine, Arg, Name};
use crate::nest::reverse::REVERSE;
use crate::nest::shift::SHIFT;
use crate::nest::skew::SKEW;
use crate::nest::stripmine::STRIPMINE;

/// How a hyperplane is made from its pivot.
struct Made {
    pivot: usize,
    /// The pivot counts down.
    reversed: bool,
    /// Multiples of the iterators of loops that are placed later.
    raw: Vec<(usize, i64)>,
    /// Multiples of the previous hyperplanes.
    placed: Vec<i64>,
}

/// Turns the loops around a statement, which writes `target`, into its rows.
pub(super) fn transform(
    work: &mut Work,
    statement: usize,
    rows: &[Row],
    target: &str,
) -> Result<(), NoSchedule> {
    let strided = || NoSchedule::Strided {
        target: target.to_owned(),
        rows: texts(rows),
    };
    let own = work.loops[statement].clone();
    let (rows, dependent) = rows.split_at(own.len().min(rows.len()));
    let made = pivots(rows).ok_or_else(strided)?;
    let then: Vec<Name> = made.iter().map(|m| own[m.pivot].clone()).collect();
    let mut now = own.clone();
    // The offset of each loop's value from its hyperplane.
    let mut beyond: Vec<i64> = vec![0; made.len()];
    for (k, m) in made.iter().enumerate() {
        if m.reversed {
            let pivot = &own[m.pivot];
            let ends = work.range(pivot).and_then(|range| range.as_constant());
            // Reversal keeps the range: the new iterator is the sum of its ends minus the old one.
            beyond[k] = ends.map_or(0, |(low, high)| low + high - 1);
            work.step(&REVERSE, vec![named(pivot)])?;
        }
        if m.raw.is_empty() {
            continue;
        }
        let (pivot, raw): (_, Vec<Name>) = (
            &own[m.pivot],
            m.raw.iter().map(|(q, _)| own[*q].clone()).collect(),
        );
        let mut outside: Vec<Name> = then[..k].to_vec();
        outside.extend(raw.iter().cloned());
        outside.push(pivot.clone());
        let rest = now.iter().filter(|n| !outside.contains(n)).cloned();
        let order: Vec<Name> = outside.iter().cloned().chain(rest).collect();
        work.order(&now, &order)?;
        now = order;
        for (q, by) in &m.raw {
            work.step(&SKEW, vec![named(pivot), named(&own[*q]), Arg::Int(*by)])?;
        }
    }
    work.order(&now, &then)?;
    for (k, m) in made.iter().enumerate() {
        let name = &then[k];
        let reached = beyond[k] + skewed(work, name, &then, (&m.placed, rows))?;
        let by = rows[k].constant - reached;
        if by != 0 {
            work.step(&SHIFT, vec![named(name), Arg::Int(by)])?;
        }
    }
    work.loops[statement] = then;
    for row in dependent {
        let multiples = multiples(rows, row).ok_or_else(strided)?;
        once(work, statement, rows, (&multiples, row.constant))?;
    }
    Ok(())
}

/// Skews a loop by multiples of other loops, whose hyperplanes are `rows`. Returns the multiples'
/// sum of constants.
fn skewed(
    work: &mut Work,
    name: &Name,
    loops: &[Name],
    (multiples, rows): (&[i64], &[Row]),
) -> Result<i64, NoSchedule> {
    let mut constants = 0;
    for (s, by) in multiples.iter().enumerate().filter(|(_, by)| **by != 0) {
        work.step(&SKEW, vec![named(name), named(&loops[s]), Arg::Int(*by)])?;
        constants += by * rows[s].constant;
    }
    Ok(constants)
}

/// Adds a single-trip loop inside of a statement's loops, whose hyperplanes are `rows`. Its value
/// is a sum of multiples of these and a constant.
fn once(
    work: &mut Work,
    statement: usize,
    rows: &[Row],
    (multiples, constant): (&[i64], i64),
) -> Result<(), NoSchedule> {
    let Some(last) = work.loops[statement].pop() else {
        return Err(NoSchedule::Unknown);
    };
    let cut = Arg::Word("cut".to_owned());
    work.step(&STRIPMINE, vec![named(&last), Arg::Int(1), cut])?;
    let (around, name) = (last.derived("o"), last.derived("i"));
    let range = work.range(&name);
    let first = range.as_ref().and_then(|range| range.lower.first());
    // Blocks are counted from 0; they get the values of the loop.
    let begin = first.map(|first| first.minus(&Affine::iterator(around.clone())));
    let begin = begin.ok_or(NoSchedule::Unknown)?;
    for (outer, by) in begin.terms() {
        let step = vec![named(&around), named(outer), Arg::Int(*by)];
        work.step(&SKEW, step)?;
    }
    if begin.offset() != 0 {
        let step = vec![named(&around), Arg::Int(begin.offset())];
        work.step(&SHIFT, step)?;
    }
    let back = vec![named(&name), named(&around), Arg::Int(-1)];
    work.step(&SKEW, back)?;
    work.loops[statement].push(around);
    let loops = work.loops[statement].clone();
    let by = constant - skewed(work, &name, &loops, (multiples, rows))?;
    if by != 0 {
        work.step(&SHIFT, vec![named(&name), Arg::Int(by)])?;
    }
    work.loops[statement].push(name);
    Ok(())
}

/// The multiples of rows whose sum has the coefficients of another one.
fn multiples(rows: &[Row], row: &Row) -> Option<Vec<i64>> {
    let count = row.coefficients.len();
    let of = |k: usize| rows.iter().map(|r| r.coefficients[k]).collect();
    let matrix: Vec<Vec<i64>> = (0..count).map(of).collect();
    solved(&matrix, &row.coefficients)
}

/// How each row is made; `None` if loops would have strides.
fn pivots(rows: &[Row]) -> Option<Vec<Made>> {
    let mut made: Vec<Made> = Vec::with_capacity(rows.len());
    for (r, row) in rows.iter().enumerate() {
        let before = &rows[..r];
        let pivots: Vec<usize> = made.iter().map(|m| m.pivot).collect();
        // The multiples of the previous rows that eliminate their pivots.
        let matrix: Vec<Vec<i64>> = pivots
            .iter()
            .map(|p| before.iter().map(|b| b.coefficients[*p]).collect())
            .collect();
        let right: Vec<i64> = pivots.iter().map(|p| row.coefficients[*p]).collect();
        let placed = solved(&matrix, &right)?;
        let mut rest = row.coefficients.clone();
        for (b, by) in before.iter().zip(&placed) {
            for (c, of_b) in rest.iter_mut().zip(&b.coefficients) {
                *c -= by * of_b;
            }
        }
        let pivot = rest.iter().rposition(|c| *c == 1);
        let pivot = pivot.or_else(|| rest.iter().rposition(|c| *c == -1))?;
        let others = rest.iter().enumerate();
        let others = others.filter(|(q, c)| *q != pivot && **c != 0);
        made.push(Made {
            pivot,
            reversed: rest[pivot] == -1,
            raw: others.map(|(q, c)| (q, *c)).collect(),
            placed,
        });
    }
    Some(made)
}

fn texts(rows: &[Row]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|r| format!("{:?}", r.coefficients))
        .collect();
    rows.join(", ")
}
