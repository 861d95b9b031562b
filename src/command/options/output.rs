//! Where and in which format the output is written.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::text::PageOptions;
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
    /// The format follows the name (.npy, .npz, .safetensors, .pb, .json, .txt) or --to. In a .npz or .safetensors
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
    /// Refuse to replace a file
    #[arg(long, requires = "output")]
    pub no_clobber: bool,
    /// Make every check, print what would be done, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING_TEXT)]
    pub threshold: Option<usize>,
    #[command(flatten)]
    pub page: PageOptions,
}

impl OutputOptions {
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
    /// Change DATA, a .npy file or a tensor of a .safetensors file, where it lies, instead of writing an output
    ///
    /// Costs what is changed, not what the file holds. Every check is made before the first byte is written, and the
    /// file is locked meanwhile, so that several such edits of one file are done one after the other. UPDATES and
    /// INDICES may be DATA itself: they count as read before. Not atomic: if the machine or the program is stopped
    /// in the middle, a part of the changes has been made; and nothing is synced to the disk. To be safe from that, use
    /// -o with the name of a .npy file itself.
    #[arg(short, long, conflicts_with_all = ["output", "to", "no_clobber"], help_heading = HEADING)]
    pub in_place: bool,
}
