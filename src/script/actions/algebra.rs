//! The algebra of contractions, which makes several assignments of one.

use super::programs::operations_of;
use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::{Param, Place, arguments, held};
use crate::binding::takes::{Takes, Type};
use crate::ir::{Expr, Name, Nest, Program};
use crate::legality::Reductions;
use crate::messages::fail::Failure;
use crate::transform::simplify::{self, Rule, simplified, simplified_program};
use crate::transform::tensor::contraction::{self, NoSplit};
use crate::transform::tensor::matrices::as_matrices;
use crate::transform::tensor::mirrored::mirrored;
use crate::verbs::{as_definition, equal};
use rhai::{Array, Dynamic};

const ASSIGNMENT: Param<Assigned> = Param::new("assignment");
const FACTOR: Param<Factor> = Param::new("factor");
const SIMPLIFIED: Param<Expr> = Param::new("assignment");
const PROGRAM: Param<Program> = Param::new("assignment");
const RULES: Param<Option<Rules>> = Param::new("rules");
const FROM: Param<String> = Param::new("from");
const TO: Param<String> = Param::new("to");
const A: Param<Definition> = Param::new("a");
const B: Param<Definition> = Param::new("b");
const ASSIGNMENTS: Param<Steps> = Param::new("assignments");

/// An assignment; of a nest, the one that it computes.
struct Assigned(Expr);

/// The name of a tensor.
struct Factor(Name);

/// Assignments in order, or the nests that compute them.
struct Steps(Vec<Expr>);

/// An expression, or a list of assignments.
struct Definition(Vec<Expr>);

arguments! {
    Factor, "a tensor with a name", Takes::Value(Type::Tensor), |p| p.read(|v| {
        let text = v.clone().into_string().ok().and_then(|text| Name::new(&text).ok());
        text.or_else(|| v.read_lock::<Expr>()?.tensor()?.name().cloned()).map(Factor)
    });
    Rules, "a list of rules, as `rule` makes them", Takes::Value(Type::List), |p| {
        p.list(held).map(Rules)
    };
    Assigned, "a tensor", Takes::Value(Type::Tensor), |p| {
        match p.given.as_ref().and_then(held::<Nest>) {
            Some(nest) => of_nest(&nest, p),
            None => Expr::of(p).map(Assigned),
        }
    };
    Steps, "a list of tensors or nests", Takes::Value(Type::List), |p| {
        p.list(|item| {
            let of_nest = || held::<Nest>(item).and_then(|nest| only_assignment(&nest));
            held::<Expr>(item).or_else(of_nest)
        })
        .map(Steps)
    };
    Definition, "a tensor, an expression or a list of assignments", Takes::Value(Type::Tensor), |p| {
        let one = p.given.as_ref().and_then(held::<Expr>).map(|expr| Ok(vec![expr]));
        let list = || p.list(|item| held::<Expr>(item).filter(Expr::is_assignment));
        one.unwrap_or_else(list).map(Definition)
    };
}

/// A list of rules.
struct Rules(Vec<Rule>);

pub(super) static FACTOR_OUT: Function = Function {
    name: "factor_out",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any(), FACTOR.any()],
    returns: "list",
    doc: "\
Moves a factor out of the sums over iterators that do not index it.

The result is a list of two assignments. The first computes the sums of the other factors, in a
tensor named after these; the second multiplies them with the factor.

    sum(k, l: B[i][k][l] * D[l][j] * C[k][j]) = sum(k: sum(l: B[i][k][l] * D[l][j]) * C[k][j])

With `let A = einsum(\"ikl,lj,kj->ij\", B, D, C)`, `factor_out(A, C)` lists the assignments of
`BD` and of `A`, and two operations are left of three. The factor may also be given by its name, and
the assignment by its nest, as `build` makes it. Floating-point numbers are rounded
differently, which needs `reductions(\"reassoc\")`.",
    call: |call| {
        let (Assigned(assignment), Factor(factor)) = (call.arg(&ASSIGNMENT)?, call.arg(&FACTOR)?);
        let made = contraction::factor_out(&assignment, &factor, may_round(call));
        listed(call, made.map(Vec::from))
    },
};

pub(super) static CONTRACTION_CHAIN: Function = Function {
    name: "contraction_chain",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "list",
    doc: "\
Splits a sum of products into assignments of two factors each, in the order with the fewest
operations.

Products are associative and commutative, and distribute over sums:

    sum(k, l: A[i][k] * B[k][l] * x[l]) = sum(k: A[i][k] * sum(l: B[k][l] * x[l]))

Intermediate tensors are named after their factors, here `Bx`. The argument may also be the nest of
an assignment, as `build` makes it. Floating-point numbers are rounded differently, which needs
`reductions(\"reassoc\")`.",
    call: |call| {
        let made = contraction::chain(&call.arg(&ASSIGNMENT)?.0, may_round(call));
        listed(call, made)
    },
};

pub(super) static SPLIT_OPERANDS: Function = Function {
    name: "split_operands",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "list",
    doc: "\
Splits values off a sum that it would compute again and again.

```rhai
let A = tensor([4, 5]);
let B = tensor([5, 6]);
let C = eq(vsum(vmul(vrelu(A), B, [[i, k], [k, j]]), [k]), [i, j]);
for step in split_operands(C) { print(step); }
```

```text
f64 A2[4][5], A[4][5]
A2[i][k] = max(A[i][k], 0)
f64 C[4][6], A2[4][5], B[5][6]
C[i][j] = sum(k: A2[i][k] * B[k][j])
```

Values that do not depend on all iterators of the sum are assigned to tensors, named after their
operands. Nothing is rounded differently. The argument may also be the nest of an
assignment, as `build` makes it.

Refuses: an assignment without such a sum; values of windows or of parts of tensors.",
    call: |call| listed(call, contraction::split_operands(&call.arg(&ASSIGNMENT)?.0)),
};

pub(super) static COMPOSED: Function = Function {
    name: "composed",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENTS.any()],
    returns: "tensor",
    doc: "\
The last of several assignments, with the values of the others in the place of their tensors.

```rhai
let A = tensor([4, 5]);
let B = tensor([5, 6]);
let s = tensor([4]);
let Q = eq(vdiv(A, s, [[i, j], [i]]), [i, j]);
let C = einsum(\"ij,jk->ik\", Q, B);
print(composed([Q, C]));
```

```text
f64 C[4][6], A[4][5], s[4], B[5][6]
C[i][k] = sum(j in 0..5: A[i][j] / s[i] * B[j][k]) where i in 0..4, k in 0..6
```

Nests of assignments, as `build` makes them, may be given instead.

Refuses: an assignment that keeps elements of its tensor; one whose target has other indices than
iterators.",
    call: |call| {
        let Steps(steps) = call.arg(&ASSIGNMENTS)?;
        let made = simplify::composed(&steps).map(Dynamic::from);
        made.ok_or_else(|| {
            call.fail(
                &ASSIGNMENTS,
                "must be assignments of all elements, indexed by iterators",
            )
        })
    },
};

pub(super) static MIRRORED: Function = Function {
    name: "mirrored",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "list",
    doc: "\
Splits the assignment of a symmetric matrix into one of its lower half, and one that copies this half to
the other.

```rhai
let A = tensor([4, 5]);
let C = einsum(\"ik,jk->ij\", A, A);
for step in mirrored(C) { print(step); }
```

```text
f64 C[4][4], A[4][5]
C[i][j] = sum(k: A[i][k] * A[j][k]) where j in 0..i + 1
f64 C[4][4]
C[j][i] = C[i][j] where j in 0..i
```

Nothing is rounded differently. The argument may also be the nest of an assignment.

Refuses: a value that changes if both iterators are exchanged, up to the order of the operands of
sums and products; a value that reads the matrix.",
    call: |call| listed(call, mirrored(&call.arg(&ASSIGNMENT)?.0)),
};

pub(super) static AS_MATRICES: Function = Function {
    name: "as_matrices",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "list",
    doc: "\
Splits a contraction of two tensors into copies of its operands as matrices, the product of these, and a
copy of the result.

```rhai
let A = tensor([3, 7, 5, 8]);
let B = tensor([8, 4, 7]);
let C = einsum(\"aebf,fce->abc\", A, B);
for step in as_matrices(C) { print(step); }
```

```text
f64 A2[15][56], A[3][7][5][8]
A2[5*a + b][8*e + f] = A[a][e][b][f]
f64 B2[56][4], B[8][4][7]
B2[8*e + f][c] = B[f][c][e]
f64 C2[15][4], A2[15][56], B2[56][4]
C2[a][c] = sum(e: A2[a][e] * B2[e][c])
f64 C[3][5][4], C2[15][4]
C[a][b][c] = C2[5*a + b][c]
```

Rows have the indices that the result shares with one operand, and columns the ones that it shares with
the other operand. Terms have the summed ones. Matrices are not copied. Nothing is rounded differently.
The argument may also be the nest of an assignment.

Refuses: a product of matrices, or of a matrix and a vector; indices that both operands and the result
have; indices other than iterators, or that do not take all values; sizes.",
    call: |call| listed(call, as_matrices(&call.arg(&ASSIGNMENT)?.0)),
};

pub(super) static LEAST_OPERATIONS: Function = Function {
    name: "least_operations",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "number",
    doc: "\
The number of arithmetic operations of `contraction_chain(assignment)`, whether or not floating-point
numbers may be rounded as there.

```rhai
let A = tensor([8, 9]);
let B = tensor([9, 7]);
let x = tensor([7]);
let y = eq(vsum(vmul(A, B, [[i, k], [k, l]]) * vat(x, [l]), [k, l]), [i]);
print(operations(y));
print(least_operations(y));
```

```text
1512
270
```",
    call: |call| {
        let steps = contraction::chain(&call.arg(&ASSIGNMENT)?.0, true);
        let steps = steps.map_err(|error| call.fail(&ASSIGNMENT, &error.to_string()))?;
        operations_of(call, &steps)
    },
};

pub(super) static SPLIT_SUMS: Function = Function {
    name: "split_sums",
    topic: "queries",
    effect: Effect::None,
    params: &[ASSIGNMENT.any()],
    returns: "list",
    doc: "\
Splits an assignment into assignments of its sums, and of the value that is computed from them.

```rhai
let A = tensor([4, 5]);
let x = tensor([5]);
let y = eq(1 - vsum(vmul(A, x, [[i, j], [j]]), [j]), [i]);
for step in split_sums(y) { print(step); }
```

```text
f64 y_sum[4], A[4][5], x[5]
y_sum[i] = sum(j: A[i][j] * x[j])
f64 y[4], y_sum[4]
y[i] = 1 - y_sum[i]
```

Sums, products, minima and maxima that `build` gives a temporary are assigned to tensors, in the
order in which `build` computes them. If it has none, sums are that are written as operands, as in
`2 * sum(..)`, although `build` moves the factor into the sum. Nothing is rounded differently from
the assignment as it is written. The argument may also be the nest of an assignment. `redefine` gives
the scheduled nests its definition again, if `build` has the same steps.

Refuses: an assignment whose value has no such sum.",
    call: |call| listed(call, contraction::split_sums(&call.arg(&ASSIGNMENT)?.0)),
};

pub(super) static SIMPLIFY: Function = Function {
    name: "simplify",
    topic: "queries",
    effect: Effect::None,
    params: &[SIMPLIFIED.any(), RULES.any()],
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
rounded differently, which needs `reductions(\"reassoc\")`. A list of `rule`s runs beside these
rules.",
    call: |call| {
        let rules = call.arg(&RULES)?.map_or_else(Vec::new, |Rules(rules)| rules);
        let allowed = |expr: &Expr| may_round(call) || !expr.elem().is_float();
        let refusal = || {
            call.fail(
                &SIMPLIFIED,
                "has floating-point numbers, which would be rounded in other places",
            )
            .help("`reductions(\"reassoc\")` before it allows that")
        };
        if let Ok(program) = call.arg(&PROGRAM) {
            return if program.assignments().iter().all(allowed) {
                Ok(Dynamic::from(simplified_program(&program, &rules)))
            } else {
                Err(refusal())
            };
        }
        let assignment = call.arg(&SIMPLIFIED)?;
        if !assignment.is_assignment() {
            return Err(call.fail(&SIMPLIFIED, "must be an assignment, as `eq` makes it"));
        }
        if allowed(&assignment) {
            listed(call, Ok(simplified(&assignment, &rules, &mut Vec::new())))
        } else {
            Err(refusal())
        }
    },
};

pub(super) static RULE: Function = Function {
    name: "rule",
    topic: "trees",
    effect: Effect::None,
    params: &[FROM.any(), TO.any()],
    returns: "rule",
    doc: "\
A rule for `simplify` and `equal`: values of the form `from` equal values of the form `to`.

```rhai
reductions(\"reassoc\");
let x = tensor([8]);
let y = tensor([8]);
let z = eq(vexp(x, [i]) * vexp(y, [i]), [i]);
let products = rule(\"exp(a)*exp(b)\", \"exp(a + b)\");
print(simplify(z, [products])[0]);
```

```text
f64 z[8], x[8], y[8]
z[i] = exp(x[i] + y[i])
```

Each name matches any value, and the same one everywhere in a pattern. Patterns consist of
arithmetic, functions and sums: `sum(k: a*b[k])`, where `b[k]` may depend on `k`, and `a` may not.
An iterator of a sum matches one or more iterators.

A rule is believed, not proved. `equal` compares definitions without it, and `compare` compares
numbers: a rule that is wrong shows there.",
    call: |call| {
        let made = Rule::new(&call.arg(&FROM)?, &call.arg(&TO)?);
        let made = made.map_err(|error| call.fail(error.side, &error.what))?;
        Ok(Dynamic::from(made))
    },
};

pub(super) static EQUAL: Function = Function {
    name: "equal",
    topic: "trees",
    effect: Effect::None,
    params: &[A.any(), B.any(), RULES.any()],
    returns: "verdict",
    doc: "\
Whether two definitions compute the same, up to rounding: expressions, assignments, or lists of
assignments. Of a list, the last assignment is compared.

```rhai
let A = tensor([4, 5]);
let x = tensor([5]);
let y = eq(vsum(vmul(A, x, [[i, k], [k]]) * 2, [k]), [i]);
let z = eq(2 * vsum(vmul(A, x, [[i, k], [k]]), [k]), [i]);
let w = eq(vsum(vmul(A, x, [[i, k], [k]]), [k]), [i]);
print(equal(y, z));
print(equal(y, w).equal);
let found = equal(y, z);
print(`${found.equal} ${found.proved}`);
```

```text
equal, by the rules of sums and products
false
true true
```

The rules of `simplify` are tried first, and then a list of `rule`s beside them if there is one:
what these show is believed, not proved. Then both definitions are executed over expressions, and at
last at samples of the inputs, which prove nothing if they agree. `equal` and `proved` are truth
values, `message` says it in words.

Refuses: tensors of one name that are not the same; definitions too large to execute, where the
rules do not decide.",
    call: |call| {
        let (a, b) = (call.arg(&A)?.0, call.arg(&B)?.0);
        let rules = call
            .arg(&RULES)?
            .map_or_else(Vec::new, |Rules(rules)| rules);
        let (Some(last), Some(other)) = (a.last(), b.last()) else {
            return Err(call.fail(usize::from(!a.is_empty()), "is an empty list"));
        };
        let whole = |list: &[Expr], like: &Expr, k: usize| -> Result<Vec<Expr>, Failure> {
            let [only] = list else {
                return Ok(list.to_vec());
            };
            let made = as_definition(only, like);
            let made =
                made.map_err(|refusal| call.fail(k, &format!("has no definition: {refusal}")))?;
            Ok(call.workbench().definitions.needed(&made))
        };
        let (a, b) = (whole(&a, other, 0)?, whole(&b, last, 1)?);
        let found = equal(call.bench(), &a, &b, &rules);
        let found = found.map_err(|refusal| {
            let failure = call.refuse(&refusal.what);
            refusal.help.iter().fold(failure, |f, help| f.help(help))
        })?;
        Ok(Dynamic::from(found))
    },
};

fn of_nest(nest: &Nest, place: &Place) -> Result<Assigned, Failure> {
    let wrong = || place.fail("must be the nest of one assignment, as `build` makes it");
    only_assignment(nest).map(Assigned).ok_or_else(wrong)
}

/// The assignment of a nest that `build` has made of it.
fn only_assignment(nest: &Nest) -> Option<Expr> {
    let is_whole = nest.condition().is_empty() && nest.donated().is_empty();
    match (nest.definition().as_ref(), nest.originals()) {
        ([only], [part])
            if only.is_assignment() && is_whole && part.trees.as_ref() == nest.trees() =>
        {
            Some(only.clone())
        }
        _ => None,
    }
}

fn may_round(call: &Call) -> bool {
    call.workbench().settings.reductions == Reductions::Reassociate
}

fn listed(call: &Call, made: Result<Vec<Expr>, NoSplit>) -> Result<Dynamic, Failure> {
    let made = made.map_err(|error| {
        let text = error.to_string();
        match error {
            NoSplit::NoFactor | NoSplit::Bound => call.fail(&FACTOR, &text),
            NoSplit::Rounding => call
                .fail(&ASSIGNMENT, &text)
                .help("`reductions(\"reassoc\")` before it allows that"),
            _ => call.fail(&ASSIGNMENT, &text),
        }
    })?;
    let list: Array = made.into_iter().map(Dynamic::from).collect();
    Ok(list.into())
}
