//! Writes assignments as TeML's calls: `C = eq(vcontract(…), [i1, i2])`.

use crate::ir::{
    Affine, Arg, Constant, Domain, Expr, Function, Index, Name, Node, Reduction, Tensor,
};

type Said<T> = Result<T, String>;

/// `A = tensor(double, [3, 4])`.
pub(super) fn declaration(tensor: &Tensor) -> String {
    let name = tensor.label();
    let elem = tensor.elem().name_in_teml();
    if tensor.is_scalar() {
        return format!("{name} = scalar(\"{}\")", tensor.elem());
    }
    let extents = tensor.shape().texts().join(", ");
    match elem {
        "double" | "float" => format!("{name} = tensor({elem}, [{extents}])"),
        _ => format!("{name} = tensor([{extents}], \"{}\")", tensor.elem()),
    }
}

/// The value that a variable is bound to.
pub(super) fn value(assignment: &Expr) -> Said<String> {
    match assignment.node() {
        Node::Pieces { pieces, otherwise } => {
            let pieces: Vec<String> = pieces.iter().map(value).collect::<Said<_>>()?;
            let pieces = pieces.join(", ");
            Ok(match otherwise {
                Some(rest) => format!("partition([{pieces}], {})", value(rest)?),
                None => format!("partition([{pieces}])"),
            })
        }
        Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } => {
            let to = match target.node() {
                Node::Access {
                    index: Index::At(index),
                    ..
                } => index.as_slice(),
                _ => &[],
            };
            let to = iterators(to);
            let (text, from) = operand(value)?;
            let arrow = match from {
                Some(from) => format!("{from} -> {to}"),
                None => to,
            };
            let ranges = ranges(within);
            Ok(match elsewhere {
                Some(constant) => {
                    let tensor = target.tensor().ok_or("such targets")?;
                    let extents = tensor.shape().extents();
                    format!("eq({text}, {arrow}, {extents:?}, {constant}{ranges})")
                }
                None => format!("eq({text}, {arrow}{ranges})"),
            })
        }
        _ => Err("such statements".into()),
    }
}

fn ranges(within: &Domain) -> String {
    if within.is_empty() {
        String::new()
    } else {
        format!(", {}", Arg::Ranges(within.clone()).script())
    }
}

fn iterators(index: &[Affine]) -> String {
    let texts: Vec<String> = index.iter().map(Affine::to_string).collect();
    format!("[{}]", texts.join(", "))
}

/// A value as an operand, and its list of iterators if it takes one.
fn operand(value: &Expr) -> Said<(String, Option<String>)> {
    match value.node() {
        Node::Access { tensor, index } => {
            let name = tensor.label().to_owned();
            Ok(match index {
                Index::At(index) if !index.is_empty() => (name, Some(iterators(index))),
                _ => (name, None),
            })
        }
        _ => Ok((virtual_text(value)?, None)),
    }
}

/// A value that carries its iterators.
fn virtual_text(value: &Expr) -> Said<String> {
    match value.node() {
        Node::Access { .. } => Ok(match operand(value)? {
            (name, Some(index)) => format!("vat({name}, {index})"),
            (name, None) => name,
        }),
        Node::Constant(constant) => Ok(match constant {
            Constant::F64(value) if value.fract() == 0.0 && value.is_finite() => {
                format!("{value:.1}")
            }
            other => other.to_string(),
        }),
        Node::Index(affine) => Ok(format!("vindex({affine})")),
        Node::Binary {
            op, left, right, ..
        } => {
            let ((left, l), (right, r)) = (operand(left)?, operand(right)?);
            let lists = match (l, r) {
                (None, None) => String::new(),
                (Some(l), None) => format!(", [{l}, ]"),
                (l, r) => {
                    let list = |list: Option<String>| list.unwrap_or_else(|| "()".to_owned());
                    format!(", [{}, {}]", list(l), list(r))
                }
            };
            let name = match op {
                crate::ir::BinaryOp::Min => "minimum",
                crate::ir::BinaryOp::Max => "maximum",
                other => other.name(),
            };
            Ok(format!("v{name}({left}, {right}{lists})"))
        }
        Node::Apply { function, args, .. } => {
            let texts: Vec<String> = args.iter().map(virtual_text).collect::<Said<_>>()?;
            match function {
                Function::Select(comparison) => {
                    let Some((first, rest)) = texts.split_first() else {
                        return Err("such choices".into());
                    };
                    let symbol = comparison.symbol();
                    Ok(format!(
                        "vselect({first}, \"{symbol}\", {})",
                        rest.join(", ")
                    ))
                }
                Function::Cast(elem) => Ok(format!("vcast({}, \"{elem}\")", texts.join(", "))),
                other => Ok(format!("v{}({})", other.name(), texts.join(", "))),
            }
        }
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => {
            let name = match reduction {
                Reduction::Sum => "sum",
                Reduction::Prod => "prod",
                Reduction::Min => "min",
                Reduction::Max => "max",
            };
            let over: Vec<&str> = over.iter().map(Name::as_str).collect();
            let (body, over) = (virtual_text(body)?, over.join(", "));
            Ok(format!("v{name}({body}, [{over}]{})", ranges(within)))
        }
        Node::Virtual { .. } | Node::Assign { .. } | Node::Pieces { .. } => {
            Err("such values".into())
        }
    }
}
