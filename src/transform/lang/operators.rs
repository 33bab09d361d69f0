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
//!   `(A*B*C)(u)`. Products bind more tightly than sums, and a number is a factor or a divisor:
//!   `2*A*B + C*D/3`
//! - Sums and multiples of tensors and of operators are allowed. An operator applies to any such
//!   tensor
//! - `auto L = A*B + B*A;` names an operator: `L(L(u))`
//! - Further dimensions of a tensor, before or after the operands of an operator, are a batch:
//!   `Tensor<4>(e, n, n, n)` has e elements of n by n by n numbers. Extents say where the batch is.
//!   An application that fits in two places is refused
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
    Quotient(Box<Node>, Box<Node>),
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
    Operator(Operator),
    Tensor(Term, usize),
}

/// A sum of multiples of tensor products of matrices.
type Operator = Vec<(Factor, Vec<Term>)>;

/// `by / over`. The division is kept, since it is rounded differently from a product.
#[derive(Clone, Copy)]
struct Factor {
    by: f64,
    over: f64,
}

impl Factor {
    const ONE: Factor = Factor { by: 1.0, over: 1.0 };

    fn times(self, by: f64) -> Factor {
        Factor {
            by: self.by * by,
            ..self
        }
    }

    fn product(self, other: Factor) -> Factor {
        Factor {
            by: self.by * other.by,
            over: self.over * other.over,
        }
    }

    fn of(self, term: Term, span: &Span) -> Term {
        let scaled = match self.by {
            1.0 => term,
            by => elementwise(BinaryOp::Mul, number(by, span), term, span),
        };
        match self.over {
            1.0 => scaled,
            over => elementwise(BinaryOp::Div, scaled, number(over, span), span),
        }
    }
}

/// The place of the dimensions that an operator applies to.
#[derive(Clone, Copy)]
enum Place {
    /// The first ones: a batch comes after them.
    First,
    /// The last ones: a batch comes before them.
    Last,
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
                problems.extend(known.hides_operator(&declaration.name));
                match rank {
                    None => known.matrices.insert(name, declaration.extents.clone()),
                    Some(_) => known.tensors.insert(name, declaration.extents.clone()),
                };
                unit.declarations.push(declaration);
            }
            Item::Defined(name, node) => match known.value(&node) {
                Err(problem) => problems.push(problem),
                Ok(Value::Number(_)) => {
                    let problem = Problem::new(&node.span, "a number without an operator");
                    problems.push(problem.help("a number is a factor or a divisor: `2*A*B`"));
                }
                Ok(Value::Operator(operator)) => {
                    if known.matrices.contains_key(&name.0) || known.tensors.contains_key(&name.0) {
                        problems.push(declared_twice(&name));
                    }
                    problems.extend(known.hides_operator(&name));
                    known.operators.insert(name.0, operator);
                }
                Ok(Value::Tensor(value, _)) => {
                    problems.extend(known.hides_operator(&name));
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
        let times_or_over = choice((sign("*").to(true), sign("/").to(false))).boxed();
        let product = applied
            .clone()
            .foldl_with(
                times_or_over.then(applied).repeated(),
                |left, (times, right), e| {
                    let (left, right) = (Box::new(left), Box::new(right));
                    let syntax = if times {
                        Syntax::Product(left, right)
                    } else {
                        Syntax::Quotient(left, right)
                    };
                    let span = at(e);
                    Node { syntax, span }
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
    operators: BTreeMap<String, Operator>,
    tensors: BTreeMap<String, Vec<(Extent, Span)>>,
}

fn declared_twice((name, span): &(String, Span)) -> Problem {
    Problem::new(span, format!("`{name}` is declared twice"))
}

impl Known {
    /// The problem of a name that an operator has.
    fn hides_operator(&self, name: &(String, Span)) -> Option<Problem> {
        let is_operator = self.operators.contains_key(&name.0);
        is_operator.then(|| declared_twice(name))
    }

    fn value(&self, node: &Node) -> Result<Value, Problem> {
        let span = &node.span;
        match &node.syntax {
            Syntax::Number(value) => Ok(Value::Number(*value)),
            Syntax::Name(name) => {
                let term = Term::new(Kind::Variable(name.clone()), span.clone());
                if let Some(operator) = self.operators.get(name) {
                    return Ok(Value::Operator(operator.clone()));
                }
                match (self.matrices.get(name), self.tensors.get(name)) {
                    (Some(_), _) => Ok(Value::Operator(vec![(Factor::ONE, vec![term])])),
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
                                .map(|(factor, product)| (factor.times(sign), product)),
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
                            products.push((x.product(*y), product));
                        }
                    }
                    Ok(Value::Operator(products))
                }
                (a, b) => Err(no_operation("*", (&a, left), (&b, right), span)),
            },
            Syntax::Quotient(left, right) => match (self.value(left)?, self.value(right)?) {
                (_, Value::Number(0.0)) => Err(Problem::new(&right.span, "a division by 0")),
                (Value::Number(a), Value::Number(b)) => Ok(Value::Number(a / b)),
                (Value::Operator(products), Value::Number(over)) => {
                    let divisor = Factor { by: 1.0, over };
                    let quotients = products
                        .into_iter()
                        .map(|(factor, product)| (factor.product(divisor), product));
                    Ok(Value::Operator(quotients.collect()))
                }
                (Value::Tensor(tensor, rank), Value::Number(over)) => {
                    let quotient = elementwise(BinaryOp::Div, tensor, number(over, span), span);
                    Ok(Value::Tensor(quotient, rank))
                }
                (a, b) => Err(no_operation("/", (&a, left), (&b, right), span)
                    .help("only numbers divide: `A*B/2`")),
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
        products: &[(Factor, Vec<Term>)],
        tensor: &Term,
        rank: usize,
        (operator, of): (&Node, &Node),
        span: &Span,
    ) -> Result<Value, Problem> {
        let place = self.place(products, tensor, rank, (operator, of), span)?;
        let mut sum: Option<Term> = None;
        for (factor, matrices) in products {
            let new = |kind: Kind| Term::new(kind, span.clone());
            let count = matrices.len();
            let tensor = [tensor.clone()].into_iter();
            let matrices = matrices.iter().cloned();
            // Dimensions of the product that stay are those of the result, in this order.
            let (all, tensor_at, matrices_at): (Vec<Term>, _, _) = match place {
                Place::First => (matrices.chain(tensor).collect(), 2 * count, 0),
                Place::Last => (tensor.chain(matrices).collect(), rank - count, rank),
            };
            let product = all.into_iter();
            let product = product.reduce(|a, b| new(Kind::Product(Box::new(a), Box::new(b))));
            let Some(product) = product else {
                continue;
            };
            // Pairs the second dimension of each matrix with a dimension of the tensor.
            let pairs = (0..count).map(|k| {
                let dimension = |number: usize| (number as u64, span.clone());
                let mut pair = [matrices_at + 2 * k + 2, tensor_at + k + 1];
                pair.sort_unstable();
                pair.map(dimension)
            });
            let applied = new(Kind::Contract(pairs.collect(), Box::new(product)));
            sum = Some(match sum {
                None => factor.of(applied, span),
                Some(before) => {
                    let (op, factor) = if factor.by < 0.0 {
                        (BinaryOp::Sub, factor.times(-1.0))
                    } else {
                        (BinaryOp::Add, *factor)
                    };
                    elementwise(op, before, factor.of(applied, span), span)
                }
            });
        }
        match sum {
            Some(term) => Ok(Value::Tensor(term, rank)),
            None => Err(Problem::new(span, "an operator without matrices")),
        }
    }

    /// The dimensions of a tensor that an operator applies to.
    fn place(
        &self,
        products: &[(Factor, Vec<Term>)],
        tensor: &Term,
        rank: usize,
        (operator, of): (&Node, &Node),
        span: &Span,
    ) -> Result<Place, Problem> {
        let counts = products.iter().map(|(_, matrices)| matrices.len());
        let (Some(count), Some(greatest)) = (counts.clone().min(), counts.max()) else {
            return Ok(Place::First);
        };
        if count != greatest {
            let message = format!("a sum of products of {count} and {greatest} matrices");
            let help = "all products of an operator have as many matrices";
            return Err(Problem::new(&operator.span, message).help(help));
        }
        if count > rank {
            let message = format!(
                "a product of {count} matrices is applied to a tensor of {rank} dimensions"
            );
            return Err(Problem::new(span, message)
                .see(&operator.span, format!("{count} matrices"))
                .see(&of.span, format!("{rank} dimensions")));
        }
        if count == rank {
            return Ok(Place::First);
        }
        let extents = self.extents(tensor);
        let fits = |from: usize| {
            let every = products.iter().flat_map(|(_, matrices)| {
                let extents = extents.iter().skip(from);
                matrices.iter().zip(extents)
            });
            let mut every = every.map(|(matrix, (extent, _))| {
                let of_matrix = self.extents(matrix);
                of_matrix
                    .get(1)
                    .is_none_or(|(own, _)| may_be_equal(own, extent))
            });
            every.all(|fits| fits)
        };
        let dimensions = |from: usize| match count {
            1 => format!("dimension {}", from + 1),
            _ => format!("dimensions {} to {}", from + 1, from + count),
        };
        let (first, last) = (dimensions(0), dimensions(rank - count));
        match (fits(0), fits(rank - count)) {
            (true, false) => Ok(Place::First),
            (false, true) => Ok(Place::Last),
            (true, true) => {
                let message = "this application can be read in two ways";
                let label = format!("applied to {first} or to {last} of the tensor");
                let help = "give the dimensions of the batch an extent with a name of its own: \
                            `Tensor<4>(e, n, n, n)`";
                Err(Problem::new(span, message).label(label).help(help))
            }
            (false, false) => {
                let message = format!("an operator fits neither {first} nor {last} of the tensor");
                Err(Problem::new(span, message)
                    .see(&operator.span, format!("{count} matrices"))
                    .see(&of.span, format!("{rank} dimensions"))
                    .help("the second extents of the matrices are extents of the tensor"))
            }
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

/// Whether two extents may have one value. The value of a name is not known here.
fn may_be_equal(a: &Extent, b: &Extent) -> bool {
    match (a, b) {
        (Extent::Number(a), Extent::Number(b)) => a == b,
        (Extent::Name(a), Extent::Name(b)) => a == b,
        _ => true,
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
                .map(|(factor, product)| (factor.times(by), product));
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
