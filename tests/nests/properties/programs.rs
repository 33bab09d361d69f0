//! Random programs of several statements that read each other's results at offsets, transposed,
//! and under sums, and steps on them that are legal or not.

use super::moves::built;
use super::moves::{Move, fused, moves, step};
use proptest::prelude::*;
use teml::ir::{Elem, Expr, Nest, parse_expr};
use teml::transform::tensor::with_shapes;

/// The description of a program: plain numbers, so that failures shrink. Tensors P0, P1 … have a
/// margin around the assigned elements, so that any offset can be read.
#[derive(Clone, Debug)]
pub struct Program {
    /// The values of each iterator.
    extent: i64,
    two_dimensions: bool,
    elem: Elem,
    statements: Vec<Statement>,
}

#[derive(Clone, Debug)]
struct Statement {
    kind: Kind,
    /// Which tensor is assigned.
    target: usize,
    /// Whether the value is added to the old one.
    onto: bool,
    /// Whether a value that was assigned before may be lost.
    overwrites: bool,
    /// Which tensors are read, how far after the element that is assigned, and whether
    /// turned around: transposed, or from the end of the only dimension.
    operands: [(usize, [i64; 2], bool); 2],
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Pointwise,
    /// Over a row or column of both operands.
    Reduced(&'static str),
}

/// The tensors that are assigned and read.
const TENSORS: usize = 3;
/// The maximum offset of a read.
const REACH: i64 = 2;
/// The margin of tensors. It exceeds `REACH`, so that no index is a bare iterator, which would
/// range over the whole dimension.
const MARGIN: i64 = REACH + 1;

pub fn program() -> impl Strategy<Value = Program> {
    let offset = || prop_oneof![2 => Just(0), 1 => -REACH..=REACH];
    let offsets = (offset(), offset()).prop_map(|(a, b)| [a, b]);
    let operand = (0..TENSORS, offsets, prop::bool::weighted(0.2));
    let kind = prop_oneof![
        4 => Just(Kind::Pointwise),
        2 => Just(Kind::Reduced("sum")),
        1 => Just(Kind::Reduced("max")),
    ];
    let onto = prop::bool::weighted(0.3);
    let overwrites = prop::bool::weighted(0.2);
    let statement = (
        kind,
        0..TENSORS,
        (onto, overwrites),
        [operand.clone(), operand],
    );
    let statement = statement.prop_map(|(kind, target, (onto, overwrites), operands)| Statement {
        kind,
        target,
        onto,
        overwrites,
        operands,
    });
    let elem = prop_oneof![3 => Just(Elem::F64), 1 => Just(Elem::I64)];
    let statements = prop_oneof![
        1 => prop::collection::vec(statement.clone(), 1),
        5 => prop::collection::vec(statement, 2..=3),
    ];
    (1..=4i64, any::<bool>(), elem, statements).prop_map(
        |(extent, two_dimensions, elem, statements)| Program {
            extent,
            two_dimensions,
            elem,
            statements,
        },
    )
}

impl Program {
    /// The assignments.
    pub fn definition(&self) -> Vec<Expr> {
        let number = 0..self.statements.len();
        number
            .map(|k| self.assignment(&self.statements[k], self.puts_onto(k)))
            .collect()
    }

    /// Whether every assigned value contributes to the results.
    pub fn loses_nothing(&self) -> bool {
        (0..self.statements.len()).all(|k| self.puts_onto(k) || !self.is_assigned_before(k))
    }

    fn is_assigned_before(&self, k: usize) -> bool {
        let target = self.statements[k].target;
        self.statements[..k].iter().any(|s| s.target == target)
    }

    fn puts_onto(&self, k: usize) -> bool {
        let s = &self.statements[k];
        s.onto || (self.is_assigned_before(k) && !s.overwrites)
    }

    fn assignment(&self, s: &Statement, onto: bool) -> Expr {
        let target = self.element(s.target, ["i", "j"], [0, 0], false);
        let read = |k: usize, names: [&str; 2]| {
            let (tensor, offsets, turned) = s.operands[k];
            self.element(tensor, names, offsets, turned)
        };
        // Tensors without a margin bound each iterator exactly.
        let value = match s.kind {
            Kind::Pointwise => {
                let (first, second) = (read(0, ["i", "j"]), read(1, ["i", "j"]));
                format!("({first} + {second}) * {}", self.plain(["i", "j"]))
            }
            Kind::Reduced(reduction) => {
                let (first, second) = (read(0, ["k", "j"]), self.plain(["i", "k"]));
                let all = if self.two_dimensions {
                    self.plain(["k", "j"])
                } else {
                    format!("{} * {}", self.plain(["i", ""]), self.plain(["k", ""]))
                };
                let value = format!("{first} * {second} * {all}");
                if onto && reduction != "sum" {
                    return self.parsed(&format!("{target} = max({target}, max(k: {value}))"));
                } else {
                    format!("{reduction}(k: {value})")
                }
            }
        };
        if onto {
            self.parsed(&format!("{target} = {target} + {value}"))
        } else {
            self.parsed(&format!("{target} = {value}"))
        }
    }

    fn element(&self, tensor: usize, names: [&str; 2], offsets: [i64; 2], turned: bool) -> String {
        let [first, second] = names;
        let [a, b] = offsets.map(|o| MARGIN + o);
        match (self.two_dimensions, turned) {
            (true, false) => format!("P{tensor}[{first} + {a}][{second} + {b}]"),
            (true, true) => format!("P{tensor}[{second} + {a}][{first} + {b}]"),
            (false, false) => format!("P{tensor}[{first} + {a}]"),
            (false, true) => format!("P{tensor}[-{first} + {}]", self.extent - 1 + a),
        }
    }

    fn plain(&self, [first, second]: [&str; 2]) -> String {
        if self.two_dimensions {
            format!("E[{first}][{second}]")
        } else {
            format!("E[{first}]")
        }
    }

    fn parsed(&self, text: &str) -> Expr {
        let declare = |name: String, extent: i64| {
            if self.two_dimensions {
                format!("{name}[{extent}][{extent}]")
            } else {
                format!("{name}[{extent}]")
            }
        };
        let size = self.extent + 2 * MARGIN;
        let mut tensors: Vec<String> = (0..TENSORS)
            .map(|k| declare(format!("P{k}"), size))
            .collect();
        tensors.push(declare("E".to_owned(), self.extent));
        let text = format!("{} {}\n{text}", self.elem, tensors.join(", "));
        let parsed = parse_expr(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        with_shapes(&parsed).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

/// A step on one of several nests, or what makes one of two.
#[derive(Clone, Debug)]
pub enum ProgramMove {
    /// Of the nest with this number.
    Step(usize, Move),
    /// Of the nest with this number and the next one, at a level.
    Fuse(usize, i64),
}

/// The first nests are fused, so that statements interact.
pub fn program_moves(count: usize) -> impl Strategy<Value = Vec<ProgramMove>> {
    let fuse = || (0..2usize, 1..=2i64).prop_map(|(nest, level)| ProgramMove::Fuse(nest, level));
    let steps = (0..3usize, moves(1))
        .prop_map(|(nest, mut moves)| ProgramMove::Step(nest, moves.swap_remove(0)));
    let first = prop::collection::vec(fuse(), 0..=3);
    let rest = prop::collection::vec(prop_oneof![6 => steps, 1 => fuse()], 0..=count);
    (first, rest).prop_map(|(first, rest)| first.into_iter().chain(rest).collect())
}

/// The nests after all moves that are accepted.
pub fn transformed(definition: &[Expr], moves: &[ProgramMove]) -> Vec<Nest> {
    let mut nests: Vec<Nest> = definition.iter().map(built).collect();
    for chosen in moves {
        let (replaced, after) = match chosen {
            ProgramMove::Step(k, chosen) => {
                let k = k % nests.len();
                (k..k + 1, step(&nests[k], chosen))
            }
            ProgramMove::Fuse(k, level) if *k + 1 < nests.len() => {
                (*k..k + 2, fused(&nests[*k], &nests[k + 1], *level))
            }
            ProgramMove::Fuse(..) => continue,
        };
        if let Ok(after) = after {
            nests.splice(replaced, [after]);
        }
    }
    nests
}
