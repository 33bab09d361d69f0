//! `sleep(seconds)`, which Ctrl-C ends.

use rhai::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a sleep checks for an interrupt.
const TICK: Duration = Duration::from_millis(20);

/// Takes the place of Rhai's functions, which wait for the whole time.
pub fn register(engine: &mut Engine, interrupt: &Arc<AtomicBool>) {
    let flag = interrupt.clone();
    engine.register_fn("sleep", move |seconds: f64| sleep(seconds, &flag));
    let flag = interrupt.clone();
    engine.register_fn("sleep", move |seconds: i64| sleep(seconds as f64, &flag));
}

fn sleep(seconds: f64, interrupt: &AtomicBool) {
    // Zero, a negative number and NaN mean not to wait; a time too long to represent never ends.
    let time = if seconds > 0.0 {
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    } else {
        Duration::ZERO
    };
    let begin = Instant::now();
    while !interrupt.load(Ordering::Relaxed) {
        match time.checked_sub(begin.elapsed()) {
            None | Some(Duration::ZERO) => return,
            Some(left) => std::thread::sleep(left.min(TICK)),
        }
    }
}
