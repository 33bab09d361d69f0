//! Initializations that cannot be moved.

use crate::teml::refusals::Case;
use crate::teml::trees::{copy, level, named, nest};
use teml::analysis::position::NoLoop;
use teml::ir::{Elem, Nest};
use teml::transform::nest::place_init::PLACE_INIT;
use teml::transform::tensor::declare;
use teml::transform::{Arg, LoopRef};

/// A reduction after and before other statements.
fn reduction(before: &[&str], loops: [&str; 2], after: &[&str]) -> Nest {
    let head = ["f64 y[10], z[10], A[10][10]"];
    let body = ["    y[i] += A[i][j]"];
    nest(&[&head, before, &loops, &body, after].concat())
}

pub fn inits() -> Vec<Case> {
    let fill = ["fill y[0..10] = 0"];
    let loops = ["for i in 0..10", "  for j in 0..10"];
    let plain = reduction(&fill, loops, &[]);
    let read_after = reduction(&fill, loops, &["for k in 0..10", "  z[k] = y[k]"]);
    let read_within = nest(&[
        "f64 y[10], z[10], A[10]",
        "fill y[0..10] = 0",
        "for b in 0..2",
        "  for i in 5*b..5*b + 5",
        "    y[i] += A[i]",
        "  for k in 0..10",
        "    z[k] = y[k]",
    ]);
    let read_before = reduction(&["y[0] = A[0][0]", fill[0]], loops, &[]);
    let twice = reduction(&[fill[0], "fill z[0..10] = 0"], loops, &[]);
    let partly = reduction(&["fill y[0..9] = 0"], loops, &[]);
    let holes = nest(&[
        "f64 y[10], A[5]",
        "fill y[0..9] = 0",
        "for i in 0..5",
        "  y[2*i] += A[i]",
    ]);
    let again = nest(&[
        "f64 y[4], A[4]",
        "for i in 0..4",
        "  fill y[0..4] = 0",
        "  for j in 0..4",
        "    y[j] += A[i]",
    ]);
    let crossed = nest(&[
        "f64 y[4], A[4]",
        "for i in 0..4",
        "  fill y[i..+1] = 0",
        "  y[3 - i] += A[i]",
    ]);
    // The only iteration that there would be sets the only element.
    let never = nest(&[
        "f64 y[1], A[1]",
        "fill y[0..1] = 0",
        "for i_o in 0..0",
        "  for i in i_o..i_o + 1",
        "    y[i] += A[i]",
    ]);
    let unused = nest(&[
        "f64 y[4], A[4]",
        "fill y[0..4] = 0",
        "for i in 0..4",
        "  A[i] = A[i]",
    ]);
    // Two loops, the second starting at `from`, and one that reads between them.
    let parts = |from: i64, read: &str| {
        let second = format!("for p in {from}..10");
        let mut lines = vec!["f64 y[10], z[10], A[10][10]", fill[0], "for i in 0..6"];
        lines.extend(["  for j in 0..10", "    y[i] += A[i][j]"]);
        if !read.is_empty() {
            lines.push(read);
        }
        lines.extend([second.as_str(), "  for q in 0..10", "    y[p] += A[p][q]"]);
        nest(&lines)
    };
    let (apart, overlap, gap) = (parts(6, "z[0] = y[9]"), parts(5, ""), parts(7, ""));
    let both = || Arg::Loops(vec![LoopRef::Name("i".into()), LoopRef::Name("p".into())]);
    let case = |nest: &Nest, place: Arg, kind: String| {
        Case::new(&PLACE_INIT, vec![Arg::Nest(nest.clone()), place], kind)
    };
    let found = |fills: &[&str]| match fills {
        [] => "nothing is initialized here".to_owned(),
        fills => format!("there are several initializations: {}", fills.join("; ")),
    };
    let elsewhere = |l: Option<&str>| match l {
        Some(l) => format!("y is used outside of `{l}`"),
        None => "y is used before it is initialized".to_owned(),
    };
    let repeats =
        |l: &str| format!("iterations of `{l}` share elements of y, which are initialized once");
    let no_box = |place: &str, fill: &str| {
        format!("what {place} uses of y is not a box of constant size within `{fill}`")
    };
    let unnamed = Arg::Expr(declare::tensor(&[4], Elem::F64).unwrap());
    let unnamed = vec![Arg::Nest(plain.clone()), level(1), unnamed];
    vec![
        Case::new(
            &PLACE_INIT,
            unnamed,
            "this tensor has no name yet".to_owned(),
        )
        .at(2),
        Case::new(
            &PLACE_INIT,
            vec![Arg::Nest(plain.clone()), level(-1)],
            NoLoop::NoLevel { level: -1 },
        )
        .at(1),
        case(&copy("B", "A", &[4], "i"), level(1), found(&[])),
        case(&twice, level(1), found(&[fill[0], "fill z[0..10] = 0"])),
        // Uses before the loop, and, of what a later iteration sets, in a loop around it.
        case(&read_after, named("k"), elsewhere(Some("k"))).because_of(&["k"]),
        case(&read_within, named("i"), elsewhere(Some("i"))).because_of(&["i"]),
        case(&read_before, named("i"), elsewhere(None)),
        // The reduction's own loop, around which and in which the element is the same.
        case(&plain, level(2), repeats("j")).because_of(&["j"]),
        case(&again, level(0), repeats("i")).because_of(&["i"]),
        // Not all that is used is initialized, elements between.
        case(&partly, named("i"), no_box("`i`", "fill y[0..9] = 0")).because_of(&["i"]),
        case(&holes, named("i"), no_box("`i`", "fill y[0..9] = 0")).because_of(&["i"]),
        // Iterations use elements that other iterations set.
        case(&crossed, level(0), no_box("the nest", "fill y[i..+1] = 0")),
        case(&never, named("i_o"), no_box("`i_o`", "fill y[0..1] = 0")).because_of(&["i_o"]),
        case(&unused, named("i"), no_box("`i`", "fill y[0..4] = 0")).because_of(&["i"]),
        // Several loops: what is read between them, elements of both, elements of neither.
        case(&apart, both(), elsewhere(None)),
        case(&overlap, both(), repeats("p")).because_of(&["p"]),
        case(&gap, both(), no_box("`i`, `p`", fill[0])).because_of(&["i", "p"]),
        case(&twice, both(), found(&[fill[0], "fill z[0..10] = 0"])),
    ]
}
