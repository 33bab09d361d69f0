//! Targets whose indices count like digits: `4*g + f` with `f` in 0..4. The nests must assign what
//! the definition says, which finds its domains in its own way.

use crate::teml::trees::*;
use teml::codegen::{Role, generate};
use teml::interp::definition;
use teml::ir::BinaryOp::Mul;
use teml::ir::{Affine, Expr};
use teml::legality::Reductions;
use teml::lower::build::{NoNest, build};
use teml::transform::Arrow;
use teml::transform::tensor::{eq, vop::vop as combined, vreduce::vsum};

/// `y = eq(value, () -> to)`.
fn to(value: &Expr, to: Vec<Affine>) -> Expr {
    let from = vec![];
    bind("y", eq::eq(value, &Arrow { from, to }).unwrap())
}

fn at(tensor: &Expr, index: Vec<Affine>) -> Expr {
    teml::transform::tensor::vat::vat(tensor, &index).unwrap()
}

/// The loops of the nest, which computes what the definition says.
fn loops(assignment: &Expr) -> Vec<String> {
    let nest = build(assignment).unwrap_or_else(|e| panic!("{e}"));
    let mut store = initial(&nest);
    definition::run(std::slice::from_ref(assignment), &mut store).unwrap();
    assert_eq!(results(&nest), store, "{nest}");
    let loops = nest.loops();
    loops
        .iter()
        .map(|(_, l)| format!("{} in {}", l.name, l.range))
        .collect()
}

#[test]
fn digits_are_walked_through_in_order() {
    let a = tensor("A", &[3, 4, 5]);
    let value = at(&a, list("i j k"));
    let flat = it("i").times(20).plus(&it("j").times(5)).plus(&it("k"));
    let assignment = to(&value, vec![flat]);
    assert_eq!(assignment.tensor().unwrap().shape().extents(), [60]);
    assert_eq!(loops(&assignment), ["i in 0..3", "j in 0..4", "k in 0..5"]);
    // Backwards, from elsewhere, and with a digit that takes a single value.
    let one = tensor("A", &[1, 4]);
    let value = at(&one, list("i j"));
    let backwards = it("j").times(-1).plus(&it("i")).plus_constant(5);
    let assignment = to(&value, vec![backwards]);
    assert_eq!(loops(&assignment), ["i in 0..1", "j in 0..4"]);
}

/// Only in the weights do channels and filters of a group index a dimension alone. The extent of
/// the channels gives the number of groups, and that gives the filters per group.
#[test]
fn groups_are_found_from_the_channels_of_a_filter() {
    let (input, weights) = (tensor("I", &[6, 7]), tensor("W", &[4, 3, 3]));
    let channel = it("g").times(3).plus(&it("c"));
    let filter = it("g").times(2).plus(&it("f"));
    let window = it("x").plus(&it("k"));
    let lists = [
        Some(vec![channel, window]),
        Some(vec![filter.clone(), it("c"), it("k")]),
    ];
    let product = combined(Mul, &input, &weights, &lists).unwrap();
    let sum = vsum(&product, &list("c k"), teml::ir::Domain::default()).unwrap();
    let assignment = to(&sum, vec![filter, it("x")]);
    assert_eq!(
        loops(&assignment),
        [
            "g in 0..2",
            "f in 0..2",
            "x in 0..5",
            "c in 0..3",
            "k in 0..3"
        ]
    );
    // The whole result is set, so the kernel need not know what it held.
    let kernel = generate(&[build(&assignment).unwrap()], "kernel", Reductions::Strict).unwrap();
    assert_eq!(kernel.params[0].role, Role::Out);
}

#[test]
fn digits_that_overlap_or_leave_holes() {
    let a = tensor("A", &[3, 4]);
    let value = at(&a, list("i j"));
    let index = |factor: i64| vec![it("i").times(factor).plus(&it("j"))];
    // 3*i + j is 3 for i = 1, j = 0 and for i = 0, j = 3.
    let overlap = build(&to(&value, index(3)));
    assert!(
        matches!(overlap, Err(NoNest::NotInjective { .. })),
        "{overlap:?}"
    );
    // Holes stay as they are, but a reduction cannot be initialized around them.
    assert_eq!(loops(&to(&value, index(5))), ["i in 0..3", "j in 0..4"]);
    let b = tensor("B", &[3, 4, 2]);
    let sum = vsum(
        &at(&b, list("i j k")),
        &list("k"),
        teml::ir::Domain::default(),
    )
    .unwrap();
    let holes = build(&to(&sum, index(5)));
    assert!(matches!(holes, Err(NoNest::Scattered { .. })), "{holes:?}");
    loops(&to(&sum, index(4)));
    // One iterator in two dimensions is a diagonal.
    let diagonal = build(&to(
        &vsum(&value, &list("j"), teml::ir::Domain::default()).unwrap(),
        vec![it("i"), it("i")],
    ));
    assert!(
        matches!(diagonal, Err(NoNest::Scattered { .. })),
        "{diagonal:?}"
    );
}

/// Also where the operands of a stencil are longer.
#[test]
fn a_target_ends_with_the_last_element_that_is_set() {
    let u = tensor("u", &[8]);
    let left = at(&u, vec![it("i").plus_constant(-1)]);
    let right = at(&u, vec![it("i").plus_constant(1)]);
    let center = at(&u, vec![it("i")]);
    let ends = combined(Mul, &left, &right, &[]).unwrap();
    let all = combined(Mul, &ends, &center, &[]).unwrap();
    for value in [&ends, &all] {
        let assignment = to(value, vec![it("i")]);
        assert_eq!(assignment.tensor().unwrap().shape().extents(), [7]);
        assert_eq!(loops(&assignment), ["i in 1..7"]);
    }
}
