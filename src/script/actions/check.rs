//! `check` and `reductions`: whether nests compute what their definition says.

use crate::binding::function::{Effect, Function};
use crate::binding::param::{NESTS, Param, Words};
use crate::ir::{Elem, Nest};
use crate::legality::Reductions;
use crate::verbs;
use rhai::Dynamic;

const POLICY: Param<Reductions> = Param::new("policy");
const TYPE: Param<Elem> = Param::new("type");
const OF: Param<Option<Vec<Nest>>> = Param::new("of");

impl Words for Reductions {
    const WORDS: &'static [(&'static str, Reductions)] = &[
        ("strict", Reductions::Strict),
        ("reassoc", Reductions::Reassociate),
    ];
}

pub(super) static REDUCTIONS: Function = Function {
    name: "reductions",
    topic: "results",
    effect: Effect::None,
    params: &[POLICY.any()],
    returns: "",
    doc: "\
Sets in which order floating-point sums and products may be reduced, from here on.

`\"strict\"`, the default, keeps the order. `\"reassoc\"` allows any order, and comparisons show
the deviation. The order of integers, minima and maxima never matters.",
    call: |call| {
        let policy = call.arg(&POLICY)?;
        call.workbench().settings.reductions = policy;
        Ok(Dynamic::UNIT)
    },
};

pub(super) static ELEM: Function = Function {
    name: "elem",
    topic: "tensors",
    effect: Effect::None,
    params: &[TYPE.any()],
    returns: "",
    doc: "\
Sets the type of the elements of tensors and scalars that are declared from here on without one.
It also holds for texts of `model`, `teil` and `operators`, which name no types, and for numbers
that have no tensor beside them: `eq(2.5, [i], [4])`, and decimals in SaC.

```rhai
elem(\"f32\");
let A = tensor([4]);
let B = tensor([4], \"f64\");
print(A); print(B);
```

```text
f32 A[4]
f64 B[4]
```

The types are `\"f64\"`, which holds at first, `\"f32\"`, `\"i32\"` and `\"i64\"`.",
    call: |call| {
        let elem = call.arg(&TYPE)?;
        call.workbench().elem = elem;
        Ok(Dynamic::UNIT)
    },
};

pub(super) static NEEDS: Function = Function {
    name: "needs",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.any()],
    returns: "text",
    doc: "\
The sizes at which nests compute what their definition says, as a condition: `needs(plan)`. It is
empty if they always do.

```rhai
let m = size(\"M\"); let n = size(\"N\");
let A = tensor([m, n]);
let y = einsum(\"ij->i\", A);
let plan = build(y).stripmine(\"j\", 256).parallelize(\"j_o\");
print(needs(plan));
```

```text
N <= 256
```

The condition is proved. It need not be the weakest one: violations are excluded one by one, by a
bound or a divisor of one size. `dispatch` runs the plan where the condition holds. If none is found,
the error shows two iterations, as that of `codegen` does.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        let needs = verbs::needs(call.bench(), &nests).map_err(|refusal| call.refused(refusal))?;
        Ok(Dynamic::from(needs.to_string()))
    },
};

pub(super) static CHECK: Function = Function {
    name: "check",
    topic: "results",
    effect: Effect::None,
    params: &[NESTS.any(), OF.any()],
    returns: "verdict",
    doc: "\
Whether nests, in order, compute what their definition says: `check(plan)`,
`check([first, second])`. `check(mine, naive)` also asks whether they compute what the definition of
`naive` says, such as where `mine` is a text, which is its own definition: both are executed over
expressions instead of numbers, element by element, at the sizes that they have.

The answer is a value. Its `legal` is true, false, or `()` if it is undecided. Its `runs` is true if
there is code for the nests: if they are legal, assumed to be, or cannot be proved for want of a
definition or of isl. Its `message` gives
the reason, with two iterations that show it. Its `suggestions` were tried and are legal. Printed,
it also shows the nest, and the step before which it was legal, or what can be done if it is
undecided.

Proofs are exact: every element is followed from the statement that computes it to its uses. They
need the library isl, which comes with gcc (`libisl23` on Debian and Ubuntu). Without it, only
parallel and vector loops are proved, by a simpler test, and the C and tables say so.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        let of = call.arg(&OF)?;
        Ok(Dynamic::from(verbs::check(
            call.bench(),
            &nests,
            of.as_deref(),
        )))
    },
};
