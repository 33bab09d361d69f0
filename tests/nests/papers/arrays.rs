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

/// The elements of `x` that a text computes, for `double[12] v` and `double[4,5] a`.
fn of(text: &str) -> Vec<f64> {
    let text = format!("double[12] v; double[4,5] a; double[8,8] s;\n{text}");
    let program = lang::read(Notation::Sac, &text, &sizes(&[("n", 4)]));
    let program = program.unwrap_or_else(|p| panic!("{text}\n{p:?}"));
    let found = elements(&computed(&program), "x");
    let written = lang::written(&program, Notation::Sac).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let again = lang::read(Notation::Sac, &written, &sizes(&[]));
    let again = again.unwrap_or_else(|p| panic!("{text}\n{written}\n{p:?}"));
    assert_eq!(elements(&computed(&again), "x"), found, "{text}\n{written}");
    found
}

fn v(i: usize) -> f64 {
    element("v", i as u64)
}

fn a(i: usize, j: usize) -> f64 {
    element("a", (i * 5 + j) as u64)
}

fn s(i: usize, j: usize) -> f64 {
    element("s", (i * 8 + j) as u64)
}

/// The elements of a matrix.
fn matrix(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    all.map(|(i, j)| at(i, j)).collect()
}

#[test]
fn upper_bounds_follow_from_shifted_selections() {
    let differences: Vec<f64> = (0..11).map(|i| v(i + 1) - v(i)).collect();
    assert_eq!(of("x = { [i] -> v[i+1] - v[i] };"), differences);
    let halves: Vec<f64> = (0..6).map(|i| v(2 * i)).collect();
    assert_eq!(of("x = { [i] -> v[2*i] };"), halves);
    let turned: Vec<f64> = (0..12).map(|i| v(11 - i)).collect();
    assert_eq!(of("x = { [i] -> v[11-i] };"), turned);
    let shifted = matrix(9, 9, |i, j| if i * j > 0 { s(i - 1, j - 1) } else { 0.0 });
    assert_eq!(of("x = { iv -> s[iv-1] | 1 <= iv };"), shifted);
    assert_eq!(of("x = { iv -> s[iv-1] | [1,1] <= iv };"), shifted);
    let transposed = matrix(5, 4, |i, j| a(j, i));
    assert_eq!(of("x = { iv -> a[reverse(iv)] | iv < [5,4] };"), transposed);
    assert_eq!(
        of("x = { iv -> s[reverse(iv)] };"),
        matrix(8, 8, |i, j| s(j, i))
    );
    assert_eq!(of("x = { [i,j] -> a[i][j] };"), matrix(4, 5, a));
}

/// An index that leaves its array is a problem: bounds that are given are never narrowed.
#[test]
fn given_bounds_are_not_narrowed() {
    for text in [
        "x = { [i] -> v[i-1] };",
        "x = { [i] -> v[i+1] | [i] < [12] };",
    ] {
        let text = format!("double[12] v;\n{text}");
        let problems = lang::read(Notation::Sac, &text, &sizes(&[])).unwrap_err();
        assert!(
            problems[0].message.contains("the extent is 12"),
            "{problems:?}"
        );
    }
}

#[test]
fn comparisons_and_choices_have_values() {
    let text = "x = { [i] -> (i % 2 == 0) ? v[i] : 0 - v[i] };";
    let signs = |i: usize| if i.is_multiple_of(2) { v(i) } else { -v(i) };
    assert_eq!(of(text), (0..12).map(signs).collect::<Vec<_>>());
    let text = "x = { [i] -> v[i] < 0 || v[i] > 1 && i != 3 ? 7 : v[i] };";
    let outside = |i: usize| {
        let is_chosen = v(i) < 0.0 || v(i) > 1.0 && i != 3;
        if is_chosen { 7.0 } else { v(i) }
    };
    assert_eq!(of(text), (0..12).map(outside).collect::<Vec<_>>());
    let ones = |i: usize| f64::from(u8::from(v(i) >= 1.0));
    let ones: Vec<f64> = (0..12).map(ones).collect();
    assert_eq!(of("x = v >= 1;"), ones);
    // A condition that is known decides which branch is read.
    assert_eq!(
        of("x = { [i] -> 3 < 2 ? v[i + 100] : v[i] };"),
        (0..12).map(v).collect::<Vec<_>>()
    );
    let text = "x = { [i] -> i < 2 ? a[i] : a[i] + 1 | [i] < [4] };";
    assert_eq!(
        of(text),
        matrix(4, 5, |i, j| a(i, j) + f64::from(u8::from(i >= 2)))
    );
}

#[test]
fn steps_and_widths_choose_indices() {
    let chosen = |is: &dyn Fn(usize) -> bool| -> Vec<f64> {
        (0..12)
            .map(|i| if is(i) { v(i) * 2.0 } else { v(i) })
            .collect()
    };
    let text = |range: &str| format!("x = with {{ ({range}) : v[iv] * 2; }} : modarray(v);");
    let stepped = chosen(&|i| (1..9).contains(&i) && (i - 1).is_multiple_of(2));
    assert_eq!(of(&text("[1] <= iv < [9] step [2]")), stepped);
    let wide = chosen(&|i| i < 9 && i % 4 < 2);
    assert_eq!(of(&text("[0] <= iv < [9] step [4] width [2]")), wide);
    assert_eq!(
        of(&text(". <= iv <= . step [3]")),
        chosen(&|i| i.is_multiple_of(3))
    );
    assert_eq!(
        of(&text("[0] <= iv < [9] step [2] width [2]")),
        chosen(&|i| i < 9)
    );
    let board =
        "x = with { (. <= [i,j] <= . step [2,2]) : 1; ([1,1] <= [i,j] < [4,5] step [2,2]) : 2; }
        : genarray([4,5], 0);";
    let at = |i: usize, j: usize| match (i % 2, j % 2) {
        (0, 0) => 1.0,
        (1, 1) => 2.0,
        _ => 0.0,
    };
    assert_eq!(of(board), matrix(4, 5, at));
    // The boxes of two generators overlap, and their indices do not.
    let fold =
        "y = with { ([0] <= iv < [12] step [2]) : v[iv]; ([1] <= iv < [12] step [2]) : 10*v[iv]; }
        : fold(+, 0); x = [y];";
    let sum: f64 = (0..12)
        .map(|i: usize| {
            if i.is_multiple_of(2) {
                v(i)
            } else {
                10.0 * v(i)
            }
        })
        .sum();
    assert_eq!(of(fold), [sum]);
    let product = "y = with { ([0] <= iv < [12] step [5]) : v[iv] + 3; } : fold(*, 1); x = [y];";
    assert_eq!(of(product), [(v(0) + 3.0) * (v(5) + 3.0) * (v(10) + 3.0)]);
}

#[test]
fn bounds_depend_on_index_variables() {
    let lower = "x = { [i,j] -> s[i,j] | [0,0] <= [i,j] < [8,i] };";
    assert_eq!(
        of(lower),
        matrix(8, 7, |i, j| if j < i { s(i, j) } else { 0.0 })
    );
    let upper = "x = { [i,j] -> s[i,j] | [0,i] <= [i,j]; iv -> 9 | iv < [8,8] };";
    assert_eq!(
        of(upper),
        matrix(8, 8, |i, j| if j >= i { s(i, j) } else { 9.0 })
    );
    let band = "x = { [i,j] -> s[i,j] | [0,i-1] <= [i,j] <= [7,i+1]; iv -> 0 | iv < [8,9] };";
    let problems = lang::read(
        Notation::Sac,
        &format!("double[8,8] s; {band}"),
        &sizes(&[]),
    );
    assert!(problems.is_err(), "s[7,8] is outside");
    let inner = "x = { [i] -> sum({ [j] -> s[i,j] | [j] < [i] }) | [i] < [8] };";
    let sums: Vec<f64> = (0..8).map(|i| (0..i).map(|j| s(i, j)).sum()).collect();
    assert_eq!(of(inner), sums);
    let circle = "double[8,8] s; x = { [i,j] -> s[i,j] | [j,i] <= [i,j] < [8,8] };";
    let problems = lang::read(Notation::Sac, circle, &sizes(&[])).unwrap_err();
    assert_eq!(problems[0].message, "nothing says how far this bound goes");
}

#[test]
fn functions_are_replaced_by_their_values() {
    let inc = "double inc(double y) { return y + 1; }";
    let incremented: Vec<f64> = (0..12).map(|i| v(i) + 1.0).collect();
    assert_eq!(
        of(&format!("{inc} x = {{ iv -> inc(v[iv]) }};")),
        incremented
    );
    // Of any shape, before its definition, with a variable of its own.
    let inner = "x = inner(a);
        double[*] inner(double[*] b) {
          low = 0*shape(b) + 1;
          return { iv -> b[iv] + 1 | low <= iv < shape(b) - 1; iv -> b[iv] };
        }";
    let is_inner = |i: usize, j: usize| (1..3).contains(&i) && (1..4).contains(&j);
    let expected = matrix(4, 5, |i, j| a(i, j) + f64::from(u8::from(is_inner(i, j))));
    assert_eq!(of(inner), expected);
    let recursive = "double[*] f(double[*] b, int k) { return k == 0 ? b : f(b + b, k - 1); }
        x = f(v, 3);";
    assert_eq!(
        of(recursive),
        (0..12).map(|i| 8.0 * v(i)).collect::<Vec<_>>()
    );
    let product = "double[.,.] mm(double[.,.] l, double[.,.] r) {
          return { [i,j] -> sum({ [k] -> l[i,k] * r[k,j] }) };
        }
        x = mm(s, s);";
    let sum = |i, j| (0..8).map(|k| s(i, k) * s(k, j)).sum();
    assert_eq!(of(product), matrix(8, 8, sum));
}

/// Arrays without elements have a shape, and nothing is computed.
#[test]
fn arrays_may_be_empty() {
    let texts = [
        "double[0,5] e; c = { [i] -> reverse(e[i]) };",
        "double[0,6] e; c = with { ([0] <= iv < take([1], shape(e))) : e[iv] + 1; }
           : genarray(take([1], shape(e)));",
        "double[3] e; c = drop([3], e) ++ take([0], e);",
    ];
    for text in texts {
        let program = lang::read(Notation::Sac, text, &sizes(&[])).expect(text);
        assert!(program.assignments().is_empty(), "{program}");
    }
    assert_eq!(
        of("double[0] e; x = e ++ v;"),
        (0..12).map(v).collect::<Vec<_>>()
    );
    assert_eq!(of("double[0,5] e; x = [sum(e)];"), [0.0]);
    let wrong = "double[0,5] e; double[3] w; c = e + { [i,j] -> 1 | [i,j] < [0,6] };";
    let problems = lang::read(Notation::Sac, wrong, &sizes(&[])).unwrap_err();
    assert!(
        problems[0].message.contains("[0,5] and [0,6]"),
        "{problems:?}"
    );
}
