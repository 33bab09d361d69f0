//! Distributed tuning: workers on other machines try variants, and the search runs here.
//!
//! An existing engine starts the workers: `mpirun`, or `sbatch` with a job array (`engine.rs`). It
//! does nothing else, so that this program needs no MPI library. Workers and the search share a
//! directory (`exchange.rs`): a task is a file, a worker claims it by renaming it, and its answer
//! is another file. Each side writes a heartbeat (`heartbeat.rs`). If a worker's heartbeat stops,
//! its task goes to another worker. The search sees the workers as an evaluator (`pool.rs`), so
//! that the same seed and the same times give the same records as one process. A worker opens the
//! evaluator of its own machine (`worker.rs`) for the computation of a job (`job.rs`). Workers
//! whose machine or compiler differs from the first worker's exit.

mod engine;
mod exchange;
mod heartbeat;
mod job;
mod pool;
mod task;
mod worker;

pub use engine::{Engine, Launch};
pub use pool::WorkerPool;
pub use worker::work;
