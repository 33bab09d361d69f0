//! Bounds of partitions, given or implied by selections.
//!
//! Source: Scholz and Šinkarovs, Tensor Comprehensions in SaC, 2019: §5.2.

use super::eval::{Evaluator, integers};
use super::syntax::{Bound, Kind, Limit, Node, Partition, Pattern};
use crate::problem::Problem;

/// Visits the index and the shape of a selection.
type Visit<'v> = dyn FnMut(&[Node], &[i64]) -> Option<()> + 'v;

/// The bounds that a partition gives; a missing one is the edge of the result.
pub(super) struct Open {
    pub lower: Option<Vec<i64>>,
    pub upper: Option<Vec<i64>>,
}

impl Evaluator {
    /// The bounds that a partition gives or that its body implies (§5.2).
    pub(super) fn open_bounds(&mut self, partition: &Partition) -> Result<Open, Problem> {
        let [lower, upper] = partition.bounds()?;
        let named = partition.pattern.names().map(|names| names.len());
        let mut known = |bound: &Option<Bound>, past: [i64; 2]| match bound {
            None => Ok((None, false)),
            Some(bound) => match &bound.limit {
                Limit::Dot => Ok((None, true)),
                Limit::Value(node) => {
                    let value = self.value(node)?;
                    let mut values = integers(&value, &node.span)?;
                    if let Some(named) = named
                        && values.len() != named
                    {
                        let (given, index) = (values.len(), partition.pattern.stripped());
                        let message = format!("a bound of length {given} for `{index}`");
                        return Err(Problem::new(&node.span, message));
                    }
                    let by = past[usize::from(bound.or_equal)];
                    for value in &mut values {
                        *value = value.saturating_add(by);
                    }
                    Ok((Some(values), false))
                }
            },
        };
        // `l < iv` begins one later, and `iv <= u` ends one later.
        let (mut lower_values, _) = known(&lower, [1, 0])?;
        let (mut upper_values, is_dot) = known(&upper, [0, 1])?;
        if let (Some(l), Some(u)) = (&lower_values, &upper_values)
            && l.len() != u.len()
        {
            let (l, u) = (l.len(), u.len());
            let message = format!("bounds of the lengths {l} and {u}");
            return Err(Problem::new(&partition.span, message));
        }
        if let Some(values) = &mut lower_values
            && let Some(low) = values.iter().find(|value| **value < 0)
        {
            let message = format!("a lower bound of {low}: indices begin at 0");
            return Err(Problem::new(&partition.span, message));
        }
        if upper_values.is_none() && !is_dot {
            let length = lower_values.as_ref().map(Vec::len);
            upper_values = self.found_shapes(partition, length);
        }
        if let (None, Some(upper)) = (&lower_values, &upper_values) {
            lower_values = Some(vec![0; upper.len()]);
        }
        Ok(Open {
            lower: lower_values,
            upper: upper_values,
        })
    }

    /// The extents that selections in the body allow the index variables (`find-shapes`); `None`
    /// unless there is one for each variable.
    fn found_shapes(&mut self, partition: &Partition, length: Option<usize>) -> Option<Vec<i64>> {
        let bound = match &partition.pattern {
            Pattern::Vector(name, _) => {
                let mut least: Option<Vec<i64>> = None;
                self.selections(&partition.body, &mut Vec::new(), &mut |index, shape| {
                    let Kind::Name(used) = &index.first()?.kind else {
                        return None;
                    };
                    if used != name || index.len() != 1 {
                        return None;
                    }
                    least = Some(match least.take() {
                        None => shape.to_vec(),
                        Some(before) => before.iter().zip(shape).map(|(a, b)| *a.min(b)).collect(),
                    });
                    Some(())
                });
                let mut least = least?;
                if let Some(length) = length {
                    if length > least.len() {
                        return None;
                    }
                    least.truncate(length);
                }
                least
            }
            Pattern::Parts(..) => {
                let names = partition.pattern.names()?;
                let mut least: Vec<Option<i64>> = vec![None; names.len()];
                self.selections(&partition.body, &mut Vec::new(), &mut |index, shape| {
                    // `a[[i, j]]` is `a[i, j]`.
                    let index = match index {
                        [
                            Node {
                                kind: Kind::List(items),
                                ..
                            },
                        ] => items.as_slice(),
                        other => other,
                    };
                    for (component, extent) in index.iter().zip(shape) {
                        let Kind::Name(used) = &component.kind else {
                            continue;
                        };
                        if let Some(k) = names.iter().position(|(name, _)| name == used) {
                            least[k] = Some(least[k].map_or(*extent, |e| e.min(*extent)));
                        }
                    }
                    Some(())
                });
                least.into_iter().collect::<Option<Vec<i64>>>()?
            }
        };
        Some(bound)
    }

    /// Calls `visit` with the index and the shape of each selection whose array is known.
    fn selections(&mut self, node: &Node, hidden: &mut Vec<String>, visit: &mut Visit<'_>) {
        match &node.kind {
            Kind::Integer(_) | Kind::Float(_) | Kind::Name(_) => {}
            Kind::List(items) | Kind::Call(_, items) => {
                for item in items {
                    self.selections(item, hidden, visit);
                }
            }
            Kind::Negate(of) => self.selections(of, hidden, visit),
            Kind::Binary(_, left, right) => {
                self.selections(left, hidden, visit);
                self.selections(right, hidden, visit);
            }
            Kind::Select(of, index) => {
                let is_hidden = matches!(&of.kind, Kind::Name(name) if hidden.contains(name));
                if !is_hidden && let Ok(array) = self.value(of) {
                    let extents = array
                        .shape
                        .iter()
                        .map(|e| i64::try_from(*e).unwrap_or(i64::MAX));
                    let extents: Vec<i64> = extents.collect();
                    let _ = visit(index, &extents);
                }
                self.selections(of, hidden, visit);
                for item in index {
                    self.selections(item, hidden, visit);
                }
            }
            Kind::Comprehension(partitions) | Kind::With(partitions, _) => {
                for partition in partitions {
                    let before = hidden.len();
                    match &partition.pattern {
                        Pattern::Vector(name, _) => hidden.push(name.clone()),
                        Pattern::Parts(..) => {
                            let names = partition.pattern.names().unwrap_or_default();
                            hidden.extend(names.into_iter().map(|(name, _)| name.to_owned()));
                        }
                    }
                    self.selections(&partition.body, hidden, visit);
                    hidden.truncate(before);
                }
            }
        }
    }
}

impl Evaluator {
    /// The problem of a last partition without an upper bound. A selection in its body from a name
    /// that has no value may be the cause.
    pub(super) fn no_bounds(&self, partition: &Partition) -> Problem {
        let mut hidden: Vec<String> = match &partition.pattern {
            Pattern::Vector(name, _) => vec![name.clone()],
            Pattern::Parts(..) => Vec::new(),
        };
        let names = partition.pattern.names().unwrap_or_default();
        hidden.extend(names.into_iter().map(|(name, _)| name.to_owned()));
        if let Some(problem) = self.unknown_array(&partition.body, &hidden) {
            return problem;
        }
        let index = partition.pattern.stripped();
        let message = format!("nothing says how far `{index}` goes");
        Problem::new(&partition.span, message).help(format!(
            "give an upper bound: `| {index} < …`; the last partition says the shape of the result"
        ))
    }

    /// The first selection from a name that has no value.
    fn unknown_array(&self, node: &Node, hidden: &[String]) -> Option<Problem> {
        let all = |nodes: &[Node]| nodes.iter().find_map(|n| self.unknown_array(n, hidden));
        match &node.kind {
            Kind::Integer(_) | Kind::Float(_) | Kind::Name(_) => None,
            Kind::List(items) | Kind::Call(_, items) => all(items),
            Kind::Negate(of) => self.unknown_array(of, hidden),
            Kind::Binary(_, left, right) => self
                .unknown_array(left, hidden)
                .or_else(|| self.unknown_array(right, hidden)),
            Kind::Select(of, index) => match &of.kind {
                Kind::Name(name) if !hidden.contains(name) && self.lookup(name).is_none() => {
                    Some(self.unknown(name, &of.span))
                }
                _ => self.unknown_array(of, hidden).or_else(|| all(index)),
            },
            // Their own bounds report missing values.
            Kind::Comprehension(_) | Kind::With(..) => None,
        }
    }
}
