//! `operator`: an operator of the script's own, which combines values.

use crate::binding::call::Call;
use crate::binding::function::{Effect, Function};
use crate::binding::param::Param;
use crate::ir::{Constant, Elem, Expr, Name, Node, Operator, Tensor};
use crate::messages::fail::Failure;
use crate::runtime::Scalar;
use crate::values;
use rhai::{Array, Dynamic, FnPtr};

const NAME: Param<Name> = Param::new("name");
const TYPES: Param<Dynamic> = Param::new("types");
const COMBINE: Param<FnPtr> = Param::new("combine").being("a function of two lists of scalars");
const IDENTITY: Param<Dynamic> = Param::new("identity");

pub(super) static OPERATOR: Function = Function {
    name: "operator",
    topic: "expressions",
    effect: Effect::None,
    params: &[NAME.any(), TYPES.any(), COMBINE.any(), IDENTITY.any()],
    returns: "operator",
    doc: "\
An operator that combines two values, for `fold` and `regroup`. Values have a component for each element
type of `types`. `combine(a, b)` gives the components of the result, from the lists `a` and `b` of
components. `identity` has those of the value that changes nothing.

```rhai
let sums = operator(\"sums\", [\"f64\", \"f64\", \"f64\"],
    |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]], [0, 0, 0]);
print(sums);
let longest = operator(\"longest\", [\"i64\"], |a, b| [vmaximum(a[0], b[0])], [0]);
print(longest);
```

```text
sums((f64 a0, f64 a1, f64 a2), (f64 b0, f64 b1, f64 b2)) = (a0[] + b0[], a1[] + b1[], a2[] + b2[]), \
identity (0, 0, 0)
longest((i64 a0), (i64 b0)) = (max(a0[], b0[])), identity (0)
```

The script states that the operator is associative and that the identity is one. `regroup` tests both
before it relies on them.",
    call: |call| {
        let elems = elems(call)?;
        let left = Operator::operand("a", &elems);
        let right = Operator::operand("b", &elems);
        let list = |tensors: &[Tensor]| -> Dynamic {
            let scalars = tensors.iter().cloned().map(Expr::of_tensor);
            Dynamic::from_array(scalars.map(Dynamic::from).collect())
        };
        let function = call.arg(&COMBINE)?;
        let made: Dynamic = function
            .call_raw(call.context(), None, [list(&left), list(&right)])
            .map_err(Failure::inside)?;
        let parts = made.clone().into_array();
        let parts: Array = parts.map_err(|_| {
            let given = values::describe(&made);
            call.fail(&COMBINE, &format!("must give a list of components, and gives {given}"))
        })?;
        if parts.len() != elems.len() {
            let (given, wanted) = (parts.len(), elems.len());
            let what = format!("gives {given} components, and there are {wanted} types");
            return Err(call.fail(&COMBINE, &what));
        }
        let own: Vec<&Tensor> = left.iter().chain(&right).collect();
        let mut components = Vec::new();
        for (part, elem) in parts.iter().zip(&elems) {
            components.push(component(call, part, *elem, &own)?);
        }
        let operator = Operator {
            name: call.arg(&NAME)?,
            identity: identity(call, &elems)?,
            left,
            right,
            values: components,
        };
        Ok(Dynamic::from(operator))
    },
};

fn elems(call: &Call) -> Result<Vec<Elem>, Failure> {
    let expected = "a list of element types such as `[\"f64\", \"i64\"]`";
    let list = call.arg(&TYPES)?.into_array();
    let list = list.map_err(|_| call.expected(&TYPES, expected))?;
    if list.is_empty() {
        return Err(call.expected(&TYPES, expected));
    }
    let elem = |item: &Dynamic| {
        let name = item.clone().into_string().ok();
        let elem = name.and_then(|name| Elem::from_name(&name));
        elem.ok_or_else(|| call.expected_but(&TYPES, expected, item))
    };
    list.iter().map(elem).collect()
}

/// A component of the result: a number, or an expression in the operands.
fn component(call: &Call, part: &Dynamic, elem: Elem, own: &[&Tensor]) -> Result<Expr, Failure> {
    let expr = match values::number(part) {
        Some(number) => Expr::new(Node::Constant(constant(call, &COMBINE, number, elem)?)),
        None => {
            let expr = part.read_lock::<Expr>().map(|expr| expr.clone());
            let expr = expr.ok_or_else(|| {
                let given = values::describe(part);
                call.fail(&COMBINE, &format!("must give scalars, and gives {given}"))
            })?;
            match expr.node() {
                Node::Virtual { formals, body, .. } if formals.is_empty() => body.clone(),
                _ => expr,
            }
        }
    };
    if expr.elem() != elem {
        let given = expr.elem();
        let what = format!("gives a component of type {given}, and its type is {elem}");
        return Err(call.fail(&COMBINE, &what));
    }
    let mut foreign = None;
    expr.for_each_tensor(&mut |tensor| {
        if !own.contains(&tensor) {
            foreign = foreign.or(Some(tensor));
        }
    });
    if let Some(tensor) = foreign {
        let what = format!("reads {}, which is not one of its operands", tensor.label());
        let help =
            "functions that store nothing begin with `v`: `vmaximum(a[0], b[0])`, `vexp(a[0])`";
        return Err(call.fail(&COMBINE, &what).help(help));
    }
    if !is_element_wise(&expr) {
        return Err(call.fail(
            &COMBINE,
            "must combine its operands by element-wise operations",
        ));
    }
    Ok(expr)
}

fn is_element_wise(expr: &Expr) -> bool {
    let is_one = matches!(
        expr.node(),
        Node::Access { .. } | Node::Constant(_) | Node::Binary { .. } | Node::Apply { .. }
    );
    is_one && expr.children().into_iter().all(is_element_wise)
}

fn identity(call: &Call, elems: &[Elem]) -> Result<Vec<Constant>, Failure> {
    let expected = format!("a list of {} numbers", elems.len());
    let list = call.arg(&IDENTITY)?.into_array();
    let list = list.map_err(|_| call.expected(&IDENTITY, &expected))?;
    if list.len() != elems.len() {
        return Err(call.expected(&IDENTITY, &expected));
    }
    let number = |(item, elem): (&Dynamic, &Elem)| {
        let number = values::number(item);
        let number = number.ok_or_else(|| call.expected_but(&IDENTITY, &expected, item))?;
        constant(call, &IDENTITY, number, *elem)
    };
    list.iter().zip(elems).map(number).collect()
}

fn constant<T>(
    call: &Call,
    parameter: &Param<T>,
    number: Scalar,
    elem: Elem,
) -> Result<Constant, Failure> {
    let value = match number {
        Scalar::Integer(value) => Constant::of_integer(elem, value),
        Scalar::Float(value) => Constant::of_float(elem, value),
    };
    value.ok_or_else(|| {
        call.fail(
            parameter,
            &format!("has {number}, which {elem} cannot hold"),
        )
    })
}
