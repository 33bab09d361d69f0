//! From C text to numbers: compiles a kernel, calls it in a worker process, compares its results,
//! and measures its time. Also reads and writes arrays in files.
//!
//! Only this room contains `unsafe` code: `sys` wraps the system calls, `buffer` the shared memory,
//! `serve` the call of foreign code. Every error is a [`RuntimeError`]. Kernels run in a process of
//! their own, so that a crash or an endless loop in one becomes such a value.

mod abilities;
mod agreement;
mod assembly;
mod batch;
mod buffer;
mod build;
mod cache;
mod compare;
mod compile;
mod compiled;
mod compiler;
mod configured;
mod control;
mod data;
mod diagnostics;
mod elements;
mod ending;
mod entries;
mod error;
mod facts;
mod guard;
mod header;
mod indices;
mod library;
mod machine_lock;
mod measure;
mod npy;
mod object;
mod options;
mod pace;
mod place;
mod process;
mod process_lock;
mod protocol;
mod random;
mod run;
mod screen;
mod serve;
pub mod sparse;
mod sys;
pub(crate) mod tolerances;
mod trust;
mod worker;
mod written;

pub use agreement::{Agreement, Difference};
pub use buffer::Buffer;
pub use cache::{file as cache_file, key_of_processor, place as cache_place};
pub use compare::{compare, default_tolerance, sum_tolerance};
pub use compile::compile;
pub use compiled::Compiled;
pub use compiler::Compiler;
pub use control::Control;
pub use data::{Data, Values};
pub use diagnostics::{SHOWN as LIMITS_SHOWN, is_lack};
pub use elements::{Scalar, View};
pub use ending::{end_as_ctrl_c, ended_by, stopped_code};
pub use error::RuntimeError;
pub use indices::are_possible;
pub use library::{Library, Part};
pub use measure::{Budget, Event, Timing, Workload, measure, measure_and_tell};
pub use npy::Array;
pub use options::{CURES, Options};
pub use pace::{RUN, Runs};
pub use place::Place;
pub use process::{Group, answer};
pub use protocol::DeviceFailure;
pub use random::Random;
pub use run::{Beside, Outputs, Run, run_beside, run_once};
pub use screen::{Loaded, Screen};
pub use serve::serve;
pub use sys::terminal_columns;
pub use written::Writer;
