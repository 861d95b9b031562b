//! `textconv`: what `git diff` compares.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};

use super::asked::{Asked, Reinterpret};
use super::io::Io;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::run::ThreadOptions;
use super::outcome::Outcome;
use super::show::{THRESHOLD, read_shown};
use super::sources;
use crate::format::open::Input;
use crate::format::text::{self, TextOptions};
use crate::info;
use crate::ops::fill::Limits;
use crate::ops::selection::Selection;
use crate::report::printable;

/// Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items
///
/// Tensors come in the order of their names. What says nothing about the tensors is left out: file name, format, offsets,
/// times, order and byte order. So the same tensors print the same text in every file, and git shows what has changed.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Textconv {
    /// The file
    #[arg(value_name = "FILE", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The file."))]
    pub file: OperandArg,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const EXAMPLES: &str = "\
In .gitattributes, for each kind of file:
  *.npy diff=tensorop
  *.safetensors diff=tensorop

and once on each machine:
  git config --global diff.tensorop.textconv 'tensorop textconv'
  git config --global diff.tensorop.cachetextconv true

Then git diff, git show and git log -p tell what has changed in which tensor.";

impl Textconv {
    /// Prints the tensors of the file.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let limits = self.threads.limits(&io.environment)?;
        let label = sources::label("FILE", &self.file);
        let input = sources::open(io, &self.file, &label, &self.input, limits.threads)?;
        let mut selected = input.select()?;
        selected.sort_by(|(_, a), (_, b)| a.cmp(b));
        let asked = Asked::new(self.input.dtype.as_ref());
        let mut out = BufWriter::new(io.stdout.clone());
        if selected.is_empty() {
            // an error would end git diff
            writeln!(out, "holds no tensors").context("standard output")?;
        }
        for (number, (n, name)) in selected.into_iter().enumerate() {
            if number > 0 {
                writeln!(out).context("standard output")?;
            }
            tell(&mut out, &input, (n, name.as_deref()), &asked, limits)?;
        }
        asked.finish()?;
        out.flush().context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// Prints what is to be compared of member number `n`.
fn tell(
    out: &mut impl Write,
    input: &Input,
    (n, name): (usize, Option<&str>),
    asked: &Asked<'_>,
    limits: Limits,
) -> Result<()> {
    let label = input.label_of(name);
    let mut source = match asked.plain(input, &label)? {
        Some(source) => source,
        None => asked.source(input.source_as(n, label.clone())?, Reinterpret::Unsigned)?,
    };
    let stats = info::stats(&mut source, limits, &|_| ())?;
    let hash = info::hash(&mut source, limits, &|_| ())?;
    let name = name.map_or(String::new(), |name| format!("{}: ", printable(name)));
    let (dtype, shape) = (source.dtype().native().name(), source.shape());
    writeln!(out, "{name}{} {shape:?}", printable(&dtype)).context("standard output")?;
    writeln!(out, "  sha256  {hash}").context("standard output")?;
    info::write_figures(out, stats.as_ref()).context("standard output")?;
    if text::check(source.dtype()).is_err() {
        // text has no form for them; the hash tells whether they are the same
        return Ok(());
    }
    let options = TextOptions { threshold: Some(THRESHOLD), ..TextOptions::default() };
    let (items, shape) = read_shown(Selection::whole(source), &label, limits, &options)?;
    text::write_shown(out, &items, &shape, &options).context("standard output")
}
