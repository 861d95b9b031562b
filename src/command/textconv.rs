//! The sub-command `textconv`, which prints what `git diff` compares.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};

use super::asked::{Asked, Reinterpret};
use super::io::{Io, Outcome};
use super::options::{InputOptions, OperandArg, ThreadOptions, data_help};
use super::show::ShownItems;
use super::sources::{FILE, OperandReader, TensorOf, typed_alone};
use crate::format::text::{self, TextOptions};
use crate::info;
use crate::layout::order::sort_by;
use crate::ops::fill::Limits;
use crate::ops::selection::Selection;
use crate::report::printable;
use crate::storage::source::Source;

/// Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items
///
/// Tensors come in the order of their names. What says nothing about the tensors is left out: file name, format, offsets,
/// times, order and byte order. So the same tensors print the same text in every file, and git shows what has changed.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Textconv {
    /// The file
    #[arg(value_name = "FILE", allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The file."))]
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
        let reader = OperandReader::new(io, &self.input, &self.threads)?;
        let input = reader.open(&FILE.of(&self.file))?;
        let mut selected = input.select()?;
        sort_by(&mut selected, |a, b| input.name(*a).cmp(&input.name(*b)));
        let asked = Asked::new(self.input.dtype.as_ref());
        let mut out = BufWriter::new(io.stdout.clone());
        if selected.is_empty() {
            // an error would end git diff
            writeln!(out, "holds no tensors").context("standard output")?;
        }
        for (number, n) in selected.into_iter().enumerate() {
            if number > 0 {
                writeln!(out).context("standard output")?;
            }
            let source = typed_alone(TensorOf::member(&input, n), &asked, Reinterpret::Unsigned)?;
            tell(&mut out, source, input.name(n), reader.limits)?;
        }
        asked.finish()?;
        out.flush().context("standard output")?;
        Ok(Outcome::Done)
    }
}

/// Prints what is to be compared of a tensor that is called `name` in its file.
fn tell(out: &mut impl Write, mut source: Source, name: Option<&str>, limits: Limits) -> Result<()> {
    let stats = info::stats(&mut source, limits, &|_| ())?;
    let hash = info::hash(&mut source, limits, &|_| ())?;
    let name = name.map_or(String::new(), |name| format!("{}: ", printable(name)));
    let (dtype, shape) = (source.dtype().native().name(), source.shape());
    writeln!(out, "{name}{} {shape:?}\n  sha256  {hash}", printable(&dtype)).context("standard output")?;
    info::write_figures(out, stats.as_ref()).context("standard output")?;
    if text::check(source.dtype()).is_err() {
        // text has no form for them; the hash tells whether they are the same
        return Ok(());
    }
    let options = TextOptions { threshold: Some(TextOptions::NUMPY), ..TextOptions::default() };
    ShownItems::read(Selection::whole(source), limits, &options)?.write(out, &options)
}
