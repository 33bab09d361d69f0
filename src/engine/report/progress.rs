//! The progress bar of a long run.

use crate::trial::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, removed when the value is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar; it draws nothing unless `visible`.
    pub fn new(visible: bool) -> Bar {
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("[{bar:12}] {pos}/{len} {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(None, target);
        Bar(bar.with_style(style.progress_chars("=> ")))
    }

    /// Runs a function that writes to the terminal, with the bar hidden.
    pub fn hidden(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }

    /// Redraws the bar.
    pub fn show(&self, progress: Progress) {
        self.0.set_length(progress.total as u64);
        // A search that goes on after its last trial, with the finals, is at its end.
        self.0
            .set_position(progress.done.min(progress.total) as u64);
        self.0.set_message(progress.what);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
