//! From a job to its output: format, target, and what `--dry-run` says of them.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use tensorop::exec::{Change, Job, Options, room_for};
use tensorop::format::text::{self, TextOptions};
use tensorop::format::{json, npy};
use tensorop::source::Source;
use tensorop::tensor::Tensor;
use tensorop::window::View;

use super::meter::Meter;
use crate::cli::{OutputFormat, OutputOptions};
use crate::output::{Target, survive_size_limit};

/// NumPy's own limit above which arrays are elided.
const TERMINAL_THRESHOLD: usize = 1000;

/// Items of no bytes take no room in a file, but all of it in a text.
const MOST_EMPTY_ITEMS: usize = 1 << 24;

/// What `--dry-run` prints.
pub struct Report(String);

impl Report {
    /// Of an operator.
    pub fn new(title: &str) -> Self {
        Self(format!("{title}\n"))
    }

    /// A line about something that was resolved.
    pub fn line(&mut self, text: String) {
        self.0 += &format!("  {text}\n");
    }

    fn print(self) -> Result<()> {
        std::io::stdout().write_all(self.0.as_bytes()).context("standard output")
    }

    /// A line about an operand.
    pub fn source(&mut self, source: &Source) {
        self.line(format!("{}: {} {:?}", source.label(), source.dtype(), source.shape()));
    }
}

/// What is to be done, resolved.
pub struct Work {
    pub data: Source,
    /// The items of the data that the output begins with.
    pub view: View,
    pub change: Change,
    pub options: Options,
}

/// Writes the output where and as the options say, or says what would be written.
pub fn emit(work: Work, options: &OutputOptions, quiet: bool, mut report: Report) -> Result<()> {
    let Work { data, view, change, options: how } = work;
    let label = data.label().to_owned();
    if how.in_place {
        if options.dry_run {
            change.finish()?;
            report.line(format!("output: {label} changed in place, {} {:?}", data.dtype(), data.shape()));
            return report.print();
        }
        let job = Job::new(data, view, change, how)?;
        let (file, start) = job.data().as_file().ok_or_else(|| anyhow!("{label}: no file"))?;
        let meter = Meter::new(None, quiet);
        survive_size_limit();
        return job.edit(file, &label, start, &|bytes| meter.add(bytes));
    }
    let target = match options.output.as_deref() {
        None => Target::Stdout,
        Some(dash) if dash == Path::new("-") => Target::Stdout,
        Some(path) => Target::resolve(path, options.no_clobber)?,
    };
    let format = format(options)?;
    let checked = match format {
        OutputFormat::Npy => Ok(()),
        OutputFormat::Json => json::check(data.dtype()),
        OutputFormat::Text => text::check(data.dtype()),
    };
    checked.map_err(|e| anyhow!("{}: {}", target.label(), e.message()))?;
    if format != OutputFormat::Npy && data.dtype().itemsize() == 0 && view.items() > MOST_EMPTY_ITEMS {
        bail!("{}: {} items of no bytes are too many to print", target.label(), view.items());
    }
    if options.dry_run {
        let kind = ["npy", "json", "text"][format as usize];
        let shape = view.shape();
        let bytes = view.items() * data.dtype().itemsize();
        data.finish()?;
        change.finish()?;
        target.probe(format == OutputFormat::Npy)?;
        report.line(format!("{}: {kind} of {} {shape:?}, {bytes} bytes of data", target.label(), data.dtype()));
        return report.print();
    }
    let mut sink = target.create()?;
    sink.check_binary(format == OutputFormat::Npy)?;
    let job = Job::new(data, view, change, how)?;
    let meter = Meter::new(Some(job.bytes()), quiet);
    let progress = |bytes| meter.add(bytes);
    let label = target.label();
    let failed = || format!("{label}: cannot be written");
    if format == OutputFormat::Npy {
        let header = npy::write_header(job.dtype(), job.shape());
        match sink.as_file() {
            Some(file) => job.write(file, &label, &header, &progress)?,
            None => {
                sink.write_all(&header).with_context(failed)?;
                job.stream(&progress, |window| sink.write_all(window).with_context(failed))?;
            }
        }
    } else {
        let mut bytes = room_for(job.bytes(), &format!("{label} as text or JSON"))?;
        job.stream(&progress, |window| {
            bytes.extend_from_slice(window);
            Ok(())
        })?;
        meter.finish();
        let tensor = Tensor::new(job.dtype().clone(), job.shape().to_vec(), bytes)
            .ok_or_else(|| anyhow!("{label}: no tensor"))?;
        if format == OutputFormat::Json {
            json::write(&mut sink, &tensor).with_context(failed)?;
        } else {
            let elided = sink.is_terminal().then_some(TERMINAL_THRESHOLD);
            let layout = TextOptions {
                threshold: options.threshold.or(elided),
                edgeitems: options.edgeitems,
                linewidth: options.linewidth,
                precision: options.precision,
            };
            text::write(&mut sink, &tensor, &layout).with_context(failed)?;
        }
    }
    sink.finish()
}

/// The format that `--to` or the name of the output tells.
fn format(options: &OutputOptions) -> Result<OutputFormat> {
    let name = options.output.as_deref().filter(|name| *name != Path::new("-"));
    let extension = name.map(|name| name.extension().map(|e| e.to_ascii_lowercase()).unwrap_or_default());
    match (options.to, extension.as_ref().map(|e| e.to_str())) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(OutputFormat::Text),
        (None, Some(Some("npy"))) => Ok(OutputFormat::Npy),
        (None, Some(Some("json"))) => Ok(OutputFormat::Json),
        (None, Some(Some("txt"))) => Ok(OutputFormat::Text),
        (None, Some(_)) => {
            let name = name.unwrap_or(Path::new("")).display();
            bail!("output {name}: the name does not tell the format: end it in .npy, .json or .txt, or give --to")
        }
    }
}
