//! TeML Fig. 8: what each tensor expression denotes, with its where-clauses.

use crate::teml::trees::*;
use teml::analysis::shape::{Dimension, Mismatch};
use teml::ir::BinaryOp::{Add, Div, Mul, Sub};
use teml::ir::{BinaryOp, Elem, Expr};
use teml::transform::Error;
use teml::transform::tensor::partition::retarget;
use teml::transform::tensor::{declare, eq as assignment, op as operation, vop as virtual_op};

/// The refusal of an operation, with the argument that it blames.
fn refusal<T>(result: Result<T, Error>) -> (String, Option<&'static str>) {
    match result {
        Ok(_) => panic!("nothing was refused"),
        Err(e) => (e.text, e.parameter),
    }
}

#[test]
fn eq_12_scalar() {
    let scalar = declare::scalar(Elem::F64);
    assert_eq!(scalar.notation(), "⟨(□, [], •), []⟩");
}

#[test]
fn eq_13_tensor() {
    let tensor = declare::tensor(&[4, 5], Elem::F64).unwrap();
    assert_eq!(tensor.notation(), "⟨(□, [4, 5], ε), []⟩");
    // A tensor of rank 0 has the shape of a scalar, but waits for the empty list.
    let tensor = declare::tensor(&[], Elem::F64).unwrap();
    assert_eq!(tensor.notation(), "⟨(□, [], ε), []⟩");
}

#[test]
fn eq_14_eq() {
    let a = tensor("A", &[4, 5]);
    let with = |value: &Expr, i0: &str, i1: &str| assignment::eq(value, &arrow([i0], i1));

    // I0 ≠ ε and I' = ε: I'' = I0, and S' is inferred from it.
    assert_eq!(
        with(&a, "i1 i2", "i2 i1").unwrap().notation(),
        "⟨(=, •, •), [⟨(□, [5, 4], [i2, i1]), []⟩, ⟨(A, [4, 5], [i1, i2]), []⟩]⟩"
    );
    // I0 = ε and I' ≠ ε: I'' = I'.
    let twice = vop(Add, &a, &a, ["i1 i2", "i1 i2"]);
    assert_eq!(
        with(&twice, "ε", "i2 i1").unwrap().notation(),
        format!(
            "⟨(=, •, •), [⟨(□, [5, 4], [i2, i1]), []⟩, {}]⟩",
            twice.notation()
        )
    );
    // I' = •, as a scalar has it, is not ε either.
    let s = bind("s", declare::scalar(Elem::F64));
    assert_eq!(
        with(&s, "ε", "").unwrap().notation(),
        "⟨(=, •, •), [⟨(□, [], []), []⟩, ⟨(s, [], •), []⟩]⟩"
    );
    // Beyond the paper, for which [] is a list like any other, a scalar takes [] as ε.
    assert_eq!(with(&s, "", "").unwrap(), with(&s, "ε", "").unwrap());
    // The argument keeps the tree it had: only y has iterators.
    assert_eq!(a.notation(), "⟨(A, [4, 5], ε), []⟩");

    // Malformed: I0 = ε and I' = ε.
    let missing = "A has no iterators yet, and none are given for its 2 dimensions".to_owned();
    assert_eq!(refusal(with(&a, "ε", "i2 i1")), (missing, Some("value")));
    // Malformed: I0 ≠ ε and I' ≠ ε.
    let given = "this operand carries iterators already: [i1, i2]".to_owned();
    assert_eq!(
        refusal(with(&twice, "i1 i2", "i2 i1")),
        (given, Some("value"))
    );
    let scalar = "s is a scalar and takes no iterators".to_owned();
    assert_eq!(refusal(with(&s, "i1", "i1")), (scalar, Some("value")));
}

#[test]
fn eq_14_takes_an_assignment_for_the_tensor_that_it_assigns() {
    let b = eq("B", &tensor("A", &[4, 5]), "i1 i2", "i2 i1");
    assert_eq!(
        eq("C", &b, "i j", "i j").notation(),
        "⟨(=, •, •), [⟨(C, [5, 4], [i, j]), []⟩, ⟨(B, [5, 4], [i, j]), []⟩]⟩"
    );
}

#[test]
fn eq_15_vop() {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let with = |left: &Expr, right: &Expr, of| virtual_op::vop(Sub, left, right, &lists(of));

    // Both I0 and I1 given.
    let both = with(&a, &x, ["i1 i2", "i2"]).unwrap();
    assert_eq!(
        both.notation(),
        "⟨(-, [4, 5], •), [⟨(A, [4, 5], [i1, i2]), []⟩, ⟨(x, [5], [i2]), []⟩]⟩"
    );
    // S' has a dimension for each iterator, also where the operands share none.
    let outer = with(&x, &a, ["i3", "i1 i2"]).unwrap();
    assert!(outer.notation().starts_with("⟨(-, [5, 4, 5], •), "));
    // I0 = ε: the left operand keeps its iterators.
    assert_eq!(
        with(&both, &x, ["ε", "i2"]).unwrap().notation(),
        format!(
            "⟨(-, [4, 5], •), [{}, ⟨(x, [5], [i2]), []⟩]⟩",
            both.notation()
        )
    );
    // I1 = ε: the right one does.
    assert_eq!(
        with(&x, &both, ["i2", "ε"]).unwrap().notation(),
        format!(
            "⟨(-, [5, 4], •), [⟨(x, [5], [i2]), []⟩, {}]⟩",
            both.notation()
        )
    );
    // Omitted lists are also ε.
    assert_eq!(
        virtual_op::vop(Sub, &both, &both, &[]).unwrap(),
        with(&both, &both, ["ε", "ε"]).unwrap()
    );

    // Malformed, for either operand.
    let missing = |what: &str, rank| {
        let dimensions = if rank == 1 { "dimension" } else { "dimensions" };
        format!("{what} has no iterators yet, and none are given for its {rank} {dimensions}")
    };
    let given = "this operand carries iterators already: [i1, i2]".to_owned();
    assert_eq!(
        refusal(with(&a, &x, ["ε", "i2"])),
        (missing("A", 2), Some("left"))
    );
    assert_eq!(
        refusal(with(&a, &x, ["i1 i2", "ε"])),
        (missing("x", 1), Some("right"))
    );
    assert_eq!(
        refusal(with(&both, &x, ["i1 i2", "i2"])),
        (given.clone(), Some("left"))
    );
    assert_eq!(
        refusal(with(&x, &both, ["i2", "i1 i2"])),
        (given, Some("right"))
    );
}

#[test]
fn eq_15_infers_a_shape_or_fails() {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let place = |tensor: &str, dimension, extent| Dimension {
        tensor: tensor.to_owned(),
        dimension,
        extent: teml::ir::Affine::constant(extent),
    };
    let disagree = Mismatch::Extents {
        index: it("i1"),
        first: place("A", 1, 4),
        second: place("x", 1, 5),
    };
    // A range may still be given, so that the assignment fails.
    let of = virtual_op::vop(Add, &a, &x, &lists(["i1 i2", "i1"])).unwrap();
    let refused = refusal(assignment::eq(&of, &arrow(["ε"], "i1 i2")));
    assert_eq!(refused.0, disagree.to_string());
}

#[test]
fn eq_16_op() {
    let (a, x) = (tensor("A", &[4, 5]), tensor("x", &[5]));
    let virtual_operand = vop(Mul, &a, &x, ["i1 i2", "i2"]);
    let forms: [(&Expr, &Expr, [&str; 2]); 4] = [
        (&a, &x, ["i1 i2", "i2"]),
        (&virtual_operand, &x, ["ε", "i2"]),
        (&x, &virtual_operand, ["i2", "ε"]),
        (&virtual_operand, &virtual_operand, ["ε", "ε"]),
    ];
    for op in BinaryOp::ALL.into_iter().filter(|op| op.takes(Elem::F64)) {
        for (left, right, from) in forms {
            // x = vop(t0, t1, [I0, I1]), then eq(t, ε -> I2) where t ↦ x.
            let x = virtual_op::vop(op, left, right, &lists(from)).unwrap();
            let two_steps = assignment::eq(&x, &arrow(["ε"], "i2 i1")).unwrap();
            let sugar = operation::op(op, left, right, &arrow(from, "i2 i1")).unwrap();
            assert_eq!(sugar, two_steps);
            assert_eq!(
                sugar.notation(),
                format!(
                    "⟨(=, •, •), [⟨(□, [5, 4], [i2, i1]), []⟩, {}]⟩",
                    x.notation()
                )
            );
        }
    }
    // `op` refuses like `vop`.
    let missing = refusal(operation::op(Div, &a, &x, &arrow(["ε", "i2"], "i1 i2")));
    assert_eq!(
        missing,
        refusal(virtual_op::vop(Div, &a, &x, &lists(["ε", "i2"])))
    );
}

#[test]
fn eq_17_fills_the_placeholder_with_the_variable() {
    let a = bind("A", declare::tensor(&[4, 5], Elem::F64).unwrap());
    assert_eq!(a.notation(), "⟨(A, [4, 5], ε), []⟩");
    let s = bind("s", declare::scalar(Elem::F64));
    assert_eq!(s.notation(), "⟨(s, [], •), []⟩");

    let x = assignment::eq(&a, &arrow(["i1 i2"], "i2 i1")).unwrap();
    let filled = bind("B", x.clone());
    assert_eq!(filled.notation(), x.notation().replace('□', "B"));
    // There is one □ at most; a tree that has a name keeps it.
    assert_eq!(bind("C", filled.clone()), filled);
    // A virtual expression has none, whatever it is bound to.
    let sum = vop(Add, &a, &a, ["i1 i2", "i1 i2"]);
    assert_eq!(bind("D", sum.clone()), sum);
}

#[test]
fn eq_17_assigns_to_the_tensor_that_was_declared() {
    let a = tensor("A", &[4, 5]);
    let x = bind("B", assignment::eq(&a, &arrow(["i1 i2"], "i2 i1")).unwrap());
    let into = |b: &Expr| retarget(&x, b.tensor().unwrap());

    // The declared shape counts, not the inferred one. Without a declaration, S' alone does.
    assert_eq!(into(&tensor("B", &[5, 4])).unwrap(), x);
    // A declared tensor of another shape is a malformed assignment.
    let place = |tensor: &str, dimension, extent| Dimension {
        tensor: tensor.to_owned(),
        dimension,
        extent: teml::ir::Affine::constant(extent),
    };
    let disagree = Mismatch::Extents {
        index: it("i2"),
        first: place("B", 1, 4),
        second: place("A", 2, 5),
    };
    assert_eq!(refusal(into(&tensor("B", &[4, 4]))).0, disagree.to_string());
    let rank = Mismatch::Rank {
        tensor: "B".to_owned(),
        rank: 1,
        given: 2,
        list: "i2, i1".to_owned(),
    };
    assert_eq!(refusal(into(&tensor("B", &[20]))).0, rank.to_string());
    // A scalar is assigned without iterators.
    let one = bind(
        "s",
        assignment::eq(&bind("r", declare::scalar(Elem::F64)), &arrow(["ε"], "")).unwrap(),
    );
    let s = bind("s", declare::scalar(Elem::F64));
    assert_eq!(
        retarget(&one, s.tensor().unwrap()).unwrap().notation(),
        "⟨(=, •, •), [⟨(s, [], •), []⟩, ⟨(r, [], •), []⟩]⟩"
    );
}

#[test]
fn eq_18_fills_the_placeholder_with_another_name() {
    let [a, b, c] = ["A", "B", "C"].map(|name| tensor(name, &[4, 4]));
    let x = operation::op(Add, &a, &b, &arrow(["i1 i2", "i1 i2"], "i1 i2")).unwrap();
    // D = @C: add(…) puts C into the tree; D is known to the script alone.
    let d = retarget(&x.fill_placeholder(&name("C")), c.tensor().unwrap()).unwrap();
    assert_eq!(d.notation(), x.notation().replace('□', "C"));
    assert_eq!(d.tensor(), c.tensor());
    // D in a later expression reads C.
    assert_eq!(
        eq("E", &d, "i j", "i j").notation(),
        "⟨(=, •, •), [⟨(E, [4, 4], [i, j]), []⟩, ⟨(C, [4, 4], [i, j]), []⟩]⟩"
    );
}
