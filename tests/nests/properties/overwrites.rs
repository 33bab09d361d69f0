//! Assignments that read what they overwrite. They are computed in place exactly if some order of
//! the loops over the elements is correct. They always have the values over the old store.

use crate::config::config;
use crate::properties::compiled::{POISONED, runs_as_defined};
use crate::properties::generator::store;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeMap;
use teml::analysis::shape::{self, IteratorRange};
use teml::analysis::verify::verify;
use teml::codegen;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::interp::{definition, execute};
use teml::ir::{Affine, Expr, Index, Name, Nest, Node, Sharing, Tree, parse_expr};
use teml::legality::{self, Proof, Reductions, Verdict};
use teml::lower::build::build;
use teml::transform::LoopRef;
use teml::transform::nest::{interchange::interchange, mode, reverse::reverse};
use teml::transform::tensor::with_shapes;

/// An index: factors of i, j and k, and a constant.
type At = ([i64; 3], i64);

#[derive(Clone, Debug)]
struct Overwrite {
    extents: Vec<i64>,
    target: Vec<At>,
    reads: Vec<Vec<At>>,
    form: usize,
    summed: i64,
}

fn affine(([i, j, k], c): &At) -> String {
    let names = ["i", "j", "k"].map(|name| Affine::iterator(Name::new(name).unwrap()));
    let terms = [i, j, k].into_iter().zip(&names);
    let sum = terms.fold(Affine::constant(*c), |sum, (c, name)| {
        sum.plus(&name.times(*c))
    });
    sum.to_string()
}

impl Overwrite {
    fn access(index: &[At]) -> String {
        let index: String = index.iter().map(|a| format!("[{}]", affine(a))).collect();
        format!("x{index}")
    }

    fn text(&self) -> String {
        let extents: String = self.extents.iter().map(|n| format!("[{n}]")).collect();
        let target = Overwrite::access(&self.target);
        let reads: Vec<String> = self.reads.iter().map(|r| Overwrite::access(r)).collect();
        let all = reads.join(" + 2 * ");
        let (value, declared) = match self.form {
            0 => (all, ""),
            1 => (format!("{target} - ({all})"), ""),
            2 => (format!("sum(k: w[k] * ({all}))"), "w"),
            3 => (format!("{target} + sum(k: w[k] * ({all}))"), "w"),
            4 => (format!("{target} - w[k] * ({all})"), "w"),
            5 => (format!("{all} elsewhere 3"), ""),
            6 => (format!("sum(k: w[k] * ({all})) elsewhere 0"), "w"),
            7 => (format!("max(k: w[k] + ({all}))"), "w"),
            _ => (format!("{target} * sum(k: w[k] * ({all}))"), "w"),
        };
        let declared = match declared {
            "" => String::new(),
            name => format!(", {name}[{}]", self.summed),
        };
        format!("f64 x{extents}{declared}\n{target} = {value}")
    }

    fn assignment(&self) -> Option<Expr> {
        let sums = ![0, 1, 5].contains(&self.form);
        // Without a sum there is no k.
        let drop = |index: &Vec<At>| -> Vec<At> {
            let plain = |([i, j, k], c): &At| ([*i, *j, if sums { *k } else { 0 }], *c);
            index.iter().map(plain).collect()
        };
        let plain = Overwrite {
            reads: self.reads.iter().map(drop).collect(),
            ..self.clone()
        };
        with_shapes(&parse_expr(&plain.text()).ok()?).ok()
    }
}

fn overwrite() -> impl Strategy<Value = Overwrite> {
    let extents = prop::collection::vec(prop_oneof![1 => Just(1i64), 6 => 2..=5i64], 1..=2);
    extents
        .prop_flat_map(|extents| {
            let rank = extents.len();
            // Mostly an iterator alone.
            let one = move |d: usize, k: bool| {
                let other = if rank == 2 { 1 - d } else { d };
                let unit = move |at: usize, c: i64| {
                    let mut factors = [0, 0, 0];
                    factors[at] = c;
                    factors
                };
                let plain = prop_oneof![
                    8 => Just(unit(d, 1)),
                    2 => Just(unit(other, 1)),
                    2 => Just(unit(d, -1)),
                    1 => Just(unit(d, 2)),
                    1 => Just(unit(d, 0)),
                ];
                let with_k = prop_oneof![3 => Just(0i64), 2 => Just(i64::from(k))];
                (plain, with_k, -2..=5i64).prop_map(|(mut factors, k, c)| {
                    factors[2] = k;
                    let c = if factors[0] < 0 || factors[1] < 0 {
                        c
                    } else {
                        c.min(2)
                    };
                    (factors, c)
                })
            };
            let target = (0..rank).map(|d| one(d, false)).collect::<Vec<_>>();
            let plain = Just(
                (0..rank)
                    .map(|d| ([i64::from(d == 0), i64::from(d == 1), 0], 0))
                    .collect::<Vec<At>>(),
            );
            let read = (0..rank).map(|d| one(d, true)).collect::<Vec<_>>();
            let reads = prop::collection::vec(read, 1..=2);
            (
                Just(extents),
                prop_oneof![3 => plain, 2 => target],
                reads,
                0..9usize,
                1..=3i64,
            )
        })
        .prop_map(|(extents, target, reads, form, summed)| Overwrite {
            extents,
            target,
            reads,
            form,
            summed,
        })
}

/// All values of iterators.
fn points(ranges: &[IteratorRange]) -> Vec<BTreeMap<Name, i64>> {
    ranges.iter().fold(vec![BTreeMap::new()], |points, range| {
        let values = || range.low..range.high;
        let extended = points.iter().flat_map(|point| {
            values().map(|value| {
                let mut point = point.clone();
                point.insert(range.name.clone(), value);
                point
            })
        });
        extended.collect()
    })
}

fn value(index: &[Affine], point: &BTreeMap<Name, i64>) -> Vec<i64> {
    let value = |a: &Affine| {
        let known = |name: &Name| point.get(name).map(|v| Affine::constant(*v));
        a.substitute(&known).as_constant().expect("all are known")
    };
    index.iter().map(value).collect()
}

fn at(index: &Index) -> &[Affine] {
    match index {
        Index::At(index) => index,
        _ => &[],
    }
}

/// The pairs of different elements, by the iterators of the target, such that the second needs the
/// old value of the first.
fn pairs(assignment: &Expr) -> (Vec<Name>, Vec<[Vec<i64>; 2]>) {
    let Node::Assign {
        target,
        value: right,
        ..
    } = assignment.node()
    else {
        panic!("{assignment}");
    };
    let Node::Access { tensor, index } = target.node() else {
        panic!("{assignment}");
    };
    // The reduction iterator is always called k.
    let k = Name::new("k").unwrap();
    let mut ranges = shape::ranges(assignment).expect("it has a nest");
    ranges.retain(|r| r.name != k);
    let (own, others): (Vec<_>, Vec<_>) = ranges
        .into_iter()
        .partition(|r| at(index).iter().any(|a| a.mentions(&r.name)));
    let summed = IteratorRange {
        name: k,
        low: 0,
        high: terms(right),
        alone: None,
        given: None,
    };
    let all: Vec<IteratorRange> = own
        .iter()
        .chain(&others)
        .chain([&summed])
        .cloned()
        .collect();
    let names: Vec<Name> = own.iter().map(|r| r.name.clone()).collect();
    let coordinates =
        |point: &BTreeMap<Name, i64>| -> Vec<i64> { names.iter().map(|n| point[n]).collect() };
    let written: BTreeMap<Vec<i64>, Vec<i64>> = points(&own)
        .iter()
        .map(|p| (value(at(index), p), coordinates(p)))
        .collect();
    let mut found = Vec::new();
    for point in points(&all) {
        right.for_each_access(&mut |t, read| {
            if t != tensor {
                return;
            }
            let reader = coordinates(&point);
            if let Some(writer) = written.get(&value(at(read), &point))
                && *writer != reader
            {
                found.push([writer.clone(), reader]);
            }
        });
    }
    found.sort();
    found.dedup();
    (names, found)
}

/// The number of terms of a sum.
fn terms(value: &Expr) -> i64 {
    let mut extent = 1;
    value.for_each_access(&mut |t, _| {
        if t.label() == "w" {
            extent = i64::try_from(t.shape().extents()[0]).unwrap();
        }
    });
    extent
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    match n {
        0 => vec![Vec::new()],
        n => permutations(n - 1)
            .into_iter()
            .flat_map(|p| {
                (0..n).map(move |at| {
                    let mut p = p.clone();
                    p.insert(at, n - 1);
                    p
                })
            })
            .collect(),
    }
}

/// Whether some order of loops reads every element before it is assigned.
fn has_order(depth: usize, pairs: &[[Vec<i64>; 2]]) -> bool {
    permutations(depth).into_iter().any(|order| {
        (0..1 << depth).any(|signs: u32| {
            let time = |point: &[i64]| -> Vec<i64> {
                let sign = |d: usize| if signs >> d & 1 == 1 { -1 } else { 1 };
                order.iter().map(|d| sign(*d) * point[*d]).collect()
            };
            pairs.iter().all(|[w, r]| time(r) < time(w))
        })
    })
}

/// A few of each kind also run as C, which overwrites tensors like the interpreter.
#[test]
fn compiled_assignments_overwrite_what_they_read() {
    for text in [
        "f64 x[9]\nx[i] = x[i - 1] + x[i - 2]",
        "f64 x[9]\nx[i] = x[i + 1] * 2",
        "f32 A[5][5]\nA[i][j] = A[j][i]",
        "i32 x[7], w[4][4]\nx[i] = sum(k: w[k][k] * x[i])",
        "f64 x[7], w[7][7]\nx[i] = x[i] - sum(k: w[i][k] * x[k])",
        "f64 x[7]\nx[i] = x[i - 1] elsewhere 2",
        "f64 s, w[4]\ns = sum(k: w[k] * s)",
    ] {
        let assignment = with_shapes(&parse_expr(text).unwrap()).unwrap();
        let nest = build(&assignment).unwrap();
        let kernel = codegen::generate(&[nest], "kernel", Reductions::Strict).unwrap();
        assert_eq!(kernel.proof, Proof::Proved, "{text}");
        let definition = [assignment];
        runs_as_defined(&definition, kernel, POISONED, store(&definition), |_| 1e-6).unwrap();
    }
}

fn fail(what: impl std::fmt::Display, nest: &Nest) -> TestCaseError {
    TestCaseError::fail(format!("{what}\n{}\n{nest}", nest.definition()[0]))
}

/// Asserts that the nest computes the assignment over the old store.
fn computes(nest: &Nest) -> Result<(), TestCaseError> {
    verify(nest).map_err(|e| fail(e, nest))?;
    let mut expected = store(nest.definition());
    let mut found = expected.clone();
    definition::run(nest.definition(), &mut expected).map_err(|e| fail(e, nest))?;
    execute::run(nest, &mut found).map_err(|e| fail(e, nest))?;
    for (name, data) in &expected {
        let [expected, found] = [data, &found[name]].map(super::comparable);
        prop_assert_eq!(expected, found, "{}\n{}", nest.definition()[0], nest);
    }
    Ok(())
}

/// Other orders of the nest.
fn moved(nest: &Nest) -> Vec<Nest> {
    let loops: Vec<LoopRef> = nest
        .loops()
        .iter()
        .map(|(_, l)| LoopRef::Name(l.name.to_string()))
        .collect();
    let mut moved = Vec::new();
    for (k, l) in loops.iter().enumerate() {
        moved.extend(reverse(nest, l));
        moved.extend(mode::parallelize(nest, l, Sharing::default()));
        let inner = loops.get(k + 1);
        moved.extend(inner.and_then(|inner| interchange(nest, l, inner).ok()));
    }
    moved
}

#[test]
fn exactly_what_no_order_computes_has_a_temporary() {
    let counts: [Cell<u32>; 6] = Default::default();
    let [places, temporaries, needless, legal, illegal, harmless] = &counts;
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(config(1500));
    let result = runner.run(&overwrite(), |overwrite| {
        let Some(assignment) = overwrite.assignment() else {
            return Ok(());
        };
        let Ok(nest) = build(&assignment) else {
            return Ok(());
        };
        let is_local = |t: &Tree| matches!(t, Tree::Local(_));
        let (names, pairs) = pairs(&assignment);
        if names.is_empty() {
            return computes(&nest);
        }
        let temporary = nest.trees().iter().any(is_local);
        // The constant for elements elsewhere is set first, in the whole target.
        let whole = [5, 6].contains(&overwrite.form);
        if !whole {
            let order = has_order(names.len(), &pairs);
            prop_assert!(temporary || order, "{}\n{}", assignment, nest);
            if temporary && order {
                more(needless);
            }
        }
        more(if temporary { temporaries } else { places });
        computes(&nest)?;
        let nests = std::slice::from_ref(&nest);
        prop_assert_eq!(
            legality::check(nests, Reductions::Strict),
            Verdict::Legal,
            "{}",
            nest
        );
        for nest in moved(&nest) {
            let nests = std::slice::from_ref(&nest);
            let answer = symbolic::compare(nests, Policy::Strict, &|| false);
            let equal = matches!(answer, Ok(Answer::Equal { .. }));
            let verdict = legality::check(nests, Reductions::Strict);
            match (verdict == Verdict::Legal, equal) {
                (true, true) => more(legal),
                (false, false) => more(illegal),
                (false, true) => more(harmless),
                (true, false) => return Err(fail(format!("{answer:?} is legal"), &nest)),
            }
        }
        Ok(())
    });
    let [places, temporaries, needless, legal, illegal, harmless] = counts.map(|c| c.get());
    println!(
        "{places} in place, {temporaries} through a temporary, {needless} of them needlessly; \
         then {legal} orders are legal, {illegal} are not, and {harmless} are refused needlessly"
    );
    assert!(result.is_ok(), "{result:?}");
    assert!(places > 100 && temporaries > 100 && legal > 100 && illegal > 100);
    assert_eq!(needless, 0);
}
