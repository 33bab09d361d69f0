//! Types of terms: their extents, or the rule that they violate.
//!
//! Source: the model language, Figs. 7–9; TeIL, Fig. 8. One function has the rules of both: a
//! contraction is a reduction of a diagonal, and scalars multiply on the left.

use super::term::{Declaration, Dimension, Extent, Kind, Term};
use crate::closest;
use crate::ir::{BinaryOp, Constant, Elem};
use crate::problem::{Problem, Span};
use std::collections::BTreeMap;

/// Tensor types, Γ: the extents of each variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    variables: BTreeMap<String, (Vec<u64>, Span)>,
    elem: Elem,
}

/// The greatest rank of a term.
const MAX_RANK: usize = 64;

impl Context {
    /// The context of declarations with numbers as extents. Among several of one name, the first
    /// applies. Elements and numbers are of type `elem`.
    pub fn of(declarations: &[Declaration], elem: Elem) -> Context {
        let mut variables = BTreeMap::new();
        for declaration in declarations {
            let (name, span) = &declaration.name;
            let extents = declaration.extents.iter().map(|(extent, _)| match extent {
                Extent::Number(value) => Some(*value),
                Extent::Name(_) => None,
            });
            if let Some(extents) = extents.collect::<Option<Vec<u64>>>() {
                let entry = (extents, span.clone());
                variables.entry(name.clone()).or_insert(entry);
            }
        }
        Context { variables, elem }
    }

    /// The extents of a variable and the place of its declaration.
    pub fn get(&self, name: &str) -> Option<&(Vec<u64>, Span)> {
        self.variables.get(name)
    }

    /// The number as a constant, if its type has such a value.
    pub fn number(&self, value: f64) -> Option<Constant> {
        Constant::of_float(self.elem, value)
    }

    /// The names of the variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// The type of a term.
    ///
    /// # Errors
    /// The first rule that is violated, from the operands outward.
    pub fn type_of(&self, term: &Term) -> Result<Vec<u64>, Problem> {
        let extents = self.of_kind(term)?;
        if extents.len() > MAX_RANK {
            Err(Problem::new(
                &term.span,
                format!("a tensor of more than {MAX_RANK} dimensions"),
            ))
        } else {
            Ok(extents)
        }
    }

    fn of_kind(&self, term: &Term) -> Result<Vec<u64>, Problem> {
        match &term.kind {
            Kind::Number(value) => match self.number(*value) {
                Some(_) => Ok(Vec::new()),
                None => {
                    let text = format!("{value} is not a value of type {}", self.elem);
                    Err(Problem::new(&term.span, text))
                }
            },
            Kind::Variable(name) => match self.get(name) {
                Some((extents, _)) => Ok(extents.clone()),
                None => Err(self.undeclared(name, &term.span).rule("t-var")),
            },
            Kind::Elementwise(op, left, right) => {
                let (l, r) = (self.type_of(left)?, self.type_of(right)?);
                match op {
                    _ if l == r => Ok(l),
                    BinaryOp::Mul if l.is_empty() => Ok(r),
                    BinaryOp::Div if r.is_empty() => Ok(l),
                    _ => Err(mismatch(*op, (left, &l), (right, &r))),
                }
            }
            Kind::Product(left, right) => {
                let mut extents = self.type_of(left)?;
                extents.extend(self.type_of(right)?);
                Ok(extents)
            }
            Kind::Reduce(_, dimension, of) => {
                let mut extents = self.type_of(of)?;
                extents.remove(place(dimension, &extents, of, "t-red")?);
                Ok(extents)
            }
            Kind::Transpose([m, n], of) => {
                let mut extents = self.type_of(of)?;
                let m = place(m, &extents, of, "t-trans")?;
                let n = place(n, &extents, of, "t-trans")?;
                extents.swap(m, n);
                Ok(extents)
            }
            Kind::Diagonal(pair, of) => {
                let mut extents = self.type_of(of)?;
                let [m, n] = equal_pair(pair, &extents, of, "t-diag")?;
                if m > n {
                    let (first, second) = (&pair[0], &pair[1]);
                    let span = first.1.start..second.1.end;
                    let (first, second) = (first.0, second.0);
                    return Err(Problem::new(
                        &span,
                        format!(
                            "a diagonal names the lesser dimension first, not {first} {second}"
                        ),
                    )
                    .rule("t-diag")
                    .help(format!("write {second} {first}")));
                }
                extents.remove(n);
                Ok(extents)
            }
            Kind::Expand(dimension, (extent, span), of) => {
                let mut extents = self.type_of(of)?;
                let (at, of_dimension) = (dimension.0, &dimension.1);
                if at == 0 || at > extents.len() as u64 + 1 {
                    let last = extents.len() + 1;
                    return Err(Problem::new(
                        of_dimension,
                        format!("dimension {at} cannot be added: 1 to {last} can"),
                    )
                    .rule("t-expa")
                    .see(&of.span, format!("of type {}", shown(&extents))));
                }
                if *extent == 0 {
                    let problem = Problem::new(span, "an extent of 0: extents are 1 or more");
                    return Err(problem.rule("t-expa"));
                }
                extents.insert(at as usize - 1, *extent);
                Ok(extents)
            }
            Kind::Project(dimension, (index, span), of) => {
                let mut extents = self.type_of(of)?;
                let at = place(dimension, &extents, of, "t-proj")?;
                let extent = extents.remove(at);
                if (1..=extent).contains(index) {
                    Ok(extents)
                } else {
                    Err(Problem::new(
                    span,
                    format!(
                        "index {index} is outside of dimension {}, whose indices are 1 to {extent}",
                        dimension.0
                    ),
                )
                .rule("t-proj"))
                }
            }
            Kind::Shift(dimension, (by, span), of) => {
                let extents = self.type_of(of)?;
                let extent = extents[place(dimension, &extents, of, "t-shift")?];
                if by.unsigned_abs() < extent {
                    return Ok(extents);
                }
                let text = format!(
                    "a shift by {by} moves all {extent} elements out of dimension {}",
                    dimension.0
                );
                Err(Problem::new(span, text).rule("t-shift"))
            }
            Kind::Contract(pairs, of) => {
                let extents = self.type_of(of)?;
                let mut gone: Vec<(usize, &Span)> = Vec::new();
                for pair in pairs {
                    let places = equal_pair(pair, &extents, of, "t-contr")?;
                    for (place, dimension) in places.into_iter().zip(pair) {
                        if let Some((_, first)) = gone.iter().find(|(p, _)| *p == place) {
                            return Err(Problem::new(
                                &dimension.1,
                                format!("dimension {} is contracted twice", dimension.0),
                            )
                            .rule("t-contr")
                            .see(first, "here first"));
                        }
                        gone.push((place, &dimension.1));
                    }
                }
                let kept = extents.iter().enumerate();
                let kept = kept.filter(|(k, _)| gone.iter().all(|(place, _)| place != k));
                Ok(kept.map(|(_, extent)| *extent).collect())
            }
        }
    }

    /// The problem of a name without a declaration.
    pub fn undeclared(&self, name: &str, span: &Span) -> Problem {
        let problem = Problem::new(span, format!("`{name}` is not declared"));
        let similar = closest(name, self.names());
        match similar {
            Some(similar) => problem.help(format!("did you mean `{similar}`?")),
            None => problem,
        }
    }
}

/// A type in the notation of both papers.
pub(super) fn shown(extents: &[u64]) -> String {
    let texts: Vec<String> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", texts.join(" "))
}

fn mismatch(op: BinaryOp, left: (&Term, &[u64]), right: (&Term, &[u64])) -> Problem {
    let span = left.0.span.start..right.0.span.end;
    let symbol = op.symbol();
    let (l, r) = (shown(left.1), shown(right.1));
    let problem = Problem::new(
        &span,
        format!("the operands of `{symbol}` are of types {l} and {r}"),
    )
    .rule("t-elem")
    .see(&left.0.span, format!("of type {l}"))
    .see(&right.0.span, format!("of type {r}"));
    match op {
        BinaryOp::Mul if right.1.is_empty() => {
            problem.help("a scalar multiplies on the left: write it first (t-smul)")
        }
        BinaryOp::Div if left.1.is_empty() => {
            problem.help("a scalar divides on the right only (t-sdiv)")
        }
        BinaryOp::Add | BinaryOp::Sub if left.1.is_empty() || right.1.is_empty() => {
            problem.help("a scalar can only multiply or divide a tensor")
        }
        _ => problem,
    }
}

/// The position of a dimension, counted from 0.
fn place(
    dimension: &Dimension,
    extents: &[u64],
    of: &Term,
    rule: &'static str,
) -> Result<usize, Problem> {
    let (number, span) = dimension;
    match usize::try_from(*number) {
        Ok(number) if (1..=extents.len()).contains(&number) => Ok(number - 1),
        _ => {
            let has = match extents.len() {
                0 => "a scalar has none".to_owned(),
                1 => "there is only dimension 1".to_owned(),
                rank => format!("there are dimensions 1 to {rank}"),
            };
            let problem = Problem::new(span, format!("there is no dimension {number}: {has}"));
            let problem = problem.rule(rule);
            Err(problem.see(&of.span, format!("of type {}", shown(extents))))
        }
    }
}

/// The positions of two dimensions of one extent.
fn equal_pair(
    pair: &[Dimension; 2],
    extents: &[u64],
    of: &Term,
    rule: &'static str,
) -> Result<[usize; 2], Problem> {
    let m = place(&pair[0], extents, of, rule)?;
    let n = place(&pair[1], extents, of, rule)?;
    let span = pair[0].1.start..pair[1].1.end;
    let problem = if m == n {
        let what = format!("dimension {} cannot be paired with itself", pair[0].0);
        Problem::new(&span, what)
    } else if extents[m] != extents[n] {
        let ([first, second], [m, n]) = ([pair[0].0, pair[1].0], [extents[m], extents[n]]);
        let what = format!("dimensions {first} and {second} have extents {m} and {n}");
        Problem::new(&span, what).help("only dimensions of the same extent have a diagonal")
    } else {
        return Ok([m, n]);
    };
    let problem = problem.rule(rule);
    Err(problem.see(&of.span, format!("of type {}", shown(extents))))
}
