//! The sub-command `textconv`, which prints a tensor file as text for `git diff`.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, ValueHint};

use super::messages::reason;
use super::operands::dtype_option::Reinterpret;
use super::operands::member::Member;
use super::operands::operand_reader::{OpenMode, OperandReader};
use super::options::{FILE, InputOptions, Operand, ThreadOptions, data_help};
use super::process::io::{Io, Outcome};
use super::show::ShownItems;
use crate::container::names::by_numbers;
use crate::formats::text::{self, TextOptions};
use crate::info;
use crate::opening::located::{Located, Place};
use crate::operators::fill::Limits;
use crate::operators::selection::Selection;
use crate::report::printable;
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::Source;

/// Print a text for git diff to compare: dtype, shape, hash, statistics and some items of each tensor
///
/// Tensors come in natural order of their names, `layers.2` before `layers.10`. The text leaves out file name, format,
/// offsets, times, storage order and byte order. So the same tensors give the same text in every file, and git shows only
/// changes of tensors. A file that is not a tensor, or a member that cannot be read, becomes one line: not read, with the
/// reason, its size and SHA-256.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Textconv {
    /// The file
    #[arg(value_name = "FILE", value_parser = FILE.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The file."))]
    pub file: Operand,
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

Then git diff, git show and git log -p show which tensors changed, and how.";

impl Textconv {
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let reader = OperandReader::new(io, &self.input, &self.threads)?;
        let operand = &self.file;
        let mut out = BufWriter::new(io.stdout.clone());
        // kept in an unnamed file, since a stream that is not a tensor is read again
        let kept = match operand.located {
            Located { place: Place::Stdin, suffix: None, .. } => Some(kept(io)?),
            _ => None,
        };
        let opened = match &kept {
            Some(file) => {
                reader.open_options(&operand.label).open_bytes(Arc::clone(file)).map(Arc::new).map_err(Into::into)
            }
            None => reader.open(operand, OpenMode::Plain),
        };
        let bytes = || -> Option<Box<dyn Read>> {
            Some(match &kept {
                Some(file) => Box::new(Section::new(Arc::clone(file), 0, file.size().ok()?)),
                None => Box::new(File::open(operand.located.file()?).ok()?),
            })
        };
        let asked = reader.asked(Reinterpret::Unsigned);
        let input = match opened {
            Ok(input) => input,
            // an error would end git diff, so only a file that is missing or unreadable is one
            Err(error) => {
                let is_there =
                    kept.is_some() || matches!(operand.located, Located { place: Place::File(_), suffix: None, .. });
                let Some(bytes) = bytes().filter(|_| is_there) else { return Err(error) };
                write_unread(&mut out, "", &reason(&error, &operand.label), Some(bytes))?;
                out.flush().context("standard output")?;
                return Ok(Outcome::Done);
            }
        };
        let mut selected = input.select()?;
        let name = |n: &usize| input.name(*n).unwrap_or_default();
        selected.sort_by(|a, b| by_numbers(name(a), name(b)));
        if selected.is_empty() {
            writeln!(out, "holds no tensors").context("standard output")?;
        }
        asked.look_at_all(&input, &selected);
        for (number, n) in selected.into_iter().enumerate() {
            if number > 0 {
                writeln!(out).context("standard output")?;
            }
            let (member, mut text) = (Member::new(&input, n), Vec::new());
            let printed = member
                .source(asked.of(input.name(n)))
                .and_then(|source| tell(&mut text, source, input.name(n), reader.run.limits));
            match printed {
                Ok(()) => out.write_all(&text).context("standard output")?,
                Err(error) => {
                    let bytes = input.stored(n).bytes.or_else(bytes);
                    // inline values and streams that are not kept have no bytes to hash
                    if bytes.is_none() && input.name(n).is_none() {
                        return Err(error);
                    }
                    let name = input.name(n).map_or(String::new(), |name| format!("{}: ", printable(name)));
                    write_unread(&mut out, &name, &reason(&error, &member.label), bytes)?;
                }
            }
        }
        asked.finish()?;
        out.flush().context("standard output")?;
        Ok(Outcome::Done)
    }
}

fn kept(io: &Io) -> Result<Arc<dyn ReadAt>> {
    let mut file = tempfile::tempfile().context("standard input: cannot be kept")?;
    std::io::copy(&mut io.stdin.clone(), &mut file).context("standard input")?;
    Ok(Arc::new(file))
}

/// The line changes when one of the bytes does, if they can be read.
fn write_unread(out: &mut impl Write, name: &str, reason: &str, bytes: Option<Box<dyn Read>>) -> Result<()> {
    let hashed = bytes.and_then(|bytes| info::hash_bytes(bytes).ok());
    let digest = hashed.map_or(String::new(), |(count, hash)| format!(", {count} bytes, sha256 {hash}"));
    writeln!(out, "{name}not read: {}{digest}", printable(reason)).context("standard output")
}

fn tell(out: &mut impl Write, mut source: Source, name: Option<&str>, limits: Limits) -> Result<()> {
    let stats = info::stats(&mut source, true, limits, &|_| ())?;
    let hash = info::hash(&mut source, limits, &|_| ())?;
    let name = name.map_or(String::new(), |name| format!("{}: ", printable(name)));
    let (dtype, shape) = (source.dtype().native().name(), source.shape());
    writeln!(out, "{name}{} {shape:?}\n  sha256  {hash}", printable(&dtype)).context("standard output")?;
    info::write_figures(out, stats.as_ref()).context("standard output")?;
    if text::check(source.dtype()).is_err() {
        // the dtype has no text form; the hash shows changes
        return Ok(());
    }
    let options = TextOptions { threshold: Some(TextOptions::NUMPY_THRESHOLD), ..TextOptions::default() };
    ShownItems::read(Selection::whole(source), limits, &options)?.write(out, &options)
}
