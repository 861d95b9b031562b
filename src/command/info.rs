//! `info`: what files hold.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};

use super::asked::{Asked, Reading};
use super::meter::Meter;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::run::ThreadOptions;
use super::sources;
use super::{Outcome, complain, style};
use crate::format::content::Description;
use crate::format::open::Input;
use crate::info;
use crate::ops::fill::Limits;

/// Say what files hold: members, dtype, shape, size; with --json also format, order and where the data begins
///
/// Only headers are read, whatever the size of the file; of a .npz or .safetensors file without a member's name all
/// members are listed, and a * in the name stands for any characters. --stats reads the items, too. Fortran order and
/// big-endian items are told where they occur.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop info [OPTIONS] <FILE>...", after_long_help = EXAMPLES)]
pub(super) struct Info {
    /// The tensors
    #[arg(value_name = "FILE", required = true, value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensors."))]
    pub files: Vec<OperandArg>,
    /// Smallest and largest item, mean, standard deviation, how many NaN, infinite and zero, a histogram
    ///
    /// Over the finite items; the standard deviation is the population's. The same bytes for any number of threads.
    #[arg(long)]
    pub stats: bool,
    /// Print a JSON array with one object for each tensor
    #[arg(long, conflicts_with = "members")]
    pub json: bool,
    /// Print only the names of the members, one a line
    #[arg(long, conflicts_with = "stats")]
    pub members: bool,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop info data.npy
  tensorop info 'model.safetensors:*.bias'
  tensorop info model.safetensors:head.bias --stats
  tensorop info *.npy --json | jq '.[].shape'

With --json each object has file, member, format (npy, npz, safetensors, index, onnx, json, csv, tsv, raw), dtype (as --dtype takes it; fields as NumPy's descr), shape, \
order (C or F), byte_order (little, big, or null), items, bytes (as stored, before compression), offset (where the \
items begin in the file, or null), and with --stats also stats: min and max with their index, mean, std, nan, inf, zero; where the file says something of itself, metadata.";

impl Info {
    /// Describes the tensors of all files.
    pub(super) fn run(&self) -> Result<Outcome> {
        sources::one_stdin(self.files.iter().map(|file| ("FILE", file)))?;
        let stdout = io::stdout();
        let style = style(&stdout);
        let mut out = BufWriter::new(stdout.lock());
        let mut infos = Vec::new();
        let mut names = Vec::new();
        let limits = self.threads.limits()?;
        let asked = Asked::new(self.input.dtype.as_ref());
        let mut outcome = Outcome::Done;
        for file in &self.files {
            let found = if self.members {
                members(file, self, limits, &mut names)
            } else {
                describe_all(file, (self, &asked), limits, &mut infos)
            };
            // one bad file among many should not hide what the others hold
            if let Err(error) = found {
                outcome = complain(&error);
            }
        }
        asked.finish()?;
        let printed = match (outcome, self.json) {
            _ if self.members => out.write_all(names.concat().as_bytes()),
            (Outcome::Done, true) => info::write_json(&mut out, &infos),
            // JSON must not look whole where something is missing
            (_, true) => Ok(()),
            (outcome, false) if infos.is_empty() && outcome != Outcome::Done => Ok(()),
            (_, false) => info::write_table(&mut out, &infos, style),
        };
        printed.and_then(|()| out.flush()).context("standard output")?;
        Ok(outcome)
    }
}

/// The names of a file's members, each with the end of its line. Control characters in them are escaped: they are
/// shown to people, too.
fn members(file: &OperandArg, args: &Info, limits: Limits, found: &mut Vec<String>) -> Result<()> {
    let (input, member) = sources::open(file, &sources::label("FILE", file), &args.input, limits.threads)?;
    let selected = input.select(member.as_deref())?;
    let names: Vec<String> = selected.into_iter().filter_map(|(_, name)| name).collect();
    found.extend(names.iter().map(|name| {
        let shown = name.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
        shown.collect::<String>() + "\n"
    }));
    Ok(())
}

/// What is to be said of a file, or of all its members.
fn describe_all(
    file: &OperandArg,
    (args, asked): (&Info, &Asked<'_>),
    limits: Limits,
    infos: &mut Vec<info::Info>,
) -> Result<()> {
    let (input, member) = sources::open(file, &sources::label("FILE", file), &args.input, limits.threads)?;
    let selected = input.select(member.as_deref())?;
    let file = sources::named(file, member.as_deref());
    for (n, member) in selected {
        infos.push(describe(&input, n, file.clone(), member, (args, asked, limits))?);
    }
    Ok(())
}

/// What is to be said of member number `n`, which is called `member`, of a file.
fn describe(
    input: &Input,
    n: usize,
    file: String,
    member: Option<String>,
    (args, asked, limits): (&Info, &Asked<'_>, Limits),
) -> Result<info::Info> {
    let label = input.label_of(member.as_deref());
    let plain = asked.plain(input, &label)?;
    let found = match &plain {
        Some(source) => Description { meta: source.meta().clone(), bytes: source.bytes() as u64, offset: None },
        None => input.describe(n)?,
    };
    let dtype = asked.read(&found.meta.dtype, &label, Reading::Unsigned)?;
    let mut info = info::Info {
        file,
        member,
        format: input.format(),
        dtype,
        shape: found.meta.shape,
        fortran_order: found.meta.order == crate::item::meta::Order::Fortran,
        bytes: found.bytes,
        offset: found.offset,
        stats: None,
        histogram: None,
        notes: input.notes(n)?,
    };
    if args.stats {
        let open = || asked.source(input.source_as(n, label.clone())?, Reading::Unsigned);
        let mut source = plain.map_or_else(open, Ok)?;
        let meter = Meter::new(Some(source.bytes()), false);
        let progress = |bytes| meter.add(bytes);
        if !args.json && input.is_once() {
            // what comes from a pipe comes once
            source.settle()?;
        }
        let once = source.is_stream();
        let stats = info::stats(&mut source, limits, &progress)?;
        if !args.json {
            let mut source = if once { open()? } else { source };
            info.histogram = info::histogram(&mut source, &stats, limits, &progress)?;
        }
        info.stats = Some(stats);
    }
    Ok(info)
}
