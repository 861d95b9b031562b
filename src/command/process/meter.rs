//! The progress bar of long jobs, on standard error if that is a terminal.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressState, ProgressStyle};

use super::io::{Io, Run};
use crate::command::messages::shortened;
use crate::parallel::locked;
use crate::storage::requests::{RequestEvent, Watch};

const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) struct Meter {
    may_show: bool,
    total: OnceLock<usize>,
    begun: Instant,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
    columns: usize,
}

/// In bytes.
#[derive(Clone, Copy)]
struct Pace {
    done: u64,
    total: Option<u64>,
    rate: f64,
}

/// One character stays free, since some terminals wrap after the last one.
#[derive(Clone, Copy)]
struct LineParts {
    bar: usize,
    words: usize,
}

impl LineParts {
    /// Leaves out a bar of less than 5 characters.
    fn of(columns: usize) -> Self {
        const WORDS: usize = 52;
        const BAR: usize = 40;
        let room = columns.saturating_sub(1);
        let bar = Some(room.saturating_sub(WORDS + 1).min(BAR)).filter(|bar| *bar >= 5).unwrap_or(0);
        Self { bar, words: if bar > 0 { WORDS } else { room } }
    }

    fn template(self) -> String {
        if self.bar > 0 { format!("{{bar:{}}} {{words}}", self.bar) } else { "{words}".to_owned() }
    }

    fn words(self, Pace { done, total, rate }: Pace) -> String {
        let (done_bytes, rate_bytes) = (BinaryBytes(done), BinaryBytes(rate as u64));
        let parts = match total {
            Some(total) => vec![
                format!("{done_bytes}/{}", BinaryBytes(total)),
                format!(" {rate_bytes}/s"),
                format!(", {:.0} s left", total.saturating_sub(done) as f64 / rate.max(1.0)),
            ],
            None => vec![done_bytes.to_string(), format!(" {rate_bytes}/s")],
        };
        let mut room = self.words;
        let fits = |part: &String| {
            room = room.checked_sub(part.len())?;
            Some(part.clone())
        };
        parts.iter().map_while(fits).collect()
    }
}

impl Meter {
    pub(crate) fn new(Run { io, quiet, .. }: Run<'_>, bytes: Option<usize>) -> Self {
        let may_show = !quiet && io.stderr.is_terminal();
        let total = bytes.map_or_else(OnceLock::new, OnceLock::from);
        let columns = io.terminal.map_or(80, |size| size.columns);
        Self { may_show, total, begun: Instant::now(), done: AtomicU64::new(0), bar: OnceLock::new(), columns }
    }

    /// For downloads of unknown size.
    pub(crate) fn for_requests(run: Run<'_>) -> Option<Watch> {
        let meter = Self::new(run, None);
        meter.may_show.then(|| {
            Watch::begin(move |event| match event {
                RequestEvent::Came(bytes) => meter.add(bytes),
                RequestEvent::AskedAgain(_) => {}
            })
        })
    }

    /// Reports repeated requests, so that users see why nothing happens. A line replaces the bar, which is drawn again
    /// below. Equal lines of several threads are printed once.
    pub(crate) fn for_waiting(io: &Io, quiet: bool) -> Option<Watch> {
        let (stderr, last) = (io.stderr.clone(), Mutex::new(String::new()));
        let clear = if io.environment.is_plain { "" } else { "\x1b[K" };
        (!quiet && stderr.is_terminal()).then(|| {
            Watch::begin(move |event| match event {
                RequestEvent::Came(_) => {}
                RequestEvent::AskedAgain(again) => {
                    let (line, mut last) = (shortened(&again.to_string(), " "), locked(&last));
                    if *last != line {
                        // a broken standard error must not stop the run
                        let _ = std::io::Write::write_all(&mut stderr.clone(), format!("\r{line}{clear}\n").as_bytes());
                        *last = line;
                    }
                }
            })
        })
    }

    pub(crate) fn expect(&self, bytes: usize) {
        self.total.get_or_init(|| bytes);
    }

    pub(crate) fn add(&self, bytes: usize) {
        if !self.may_show {
            return;
        }
        let done = self.done.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let total = self.total.get().map(|&total| total as u64);
            let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
            // the bar starts late, so its own rate would count earlier work as done in no time
            let (begun, columns) = (self.begun, self.columns);
            let line = if total.is_some() {
                LineParts::of(columns)
            } else {
                LineParts { bar: 0, words: columns.saturating_sub(1) }
            };
            let style = ProgressStyle::with_template(&line.template()).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.with_style(style.with_key("words", move |state: &ProgressState, out: &mut dyn Write| {
                let rate = state.pos() as f64 / begun.elapsed().as_secs_f64();
                let _ = out.write_str(&line.words(Pace { done: state.pos(), total, rate }));
            }))
        });
        bar.set_position(done);
    }

    pub(crate) fn finish(&self) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_the_terminal() {
        let longest = Pace { done: (1 << 60) - 1, total: Some((1 << 60) - 1), rate: 1e3 };
        let longest_left = Pace { done: 0, total: Some(1_099_000_000), rate: 1_072_000.0 };
        for columns in 0..200 {
            for pace in [longest, longest_left, Pace { total: None, ..longest }] {
                let line = LineParts::of(columns);
                let bar = if line.bar > 0 { line.bar + 1 } else { 0 };
                let words = line.words(pace);
                assert!(bar + words.len() <= columns.saturating_sub(1), "{columns}: {words:?} beside {bar}");
            }
        }
    }

    #[test]
    fn words_of_a_line() {
        let pace = Pace { done: 1 << 29, total: Some(1 << 30), rate: 104_857_600.0 };
        let rows = [
            (120, 40, "512.00 MiB/1.00 GiB 100.00 MiB/s, 5 s left"),
            (80, 26, "512.00 MiB/1.00 GiB 100.00 MiB/s, 5 s left"),
            (50, 0, "512.00 MiB/1.00 GiB 100.00 MiB/s, 5 s left"),
            (40, 0, "512.00 MiB/1.00 GiB 100.00 MiB/s"),
            (24, 0, "512.00 MiB/1.00 GiB"),
            (10, 0, ""),
        ];
        for (columns, bar, words) in rows {
            let line = LineParts::of(columns);
            assert_eq!((line.bar, line.words(pace).as_str()), (bar, words), "{columns}");
        }
        let unknown = Pace { total: None, ..pace };
        assert_eq!(LineParts::of(80).words(unknown), "512.00 MiB 100.00 MiB/s");
    }
}
