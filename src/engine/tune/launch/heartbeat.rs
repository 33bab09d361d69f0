//! Pulses: each side of an exchange counts up while it lives. Others compare counts, and time by
//! their own clocks, since those of two machines differ.

use super::exchange::Exchange;
use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So many pulses come in the time after which a side is lost.
const HEARTBEATS: u32 = 10;

/// Writes pulses until it is dropped.
pub(super) struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts. Who sees no heartbeat for `patience` gives this side up.
    pub(super) fn start(exchange: &Exchange, patience: Duration) -> Heartbeat {
        let (stop, stopped) = channel();
        let exchange = exchange.clone();
        let pause = patience / HEARTBEATS;
        let thread = std::thread::spawn(move || {
            let mut count = 0u64;
            loop {
                // A heartbeat that cannot be written is a heartbeat that others miss.
                let _ = exchange.beat(count);
                count += 1;
                match stopped.recv_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Heartbeat {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say if it panicked.
            let _ = thread.join();
        }
    }
}

/// Watches the pulses of others.
pub(super) struct Liveness {
    patience: Duration,
    /// The last count of each, and when it changed.
    seen: HashMap<String, (Option<u64>, Instant)>,
}

impl Liveness {
    /// A side whose heartbeat does not change for `patience` is lost.
    pub(super) fn new(patience: Duration) -> Liveness {
        Liveness {
            patience,
            seen: HashMap::new(),
        }
    }

    /// Whether someone lives, as far as is known.
    pub(super) fn lives(&mut self, exchange: &Exchange, who: &str) -> bool {
        let heartbeat = exchange.heartbeat(who);
        let now = Instant::now();
        let seen = self.seen.entry(who.to_owned()).or_insert((heartbeat, now));
        if seen.0 != heartbeat {
            *seen = (heartbeat, now);
        }
        seen.1.elapsed() < self.patience
    }
}
