//! Tensor comprehensions of SaC: `{ [i,j] -> sum({ [k] -> A[i,k] * B[k,j] }) }`.
//!
//! ```text
//! double[300,400] A;
//! double[400,500] B;
//! C = { [i,j] -> sum({ [k] -> A[i,k] * B[k,j] }) };
//! ```
//!
//! - `double[3,4] A;` declares an input array. `float`, `int` and `long` work alike, and extents
//!   may be names. `C = e;` assigns
//! - `{ iv -> e | l <= iv < u; … }` has partitions: the first one that contains an index applies.
//!   The last one determines the shape. Bounds may be missing, and elements in no partition are 0
//! - index patterns: `iv`, `[i,j]`, `[i,.,j]`, `[...,i]`
//! - with-loops: `with { (l <= iv < u) : e; } : genarray(shape, default)`, `modarray(a)`, `fold(+,
//!   0)`
//! - bounds may depend on index variables: `| [0,0] <= [i,j] < [8,i]`. `step [4] width [2]` takes
//!   the first 2 of every 4 indices. A scalar bounds every component of an index vector
//! - `a[i,j]`, `a[iv]`, `a[i]` for a row, `[1, 2]`, `+ - * / %`, `++`, and the functions of `call`
//! - `a < b`, `&&`, `||` and `c ? x : y`. Both branches are read at every index, unless the condition
//!   is known
//! - `double[*] f(double[*] a, int n) { b = …; return b; }` defines a function, whose calls are
//!   replaced by its value. `[.,.]` is an array of two dimensions
//!
//! Arrays without elements have no code: their shapes are known, and nothing is computed.
//!
//! Integers combined with floating-point numbers are converted. If bounds are inferred from arrays
//! of different extents, the least extent is taken (§5.2).
//!
//! Source: Scholz and Šinkarovs, Tensor Comprehensions in SaC, 2019.

mod bounds;
mod call;
mod comprehension;
mod eval;
mod parse;
mod syntax;
mod value;

use self::eval::{Evaluator, shown};
use self::syntax::Item;
use self::value::{Array, Piece, Scalar};
use super::setting::Setting;
use super::term::Extent;
use crate::analysis::shape;
use crate::ir::{self, Affine, Domain, Elem, Expr, Name, Node, Program, Range, Shape, Tensor};
use crate::problem::{Problem, Span};
use crate::tensor::partition::retargeted;
use crate::tensor::with_shapes;
use std::collections::BTreeMap;

/// The program of a text of declarations and assignments.
pub(super) fn read(text: &str, setting: &Setting) -> Result<Program, Vec<Problem>> {
    let sizes = &setting.sizes;
    let (items, mut problems) = parse::file(text);
    let mut evaluator = Evaluator::of(setting.elem);
    let mut variables: Vec<ir::Variable> = Vec::new();
    let mut assignments = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (name, size) in sizes {
        let size = i64::try_from(*size).unwrap_or(i64::MAX);
        let value = Array::scalar(Scalar::integer(size));
        evaluator.sizes.push((name.clone(), value));
    }
    evaluator.scope.clone_from(&evaluator.sizes);
    for item in &items {
        let Item::Function(function) = item else {
            continue;
        };
        let (name, span) = &function.name;
        let mut known = evaluator.functions.iter();
        if let Some(first) = known.find(|f| f.name.0 == *name) {
            let problem = Problem::new(span, format!("the function `{name}` is defined twice"));
            problems.push(problem.see(&first.name.1, "here first"));
        }
        evaluator.functions.push(function.clone());
    }
    for item in items {
        match item {
            Item::Unread | Item::Function(_) => {}
            Item::Declaration(declaration) => {
                let (name, span) = &declaration.name;
                if names.contains(name) {
                    problems.push(Problem::new(span, format!("`{name}` is declared twice")));
                    continue;
                }
                names.push(name.clone());
                match declared(&declaration.extents, sizes) {
                    Err(problem) => problems.push(problem),
                    Ok(extents) => {
                        let made = tensor(name, span, &extents, declaration.elem);
                        match made {
                            Err(problem) => problems.push(problem),
                            Ok(tensor) => {
                                let array = given(&mut evaluator, tensor.as_ref(), &extents);
                                evaluator.scope.push((name.clone(), array));
                                variables.extend(tensor.map(|tensor| ir::Variable {
                                    tensor,
                                    is_input: true,
                                    is_output: false,
                                }));
                            }
                        }
                    }
                }
            }
            Item::Statement(statement) => {
                let (name, span) = &statement.target;
                evaluator.ranges.clear();
                let value = evaluator.value(&statement.value);
                let made = value.and_then(|value| {
                    let elem = value.elem();
                    let known = variables.iter_mut().find(|v| v.tensor.label() == name);
                    let tensor = match &known {
                        Some(variable) => Some(variable.tensor.clone()),
                        None => tensor(name, span, &value.shape, elem)?,
                    };
                    if let Some(tensor) = &tensor {
                        let own = tensor.shape().extents();
                        if own != value.shape {
                            let (own, new) = (shown(own), shown(&value.shape));
                            let message =
                                format!("`{name}` has the shape {own}, and this value {new}");
                            return Err(Problem::new(&statement.value.span, message));
                        }
                        let assignment =
                            assignment(tensor, &value, &evaluator.ranges, &statement.value.span)?;
                        assignments.push(assignment);
                        match known {
                            Some(variable) => variable.is_output = true,
                            None => variables.push(ir::Variable {
                                tensor: tensor.clone(),
                                is_input: false,
                                is_output: true,
                            }),
                        }
                    }
                    Ok((tensor, value.shape))
                });
                match made {
                    Err(problem) => {
                        problems.push(problem);
                        // A value in place of the faulty one, so that its readers report no
                        // problem.
                        let unknown = Array::scalar(Scalar::integer(0));
                        evaluator.scope.push((name.clone(), unknown));
                        break;
                    }
                    Ok((tensor, shape)) => {
                        let array = given(&mut evaluator, tensor.as_ref(), &shape);
                        evaluator.scope.push((name.clone(), array));
                    }
                }
            }
        }
    }
    if problems.is_empty() && evaluator.scope.len() == evaluator.sizes.len() {
        problems.push(Problem::new(
            &(0..0),
            "the text declares and assigns nothing",
        ));
    }
    if problems.is_empty() {
        Ok(Program::new(variables, assignments))
    } else {
        Err(super::elaborate::sorted(problems))
    }
}

/// A variable of an array expression.
#[derive(Clone, Debug)]
pub enum Variable {
    Integer(i64),
    /// The array that a tensor holds.
    Tensor(Tensor),
    /// A value that array expressions do not take, in words.
    Other(String),
}

/// The assignment of an array expression to a tensor named □. The expression may use `variables`.
pub(super) fn expression(
    text: &str,
    variables: BTreeMap<String, Variable>,
    elem: Elem,
) -> Result<Expr, Vec<Problem>> {
    let (node, problems) = parse::expression_alone(text);
    let Some(node) = node.filter(|_| problems.is_empty()) else {
        return Err(super::elaborate::sorted(problems));
    };
    let mut evaluator = Evaluator::of(elem);
    for (name, variable) in variables {
        let array = match variable {
            Variable::Integer(value) => Array::scalar(Scalar::integer(value)),
            Variable::Tensor(tensor) => {
                given(&mut evaluator, Some(&tensor), tensor.shape().extents())
            }
            Variable::Other(what) => {
                evaluator.unfit.insert(name, what);
                continue;
            }
        };
        evaluator.scope.push((name, array));
    }
    let made = evaluator.value(&node).and_then(|value| {
        let tensor = unnamed(&node.span, &value.shape, value.elem())?;
        let Some(tensor) = tensor else {
            let message = format!(
                "this array has the shape {}: it is empty",
                shown(&value.shape)
            );
            return Err(Problem::new(&node.span, message));
        };
        assignment(&tensor, &value, &evaluator.ranges, &node.span)
    });
    made.map_err(|problem| vec![problem])
}

/// The array of a variable; an array without elements has no tensor.
fn given(evaluator: &mut Evaluator, tensor: Option<&Tensor>, extents: &[u64]) -> Array {
    let names = evaluator.fresh_for(extents.len());
    match tensor {
        Some(tensor) => Array::of_tensor(tensor, names),
        None => Array {
            shape: extents.to_vec(),
            pieces: vec![Piece {
                domain: value::whole(extents, names),
                value: Scalar::integer(0),
            }],
        },
    }
}

fn declared(
    extents: &[(Extent, Span)],
    sizes: &BTreeMap<String, u64>,
) -> Result<Vec<u64>, Problem> {
    let each = extents.iter().map(|(extent, span)| match extent {
        Extent::Number(value) => Ok(*value),
        Extent::Name(name) => sizes
            .get(name)
            .copied()
            .ok_or_else(|| Problem::no_size(span, name)),
    });
    each.collect()
}

/// The tensor of a variable; `None` if it has no elements.
fn tensor(name: &str, span: &Span, extents: &[u64], elem: Elem) -> Result<Option<Tensor>, Problem> {
    let name = Name::new(name).map_err(|error| Problem::new(span, error.to_string()))?;
    Ok(unnamed(span, extents, elem)?.map(|tensor| tensor.named(name)))
}

fn unnamed(span: &Span, extents: &[u64], elem: Elem) -> Result<Option<Tensor>, Problem> {
    if extents.contains(&0) {
        return Ok(None);
    }
    if extents.is_empty() {
        return Ok(Some(Tensor::scalar(elem)));
    }
    let extents: Vec<i64> = extents
        .iter()
        .map(|e| i64::try_from(*e).unwrap_or(i64::MAX))
        .collect();
    let shape = Shape::new(&extents, elem);
    let shape = shape.map_err(|error| Problem::new(span, error.to_string()))?;
    Ok(Some(Tensor::new(shape, elem)))
}

/// Assigns all elements of a value.
fn assignment(
    tensor: &Tensor,
    value: &Array,
    ranges: &BTreeMap<Name, (i64, i64)>,
    span: &Span,
) -> Result<Expr, Problem> {
    let problem = |text: String| Problem::new(span, text);
    let (pieces, rest) = value.disjoint().ok_or_else(|| eval::too_many(span))?;
    let elem = tensor.elem();
    let one = |piece: &Piece| -> Result<Expr, Problem> {
        let tree = piece.value.tree(elem);
        let tree = tree.ok_or_else(|| problem(format!("a number that {elem} does not have")))?;
        let (given, inferred) = plain(tensor, piece, tree);
        if let Some(shaped) = inferred.and_then(|assignment| with_shapes(&assignment).ok()) {
            return Ok(shaped);
        }
        let known = &mut ranges.clone();
        known.extend(
            piece
                .domain
                .iter()
                .map(|(n, low, high)| (n.clone(), (*low, *high))),
        );
        let shaped = with_known_shapes(&given, known);
        shape::ranges(&shaped).map_err(|error| problem(error.to_string()))?;
        Ok(shaped)
    };
    let (pieces, rest): (Vec<Expr>, Option<Expr>) = (
        pieces.iter().map(one).collect::<Result<_, _>>()?,
        rest.as_ref().map(one).transpose()?,
    );
    match (pieces.as_slice(), rest) {
        ([], Some(only)) => Ok(only),
        ([only], None) => Ok(only.clone()),
        (pieces, rest) => {
            retargeted(pieces, rest.as_ref(), tensor).map_err(|error| problem(error.to_string()))
        }
    }
}

/// Assigns a piece: once with all ranges given, and once without them if they follow from the
/// tensors.
fn plain(tensor: &Tensor, piece: &Piece, tree: Expr) -> (Expr, Option<Expr>) {
    let (piece, tree) = readable(piece, tree);
    let index = piece
        .domain
        .iter()
        .map(|(name, ..)| Affine::iterator(name.clone()));
    let target = Expr::element(tensor, index.collect());
    let ranges = piece.domain.iter();
    let ranges = ranges.map(|(name, low, high)| (name.clone(), Range::constant(*low, *high)));
    let given = Expr::new(Node::Assign {
        target: target.clone(),
        value: tree.clone(),
        within: Domain::new(ranges),
        elsewhere: None,
    });
    let without = Expr::new(Node::Assign {
        target,
        value: tree.without_ranges(),
        within: Domain::default(),
        elsewhere: None,
    });
    let ranges = |expr: &Expr| {
        let mut found = shape::all_ranges(expr).ok()?;
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Some(
            found
                .into_iter()
                .map(|r| (r.name, r.low, r.high))
                .collect::<Vec<_>>(),
        )
    };
    let same = ranges(&given).is_some_and(|own| ranges(&without) == Some(own));
    (given, same.then_some(without))
}

/// Infers the shapes of an expression's operations from the ranges of iterators known so far.
fn with_known_shapes(expr: &Expr, ranges: &mut BTreeMap<Name, (i64, i64)>) -> Expr {
    let shape = |expr: &Expr, ranges: &BTreeMap<Name, (i64, i64)>| {
        let names = expr.iterators();
        let extents = names.iter().map(|name| {
            let range = ranges.get(name);
            range.map_or(1, |(low, high)| (high - low).max(0).unsigned_abs())
        });
        Shape::of_extents(extents.collect::<Vec<_>>())
    };
    match expr.node() {
        Node::Binary {
            op, left, right, ..
        } => Expr::new(Node::Binary {
            op: *op,
            shape: shape(expr, ranges),
            left: with_known_shapes(left, ranges),
            right: with_known_shapes(right, ranges),
        }),
        Node::Apply { function, args, .. } => Expr::new(Node::Apply {
            function: *function,
            shape: shape(expr, ranges),
            args: args.iter().map(|a| with_known_shapes(a, ranges)).collect(),
        }),
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => {
            let own = within
                .iter()
                .filter_map(|(name, range)| Some((name.clone(), range.as_constant()?)));
            ranges.extend(own);
            Expr::new(Node::Reduce {
                reduction: *reduction,
                over: over.clone(),
                within: within.clone(),
                shape: shape(expr, ranges),
                body: with_known_shapes(body, ranges),
            })
        }
        Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } => {
            let own = within
                .iter()
                .filter_map(|(name, range)| Some((name.clone(), range.as_constant()?)));
            ranges.extend(own);
            Expr::new(Node::Assign {
                target: target.clone(),
                value: with_known_shapes(value, ranges),
                within: within.clone(),
                elsewhere: *elsewhere,
            })
        }
        _ => expr.clone(),
    }
}

/// Names iterators that have no name in the text: `i1`, `i2` … by dimension.
fn readable(piece: &Piece, tree: Expr) -> (Piece, Expr) {
    let mut taken = tree.all_names();
    taken.extend(piece.domain.iter().map(|(name, ..)| name.clone()));
    let mut unnamed: Vec<Name> = Vec::new();
    for name in piece
        .domain
        .iter()
        .map(|(name, ..)| name)
        .chain(&tree.all_names())
    {
        if name.is_generated() && !unnamed.contains(name) {
            unnamed.push(name.clone());
        }
    }
    let mut levels = (1..)
        .map(Name::of_level)
        .filter(|name| !taken.contains(name));
    let new: Vec<(Name, Name)> = unnamed
        .into_iter()
        .filter_map(|old| Some((old, levels.next()?)))
        .collect();
    let rename = |name: &Name| {
        new.iter()
            .find(|(old, _)| old == name)
            .map(|(_, n)| n.clone())
    };
    let domain = piece.domain.iter().map(|(name, low, high)| {
        let name = rename(name).unwrap_or_else(|| name.clone());
        (name, *low, *high)
    });
    let piece = Piece {
        domain: domain.collect(),
        value: piece.value.clone(),
    };
    let tree = tree.rename_iterators(&rename);
    (piece, tree)
}
