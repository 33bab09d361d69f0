use super::{Formula, indices};
use crate::runtime::Scalar;
use proptest::prelude::*;
use rhai::{Array, Dynamic, Engine, FnPtr, NativeCallContext};

const EXTENTS: [u64; 2] = [3, 4];

static SYMBOLS: [&str; 13] = [
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
];

/// The elements according to Rhai and according to the formula of `|i, j| …`. `None` if Rhai fails
/// or returns something else than numbers, or if the formula leaves an element to Rhai.
fn both(body: &str) -> [Option<Vec<Scalar>>; 2] {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(0, 0);
    engine.register_fn(
        "both",
        |context: NativeCallContext, closure: FnPtr| -> Array {
            let number = |value: Dynamic| match value.as_int() {
                Ok(x) => Some(Scalar::Integer(x)),
                Err(_) => value.as_float().ok().map(Scalar::Float),
            };
            let call = |place: u64| {
                let index = indices(place, &EXTENTS).into_iter().map(Dynamic::from_int);
                let index: Vec<Dynamic> = index.collect();
                number(closure.call_raw(&context, None, index).ok()?)
            };
            let called: Option<Vec<Scalar>> = (0..EXTENTS.iter().product()).map(call).collect();
            let formula = Formula::of(&context, &closure, EXTENTS.len());
            let computed = formula.and_then(|formula| formula.numbers(&EXTENTS));
            vec![Dynamic::from(called), Dynamic::from(computed)]
        },
    );
    let script = format!("let n = 7; let x = 0.25; let yes = true; both(|i, j| {body})");
    // Rhai does not take all that can be written: `1 || i`.
    let Ok(script) = engine.compile(script) else {
        return [None, None];
    };
    let both = engine.eval_ast::<Array>(&script).unwrap();
    let mut both = both
        .into_iter()
        .map(|one| one.cast::<Option<Vec<Scalar>>>());
    [(); 2].map(|()| both.next().flatten())
}

fn bits(values: &Option<Vec<Scalar>>) -> Option<Vec<(u64, bool)>> {
    let bits = |value: &Scalar| match value {
        Scalar::Integer(x) => (x.cast_unsigned(), false),
        Scalar::Float(x) if x.is_nan() => (f64::NAN.to_bits(), true),
        Scalar::Float(x) => (x.to_bits(), true),
    };
    Some(values.as_ref()?.iter().map(bits).collect())
}

#[test]
fn formulas_of_scripts_are_taken() {
    for body in [
        "i",
        "(i * 4 + j) * 7 % 101 / 101.0 + 1.0",
        "if i == j { n.to_float() } else { (7 * i + 3 * j) % 11 / 10.0 }",
        "if (i + j) % 13 == 0 || !yes && j > 1 { 999 } else if i < j { -i } else { i * j % 7 + 1 }",
        "{ x * i }",
        "1.0 / (i + 3)",
    ] {
        let [called, computed] = both(body);
        assert!(computed.is_some(), "{body} is left to Rhai");
        assert_eq!(bits(&called), bits(&computed), "{body}");
    }
}

#[test]
fn the_rest_is_left_to_rhai() {
    for body in [
        "i.sqrt()",
        "{ let y = i; y }",
        "2 ** i",
        "i / j",
        "9223372036854775807 + i",
        "i == j",
        "if i { 1 } else { 2 }",
        "if i == 0 { 1 }",
        "[i][0]",
    ] {
        let [_, computed] = both(body);
        assert_eq!(computed, None, "{body}");
    }
}

fn body() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("i".to_owned()),
        Just("j".to_owned()),
        Just("n".to_owned()),
        Just("x".to_owned()),
        Just("yes".to_owned()),
        (-9i64..9).prop_map(|k| format!("({k})")),
        (-9i64..9).prop_map(|k| format!("({:?})", k as f64 / 2.0)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let binary = (
            inner.clone(),
            prop::sample::select(&SYMBOLS[..]),
            inner.clone(),
        );
        prop_oneof![
            4 => binary.prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => inner.clone().prop_map(|a| format!("(-{a})")),
            1 => inner.clone().prop_map(|a| format!("(!{a})")),
            1 => inner.clone().prop_map(|a| format!("({a}).to_float()")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("(if {a} {{ {b} }} else {{ {c} }})")),
        ]
    })
}

proptest! {
    #[test]
    fn formulas_are_what_rhai_computes(body in body()) {
        let [called, computed] = both(&body);
        prop_assert_eq!(bits(&called), bits(&computed));
    }
}
