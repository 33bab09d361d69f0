//! Facts about this machine: what it is, which costs nothing to know, and how fast it is, which
//! is measured and remembered.

mod capacity;
mod facts;
mod kernels;
mod memo;
mod region;
mod speed;

pub use capacity::Capacity;
pub use facts::{Cache, Machine};
pub use region::Region;
pub use speed::{
    Demand, Probes, Rates, Resource, Speed, forget, known_speed, speed, speed_at_best,
};
