//! Nests of very many loops with several bounds each. The combinations of their bounds are beyond
//! any search, so steps and proofs end by their budgets.

use std::sync::mpsc;
use std::time::Duration;
use teml::ir::{Arg, LoopRef, Nest};
use teml::legality::{Reductions, Verdict, check};
use teml::verbs::{nest, step};

/// The loops around the guards. A nest has at most 128 levels. Guards and a step need one level
/// each.
const DEPTH: usize = 126;

/// Everything ends long before, also on a busy machine. A search without a budget never does.
const LIMIT: Duration = Duration::from_secs(900);

/// How the bounds of a loop follow from the two loops around it, `a` and `b`.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    /// `max(a - 1, b - 2)..100`.
    Lower,
    /// `0..min(a + 1, b + 2)`.
    Upper,
    /// `max(a - 1, b - 2)..min(a + 3, b + 4, 100)`.
    Both,
    /// `max(0, 8*a - b)..min(8*a + 8, 100)`. The coefficients grow with each loop.
    Growing,
}

const ALL: [Bounds; 4] = [Bounds::Lower, Bounds::Upper, Bounds::Both, Bounds::Growing];

impl Bounds {
    /// The range of loop `k`.
    fn range(self, k: usize) -> String {
        if k < 2 {
            return "0..100".to_owned();
        }
        let (a, b) = (format!("a{}", k - 1), format!("a{}", k - 2));
        match self {
            Bounds::Lower => format!("max({a} - 1, {b} - 2)..100"),
            Bounds::Upper => format!("0..min({a} + 1, {b} + 2)"),
            Bounds::Both => format!("max({a} - 1, {b} - 2)..min({a} + 3, {b} + 4, 100)"),
            Bounds::Growing => format!("max(0, 8*{a} - {b})..min(8*{a} + 8, 100)"),
        }
    }

    /// A nest of [`DEPTH`] loops, `a0` to `z`, around two guards.
    fn nest(self) -> Nest {
        let mut text = "f64 A[9], B[9]\n".to_owned();
        let last = DEPTH - 1;
        for k in 0..last {
            text += &format!("{}for a{k} in {}\n", "  ".repeat(k), self.range(k));
        }
        let (indent, outer) = ("  ".repeat(last), format!("a{}", last - 1));
        text += &format!("{indent}for z in 0..{outer} - 1000\n");
        for (name, first) in [("A", "0".to_owned()), ("B", format!("{outer} - 50"))] {
            let guard = format!("for g{name} in max(z, {first})..min(z + 1, {outer})");
            text += &format!("{indent}  {guard}\n{indent}    {name}[0] += 1\n");
        }
        nest(&text).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The result of a function, within [`LIMIT`].
#[track_caller]
fn soon<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let done = receiver.recv_timeout(LIMIT);
    done.unwrap_or_else(|_| panic!("{what} takes longer than {LIMIT:?}, or panics"))
}

/// The nest after a step, or why the step refuses it.
#[track_caller]
fn after(bounds: Bounds, name: &'static str, args: &[Arg]) -> Result<Nest, String> {
    let (what, args) = (format!("{name}{args:?} of {bounds:?}"), args.to_vec());
    soon(&what, move || {
        step(&bounds.nest(), name, &args).map_err(|error| error.to_string())
    })
}

fn of(name: &str) -> Arg {
    Arg::Loop(LoopRef::from(name))
}

fn word(text: &str) -> Arg {
    Arg::Word(text.to_owned())
}

/// Asserts that a step succeeds, or refuses with a message that contains the text.
#[track_caller]
fn ends(bounds: Bounds, name: &'static str, args: &[Arg], refusal: Option<&str>) {
    match (after(bounds, name, args), refusal) {
        (Ok(_), None) => {}
        (Err(message), Some(part)) if message.contains(part) => {}
        (done, _) => panic!("{name}{args:?} of {bounds:?}: {done:?}"),
    }
}

#[test]
fn steps_end_within_their_budgets() {
    for bounds in ALL {
        let begins_anywhere = !matches!(bounds, Bounds::Upper);
        let not_constant = Some("is not constant");
        let [z, middle] = ["z", "a64"].map(of);
        ends(
            bounds,
            "stripmine",
            &[z.clone(), Arg::Int(1), word("cut")],
            not_constant,
        );
        ends(
            bounds,
            "stripmine",
            &[middle, Arg::Int(4)],
            not_constant.filter(|_| begins_anywhere),
        );
        let division = matches!(bounds, Bounds::Growing).then_some("would need division");
        for (one, other) in [("a123", "a124"), ("a60", "a64")] {
            ends(bounds, "interchange", &[of(one), of(other)], division);
        }
        ends(bounds, "split_at", &[z.clone(), word("a120 - 30")], None);
        ends(bounds, "split_at", &[of("a124"), word("a120")], None);
        ends(bounds, "separate", std::slice::from_ref(&z), None);
        // The first loop becomes the last one: all bounds change.
        let all = after(bounds, "interchange", &[of("a0"), z]);
        assert!(all.is_ok() || division.is_some(), "{bounds:?}: {all:?}");
    }
}

#[test]
fn checks_end_within_their_budgets() {
    for bounds in [Bounds::Lower, Bounds::Both] {
        for (name, args) in [
            ("interchange", vec![of("a60"), of("a64")]),
            ("split_at", vec![of("z"), word("a120 - 30")]),
            ("separate", vec![of("z")]),
        ] {
            let nest = after(bounds, name, &args).unwrap();
            let what = format!("check of {name} of {bounds:?}");
            let verdict = soon(&what, move || check(&[nest], Reductions::Strict));
            let is_illegal = matches!(verdict, Verdict::Illegal(_));
            assert!(!is_illegal, "{what}: {verdict:?}");
        }
    }
}
