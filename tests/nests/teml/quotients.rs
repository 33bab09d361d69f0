//! Definitions that read at quotients and remainders of iterators, and producers whose elements
//! are read so. They compute what the quotients say, element by element.

use crate::teml::trees::*;
use teml::interp::definition;
use teml::interp::store::Data;
use teml::ir::BinaryOp::{Add, Mul};
use teml::ir::{Affine, Domain, Expr, Range};
use teml::lower::build::build;
use teml::transform::nest::inline::INLINE;
use teml::transform::tensor::eq::{eq as assign, eq_over, eq_within};
use teml::transform::tensor::{entrywise::entrywise, vat::vat, veq::veq, vop::vop as combined};
use teml::transform::tensor::{
    vcontract::vcontract,
    vindex::vindex,
    vreduce::{vmean, vsum},
};
use teml::transform::{Arg, Arrow};

fn at(value: &Expr, index: Vec<Affine>) -> Expr {
    vat(value, &index).unwrap()
}

fn times(left: &Expr, right: &Expr) -> Expr {
    combined(Mul, left, right, &[]).unwrap()
}

fn quotient(index: &Affine, by: i64) -> Affine {
    index.quotient(by).unwrap()
}

fn remainder(index: &Affine, by: i64) -> Affine {
    index.remainder(by).unwrap()
}

fn to(index: Vec<Affine>) -> Arrow {
    let from = vec![];
    Arrow { from, to: index }
}

/// The elements of a tensor before anything runs.
fn elements(tensor: &Expr) -> Vec<f64> {
    let index: Vec<Affine> = match tensor.tensor().unwrap().shape().rank() {
        1 => list("i"),
        _ => list("i j"),
    };
    let copy = bind(
        "copy",
        assign(&at(tensor, index.clone()), &to(index)).unwrap(),
    );
    numbers(&copy)
}

/// The elements of the target, by the definition and by its nest.
fn numbers(assignment: &Expr) -> Vec<f64> {
    let nest = build(assignment).unwrap_or_else(|e| panic!("{assignment}: {e}"));
    let mut store = initial(&nest);
    definition::run(std::slice::from_ref(assignment), &mut store).unwrap();
    assert_eq!(results(&nest), store, "{nest}");
    match &store[assignment.tensor().unwrap().name().unwrap()] {
        Data::F64(numbers) => numbers.to_vec(),
        _ => panic!("{assignment} has other elements"),
    }
}

/// All ways to cut blocks off at both ends, and to begin blocks elsewhere.
#[test]
fn elements_are_read_at_quotients_and_remainders() {
    let i = it("i");
    for (blocks, width) in [(3, 5), (1, 4), (4, 1), (2, 3), (1, 1)] {
        let (a, b) = (tensor("A", &[blocks + 2]), tensor("B", &[width]));
        let (all_a, all_b) = (elements(&a), elements(&b));
        for (shift, low, high) in [
            (0, 0, blocks * width),
            (0, 1, blocks * width),
            (0, 0, blocks * width - 1),
            (0, 2, 3),
            (2, 0, blocks * width),
            (-1, 0, blocks * width),
            (-3, 1, blocks * width - 1),
            (7, 0, 4),
        ] {
            let (low, high) = (low, high.max(low + 1));
            let index = i.plus_constant(shift);
            let first = (low + shift).div_euclid(width);
            if (high - 1 + shift).div_euclid(width) - first > blocks + 1 {
                continue;
            }
            let of_a = quotient(&index, width).plus_constant(-first);
            let value = times(&at(&a, vec![of_a]), &at(&b, vec![remainder(&index, width)]));
            let ranges = Domain::new([(name("i"), Range::constant(low, high))]);
            let assignment = eq_over(&value, &to(list("i")), ranges);
            let assignment = bind("y", assignment.unwrap_or_else(|e| panic!("{e}")));
            assert_eq!(
                assignment.tensor().unwrap().shape().extents(),
                [high.unsigned_abs()]
            );
            let found = numbers(&assignment);
            for n in low..high {
                let (q, r) = (
                    (n + shift).div_euclid(width) - first,
                    (n + shift).rem_euclid(width),
                );
                let expected = all_a[q as usize] * all_b[r as usize];
                assert_eq!(found[n as usize], expected, "{assignment} at {n}");
            }
        }
    }
}

/// The range follows from all that the iterator indexes, and partial blocks are allowed.
#[test]
fn ranges_follow_from_quotients_and_iterators() {
    let (a, i) = (tensor("A", &[3]), it("i"));
    for extent in 11..=15 {
        let x = tensor("x", &[extent]);
        let value = times(&at(&a, vec![quotient(&i, 5)]), &at(&x, list("i")));
        let assignment = bind("y", assign(&value, &to(list("i"))).unwrap());
        let (all_a, all_x) = (elements(&a), elements(&x));
        let expected: Vec<f64> = (0..all_x.len()).map(|n| all_a[n / 5] * all_x[n]).collect();
        assert_eq!(numbers(&assignment), expected);
        let total = vsum(&value, &list("i"), Domain::default()).unwrap();
        let total = bind("t", assign(&total, &to(vec![])).unwrap());
        let sum = expected.iter().fold(0.0, |sum, x| sum + x);
        assert_eq!(numbers(&total), [sum]);
        // Only the target says how many remainders there are.
        let b = tensor("B", &[5]);
        let value = at(&b, vec![remainder(&i, 5)]);
        let cycle = eq_within(
            &value,
            &to(list("i")),
            &[Affine::constant(extent)],
            None,
            Domain::default(),
        );
        let all_b = elements(&b);
        let expected: Vec<f64> = (0..all_x.len()).map(|n| all_b[n % 5]).collect();
        assert_eq!(numbers(&bind("y", cycle.unwrap())), expected);
    }
    // A vector becomes a matrix.
    let x = tensor("x", &[15]);
    let rows = assign(
        &at(&x, list("i")),
        &to(vec![quotient(&i, 5), remainder(&i, 5)]),
    );
    let rows = bind("R", rows.unwrap());
    assert_eq!(rows.tensor().unwrap().shape().extents(), [3, 5]);
    assert_eq!(numbers(&rows), elements(&x));
    // The index itself is a value.
    let value = vindex(&quotient(&i, 4)).unwrap();
    let cast = teml::transform::tensor::cast::vcast(&value, teml::ir::Elem::F64, &None).unwrap();
    let ranges = Domain::new([(name("i"), Range::constant(0, 6))]);
    let steps = bind("S", eq_over(&cast, &to(list("i")), ranges).unwrap());
    assert_eq!(numbers(&steps), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn digits_in_mixed_radix_nest() {
    let i = it("i");
    let (a, b, c) = (tensor("A", &[2]), tensor("B", &[3]), tensor("C", &[4]));
    let middle = remainder(&quotient(&i, 4), 3);
    let value = times(
        &times(&at(&a, vec![quotient(&i, 12)]), &at(&b, vec![middle])),
        &at(&c, vec![remainder(&i, 4)]),
    );
    let (all_a, all_b, all_c) = (elements(&a), elements(&b), elements(&c));
    for (low, high) in [(0, 24), (0, 19), (5, 24), (13, 22), (13, 15)] {
        let ranges = Domain::new([(name("i"), Range::constant(low, high))]);
        let assignment = bind("y", eq_over(&value, &to(list("i")), ranges).unwrap());
        let found = numbers(&assignment);
        for n in low as usize..high as usize {
            let expected = all_a[n / 12] * all_b[n / 4 % 3] * all_c[n % 4];
            assert_eq!(found[n], expected, "{assignment} at {n}");
        }
    }
}

/// `K[5*i + k] = A[i] * B[k]` without storage, read at several indices.
#[test]
fn virtual_tensors_are_read_at_sums() {
    let (a, b, x) = (tensor("A", &[3]), tensor("B", &[5]), tensor("x", &[15]));
    let (all_a, all_b, all_x) = (elements(&a), elements(&b), elements(&x));
    let product = times(&at(&a, list("i")), &at(&b, list("k")));
    let blocks = it("i").times(5).plus(&it("k"));
    let virtual_of = |index: Affine| veq(&product, &to(vec![index])).unwrap();
    let kron = virtual_of(blocks.clone());
    assert_eq!(kron.shape().unwrap().extents(), [15]);
    let k = |n: usize| all_a[n / 5] * all_b[n % 5];
    let stored = |value: &Expr, index: Vec<Affine>| bind("y", assign(value, &to(index)).unwrap());
    let whole = stored(&at(&kron, list("n")), list("n"));
    assert_eq!(numbers(&whole), (0..15).map(k).collect::<Vec<_>>());
    let sum = entrywise(Add, &kron, &x).unwrap();
    let sum = stored(&at(&sum, list("n")), list("n"));
    assert_eq!(
        numbers(&sum),
        (0..15).map(|n| k(n) + all_x[n]).collect::<Vec<_>>()
    );
    // Shifted, both ways: `y[n] = K[n + 3]`, and K that begins at 2.
    let ranges = Domain::new([(name("n"), Range::constant(0, 11))]);
    let shifted = at(&kron, vec![it("n").plus_constant(3)]);
    let shifted = bind("y", eq_over(&shifted, &to(list("n")), ranges).unwrap());
    assert_eq!(numbers(&shifted), (3..14).map(k).collect::<Vec<_>>());
    let from_two = stored(
        &at(&virtual_of(blocks.plus_constant(2)), list("n")),
        list("n"),
    );
    assert_eq!(numbers(&from_two)[2..], (0..15).map(k).collect::<Vec<_>>());
    // Contracted, and as a mean over partial blocks.
    let total = vcontract(&kron, &x, &[[1, 1]]).unwrap();
    let sum = (0..15).fold(0.0, |sum, n| sum + k(n) * all_x[n]);
    assert_eq!(numbers(&stored(&at(&total, vec![]), vec![])), [sum]);
    let part = tensor("x", &[14]);
    let products = times(&at(&kron, list("n")), &at(&part, list("n")));
    let mean = vmean(&products, &list("n"), Domain::default()).unwrap();
    let sum = (0..14).fold(0.0, |sum, n| sum + k(n) * all_x[n]);
    assert_eq!(numbers(&stored(&mean, vec![])), [sum / 14.0]);
    // By rows and columns that another operand has.
    let m = tensor("M", &[3, 5]);
    let rows = times(
        &at(&kron, vec![it("a").times(5).plus(&it("b"))]),
        &at(&m, list("a b")),
    );
    let rows = stored(&rows, list("a b"));
    let all_m = elements(&m);
    assert_eq!(
        numbers(&rows),
        (0..15).map(|n| k(n) * all_m[n]).collect::<Vec<_>>()
    );
    assert_eq!(build(&rows).unwrap().loops().len(), 2);
    // Backwards, and with the factors exchanged.
    let backwards = veq(
        &at(&x, list("i")),
        &to(vec![it("i").times(-1).plus_constant(14)]),
    );
    let backwards = stored(&at(&backwards.unwrap(), list("n")), list("n"));
    assert_eq!(
        numbers(&backwards),
        all_x.iter().rev().copied().collect::<Vec<_>>()
    );
    let exchanged = stored(
        &at(&virtual_of(it("k").times(3).plus(&it("i"))), list("n")),
        list("n"),
    );
    let expected: Vec<f64> = (0..15).map(|n| all_a[n % 3] * all_b[n / 3]).collect();
    assert_eq!(numbers(&exchanged), expected);
    // With extents 1, a sum has several orders.
    let one = tensor("A", &[1]);
    let ones = times(&at(&one, list("i")), &at(&b, list("k")));
    for index in [it("i").plus(&it("k")), it("i").times(5).plus(&it("k"))] {
        let value = at(&veq(&ones, &to(vec![index])).unwrap(), list("n"));
        let expected: Vec<f64> = all_b.iter().map(|b| all_a[0] * b).collect();
        assert_eq!(numbers(&stored(&value, list("n"))), expected);
    }
}

/// The consumer computes what both nests do one after the other.
fn inlined(producer: &[&str], consumer: &[&str], after: &[&str]) {
    let [producer, consumer] = [producer, consumer].map(nest);
    let args = [Arg::Nest(producer.clone()), Arg::Nest(consumer.clone())];
    let result = transform(&INLINE, &args).unwrap_or_else(|e| panic!("{e}"));
    let lines: Vec<String> = result.lines().iter().map(ToString::to_string).collect();
    assert_eq!(lines, after);
    computes_both(&result, &producer, &consumer);
}

const KRON: &[&str] = &[
    "f64 A[3], B[5], K[17]",
    "for i in 0..3",
    "  for k in 0..5",
    "    K[5*i + k] = A[i] * B[k]",
];

#[test]
fn inline_splits_the_loops_of_consumers() {
    let head = "f64 y[17], K[17], x[17]";
    inlined(
        KRON,
        &[head, "for n in 0..15", "  y[n] = K[n] + x[n]"],
        &[
            "for n_o in 0..3",
            "  for n_i in 5*n_o..5*n_o + 5",
            "    y[n_i] = A[n_o] * B[n_i - 5*n_o] + x[n_i]",
        ],
    );
    // Blocks begin at multiples, or the loop does.
    inlined(
        KRON,
        &[head, "for n in 2..14", "  y[n] = K[n]"],
        &[
            "for n_o in 0..3",
            "  for n_i in max(5*n_o, 2)..min(5*n_o + 5, 14)",
            "    y[n_i] = A[n_o] * B[n_i - 5*n_o]",
        ],
    );
    inlined(
        KRON,
        &[head, "for n in 3..10", "  y[n] = K[n + 2]"],
        &[
            "for n_o in 0..2",
            "  for n_i in 5*n_o + 3..min(5*n_o + 8, 10)",
            "    y[n_i] = A[n_o + 1] * B[n_i - 5*n_o - 3]",
        ],
    );
}

#[test]
fn inline_reads_blocks_that_are_there() {
    let head = "f64 y[17], K[17]";
    inlined(
        KRON,
        &[
            head,
            "for b in 0..5",
            "  for a in 0..3",
            "    y[5*a + b] = K[5*a + b] + K[7] + K[b + 10]",
        ],
        &[
            "for b in 0..5",
            "  for a in 0..3",
            "    y[5*a + b] = A[a] * B[b] + A[1] * B[2] + A[2] * B[b]",
        ],
    );
}
