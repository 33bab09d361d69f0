//! Bounds of partitions, given or implied by selections.
//!
//! Bounds may depend on index variables, of outer partitions or of the same pattern. The partition
//! then has the least box that contains its indices, and a condition for them. So has one with a
//! step.
//!
//! Source: Scholz and Šinkarovs, Tensor Comprehensions in SaC, 2019: §5.2.

use super::eval::{Evaluator, integers};
use super::syntax::{Bound, Kind, Limit, Node, Partition, Pattern};
use super::value::{Array, Condition, Scalar};
use crate::ir::{Affine, BinaryOp, Comparison, Name};
use crate::problem::{Problem, Span};

/// The bounds that a partition gives; a missing one is the edge of the result.
pub(super) struct Open {
    pub lower: Option<Vec<i64>>,
    pub upper: Option<Vec<i64>>,
    /// Whether selections imply the upper bound.
    pub is_inferred: bool,
    /// Further conditions on indices of the partition, in terms of `names`.
    pub conditions: Vec<Condition>,
    /// Iterators in place of the index variables.
    pub names: Vec<Name>,
}

/// A bound whose components are affine in index variables.
struct Given {
    components: Vec<Affine>,
    /// Whether it is a scalar, which bounds every component of an index vector.
    is_scalar: bool,
    span: Span,
}

impl Given {
    fn stretched(&mut self, length: usize) {
        if let ([only], true) = (self.components.as_slice(), self.is_scalar) {
            self.components = vec![only.clone(); length];
        }
    }
}

/// A selection whose array is known.
struct Selection {
    index: Vec<Node>,
    shape: Vec<i64>,
    /// Index variables of comprehensions between the partition and the selection.
    hidden: Vec<String>,
}

impl Evaluator {
    /// The bounds that a partition gives or that its body implies (§5.2).
    pub(super) fn open_bounds(&mut self, partition: &Partition) -> Result<Open, Problem> {
        let [lower, upper] = partition.bounds()?;
        let own = partition
            .pattern
            .names()
            .map(|names| self.fresh_for(names.len()));
        // `l < iv` begins one later, and `iv <= u` ends one later.
        let mut lower = self.given(lower.as_ref(), [1, 0], partition, own.as_deref())?;
        let is_dot = matches!(&upper, Some(bound) if matches!(bound.limit, Limit::Dot));
        let mut upper = self.given(upper.as_ref(), [0, 1], partition, own.as_deref())?;
        let length_of = |given: &Option<Given>| match given {
            Some(given) if !given.is_scalar => Some(given.components.len()),
            _ => None,
        };
        let known = own.as_ref().map(Vec::len);
        let known = known.or(length_of(&lower)).or(length_of(&upper));
        let mut is_inferred = false;
        if upper.is_none() && !is_dot {
            let found = self.found_shapes(partition, known);
            is_inferred = found.is_some();
            upper = found.map(|found| Given {
                components: found.into_iter().map(Affine::constant).collect(),
                is_scalar: false,
                span: partition.span.clone(),
            });
        }
        let length = known.or(length_of(&upper));
        for given in lower.iter_mut().chain(&mut upper) {
            given.stretched(length.unwrap_or(1));
        }
        if let (Some(l), Some(u)) = (&lower, &upper)
            && l.components.len() != u.components.len()
        {
            let (l, u) = (l.components.len(), u.components.len());
            let message = format!("bounds of the lengths {l} and {u}");
            return Err(Problem::new(&partition.span, message));
        }
        let length = lower
            .as_ref()
            .or(upper.as_ref())
            .map(|g| g.components.len());
        let names = own.unwrap_or_else(|| self.fresh_for(length.unwrap_or(0)));
        if let (None, Some(upper)) = (&lower, &upper) {
            lower = Some(Given {
                components: vec![Affine::constant(0); upper.components.len()],
                is_scalar: false,
                span: partition.span.clone(),
            });
        }
        self.boxed(partition, [lower, upper], names, is_inferred)
    }

    /// The components of a bound; `own` are iterators in place of the pattern's index variables.
    fn given(
        &mut self,
        bound: Option<&Bound>,
        past: [i64; 2],
        partition: &Partition,
        own: Option<&[Name]>,
    ) -> Result<Option<Given>, Problem> {
        let Some(bound) = bound else {
            return Ok(None);
        };
        let Limit::Value(node) = &bound.limit else {
            return Ok(None);
        };
        let before = self.scope.len();
        let parts = partition.pattern.names().unwrap_or_default();
        for ((text, _), name) in parts.iter().zip(own.unwrap_or_default()) {
            let index = Scalar::Integer(Affine::iterator(name.clone()));
            self.scope.push(((*text).to_owned(), Array::scalar(index)));
        }
        let value = self.value(node);
        self.scope.truncate(before);
        let value = value?;
        let components = match (value.as_scalar(), value.as_vector()) {
            (Some(scalar), _) => vec![scalar.clone()],
            (None, Some(components)) => components,
            (None, None) => {
                // A matrix has no components: this reports it.
                let known = integers(&value, &node.span)?;
                known.into_iter().map(Scalar::integer).collect()
            }
        };
        let by = past[usize::from(bound.or_equal)];
        let affine = components.into_iter().map(|component| match component {
            Scalar::Integer(affine) => Ok(affine.plus_constant(by)),
            Scalar::Tree(_) => {
                let message = "a bound must be a vector of integers: shapes are static";
                let help = "components may be affine in index variables: `[i + 1, 2*j]`";
                Err(Problem::new(&node.span, message).help(help))
            }
        });
        let components: Vec<Affine> = affine.collect::<Result<_, _>>()?;
        let is_scalar = value.rank() == 0 && own.is_none();
        if let Some(own) = own
            && components.len() != own.len()
        {
            let (given, index) = (components.len(), partition.pattern.stripped());
            let message = format!("a bound of length {given} for `{index}`");
            return Err(Problem::new(&node.span, message));
        }
        Ok(Some(Given {
            components,
            is_scalar,
            span: node.span.clone(),
        }))
    }

    /// The least box that contains all indices between two bounds, and the conditions of those in
    /// it.
    fn boxed(
        &mut self,
        partition: &Partition,
        [lower, upper]: [Option<Given>; 2],
        mut names: Vec<Name>,
        is_inferred: bool,
    ) -> Result<Open, Problem> {
        let mut conditions = Vec::new();
        let before = self.ranges.clone();
        let mut made: [Vec<Option<i64>>; 2] = [&lower, &upper].map(|given| {
            let length = given.as_ref().map_or(0, |given| given.components.len());
            vec![None; length]
        });
        // A component may depend on those before or after it; each round makes at least one known.
        for _ in 0..=names.len() {
            for (k, name) in names.iter().enumerate() {
                for (side, given) in [&lower, &upper].into_iter().enumerate() {
                    let Some(given) = given else { continue };
                    if made[side][k].is_some() {
                        continue;
                    }
                    let interval = given.components[k].interval(&|other| {
                        let (low, high) = *self.ranges.get(other)?;
                        Some((low, high.max(low + 1) - 1))
                    });
                    made[side][k] = interval.map(|(low, high)| match side {
                        0 if given.components[k].as_constant().is_none() => low.max(0),
                        0 => low,
                        _ => high,
                    });
                }
                if let (Some(Some(low)), Some(Some(high))) = (made[0].get(k), made[1].get(k)) {
                    self.ranges.insert(name.clone(), (*low, *high));
                }
            }
        }
        self.ranges = before;
        let mut known = [None, None];
        for (side, given) in [&lower, &upper].into_iter().enumerate() {
            let Some(given) = given else { continue };
            let values: Option<Vec<i64>> = made[side].iter().copied().collect();
            let Some(values) = values else {
                let message = "nothing says how far this bound goes";
                let help = "a bound may depend on index variables whose own bounds are known";
                return Err(Problem::new(&given.span, message).help(help));
            };
            known[side] = Some(values);
            for (component, name) in given.components.iter().zip(&names) {
                if component.as_constant().is_none() {
                    conditions.push(Condition {
                        comparison: match side {
                            0 => Comparison::GreaterEqual,
                            _ => Comparison::Less,
                        },
                        left: Scalar::Integer(Affine::iterator(name.clone())),
                        right: Scalar::Integer(component.clone()),
                    });
                }
            }
        }
        let [lower_values, upper_values] = known;
        if let Some(low) = lower_values.iter().flatten().find(|value| **value < 0) {
            let message = format!("a lower bound of {low}: indices begin at 0");
            return Err(Problem::new(&partition.span, message));
        }
        let first = lower.map(|given| given.components);
        conditions.extend(self.grid(partition, first.as_deref(), &mut names)?);
        Ok(Open {
            lower: lower_values,
            upper: upper_values,
            is_inferred,
            conditions,
            names,
        })
    }

    /// The conditions of a step and a width. The first index is the lower bound.
    fn grid(
        &mut self,
        partition: &Partition,
        first: Option<&[Affine]>,
        names: &mut Vec<Name>,
    ) -> Result<Vec<Condition>, Problem> {
        let range = partition.range.as_ref();
        let mut of = |node: &Option<Node>| match node {
            None => Ok(None),
            Some(node) => {
                let value = self.value(node)?;
                let values = integers(&value, &node.span)?;
                if let Some(value) = values.iter().find(|value| **value < 1) {
                    let problem = Problem::new(&node.span, format!("a component of {value}"));
                    return Err(problem.help("steps and widths are 1 or more"));
                }
                Ok(Some((values, node.span.clone())))
            }
        };
        let Some((step, span)) = range.map_or(Ok(None), |range| of(&range.step))? else {
            let width = range.and_then(|range| range.width.as_ref());
            return match width {
                Some(width) => Err(Problem::new(&width.span, "a width without a step")
                    .help("write `step [4] width [2]`: of every 4 indices, the first 2")),
                None => Ok(Vec::new()),
            };
        };
        let (width, width_span) = match range.map_or(Ok(None), |range| of(&range.width))? {
            Some(width) => width,
            None => (vec![1; step.len()], span.clone()),
        };
        if names.is_empty() && first.is_none() {
            *names = self.fresh_for(step.len());
        }
        for (values, span) in [(&step, &span), (&width, &width_span)] {
            if values.len() != names.len() {
                let (given, length) = (values.len(), names.len());
                let message = format!("{given} components, and the index has {length}");
                return Err(Problem::new(span, message));
            }
        }
        let mut conditions = Vec::new();
        for (k, name) in names.iter().enumerate() {
            if width[k] > step[k] {
                let message = format!("a width of {} in steps of {}", width[k], step[k]);
                let problem = Problem::new(&width_span, message);
                return Err(problem.help("the width is at most the step"));
            }
            if width[k] == step[k] {
                continue;
            }
            let first = first.and_then(|first| first.get(k)).cloned();
            let from = Affine::iterator(name.clone()).minus(&first.unwrap_or_default());
            let step = Scalar::integer(step[k]);
            let Some(left) = Scalar::Integer(from).combine(BinaryOp::Mod, &step) else {
                continue;
            };
            conditions.push(Condition {
                comparison: Comparison::Less,
                left,
                right: Scalar::integer(width[k]),
            });
        }
        Ok(conditions)
    }

    /// The upper bounds that selections in the body allow the index variables (`find-shapes`);
    /// `None` unless there is one for each variable. An index such as `i + 1` or `2*i` allows what
    /// keeps it inside.
    fn found_shapes(&mut self, partition: &Partition, length: Option<usize>) -> Option<Vec<i64>> {
        let before = self.scope.len();
        let ranges = self.ranges.clone();
        let found = self.found_in(partition, length);
        self.scope.truncate(before);
        self.ranges = ranges;
        found
    }

    fn found_in(&mut self, partition: &Partition, length: Option<usize>) -> Option<Vec<i64>> {
        let mut selections = Vec::new();
        let names = match &partition.pattern {
            Pattern::Parts(..) => {
                let parts = partition.pattern.names()?;
                let names = self.fresh_for(parts.len());
                for ((text, _), name) in parts.iter().zip(&names) {
                    let index = Scalar::Integer(Affine::iterator(name.clone()));
                    self.scope.push(((*text).to_owned(), Array::scalar(index)));
                    // The first index is enough to know the shapes of rows such as `a[i]`.
                    self.ranges.insert(name.clone(), (0, 1));
                }
                self.selections(&partition.body, &mut Vec::new(), &mut selections);
                names
            }
            Pattern::Vector(vector, _) => {
                self.selections(&partition.body, &mut Vec::new(), &mut selections);
                let uses = |selection: &&Selection| match selection.index.as_slice() {
                    [only] => {
                        !selection.hidden.contains(vector)
                            && only.mentions(std::slice::from_ref(vector))
                    }
                    _ => false,
                };
                let ranks = selections.iter().filter(uses).map(|s| s.shape.len());
                let rank = ranks.min()?;
                if length.is_some_and(|length| length > rank) {
                    return None;
                }
                let names = self.fresh_for(length.unwrap_or(rank));
                let vector = (vector.clone(), self.index_vector(&names));
                self.scope.push(vector);
                names
            }
        };
        let mut least: Vec<Option<i64>> = vec![None; names.len()];
        for selection in &selections {
            let components = self.components(selection);
            for (component, extent) in components.iter().zip(&selection.shape) {
                let Some(index) = component else { continue };
                let [(name, factor)] = index.terms() else {
                    continue;
                };
                let Some(k) = names.iter().position(|n| n == name) else {
                    continue;
                };
                // The greatest value of the variable that keeps the index in 0..extent.
                let last = if *factor > 0 {
                    (extent - 1 - index.offset()).div_euclid(*factor)
                } else {
                    index.offset().div_euclid(-factor)
                };
                let bound = last.saturating_add(1).max(0);
                // An index that is never inside is a problem of the selection.
                if bound == 0 && *extent > 0 {
                    continue;
                }
                least[k] = Some(least[k].map_or(bound, |known| known.min(bound)));
            }
        }
        least.into_iter().collect()
    }

    /// The components of an index; `None` for one that has no affine value here.
    fn components(&mut self, selection: &Selection) -> Vec<Option<Affine>> {
        let mut found = Vec::new();
        for node in &selection.index {
            let value = if node.mentions(&selection.hidden) {
                None
            } else {
                self.value(node).ok()
            };
            let affine = |scalar: &Scalar| match scalar {
                Scalar::Integer(affine) => Some(affine.clone()),
                Scalar::Tree(_) => None,
            };
            match value {
                None => found.push(None),
                Some(value) => match (value.as_scalar(), value.as_vector()) {
                    (Some(scalar), _) => found.push(affine(scalar)),
                    (None, Some(items)) if selection.index.len() == 1 => {
                        found.extend(items.iter().map(affine));
                    }
                    _ => found.push(None),
                },
            }
        }
        found
    }

    /// Collects the selections whose arrays are known.
    fn selections(&mut self, node: &Node, hidden: &mut Vec<String>, found: &mut Vec<Selection>) {
        if let Kind::Select(of, index) = &node.kind
            && !of.mentions(hidden)
            && let Ok(array) = self.value(of)
        {
            let extents = array.shape.iter();
            let extents = extents.map(|e| i64::try_from(*e).unwrap_or(i64::MAX));
            found.push(Selection {
                index: index.clone(),
                shape: extents.collect(),
                hidden: hidden.clone(),
            });
        }
        match &node.kind {
            Kind::Comprehension(partitions) | Kind::With(partitions, _) => {
                for partition in partitions {
                    let before = hidden.len();
                    hidden.extend(partition.pattern.bound());
                    self.selections(&partition.body, hidden, found);
                    hidden.truncate(before);
                }
            }
            _ => {
                for operand in node.operands() {
                    self.selections(operand, hidden, found);
                }
            }
        }
    }
}

impl Evaluator {
    /// The problem of a last partition without an upper bound. A selection in its body from a name
    /// that has no value may be the cause.
    pub(super) fn no_bounds(&self, partition: &Partition) -> Problem {
        let hidden = partition.pattern.bound();
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
        if let Kind::Select(of, _) = &node.kind
            && let Kind::Name(name) = &of.kind
            && !hidden.contains(name)
            && self.lookup(name).is_none()
        {
            return Some(self.unknown(name, &of.span));
        }
        match &node.kind {
            // Their own bounds report missing values.
            Kind::Comprehension(_) | Kind::With(..) => None,
            _ => {
                let mut operands = node.operands().into_iter();
                operands.find_map(|operand| self.unknown_array(operand, hidden))
            }
        }
    }
}
