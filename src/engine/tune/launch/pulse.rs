//! Pulses: each side of an exchange counts up while it lives. Others compare counts, and time by
//! their own clocks, since those of two machines differ.

use super::exchange::Exchange;
use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many pulses come in the time after which a side is lost.
const PULSES: u32 = 10;

/// Writes pulses until it is dropped.
pub(super) struct Pulse {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Starts. Who sees no pulse for `patience` gives this side up.
    pub(super) fn start(exchange: &Exchange, patience: Duration) -> Pulse {
        let (stop, stopped) = channel();
        let exchange = exchange.clone();
        let pause = patience / PULSES;
        let thread = std::thread::spawn(move || {
            let mut count = 0u64;
            loop {
                // A pulse that cannot be written is a pulse that others miss.
                let _ = exchange.beat(count);
                count += 1;
                match stopped.recv_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Pulse {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say if it panicked.
            let _ = thread.join();
        }
    }
}

/// Watches the pulses of others.
pub(super) struct Watch {
    patience: Duration,
    /// The last count of each, and when it changed.
    seen: HashMap<String, (Option<u64>, Instant)>,
}

impl Watch {
    /// A side whose pulse does not change for `patience` is lost.
    pub(super) fn new(patience: Duration) -> Watch {
        Watch {
            patience,
            seen: HashMap::new(),
        }
    }

    /// Whether someone lives, as far as is known.
    pub(super) fn lives(&mut self, exchange: &Exchange, who: &str) -> bool {
        let pulse = exchange.pulse(who);
        let now = Instant::now();
        let seen = self.seen.entry(who.to_owned()).or_insert((pulse, now));
        if seen.0 != pulse {
            *seen = (pulse, now);
        }
        seen.1.elapsed() < self.patience
    }
}
