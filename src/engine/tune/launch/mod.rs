//! Beyond one machine: workers elsewhere try variants, and the search stays here.
//!
//! An existing engine starts the workers: `mpirun`, or `sbatch` with a job array (`engine.rs`). It
//! does nothing else, so that this program needs no MPI library. Workers and the search share a
//! directory (`exchange.rs`): a task is a file, a worker takes it by renaming it, and its answer is
//! another file. Each side writes a heartbeat (`heartbeat.rs`). When that of a worker stops, its task goes
//! to another one. The search sees the workers as a evaluator (`pool.rs`), so that the same seed and the
//! same times give the same records as one process. A worker opens the evaluator of its own machine
//! (`worker.rs`), for the computation that a job describes (`job.rs`).

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
