//! A step is judged only where it changed the nest. One execution that reads a wrong value refuses
//! it.

use super::nest;
use teml::ir::{Arg, LoopRef, Nest};
use teml::legality::{Kept, Numbered, Reductions, Steps};
use teml::transform::nest::fuse::FUSE;
use teml::transform::nest::reverse::REVERSE;
use teml::transform::{Op, apply};

const HEAT: &str = "
    let there = nest(`
      f64 A[14]
      f64 B[14]
      for t in 0..5
        for i in 1..13
          B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1])
        for i in 1..13
          A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1])
    `);
";

/// How an operation on loops of a nest is judged.
fn kept(nest: &Nest, op: &'static Op, loops: &[&str]) -> Kept {
    let numbered = Numbered::of(nest);
    let names = loops.iter();
    let names = names.map(|name| Arg::Loop(LoopRef::Name((*name).to_owned())));
    let args: Vec<Arg> = [Arg::Nest(numbered.nest().clone())]
        .into_iter()
        .chain(names)
        .collect();
    let after = apply(op, &args, None).unwrap().nest().unwrap();
    Steps::of(&numbered, Reductions::Strict).keep(&after, false)
}

#[test]
fn an_execution_that_reads_something_else_refuses() {
    let there = nest(HEAT, "there");
    assert_eq!(kept(&there, &REVERSE, &["i"]), Kept::Yes);
    assert_eq!(kept(&there, &REVERSE, &["t"]), Kept::No);
    assert_eq!(kept(&there, &FUSE, &["i", "i_2"]), Kept::No);
}

/// Values are followed through copies.
#[test]
fn copies_pass_values_on() {
    let copied = nest(HEAT, "there.stripmine(\"i_2\", 4).stage(\"i_2_o\", \"A\")");
    assert_eq!(kept(&copied, &REVERSE, &["t"]), Kept::No);
    assert_eq!(kept(&copied, &REVERSE, &["i_2_i"]), Kept::Yes);
}

/// If every execution reads the same, the order alone is not refused.
#[test]
fn what_reads_the_same_is_kept() {
    let script = "
        let once = nest(`
          f64 A[14]
          f64 B[14]
          for i in 0..14
            A[i] = 1
          for k in 0..14
            B[k] = 2 * A[k]
        `);
    ";
    let once = nest(script, "once");
    assert_eq!(kept(&once, &FUSE, &["i", "k"]), Kept::Yes);
    assert_eq!(kept(&once, &REVERSE, &["k"]), Kept::Yes);
}
