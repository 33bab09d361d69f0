//! Evaluates array expressions: shapes are numbers, elements are trees.

use super::syntax::{Function as Definition, Infix, Kind, Node};
use super::value::{Array, Condition, MAX_PIECES, MAX_VECTOR, Piece, Scalar, shared, whole};
use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Domain, Elem, Expr, Function, Index, Lookup, Name,
    Node as Tree, Range, Reduction, Shape,
};
use crate::problem::{Problem, Span};
use crate::tensor::gather::with_gathers;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Evaluator {
    /// Variables, the innermost last.
    pub scope: Vec<(String, Array)>,
    /// The ranges of index variables.
    pub ranges: BTreeMap<Name, (i64, i64)>,
    /// Variables of a script that are not arrays, with descriptions of their values.
    pub unfit: BTreeMap<String, String>,
    /// The functions of the text.
    pub functions: Vec<Definition>,
    /// The values of sizes, which functions know as well.
    pub sizes: Vec<(String, Array)>,
    /// The number of calls of functions around the expression.
    pub calls: usize,
    /// The type of numbers with decimals, and of functions of integers.
    pub float: Elem,
    /// The number of iterators that have no name in the text.
    unnamed: usize,
}

impl Evaluator {
    /// An evaluator of numbers of type `elem`, if that holds decimals.
    pub fn of(elem: Elem) -> Evaluator {
        let float = if elem.is_float() {
            elem
        } else {
            Elem::default()
        };
        Evaluator {
            float,
            ..Evaluator::default()
        }
    }

    /// A new iterator without a name in the text.
    pub fn fresh(&mut self) -> Name {
        self.unnamed += 1;
        Name::generated(self.unnamed)
    }

    pub fn fresh_for(&mut self, rank: usize) -> Vec<Name> {
        (0..rank).map(|_| self.fresh()).collect()
    }

    /// A new iterator with a name of the text; a number is added if the name is taken.
    pub fn named(&mut self, name: &str) -> Name {
        let is_free = |n: &Name| {
            !self.ranges.contains_key(n) && self.scope.iter().all(|(v, _)| v != n.as_str())
        };
        let own = Name::new(name)
            .ok()
            .filter(|n| !self.ranges.contains_key(n));
        let numbered = (2..).filter_map(|k: usize| Name::new(&format!("{name}_{k}")).ok());
        let mut numbered = numbered.take(1000);
        let found = own.or_else(|| numbered.find(is_free));
        found.unwrap_or_else(|| self.fresh())
    }

    pub fn lookup(&self, name: &str) -> Option<&Array> {
        let found = self.scope.iter().rev().find(|(n, _)| n == name);
        found.map(|(_, array)| array)
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// The reason why it has none.
    pub fn value(&mut self, node: &Node) -> Result<Array, Problem> {
        match &node.kind {
            Kind::Integer(value) => Ok(Array::scalar(Scalar::integer(*value))),
            Kind::Float(value) => {
                let constant = Constant::of_float(self.float, *value).ok_or_else(|| {
                    let text = format!("{value} is not a value of type {}", self.float);
                    Problem::new(&node.span, text)
                })?;
                let tree = Expr::new(Tree::Constant(constant));
                Ok(Array::scalar(Scalar::Tree(tree)))
            }
            Kind::Name(name) => match self.lookup(name) {
                Some(array) => Ok(array.clone()),
                None => Err(self.unknown(name, &node.span)),
            },
            Kind::List(items) => self.list(items, &node.span),
            Kind::Negate(of) => {
                let of = self.value(of)?;
                let negative = of.map(|value| value.apply(Function::Neg, self.float));
                negative.ok_or_else(|| Problem::new(&node.span, "this has no negative"))
            }
            Kind::Binary(Infix::Concat, left, right) => {
                let (l, r) = (self.value(left)?, self.value(right)?);
                concatenated(l, r, &node.span)
            }
            Kind::Binary(infix, left, right) => {
                let (l, r) = (self.value(left)?, self.value(right)?);
                self.elementwise(*infix, (&l, &left.span), (&r, &right.span), &node.span)
            }
            Kind::Compare(comparison, left, right) => {
                let (l, r) = (self.value(left)?, self.value(right)?);
                let (yes, no) = (Scalar::integer(1), Scalar::integer(0));
                let compare =
                    |a: &Scalar, b: &Scalar| Scalar::choice(*comparison, [a, b], [&yes, &no]);
                let sides = [(&l, &left.span), (&r, &right.span)];
                self.zipped(comparison.symbol(), &compare, sides, &node.span)
            }
            Kind::Logic(is_and, left, right) => {
                let left = self.condition(left)?;
                let (yes, no) = (Scalar::integer(1), Scalar::integer(0));
                let right = self.condition(right)?;
                let right = right.chosen(&yes, &no);
                let both = right.and_then(|right| {
                    if *is_and {
                        left.chosen(&right, &no)
                    } else {
                        left.chosen(&yes, &right)
                    }
                });
                let both = both.ok_or_else(|| no_choice(&node.span))?;
                Ok(Array::scalar(both))
            }
            Kind::Choice(condition, then, otherwise) => {
                self.choice(condition, [then, otherwise], &node.span)
            }
            Kind::Select(of, index) => {
                let of = self.value(of)?;
                self.select(&of, index, &node.span)
            }
            Kind::Call(function, arguments) => self.call(function, arguments, &node.span),
            Kind::Comprehension(partitions) => self.comprehension(partitions, &node.span),
            Kind::With(partitions, operator) => self.with_loop(partitions, operator, &node.span),
        }
    }

    /// A condition: a comparison, or a number that is not 0.
    fn condition(&mut self, node: &Node) -> Result<Condition, Problem> {
        let scalar = |array: &Array, span: &Span| {
            let message = format!("a condition of shape {}", shown(&array.shape));
            let problem = Problem::new(span, message).help("a condition is a scalar");
            array.as_scalar().cloned().ok_or(problem)
        };
        if let Kind::Compare(comparison, left, right) = &node.kind {
            let (l, r) = (self.value(left)?, self.value(right)?);
            return Ok(Condition {
                comparison: *comparison,
                left: scalar(&l, &left.span)?,
                right: scalar(&r, &right.span)?,
            });
        }
        let value = self.value(node)?;
        Ok(Condition {
            comparison: Comparison::NotEqual,
            left: scalar(&value, &node.span)?,
            right: Scalar::integer(0),
        })
    }

    /// `condition ? then : otherwise`. Of a condition that is known, only one branch has a value.
    fn choice(
        &mut self,
        condition: &Node,
        [then, otherwise]: [&Node; 2],
        span: &Span,
    ) -> Result<Array, Problem> {
        let condition = self.condition(condition)?;
        if let (Some(a), Some(b)) = (condition.left.as_integer(), condition.right.as_integer()) {
            return if condition.comparison.holds(a, b) {
                self.value(then)
            } else {
                self.value(otherwise)
            };
        }
        let (t, o) = (self.value(then)?, self.value(otherwise)?);
        if t.shape != o.shape {
            let (first, second) = (shown(&t.shape), shown(&o.shape));
            let message = format!("a choice between arrays of the shapes {first} and {second}");
            return Err(Problem::new(span, message)
                .see(&then.span, format!("of shape {first}"))
                .see(&otherwise.span, format!("of shape {second}")));
        }
        let sides = [(&t, &then.span), (&o, &otherwise.span)];
        self.zipped("?:", &|a, b| condition.chosen(a, b), sides, span)
    }

    pub(super) fn unknown(&self, name: &str, span: &Span) -> Problem {
        if let Some(what) = self.unfit.get(name) {
            let message = format!("`{name}` is {what}; variables here are tensors and integers");
            return Problem::new(span, message)
                .help("`let x = eq(…);` before makes a tensor of an expression");
        }
        let problem = Problem::new(span, format!("`{name}` has no value here"));
        let names: Vec<&str> = self.scope.iter().map(|(n, _)| n.as_str()).collect();
        match names.iter().find(|n| n.eq_ignore_ascii_case(name)) {
            Some(similar) => problem.help(format!("did you mean `{similar}`?")),
            None if names.is_empty() => problem.help(format!("declare it: `double[10] {name};`")),
            None => problem.help(format!("there are {}", names.join(", "))),
        }
    }

    fn list(&mut self, items: &[Node], span: &Span) -> Result<Array, Problem> {
        let values: Vec<Array> = items
            .iter()
            .map(|item| self.value(item))
            .collect::<Result<_, _>>()?;
        let inner = values
            .first()
            .map_or(Vec::new(), |first| first.shape.clone());
        for (value, item) in values.iter().zip(items) {
            if value.shape != inner {
                let (shape, first) = (shown(&value.shape), shown(&inner));
                let message = format!("an element of shape {shape} beside one of shape {first}");
                return Err(Problem::new(&item.span, message)
                    .help("all elements of an array have one shape"));
            }
        }
        let mut shape = vec![values.len() as u64];
        shape.extend(&inner);
        let mut pieces = Vec::new();
        let scalars = values.iter().map(Array::as_scalar);
        if let Some(Some(value)) = scalars.clone().next()
            && scalars.clone().all(|other| other == Some(value))
        {
            let domain = whole(&shape, self.fresh_for(1));
            let value = value.clone();
            pieces.push(Piece { domain, value });
            return Ok(Array { shape, pieces });
        }
        for (k, value) in values.into_iter().enumerate() {
            let at = i64::try_from(k).unwrap_or(i64::MAX);
            for piece in value.pieces {
                let mut domain = vec![(self.fresh(), at, at + 1)];
                domain.extend(piece.domain);
                pieces.push(Piece {
                    domain,
                    value: piece.value,
                });
            }
        }
        limited(Array { shape, pieces }, span)
    }

    /// `left infix right`, element by element.
    pub fn elementwise(
        &mut self,
        infix: Infix,
        left: (&Array, &Span),
        right: (&Array, &Span),
        span: &Span,
    ) -> Result<Array, Problem> {
        let op = match infix {
            Infix::Add => BinaryOp::Add,
            Infix::Sub => BinaryOp::Sub,
            Infix::Mul => BinaryOp::Mul,
            Infix::Div => BinaryOp::Div,
            Infix::Mod | Infix::Concat => BinaryOp::Mod,
        };
        self.combined(op, left, right, span)
    }

    /// Combines two arrays of one shape, or an array and a scalar.
    pub fn combined(
        &mut self,
        op: BinaryOp,
        (left, left_span): (&Array, &Span),
        (right, right_span): (&Array, &Span),
        span: &Span,
    ) -> Result<Array, Problem> {
        let combine = |l: &Scalar, r: &Scalar| l.combine(op, r);
        let made = self.zipped(
            op.symbol(),
            &combine,
            [(left, left_span), (right, right_span)],
            span,
        );
        made.map_err(|problem| match (op, problem.help.is_some()) {
            (_, true) => problem,
            (BinaryOp::Mod, false) => problem.help("the remainder is one of integers"),
            (BinaryOp::Div, false) => problem.help("a division by the integer 0?"),
            (_, false) => problem,
        })
    }

    /// Two arrays of one shape, or an array and a scalar, combined element by element.
    fn zipped(
        &mut self,
        symbol: &str,
        combine: &dyn Fn(&Scalar, &Scalar) -> Option<Scalar>,
        [(left, left_span), (right, right_span)]: [(&Array, &Span); 2],
        span: &Span,
    ) -> Result<Array, Problem> {
        let no_value = || Problem::new(span, format!("`{symbol}` has no value here"));
        if let Some(value) = right.as_scalar() {
            return left.map(|l| combine(l, value)).ok_or_else(no_value);
        }
        if let Some(value) = left.as_scalar() {
            return right.map(|r| combine(value, r)).ok_or_else(no_value);
        }
        if left.shape != right.shape {
            let (l, r) = (shown(&left.shape), shown(&right.shape));
            let message = format!("arrays of the shapes {l} and {r} have no `{symbol}`");
            return Err(Problem::new(span, message)
                .see(left_span, format!("of shape {l}"))
                .see(right_span, format!("of shape {r}"))
                .help("both have one shape, or one is a scalar"));
        }
        let mut pieces = Vec::new();
        for l in &left.pieces {
            for r in &right.pieces {
                let Some(both) = shared(&l.ranges(), &r.ranges()) else {
                    continue;
                };
                let names: Vec<Name> = l.domain.iter().map(|(n, ..)| n.clone()).collect();
                let value = combine(&l.value, &r.renamed(&names));
                let value = value.ok_or_else(no_value)?;
                let piece = l.within(&both);
                pieces.push(Piece { value, ..piece });
                if pieces.len() > MAX_PIECES {
                    return Err(too_many(span));
                }
            }
        }
        let shape = left.shape.clone();
        limited(Array { shape, pieces }, span)
    }

    /// `of[index]`: an index vector, or its components.
    fn select(&mut self, of: &Array, index: &[Node], span: &Span) -> Result<Array, Problem> {
        let mut components: Vec<(Scalar, Span)> = Vec::new();
        for node in index {
            let value = self.value(node)?;
            match (value.as_scalar(), value.as_vector()) {
                (Some(scalar), _) => components.push((scalar.clone(), node.span.clone())),
                (None, Some(items)) if index.len() == 1 => {
                    components.extend(items.into_iter().map(|item| (item, node.span.clone())));
                }
                _ => {
                    let message = "an index is an integer, or a vector of integers alone";
                    return Err(Problem::new(&node.span, message));
                }
            }
        }
        if components.len() > of.rank() {
            let (given, shape) = (components.len(), shown(&of.shape));
            let message = format!("{given} indices for an array of shape {shape}");
            return Err(Problem::new(span, message));
        }
        let mut at: Vec<Affine> = Vec::with_capacity(components.len());
        for ((component, place), extent) in components.into_iter().zip(&of.shape) {
            let affine = match component {
                Scalar::Integer(affine) => affine,
                Scalar::Tree(tree) => entry(&tree).ok_or_else(|| {
                    Problem::new(&place, "an index must be affine in index variables").help(
                        "or an entry: `indices(extents, n)` declares integers from 0 to n - 1",
                    )
                })?,
            };
            self.check_inside(&affine, *extent, &place)?;
            at.push(affine);
        }
        self.element(of, &at, span)
    }

    /// Checks that an index stays inside of its dimension.
    fn check_inside(&self, index: &Affine, extent: u64, span: &Span) -> Result<(), Problem> {
        let interval = index.interval(&|name| self.values(name));
        match interval {
            Some((low, high)) if !self.is_never(index) => {
                if low < 0 || i128::from(high) >= i128::from(extent) {
                    let values = if low == high {
                        format!("is {low}")
                    } else {
                        format!("takes the values {low} to {high}")
                    };
                    let message = format!("this index {values}, and the extent is {extent}");
                    return Err(Problem::new(span, message)
                        .help("bounds of the generator keep indices inside: `| l <= iv < u`"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The least and the greatest value of a variable, or of an entry.
    fn values(&self, name: &Name) -> Option<(i64, i64)> {
        let (low, high) = match Lookup::named(name) {
            Some(entry) => {
                let facts = entry.tensor.entries()?;
                (facts.low.as_constant()?, facts.high.as_constant()?)
            }
            None => *self.ranges.get(name)?,
        };
        Some((low, high - 1))
    }

    /// Whether an index has a variable with an empty range.
    fn is_never(&self, index: &Affine) -> bool {
        let is_empty = |name: &Name| {
            let range = self.ranges.get(name);
            range.is_some_and(|(low, high)| low >= high)
        };
        index.terms().iter().any(|(name, _)| is_empty(name))
    }

    /// The elements of an array at the indices of its first dimensions.
    pub fn element(&mut self, of: &Array, at: &[Affine], span: &Span) -> Result<Array, Problem> {
        let mut pieces = Vec::new();
        let is_read = !at.iter().any(|index| self.is_never(index));
        for piece in of.pieces.iter().filter(|_| is_read) {
            let (first, rest) = piece.domain.split_at(at.len().min(piece.domain.len()));
            // Whether the index is always in the box, never, or sometimes.
            let (mut always, mut never) = (true, false);
            for ((_, low, high), index) in first.iter().zip(at) {
                let interval = index.interval(&|name| self.values(name));
                let Some((least, greatest)) = interval else {
                    always = false;
                    continue;
                };
                always &= *low <= least && greatest < *high;
                never |= greatest < *low || *high <= least;
            }
            if never {
                continue;
            }
            if !always {
                let message =
                    "an array of several parts is read at an index that is in several of them";
                return Err(Problem::new(span, message)
                    .help("assign the array to a variable of its own first"));
            }
            let value = piece.value.substitute(&|name| {
                let place = first.iter().position(|(n, ..)| n == name)?;
                at.get(place).cloned()
            });
            let value = match value {
                Scalar::Tree(tree) if at.iter().any(has_entry) => {
                    let gathered = with_gathers(&tree);
                    let wrong = || {
                        Problem::new(span, "an entry indexes an array that is computed here")
                            .help("assign the array to a variable of its own first")
                    };
                    Scalar::Tree(gathered.ok_or_else(wrong)?)
                }
                value => value,
            };
            let domain = rest.to_vec();
            pieces.push(Piece { domain, value });
        }
        let shape = of.shape[at.len().min(of.shape.len())..].to_vec();
        if pieces.is_empty() {
            // The value is never read: the array is empty, or the range of the index is.
            let domain = whole(&shape, self.fresh_for(shape.len()));
            let value = Scalar::integer(0);
            pieces.push(Piece { domain, value });
        }
        Ok(Array { shape, pieces }.tidy())
    }

    /// The reduction of all elements.
    pub fn reduced(
        &mut self,
        reduction: Reduction,
        of: &Array,
        span: &Span,
    ) -> Result<Scalar, Problem> {
        let (mut pieces, rest) = of.disjoint().ok_or_else(|| too_many(span))?;
        if let Some(rest) = rest {
            let mut boxes = vec![rest.clone().within(&whole_ranges(&of.shape))];
            for piece in &pieces {
                boxes = boxes.into_iter().flat_map(|b| outside(&b, piece)).collect();
            }
            pieces.extend(boxes);
        }
        let mut total: Option<Scalar> = None;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let elem = of.elem();
            let is_single = piece.domain.iter().all(|(_, low, high)| high - low == 1);
            let part = if is_single {
                piece.value.substitute(&|name| {
                    let (_, low, _) = piece.domain.iter().find(|(n, ..)| n == name)?;
                    Some(Affine::constant(*low))
                })
            } else {
                let ranges = piece.domain.iter();
                let ranges = ranges.map(|(n, low, high)| (n.clone(), Range::constant(*low, *high)));
                let body = piece.value.tree(elem);
                let body =
                    body.ok_or_else(|| Problem::new(span, "this number has no value of its type"))?;
                Scalar::Tree(Expr::new(Tree::Reduce {
                    reduction,
                    over: piece.domain.iter().map(|(n, ..)| n.clone()).collect(),
                    within: Domain::new(ranges),
                    shape: Shape::of_extents([]),
                    body,
                }))
            };
            total = Some(match total {
                None => part,
                Some(before) => before
                    .combine(reduction.op(), &part)
                    .ok_or_else(|| Problem::new(span, "these values have no sum"))?,
            });
        }
        let neutral = || {
            let constant = reduction.identity(of.elem());
            Scalar::Tree(Expr::new(Tree::Constant(constant)))
        };
        Ok(total.unwrap_or_else(neutral))
    }
}

pub(super) fn no_choice(span: &Span) -> Problem {
    Problem::new(span, "these values have no common type")
}

fn whole_ranges(shape: &[u64]) -> Vec<(i64, i64)> {
    let high = |extent: &u64| i64::try_from(*extent).unwrap_or(i64::MAX);
    shape.iter().map(|extent| (0, high(extent))).collect()
}

/// The parts of a piece outside of another one.
fn outside(piece: &Piece, of: &Piece) -> Vec<Piece> {
    let both = Array {
        shape: Vec::new(),
        pieces: vec![of.clone(), piece.clone()],
    };
    let Some((mut parts, rest)) = both.disjoint() else {
        return Vec::new();
    };
    parts.extend(rest);
    // The first one is the other piece itself.
    parts.into_iter().skip(1).collect()
}

/// A shape in SaC's notation.
pub(super) fn shown(shape: &[u64]) -> String {
    let texts: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", texts.join(","))
}

pub(super) fn too_many(span: &Span) -> Problem {
    let message = format!("an array of more than {MAX_PIECES} parts");
    Problem::new(span, message).help("assign parts of the expression to variables of their own")
}

/// The array, or a problem if it has too many pieces.
pub(super) fn limited(array: Array, span: &Span) -> Result<Array, Problem> {
    if array.pieces.len() > MAX_PIECES {
        Err(too_many(span))
    } else {
        Ok(array)
    }
}

/// Concatenates two arrays along their first dimension.
fn concatenated(left: Array, right: Array, span: &Span) -> Result<Array, Problem> {
    let fits = left.rank() == right.rank() && left.shape.get(1..) == right.shape.get(1..);
    let (Some(first), Some(second)) = (left.shape.first(), right.shape.first()) else {
        return Err(Problem::new(
            span,
            "scalars cannot be concatenated: put brackets around them",
        ));
    };
    if !fits {
        let (l, r) = (shown(&left.shape), shown(&right.shape));
        let message = format!("arrays of the shapes {l} and {r} cannot be concatenated");
        return Err(Problem::new(span, message));
    }
    let at = i64::try_from(*first).unwrap_or(i64::MAX);
    let mut shape = left.shape.clone();
    shape[0] = first.saturating_add(*second);
    let mut pieces = left.pieces;
    pieces.extend(
        right
            .pieces
            .into_iter()
            .filter_map(|piece| shifted(piece, 0, at)),
    );
    limited(Array { shape, pieces }, span)
}

/// The piece, shifted along a dimension.
pub(super) fn shifted(piece: Piece, dimension: usize, by: i64) -> Option<Piece> {
    let mut domain = piece.domain;
    let (name, low, high) = domain.get_mut(dimension)?;
    let name = name.clone();
    (*low, *high) = (low.checked_add(by)?, high.checked_add(by)?);
    let moved = Affine::iterator(name.clone()).plus_constant(-by);
    let value = piece
        .value
        .substitute(&|n| (*n == name).then(|| moved.clone()));
    Some(Piece { domain, value })
}

/// The integers of a vector.
pub(super) fn integers(array: &Array, span: &Span) -> Result<Vec<i64>, Problem> {
    if array.rank() == 1 && array.shape[0] > MAX_VECTOR {
        return Err(too_many(span));
    }
    let single = array.as_scalar().and_then(Scalar::as_integer);
    let found = array.as_integers().or(single.map(|value| vec![value]));
    found.ok_or_else(|| {
        Problem::new(
            span,
            "this must be a vector of integers that are known: shapes are static",
        )
    })
}

/// The entry that a tree is, as an index. An entry whose place is read is a sum of one term.
fn entry(tree: &Expr) -> Option<Affine> {
    match tree.node() {
        Tree::Access {
            tensor,
            index: Index::At(index),
        } => {
            tensor.entries()?;
            Some(Lookup::new(tensor.clone(), index.clone()).as_index())
        }
        Tree::Reduce {
            reduction: Reduction::Sum,
            over,
            within,
            body,
            ..
        } => over.iter().rev().try_fold(entry(body)?, |index, name| {
            let place = within.get(name)?.single()?.as_index();
            Some(index.substitute_all(&|other| (other == name).then(|| place.clone())))
        }),
        _ => None,
    }
}

/// Whether an index has an entry.
fn has_entry(index: &Affine) -> bool {
    index.terms().iter().any(|(name, _)| name.is_read())
}
