//! Heartbeats: each side of an exchange counts up while it lives. Others compare the counts and
//! time them by their own clocks, since the clocks of two machines differ.

use super::exchange::Exchange;
use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Heartbeats within the time after which a side is lost.
const HEARTBEATS: u32 = 10;

/// Writes heartbeats until it is dropped.
pub(super) struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts the heartbeats. Other sides give this one up after `patience` without a change.
    pub(super) fn start(exchange: &Exchange, patience: Duration) -> Heartbeat {
        let (stop, stopped) = channel();
        let exchange = exchange.clone();
        let pause = patience / HEARTBEATS;
        let thread = std::thread::spawn(move || {
            let mut count = 0u64;
            loop {
                // If the write fails, the others miss a heartbeat.
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
            // A panic of the thread carries no result to report.
            let _ = thread.join();
        }
    }
}

/// Watches the heartbeats of others.
pub(super) struct Liveness {
    patience: Duration,
    /// The last count of each side, and when it changed.
    seen: HashMap<String, (Option<u64>, Instant)>,
}

impl Liveness {
    /// Treats a side as lost if its heartbeat does not change for `patience`.
    pub(super) fn new(patience: Duration) -> Liveness {
        Liveness {
            patience,
            seen: HashMap::new(),
        }
    }

    /// Whether a side is alive, as far as is known.
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
