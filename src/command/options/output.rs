//! Where and in which format the output is written.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use super::parts::PartOptions;
use super::text::PageOptions;
use super::values::{parse_format, parse_number};
use crate::format::colon::{files_before_colons, folders_before_colons};
use crate::format::{Extras, Format};
use crate::storage::source::Notes;

const HEADING: &str = "Output";
const HEADING_TEXT: &str = "Text output";
const HEADING_ZARR: &str = "Zarr output";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OutputOptions {
    /// Where to write [default: text on standard output]
    ///
    /// The format follows the name (.npy, .npz, .safetensors, .zarr, .pb, .json, .csv, .tsv, .txt, or .bin for the items
    /// alone) or --to. In a .npz or .safetensors file an operator's output has the name that DATA has in its own, else
    /// arr_0. A file of several tensors, one of which is an input, is not replaced by one that has lost others. A file
    /// appears, or is replaced, only when it is complete, and may be one of the inputs. A file that is
    /// replaced is the old or the whole new one even after a loss of power, since the new one is synced to the disk
    /// first; a new file is not synced. `-` is standard output. What is no regular file (a device, a pipe) is written
    /// as it comes.
    ///
    /// A .zarr is a folder, a store of version 3 that is made whole beside its place: a single tensor is the array itself,
    /// several make a group. What is made from Zarr keeps its chunks, codecs, attributes and names of axes. At most the
    /// items of a chunk (or shard) and its packed bytes are held for each thread.
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from), allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The format of the output [default: by the name of FILE, else text]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format(Format::writing_help), allow_hyphen_values = true)]
    pub to: Option<Format>,
    /// The byte order of a .npy, .npz or .bin [default: that of DATA]
    #[arg(long, value_enum, value_name = "ORDER", allow_hyphen_values = true)]
    pub byte_order: Option<ByteOrder>,
    /// Refuse to replace a file
    #[arg(long, requires = "output")]
    pub no_clobber: bool,
    /// Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from
    ///
    /// Can be given several times. What several inputs say under one key the last of them says.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_metadata, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub metadata: Vec<(String, String)>,
    /// Drop the metadata of the .safetensors files that the output is made from
    #[arg(long)]
    pub no_metadata: bool,
    /// Deflate the members of a .npz
    #[arg(long)]
    pub compress: bool,
    /// The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]
    #[arg(long, value_name = "N,N", value_parser = parse_sides, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_ZARR)]
    pub chunks: Option<Sides>,
    /// The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]
    #[arg(long, value_name = "N,N", value_parser = parse_sides, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_ZARR)]
    pub shards: Option<Sides>,
    /// What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]
    #[arg(long, value_name = "CODEC", value_parser = parse_codec, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_ZARR)]
    pub codec: Option<String>,
    /// Make every check, print what would be done, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub threshold: Option<usize>,
    #[command(flatten)]
    pub page: PageOptions,
    #[command(flatten)]
    pub parts: PartOptions,
}

/// The byte order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByteOrder {
    /// The lowest byte first
    Little,
    /// The highest byte first
    Big,
}

/// The places of each axis in a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sides(pub Vec<usize>);

fn parse_sides(text: &str) -> Result<Sides, String> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']').trim();
    if inner.is_empty() {
        return Ok(Sides(Vec::new()));
    }
    let side = |side: &str| side.trim().parse().ok().filter(|&side| side > 0);
    let sides = inner.split(',').map(side).collect::<Option<_>>();
    sides.map(Sides).ok_or_else(|| "expected numbers of 1 or more with commas between them".to_owned())
}

fn parse_codec(text: &str) -> Result<String, String> {
    let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
    let within = |least: i64, most: i64| {
        level.is_none_or(|level| level.parse::<i64>().is_ok_and(|level| (least..=most).contains(&level)))
    };
    match name {
        "none" | "blosc" if level.is_none() => Ok(text.to_owned()),
        "gzip" if within(0, 9) => Ok(text.to_owned()),
        "zstd" if within(-131_072, 22) => Ok(text.to_owned()),
        "gzip" => Err("its level is 0 to 9".to_owned()),
        "zstd" => Err("its level is -131072 to 22".to_owned()),
        _ => Err("expected none, gzip[:L], zstd[:L] or blosc".to_owned()),
    }
}

fn parse_metadata(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl OutputOptions {
    /// Whether numbers are to be written with the highest byte first; `None` leaves them as they are.
    pub(crate) fn big_endian(&self) -> Option<bool> {
        self.byte_order.map(|order| order == ByteOrder::Big)
    }

    /// What is asked for of a file in that format beside its tensors, which come with `notes`.
    ///
    /// # Errors
    /// What the format has no place for.
    pub(crate) fn extras(&self, mut notes: Notes, format: Format) -> anyhow::Result<Extras> {
        let (can, name) = (format.can(), format.argument());
        if !self.metadata.is_empty() && !can.notes {
            anyhow::bail!("--metadata: {name} has no place for it, expected a .safetensors as output");
        }
        if self.compress && !can.compression {
            anyhow::bail!("--compress: {name} is not compressed, expected a .npz as output");
        }
        let zarr = [
            ("--chunks", self.chunks.is_some()),
            ("--shards", self.shards.is_some()),
            ("--codec", self.codec.is_some()),
        ];
        if let Some((option, _)) = zarr.iter().find(|(_, given)| *given && !can.chunks) {
            anyhow::bail!("{option}: {name} has no chunks, expected a .zarr as output");
        }
        if self.no_metadata {
            notes.clear();
        }
        notes.extend(self.metadata.iter().cloned());
        Ok(Extras {
            notes,
            compress: self.compress,
            chunks: self.chunks.as_ref().map(|sides| sides.0.clone()),
            shards: self.shards.as_ref().map(|sides| sides.0.clone()),
            codec: self.codec.clone(),
            ..Extras::default()
        })
    }

    /// What messages call it.
    pub(crate) fn label(&self) -> String {
        match self.output.as_deref().filter(|name| *name != Path::new("-")) {
            Some(path) => format!("output {}", path.display()),
            None => "standard output".to_owned(),
        }
    }

    /// The format that `--to` or the name of the output tells.
    ///
    /// # Errors
    /// A name that does not tell it.
    pub(crate) fn format(&self) -> anyhow::Result<Format> {
        if let Some(path) = self.output.as_deref().filter(|path| !path.exists()) {
            let container = |file: &Path| {
                let extension = file.extension().and_then(|extension| extension.to_str());
                extension.and_then(Format::by_extension).is_some_and(Format::is_container)
            };
            let folder = folders_before_colons(path).next().is_some();
            if folder || files_before_colons(path).any(|(file, _)| container(&file)) {
                let name = path.display();
                anyhow::bail!("output {name}: a tensor in a file is no output: name a file (or use --in-place)");
            }
        }
        match (self.to, self.output.as_deref().filter(|name| *name != Path::new("-"))) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::TEXT),
            (None, Some(name)) => Format::of_name(name)
                .map_err(|error| anyhow::anyhow!("output {}: {error}, or give --to", name.display())),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct EditOptions {
    /// Change DATA, a .npy file, a tensor of a .safetensors file, a Zarr store or bytes of any file (FILE:DTYPE[DIMS]@OFFSET), where it lies, instead of writing an output
    ///
    /// Costs what is changed, not what the file holds. Every check is made before the first byte is written, and the
    /// file is locked meanwhile, so that several such edits of one file are done one after the other. UPDATES and
    /// INDICES may be DATA itself: they count as read before. Not atomic: if the machine or the program is stopped
    /// in the middle, a part of the changes has been made; and nothing is synced to the disk. To be safe from that, use
    /// -o with the name of a .npy file itself.
    ///
    /// Of a Zarr store only the chunks in which something changes are written anew, all of them beside it first; then
    /// each takes its name at once.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber", "byte_order", "metadata", "no_metadata", "compress", "chunks", "shards", "codec", "finish", "restart"], help_heading = HEADING)]
    pub in_place: bool,
}
