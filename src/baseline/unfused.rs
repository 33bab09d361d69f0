//! Each statement's loops, by themselves, become its hyperplanes.
//!
//! A hyperplane is a loop that was there, its pivot, skewed by the loops around it and shifted. The
//! pivots' order is the order of the loops. Where a hyperplane holds iterators that come further in,
//! their loops move outward until it is skewed by them.

use super::error::NoSchedule;
use super::linear::solved;
use super::problem::Row;
use super::work::{Work, named};
use crate::ir::{Arg, Name};
use crate::transform::nest::reverse::REVERSE;
use crate::transform::nest::shift::SHIFT;
use crate::transform::nest::skew::SKEW;

/// How a hyperplane is made of its pivot.
struct Made {
    pivot: usize,
    /// The pivot counts down.
    reversed: bool,
    /// Multiples of the iterators of loops that get their places later.
    raw: Vec<(usize, i64)>,
    /// Multiples of the hyperplanes before.
    placed: Vec<i64>,
}

/// Makes the rows of a statement, which writes `target`, of the loops around it.
pub(super) fn transform(
    work: &mut Work,
    statement: usize,
    rows: &[Row],
    target: &str,
) -> Result<(), NoSchedule> {
    let made = pivots(rows).ok_or_else(|| NoSchedule::Strided {
        target: target.to_owned(),
        rows: texts(rows),
    })?;
    let own = work.loops[statement].clone();
    let then: Vec<Name> = made.iter().map(|m| own[m.pivot].clone()).collect();
    let mut now = own.clone();
    // How much more than their hyperplanes loops count.
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
        let mut reached = beyond[k];
        for (s, by) in m.placed.iter().enumerate().filter(|(_, by)| **by != 0) {
            work.step(&SKEW, vec![named(name), named(&then[s]), Arg::Int(*by)])?;
            reached += by * rows[s].constant;
        }
        let by = rows[k].constant - reached;
        if by != 0 {
            work.step(&SHIFT, vec![named(name), Arg::Int(by)])?;
        }
    }
    work.loops[statement] = then;
    Ok(())
}

/// How each row is made; `None` where loops would have strides.
fn pivots(rows: &[Row]) -> Option<Vec<Made>> {
    let mut made: Vec<Made> = Vec::with_capacity(rows.len());
    for (r, row) in rows.iter().enumerate() {
        let before = &rows[..r];
        let pivots: Vec<usize> = made.iter().map(|m| m.pivot).collect();
        // The multiples of the rows before that leave nothing of their pivots.
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
