//! The options of the output and of its parts.

use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::builder::TypedValueParser;
use clap::{ArgGroup, Args, ValueHint};

use super::values::{OptionWord, parse_format, parse_number, parse_path, parse_words, word};
use crate::container::chunk_sides::SidesRule;
use crate::container::file_options::{ChunkCodec, FileOptions};
use crate::container::interface::CHANGEABLE;
use crate::formats::text::TextOptions;
use crate::opening::located::{Located, Place, path_without_secrets};
use crate::opening::table::Format;
use crate::storage::requests::as_address;
use crate::writing::Share;

const HEADING: &str = "Output";
const HEADING_TEXT: &str = "Text output";
const HEADING_ZARR: &str = "Zarr output";

/// The options of every command that writes an output.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OutputOptions {
    /// The output file [default: text on standard output]
    ///
    /// The ending of the name selects the format (.npy, .npz, .safetensors, .zarr, .pb, .json, .csv, .tsv, .txt, or .bin for
    /// only the items); --to overrides it. `-` is standard output. In a .npz or .safetensors file the output of an operator
    /// has the name of DATA in its container, or arr_0. NAME.safetensors.index.json is an index with its shards beside it
    /// (NAME-00001-of-00003.safetensors).
    ///
    /// Folders that are missing are made, and removed again if the command fails.
    ///
    /// A file appears, or is replaced, only when it is complete. It may be one of the inputs, unless other tensors in it would
    /// be lost. After a loss of power a replaced file is the old one or the whole new one, since the new one is synced to the
    /// disk first; a new file is not synced. A device or a pipe is written directly.
    ///
    /// A .zarr is a folder, a store of version 3 that is completed before it takes its name. A single tensor is an array;
    /// several tensors, NAME=IN, --group and a group as DATA make a group. Output made from Zarr keeps its chunks, codecs,
    /// attributes, dimension names and consolidated metadata. Each thread holds at most the items of a chunk (or shard) and
    /// its packed bytes.
    ///
    /// s3://BUCKET/NAME.zarr puts the store into a bucket, each chunk by one request (several at once with --threads). Since a
    /// bucket cannot rename, an existing store stops being one at the first request, and the new one becomes a store with the
    /// last request, which puts its metadata. A killed run leaves chunks and .NAME.zarr.tensorop/ beside them; the next output
    /// of that name removes both.
    #[arg(short, long, value_name = "FILE", value_parser = parse_path(), value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The format of the output [default: by the name of FILE, or text]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format(Format::writing_help))]
    pub to: Option<Format>,
    /// The byte order of a .npy, .npz or .bin [default: that of DATA]
    #[arg(id = "byte_order", long = "byte-order", value_name = "ORDER", value_parser = parse_words(byte_orders()))]
    pub big_endian: Option<bool>,
    /// Refuse to replace a file
    #[arg(long, requires = "output")]
    pub no_clobber: bool,
    /// Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs
    ///
    /// Can be given several times. If several inputs have the same key, the last one counts.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_metadata)]
    pub metadata: Vec<(String, String)>,
    /// Drop the metadata of .safetensors inputs
    #[arg(long)]
    pub no_metadata: bool,
    /// Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)
    #[arg(long)]
    pub packed: bool,
    /// Deflate the members of a .npz
    #[arg(long)]
    pub compress: bool,
    /// The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]
    ///
    /// N,N has a number for each axis. DIM=N,DIM=N has numbers for the dimensions of these names; other axes, and tensors
    /// without such a dimension, keep their chunks. GLOB=N,N and GLOB=DIM=N are for the tensors whose names match. X=N means
    /// the dimension X if a tensor has it, and otherwise the tensors that match X. Can be given several times: options for
    /// all tensors apply first, then those with a GLOB; a later option overrides an earlier one of the same kind.
    #[arg(long, value_name = "[GLOB=]N,N|DIM=N", allow_hyphen_values = true, value_parser = parse_sides, help_heading = HEADING_ZARR)]
    pub chunks: Vec<SidesRule>,
    /// The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]
    #[arg(long, value_name = "[GLOB=]N,N|DIM=N", allow_hyphen_values = true, value_parser = parse_sides, help_heading = HEADING_ZARR)]
    pub shards: Vec<SidesRule>,
    /// The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]
    #[arg(long, value_name = "CODEC", value_parser = parse_codec, help_heading = HEADING_ZARR)]
    pub codec: Option<String>,
    /// The names of the axes, such as time,lat,lon [default: those of DATA]
    #[arg(long, value_name = "NAME,NAME", value_parser = DimsParser, help_heading = HEADING_ZARR)]
    pub dims: Option<Names>,
    /// Make a group for a single tensor, which has its name in the group
    #[arg(long, help_heading = HEADING_ZARR)]
    pub group: bool,
    /// Also store chunks that hold only the fill value [default: those in the store of DATA]
    #[arg(long, help_heading = HEADING_ZARR)]
    pub store_empty: bool,
    /// Make every check, print what the run would do, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the plan of the run, its cost and the next best plan, and write nothing
    ///
    /// For each operand the plan gives the direction of reading (along the output, across it or by indices), the size of the
    /// pieces and the number of times that each is read. Then it gives the cut of the output, the number of reads and writes
    /// (to a server: requests) and of threads, and the memory. A cost is the number of bytes whose copying takes as long.
    #[arg(long)]
    pub explain: bool,
    /// With --explain: print the plan as JSON, an object for each tensor
    #[arg(id = "explain_json", long = "json", requires = "explain")]
    pub json: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, help_heading = HEADING_TEXT)]
    pub threshold: Option<usize>,
    #[command(flatten)]
    pub page: PageOptions,
    #[command(flatten)]
    pub parts: PartOptions,
}

/// The options of every command that prints text. Each command has its own option of when the text is elided.
#[derive(Args)]
pub(crate) struct PageOptions {
    /// The number of items at each end of an elided axis
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, default_value_t = 3, help_heading = HEADING_TEXT)]
    pub edgeitems: usize,
    /// The number of characters in a line
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, default_value_t = 75, help_heading = HEADING_TEXT)]
    pub linewidth: usize,
    /// At most N digits after the point [default: as many as the value needs]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, help_heading = HEADING_TEXT)]
    pub precision: Option<usize>,
}

impl PageOptions {
    pub(crate) fn above(&self, threshold: Option<usize>) -> TextOptions {
        TextOptions { threshold, edgeitems: self.edgeitems, linewidth: self.linewidth, precision: self.precision }
    }
}

fn parse_sides(text: &str) -> Result<SidesRule, String> {
    text.parse()
}

/// Names with commas between them, each once.
#[derive(Clone)]
pub(crate) struct Names(pub Vec<String>);

impl Names {
    /// An empty text has no names.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match names.iter().enumerate().find(|(n, name)| name.is_empty() || names[..*n].contains(name)) {
            Some(_) if text.trim().is_empty() => Ok(Self(Vec::new())),
            Some((_, name)) if name.is_empty() => Err("expected names with commas between them".to_owned()),
            Some((_, name)) => Err(format!("{name} twice")),
            None => Ok(Self(names)),
        }
    }
}

/// Parses the names of `--dims`. PyTorch calls axis numbers `dims`, so numbers are refused with a hint at `--axes`
/// where the sub-command has it.
#[derive(Clone)]
struct DimsParser;

impl TypedValueParser for DimsParser {
    type Value = Names;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Names, clap::Error> {
        let has_axes = command.get_arguments().any(|argument| argument.get_long() == Some("axes"));
        let parse = move |text: &str| {
            let names = Names::parse(text)?;
            let are_numbers = !names.0.is_empty() && names.0.iter().all(|name| name.parse::<i64>().is_ok());
            match has_axes && are_numbers {
                true => Err(format!("expected names of dimensions, got numbers; use --axes {text}")),
                false => Ok(names),
            }
        };
        parse.parse_ref(command, argument, value)
    }
}

fn parse_codec(text: &str) -> Result<String, String> {
    text.parse::<ChunkCodec>().map(|_| text.to_owned())
}

fn parse_metadata(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn byte_orders() -> Vec<OptionWord<bool>> {
    vec![word("little", "The lowest byte first", false), word("big", "The highest byte first", true)]
}

impl OutputOptions {
    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run || self.explain
    }

    /// The path of the output; `None` for standard output.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|name| *name != Path::new("-"))
    }

    /// The folder of a model that the output is, as in `-o NEW/`.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let is_folder = |path: &&Path| {
            let ends = |separator: &u8| path.as_os_str().as_encoded_bytes().last() == Some(separator);
            let separators: &[u8] = if cfg!(windows) { b"/\\" } else { b"/" };
            separators.iter().any(ends) && as_address(path).is_none() && Format::from_name(path).is_err()
        };
        self.path().filter(|path| self.to.is_none() && is_folder(path))
    }

    pub(crate) fn label(&self) -> String {
        self.path()
            .map_or_else(|| "standard output".to_owned(), |path| format!("output {}", path_without_secrets(path)))
    }

    pub(crate) fn file_options(&self) -> FileOptions {
        FileOptions {
            metadata: self.metadata.iter().cloned().collect(),
            drops_metadata: self.no_metadata,
            compress: self.compress,
            packed: self.packed,
            big_endian: self.big_endian,
            chunks: self.chunks.clone(),
            shards: self.shards.clone(),
            codec: self.codec.clone(),
            dimension_names: self.dims.as_ref().map(|names| names.0.clone()),
            stores_empty: self.store_empty,
            is_group: self.group,
        }
    }

    /// Returns the first option that would change a tensor of this name with these dimensions. An unread copy cannot
    /// take such an option.
    pub(crate) fn changes(&self, name: &str, dims: &[Option<String>]) -> Option<&'static str> {
        let is_about = |rules: &[SidesRule]| rules.iter().any(|rule| rule.is_about(name, dims));
        let rows = [
            ("--chunks", is_about(&self.chunks)),
            ("--shards", is_about(&self.shards)),
            ("--codec", self.codec.is_some()),
            ("--dims", self.dims.is_some()),
            ("--store-empty", self.store_empty),
        ];
        rows.into_iter().find(|(_, changes)| *changes).map(|(option, _)| option)
    }

    pub(crate) fn format(&self) -> Result<Format> {
        let located = self.output.as_ref().map(Located::from_path);
        let is_bucket = |address: &str| address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("s3://"));
        let mut address = None;
        if let Some(Located { place, suffix: after, .. }) = &located {
            match (place, after) {
                (Place::Object(object), _) if !is_bucket(object) => {
                    let pipe = "-o - writes to a pipe, as in -o - --to npy | COMMAND";
                    bail!(
                        "{}: an output is a file, or a store in a bucket (s3://BUCKET/NAME.zarr); {pipe}",
                        self.label()
                    );
                }
                (Place::Object(_), Some(_)) => {
                    bail!("{}: a tensor in a store is not an output: name a store", self.label())
                }
                (Place::Object(object), None) => address = Some(object),
                (Place::File(file), Some(_)) if !Format::names_container(file) => {}
                (Place::File(_) | Place::Store(..), Some(_)) => {
                    bail!("{}: a tensor in a file is not an output: name a file (or use --in-place)", self.label())
                }
                _ => {}
            }
        }
        let format = match (self.to, self.path()) {
            (Some(format), _) => format,
            (None, None) => Format::TEXT,
            (None, Some(name)) => {
                Format::from_name(name).map_err(|error| anyhow!("{}: {error}, or give --to", self.label()))?
            }
        };
        if let Some(address) = address.filter(|_| !format.is_folder()) {
            let pipe = format!("-o - --to {} | aws s3 cp - {address}", format.argument());
            bail!("{}: only .zarr can go into a bucket; -o - writes to a pipe, as in {pipe}", self.label());
        }
        Ok(format)
    }
}

/// The option of an operator that changes DATA.
#[derive(Args)]
#[command(mut_arg("in_place", |arg| {
    let help = arg.get_long_help().map(ToString::to_string).unwrap_or_default();
    arg.long_help(help.replace("{CHANGEABLE}", CHANGEABLE))
}))]
pub(crate) struct EditOptions {
    /// Change DATA in its own file, instead of writing an output
    ///
    /// DATA is {CHANGEABLE}.
    /// The cost depends on the change, not on the size of the file. Every check is made before the first byte is written.
    /// The file is locked meanwhile, so several edits of one file are made one after the other. UPDATES and INDICES may be
    /// DATA itself: their values are those from before the edit. The edit is not atomic: if the machine or the program is
    /// stopped in the middle, a part of the changes has been made. Nothing is synced to the disk. To be safe from both, use
    /// -o with the name of the .npy file itself.
    ///
    /// FOLDER:NAME changes the file in the folder. With --fill, FILE:GLOB and FOLDER:GLOB change all tensors that match: every
    /// check is made for each of them before the first is changed, and a line gives their number.
    ///
    /// In a Zarr store only the chunks that change are written: first all of them beside the old ones, then each takes its
    /// name in one step.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber", "byte_order", "metadata", "no_metadata", "compress", "packed", "chunks", "shards", "codec", "dims", "group", "finish", "restart"], help_heading = HEADING)]
    pub in_place: bool,
}

const MAX_PARTS: usize = 1_000_000;

/// The options of parts.
#[derive(Args)]
#[command(next_help_heading = "Parts", group = ArgGroup::new("parts").args(["part", "finish"]))]
pub(crate) struct PartOptions {
    /// Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder
    ///
    /// A part is a contiguous range of whole chunks (in a .npy: of bytes, divided at multiples of 1 MiB). It is the same for
    /// any number of threads and on any machine. Parts differ by at most one chunk (or MiB); if there are more parts than
    /// chunks, the last ones are empty. All parts together give the same bytes as the command without --part. A part may run
    /// any number of times, at once or after it was killed; it does not make finished chunks again.
    ///
    /// Unfinished work is beside the output in .NAME.tensorop/. Another command, another N or a changed operand is an error
    /// that names the difference (operands are compared by identity, not by the spelling of their path). --finish moves the
    /// output into place. In a bucket (s3://BUCKET/NAME.zarr) the chunks are put under their final keys, so --restart has to
    /// remove an existing store first; end parts of another command before that.
    ///
    /// With --in-place (on a Zarr store) only the chunks of this part are changed, without a record, and --finish is not
    /// needed. Standard input cannot be an operand of a part, since every part would have to read it.
    #[arg(long, value_name = "K/N", value_parser = parse_part)]
    pub part: Option<Share>,
    /// With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)
    ///
    /// Nothing is computed. The missing parts are printed in the form that Slurm's --array takes, such as 3,7,12-14. If the
    /// output is already finished, the status is 0, or 2 if its files were lost, added or resized since then.
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "restart")]
    pub finish: Option<NonZero<usize>>,
    /// With --part: discard unfinished work and begin again; give it to one process before the others start
    #[arg(long, requires = "part")]
    pub restart: bool,
}

impl PartOptions {
    /// Also true for `--finish`.
    pub(crate) fn is_given(&self) -> bool {
        self.count().is_some()
    }

    pub(crate) fn count(&self) -> Option<usize> {
        self.part.map(|share| share.of).or(self.finish.map(usize::from))
    }
}

fn parse_count(text: &str) -> Result<NonZero<usize>, String> {
    let count = text.parse::<NonZero<usize>>().ok().filter(|count| count.get() <= MAX_PARTS);
    count.ok_or_else(|| format!("expected a number of parts, 1 to {MAX_PARTS}"))
}

fn parse_part(text: &str) -> Result<Share, String> {
    let (number, of) = text.split_once('/').ok_or("expected K/N, such as 3/16")?;
    let of = parse_count(of)?.get();
    let number: usize = number.parse().map_err(|_| "expected K/N, such as 3/16".to_owned())?;
    match number {
        0 => Err("parts are counted from 1: if yours begin at 0, write $((JOB_COMPLETION_INDEX+1))".to_owned()),
        number if number > of => Err(format!("part {number} of {of}")),
        number => Ok(Share { number, of }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let rows = [
            ("1/1", Ok((1, 1))),
            ("3/16", Ok((3, 16))),
            ("0/4", Err("$((JOB_COMPLETION_INDEX+1))")),
            ("5/4", Err("part 5 of 4")),
            ("1/0", Err("expected a number of parts")),
            ("1", Err("expected K/N")),
            ("-1/4", Err("expected K/N")),
            ("1/2/3", Err("expected a number of parts")),
        ];
        for (text, expected) in rows {
            match (parse_part(text), expected) {
                (Ok(share), Ok(expected)) => assert_eq!((share.number, share.of), expected),
                (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
