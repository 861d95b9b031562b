//! The progress bar of long jobs, on standard error if that is a terminal.

use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressState, ProgressStyle};

use super::io::Io;

/// The time before which no bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar, which is shown once a job has taken longer than [`PATIENCE`].
pub(super) struct Meter {
    /// Whether a bar may be shown at all.
    shown: bool,
    /// The bytes of the whole job, once they are known.
    total: OnceLock<usize>,
    begun: Instant,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Meter {
    /// Begins a job of `bytes` bytes, if their number is known.
    pub(super) fn new(io: &Io, bytes: Option<usize>, quiet: bool) -> Self {
        let shown = !quiet && io.stderr.is_terminal();
        let total = bytes.map_or_else(OnceLock::new, OnceLock::from);
        Self { shown, total, begun: Instant::now(), done: AtomicU64::new(0), bar: OnceLock::new() }
    }

    /// Sets the bytes of the whole job, unless they are known.
    pub(super) fn expect(&self, bytes: usize) {
        self.total.get_or_init(|| bytes);
    }

    /// Counts bytes that have been done.
    pub(super) fn add(&self, bytes: usize) {
        if !self.shown {
            return;
        }
        let done = self.done.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let total = self.total.get().map(|&total| total as u64);
            let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
            let template = match total {
                Some(_) => "{bar:40} {binary_bytes}/{binary_total_bytes} {rate}, {left}",
                None => "{spinner} {binary_bytes} {rate}",
            };
            // the bar begins late, so its own rate would count what was done before as done in no time
            let begun = self.begun;
            let rate = move |state: &ProgressState| state.pos() as f64 / begun.elapsed().as_secs_f64();
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key("rate", move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}/s", BinaryBytes(rate(state) as u64));
            });
            bar.with_style(style.with_key("left", move |state: &ProgressState, out: &mut dyn Write| {
                let rest = state.len().unwrap_or(0).saturating_sub(state.pos());
                let _ = write!(out, "{:.0} s left", rest as f64 / rate(state).max(1.0));
            }))
        });
        bar.set_position(done);
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.finish();
    }
}
