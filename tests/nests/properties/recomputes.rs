//! Values that are recomputed wherever they are read: random chains of producers. Each is computed
//! at a loop of its consumer, inlined, or fused and made local. Nests that are proved legal are
//! equal, instance by instance and in numbers; refused ones are wrong.

use super::config::config;
use super::consumers::finished;
use super::moves::{Move, built, call, fused, moves, reproduction, step};
use super::producers::combine;
use super::verdicts::cases;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeMap;
use teml::analysis::verify::verify;
use teml::interp::symbolic::{self, Answer, Policy};
use teml::ir::{Expr, Nest, parse_expr};
use teml::legality::{self, Reductions, Verdict, Violation};
use teml::transform::Arg;
use teml::transform::nest::localize::LOCALIZE;
use teml::transform::tensor::with_shapes;

const EXTENT: usize = 4;

/// An assignment that reads T0, T1 …, each computed by the assignment of that number.
#[derive(Clone, Debug)]
struct Statement {
    form: usize,
    /// How many assignments before this one the tensor that it reads is computed.
    source: usize,
    /// Which operand else it has: an input, or another tensor.
    other: usize,
}

/// In what follows, `[a, b]` reads the source at `a`, and at `b` if it has two dimensions, and
/// `{a, b}` the other operand.
const FORMS: [(usize, &str); 17] = [
    (1, "[i, i] * {i, i}"),
    (1, "[i, L-i] + [L-i, i]"),
    (1, "[L-i, 1] * {i, i}"),
    (1, "[2, i] - {i, i}"),
    (1, "sum(k: [k, i] * w[i][k])"),
    (1, "sum(k: [i, k] * w[k][i])"),
    (1, "max(k: [k, L-k] + {i, k})"),
    (1, "sum(k: [i, 0] * w[k][i] * {k, i})"),
    (1, "abs([0, 1]) * x[i]"),
    (2, "[i, j] * {j, i}"),
    (2, "[j, i] + {i, j}"),
    (2, "[i, L-j] + [j, i]"),
    (2, "[2, 1] * w[i][j]"),
    (2, "sum(k: [i, k] * {k, j} * w[i][j])"),
    (2, "sum(k: [k, j] * w[i][k])"),
    (2, "max(k: [k, k] + w[i][j] * w[j][k])"),
    (2, "[j, j] + w[i][j]"),
];

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let source = prop_oneof![4 => Just(1usize), 1 => Just(2usize)];
    let one = (0..FORMS.len(), source, 0..6usize);
    let one = one.prop_map(|(form, source, other)| Statement {
        form,
        source,
        other,
    });
    prop::collection::vec(one, 2..=3)
}

fn definition(statements: &[Statement]) -> Vec<Expr> {
    let rank = |k: usize| FORMS[statements[k].form].0;
    let element = |tensor: Option<usize>, index: &str| {
        let index: Vec<String> = index.split(", ").map(index_of).collect();
        match tensor {
            Some(k) => format!("T{k}{}", index[..rank(k)].concat()),
            None => format!("x{}", index[0]),
        }
    };
    let text = |(k, s): (usize, &Statement)| {
        let (rank, form) = FORMS[s.form];
        let other = k
            .checked_sub(s.other)
            .filter(|_| s.other > 0 && s.other < 3);
        let mut value = String::new();
        let mut rest = form;
        while let Some(at) = rest.find(['[', '{']) {
            let end = at + rest[at..].find([']', '}']).expect("a pair");
            value.push_str(&rest[..at]);
            let inside = &rest[at + 1..end];
            value.push_str(&match (inside.contains(','), rest.as_bytes()[at]) {
                (true, b'[') => element(k.checked_sub(s.source), inside),
                (true, _) => element(other, inside),
                (false, _) => rest[at..=end].to_owned(),
            });
            rest = &rest[end + 1..];
        }
        let target = &format!("T{k}[i][j]")[..[0, 5, 8][rank]];
        format!("{target} = {value}{rest}")
    };
    let mut declared = format!("f64 x[{EXTENT}], w[{EXTENT}][{EXTENT}]");
    for k in 0..statements.len() {
        declared += &format!(", T{k}{}", format!("[{EXTENT}]").repeat(rank(k)));
    }
    let parsed = statements.iter().enumerate().map(|s| {
        let text = format!("{declared}\n{}", text(s));
        let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}"))
    });
    parsed.collect()
}

fn index_of(index: &str) -> String {
    match index.strip_prefix("L-") {
        Some(name) => format!("[-{name} + {}]", EXTENT - 1),
        None => format!("[{index}]"),
    }
}

/// An operation on one of the nests, or on it and the next one.
#[derive(Clone, Debug)]
enum Step {
    Move(usize, Move),
    ComputeAt(usize, usize),
    Inline(usize),
    ReverseComputeAt(usize, usize),
    /// Both in shared loops, and what the first one computes local to them.
    Localize(usize, i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let nest = || 0..3usize;
    let join = prop_oneof![
        6 => (nest(), 0..6usize).prop_map(|(k, place)| Step::ComputeAt(k, place)),
        1 => nest().prop_map(Step::Inline),
        1 => (nest(), 0..20usize).prop_map(|(k, place)| Step::ReverseComputeAt(k, place)),
        2 => (nest(), 0..3i64).prop_map(|(k, level)| Step::Localize(k, level)),
    ];
    let moved = (nest(), moves(1)).prop_map(|(k, mut moves)| Step::Move(k, moves.swap_remove(0)));
    prop::collection::vec(prop_oneof![3 => join, 2 => moved], 1..=6)
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Move(..) => "a step",
            Step::ComputeAt(..) => "compute_at",
            Step::Inline(_) => "inline",
            Step::ReverseComputeAt(..) => "reverse_compute_at",
            Step::Localize(..) => "localize",
        }
    }

    fn take(&self, nests: &mut Vec<Nest>) -> Option<()> {
        let (Step::Move(k, _)
        | Step::ComputeAt(k, _)
        | Step::Inline(k)
        | Step::ReverseComputeAt(k, _)
        | Step::Localize(k, _)) = self;
        let (k, two) = match self {
            Step::Move(..) => (k % nests.len(), 0),
            _ if nests.len() < 2 => return None,
            _ => (k % (nests.len() - 1), 1),
        };
        let pair = || [nests[k].clone(), nests[k + 1].clone()];
        let after = match self {
            Step::Move(_, chosen) => step(&nests[k], chosen),
            Step::ComputeAt(_, place) => combine(&pair(), Some(*place)),
            Step::Inline(_) => combine(&pair(), None),
            Step::ReverseComputeAt(_, place) => finished(&pair(), *place),
            Step::Localize(_, level) => {
                let first = nests[k].definition().first()?.children()[0]
                    .tensor()?
                    .clone();
                let both = fused(&nests[k], &nests[k + 1], *level);
                both.and_then(|both| call(&both, &LOCALIZE, [Arg::Word(first.label().to_owned())]))
            }
        };
        let after = after.ok().filter(|nest| verify(nest).is_ok())?;
        nests.splice(k..=k + two, [after]);
        Some(())
    }
}

#[test]
fn what_is_computed_anew_is_right_or_refused() {
    let counts: [Cell<u32>; 3] = Default::default();
    let [legal, illegal, harmless] = &counts;
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let kinds = std::cell::RefCell::new(BTreeMap::<&str, u32>::new());
    let orders = prop::sample::select(vec![
        (Reductions::Strict, Policy::Strict),
        (Reductions::Reassociate, Policy::Reassociate),
    ]);
    let number = cases(300);
    let mut runner = TestRunner::new(config(number));
    let all = (statements(), steps(), orders);
    let result = runner.run(&all, |(statements, steps, (reductions, policy))| {
        let definition = definition(&statements);
        let mut nests: Vec<Nest> = definition.iter().map(built).collect();
        for step in &steps {
            if step.take(&mut nests).is_none() {
                continue;
            }
            let answer = symbolic::compare(&nests, policy, &|| false);
            let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
            let text = || {
                let nests: Vec<String> = nests.iter().map(reproduction).collect();
                nests.join("\n\n")
            };
            match legality::check(&nests, reductions) {
                Verdict::Legal => {
                    prop_assert!(is_equal, "{:?}\n{:?}\n{}", answer, policy, text());
                    super::check(&nests)?;
                    more(legal);
                    *kinds.borrow_mut().entry(step.name()).or_default() += 1;
                }
                // Loops are marked whether they are independent or not.
                Verdict::Illegal(why) if matches!(*why, Violation::Concurrent { .. }) => {
                    return Ok(());
                }
                Verdict::Illegal(why) => {
                    more(illegal);
                    if is_equal {
                        more(harmless);
                        println!("harmless: {why}\n{policy:?}\n{}\n", text());
                    }
                    return Ok(());
                }
                Verdict::Undecided(why) => {
                    let text = format!("undecided: {why}\n{}", text());
                    return Err(TestCaseError::fail(text));
                }
            }
        }
        Ok(())
    });
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    let [legal, illegal, harmless] = counts.map(|c| c.get());
    println!("{legal} legal; {illegal} illegal, {harmless} of them harmless");
    let kinds = kinds.take();
    println!("{kinds:?}");
    // A wrong value is harmless if it is overwritten before it is needed.
    assert!(legal > number && 5 * harmless < illegal);
    assert_eq!(kinds.len(), 5);
}
