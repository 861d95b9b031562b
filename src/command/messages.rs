//! The error messages of sub-commands.

use std::error::Error as StdError;
use std::fmt::Display;
use std::io;

use anyhow::anyhow;

use crate::DType;
pub(super) use crate::error::counted;
use crate::error::{Advice, ErrorKind, Subject};
use crate::narrow::stored_dtype::StoredDType;
use crate::opening::located::text_without_secrets;
use crate::quantized::QuantizedCount;

/// An error that is never shortened, because it lists options to type.
#[derive(Debug)]
pub(super) struct WholeMessage(pub String);

impl Display for WholeMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for WholeMessage {}

/// Says how many tensors make up the weights of a layout.
pub(super) fn made_up(QuantizedCount { layout, weights, parts }: &QuantizedCount) -> String {
    let noun = if *weights == 1 { "weight" } else { "weights" };
    format!("{} make up {weights} {layout} {noun}", counted(parts.len(), "tensor", "tensors"))
}

/// Leaves out secrets of addresses, escapes control characters, which names of files may hold, except those in `allowed`, and
/// cuts the middle of a long message.
pub(super) fn shortened(message: &str, allowed: &str) -> String {
    const HEAD: usize = 400;
    const TAIL: usize = 150;
    let message = text_without_secrets(message);
    let length = message.chars().count();
    let shown = |(i, _): &(usize, char)| length <= HEAD + TAIL || *i < HEAD || *i >= length - TAIL;
    let mut out = String::new();
    for (i, c) in message.chars().enumerate().filter(shown) {
        if length > HEAD + TAIL && i == length - TAIL {
            out.push_str(" ... ");
        }
        out.push_str(&escaped([c], allowed));
    }
    out
}

fn escaped(characters: impl IntoIterator<Item = char>, allowed: &str) -> String {
    let mut out = String::new();
    for c in characters {
        if c.is_control() && !allowed.contains(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

pub(super) fn error_line(error: &anyhow::Error) -> String {
    let text = message(error);
    let text = if error.is::<WholeMessage>() {
        escaped(text_without_secrets(&text).chars(), "")
    } else {
        shortened(&text, "")
    };
    format!("error: {text}")
}

/// Joins the chain of causes into one line, outermost first, with advice.
pub(super) fn message(error: &anyhow::Error) -> String {
    let cause =
        |cause: &(dyn StdError + 'static)| advised(cause.to_string(), own(cause).and_then(crate::Error::advice));
    error.chain().map(cause).collect::<Vec<_>>().join(": ")
}

/// Names the option if an argument is at fault. Other errors name their file or operand themselves.
pub(super) fn argument_error(error: crate::Error) -> anyhow::Error {
    if matches!(error.subject(), Subject::Argument(_)) { option_error(error) } else { error.into() }
}

pub(super) fn option_error(error: crate::Error) -> anyhow::Error {
    let subject = match error.subject() {
        // the message names the file
        Subject::File => return error.into(),
        Subject::Output => "output".to_owned(),
        option => format!("--{option}"),
    };
    refusal(&subject, &error)
}

pub(super) fn refusal(label: &str, error: &crate::Error) -> anyhow::Error {
    anyhow!("{label}: {}", advised(error.message().to_owned(), error.advice()))
}

/// Advises `-o` for changes that the file does not support in place.
pub(super) fn change_error(error: crate::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Unsupported => anyhow!("{error}: use -o"),
        _ => error.into(),
    }
}

pub(super) fn reason(error: &anyhow::Error, label: &str) -> String {
    let text = message(error);
    text.strip_prefix(label).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text).to_owned()
}

pub(super) fn advised(message: String, advice: Option<Advice>) -> String {
    match advice {
        None => message,
        Some(Advice::WriteNpy) => format!("{message}: use -o FILE.npy"),
        Some(Advice::GiveShapes) => format!("{message}: --shapes gives them"),
        Some(Advice::ReadBits) => format!("{message}; --dtype reads the bits as it"),
        Some(Advice::SkipRows(rows)) => format!("{message}; --skip-rows {rows} skips possible headings"),
        Some(Advice::NameItems(bytes)) => format!("{message}: {}", say_what(bytes)),
        Some(Advice::WriteOrName(bytes)) => format!("{message}: use -o FILE.npy, or {}", say_what(bytes)),
        Some(Advice::PassTensor) => format!("{message}; give --to npy to the command that wrote it"),
        Some(Advice::ReadAsCsv { delimiter, headings }) => {
            let format = match delimiter {
                ',' => "csv".to_owned(),
                '\t' => "tsv".to_owned(),
                _ => format!("csv --delimiter {}", typed_character(delimiter)),
            };
            format!("{message}: use --from {format}{}", if headings { " --skip-rows 1" } else { "" })
        }
        Some(Advice::DelimitBy { delimiter, skip }) => {
            let delimiter = typed_character(delimiter);
            let skip = if skip > 0 { format!(" --skip-rows {skip}") } else { String::new() };
            format!("{message}: --delimiter {delimiter}{skip} reads numbers, --dtype str strings")
        }
        Some(Advice::ReadMissing) => {
            format!("{message}; --missing nan (or another value) reads it, --dtype str strings")
        }
        Some(Advice::ReadStrings { skip }) => {
            let rows = if skip > 0 { format!(" --skip-rows {skip} skips possible headings,") } else { String::new() };
            format!("{message};{rows} --dtype str reads strings")
        }
        Some(Advice::KeepOthers) => format!("{message}: choose another file"),
        Some(Advice::ConvertStore) => format!("{message}: tensorop convert STORE -o NAME.zarr makes version 3"),
        Some(Advice::AskUnsigned) => format!("{message}; --no-sign-request reads public objects"),
        Some(Advice::ChangeOption) => format!("--{message}"),
    }
}

fn typed_character(character: char) -> String {
    match character {
        ',' => character.into(),
        '\t' => "'\\t'".to_owned(),
        _ => format!("'{character}'"),
    }
}

/// The most usual dtype comes first. The others are folded, since there are many of one byte.
fn say_what(bytes: usize) -> String {
    let names: Vec<_> = DType::names_of_size(bytes).collect();
    let (first, others) = names.split_first().expect("only voids of the size of a number may be numbers");
    let others = if others.is_empty() { String::new() } else { format!(" (or {})", folded(others).join(", ")) };
    let packed: Vec<_> = StoredDType::packed_names().filter(|_| bytes == 1).collect();
    let packed =
        if packed.is_empty() { String::new() } else { format!(", or of several items: {}", packed.join(", ")) };
    format!("say what it is: --dtype {first}{others}{packed}")
}

/// Folds names with the same stem: `float6_{e2m3fn,e3m2fn}`.
fn folded(names: &[&str]) -> Vec<String> {
    let stem = |name: &str| name.split_once('_').map_or(name.len(), |(stem, _)| stem.len() + 1);
    let alike = names.chunk_by(|a, b| stem(a) < a.len() && a.get(..stem(a)) == b.get(..stem(b)));
    let fold = |group: &[&str]| match group {
        [name] => (*name).to_owned(),
        _ => {
            let stem = &group[0][..stem(group[0])];
            let rests: Vec<_> = group.iter().map(|name| &name[stem.len()..]).collect();
            format!("{stem}{{{}}}", rests.join(","))
        }
    };
    alike.map(fold).collect()
}

pub(super) fn about_items(message: String, dtype: &DType) -> String {
    if dtype.is_ambiguous() { advised(message, Some(Advice::NameItems(dtype.itemsize()))) } else { message }
}

/// The error may be wrapped in an [`io::Error`].
fn own<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a crate::Error> {
    let inner = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(inner)
}

/// Ignores a closed pipe, since the exit status gives the verdict.
pub(super) fn unless_closed(printed: io::Result<()>) -> io::Result<()> {
    printed.or_else(|error| if crate::error::kind(&error) == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn StdError + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(crate::error::kind);
        let own = own(cause).map(crate::Error::kind);
        io == Some(io::ErrorKind::BrokenPipe) || own == Some(ErrorKind::Io(io::ErrorKind::BrokenPipe))
    };
    error.chain().any(closed)
}
