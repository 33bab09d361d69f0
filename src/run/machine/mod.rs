//! Facts about this machine. The system reports what it is at no cost. How fast it is gets measured
//! and remembered.

mod capacity;
mod device;
mod facts;
mod kernels;
mod measured;
mod memo;
mod region;
mod speed;

pub use device::{device, device_rates, forget_devices, known_device};
pub use facts::{Cache, Machine};
pub use measured::{Capacity, Region};
pub use speed::{
    Demand, Probes, Rates, Resource, Speed, forget, known_speed, speed, speed_at_best,
};
