//! Where and in which format the output is written.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use super::values::{parse_format, parse_number};
use crate::format::Format;
use crate::format::open::files_before_colons;

const HEADING: &str = "Output";
const HEADING_TEXT: &str = "Text output";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OutputOptions {
    /// Where to write [default: text on standard output]
    ///
    /// The format follows the name (.npy, .npz, .safetensors, .pb, .json, .csv, .tsv, .txt, or .bin for the items
    /// alone) or --to. In a .npz or .safetensors
    /// file an operator's output is called arr_0. A file of several tensors, one of which is an input, is not replaced by
    /// fewer. A file appears, or is replaced, only when it is complete, and may be one of the inputs. A file that is
    /// replaced is the old or the whole new one even after a loss of power, since the new one is synced to the disk
    /// first; a new file is not synced. `-` is standard output. What is no regular file (a device, a pipe) is written
    /// as it comes.
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from), allow_hyphen_values = true, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The format of the output [default: by the name of FILE, else text]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format(|format| Some(format.writing_help())), allow_hyphen_values = true)]
    pub to: Option<Format>,
    /// The byte order of a .npy, .npz or .bin [default: that of DATA]
    #[arg(long, value_enum, value_name = "ORDER", allow_hyphen_values = true)]
    pub byte_order: Option<ByteOrder>,
    /// Refuse to replace a file
    #[arg(long, requires = "output")]
    pub no_clobber: bool,
    /// Make every check, print what would be done, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub threshold: Option<usize>,
    /// Items at each end of an axis that stay when it is elided
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 3, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub edgeitems: usize,
    /// Characters in a line
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 75, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub linewidth: usize,
    /// At most N digits after the point [default: as many as tell the value]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub precision: Option<usize>,
}

/// The byte order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByteOrder {
    /// The lowest byte first
    Little,
    /// The highest byte first
    Big,
}

impl OutputOptions {
    /// Whether numbers are to be written with the highest byte first; `None` leaves them as they are.
    pub(crate) fn big_endian(&self) -> Option<bool> {
        self.byte_order.map(|order| order == ByteOrder::Big)
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
            if files_before_colons(path).any(|(file, _)| container(&file)) {
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
    /// Change DATA, a .npy file, a tensor of a .safetensors file or bytes of any file (FILE:DTYPE[DIMS]@OFFSET), where it lies, instead of writing an output
    ///
    /// Costs what is changed, not what the file holds. Every check is made before the first byte is written, and the
    /// file is locked meanwhile, so that several such edits of one file are done one after the other. UPDATES and
    /// INDICES may be DATA itself: they count as read before. Not atomic: if the machine or the program is stopped
    /// in the middle, a part of the changes has been made; and nothing is synced to the disk. To be safe from that, use
    /// -o with the name of a .npy file itself.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber", "byte_order"], help_heading = HEADING)]
    pub in_place: bool,
}
