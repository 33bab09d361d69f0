//! Two iterations whose bounds are read from one tensor: what the facts about its entries say of
//! their iterators.
//!
//! A tensor of rank 1 is a function of its index, so that equal indices give equal values. If its
//! entries are distinct, different indices give different values. If they increase, so do values,
//! and the segments `ptr[i]..ptr[i + 1]` of different rows follow each other. If they are sorted in rows,
//! the values of one row increase strictly.

use crate::ir::{Affine, Lookup, Loop, Name, Order, Segment, Tensor};
use crate::poly::{Constraint, Linear, Relation};

/// The iterator of a loop whose bounds are read, in one iteration.
pub(super) struct Values<'a> {
    tensor: &'a Tensor,
    /// Whether the iterator has one value, rather than those of a row.
    is_single: bool,
    /// The index at which the first bound is read.
    index: Linear,
    /// The iterator, less the affine part of its bounds.
    value: Linear,
    /// The row that the index is in, if the entries of rows are sorted.
    row: Option<Linear>,
}

impl<'a> Values<'a> {
    /// The iterator `value` of a loop with these bounds. `None` if nothing is known of it. `affine`
    /// gives the values of affine expressions in this iteration, and `loops` are around it.
    pub(super) fn of(
        segment: &'a Segment,
        value: &Linear,
        affine: &dyn Fn(&Affine) -> Linear,
        loops: &[&Loop],
    ) -> Option<Values<'a>> {
        let (lower, upper) = (segment.lower.as_ref()?, &segment.upper);
        let [index] = lower.index.as_slice() else {
            return None;
        };
        let is_single = segment.as_single().is_some();
        let next = [index.plus_constant(1)];
        let is_row =
            lower.tensor == upper.tensor && upper.index == next && lower.plus == upper.plus;
        (is_single || is_row).then(|| Values {
            tensor: &lower.tensor,
            is_single,
            index: affine(index),
            value: value.minus(&affine(&lower.plus)),
            row: row_of(lower, loops).map(affine),
        })
    }
}

/// The row that a lookup is in, if its entries are sorted in rows: the index is the iterator of a loop
/// over the entries of that row.
fn row_of<'a>(lookup: &Lookup, loops: &[&'a Loop]) -> Option<&'a Affine> {
    let rows: &Name = lookup.tensor.entries()?.rows.as_ref()?;
    let [index] = lookup.index.as_slice() else {
        return None;
    };
    let name = index.as_iterator()?;
    let around = loops.iter().find(|l| l.name == *name)?;
    let segment = around.range.within.as_ref()?;
    let (first, end) = (segment.of_row()?, &segment.upper);
    let [row] = first.index.as_slice() else {
        return None;
    };
    let is_whole = first.tensor == end.tensor && end.index == [row.plus_constant(1)];
    let ends = [&first.plus, &end.plus].map(Affine::as_constant);
    // As in checks of the fact.
    let increases = first.tensor.entries()?.order == Order::Increasing;
    let is_of_rows = first.tensor.name() == Some(rows) && increases;
    (is_of_rows && is_whole && ends == [Some(0); 2]).then_some(row)
}

/// The facts about two iterations. Of each, all constraints of one of its lists hold.
pub(super) fn both(one: &Values, other: &Values) -> Vec<Vec<Vec<Constraint>>> {
    let facts = [ordered(one, other), sorted(one, other)];
    facts.into_iter().flatten().collect()
}

/// The constraints from the order in rows.
fn sorted(one: &Values, other: &Values) -> Option<Vec<Vec<Constraint>>> {
    if one.tensor != other.tensor || !one.is_single || !other.is_single {
        return None;
    }
    let (row, other_row) = (one.row.as_ref()?, other.row.as_ref()?);
    let compared = |a: &Linear, relation, b: &Linear| (a.clone(), relation, b.clone());
    let same_row = compared(row, Relation::Equal, other_row);
    let follow = |a: &Values, b: &Values| {
        vec![
            same_row.clone(),
            compared(&a.index, Relation::Less, &b.index),
            compared(&a.value, Relation::Less, &b.value),
        ]
    };
    Some(vec![
        vec![compared(&one.index, Relation::Equal, &other.index)],
        follow(one, other),
        follow(other, one),
        vec![compared(row, Relation::Less, other_row)],
        vec![compared(other_row, Relation::Less, row)],
    ])
}

/// The constraints from the order of all entries.
fn ordered(one: &Values, other: &Values) -> Option<Vec<Vec<Constraint>>> {
    if one.tensor != other.tensor || one.is_single != other.is_single {
        return None;
    }
    let order = one.tensor.entries().map_or(Order::Any, |e| e.order);
    let index = |relation| (one.index.clone(), relation, other.index.clone());
    let index_back = |relation| (other.index.clone(), relation, one.index.clone());
    let value = |relation| (one.value.clone(), relation, other.value.clone());
    let value_back = |relation| (other.value.clone(), relation, one.value.clone());
    let same = index(Relation::Equal);
    let (less, greater) = (index(Relation::Less), index_back(Relation::Less));
    let relation = match (order, one.is_single) {
        (Order::Increasing, true) => Some(Relation::LessOrEqual),
        (Order::Increasing, false) => Some(Relation::Less),
        _ => None,
    };
    let mut lists = match one.is_single {
        true => vec![vec![same, value(Relation::Equal)]],
        false => vec![vec![same]],
    };
    match relation {
        Some(relation) => lists.extend([
            vec![less, value(relation)],
            vec![greater, value_back(relation)],
        ]),
        None if order == Order::Distinct && one.is_single => {
            for apart in [less, greater] {
                lists.push(vec![apart.clone(), value(Relation::Less)]);
                lists.push(vec![apart, value_back(Relation::Less)]);
            }
        }
        None if one.is_single => lists.extend([vec![less], vec![greater]]),
        None => return None,
    }
    Some(lists)
}
