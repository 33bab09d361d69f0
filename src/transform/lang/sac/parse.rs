//! Parses declarations and assignments of array expressions.

use super::syntax::{
    Bound, Declaration, Dimensions, Function, Infix, Item, Kind, Limit, Node, Operator, Part,
    Partition, Pattern, Range, Statement, Type,
};
use crate::ir::{Comparison, Elem, Reduction};
use crate::lang::items::extents;
use crate::lang::token::{Errors, Input, Rule, Token, name, parsed, sign, tokens, word};
use crate::problem::{Problem, Span};
use chumsky::input::{Input as _, MapExtra};
use chumsky::prelude::*;

const WORDS: &[&str] = &["with", "double", "float", "int", "long", "return"];

/// The items of a text, and the mistakes in it.
pub(super) fn file(text: &str) -> (Vec<Item>, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, &[]);
    let end = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(end, |(token, span)| (token, span));
    let (items, more) = parsed(items().parse(input));
    problems.extend(more);
    (items.unwrap_or_default(), problems)
}

/// The only expression of a text, and the mistakes in it.
pub(super) fn expression_alone(text: &str) -> (Option<Node>, Vec<Problem>) {
    let (tokens, mut problems) = tokens(text, &[]);
    let last = (text.len()..text.len()).into();
    let input = tokens.as_slice().map(last, |(token, span)| (token, span));
    let (node, more) = parsed(expression().then_ignore(end()).parse(input));
    problems.extend(more);
    (node, problems)
}

fn at<'t, I: Input<'t> + 't>(e: &mut MapExtra<'t, '_, I, Errors<'t>>) -> Span {
    e.span().into_range()
}

fn items<'t, I: Input<'t> + 't>() -> Rule<'t, I, Vec<Item>> {
    let elem = choice((
        word("double").to(Elem::F64),
        word("float").to(Elem::F32),
        word("int").to(Elem::I64),
        word("long").to(Elem::I64),
    ))
    .boxed();
    let extents = extents(WORDS, sign(",")).or_not().boxed();
    let rank = sign(".")
        .separated_by(sign(","))
        .at_least(1)
        .count()
        .map(Dimensions::Rank);
    let any_rank = sign("*").to(Dimensions::Any);
    let open = choice((rank, any_rank)).delimited_by(sign("["), sign("]"));
    let given = extents
        .clone()
        .map(|extents| Dimensions::Given(extents.unwrap_or_default()));
    let of_type = elem
        .clone()
        .then(choice((open, given)))
        .map(|(elem, dimensions)| Type { elem, dimensions })
        .boxed();
    let parameters = of_type
        .clone()
        .then(name(WORDS))
        .separated_by(sign(","))
        .collect::<Vec<_>>()
        .delimited_by(sign("("), sign(")"))
        .boxed();
    let local = elem
        .clone()
        .then(extents.clone())
        .or_not()
        .ignore_then(name(WORDS))
        .then_ignore(sign("="))
        .then(expression())
        .then_ignore(sign(";"))
        .map(|(target, value)| Statement { target, value })
        .boxed();
    let value = word("return")
        .ignore_then(expression())
        .then_ignore(sign(";"))
        .boxed();
    let body = local
        .repeated()
        .collect::<Vec<_>>()
        .then(value)
        .delimited_by(sign("{"), sign("}"))
        .boxed();
    let function = of_type
        .then(name(WORDS))
        .then(parameters)
        .then(body)
        .map(|(((result, name), parameters), (body, value))| {
            Item::Function(Function {
                result,
                name,
                parameters,
                body,
                value,
            })
        })
        .boxed();
    let declaration = elem
        .then(extents)
        .then(name(WORDS))
        .then(sign("=").ignore_then(expression()).or_not())
        .then_ignore(sign(";"))
        .map(|(((elem, extents), name), value)| match value {
            Some(value) => Item::Statement(Statement {
                target: name,
                value,
            }),
            None => Item::Declaration(Declaration {
                elem,
                extents: extents.unwrap_or_default(),
                name,
            }),
        })
        .boxed();
    let statement = name(WORDS)
        .then_ignore(sign("="))
        .then(expression())
        .then_ignore(sign(";"))
        .map(|(target, value)| Item::Statement(Statement { target, value }))
        .boxed();
    let skipped = any()
        .and_is(sign(";").not())
        .repeated()
        .at_least(1)
        .then(sign(";").or_not())
        .map(|_| Item::Unread)
        .boxed();
    choice((function, declaration, statement))
        .recover_with(via_parser(skipped))
        .repeated()
        .collect()
        .then_ignore(end())
        .boxed()
}

fn expression<'t, I: Input<'t> + 't>() -> Rule<'t, I, Node> {
    recursive(|node| {
        let node = node.boxed();
        let operand = arithmetic(node.clone());
        let comparison = choice((
            sign("<=").to(Comparison::LessEqual),
            sign("<").to(Comparison::Less),
            sign(">=").to(Comparison::GreaterEqual),
            sign(">").to(Comparison::Greater),
            sign("==").to(Comparison::Equal),
            sign("!=").to(Comparison::NotEqual),
        ))
        .boxed();
        let compared = operand
            .clone()
            .then(comparison.then(operand).or_not())
            .map_with(|(left, right), e| match right {
                None => left,
                Some((comparison, right)) => {
                    let kind = Kind::Compare(comparison, Box::new(left), Box::new(right));
                    Node::new(kind, at(e))
                }
            })
            .boxed();
        let logic = |of: Rule<'t, I, Node>, symbol: &'static str, is_and: bool| {
            of.clone()
                .foldl_with(
                    sign(symbol).ignore_then(of).repeated(),
                    move |left, right, e| {
                        let kind = Kind::Logic(is_and, Box::new(left), Box::new(right));
                        Node::new(kind, at(e))
                    },
                )
                .boxed()
        };
        let condition = logic(logic(compared, "&&", true), "||", false);
        let branches = node.clone().then_ignore(sign(":")).then(node).boxed();
        condition
            .then(sign("?").ignore_then(branches).or_not())
            .map_with(|(condition, branches), e| match branches {
                None => condition,
                Some((then, otherwise)) => {
                    let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
                    Node::new(Kind::Choice(condition, then, otherwise), at(e))
                }
            })
    })
    .boxed()
}

/// An expression whose operators are those of arithmetic: bounds consist of such.
fn arithmetic<'t, I: Input<'t> + 't>(node: Rule<'t, I, Node>) -> Rule<'t, I, Node> {
    recursive(|limit| {
        let limit = limit.boxed();
        let number = select! {
            Token::Integer(text) => text,
            Token::Decimal(text) => text,
        }
        .try_map(|text: &str, span: SimpleSpan| {
            let float = || text.parse::<f64>().ok().filter(|v| v.is_finite());
            let kind = match text.parse::<i64>() {
                Ok(value) => Some(Kind::Integer(value)),
                Err(_) if text.bytes().all(|b| b.is_ascii_digit()) => None,
                Err(_) => float().map(Kind::Float),
            };
            kind.ok_or_else(|| Rich::custom(span, format!("`{text}` is too large")))
        })
        .map_with(|kind, e| Node::new(kind, at(e)));
        let list = node
            .clone()
            .separated_by(sign(","))
            .collect::<Vec<_>>()
            .delimited_by(sign("["), sign("]"))
            .map_with(|items, e| Node::new(Kind::List(items), at(e)))
            .boxed();
        let arguments = node
            .clone()
            .separated_by(sign(","))
            .collect::<Vec<_>>()
            .delimited_by(sign("("), sign(")"))
            .boxed();
        let called = name(WORDS)
            .then(arguments.or_not())
            .map_with(|((name, span), arguments), e| match arguments {
                Some(arguments) => Node::new(Kind::Call((name, span), arguments), at(e)),
                None => Node::new(Kind::Name(name), at(e)),
            })
            .boxed();
        let parenthesis = node
            .clone()
            .delimited_by(sign("("), sign(")"))
            .map_with(|node: Node, e| Node {
                span: at(e),
                ..node
            })
            .boxed();
        let primary = choice((
            number,
            comprehension(node.clone(), limit.clone()),
            with_loop(node.clone(), limit),
            list.clone(),
            called,
            parenthesis,
        ))
        .labelled("an expression")
        .boxed();
        let selection = node
            .clone()
            .separated_by(sign(","))
            .at_least(1)
            .collect::<Vec<_>>()
            .delimited_by(sign("["), sign("]"))
            .boxed();
        let selected = primary
            .foldl_with(selection.repeated(), |of, index, e| {
                Node::new(Kind::Select(Box::new(of), index), at(e))
            })
            .boxed();
        let signed = sign("-")
            .repeated()
            .foldr_with(selected, |(), of, e| {
                Node::new(Kind::Negate(Box::new(of)), at(e))
            })
            .boxed();
        let infix = |level: &'static [(&'static str, Infix)]| {
            choice((
                sign(level[0].0).to(level[0].1),
                sign(level[1 % level.len()].0).to(level[1 % level.len()].1),
                sign(level[2 % level.len()].0).to(level[2 % level.len()].1),
            ))
        };
        let product = signed
            .clone()
            .foldl_with(
                infix(&[("*", Infix::Mul), ("/", Infix::Div), ("%", Infix::Mod)])
                    .then(signed)
                    .repeated(),
                binary,
            )
            .boxed();
        let sum = product
            .clone()
            .foldl_with(
                infix(&[("+", Infix::Add), ("-", Infix::Sub)])
                    .then(product)
                    .repeated(),
                binary,
            )
            .boxed();
        sum.clone()
            .foldl_with(infix(&[("++", Infix::Concat)]).then(sum).repeated(), binary)
    })
    .boxed()
}

fn binary<'t, I: Input<'t> + 't>(
    left: Node,
    (infix, right): (Infix, Node),
    e: &mut MapExtra<'t, '_, I, Errors<'t>>,
) -> Node {
    let kind = Kind::Binary(infix, Box::new(left), Box::new(right));
    Node::new(kind, at(e))
}

fn pattern<'t, I: Input<'t> + 't>() -> Rule<'t, I, Pattern> {
    let part = choice((
        sign("...").to(Part::Dots),
        sign(".").to(Part::Dot),
        name(WORDS).map(|(name, span)| Part::Name(name, span)),
    ))
    .boxed();
    let parts = part
        .separated_by(sign(","))
        .collect::<Vec<_>>()
        .delimited_by(sign("["), sign("]"))
        .map_with(|parts, e| Pattern::Parts(parts, at(e)))
        .boxed();
    let vector = name(WORDS)
        .map(|(name, span)| Pattern::Vector(name, span))
        .boxed();
    choice((parts, vector)).labelled("an index pattern").boxed()
}

/// `l <= iv < u`; either bound may be missing.
fn range<'t, I: Input<'t> + 't>(node: Rule<'t, I, Node>) -> Rule<'t, I, Range> {
    let limit = choice((sign(".").to(Limit::Dot), node.clone().map(Limit::Value))).boxed();
    let relation = choice((sign("<=").to(true), sign("<").to(false))).boxed();
    let grid = |called: &'static str| word(called).ignore_then(node.clone()).or_not().boxed();
    let (step, width) = (grid("step"), grid("width"));
    limit
        .clone()
        .then(relation.clone())
        .then(limit.clone())
        .then(relation.then(limit).or_not())
        .then(step)
        .then(width)
        .map_with(
            |(((((first, is_equal), second), third), step), width), e| Range {
                limits: match third {
                    None => vec![first, second],
                    Some((_, ref third)) => vec![first, second, third.clone()],
                },
                or_equal: match third {
                    None => vec![is_equal],
                    Some((equal, _)) => vec![is_equal, equal],
                },
                step,
                width,
                span: at(e),
            },
        )
        .boxed()
}

fn comprehension<'t, I: Input<'t> + 't>(
    node: Rule<'t, I, Node>,
    limit: Rule<'t, I, Node>,
) -> Rule<'t, I, Node> {
    let partition = pattern()
        .then_ignore(sign("->"))
        .then(node)
        .then(sign("|").ignore_then(range(limit)).or_not())
        .map_with(|((pattern, body), range), e| Partition {
            pattern,
            body,
            range,
            span: at(e),
        })
        .boxed();
    partition
        .separated_by(sign(";"))
        .allow_trailing()
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(sign("{"), sign("}"))
        .map_with(|partitions, e| Node::new(Kind::Comprehension(partitions), at(e)))
        .boxed()
}

fn with_loop<'t, I: Input<'t> + 't>(
    node: Rule<'t, I, Node>,
    limit: Rule<'t, I, Node>,
) -> Rule<'t, I, Node> {
    let generator = range(limit)
        .delimited_by(sign("("), sign(")"))
        .then_ignore(sign(":"))
        .then(node.clone())
        .then_ignore(sign(";").or_not())
        .map_with(|(range, body), e| Partition {
            pattern: range.pattern(),
            body,
            range: Some(range),
            span: at(e),
        })
        .boxed();
    let genarray = word("genarray")
        .ignore_then(
            node.clone()
                .then(sign(",").ignore_then(node.clone()).or_not())
                .delimited_by(sign("("), sign(")")),
        )
        .map(|(shape, default)| Operator::Genarray(Box::new(shape), default.map(Box::new)))
        .boxed();
    let modarray = word("modarray")
        .ignore_then(node.clone().delimited_by(sign("("), sign(")")))
        .map(|of| Operator::Modarray(Box::new(of)))
        .boxed();
    let reduction = choice((
        sign("+").to(Reduction::Sum),
        sign("*").to(Reduction::Prod),
        word("min").to(Reduction::Min),
        word("max").to(Reduction::Max),
    ))
    .boxed();
    let fold = word("fold")
        .ignore_then(
            reduction
                .then(sign(",").ignore_then(node).or_not())
                .delimited_by(sign("("), sign(")")),
        )
        .map(|(reduction, neutral)| Operator::Fold(reduction, neutral.map(Box::new)))
        .boxed();
    word("with")
        .ignore_then(
            generator
                .repeated()
                .collect::<Vec<_>>()
                .delimited_by(sign("{"), sign("}")),
        )
        .then_ignore(sign(":"))
        .then(choice((genarray, modarray, fold)))
        .map_with(|(partitions, operator), e| Node::new(Kind::With(partitions, operator), at(e)))
        .boxed()
}

impl Range {
    /// The pattern that a generator of a with-loop binds: the middle one of its limits.
    fn pattern(&self) -> Pattern {
        let Some(Limit::Value(node)) = self.limits.get(1) else {
            return Pattern::Parts(Vec::new(), self.span.clone());
        };
        match &node.kind {
            Kind::Name(name) => Pattern::Vector(name.clone(), node.span.clone()),
            Kind::List(items) => {
                let parts = items.iter().filter_map(|item| match &item.kind {
                    Kind::Name(name) => Some(Part::Name(name.clone(), item.span.clone())),
                    _ => None,
                });
                Pattern::Parts(parts.collect(), node.span.clone())
            }
            _ => Pattern::Parts(Vec::new(), node.span.clone()),
        }
    }
}

impl Partition {
    /// The bounds of the generator: lower and upper.
    pub fn bounds(&self) -> Result<[Option<Bound>; 2], Problem> {
        let Some(range) = &self.range else {
            return Ok([None, None]);
        };
        let is_index = |limit: &Limit| match limit {
            Limit::Value(node) => self.pattern.is_stripped(node),
            Limit::Dot => false,
        };
        let bound = |limit: &Limit, or_equal: bool| {
            Some(Bound {
                limit: limit.clone(),
                or_equal,
            })
        };
        let (limits, or_equal) = (range.limits.as_slice(), range.or_equal.as_slice());
        match (limits, or_equal) {
            ([lower, index, upper], [le, lt]) if is_index(index) => {
                Ok([bound(lower, *le), bound(upper, *lt)])
            }
            ([index, upper], [lt]) if is_index(index) => Ok([None, bound(upper, *lt)]),
            ([lower, index], [le]) if is_index(index) => Ok([bound(lower, *le), None]),
            _ => {
                let index = self.pattern.stripped();
                let message = format!("these bounds are not of `{index}`, which the pattern binds");
                let help = format!("write `l <= {index} < u`, or one of both bounds");
                Err(Problem::new(&range.span, message).help(help))
            }
        }
    }
}
