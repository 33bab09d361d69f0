//! Waits for what other processes do, however busy the machine is.

use std::time::{Duration, Instant};

/// Waits until `condition` holds; false if it does not for two minutes.
pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > Duration::from_secs(120) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
