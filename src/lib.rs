//! Meta-programming for tensor kernels, for programs in Rust.
//!
//! Scripts and programs share the same values: expressions and nests are immutable and cheap to
//! clone, and each step gives a new nest. What scripts call as a function, `operation` finds by its
//! name; `apply` takes the step, and keeps it in the path of the nest. `check` proves that nests
//! compute what their definition says, and `generate_for` writes C of those that do.
//!
//! ```
//! use teml::{
//!     Arg, Reductions, Session, Target, Verdict, Workbench, apply, check, generate_for, operation,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A script says what is computed.
//! let mut session = Session::new(Box::new(std::io::stdout()), Workbench::default())?;
//! session.run_text(
//!     "product.rhai",
//!     r#"
//!         let A = tensor([64, 32]);
//!         let B = tensor([32, 48]);
//!         let C = einsum("ik,kj->ij", A, B);
//!         let naive = build(C);
//!     "#,
//! )?;
//! let naive = session.nest("naive").ok_or("`naive` is not a nest")?;
//!
//! // A program transforms it.
//! let step = |nest, name: &str, args: &[Arg]| -> Result<_, Box<dyn std::error::Error>> {
//!     let op = operation(name).ok_or("there is no such operation")?;
//!     let args: Vec<Arg> = [Arg::Nest(nest)].iter().chain(args).cloned().collect();
//!     Ok(apply(op, &args, None)?.nest()?)
//! };
//! let [i, j, k] = ["i", "j", "k"].map(|name| Arg::Loop(name.into()));
//! let plan = step(naive, "interchange", &[j.clone(), k])?;
//! let plan = step(plan, "vectorize", &[j])?;
//! let plan = step(plan, "parallelize", &[i])?;
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
//! The rooms that these names come from are for those who work on teml:
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
pub use teml_engine::{diag, report, tune};
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
pub use script::{Session, Workbench};
pub use target::Target;
pub use transform::{Error, apply, operation};
