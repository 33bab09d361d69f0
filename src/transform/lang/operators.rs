//! The operator language: `auto v = (A*B*C)(u);`.
//!
//! ```text
//! auto A = Matrix(m, n), B = Matrix(m, n), C = Matrix(m, n);
//! auto u = Tensor<3>(n, n, n);
//! auto v = (A*B*C)(u);
//! ```
//!
//! - `Matrix(m, n)` is an operator from n to m elements, and `Tensor<3>(l, m, n)` a tensor; both
//!   are inputs. Extents are numbers, or names that get values from outside
//! - `A*B*C` is the tensor product of operators. It applies to tensors with as many dimensions:
//!   `(A*B*C)(u)`. Products bind more tightly than sums, and a number is a factor: `2*A*B + C*D`
//! - Sums and multiples of tensors and of operators are allowed. An operator applies to any such
//!   tensor
//!
//! Source: Rink and Castrillon, TeIL, 2019: §5, eqs. 7 and 8.

use super::term::{Declaration, Extent, Kind, Statement, Term, Unit};
use super::token::{Errors, Input, Rule, Token, integer, name, parsed, sign, tokens, word};
use crate::ir::BinaryOp;
use crate::problem::{Problem, Span};
use chumsky::input::{Input as _, MapExtra};
use chumsky::prelude::*;
use std::collections::BTreeMap;

const WORDS: &[&str] = &["auto", "Matrix", "Tensor"];

/// An expression as it is written.
#[derive(Clone, Debug)]
struct Node {
    syntax: Syntax,
    span: Span,
}

#[derive(Clone, Debug)]
enum Syntax {
    Name(String),
    Number(f64),
    Sum(bool, Box<Node>, Box<Node>),
    Product(Box<Node>, Box<Node>),
    Applied(Box<Node>, Box<Node>),
}

enum Item {
    Given(Declaration, Option<(u64, Span)>),
    Defined((String, Span), Node),
    /// A part with a syntax error.
    Unread,
}

/// The value of an expression.
enum Value {
    Number(f64),
    /// A sum of multiples of tensor products of matrices.
    Operator(Vec<(f64, Vec<Term>)>),
    Tensor(Term, usize),
}

/// The unit of a text, and the mistakes in it.
pub(super) fn read(text: &str) -> (Unit, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, &[]);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let (items, more) = parsed(file().parse(input));
    problems.extend(more);
    let mut unit = Unit::default();
    let mut known = Known::default();
    for item in items.into_iter().flatten().flatten() {
        match item {
            Item::Unread => {}
            Item::Given(declaration, rank) => {
                let extents = declaration.extents.len();
                if let Some((rank, span)) = &rank
                    && *rank != extents as u64
                {
                    let message = format!("a tensor of {rank} dimensions with {extents} extents");
                    problems.push(Problem::new(span, message));
                }
                let name = declaration.name.0.clone();
                match rank {
                    None => known.matrices.insert(name, declaration.extents.clone()),
                    Some(_) => known.tensors.insert(name, declaration.extents.clone()),
                };
                unit.declarations.push(declaration);
            }
            Item::Defined(name, node) => match known.value(&node) {
                Err(problem) => problems.push(problem),
                Ok(Value::Number(_) | Value::Operator(_)) => {
                    let problem =
                        Problem::new(&node.span, "an operator that is applied to nothing");
                    problems.push(problem.help("apply it to a tensor: `(A*B*C)(u)`"));
                }
                Ok(Value::Tensor(value, _)) => {
                    let extents = known.extents(&value);
                    known.tensors.insert(name.0.clone(), extents.clone());
                    unit.declarations.push(Declaration {
                        name: name.clone(),
                        extents,
                        is_input: false,
                        is_output: true,
                    });
                    unit.statements.push(Statement {
                        target: name,
                        value,
                    });
                }
            },
        }
    }
    (unit, problems)
}

fn at<'t, I: Input<'t> + 't>(e: &mut MapExtra<'t, '_, I, Errors<'t>>) -> Span {
    e.span().into_range()
}

fn file<'t, I: Input<'t> + 't>() -> Rule<'t, I, Vec<Vec<Item>>> {
    let number = integer()
        .map(|(value, span)| (Extent::Number(value), span))
        .boxed();
    let size = name(WORDS)
        .map(|(name, span)| (Extent::Name(name), span))
        .boxed();
    let extents = choice((number, size))
        .separated_by(sign(","))
        .collect::<Vec<_>>()
        .delimited_by(sign("("), sign(")"))
        .boxed();
    let matrix = word("Matrix")
        .ignore_then(extents.clone())
        .map(|e| (None, e))
        .boxed();
    let tensor = word("Tensor")
        .ignore_then(integer().delimited_by(sign("<"), sign(">")))
        .then(extents)
        .map(|(rank, extents)| (Some(rank), extents))
        .boxed();
    let definition = name(WORDS)
        .then_ignore(sign("="))
        .then(choice((
            choice((matrix, tensor)).map(Ok),
            expression().map(Err),
        )))
        .boxed();
    let definition = definition
        .map(|(name, value)| match value {
            Ok((rank, extents)) => {
                let declaration = Declaration {
                    name,
                    extents,
                    is_input: true,
                    is_output: false,
                };
                Item::Given(declaration, rank)
            }
            Err(node) => Item::Defined(name, node),
        })
        .boxed();
    let definitions = word("auto")
        .ignore_then(
            definition
                .separated_by(sign(","))
                .at_least(1)
                .collect::<Vec<_>>(),
        )
        .then_ignore(sign(";"))
        .boxed();
    let skipped = any()
        .and_is(sign(";").not())
        .repeated()
        .at_least(1)
        .then(sign(";").or_not())
        .map(|_| vec![Item::Unread])
        .boxed();
    definitions
        .recover_with(via_parser(skipped))
        .repeated()
        .collect()
        .then_ignore(end())
        .boxed()
}

fn expression<'t, I: Input<'t> + 't>() -> Rule<'t, I, Node> {
    recursive(|node| {
        let number = select! { Token::Integer(text) => text, Token::Decimal(text) => text }
            .try_map(|text: &str, span: SimpleSpan| {
                let value = text.parse().ok().filter(|v: &f64| v.is_finite());
                value.ok_or_else(|| Rich::custom(span, format!("`{text}` is too large")))
            })
            .map(Syntax::Number);
        let name = name(WORDS).map(|(name, _)| Syntax::Name(name)).boxed();
        let primary = choice((number, name))
            .map_with(|syntax, e| Node {
                syntax,
                span: at(e),
            })
            .boxed();
        let inside = node.delimited_by(sign("("), sign(")")).boxed();
        let parenthesis = inside
            .clone()
            .map_with(|node: Node, e| Node {
                span: at(e),
                ..node
            })
            .boxed();
        let primary = choice((primary, parenthesis))
            .labelled("an operator or a tensor")
            .boxed();
        let applied = primary
            .foldl_with(inside.repeated(), |operator, of, e| Node {
                syntax: Syntax::Applied(Box::new(operator), Box::new(of)),
                span: at(e),
            })
            .boxed();
        let product = applied
            .clone()
            .foldl_with(
                sign("*").ignore_then(applied).repeated(),
                |left, right, e| Node {
                    syntax: Syntax::Product(Box::new(left), Box::new(right)),
                    span: at(e),
                },
            )
            .boxed();
        let plus_or_minus = choice((sign("+").to(true), sign("-").to(false))).boxed();
        product.clone().foldl_with(
            plus_or_minus.then(product).repeated(),
            |left, (plus, right), e| Node {
                syntax: Syntax::Sum(plus, Box::new(left), Box::new(right)),
                span: at(e),
            },
        )
    })
    .boxed()
}

/// The names defined so far, with their extents.
#[derive(Default)]
struct Known {
    matrices: BTreeMap<String, Vec<(Extent, Span)>>,
    tensors: BTreeMap<String, Vec<(Extent, Span)>>,
}

impl Known {
    fn value(&self, node: &Node) -> Result<Value, Problem> {
        let span = &node.span;
        match &node.syntax {
            Syntax::Number(value) => Ok(Value::Number(*value)),
            Syntax::Name(name) => {
                let term = Term::new(Kind::Variable(name.clone()), span.clone());
                match (self.matrices.get(name), self.tensors.get(name)) {
                    (Some(_), _) => Ok(Value::Operator(vec![(1.0, vec![term])])),
                    (None, Some(extents)) => Ok(Value::Tensor(term, extents.len())),
                    (None, None) => Err(Problem::new(span, format!("`{name}` is not declared"))
                        .help(format!("declare it: `auto {name} = Matrix(10, 10);`"))),
                }
            }
            Syntax::Sum(plus, left, right) => {
                let sign = if *plus { 1.0 } else { -1.0 };
                match (self.value(left)?, self.value(right)?) {
                    (Value::Number(a), Value::Number(b)) => Ok(Value::Number(a + sign * b)),
                    (Value::Operator(mut a), Value::Operator(b)) => {
                        a.extend(
                            b.into_iter()
                                .map(|(factor, product)| (sign * factor, product)),
                        );
                        Ok(Value::Operator(a))
                    }
                    (Value::Tensor(a, rank), Value::Tensor(b, other)) if rank == other => {
                        let op = if *plus { BinaryOp::Add } else { BinaryOp::Sub };
                        Ok(Value::Tensor(elementwise(op, a, b, span), rank))
                    }
                    (a, b) => Err(no_operation("+", (&a, left), (&b, right), span)),
                }
            }
            Syntax::Product(left, right) => match (self.value(left)?, self.value(right)?) {
                (Value::Number(a), Value::Number(b)) => Ok(Value::Number(a * b)),
                (Value::Number(by), other) | (other, Value::Number(by)) => {
                    Ok(multiple(by, other, span))
                }
                (Value::Operator(a), Value::Operator(b)) => {
                    let mut products = Vec::new();
                    for (x, left) in &a {
                        for (y, right) in &b {
                            let product = left.iter().chain(right).cloned().collect();
                            products.push((x * y, product));
                        }
                    }
                    Ok(Value::Operator(products))
                }
                (a, b) => Err(no_operation("*", (&a, left), (&b, right), span)),
            },
            Syntax::Applied(operator, of) => match (self.value(operator)?, self.value(of)?) {
                (Value::Operator(products), Value::Tensor(tensor, rank)) => {
                    self.applied(&products, &tensor, rank, (operator, of), span)
                }
                (a, b) => Err(no_operation("(…)", (&a, operator), (&b, of), span)),
            },
        }
    }

    /// Σ factor · (A ⊗ B ⊗ …)(tensor).
    fn applied(
        &self,
        products: &[(f64, Vec<Term>)],
        tensor: &Term,
        rank: usize,
        (operator, of): (&Node, &Node),
        span: &Span,
    ) -> Result<Value, Problem> {
        let mut sum: Option<Term> = None;
        for (factor, matrices) in products {
            if matrices.len() != rank {
                let count = matrices.len();
                let message = format!(
                    "a product of {count} matrices is applied to a tensor of {rank} dimensions"
                );
                return Err(Problem::new(span, message)
                    .see(&operator.span, format!("{count} matrices"))
                    .see(&of.span, format!("{rank} dimensions")));
            }
            let new = |kind: Kind| Term::new(kind, span.clone());
            let all = matrices.iter().cloned().chain([tensor.clone()]);
            let product = all.reduce(|a, b| new(Kind::Product(Box::new(a), Box::new(b))));
            let Some(product) = product else {
                continue;
            };
            // Pairs the second dimension of each matrix with the dimension of the tensor.
            let pairs = (0..rank).map(|k| {
                let dimension = |number: usize| (number as u64, span.clone());
                [dimension(2 * k + 2), dimension(2 * rank + k + 1)]
            });
            let applied = new(Kind::Contract(pairs.collect(), Box::new(product)));
            let scaled = match *factor {
                1.0 => applied,
                factor => elementwise(BinaryOp::Mul, number(factor, span), applied, span),
            };
            sum = Some(match sum {
                None => scaled,
                Some(before) => elementwise(BinaryOp::Add, before, scaled, span),
            });
        }
        match sum {
            Some(term) => Ok(Value::Tensor(term, rank)),
            None => Err(Problem::new(span, "an operator without matrices")),
        }
    }

    /// The extents of a tensor, as far as they are declared.
    fn extents(&self, term: &Term) -> Vec<(Extent, Span)> {
        match &term.kind {
            Kind::Variable(name) => {
                let found = self.tensors.get(name).or(self.matrices.get(name));
                found.cloned().unwrap_or_default()
            }
            Kind::Elementwise(_, left, right) => match left.kind {
                Kind::Number(_) => self.extents(right),
                _ => self.extents(left),
            },
            Kind::Product(left, right) => {
                let mut extents = self.extents(left);
                extents.extend(self.extents(right));
                extents
            }
            Kind::Contract(pairs, of) => {
                let gone: Vec<u64> = pairs.iter().flatten().map(|(number, _)| *number).collect();
                let kept = self.extents(of).into_iter().zip(1..);
                let kept = kept.filter(|(_, number)| !gone.contains(number));
                kept.map(|(extent, _)| extent).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn number(value: f64, span: &Span) -> Term {
    Term::new(Kind::Number(value), span.clone())
}

fn elementwise(op: BinaryOp, left: Term, right: Term, span: &Span) -> Term {
    let kind = Kind::Elementwise(op, Box::new(left), Box::new(right));
    Term::new(kind, span.clone())
}

fn multiple(by: f64, value: Value, span: &Span) -> Value {
    match value {
        Value::Number(value) => Value::Number(by * value),
        Value::Operator(products) => {
            let scaled = products
                .into_iter()
                .map(|(factor, product)| (by * factor, product));
            Value::Operator(scaled.collect())
        }
        Value::Tensor(tensor, rank) => Value::Tensor(
            elementwise(BinaryOp::Mul, number(by, span), tensor, span),
            rank,
        ),
    }
}

fn no_operation(
    symbol: &str,
    (left, left_node): (&Value, &Node),
    (right, right_node): (&Value, &Node),
    span: &Span,
) -> Problem {
    let what = |value: &Value| match value {
        Value::Number(_) => "a number".to_owned(),
        Value::Operator(_) => "an operator".to_owned(),
        Value::Tensor(_, rank) => format!("a tensor of {rank} dimensions"),
    };
    let (left, right) = (what(left), what(right));
    Problem::new(span, format!("{left} and {right} have no `{symbol}`"))
        .see(&left_node.span, left)
        .see(&right_node.span, right)
}
