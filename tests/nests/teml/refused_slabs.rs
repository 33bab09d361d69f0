//! Slabs that are refused.

use crate::teml::refusals::Case;
use crate::teml::trees::{self, it};
use teml::analysis::verify::Invalid;
use teml::ir::Nest;
use teml::transform::nest::slabs::SLABS;
use teml::transform::{Arg, LoopRef};

fn call(nest: &Nest, outer: &str, loops: &[&str], factors: &[(&str, i64)], size: i64) -> Vec<Arg> {
    let by_name = |name: &&str| LoopRef::Name((*name).to_owned());
    let factor = |(name, factor): &(&str, i64)| ((*name).to_owned(), Arg::Int(*factor));
    vec![
        Arg::Nest(nest.clone()),
        Arg::Loop(by_name(&outer)),
        Arg::Loops(loops.iter().map(by_name).collect()),
        Arg::Options(factors.iter().map(factor).collect()),
        Arg::Int(size),
    ]
}

pub fn slabs() -> Vec<Case> {
    let steps = trees::nest(&[
        "f64 A[9], B[9][9]",
        "for t in 0..4",
        "  for i in 0..9",
        "    for j in 0..9",
        "      B[i][j] = A[i]",
        "  for k in 0..9",
        "    A[k] = B[k][k]",
    ]);
    let stepped = trees::nest(&[
        "f64 A[9]",
        "for i in 0..9 step 3",
        "  for j in 0..9",
        "    A[j] = A[i]",
        "  for k in 0..9 step 3",
        "    A[k] = A[i]",
    ]);
    let not_inside = |inner: &str, outer: &str| format!("`{inner}` is not inside of `{outer}`");
    let step = |of: &str| format!("`{of}` has the step 3, and this is for loops of step 1");
    let on = |outer: &str, loops: &[&str], factors: &[(&str, i64)], size: i64| {
        let args = call(&steps, outer, loops, factors, size);
        move |kind: String| Case::new(&SLABS, args, kind)
    };
    let line = trees::nest(&[
        "f64 A[9]",
        "for s in 0..2",
        "  for t in 0..4 step 3",
        "    for k in 0..9 step 3",
        "      A[k] = A[t]",
    ]);
    let twice = "`i` is listed twice".to_owned();
    let one_path = "`j` and `i` are around the same statements, and one loop cuts each".to_owned();
    let uncovered =
        "`A[k] = B[k][k]` is in `t`, and in none of the loops that are listed".to_owned();
    let not_positive = "`size` must be at least 1, and 0 is not".to_owned();
    let far = 1 << 40;
    let index = it("t").times(-far).plus(&it("i_s").times(4));
    vec![
        on("i", &["k"], &[], 4)(not_inside("k", "i"))
            .at(2)
            .because_of(&["k", "i"]),
        on("t", &["t"], &[], 4)(not_inside("t", "t"))
            .at(2)
            .because_of(&["t", "t"]),
        on("t", &["i", "k"], &[("j", 1)], 4)(not_inside("i", "j"))
            .at(3)
            .because_of(&["i", "j"]),
        on("t", &["i", "i"], &[], 4)(twice).at(2).because_of(&["i"]),
        on("t", &["i", "j"], &[], 4)(one_path)
            .at(2)
            .because_of(&["j", "i"]),
        on("t", &["i"], &[], 4)(uncovered).at(2).because_of(&["t"]),
        on("t", &["i", "k"], &[], 0)(not_positive).at(4),
        on("t", &["i", "k"], &[("t", far)], 4)(Invalid::IndexTooLarge { index }.to_string()),
        Case::new(&SLABS, call(&stepped, "i", &["j", "k"], &[], 4), step("i")).because_of(&["i"]),
        Case::new(&SLABS, call(&line, "s", &["k"], &[], 4), step("k")).because_of(&["k"]),
    ]
}
