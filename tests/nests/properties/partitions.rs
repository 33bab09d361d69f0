//! Random partitions of a matrix, compared element by element with the piece of each element:
//! triangles, bands, steps and boxes, and complements.

use crate::config::config;
use crate::properties::generator::store;
use proptest::prelude::*;
use teml::analysis::verify::verify;
use teml::codegen;
use teml::interp::store::{Data, Store};
use teml::interp::{definition, execute};
use teml::ir::{Affine, Expr, Name, Number, Range, parse_expr};
use teml::legality::{self, Reductions, Verdict};
use teml::lower::build::{NoNest, build};
use teml::lower::partition::NoPartition;
use teml::transform::Arg;
use teml::transform::tensor::Operand;
use teml::transform::tensor::partition::partition;
use teml::transform::tensor::partition::retarget;
use teml::transform::tensor::with_shapes;

/// A range of rows, in this many interleaved groups, each cut into columns at lines
/// `slope * i + offset`.
#[derive(Clone, Debug)]
struct Rows {
    height: i64,
    groups: i64,
    slope: i64,
    offsets: Vec<i64>,
}

/// The value of an element, and the same as text.
#[derive(Clone, Copy, Debug)]
enum Value {
    Number(i64),
    Copy,
    Transposed,
    Turned,
    Old,
    OldTransposed,
}

#[derive(Clone, Debug)]
enum Rest {
    Nothing,
    Number(i64),
    Tensor,
    Kept,
}

#[derive(Clone, Debug)]
struct Plan {
    n: i64,
    rows: Vec<Rows>,
    values: Vec<Value>,
    /// Pieces that are left out.
    left_out: Vec<bool>,
    rest: Rest,
    /// A piece that gets one more row than it has.
    grown: Option<usize>,
    rotation: usize,
}

/// A piece: ranges of rows and columns.
#[derive(Clone, Debug)]
struct Piece {
    rows: Range,
    columns: Range,
    value: Value,
}

fn i() -> Affine {
    Affine::iterator(Name::new("i").unwrap())
}

impl Plan {
    fn pieces(&self) -> Vec<Piece> {
        let mut found = Vec::new();
        let mut top = 0;
        let last = self.rows.len() - 1;
        for (k, rows) in self.rows.iter().enumerate() {
            let bottom = if k == last {
                self.n
            } else {
                (top + rows.height).min(self.n)
            };
            for group in 0..rows.groups {
                let mut offsets = rows.offsets.clone();
                offsets.sort_unstable();
                let line = |offset: i64| i().times(rows.slope).plus_constant(offset);
                for at in 0..=offsets.len() {
                    let mut columns = Range::constant(0, self.n);
                    if at > 0 {
                        columns.lower.push(line(offsets[at - 1]));
                    }
                    if at < offsets.len() {
                        columns.upper.push(line(offsets[at]));
                    }
                    let rows = Range {
                        lower: vec![Affine::constant(top + group)],
                        upper: vec![Affine::constant(bottom)],
                        step: rows.groups,
                        within: None,
                    };
                    let value = self.values[found.len() % self.values.len()];
                    found.push(Piece {
                        rows,
                        columns,
                        value,
                    });
                }
            }
            top = bottom;
        }
        let count = found.len();
        let mut kept: Vec<Piece> = found
            .into_iter()
            .enumerate()
            .filter(|(k, _)| !self.left_out[k % self.left_out.len()])
            .map(|(_, piece)| piece)
            .collect();
        if let (Some(k), false) = (self.grown, kept.is_empty()) {
            let k = k % kept.len();
            let lower = kept[k].rows.lower[0].plus_constant(-kept[k].rows.step);
            kept[k].rows.lower = vec![match lower.as_constant() {
                Some(at) if at >= 0 => lower,
                _ => kept[k].rows.lower[0].clone(),
            }];
        }
        if !kept.is_empty() {
            let by = self.rotation % kept.len();
            kept.rotate_left(by);
        }
        assert!(count > 0);
        kept
    }
}

impl Piece {
    fn has(&self, row: i64, column: i64) -> bool {
        let at = |_: &Name| Some(row);
        let inside = |range: &Range, x: i64| {
            let value = |a: &Affine| a.evaluate(&at).unwrap();
            range.lower.iter().all(|a| value(a) <= x) && range.upper.iter().all(|a| x < value(a))
        };
        inside(&self.rows, row)
            && inside(&self.columns, column)
            && (row - self.rows.lower[0].evaluate(&at).unwrap()) % self.rows.step == 0
    }

    fn text(&self, n: i64) -> String {
        let last = n - 1;
        let value = match self.value {
            Value::Number(x) => format!("{x} + 0 * A[i][j]"),
            Value::Copy => "2 * A[i][j]".to_owned(),
            Value::Transposed => "A[j][i]".to_owned(),
            Value::Turned => format!("A[{last} - i][{last} - j]"),
            Value::Old => "x[i][j] + A[i][j]".to_owned(),
            Value::OldTransposed => "x[j][i]".to_owned(),
        };
        format!(
            "f64 x[{n}][{n}], A[{n}][{n}]\nx[i][j] = {value} where i in {}, j in {}",
            self.rows, self.columns
        )
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let rows = (
        1..4i64,
        1..4i64,
        -1..=1i64,
        prop::collection::vec(-2..8i64, 0..3),
    )
        .prop_map(|(height, groups, slope, offsets)| Rows {
            height,
            groups,
            slope,
            offsets,
        });
    let value = prop_oneof![
        2 => (-4..5i64).prop_map(Value::Number),
        3 => Just(Value::Copy),
        2 => Just(Value::Transposed),
        1 => Just(Value::Turned),
        1 => Just(Value::Old),
        1 => Just(Value::OldTransposed),
    ];
    let rest = prop_oneof![
        3 => Just(Rest::Nothing),
        2 => (-4..5i64).prop_map(Rest::Number),
        2 => Just(Rest::Tensor),
        2 => Just(Rest::Kept),
    ];
    (
        1..7i64,
        prop::collection::vec(rows, 1..4),
        prop::collection::vec(value, 1..5),
        prop_oneof![
            2 => Just(vec![false]),
            3 => prop::collection::vec(prop::bool::weighted(0.3), 1..6)
        ],
        rest,
        prop::option::weighted(0.2, 0..8usize),
        0..6usize,
    )
        .prop_map(|(n, rows, values, left_out, rest, grown, rotation)| Plan {
            n,
            rows,
            values,
            left_out,
            rest,
            grown,
            rotation,
        })
}

fn parsed(text: &str) -> Expr {
    with_shapes(&parse_expr(text).unwrap()).unwrap()
}

/// The elements that the pieces give.
fn expected(plan: &Plan, pieces: &[Piece], old: &Store<'_>) -> Vec<f64> {
    let array = |name: &str| match &old[&Name::new(name).unwrap()] {
        Data::F64(data) => data.to_vec(),
        other => panic!("{other:?}"),
    };
    let (x, a) = (array("x"), array("A"));
    let n = plan.n;
    let at = |data: &[f64], i: i64, j: i64| data[(i * n + j) as usize];
    let element = |i: i64, j: i64| match pieces.iter().find(|p| p.has(i, j)).map(|p| p.value) {
        Some(Value::Number(value)) => value as f64,
        Some(Value::Copy) => 2.0 * at(&a, i, j),
        Some(Value::Transposed) => at(&a, j, i),
        Some(Value::Turned) => at(&a, n - 1 - i, n - 1 - j),
        Some(Value::Old) => at(&x, i, j) + at(&a, i, j),
        Some(Value::OldTransposed) => at(&x, j, i),
        None => match plan.rest {
            Rest::Number(value) => value as f64,
            Rest::Tensor => at(&a, i, j),
            Rest::Kept | Rest::Nothing => at(&x, i, j),
        },
    };
    let rows = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    rows.map(|(i, j)| element(i, j)).collect()
}

fn operand(arg: &Arg) -> Operand<'_> {
    match arg {
        Arg::Number(number) => Operand::Number(*number),
        Arg::Expr(expr) => Operand::Expr(expr),
        other => panic!("no operand: {other:?}"),
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn each_element_gets_the_value_of_its_piece(plan in plan()) {
        let n = plan.n;
        let pieces = plan.pieces();
        if pieces.is_empty() {
            return Ok(());
        }
        let exprs: Vec<Expr> = pieces.iter().map(|piece| parsed(&piece.text(n))).collect();
        let declared = parsed(&format!("f64 x[{n}][{n}], A[{n}][{n}]\nx[i][j] = A[i][j]"));
        let x = declared.tensor().unwrap().clone();
        let other = match plan.rest {
            Rest::Nothing => None,
            Rest::Number(value) => Some(Arg::Number(Number::Int(value))),
            Rest::Tensor => {
                let mut a = None;
                declared.for_each_access(&mut |t, _| a = Some(t.clone()));
                Some(Arg::Expr(Expr::of_tensor(a.unwrap())))
            }
            Rest::Kept => Some(Arg::Expr(Expr::of_tensor(x.clone()))),
        };
        let elements = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let in_pieces = |i, j| pieces.iter().filter(|p| p.has(i, j)).count();
        let shared = elements().any(|(i, j)| in_pieces(i, j) > 1);
        let hole = elements().any(|(i, j)| in_pieces(i, j) == 0);
        let made = partition(&exprs, other.as_ref().map(operand), Some(&[n, n].map(Affine::constant)));
        let whole = match made.and_then(|made| retarget(&made, &x)) {
            Ok(whole) => whole,
            Err(why) => {
                let says = |what: &str| why.text.contains(what);
                let reads = |p: &Piece| matches!(p.value, Value::OldTransposed);
                let right = says(" both assign ") && shared
                    || says("no piece assigns ") && hole && other.is_none()
                    || says(" that another one assigns") && pieces.iter().any(reads)
                    // Steps that begin elsewhere, in rows of columns that depend on them.
                    || says(" leaves form no loops") && plan.rows.iter().any(|r| r.groups > 1);
                prop_assert!(right, "{why}");
                return Ok(());
            }
        };
        prop_assert!(!shared && (!hole || other.is_some()), "{whole}");
        let nest = match build(&whole) {
            // Nothing is assigned.
            Err(NoNest::Partition(NoPartition::Empty)) => return Ok(()),
            nest => nest.map_err(|e| TestCaseError::fail(e.to_string()))?,
        };
        verify(&nest).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let old = store(&[declared.clone(), declared]);
        let wanted = expected(&plan, &pieces, &old);
        let mut executed = old.clone();
        execute::run(&nest, &mut executed).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let mut defined = old;
        definition::run(nest.definition(), &mut defined)
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        for (store, by) in [(&executed, "execution"), (&defined, "definition")] {
            let Data::F64(found) = &store[x.name().unwrap()] else {
                panic!("{whole}");
            };
            prop_assert_eq!(&found[..], &wanted[..], "by {}: {}\n{}", by, whole, nest);
        }
        let verdict = legality::check(std::slice::from_ref(&nest), Reductions::Strict);
        prop_assert!(matches!(verdict, Verdict::Legal), "{whole}");
        let code = codegen::generate(std::slice::from_ref(&nest), "kernel", Reductions::Strict);
        prop_assert!(code.is_ok(), "{whole}");
    }
}
