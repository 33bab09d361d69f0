//! Loops whose bounds depend on each other, in other orders: every iteration is executed exactly
//! once.

use crate::config::config;
use proptest::prelude::*;
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Affine, Loop, Name, Nest, parse_nest};
use teml::transform::LoopRef;
use teml::transform::nest::{
    interchange::interchange,
    reorder::reorder,
    reverse::reverse,
    shift::shift,
    skew::skew,
    stripmine::{Tail, stripmine},
};

/// A bound: for each loop further out its factor, and a constant.
type Bound = (Vec<i64>, i64);

/// For each loop some lower and some upper bounds.
fn bands(factor: i64) -> impl Strategy<Value = Vec<(Vec<Bound>, Vec<Bound>)>> {
    let factors = prop::collection::vec(prop_oneof![3 => Just(0), 2 => -factor..=factor], 3);
    let bound = |low: i64, high: i64| prop::collection::vec((factors.clone(), low..high), 1..=2);
    prop::collection::vec((bound(-3, 3), bound(-1, 7)), 1..=4)
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The band; its statement counts its executions in each iteration. Outer iterators have at most 12
/// values, and each inner one at most as many more as its bounds add.
fn counting(band: &[(Vec<Bound>, Vec<Bound>)]) -> Nest {
    let mut text = String::new();
    let bound = |(factors, constant): &Bound, k: usize| {
        let outer = factors.iter().zip(NAMES).take(k);
        let terms = outer.map(|(c, name)| Affine::iterator(Name::new(name).unwrap()).times(*c));
        terms
            .fold(Affine::constant(*constant), |sum, term| sum.plus(&term))
            .to_string()
    };
    for (k, (lower, upper)) in band.iter().enumerate() {
        let list = |bounds: &[Bound], function: &str| {
            let texts: Vec<String> = bounds.iter().map(|b| bound(b, k)).collect();
            match texts.as_slice() {
                [one] => one.clone(),
                several => format!("{function}({})", several.join(", ")),
            }
        };
        let (name, indent) = (NAMES[k], 2 * k);
        let (lower, upper) = (list(lower, "max"), list(upper, "min"));
        text.push_str(&format!("\n{:indent$}for {name} in {lower}..{upper}", ""));
    }
    let plain = parse_nest(&format!("i64 C[]{text}\n{:1$}C[] += 1", "", 2 * band.len()));
    let plain = plain.expect("the band is a nest");
    // Iterators index the tensor from the least value that they take.
    let bounds =
        teml::analysis::bounds::Bounds::of_chain(plain.loops().into_iter().map(|(_, l)| l));
    let boxes = NAMES.iter().take(band.len()).map(|name| {
        let (low, high) = bounds.get(&Name::new(name).unwrap()).expect("a box");
        (name, low, (high - low + 1).max(1))
    });
    let (mut shape, mut index) = (String::new(), String::new());
    for (name, low, extent) in boxes {
        let iterator = Affine::iterator(Name::new(name).unwrap());
        shape.push_str(&format!("[{extent}]"));
        index.push_str(&format!("[{}]", iterator.plus_constant(-low)));
    }
    let text = format!("i64 C{shape}{text}\n{:1$}C{index} += 1", "", 2 * band.len());
    parse_nest(&text).expect("the band is a nest")
}

/// The execution counts of the nest.
fn counts(nest: &Nest) -> Result<Vec<i64>, TestCaseError> {
    let mut store = Store::new();
    for tensor in nest.tensors() {
        let name = tensor.name().expect("a name").clone();
        store.insert(name, Data::generate(&tensor, |_| 0.0));
    }
    execute::run(nest, &mut store).map_err(|e| TestCaseError::fail(format!("{e}\n{nest}")))?;
    match store.into_values().next() {
        Some(Data::I64(counts)) => Ok(counts.to_vec()),
        other => Err(TestCaseError::fail(format!("{other:?}"))),
    }
}

fn by_name(l: &Loop) -> LoopRef {
    LoopRef::Name(l.name.to_string())
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn unit_bounds_turn_into_any_order(band in bands(1), keys in prop::collection::vec(0..9u8, 4)) {
        let nest = counting(&band);
        let mut loops: Vec<LoopRef> = nest.loops().iter().map(|(_, l)| by_name(l)).collect();
        let mut keys = keys.iter();
        loops.sort_by_cached_key(|_| keys.next());
        let after = reorder(&nest, &loops).expect("unit bounds need no division");
        prop_assert_eq!(counts(&nest)?, counts(&after)?, "{}\n{}", nest, after);
    }

    #[test]
    fn every_iteration_is_executed_once(
        band in bands(2),
        moves in prop::collection::vec((0..7usize, 0..4usize, 0..4usize, -2..=3i64), 1..8),
    ) {
        let mut nest = counting(&band);
        let expected = counts(&nest)?;
        for (which, a, b, number) in moves {
            let loops: Vec<LoopRef> = nest.loops().iter().map(|(_, l)| by_name(l)).collect();
            let (a, b) = (&loops[a % loops.len()], &loops[b % loops.len()]);
            let after = match which {
                0 => skew(&nest, a, b, number.signum()),
                1 => skew(&nest, b, a, number),
                2 => shift(&nest, a, number),
                3 => reverse(&nest, a),
                4 if loops.len() < 7 => stripmine(&nest, a, number.max(1), Tail::Guard),
                _ => interchange(&nest, a, b),
            };
            match after {
                Ok(after) => {
                    prop_assert_eq!(&expected, &counts(&after)?, "{}\n{}", nest, after);
                    nest = after;
                }
                Err(e) => prop_assert!(
                    !e.text.contains("cannot move outside of it"),
                    "all steps are 1: {e}"
                ),
            }
        }
    }
}
