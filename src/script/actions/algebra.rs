//! The algebra of contractions, which makes several assignments of one.

use crate::binding::call::{Call, Effect, Function, Parameter};
use crate::ir::{Expr, Program};
use crate::legality::Reductions;
use crate::messages::fail::Failure;
use crate::transform::simplify::{simplified, simplified_program};
use crate::transform::tensor::contraction::{self, NoSplit};
use rhai::{Array, Dynamic};

pub(super) static FACTOR_OUT: Function = Function {
    name: "factor_out",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("assignment"), Parameter::new("factor")],
    returns: "list",
    doc: "\
Moves a factor out of the sums over iterators that do not index it.

The result is a list of two assignments. The first computes the sums of the other factors, in a
tensor named after these; the second multiplies them with the factor.

    sum(k, l: B[i][k][l] * D[l][j] * C[k][j]) = sum(k: sum(l: B[i][k][l] * D[l][j]) * C[k][j])

With `let A = einsum(\"ikl,lj,kj->ij\", B, D, C)`, `factor_out(A, C)` lists the assignments of
`BD` and of `A`, and two operations are left of three. Floating-point numbers are rounded
differently, which needs `reductions(\"reassoc\")`.",
    call: |call| {
        let (assignment, factor) = (call.expr(0)?, call.expr(1)?);
        let factor = factor.tensor().and_then(|t| t.name());
        let factor = factor.ok_or_else(|| call.fail(1, "must be a tensor with a name"))?;
        let made = contraction::factor_out(&assignment, factor, may_round(call));
        list(call, made.map(Vec::from))
    },
};

pub(super) static CONTRACTION_CHAIN: Function = Function {
    name: "contraction_chain",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("assignment")],
    returns: "list",
    doc: "\
Splits a sum of products into assignments of two factors each, in the order with the fewest
operations.

Products are associative and commutative, and distribute over sums:

    sum(k, l: A[i][k] * B[k][l] * x[l]) = sum(k: A[i][k] * sum(l: B[k][l] * x[l]))

Intermediate tensors are named after their factors, here `Bx`. Floating-point numbers are
rounded differently, which needs `reductions(\"reassoc\")`.",
    call: |call| {
        let made = contraction::chain(&call.expr(0)?, may_round(call));
        list(call, made)
    },
};

pub(super) static SIMPLIFY: Function = Function {
    name: "simplify",
    topic: "queries",
    effect: Effect::None,
    params: &[Parameter::new("assignment")],
    returns: "list",
    doc: "\
The assignments with the fewest operations that compute an assignment, which is the last of them.

    reductions(\"reassoc\");
    let Ax = vmul(A, x, [[i, k], [k]]);
    let y = eq(vsum(Ax * vat(b, [l]) + Ax * vat(c, [l]), [k, l]), [i]);
    simplify(y)

lists `Ax[i] = sum(k: A[i][k] * x[k])`, `bc = sum(l: b[l] + c[l])` and `y[i] = Ax[i] * bc`.

Factors leave sums over iterators that do not index them, sums of equal products are joined, and
sums of what their iterators do not index become multiples (TeIL, §3.6); such products become powers,
and minima and maxima of equal numbers that number. All expressions that follow are compared, up to
a limit. Nothing is divided out or cancelled. Of a program, all
assignments are simplified, and the result is a program. `operations` counts. Products of up to 12
factors have their best order from `contraction_chain` and `lifted`. Floating-point numbers are
rounded differently, which needs `reductions(\"reassoc\")`.",
    call: |call| {
        let allowed = |expr: &Expr| may_round(call) || !expr.elem().is_float();
        let refusal = || {
            call.fail(
                0,
                "has floating-point numbers, which would be rounded in other places",
            )
            .help("`reductions(\"reassoc\")` before it allows that")
        };
        if let Ok(program) = call.get::<Program>(0, "a program") {
            return if program.assignments().iter().all(allowed) {
                Ok(Dynamic::from(simplified_program(&program)))
            } else {
                Err(refusal())
            };
        }
        let assignment = call.expr(0)?;
        if !assignment.is_assignment() {
            return Err(call.fail(0, "must be an assignment, as `eq` makes it"));
        }
        if allowed(&assignment) {
            list(call, Ok(simplified(&assignment, &mut Vec::new())))
        } else {
            Err(refusal())
        }
    },
};

fn may_round(call: &Call) -> bool {
    call.workbench().settings.reductions == Reductions::Reassociate
}

fn list(call: &Call, made: Result<Vec<Expr>, NoSplit>) -> Result<Dynamic, Failure> {
    let made = made.map_err(|error| {
        let text = error.to_string();
        match error {
            NoSplit::NoFactor | NoSplit::Bound => call.fail(1, &text),
            NoSplit::Rounding => call
                .fail(0, &text)
                .help("`reductions(\"reassoc\")` before it allows that"),
            _ => call.fail(0, &text),
        }
    })?;
    let list: Array = made.into_iter().map(Dynamic::from).collect();
    Ok(list.into())
}
