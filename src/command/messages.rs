//! The messages that say why a sub-command failed.

use std::error::Error as StdError;
use std::fmt::Display;
use std::io;

use anyhow::anyhow;

use crate::DType;
pub(super) use crate::error::counted;
use crate::error::{Advice, ErrorKind, Subject};
use crate::format::stored_dtype::StoredDType;

/// The message of an error that is told to its end, because it lists what somebody is to type.
#[derive(Debug)]
pub(super) struct WholeMessage(pub String);

impl Display for WholeMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for WholeMessage {}

/// Returns a message fit for a terminal. Its control characters, which names of files may hold, are escaped, but for
/// those in `allowed`, and the middle of a long message is left out.
pub(super) fn shortened(message: &str, allowed: &str) -> String {
    const HEAD: usize = 400;
    const TAIL: usize = 150;
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

/// Returns characters of which those that control a terminal are escaped, but for those in `allowed`.
fn escaped(characters: impl IntoIterator<Item = char>, allowed: &str) -> String {
    let mut out = String::new();
    for c in characters {
        if c.is_control() && !allowed.contains(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Returns the line on standard error that tells an error.
pub(super) fn error_line(error: &anyhow::Error) -> String {
    let told = message(error);
    let told = if error.is::<WholeMessage>() { escaped(told.chars(), "") } else { shortened(&told, "") };
    format!("error: {told}")
}

/// Returns an error in one line: where it happened, outermost first, what is wrong, and what would help.
pub(super) fn message(error: &anyhow::Error) -> String {
    let cause =
        |cause: &(dyn StdError + 'static)| advised(cause.to_string(), own(cause).and_then(crate::Error::advice));
    error.chain().map(cause).collect::<Vec<_>>().join(": ")
}

/// Says a refusal of an argument as one of the option of its name. Any other error names its file or operand itself.
pub(super) fn argument_error(error: crate::Error) -> anyhow::Error {
    if matches!(error.subject(), Subject::Argument(_)) { option_error(error) } else { error.into() }
}

/// Says what the library refuses in an option or in the output, by the name that the user knows it by.
pub(super) fn option_error(error: crate::Error) -> anyhow::Error {
    let subject = match error.subject() {
        // the message names its file itself
        Subject::File => return error.into(),
        Subject::Output => "output".to_owned(),
        option => format!("--{option}"),
    };
    refusal(&subject, &error)
}

/// Says what the library refuses in the operand that messages call `label`, with its advice.
pub(super) fn refusal(label: &str, error: &crate::Error) -> anyhow::Error {
    anyhow!("{label}: {}", advised(error.message().to_owned(), error.advice()))
}

/// Says what stands in the way of a change of a file where it lies; where the file does not have it, a new one may.
pub(super) fn change_error(error: crate::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Unsupported => anyhow!("{error}: use -o"),
        _ => error.into(),
    }
}

/// Returns an error in one line without what messages call the tensor that it is about.
pub(super) fn reason(error: &anyhow::Error, label: &str) -> String {
    let told = message(error);
    told.strip_prefix(label).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&told).to_owned()
}

/// Returns a message with the advice of an error, in the words that are typed on the command line.
pub(super) fn advised(message: String, advice: Option<Advice>) -> String {
    match advice {
        None => message,
        Some(Advice::WriteNpy) => format!("{message}: use -o FILE.npy"),
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
        Some(Advice::ReadMissing) => format!("{message}; --missing nan (or another value) reads it as that"),
        Some(Advice::KeepOthers) => format!("{message}: choose another file"),
        Some(Advice::ConvertStore) => format!("{message}: tensorop convert STORE -o NAME.zarr makes version 3"),
        Some(Advice::AskUnsigned) => format!("{message}; --no-sign-request reads public objects"),
        Some(Advice::ChangeOption) => format!("--{message}"),
    }
}

/// Returns a character as a shell takes it, and as options that take one read it.
fn typed_character(character: char) -> String {
    match character {
        ',' => character.into(),
        '\t' => "'\\t'".to_owned(),
        _ => format!("'{character}'"),
    }
}

/// Returns the advice on items of `bytes` bytes whose dtype does not say what they are: the most usual candidate, and the
/// others in as few letters as the shell would take them, since there are many of one byte.
fn say_what(bytes: usize) -> String {
    let names: Vec<_> = DType::names_of_size(bytes).collect();
    let (first, others) = names.split_first().expect("only voids of the size of a number may be numbers");
    let others = if others.is_empty() { String::new() } else { format!(" (or {})", folded(others).join(", ")) };
    let packed: Vec<_> = StoredDType::packed_names().filter(|_| bytes == 1).collect();
    let packed =
        if packed.is_empty() { String::new() } else { format!(", or of several items: {}", packed.join(", ")) };
    format!("say what it is: --dtype {first}{others}{packed}")
}

/// Returns names with those that begin alike up to a `_` in one: `float6_{e2m3fn,e3m2fn}`.
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

/// Returns a message about an operand of dtype `dtype`, with advice if that does not say what the items are.
pub(super) fn about_items(message: String, dtype: &DType) -> String {
    if dtype.is_ambiguous() { advised(message, Some(Advice::NameItems(dtype.itemsize()))) } else { message }
}

/// Returns a cause as an error of the library, if it is one. It may be wrapped in an error of the standard library.
fn own<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a crate::Error> {
    let inner = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(inner)
}

/// Lets a verdict be printed to a pipe whose reader has gone: the status tells it all the same.
///
/// # Errors
/// Any other than that.
pub(super) fn unless_closed(printed: io::Result<()>) -> io::Result<()> {
    printed.or_else(|error| if crate::error::kind(&error) == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Returns whether the output was a pipe whose reader has gone, which is no fault.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn StdError + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(crate::error::kind);
        let own = own(cause).map(crate::Error::kind);
        io == Some(io::ErrorKind::BrokenPipe) || own == Some(ErrorKind::Io(io::ErrorKind::BrokenPipe))
    };
    error.chain().any(closed)
}
