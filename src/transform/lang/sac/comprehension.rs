//! Comprehensions and with-loops: eliminates dots and makes pieces.
//!
//! Source: Scholz and Šinkarovs, Tensor Comprehensions in SaC, 2019: §5.3 dots, §5.4 with-loops, §6
//! default elements. Shapes are numbers, so that a default element needs no value.

use super::bounds::Open;
use super::eval::{Evaluator, integers, limited, shown, too_many};
use super::syntax::{Node, Operator, Part, Partition, Pattern};
use super::value::{Array, Condition, Layer, Piece, Scalar, common, layered, whole};
use crate::ir::{Affine, BinaryOp, Name, Reduction};
use crate::problem::{Problem, Span};

/// A partition with known bounds.
struct Bounded<'p> {
    partition: &'p Partition,
    lower: Vec<i64>,
    upper: Vec<i64>,
    /// Further conditions on its indices, in terms of `names`.
    conditions: Vec<Condition>,
    names: Vec<Name>,
}

impl<'p> Bounded<'p> {
    /// The partition with bounds of its own, or else those of `around`.
    fn new(partition: &'p Partition, open: Open, around: &[u64]) -> Bounded<'p> {
        let edges = around.iter().map(|e| i64::try_from(*e).unwrap_or(i64::MAX));
        let edges: Vec<i64> = edges.collect();
        let mut upper = open.upper.unwrap_or_else(|| edges.clone());
        if open.is_inferred {
            for (upper, edge) in upper.iter_mut().zip(&edges) {
                *upper = (*upper).min(*edge);
            }
        }
        Bounded {
            partition,
            lower: open.lower.unwrap_or_else(|| vec![0; upper.len()]),
            upper,
            conditions: open.conditions,
            names: open.names,
        }
    }
}

/// An evaluated partition.
struct Made {
    /// The shape of the result according to this partition.
    shape: Vec<u64>,
    layer: Layer,
}

impl Evaluator {
    /// `{ iv -> e | l <= iv < u; … }`: the last partition determines the shape.
    pub(super) fn comprehension(
        &mut self,
        partitions: &[Partition],
        span: &Span,
    ) -> Result<Array, Problem> {
        let Some((last, before)) = partitions.split_last() else {
            return Err(Problem::new(span, "a comprehension without partitions"));
        };
        let open = self.open_bounds(last)?;
        if open.upper.is_none() {
            return Err(self.no_bounds(last));
        }
        let made = self.made(&Bounded::new(last, open, &[]))?;
        let mut layers = Vec::new();
        for partition in before {
            layers.push(self.earlier(partition, &made.shape)?);
        }
        layers.push(made.layer);
        self.completed(made.shape, layers, None, span)
    }

    /// `with { (l <= iv < u) : e; … } : operator`.
    pub(super) fn with_loop(
        &mut self,
        partitions: &[Partition],
        operator: &Operator,
        span: &Span,
    ) -> Result<Array, Problem> {
        match operator {
            Operator::Fold(reduction, neutral) => {
                self.fold(partitions, *reduction, neutral.as_deref(), span)
            }
            Operator::Modarray(of) => {
                let of = self.value(of)?;
                let mut layers = Vec::new();
                for partition in partitions {
                    layers.push(self.earlier(partition, &of.shape)?);
                }
                self.completed(of.shape, layers, Some(of.pieces), span)
            }
            Operator::Genarray(shape, default) => {
                let given = self.value(shape)?;
                let given = extents(&integers(&given, &shape.span)?, &shape.span)?;
                let default = default
                    .as_deref()
                    .map(|node| self.value(node))
                    .transpose()?;
                let inner = match (&default, partitions.first()) {
                    (Some(default), _) => default.shape.clone(),
                    (None, Some(first)) => self.shape_of_body(first, &given)?,
                    (None, None) => Vec::new(),
                };
                let shape: Vec<u64> = given.iter().copied().chain(inner).collect();
                let mut layers = Vec::new();
                for partition in partitions {
                    layers.push(self.earlier(partition, &shape)?);
                }
                let around = given.len();
                let default = default.map(|default| {
                    let outer = whole(&shape[..around], self.fresh_for(around));
                    let around_each = default.pieces.into_iter().map(|piece| Piece {
                        domain: outer.iter().cloned().chain(piece.domain).collect(),
                        value: piece.value,
                    });
                    around_each.collect()
                });
                self.completed(shape, layers, default, span)
            }
        }
    }

    fn fold(
        &mut self,
        partitions: &[Partition],
        reduction: Reduction,
        neutral: Option<&Node>,
        span: &Span,
    ) -> Result<Array, Problem> {
        let mut layers: Vec<Layer> = Vec::new();
        let mut shape: Vec<u64> = Vec::new();
        for partition in partitions {
            let open = self.open_bounds(partition)?;
            if open.upper.is_none() {
                return Err(self.no_bounds(partition));
            }
            let bounded = Bounded::new(partition, open, &[]);
            let made = self.made(&bounded)?;
            let rank = bounded.upper.len();
            if made.shape.len() > rank {
                let message = "a fold of arrays: only scalars are folded";
                let help = "fold each element in a comprehension around it";
                return Err(Problem::new(&partition.body.span, message).help(help));
            }
            if !layers.is_empty() && shape.len() != rank {
                let message = "generators of one fold have indices of one length";
                return Err(Problem::new(&partition.span, message));
            }
            shape = made.shape;
            layers.push(made.layer);
        }
        let bottom = self.neutral(reduction, &layers);
        let pieces = layered(layers, bottom).ok_or_else(|| too_many(span))?;
        // A shape without bounds, so that no piece appears to cover the whole array.
        let boundless = shape.iter().map(|_| u64::MAX).collect();
        let array = Array {
            shape: boundless,
            pieces,
        };
        let folded = self.reduced(reduction, &array, span)?;
        let Some(neutral) = neutral else {
            return Ok(Array::scalar(folded));
        };
        let value = self.value(neutral)?;
        let Some(start) = value.as_scalar() else {
            return Err(Problem::new(&neutral.span, "a fold begins from a scalar"));
        };
        let identity = Scalar::Tree(crate::ir::Expr::new(crate::ir::Node::Constant(
            reduction.identity(folded.elem()),
        )));
        let is_identity = start.tree(folded.elem()).map(Scalar::Tree) == Some(identity);
        if is_identity {
            Ok(Array::scalar(folded))
        } else {
            let op = reduction.op();
            let sum = start.combine(op, &folded);
            let sum = sum.ok_or_else(|| Problem::new(span, "this fold has no value"))?;
            Ok(Array::scalar(sum))
        }
    }

    /// The elements that no generator of a fold has, where conditions leave some out.
    fn neutral(&mut self, reduction: Reduction, layers: &[Layer]) -> Vec<Piece> {
        if layers.iter().all(|layer| layer.conditions.is_empty()) {
            return Vec::new();
        }
        let pieces = || layers.iter().flat_map(|layer| &layer.pieces);
        let elems = pieces().map(|piece| piece.value.elem());
        let elem = elems.reduce(common).unwrap_or_default();
        let ranges = pieces().map(Piece::ranges).reduce(|a, b| {
            let both = a.into_iter().zip(b);
            both.map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
        });
        let ranges = ranges.unwrap_or_default();
        let domain = ranges
            .into_iter()
            .map(|(low, high)| (self.fresh(), low, high));
        let domain = domain.collect();
        let identity = crate::ir::Node::Constant(reduction.identity(elem));
        let value = Scalar::Tree(crate::ir::Expr::new(identity));
        vec![Piece { domain, value }]
    }

    /// The result: its other elements are the default, which is 0 unless given.
    fn completed(
        &mut self,
        shape: Vec<u64>,
        layers: Vec<Layer>,
        default: Option<Vec<Piece>>,
        span: &Span,
    ) -> Result<Array, Problem> {
        let default = default.unwrap_or_else(|| {
            let domain = whole(&shape, self.fresh_for(shape.len()));
            let value = Scalar::integer(0);
            vec![Piece { domain, value }]
        });
        let pieces = layered(layers, default).ok_or_else(|| too_many(span))?;
        limited(Array { shape, pieces }.tidy(), span)
    }

    /// The layer of a partition that does not determine the shape.
    fn earlier(&mut self, partition: &Partition, shape: &[u64]) -> Result<Layer, Problem> {
        let open = self.open_bounds(partition)?;
        let named = partition.pattern.names().map(|names| names.len());
        let length = open.lower.as_ref().or(open.upper.as_ref()).map(Vec::len);
        let length = named.or(length).unwrap_or(shape.len());
        let places = places(&partition.pattern, length, shape.len());
        let Some(places) = places else {
            let (pattern, shape) = (partition.pattern.stripped(), shown(shape));
            let message = format!("the pattern `{pattern}` does not fit an array of shape {shape}");
            return Err(Problem::new(partition.pattern.span(), message));
        };
        let edges: Vec<u64> = places.iter().map(|place| shape[*place]).collect();
        let bounded = Bounded::new(partition, open, &edges);
        for (upper, edge) in bounded.upper.iter().zip(&edges) {
            if i128::from(*upper) > i128::from(*edge) {
                let shape = shown(shape);
                let message =
                    format!("this partition reaches {upper}, and the result has the shape {shape}");
                let problem = Problem::new(&partition.span, message);
                return Err(problem.help("the last partition says the shape of the result"));
            }
        }
        let made = self.made(&bounded)?;
        let fixed = |k: &usize| !places.contains(k);
        let inner = |shape: &[u64]| -> Vec<u64> {
            (0..shape.len()).filter(fixed).map(|k| shape[k]).collect()
        };
        if made.shape.len() != shape.len() || inner(&made.shape) != inner(shape) {
            let own: Vec<u64> = inner(&made.shape);
            let (own, others) = (shown(&own), shown(&inner(shape)));
            let message =
                format!("this value has the shape {own}, and that of other partitions {others}");
            return Err(Problem::new(&partition.body.span, message)
                .help("the values of all partitions have one shape"));
        }
        Ok(made.layer)
    }

    fn shape_of_body(
        &mut self,
        partition: &Partition,
        around: &[u64],
    ) -> Result<Vec<u64>, Problem> {
        let before = self.ranges.clone();
        let open = self.open_bounds(partition)?;
        let bounded = Bounded::new(partition, open, around);
        let made = self.made(&bounded)?;
        self.ranges = before;
        Ok(made
            .shape
            .get(bounded.upper.len()..)
            .unwrap_or_default()
            .to_vec())
    }

    /// The pieces of a partition with known bounds.
    fn made(&mut self, bounded: &Bounded) -> Result<Made, Problem> {
        let partition = bounded.partition;
        let ranges: Vec<(i64, i64)> = bounded
            .lower
            .iter()
            .copied()
            .zip(bounded.upper.iter().copied())
            .collect();
        if let Some(problem) = twice(&partition.pattern) {
            return Err(problem);
        }
        let before = self.scope.len();
        let names: Vec<Name> = match partition.pattern.names() {
            None => {
                let names: Vec<Name> = ranges.iter().map(|_| self.fresh()).collect();
                let vector = self.index_vector(&names);
                self.scope.push((partition.pattern.stripped(), vector));
                names
            }
            Some(parts) => {
                if parts.len() != ranges.len() {
                    let message = "bounds and pattern have different lengths";
                    return Err(Problem::new(&partition.span, message));
                }
                let mut names = Vec::new();
                for (text, _) in &parts {
                    let name = self.named(text);
                    // Reserves the name from here on.
                    self.ranges.insert(name.clone(), (0, 1));
                    names.push(name);
                }
                for ((text, _), name) in parts.iter().zip(&names) {
                    let index = Scalar::Integer(Affine::iterator(name.clone()));
                    self.scope.push(((*text).to_owned(), Array::scalar(index)));
                }
                names
            }
        };
        for (name, range) in names.iter().zip(&ranges) {
            self.ranges.insert(name.clone(), *range);
        }
        let body = self.value(&partition.body);
        self.scope.truncate(before);
        let body = body?;
        let rank = names.len() + body.rank();
        let Some(places) = places(&partition.pattern, names.len(), rank) else {
            let message = format!(
                "the pattern has more dots than the value, of shape {}, has dimensions",
                shown(&body.shape)
            );
            return Err(Problem::new(partition.pattern.span(), message).see(
                &partition.body.span,
                format!("of shape {}", shown(&body.shape)),
            ));
        };
        let mut inner = body.shape.iter();
        let mut shape = Vec::with_capacity(rank);
        for k in 0..rank {
            match places.iter().position(|place| *place == k) {
                Some(index) => shape.push(ranges[index].1.max(0).unsigned_abs()),
                None => shape.extend(inner.next()),
            }
        }
        let pieces = body.pieces.iter().map(|piece| {
            let mut inner = piece.domain.iter().cloned();
            let mut domain = Vec::with_capacity(rank);
            for k in 0..rank {
                match places.iter().position(|place| *place == k) {
                    Some(index) => {
                        let (low, high) = ranges[index];
                        domain.push((names[index].clone(), low, high));
                    }
                    None => domain.extend(inner.next()),
                }
            }
            let value = piece.value.clone();
            Piece { domain, value }
        });
        let pieces = pieces.collect();
        let own = |name: &Name| {
            let place = bounded.names.iter().position(|n| n == name)?;
            Some(Affine::iterator(names.get(place)?.clone()))
        };
        let conditions = bounded.conditions.iter();
        let conditions = conditions.map(|of| of.substitute(&own)).collect();
        Ok(Made {
            shape,
            layer: Layer { pieces, conditions },
        })
    }

    /// An index vector whose components are iterators.
    pub(super) fn index_vector(&mut self, names: &[Name]) -> Array {
        let pieces = names.iter().enumerate().map(|(k, name)| {
            let at = i64::try_from(k).unwrap_or(i64::MAX);
            Piece {
                domain: vec![(self.fresh(), at, at + 1)],
                value: Scalar::Integer(Affine::iterator(name.clone())),
            }
        });
        let pieces = pieces.collect();
        Array {
            shape: vec![names.len() as u64],
            pieces,
        }
    }

    /// `min` or `max` of several values.
    pub(super) fn extreme(
        &mut self,
        op: BinaryOp,
        (left, right): (&Node, &Node),
        span: &Span,
    ) -> Result<Array, Problem> {
        let (l, r) = (self.value(left)?, self.value(right)?);
        self.combined(op, (&l, &left.span), (&r, &right.span), span)
    }
}

/// A name that a pattern binds twice.
fn twice(pattern: &Pattern) -> Option<Problem> {
    let names = pattern.names()?;
    let found = names.iter().enumerate().find_map(|(k, (name, span))| {
        let first = names[..k].iter().find(|(n, _)| n == name)?;
        let problem = Problem::new(span, format!("the pattern binds `{name}` twice"));
        Some(problem.see(first.1, "here first"))
    });
    let dots = match pattern {
        Pattern::Parts(parts, _) => parts.iter().filter(|p| matches!(p, Part::Dots)).count(),
        Pattern::Vector(..) => 0,
    };
    found.or_else(|| {
        let message = "a pattern has `...` once at most";
        (dots > 1).then(|| Problem::new(pattern.span(), message))
    })
}

/// The positions of a pattern's index variables among the dimensions of the result; `None` if the
/// pattern has more dots than there are other dimensions.
fn places(pattern: &Pattern, variables: usize, rank: usize) -> Option<Vec<usize>> {
    let others = rank.checked_sub(variables)?;
    let Pattern::Parts(parts, _) = pattern else {
        return Some((0..variables).collect());
    };
    let dots = parts.iter().filter(|p| matches!(p, Part::Dot)).count();
    let many = others.checked_sub(dots)?;
    let (mut found, mut at) = (Vec::new(), 0);
    for part in parts {
        match part {
            Part::Name(..) => {
                found.push(at);
                at += 1;
            }
            Part::Dot => at += 1,
            Part::Dots => at += many,
        }
    }
    Some(found)
}

/// Converts integers to extents.
fn extents(values: &[i64], span: &Span) -> Result<Vec<u64>, Problem> {
    let each = values.iter().map(|value| {
        let negative = || Problem::new(span, format!("an extent of {value}"));
        u64::try_from(*value).map_err(|_| negative())
    });
    each.collect()
}
