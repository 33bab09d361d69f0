//! Arguments of operations, as values that a step of a path keeps.

use super::{Arg, Nest, Path};
use crate::ir::affine::Affine;
use crate::ir::literal::{Iters, LoopRef};

/// Nests in arguments keep the steps that made them up to this depth, so that walks over paths can
/// recurse.
const MAX_PATH_DEPTH: usize = 100;

impl Arg {
    /// The argument as a nest.
    pub fn as_nest(&self) -> Option<&Nest> {
        match self {
            Arg::Nest(nest) => Some(nest),
            _ => None,
        }
    }

    /// The path of a nest argument, or an argument's list of steps.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Arg::Nest(nest) => Some(nest.path()),
            Arg::Steps(path) => Some(path),
            _ => None,
        }
    }

    /// The argument as a step keeps it: a nest at the depth limit loses its path.
    #[must_use]
    pub fn within_limits(&self) -> Arg {
        match self {
            Arg::Nest(nest) if nest.path().depth() >= MAX_PATH_DEPTH => {
                Arg::Nest(nest.without_path())
            }
            other => other.clone(),
        }
    }

    /// The argument in a few words: trees by name, without texts of several lines.
    pub fn short(&self) -> String {
        match self {
            Arg::Nest(nest) => nest.label().map_or("…".to_owned(), |l| l.to_string()),
            Arg::Expr(expr) => expr.tensor().map_or("…", |t| t.label()).to_owned(),
            Arg::Word(text) if text.contains('\n') => "…".to_owned(),
            other => other.script(),
        }
    }

    /// The argument as a script writes it. Trees have no short form.
    pub fn script(&self) -> String {
        match self {
            Arg::Nest(_) | Arg::Expr(_) => self.short(),
            Arg::Exprs(list) => {
                let texts = list.iter().map(|expr| Arg::Expr(expr.clone()).short());
                format!("[{}]", texts.collect::<Vec<_>>().join(", "))
            }
            Arg::Operands(list) => {
                let texts: Vec<String> = list.iter().map(Arg::short).collect();
                format!("[{}]", texts.join(", "))
            }
            Arg::Loop(l) => l.to_string(),
            Arg::Loops(loops) => {
                let texts: Vec<String> = loops.iter().map(LoopRef::to_string).collect();
                format!("[{}]", texts.join(", "))
            }
            Arg::Word(word) => format!("{word:?}"),
            Arg::Number(number) => number.to_string(),
            Arg::Comparison(comparison) => format!("\"{}\"", comparison.symbol()),
            Arg::Int(value) => value.to_string(),
            Arg::Flag(flag) => flag.to_string(),
            Arg::Extents(list) => {
                let texts: Vec<String> = list.iter().map(Affine::to_string).collect();
                format!("[{}]", texts.join(", "))
            }
            Arg::Order(list) => format!("{list:?}"),
            Arg::Elem(elem) => format!("\"{elem}\""),
            Arg::Iters(list) => iterators(list),
            Arg::IterLists(lists) => iterator_lists(lists),
            Arg::Arrow(arrow) => match arrow.from.as_slice() {
                [] => iterators(&arrow.to),
                lists => format!("{} -> {}", iterator_lists(lists), iterators(&arrow.to)),
            },
            Arg::Dimensions(pairs) => match pairs.as_slice() {
                [pair] => format!("{pair:?}"),
                pairs => format!("{pairs:?}"),
            },
            Arg::Steps(path) => {
                let steps: Vec<String> = path.steps().iter().map(|s| format!(".{s}")).collect();
                format!("|sub| sub{}", steps.concat())
            }
            Arg::Ranges(domain) => domain.script(),
            Arg::Operator(operator) => operator.name.to_string(),
            Arg::Options(options) => {
                let options = options.iter();
                let texts: Vec<String> = options
                    .map(|(name, value)| format!("{name}: {}", value.script()))
                    .collect();
                format!("#{{{}}}", texts.join(", "))
            }
        }
    }
}

fn iterators(list: &[Affine]) -> String {
    let texts: Vec<String> = list.iter().map(Affine::to_string).collect();
    format!("[{}]", texts.join(", "))
}

fn iterator_lists(lists: &[Iters]) -> String {
    let text = |list: &Iters| list.as_ref().map_or("()".to_owned(), |l| iterators(l));
    let texts: Vec<String> = lists.iter().map(text).collect();
    format!("[{}]", texts.join(", "))
}
