//! Writes assignments as SaC's comprehensions.

use crate::analysis::shape::{all_ranges, ranges};
use crate::ir::{
    Affine, BinaryOp, Constant, Elem, Expr, Function, Index, Name, Node, Reduction, Tensor,
};
use std::collections::BTreeMap;

type Said<T> = Result<T, String>;

/// `double[3,4] A;`.
pub(super) fn declaration(tensor: &Tensor) -> String {
    let (elem, shape) = (elem(tensor.elem()), shape(tensor));
    format!("{elem}{shape} {};", tensor.label())
}

/// SaC's name of a type.
fn elem(elem: Elem) -> &'static str {
    match elem {
        Elem::F64 => "double",
        Elem::F32 => "float",
        Elem::I32 | Elem::I64 => "int",
    }
}

/// The value of an assignment.
pub(super) fn value(assignment: &Expr) -> Said<String> {
    if let Node::Pieces { pieces, otherwise } = assignment.node() {
        let mut texts: Vec<String> = pieces.iter().map(partition).collect::<Said<_>>()?;
        match otherwise {
            Some(rest) => texts.push(partition(rest)?),
            // The last partition determines the shape, which the pieces only have together.
            None => texts.extend(assignment.tensor().map(zeros)),
        }
        return Ok(format!("{{ {} }}", texts.join("; ")));
    }
    let Node::Assign {
        target, elsewhere, ..
    } = assignment.node()
    else {
        return Err("such statements".into());
    };
    let tensor = target.tensor().ok_or("such targets")?;
    if tensor.shape().rank() == 0 {
        let Node::Assign { value, .. } = assignment.node() else {
            return Err("such statements".into());
        };
        return Writer::of(assignment)?.text(value, 0);
    }
    let own = partition(assignment)?;
    let rest = match (elsewhere, is_all(assignment, tensor)) {
        (_, true) => None,
        (Some(constant), false) => Some(format!("iv -> {constant} | iv < {}", shape(tensor))),
        (None, false) => Some(format!("iv -> {}[iv]", tensor.label())),
    };
    Ok(match rest {
        None => format!("{{ {own} }}"),
        Some(rest) => format!("{{ {own}; {rest} }}"),
    })
}

fn shape(tensor: &Tensor) -> String {
    list(&tensor.shape().texts())
}

fn zeros(tensor: &Tensor) -> String {
    format!("iv -> 0 | iv < {}", shape(tensor))
}

/// Whether an assignment sets all elements.
fn is_all(assignment: &Expr, tensor: &Tensor) -> bool {
    let Ok(bounds) = bounds(assignment) else {
        return false;
    };
    let extents = tensor.shape().extents().iter();
    let high = extents.map(|extent| i64::try_from(*extent).unwrap_or(i64::MAX));
    bounds
        .iter()
        .map(|(_, low, high)| (*low, *high))
        .eq(high.map(|high| (0, high)))
}

/// The index variables of the target's dimensions, and their ranges. Indices such as `i + 1` are
/// replaced by variables first.
fn bounds(assignment: &Expr) -> Said<Vec<(Name, i64, i64)>> {
    let Node::Assign { target, within, .. } = assignment.node() else {
        return Err("such statements".into());
    };
    if within
        .iter()
        .any(|(_, range)| range.as_constant().is_none())
    {
        return Err("ranges that depend on others, or have steps: generators are boxes".into());
    }
    let found = ranges(assignment).map_err(|error| format!("meaning for it: {error}"))?;
    let Node::Access {
        index: Index::At(index),
        ..
    } = target.node()
    else {
        return Ok(Vec::new());
    };
    let each = index.iter().map(|affine| {
        let name = match affine.terms() {
            [(name, 1)] => name,
            _ => return Err("targets with such indices".to_owned()),
        };
        let range = found
            .iter()
            .find(|r| r.name == *name)
            .ok_or("such ranges")?;
        let offset = affine.offset();
        Ok((name.clone(), range.low + offset, range.high + offset))
    });
    each.collect()
}

/// `[i,j] -> value | l <= [i,j] < u`.
fn partition(assignment: &Expr) -> Said<String> {
    let bounds = bounds(assignment)?;
    let Node::Assign { target, value, .. } = assignment.node() else {
        return Err("such statements".into());
    };
    let index = match target.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => index.as_slice(),
        _ => &[],
    };
    let offset = |name: &Name| {
        let affine = index.iter().find(|affine| affine.mentions(name))?;
        Some(Affine::iterator(name.clone()).plus_constant(-affine.offset()))
    };
    let shifted = value.substitute(&offset);
    let names: Vec<Name> = bounds.iter().map(|(name, ..)| name.clone()).collect();
    let text = Writer::of(assignment)?.text(&shifted, 0)?;
    let vector = format!("[{}]", joined(&names));
    let numbers = |of: &dyn Fn(&(Name, i64, i64)) -> i64| {
        let texts: Vec<String> = bounds.iter().map(|b| of(b).to_string()).collect();
        format!("[{}]", texts.join(","))
    };
    let (low, high) = (numbers(&|b| b.1), numbers(&|b| b.2));
    let is_inferred = bounds
        .iter()
        .all(|(name, low, high)| *low == 0 && least_extent(&shifted, name) == Some(*high));
    let generator = match (is_inferred, bounds.iter().all(|b| b.1 == 0)) {
        (true, _) => String::new(),
        (false, true) => format!(" | {vector} < {high}"),
        (false, false) => format!(" | {low} <= {vector} < {high}"),
    };
    Ok(format!("{vector} -> {text}{generator}"))
}

/// The least extent among the dimensions that an iterator indexes alone.
fn least_extent(value: &Expr, name: &Name) -> Option<i64> {
    let mut least: Option<i64> = None;
    value.for_each_access(&mut |tensor, index| {
        let Index::At(index) = index else {
            return;
        };
        for (affine, extent) in index.iter().zip(tensor.shape().extents()) {
            if affine.as_iterator() == Some(name) {
                let extent = i64::try_from(*extent).unwrap_or(i64::MAX);
                least = Some(least.map_or(extent, |e| e.min(extent)));
            }
        }
    });
    least
}

struct Writer {
    ranges: BTreeMap<Name, (i64, i64)>,
}

impl Writer {
    fn of(assignment: &Expr) -> Said<Writer> {
        let found = all_ranges(assignment).map_err(|error| format!("meaning for it: {error}"))?;
        let ranges = found.into_iter().map(|r| (r.name.clone(), (r.low, r.high)));
        Ok(Writer {
            ranges: ranges.collect(),
        })
    }

    /// The text of a value below an operator of precedence `around`.
    fn text(&self, value: &Expr, around: u8) -> Said<String> {
        match value.node() {
            Node::Access { tensor, index } => {
                let name = tensor.label();
                let index: Vec<String> = match index {
                    Index::At(index) => index.iter().map(Affine::to_string).collect(),
                    Index::Unset | Index::Forbidden => Vec::new(),
                };
                Ok(format!("{name}{}", list(&index)))
            }
            Node::Constant(constant) => Ok(match constant {
                Constant::F64(value) if value.fract() == 0.0 && value.is_finite() => {
                    format!("{value:.1}")
                }
                other => other.to_string(),
            }),
            Node::Index(affine) => Ok(match affine.terms().len() {
                1 if affine.offset() == 0 => affine.to_string(),
                _ => format!("({affine})"),
            }),
            Node::Binary {
                op, left, right, ..
            } => {
                let strength = match op {
                    BinaryOp::Add | BinaryOp::Sub => 1,
                    BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => 2,
                    BinaryOp::Min | BinaryOp::Max => {
                        let (left, right) = (self.text(left, 0)?, self.text(right, 0)?);
                        let name = if *op == BinaryOp::Min { "min" } else { "max" };
                        return Ok(format!("{name}({left}, {right})"));
                    }
                    BinaryOp::Pow => return Err("powers".into()),
                };
                let symbol = match op {
                    BinaryOp::Mod => "%",
                    other => other.symbol(),
                };
                let (left, right) = (self.text(left, strength)?, self.text(right, strength + 1)?);
                let text = format!("{left} {symbol} {right}");
                Ok(if strength < around {
                    format!("({text})")
                } else {
                    text
                })
            }
            Node::Apply { function, args, .. } => {
                let arguments: Vec<String> =
                    args.iter().map(|a| self.text(a, 0)).collect::<Said<_>>()?;
                let name = match function {
                    Function::Neg => return Ok(format!("-({})", arguments.join(", "))),
                    Function::Cast(Elem::F64) => "tod",
                    Function::Cast(Elem::F32) => "tof",
                    Function::Cast(_) => "toi",
                    Function::Select(comparison) => {
                        return match arguments.as_slice() {
                            [left, right, then, otherwise] => {
                                let symbol = comparison.symbol();
                                Ok(format!(
                                    "(({left} {symbol} {right}) ? {then} : {otherwise})"
                                ))
                            }
                            _ => Err("such choices".into()),
                        };
                    }
                    other => other.name(),
                };
                Ok(format!("{name}({})", arguments.join(", ")))
            }
            Node::Reduce {
                reduction,
                over,
                within,
                body,
                ..
            } => {
                if within
                    .iter()
                    .any(|(_, range)| range.as_constant().is_none())
                {
                    return Err(
                        "ranges that depend on others, or have steps: generators are boxes".into(),
                    );
                }
                let name = match reduction {
                    Reduction::Sum => "sum",
                    Reduction::Prod => "prod",
                    Reduction::Min => "minval",
                    Reduction::Max => "maxval",
                };
                let vector = format!("[{}]", joined(over));
                let of = |name: &Name| self.ranges.get(name).copied().ok_or("such ranges");
                let bounds: Vec<(i64, i64)> = over.iter().map(of).collect::<Result<_, _>>()?;
                let is_inferred = over.iter().zip(&bounds).all(|(name, (low, high))| {
                    *low == 0 && least_extent(body, name) == Some(*high)
                });
                let low: Vec<String> = bounds.iter().map(|b| b.0.to_string()).collect();
                let high: Vec<String> = bounds.iter().map(|b| b.1.to_string()).collect();
                let generator = if is_inferred {
                    String::new()
                } else {
                    format!(" | {} <= {vector} < {}", list(&low), list(&high))
                };
                let body = self.text(body, 0)?;
                Ok(format!("{name}({{ {vector} -> {body}{generator} }})"))
            }
            Node::Virtual { .. } | Node::Assign { .. } | Node::Pieces { .. } => {
                Err("such values".into())
            }
        }
    }
}

/// `[3,4]`, or the empty text for a scalar.
fn list(extents: &[String]) -> String {
    if extents.is_empty() {
        String::new()
    } else {
        format!("[{}]", extents.join(","))
    }
}

/// Names with commas between them.
fn joined(names: &[Name]) -> String {
    let texts: Vec<&str> = names.iter().map(Name::as_str).collect();
    texts.join(",")
}
