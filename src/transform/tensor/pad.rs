//! `pad` gives a tensor storage with rounded extents, and zeros behind its elements.
//!
//! ```rhai
//! let A = pad(tensor([5, 7]), 4);
//! let x = pad(tensor([7]), 4);
//! let y = einsum("ij,j->i", A, x);
//! init(A, 1.0);
//! init(x, 2.0);
//! print(y); print(build(y));
//! ```
//!
//! ```text
//! f64 y[8], A[8][8], x[8]
//! y[i] = sum(j: A[i][j] * x[j])
//! f64 y[8], A[8][8], x[8]
//! fill y[0..8] = 0
//! for i in 0..8
//!   for j in 0..8
//!     y[i] += A[i][j] * x[j]
//! ```
//!
//! `pad(tensor, multiple)` rounds each extent up to a multiple, so that loops over the storage have
//! no remainders, and rows are aligned. The caller of a kernel owns the storage: nothing is copied.
//!
//! The elements behind the given extents are 0. `init` sets the elements before them, and refuses
//! other numbers behind. `run` returns the elements before them.
//!
//! Every assignment keeps the zeros: its value is 0 behind the extents of its operands, so that sums
//! gain nothing, and its target is padded as they are. A division of padded tensors is controlled: 0
//! over anything is 0 (Def. 8). This holds for finite elements: 0 times an infinity is not 0.
//!
//! Refuses: multiples below 1; values that are not 0 behind the extents (`exp(A)`, `A + 1`), and
//! reductions other than sums over them. Ranges that end before the zeros make these legal, such as
//! `#{i: 0..5}`.
//!
//! Source: the model language, §4: Defs. 7 to 9, Theorems 2 and 3.

use crate::analysis::shape::{self, IteratorRange};
use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Expr, Function, Index, Infix, Name, Node, Reduction,
    Shape, Tensor,
};
use crate::{Error, Op, Param, Returns, Value, mistake, refusal};
use std::collections::BTreeMap;

const TENSOR: Param<Expr> = Param::new("tensor");
const MULTIPLE: Param<i64> = Param::new("multiple");

/// `pad(tensor, multiple)`.
pub static PAD_TENSOR: Op = Op {
    name: "pad",
    params: &[TENSOR.any(), MULTIPLE.any()],
    returns: Returns::Expr,
    file: include_str!("pad.rs"),
    call: |args| pad(args.get(&TENSOR)?, args.get(&MULTIPLE)?).map(Value::Expr),
};

/// The tensor with extents that are multiples, and zeros behind its elements.
///
/// # Errors
/// As the header says.
pub fn pad(tensor: &Expr, multiple: i64) -> Result<Expr, Error> {
    let Node::Access {
        tensor: inner,
        index: Index::Unset,
    } = tensor.node()
    else {
        let what = Infix(tensor);
        return Err(mistake(format!("{what} is not a tensor without indices"))
            .help("declare it: `let A = pad(tensor([5, 7]), 4)`")
            .at(&TENSOR));
    };
    if multiple < 1 {
        let what = format!("extents become multiples of 1 or more, not of {multiple}");
        return Err(mistake(what).at(&MULTIPLE));
    }
    let Some(extents) = inner.shape().numbers() else {
        let what = format!(
            "{} has sizes, and padded extents are numbers",
            Infix(tensor)
        );
        let error = mistake(what).help("declare the size with `size(\"N\", #{multiple: 8})`");
        return Err(error.at(&TENSOR));
    };
    let extents: Vec<i64> = extents
        .iter()
        .map(|extent| {
            let rounded = extent.checked_next_multiple_of(multiple.unsigned_abs());
            rounded
                .and_then(|e| i64::try_from(e).ok())
                .unwrap_or(i64::MAX)
        })
        .collect();
    let storage = Shape::new(&extents, inner.elem()).map_err(|e| Error::from(e).at(&MULTIPLE))?;
    Ok(Expr::of_tensor(inner.stored_in(storage)))
}

/// The assignment with controlled divisions, and with a target that is padded where its operands
/// are; as it is if none of its tensors is padded.
///
/// # Errors
/// The value is not 0 behind the extents of a padded tensor.
pub(super) fn kept_zero(assignment: Expr) -> Result<Expr, Error> {
    let mut is_padded = false;
    assignment.for_each_tensor(&mut |tensor| is_padded |= tensor.inner().is_some());
    let Node::Assign {
        target,
        value,
        within,
        elsewhere,
    } = assignment.node()
    else {
        return Ok(assignment);
    };
    let Node::Access {
        tensor,
        index: Index::At(index),
    } = target.node()
    else {
        return Ok(assignment);
    };
    if !is_padded {
        return Ok(assignment);
    }
    let ranges = shape::all_ranges(&assignment)?;
    let reader = Reader { ranges: &ranges };
    let ends = reader.ends(value)?;
    let padded = reader.padded(value)?;
    let given = tensor.inner().map(<[u64]>::to_vec);
    let mut inner = Vec::with_capacity(index.len());
    for (d, (own, extent)) in index.iter().zip(tensor.shape().extents()).enumerate() {
        let last = |name: &Name| {
            reader
                .end(name)
                .min(ends.get(name).copied().unwrap_or(i64::MAX))
        };
        let end = match own.as_iterator() {
            Some(name) => {
                if let Some(behind) = padded.get(name)
                    && last(name) > *behind
                {
                    return Err(not_zero(name, value));
                }
                last(name).max(0).cast_unsigned().min(*extent)
            }
            None => *extent,
        };
        if let Some(given) = given.as_ref().and_then(|given| given.get(d))
            && end > *given
        {
            return Err(match own.as_iterator() {
                Some(name) => not_zero(name, value),
                None => beyond(tensor, own),
            });
        }
        inner.push(end);
    }
    let tensor = match &given {
        Some(_) => tensor.clone(),
        None if inner != tensor.shape().extents() => tensor.with_inner(inner),
        None => tensor.clone(),
    };
    Ok(Expr::new(Node::Assign {
        target: Expr::access(tensor, Index::At(index.clone())),
        value: controlled(value),
        within: within.clone(),
        elsewhere: *elsewhere,
    }))
}

fn not_zero(iterator: &Name, value: &Expr) -> Error {
    let text = Infix(value);
    refusal(format!(
        "behind the extents of a padded tensor, this is not 0 at `{iterator}`: {text}"
    ))
    .help(format!(
        "a range that ends before the zeros makes it legal, such as `#{{{iterator}: 0..5}}`"
    ))
}

fn beyond(tensor: &Tensor, index: &Affine) -> Error {
    let label = tensor.label();
    refusal(format!(
        "the index {index} of {label} may reach the zeros behind its elements"
    ))
    .help("single iterators are safe, and ranges that end before the zeros")
}

/// Each iterator and the value from which on something holds.
type Ends = BTreeMap<Name, i64>;

struct Reader<'r> {
    ranges: &'r [IteratorRange],
}

impl Reader<'_> {
    /// One past the last value of an iterator.
    fn end(&self, name: &Name) -> i64 {
        let range = self.ranges.iter().find(|range| range.name == *name);
        range.map_or(i64::MAX, |range| range.high)
    }

    /// The iterators that reach the zeros of a padded tensor, and the last value from which on one
    /// is only at zeros.
    fn padded(&self, expr: &Expr) -> Result<Ends, Error> {
        let mut found = Ends::new();
        let mut wrong = None;
        expr.for_each_access(&mut |tensor, index| {
            let (Some(inner), Index::At(index)) = (tensor.inner(), index) else {
                return;
            };
            for (own, (end, extent)) in index.iter().zip(inner.iter().zip(tensor.shape().extents()))
            {
                let end = i64::try_from(*end).unwrap_or(i64::MAX);
                if end.cast_unsigned() == *extent {
                    continue;
                }
                match own.as_iterator() {
                    Some(name) if self.end(name) > end => {
                        let last = found.entry(name.clone()).or_insert(end);
                        *last = (*last).max(end);
                    }
                    Some(_) => {}
                    None => {
                        let bounds = |name: &Name| {
                            let range = self.ranges.iter().find(|range| range.name == *name)?;
                            Some((range.low, range.high - 1))
                        };
                        let reach = own.interval(&bounds);
                        if reach.is_none_or(|(_, high)| high >= end) {
                            wrong.get_or_insert_with(|| beyond(tensor, own));
                        }
                    }
                }
            }
        });
        wrong.map_or(Ok(found), Err)
    }

    /// The values of iterators from which on an expression is 0. Sums over padded dimensions must
    /// end in zeros.
    fn ends(&self, expr: &Expr) -> Result<Ends, Error> {
        match expr.node() {
            Node::Access {
                tensor,
                index: Index::At(index),
            } => {
                let Some(inner) = tensor.inner() else {
                    return Ok(Ends::new());
                };
                let each = index.iter().zip(inner).filter_map(|(own, end)| {
                    let end = i64::try_from(*end).unwrap_or(i64::MAX);
                    Some((own.as_iterator()?.clone(), end))
                });
                Ok(each.collect())
            }
            Node::Binary {
                op, left, right, ..
            } => {
                let (left, right) = (self.ends(left)?, self.ends(right)?);
                Ok(match op {
                    BinaryOp::Mul => {
                        let mut both = left;
                        for (name, end) in right {
                            let known = both.entry(name).or_insert(end);
                            *known = (*known).min(end);
                        }
                        both
                    }
                    BinaryOp::Div => left,
                    BinaryOp::Add | BinaryOp::Sub => {
                        let both = left.into_iter().filter_map(|(name, end)| {
                            let other = right.get(&name)?;
                            Some((name, end.max(*other)))
                        });
                        both.collect()
                    }
                    BinaryOp::Min | BinaryOp::Max | BinaryOp::Pow | BinaryOp::Mod => Ends::new(),
                })
            }
            Node::Apply {
                function:
                    Function::Neg
                    | Function::Cast(_)
                    | Function::Abs
                    | Function::Sqrt
                    | Function::Tanh
                    | Function::Sin
                    | Function::Floor
                    | Function::Ceil
                    | Function::Round
                    | Function::Erf,
                args,
                ..
            } => args.first().map_or(Ok(Ends::new()), |arg| self.ends(arg)),
            Node::Apply { args, .. } => {
                args.iter().try_for_each(|arg| self.ends(arg).map(drop))?;
                Ok(Ends::new())
            }
            Node::Reduce {
                reduction,
                over,
                body,
                ..
            } => {
                let mut ends = self.ends(body)?;
                let padded = self.padded(body)?;
                for name in over {
                    let zero = ends.remove(name).filter(|_| *reduction == Reduction::Sum);
                    if let Some(behind) = padded.get(name)
                        && zero.is_none_or(|zero| zero > *behind)
                    {
                        return Err(not_zero(name, body));
                    }
                }
                Ok(if *reduction == Reduction::Sum {
                    ends
                } else {
                    Ends::new()
                })
            }
            Node::Access { .. }
            | Node::Constant(_)
            | Node::Index(_)
            | Node::Virtual { .. }
            | Node::Assign { .. }
            | Node::Pieces { .. } => Ok(Ends::new()),
        }
    }
}

/// The value with divisions of padded tensors controlled: 0 over anything is 0. A number other than
/// 0 as the divisor needs no control.
fn controlled(value: &Expr) -> Expr {
    value.replace(&|part| {
        let Node::Binary {
            op: BinaryOp::Div,
            left,
            right,
            shape,
        } = part.node()
        else {
            return None;
        };
        let mut is_padded = false;
        part.for_each_tensor(&mut |tensor| is_padded |= tensor.inner().is_some());
        let is_number = matches!(right.node(), Node::Constant(value) if !value.is_zero());
        let (left, right) = (controlled(left), controlled(right));
        let zero = Expr::new(Node::Constant(Constant::small(left.elem(), 0)));
        let quotient = Expr::new(Node::Binary {
            op: BinaryOp::Div,
            shape: shape.clone(),
            left: left.clone(),
            right,
        });
        Some(if is_padded && !is_number {
            Expr::new(Node::Apply {
                function: Function::Select(Comparison::Equal),
                shape: shape.clone(),
                args: vec![left, zero.clone(), zero, quotient],
            })
        } else {
            quotient
        })
    })
}
