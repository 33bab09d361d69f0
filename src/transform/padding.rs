//! Padded storage: every extent of a program becomes a multiple of the vector length.
//!
//! ```text
//! f64 A[5][7], x[7], y[5]              A_padded[i][j] = A[i][j] elsewhere 0      (8 x 8)
//!                                      x_padded[j] = x[j] elsewhere 0            (8)
//! y[i] = sum(j: A[i][j] * x[j])        y_padded[i] = sum(j: A_padded[i][j] * x_padded[j])
//!                                      y[i] = y_padded[i], for i in 0..5
//! ```
//!
//! The operations run over the rounded extents, where all vectors are full. Inputs are copied
//! between zeros, and results are copied out of them.
//!
//! Legal if the operations keep zeros: every value at an iterator beyond the extents is 0, so that
//! sums gain nothing. Products, sums, differences and contractions keep zeros. Division is
//! controlled, so that 0 over anything is 0 (Def. 8). If the program itself divides 0 by 0, the
//! padded one has 0, while IEEE has NaN.
//!
//! Refuses: nonzero values between the zeros (added constants, expansions); reductions other than
//! sums; given ranges; index expressions other than iterators.
//!
//! Source: the model language, §4: Defs. 7 to 9, Fig. 14, Theorems 2 and 3.

use crate::analysis::program::{inputs, outputs};
use crate::ir::{
    Affine, BinaryOp, Comparison, Constant, Domain, Expr, Function, Index, Infix, Name, Node,
    Program, Range, Reduction, Shape, Tensor, Variable,
};
use crate::tensor::with_shapes;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a program cannot be padded.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NotPadded {
    /// Values between the zeros that are not 0.
    #[error("the value of {target} is not 0 where `{iterator}` is beyond its extent: `{value}`")]
    NotZero {
        /// The tensor that is assigned.
        target: String,
        iterator: Name,
        /// The operand.
        value: String,
    },
    /// A reduction other than a sum.
    #[error("only sums gain nothing from zeros, and `{0}` does")]
    NotSum(String),
    /// A range that the program gives.
    #[error("`{0}` has a given range, which padding would change")]
    Given(Name),
    /// An index expression.
    #[error("the index `{0}` may reach zeros: only single iterators are safe")]
    Index(String),
    /// A statement of several pieces, or one that assigns only some elements.
    #[error("the assignment of {0} sets only some elements, or several pieces")]
    Partial(String),
    /// Shapes that cannot be inferred.
    #[error("{0}")]
    Shape(String),
    /// An unusable multiple.
    #[error("extents become multiples of 1 to 4096, not of {0}")]
    Multiple(u64),
}

/// The program over extents that are multiples of `multiple`, with copies at its ends.
///
/// # Errors
/// As the header says.
pub fn padded(program: &Program, multiple: u64) -> Result<Program, NotPadded> {
    if !(1..=4096).contains(&multiple) {
        return Err(NotPadded::Multiple(multiple));
    }
    let (given, results) = (inputs(program), outputs(program));
    let rounded = Rounded::of(program, multiple)?;
    let mut variables = Vec::new();
    let mut assignments = Vec::new();
    for variable in program.variables() {
        let tensor = &variable.tensor;
        let is = |names: &[Name]| tensor.name().is_some_and(|name| names.contains(name));
        let (is_input, is_output) = (is(&given), is(&results));
        let Some(new) = rounded.of_tensor(tensor) else {
            variables.push(Variable {
                is_input,
                is_output,
                ..variable.clone()
            });
            continue;
        };
        if is_input || is_output {
            variables.push(Variable {
                tensor: tensor.clone(),
                is_input,
                is_output,
            });
        }
        if is_input {
            assignments.push(copied(tensor, new, true)?);
        }
        variables.push(Variable {
            tensor: new.clone(),
            is_input: false,
            is_output: false,
        });
    }
    for assignment in program.assignments() {
        assignments.push(rounded.assignment(assignment)?);
    }
    let results = program.variables().iter().map(|v| &v.tensor);
    for tensor in results.filter(|t| t.name().is_some_and(|name| outputs(program).contains(name))) {
        if let Some(new) = rounded.of_tensor(tensor) {
            assignments.push(copied(new, tensor, false)?);
        }
    }
    Ok(Program::new(variables, assignments))
}

/// Copies one tensor to another; the rest of a larger target is 0.
fn copied(from: &Tensor, to: &Tensor, is_larger: bool) -> Result<Expr, NotPadded> {
    let names: Vec<Name> = (1..=to.shape().rank()).map(Name::of_level).collect();
    let index: Vec<Affine> = names.iter().cloned().map(Affine::iterator).collect();
    let extents = from.shape().extents().iter().zip(to.shape().extents());
    let ranges = names.iter().zip(extents).map(|(name, (a, b))| {
        let end = i64::try_from(*a.min(b)).unwrap_or(i64::MAX);
        (name.clone(), Range::constant(0, end))
    });
    let assignment = Expr::new(Node::Assign {
        target: Expr::element(to, index.clone()),
        value: Expr::element(from, index),
        within: Domain::new(ranges),
        elsewhere: is_larger.then(|| Constant::small(to.elem(), 0)),
    });
    with_shapes(&assignment).map_err(|error| NotPadded::Shape(error.to_string()))
}

/// The tensors of a program with rounded extents.
struct Rounded {
    tensors: BTreeMap<Name, Tensor>,
}

impl Rounded {
    /// Rounds extents; tensors whose extents are already multiples stay as they are.
    fn of(program: &Program, multiple: u64) -> Result<Rounded, NotPadded> {
        let mut tensors: BTreeMap<Name, Tensor> = BTreeMap::new();
        let is_taken = |name: &Name| {
            let own = program.variables().iter();
            own.filter_map(|v| v.tensor.name()).any(|n| n == name)
        };
        for tensor in program.variables().iter().map(|v| &v.tensor) {
            let Some(name) = tensor.name() else { continue };
            let extents = tensor.shape().extents().iter();
            let extents: Option<Vec<i64>> = extents
                .map(|e| i64::try_from(e.checked_next_multiple_of(multiple)?).ok())
                .collect();
            let shape = Shape::new(&extents.unwrap_or_else(|| vec![i64::MAX]), tensor.elem());
            let shape = shape.map_err(|error| NotPadded::Shape(error.to_string()))?;
            if tensor.is_scalar() || shape == *tensor.shape() {
                continue;
            }
            let plain = name.derived("padded");
            let numbered = (2..).map(|k: u32| plain.derived(k));
            let mut free = [plain.clone()].into_iter().chain(numbered);
            let new = free.find(|n| !is_taken(n) && tensors.values().all(|t| t.name() != Some(n)));
            let new = Tensor::new(shape, tensor.elem()).named(new.unwrap_or(plain));
            tensors.insert(name.clone(), new);
        }
        Ok(Rounded { tensors })
    }

    fn of_tensor(&self, tensor: &Tensor) -> Option<&Tensor> {
        self.tensors.get(tensor.name()?)
    }

    fn assignment(&self, assignment: &Expr) -> Result<Expr, NotPadded> {
        let label = || assignment.tensor().map_or("", Tensor::label).to_owned();
        let Node::Assign {
            target,
            value,
            within,
            elsewhere: None,
        } = assignment.node()
        else {
            return Err(NotPadded::Partial(label()));
        };
        let names = target.iterators();
        let rank = target.tensor().map_or(0, |t| t.shape().rank());
        if !within.is_empty() || names.len() != rank {
            return Err(NotPadded::Partial(label()));
        }
        let zeros = zeros(value)?;
        if let Some(iterator) = names.iter().find(|name| !zeros.contains(name)) {
            return Err(NotPadded::NotZero {
                target: label(),
                iterator: iterator.clone(),
                value: Infix(value).to_string(),
            });
        }
        let padded = Expr::new(Node::Assign {
            target: self.moved(target),
            value: self.moved(value),
            within: Domain::default(),
            elsewhere: None,
        });
        with_shapes(&padded).map_err(|error| NotPadded::Shape(error.to_string()))
    }

    /// The expression over the rounded tensors, with controlled divisions.
    fn moved(&self, expr: &Expr) -> Expr {
        expr.replace(&|part| match part.node() {
            Node::Access { tensor, index } => {
                Some(Expr::access(self.of_tensor(tensor)?.clone(), index.clone()))
            }
            Node::Binary {
                op: BinaryOp::Div,
                left,
                right,
                shape,
            } => {
                let (left, right) = (self.moved(left), self.moved(right));
                let zero = Expr::new(Node::Constant(Constant::small(left.elem(), 0)));
                let quotient = Expr::new(Node::Binary {
                    op: BinaryOp::Div,
                    shape: shape.clone(),
                    left: left.clone(),
                    right,
                });
                Some(Expr::new(Node::Apply {
                    function: Function::Select(Comparison::Equal),
                    shape: shape.clone(),
                    args: vec![left, zero.clone(), zero, quotient],
                }))
            }
            _ => None,
        })
    }
}

/// The iterators beyond whose extents an expression is 0.
fn zeros(expr: &Expr) -> Result<Vec<Name>, NotPadded> {
    match expr.node() {
        Node::Access {
            index: Index::At(index),
            ..
        } => {
            let mut found = Vec::new();
            for entry in index {
                match entry.as_iterator() {
                    Some(name) => found.push(name.clone()),
                    None if entry.as_constant().is_some() => {}
                    None => return Err(NotPadded::Index(entry.to_string())),
                }
            }
            Ok(found)
        }
        Node::Binary {
            op, left, right, ..
        } => {
            let (left, right) = (zeros(left)?, zeros(right)?);
            Ok(match op {
                BinaryOp::Mul => left.into_iter().chain(right).collect(),
                BinaryOp::Div => left,
                BinaryOp::Add | BinaryOp::Sub => {
                    left.into_iter().filter(|n| right.contains(n)).collect()
                }
                _ => Vec::new(),
            })
        }
        Node::Apply {
            function: Function::Neg,
            args,
            ..
        } => args.first().map_or(Ok(Vec::new()), zeros),
        Node::Reduce {
            reduction,
            over,
            within,
            body,
            ..
        } => {
            if *reduction != Reduction::Sum {
                return Err(NotPadded::NotSum(Infix(expr).to_string()));
            }
            let zeros = zeros(body)?;
            for name in over {
                let is_used = body.mentions(name);
                if is_used && within.get(name).is_some() {
                    return Err(NotPadded::Given(name.clone()));
                }
                if is_used && !zeros.contains(name) {
                    return Err(NotPadded::NotZero {
                        target: "a sum".to_owned(),
                        iterator: name.clone(),
                        value: Infix(body).to_string(),
                    });
                }
            }
            Ok(zeros.into_iter().filter(|n| !over.contains(n)).collect())
        }
        _ => Ok(Vec::new()),
    }
}
