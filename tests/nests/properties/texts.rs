//! Random programs as text, with triangles and statements of different depth, through random steps.
//! Nests that are proved legal are equal, instance by instance and in numbers; refused ones are
//! wrong.

use super::in_order::results;
use super::moves::{Move, moves, reproduction, step};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::fmt::Write;
use teml::analysis::count::total;
use teml::interp::symbolic::{Answer, Policy, compare};
use teml::ir::{Nest, Tree};
use teml::legality::{self, Reductions, Verdict};
use teml::transform::nest::text::NEST;
use teml::transform::{Arg, Value};

/// Plain numbers, so that failures shrink.
#[derive(Clone, Debug)]
struct Program {
    extent: i64,
    trees: Vec<Item>,
}

#[derive(Clone, Debug)]
enum Item {
    /// Which bounds it has, and what is in it.
    Loop([usize; 2], Vec<Item>),
    /// The target and two operands.
    Statement([Access; 3]),
}

/// A tensor, and for each dimension which of the loops around, from where on, and whether it
/// counts down.
type Access = (usize, [(usize, i64, bool); 2]);

/// How far away from an element others are.
const REACH: i64 = 1;

fn access() -> impl Strategy<Value = Access> {
    let offset = prop_oneof![3 => Just(0), 1 => -REACH..=REACH];
    let index = || (0..3usize, offset.clone(), prop::bool::weighted(0.1));
    (0..2usize, (index(), index())).prop_map(|(tensor, (a, b))| (tensor, [a, b]))
}

fn items(depth: usize) -> BoxedStrategy<Vec<Item>> {
    let statement = [access(), access(), access()].prop_map(Item::Statement);
    if depth == 0 {
        return prop::collection::vec(statement, 1..=2).boxed();
    }
    let inner = ([0..5usize, 0..5usize], items(depth - 1));
    let inner = inner.prop_map(|(bounds, body)| Item::Loop(bounds, body));
    let item = prop_oneof![1 => statement, 2 => inner];
    prop::collection::vec(item, 1..=2).boxed()
}

fn programs() -> impl Strategy<Value = Program> {
    let outermost = items(2).prop_map(|body| vec![Item::Loop([0, 0], body)]);
    let two = (items(1), items(1));
    let two = two.prop_map(|(a, b)| vec![Item::Loop([0, 0], a), Item::Loop([0, 0], b)]);
    let trees = prop_oneof![3 => outermost, 1 => two];
    (2..=4i64, trees).prop_map(|(extent, trees)| Program { extent, trees })
}

impl Program {
    fn text(&self) -> String {
        let size = self.extent + 2 * REACH;
        let mut text = format!("i64 A[{size}][{size}], B[{size}][{size}]\n");
        self.write(&self.trees, 0, &mut text);
        text
    }

    fn write(&self, items: &[Item], depth: usize, text: &mut String) {
        let names = ["i", "j", "k"];
        let n = self.extent;
        for item in items {
            let _ = write!(text, "{:1$}", "", 2 * depth);
            match item {
                Item::Loop([low, high], body) => {
                    let outer = names[depth.saturating_sub(1)];
                    let (low, high) = match depth {
                        0 => ("0".to_owned(), n.to_string()),
                        _ => (
                            match low {
                                0 | 1 => "0".to_owned(),
                                2 => outer.to_owned(),
                                3 => format!("{outer} + 1"),
                                _ => format!("max(0, {outer} - 1)"),
                            },
                            match high {
                                0 | 1 => n.to_string(),
                                2 => outer.to_owned(),
                                3 => format!("{outer} + 1"),
                                _ => format!("min({n}, {outer} + 2)"),
                            },
                        ),
                    };
                    let _ = writeln!(text, "for {} in {low}..{high}", names[depth]);
                    self.write(body, depth + 1, text);
                }
                Item::Statement(accesses) => {
                    let [target, a, b] = accesses.map(|access| self.access(access, depth));
                    // The old value contributes to the new one, so that no reordering of updates is
                    // harmless.
                    let _ = writeln!(text, "{target} = 3 * {target} + {a} - 2 * {b}");
                }
            }
        }
    }

    fn access(&self, (tensor, index): Access, depth: usize) -> String {
        let index = index.map(|(l, offset, down)| {
            let (name, from) = (["i", "j", "k"][l % depth.max(1)], REACH + offset);
            if !down {
                format!("[{name} + {from}]")
            } else {
                format!("[{} - {name}]", self.extent - 1 + from)
            }
        });
        format!("{}{}{}", ["A", "B"][tensor], index[0], index[1])
    }

    fn nest(&self) -> Nest {
        let text = self.text();
        match teml::transform::apply(&NEST, &[Arg::Word(text.clone())], None) {
            Ok(Value::Nest(nest)) => nest,
            other => panic!("{other:?}\n{text}"),
        }
    }
}

fn transformed(nest: Nest, moves: &[Move]) -> Nest {
    moves
        .iter()
        .fold(nest, |nest, chosen| step(&nest, chosen).unwrap_or(nest))
}

/// How many statements are executed.
fn executed(nest: &Nest) -> Option<f64> {
    total(nest.trees(), &|tree| {
        f64::from(u8::from(matches!(tree, Tree::Stmt(_))))
    })
}

#[test]
fn proofs_and_instances_agree_on_texts() {
    let number = super::verdicts::cases(250);
    let (legal, refused, harmless) = (Cell::new(0u32), Cell::new(0u32), Cell::new(0u32));
    let more = |count: &Cell<u32>| count.set(count.get() + 1);
    let mut runner = TestRunner::new(super::config(number));
    let result = runner.run(&(programs(), moves(4)), |(source, moves)| {
        let plain = source.nest();
        let nest = transformed(plain.clone(), &moves);
        let nests = std::slice::from_ref(&nest);
        let answer = compare(nests, Policy::Strict, &|| false);
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        match legality::check(nests, Reductions::Strict) {
            Verdict::Legal => {
                more(&legal);
                prop_assert!(is_equal, "legal, but {answer:?}\n{}", reproduction(&nest));
                super::verdicts::reads_back(&nest)?;
                let [found, meant] = results(&nest);
                prop_assert_eq!(found, meant, "{}", reproduction(&nest));
            }
            Verdict::Illegal(violation) => {
                more(&refused);
                if is_equal {
                    more(&harmless);
                    println!("harmless: {violation}\n{}\n{nest}\n", reproduction(&nest));
                }
            }
            Verdict::Undecided(why) => prop_assert!(false, "{why}\n{}", reproduction(&nest)),
        }
        // A printed program reads back as the same program.
        let again = teml::lower::program::program(&plain.to_string());
        prop_assert_eq!(again.as_ref(), Ok(&plain));
        prop_assert!(executed(&plain).is_some());
        Ok(())
    });
    assert!(
        result.is_ok(),
        "{}",
        result.err().map_or(String::new(), |e| e.to_string())
    );
    let (legal, refused, harmless) = (legal.get(), refused.get(), harmless.get());
    println!("{legal} legal; {refused} illegal, {harmless} of them harmless");
    assert!(5 * legal > number && 40 * refused > number, "lopsided");
    assert!(5 * harmless < refused, "needless refusals");
}
