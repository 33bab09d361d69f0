//! Meta-programming for tensor kernels, for programs in Rust.
//!
//! Scripts and programs share the same values: expressions and nests are immutable and cheap to
//! clone, and each step gives a new nest. `nest` reads a nest from text. `step` takes a step by the
//! name that scripts use and keeps it in the nest's path. `check` proves that nests compute their
//! definition. `generate_for` writes C of nests that are proved, and `run` and `compare` execute
//! it.
//!
//! ```
//! use teml::{Arg, Reductions, Target, Verdict, check, generate_for, nest, step};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A text says what is computed.
//! let naive = nest(
//!     "
//!      f64 C[64][48], A[64][32], B[32][48]
//!      fill C[0..64][0..48] = 0
//!      for i in 0..64
//!        for j in 0..48
//!          for k in 0..32
//!            C[i][j] += A[i][k] * B[k][j]",
//! )?;
//!
//! // Steps transform it.
//! let [i, j, k] = ["i", "j", "k"].map(|name| Arg::Loop(name.into()));
//! let plan = step(&naive, "interchange", &[j.clone(), k])?;
//! let plan = step(&plan, "vectorize", &[j])?;
//! let plan = step(&plan, "parallelize", &[i])?;
//! assert_eq!(check(&[plan.clone()], Reductions::Strict), Verdict::Legal);
//!
//! // C for a machine with AVX2.
//! let target = Target::named("avx2").ok_or("there is no such target")?;
//! let kernel = generate_for(&[plan], "product", Reductions::Strict, &target)?;
//! assert!(kernel.source().contains("void product("));
//! # Ok(())
//! # }
//! ```
//!
//! Kernels run in their own process, the `teml` program that `Control::worker` names:
//!
//! ```no_run
//! use teml::{Arg, Bench, Control, Variant, Workbench, compare, nest, run, step};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let blur = nest("f64 B[98], A[100]\nfor i in 0..98\n  B[i] = A[i] + A[i + 1] + A[i + 2]")?;
//! let plan = step(&blur, "vectorize", &[Arg::Loop("i".into())])?;
//! let control = Control { worker: "teml".into(), ..Control::default() };
//! let bench = Bench::from(Workbench { control, ..Workbench::default() });
//! let results = run(&bench, &[plan.clone()])?;
//! assert_eq!(results[0].0.label(), "B");
//! let variants = [("naive", blur), ("plan", plan)].map(|(label, nest)| Variant {
//!     label: label.to_owned(),
//!     nests: vec![nest],
//! });
//! let (_, ranking) = compare(&bench, variants.to_vec(), &[])?;
//! for row in ranking.iter().flat_map(|ranking| ranking.measured()) {
//!     println!("{}: {:?}", row.label, row.timing.median);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The rooms that these names come from are documented for developers of teml:
//! `RUSTDOCFLAGS="--cfg rooms" cargo doc --document-private-items` shows them.
#![cfg_attr(rooms, doc = "\n")]
#![cfg_attr(rooms, doc = include_str!("README.md"))]
#![warn(missing_docs)]

#[cfg_attr(not(rooms), doc(hidden))]
pub mod bench;
#[cfg_attr(not(rooms), doc(hidden))]
pub mod repl;

#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_codegen as codegen;
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_core::{analysis, interp, ir, legality, lower, poly, target};
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_engine::{diag, report, tune, verbs};
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_run::{machine, package, runtime, trial};
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_script as script;
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_transform as transform;
#[cfg_attr(not(rooms), doc(hidden))]
pub use teml_transform::{advice, baseline, lang};

pub use codegen::{Kernel, generate_for};
pub use ir::{Arg, Expr, LoopRef, Nest};
pub use legality::{Reductions, Verdict, check};
pub use runtime::{Control, Data, Values};
pub use script::Session;
pub use target::Target;
pub use transform::{Error, apply, operation};
pub use trial::{Inputs, Measured, Ranking, TrialError, Variant};
pub use verbs::{Bench, Refusal, Workbench, compare, nest, run, step};
