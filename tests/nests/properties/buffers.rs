//! Buffers against loops with awkward bounds: elements that are not loaded were set, and copies
//! stay inside.

use super::config::config;
use proptest::prelude::*;
use teml::analysis::verify::verify;
use teml::interp::execute;
use teml::interp::store::{Data, Store};
use teml::ir::{Nest, parse_nest};
use teml::transform::nest::pack::pack;
use teml::transform::nest::stage::stage;
use teml::transform::{Error, LoopRef};

/// The bounds of two loops, `I` and `J`, inside of a loop over `t`: skewed, clipped, those of
/// blocks that meet, overlap or leave gaps.
fn bounds() -> impl Strategy<Value = [&'static str; 2]> {
    let outer = vec!["0..4", "1..3", "t..3", "0..t + 1", "-1..2 step 2"];
    let inner = vec![
        "0..3",
        "3*I..3*I + 3",
        "3*I..min(3*I + 3, 8)",
        "3*I..min(3*I + 3, 2*I + 4)",
        "max(3*I, 1)..3*I + 3",
        "2*I..2*I + 3",
        "4*I..4*I + 3",
        "-3*I..-3*I + 3",
        "0..min(3, t + 1)",
        "t..t + 3",
        "I..4",
        "0..4 step 2",
    ];
    let [outer, inner] = [outer, inner].map(prop::sample::select);
    (outer, inner).prop_map(|(outer, inner)| [outer, inner])
}

/// An element of `R`; indices lie between 0 and 60.
fn place() -> impl Strategy<Value = String> {
    let index = prop::sample::select(vec![
        "[J + 20]",
        "[-J + 20]",
        "[I + 20]",
        "[3*I + J + 20]",
        "[2*J + 20]",
        "[2*I + J + 20]",
        "[t + 20]",
        "[5]",
    ]);
    (index.clone(), index).prop_map(|(a, b)| format!("R{a}{b}"))
}

/// A nest that sets elements of `R`, and then reads or changes some, often the same.
fn nest() -> impl Strategy<Value = String> {
    let again = (any::<bool>(), any::<bool>(), any::<bool>());
    (bounds(), bounds(), place(), place(), again).prop_map(
        |(first, second, to, from, (same_loops, same_place, changes))| {
            let second = if same_loops { first } else { second };
            let from = if same_place { to.clone() } else { from };
            let loops = |[outer, inner]: [&str; 2], statement: String| {
                format!("\n  for I in {outer}\n    for J in {inner}\n      {statement}")
            };
            let first = loops(first, format!("{to} = A[I + 20][J + 20]"));
            let second = loops(
                second,
                if changes {
                    format!("{from} += 1")
                } else {
                    format!("S[I + 20][J + 20] = {from} + A[J + 20][I + 20]")
                },
            );
            let first = first.replace('I', "i").replace('J', "j");
            let second = second.replace('I', "k").replace('J', "l");
            let head = "f64 R[61][61], S[61][61], A[61][61]\nfor t in 0..2";
            format!("{head}{first}{second}")
        },
    )
}

/// The contents of all tensors afterwards, as text, so that NaN equals NaN.
fn results(nest: &Nest) -> Result<Vec<String>, TestCaseError> {
    let mut store = Store::new();
    for tensor in &nest.tensors() {
        let name = tensor.name().expect("a name").clone();
        let letter = u64::from(name.as_str().as_bytes()[0]);
        let data = Data::generate(tensor, |element| (element * 7 + letter) as f64);
        store.insert(name, data);
    }
    execute::run(nest, &mut store).map_err(|e| TestCaseError::fail(format!("{e}\n{nest}")))?;
    let mut texts: Vec<String> = store.iter().map(|(n, d)| format!("{n}: {d:?}")).collect();
    texts.sort();
    Ok(texts)
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn buffers_change_nothing_whatever_the_bounds(text in nest(), depth in 0..3usize) {
        let nest = parse_nest(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let before = results(&nest)?;
        // The second loops read `R`, at most.
        let [outermost, set, used] = ["t", "i", "k"].map(|l| LoopRef::Name(l.to_owned()));
        let scope = [&outermost, &set, &used][depth];
        let attempts: [Result<Nest, Error>; 6] = [
            stage(&nest, scope, "R", None),
            stage(&nest, &LoopRef::Level(0), "R", None),
            pack(&nest, scope, "A", Some(&[2, 1]), None),
            pack(&nest, &used, "R", None, None),
            pack(&nest, scope, "A", Some(&[1, 2]), Some(1)),
            pack(&nest, scope, "A", Some(&[2, 1]), Some(2)),
        ];
        for after in attempts.into_iter().flatten() {
            prop_assert_eq!(verify(&after), Ok(()));
            prop_assert!(results(&after)? == before, "{}\nbecomes\n{}", nest, after);
        }
    }
}
