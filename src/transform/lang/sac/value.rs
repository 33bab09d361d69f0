//! Array values during evaluation: shapes are numbers, elements are trees.
//!
//! An array consists of pieces in boxes of indices. The first box that contains an index applies.

use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Elem, Expr, Function, Name, Node, Shape, Tensor,
};

/// The value of an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    /// An integer that is affine in index variables.
    Integer(Affine),
    /// Any other value.
    Tree(Expr),
}

/// An array, or a scalar as an array without dimensions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub shape: Vec<u64>,
    /// The elements, by boxes of indices. The first box that contains an index applies, and
    /// together they contain every index.
    pub pieces: Vec<Piece>,
}

/// The elements in a box.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// For each dimension, the iterator that the value uses, and its range.
    pub domain: Vec<(Name, i64, i64)>,
    pub value: Scalar,
}

/// A comparison of two values, on which an element depends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub comparison: Comparison,
    pub left: Scalar,
    pub right: Scalar,
}

impl Condition {
    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Condition {
        Condition {
            comparison: self.comparison,
            left: self.left.substitute(map),
            right: self.right.substitute(map),
        }
    }

    /// `then` if it holds, and `otherwise` if not.
    pub fn chosen(&self, then: &Scalar, otherwise: &Scalar) -> Option<Scalar> {
        Scalar::choice(
            self.comparison,
            [&self.left, &self.right],
            [then, otherwise],
        )
    }

    /// `then` where all conditions hold, and `otherwise` elsewhere.
    pub fn all(conditions: &[Condition], then: &Scalar, otherwise: &Scalar) -> Option<Scalar> {
        let mut all = conditions.iter().rev();
        all.try_fold(then.clone(), |then, of| of.chosen(&then, otherwise))
    }
}

/// The pieces of a partition, in which elements depend on conditions.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub pieces: Vec<Piece>,
    pub conditions: Vec<Condition>,
}

/// The pieces of layers, the first on top, over pieces that contain every index of them; `None` if
/// there are too many, or if a number has no value in the common type.
pub(super) fn layered(layers: Vec<Layer>, bottom: Vec<Piece>) -> Option<Vec<Piece>> {
    let mut below = bottom;
    for layer in layers.into_iter().rev() {
        let mut pieces = Vec::new();
        for piece in &layer.pieces {
            if layer.conditions.is_empty() {
                pieces.push(piece.clone());
                continue;
            }
            let names: Vec<Name> = piece.domain.iter().map(|(n, ..)| n.clone()).collect();
            for under in &below {
                let Some(both) = shared(&piece.ranges(), &under.ranges()) else {
                    continue;
                };
                let otherwise = under.renamed(&names);
                let value = Condition::all(&layer.conditions, &piece.value, &otherwise)?;
                pieces.push(Piece {
                    value,
                    ..piece.within(&both)
                });
            }
        }
        pieces.extend(below);
        if pieces.len() > MAX_PIECES {
            return None;
        }
        below = pieces;
    }
    Some(below)
}

impl Scalar {
    pub fn integer(value: i64) -> Scalar {
        Scalar::Integer(Affine::constant(value))
    }

    pub fn elem(&self) -> Elem {
        match self {
            Scalar::Integer(_) => Elem::I64,
            Scalar::Tree(tree) => tree.elem(),
        }
    }

    /// The value, if it is a constant integer.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Scalar::Integer(affine) => affine.as_constant(),
            Scalar::Tree(_) => None,
        }
    }

    /// The value as a tree of an element type; integers are converted to floating point.
    pub fn tree(&self, elem: Elem) -> Option<Expr> {
        let own = match self {
            Scalar::Integer(affine) => match affine.as_constant() {
                Some(value) => {
                    return Some(Expr::new(Node::Constant(Constant::of_integer(
                        elem, value,
                    )?)));
                }
                None => Expr::new(Node::Index(affine.clone())),
            },
            Scalar::Tree(tree) => match tree.node() {
                Node::Constant(Constant::I64(value)) => {
                    return Some(Expr::new(Node::Constant(Constant::of_integer(
                        elem, *value,
                    )?)));
                }
                _ => tree.clone(),
            },
        };
        if own.elem() == elem {
            Some(own)
        } else {
            Some(Expr::new(Node::Apply {
                function: Function::Cast(elem),
                shape: Shape::of_extents([]),
                args: vec![own],
            }))
        }
    }

    pub fn substitute(&self, map: &dyn Fn(&Name) -> Option<Affine>) -> Scalar {
        match self {
            Scalar::Integer(affine) => Scalar::Integer(affine.substitute(map)),
            Scalar::Tree(tree) => Scalar::Tree(tree.substitute(map)),
        }
    }

    /// `self op other`; `None` if it has no value, such as a division by the integer 0.
    pub fn combine(&self, op: BinaryOp, other: &Scalar) -> Option<Scalar> {
        if let (Scalar::Integer(a), Scalar::Integer(b)) = (self, other) {
            let constants = (a.as_constant(), b.as_constant());
            match (op, constants) {
                (BinaryOp::Add, _) => return Some(Scalar::Integer(a.plus(b))),
                (BinaryOp::Sub, _) => return Some(Scalar::Integer(a.minus(b))),
                (BinaryOp::Mul, (Some(a), _)) => return Some(Scalar::Integer(b.times(a))),
                (BinaryOp::Mul, (_, Some(b))) => return Some(Scalar::Integer(a.times(b))),
                (BinaryOp::Div, (Some(a), Some(b))) => {
                    return Some(Scalar::integer(a.checked_div(b)?));
                }
                (BinaryOp::Mod, (Some(a), Some(b))) => {
                    return Some(Scalar::integer(a.checked_rem_euclid(b)?));
                }
                (BinaryOp::Min, (Some(a), Some(b))) => return Some(Scalar::integer(a.min(b))),
                (BinaryOp::Max, (Some(a), Some(b))) => return Some(Scalar::integer(a.max(b))),
                _ => {}
            }
        }
        let elem = common(self.elem(), other.elem());
        if !op.takes(elem) {
            return None;
        }
        let (left, right) = (self.tree(elem)?, other.tree(elem)?);
        Some(Scalar::Tree(Expr::new(Node::Binary {
            op,
            shape: Shape::of_extents([]),
            left,
            right,
        })))
    }

    /// `then` if two values compare like this, and `otherwise` if not; `None` if a number has no
    /// value in the common type.
    pub fn choice(
        comparison: Comparison,
        [left, right]: [&Scalar; 2],
        [then, otherwise]: [&Scalar; 2],
    ) -> Option<Scalar> {
        if let (Some(a), Some(b)) = (left.as_integer(), right.as_integer()) {
            let chosen = if comparison.holds(a, b) {
                then
            } else {
                otherwise
            };
            return Some(chosen.clone());
        }
        if then == otherwise {
            return Some(then.clone());
        }
        let compared = common(left.elem(), right.elem());
        let elem = common(then.elem(), otherwise.elem());
        let args = vec![
            left.tree(compared)?,
            right.tree(compared)?,
            then.tree(elem)?,
            otherwise.tree(elem)?,
        ];
        Some(Scalar::Tree(Expr::new(Node::Apply {
            function: Function::Select(comparison),
            shape: Shape::of_extents([]),
            args,
        })))
    }

    /// `function(self)`, of type `float` if its own type has no such function.
    pub fn apply(&self, function: Function, float: Elem) -> Option<Scalar> {
        if let (Function::Neg, Scalar::Integer(affine)) = (function, self) {
            return Some(Scalar::Integer(affine.times(-1)));
        }
        let elem = match self.elem() {
            elem if function.takes(elem) => elem,
            _ => float,
        };
        Some(Scalar::Tree(Expr::new(Node::Apply {
            function,
            shape: Shape::of_extents([]),
            args: vec![self.tree(elem)?],
        })))
    }
}

/// The common type of two operand types: the one that holds more numbers.
pub(super) fn common(a: Elem, b: Elem) -> Elem {
    match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        _ if a == Elem::F64 || b == Elem::F64 => Elem::F64,
        _ => a,
    }
}

impl Array {
    pub fn scalar(value: Scalar) -> Array {
        let domain = Vec::new();
        Array {
            shape: Vec::new(),
            pieces: vec![Piece { domain, value }],
        }
    }

    /// The array that a tensor holds; `names` are its iterators.
    pub fn of_tensor(tensor: &Tensor, names: Vec<Name>) -> Array {
        let extents = tensor.shape().extents();
        let index = names.iter().cloned().map(Affine::iterator).collect();
        let value = Scalar::Tree(Expr::element(tensor, index));
        let domain = whole(extents, names);
        Array {
            shape: extents.to_vec(),
            pieces: vec![Piece { domain, value }],
        }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The element type of all elements.
    pub fn elem(&self) -> Elem {
        let elems = self.pieces.iter().map(|piece| piece.value.elem());
        elems.reduce(common).unwrap_or(Elem::I64)
    }

    /// The value of a scalar.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match self.pieces.as_slice() {
            [first, ..] if self.shape.is_empty() => Some(&first.value),
            _ => None,
        }
    }

    /// The elements of a vector, one by one, if each is known.
    pub fn as_vector(&self) -> Option<Vec<Scalar>> {
        let [extent] = self.shape.as_slice() else {
            return None;
        };
        if *extent > MAX_VECTOR {
            return None;
        }
        let extent = i64::try_from(*extent).ok()?;
        (0..extent).map(|k| self.at(&[k])).collect()
    }

    /// The integers of a vector, if all are constants.
    pub fn as_integers(&self) -> Option<Vec<i64>> {
        let items = self.as_vector()?;
        items.iter().map(Scalar::as_integer).collect()
    }

    /// The element at a constant index.
    pub fn at(&self, index: &[i64]) -> Option<Scalar> {
        let holds = |piece: &&Piece| {
            let mut pairs = piece.domain.iter().zip(index);
            pairs.all(|((_, low, high), at)| (*low..*high).contains(at))
        };
        let piece = self.pieces.iter().find(holds)?;
        Some(piece.value.substitute(&|name| {
            let place = piece.domain.iter().position(|(n, ..)| n == name)?;
            Some(Affine::constant(*index.get(place)?))
        }))
    }

    /// The array with every value changed.
    pub fn map(&self, map: impl Fn(&Scalar) -> Option<Scalar>) -> Option<Array> {
        let pieces = self.pieces.iter().map(|piece| {
            Some(Piece {
                domain: piece.domain.clone(),
                value: map(&piece.value)?,
            })
        });
        Some(Array {
            shape: self.shape.clone(),
            pieces: pieces.collect::<Option<_>>()?,
        })
    }

    /// Drops empty pieces, and the pieces after one that contains every index.
    pub fn tidy(mut self) -> Array {
        self.pieces.retain(|piece| !piece.is_empty());
        if let Some(last) = self
            .pieces
            .iter()
            .position(|piece| piece.is_all(&self.shape))
        {
            self.pieces.truncate(last + 1);
        }
        self
    }

    /// Makes the boxes of the pieces disjoint. A last piece that contains every index is returned
    /// separately, for the remaining elements.
    pub fn disjoint(&self) -> Option<(Vec<Piece>, Option<Piece>)> {
        let (rest, pieces) = match self.pieces.split_last() {
            Some((last, before)) if last.is_all(&self.shape) => (Some(last.clone()), before),
            _ => (None, self.pieces.as_slice()),
        };
        let mut found: Vec<Piece> = Vec::new();
        for (k, piece) in pieces.iter().enumerate() {
            let mut boxes = vec![piece.ranges()];
            for earlier in &pieces[..k] {
                let earlier = earlier.ranges();
                boxes = boxes.iter().flat_map(|b| without(b, &earlier)).collect();
                if boxes.len() > MAX_PIECES {
                    return None;
                }
            }
            found.extend(boxes.into_iter().map(|ranges| piece.within(&ranges)));
        }
        let sizes = found.iter().map(|piece| {
            let extents = piece
                .ranges()
                .into_iter()
                .map(|(low, high)| i128::from(high - low));
            extents.fold(1, i128::saturating_mul)
        });
        let all = self.shape.iter().map(|extent| i128::from(*extent));
        let is_covered = sizes.sum::<i128>() == all.fold(1, i128::saturating_mul);
        let rest = rest.filter(|_| !is_covered);
        (found.len() <= MAX_PIECES).then_some((found, rest))
    }
}

/// The longest vectors that are evaluated element by element.
pub(super) const MAX_VECTOR: u64 = 4096;
/// The most pieces that an array may have.
pub(super) const MAX_PIECES: usize = 4096;

/// All indices of a shape.
pub(super) fn whole(extents: &[u64], names: Vec<Name>) -> Vec<(Name, i64, i64)> {
    let high = |extent: &u64| i64::try_from(*extent).unwrap_or(i64::MAX);
    let ranges = names.into_iter().zip(extents);
    ranges
        .map(|(name, extent)| (name, 0, high(extent)))
        .collect()
}

type Box = Vec<(i64, i64)>;

impl Piece {
    pub fn ranges(&self) -> Box {
        self.domain
            .iter()
            .map(|(_, low, high)| (*low, *high))
            .collect()
    }

    pub fn is_empty(&self) -> bool {
        self.domain.iter().any(|(_, low, high)| low >= high)
    }

    pub fn is_all(&self, shape: &[u64]) -> bool {
        let mut pairs = self.domain.iter().zip(shape);
        pairs.all(|((_, low, high), extent)| *low <= 0 && i128::from(*high) >= i128::from(*extent))
    }

    /// The piece in another box.
    pub fn within(&self, ranges: &[(i64, i64)]) -> Piece {
        let pairs = self.domain.iter().zip(ranges);
        Piece {
            domain: pairs.map(|((n, ..), (l, h))| (n.clone(), *l, *h)).collect(),
            value: self.value.clone(),
        }
    }

    /// The value with other iterators for its dimensions.
    pub fn renamed(&self, names: &[Name]) -> Scalar {
        self.value.substitute(&|name| {
            let place = self.domain.iter().position(|(n, ..)| n == name)?;
            Some(Affine::iterator(names.get(place)?.clone()))
        })
    }
}

/// The part that two boxes share.
pub(super) fn shared(a: &[(i64, i64)], b: &[(i64, i64)]) -> Option<Box> {
    let pairs = a.iter().zip(b).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
    let both: Box = pairs.collect();
    both.iter().all(|(low, high)| low < high).then_some(both)
}

/// The parts of a box outside of another one, as disjoint boxes.
fn without(a: &Box, b: &Box) -> Vec<Box> {
    let Some(both) = shared(a, b) else {
        return vec![a.clone()];
    };
    let (mut found, mut rest) = (Vec::new(), a.clone());
    for (d, (low, high)) in both.into_iter().enumerate() {
        for side in [(rest[d].0, low), (high, rest[d].1)] {
            if side.0 < side.1 {
                let mut part = rest.clone();
                part[d] = side;
                found.push(part);
            }
        }
        rest[d] = (low, high);
    }
    found
}
