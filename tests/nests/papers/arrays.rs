//! Random comprehensions of SaC against their definition: the first partition that holds an index
//! counts, the last one says the shape, and other elements are 0.

use crate::config::config;
use crate::papers::{Choices, computed, element, elements, sizes};
use proptest::prelude::*;
use teml::lang::{self, Notation};

/// A partition over a box of rows and columns, whose value is read from `A`, or a number.
struct Partition {
    low: [i64; 2],
    high: [i64; 2],
    shift: Option<[i64; 2]>,
    number: i64,
    /// Whether the lower bound is left out, and the pattern is an index vector.
    is_short: bool,
    is_vector: bool,
}

const EXTENT: i64 = 6;

fn partition(choices: &mut Choices, is_last: bool) -> Partition {
    let mut side = || {
        let low = choices.below(5) as i64;
        let high = choices.below(6) as i64 + 1;
        (low.min(high), high.max(low))
    };
    let ((a, b), (c, d)) = (side(), side());
    let is_short = choices.below(3) == 0;
    let (low, mut high) = (if is_short { [0, 0] } else { [a, c] }, [b, d]);
    if is_last {
        high = [EXTENT, EXTENT];
    }
    let shift = [choices.below(3) as i64 - 1, choices.below(3) as i64 - 1];
    let is_inside = (0..2)
        .all(|k| low[k] >= high[k] || (low[k] + shift[k] >= 0 && high[k] + shift[k] <= EXTENT));
    Partition {
        low,
        high,
        shift: (choices.below(3) > 0 && is_inside).then_some(shift),
        number: choices.below(9) as i64,
        is_short,
        is_vector: choices.below(2) == 0,
    }
}

impl Partition {
    fn text(&self) -> String {
        let index = if self.is_vector { "iv" } else { "[i,j]" };
        let part = |k: usize| match (self.is_vector, k) {
            (true, k) => format!("iv[{k}]"),
            (false, 0) => "i".to_owned(),
            (false, _) => "j".to_owned(),
        };
        let value = match self.shift {
            Some([r, c]) => format!("A[{}+({r}),{}+({c})] + {}", part(0), part(1), self.number),
            None => format!("{} + {}.0", part(1), self.number),
        };
        let list = |of: [i64; 2]| format!("[{},{}]", of[0], of[1]);
        let low = if self.is_short {
            String::new()
        } else {
            format!("{} <= ", list(self.low))
        };
        format!("{index} -> {value} | {low}{index} < {}", list(self.high))
    }

    fn holds(&self, at: [i64; 2]) -> bool {
        (0..2).all(|k| (self.low[k]..self.high[k]).contains(&at[k]))
    }

    fn at(&self, [i, j]: [i64; 2]) -> f64 {
        let read = |i: i64, j: i64| element("A", (i * EXTENT + j) as u64);
        match self.shift {
            Some([r, c]) => read(i + r, j + c) + self.number as f64,
            None => (j + self.number) as f64,
        }
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn comprehensions_compute_their_definition(
        numbers in prop::collection::vec(any::<u32>(), 0..60)
    ) {
        let mut choices = Choices(numbers.iter());
        let count = choices.below(4);
        let mut partitions: Vec<Partition> =
            (0..count).map(|_| partition(&mut choices, false)).collect();
        partitions.push(partition(&mut choices, true));
        let texts: Vec<String> = partitions.iter().map(Partition::text).collect();
        let text = format!("double[6,6] A;\nX = {{ {} }};", texts.join("; "));
        let program = lang::read(Notation::Sac, &text, &sizes(&[]));
        let program = program.map_err(|p| TestCaseError::fail(format!("{text}\n{p:?}")))?;
        let expected: Vec<f64> = (0..EXTENT)
            .flat_map(|i| (0..EXTENT).map(move |j| [i, j]))
            .map(|at| partitions.iter().find(|p| p.holds(at)).map_or(0.0, |p| p.at(at)))
            .collect();
        prop_assert_eq!(elements(&computed(&program), "X"), expected.clone(), "{}", text);
        let written = lang::written(&program, Notation::Sac)
            .map_err(|e| TestCaseError::fail(format!("{text}\n{e}")))?;
        let again = lang::read(Notation::Sac, &written, &sizes(&[]));
        let again = again.map_err(|p| TestCaseError::fail(format!("{written}\n{p:?}")))?;
        prop_assert_eq!(elements(&computed(&again), "X"), expected, "{}\n{}", text, written);
    }

    /// A body that is an array, with the index variable at any place among its dimensions.
    #[test]
    fn dots_place_the_dimensions_of_the_body(place in 0usize..3, many in any::<bool>()) {
        let mut parts = vec![".", "."];
        let pattern = match (many, place) {
            (true, 0) => "[i,...]".to_owned(),
            (true, 1) => "[.,i,...]".to_owned(),
            (true, _) => "[...,i]".to_owned(),
            (false, _) => {
                parts.insert(place, "i");
                format!("[{}]", parts.join(","))
            }
        };
        let text = format!("double[2,3] A;\nX = {{ {pattern} -> A + i | [i] < [4] }};");
        let program = lang::read(Notation::Sac, &text, &sizes(&[])).expect(&text);
        let mut shape = vec![2, 3];
        shape.insert(place, 4);
        let tensor = &program.variables().last().unwrap().tensor;
        prop_assert_eq!(tensor.shape().extents(), shape.as_slice());
        let mut expected = Vec::new();
        for a in 0..shape[0] {
            for b in 0..shape[1] {
                for c in 0..shape[2] {
                    let mut index = vec![a, b, c];
                    let i = index.remove(place);
                    expected.push(element("A", index[0] * 3 + index[1]) + i as f64);
                }
            }
        }
        prop_assert_eq!(elements(&computed(&program), "X"), expected);
    }
}
