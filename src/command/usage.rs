//! Usage errors: what is wrong, the usage, the way to the help, each on a line of its own.
//!
//! clap's own text has paragraphs and lists, and errors here are one line each for `grep` and logs. The parser hands
//! over what it knows as an error's kind and context, and the lines are made of these, not of clap's text.

use std::error::Error as _;
use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorFormatter, ErrorKind};

/// The characters of the first line after which the rest is left out: a value that was typed may be of any length.
const LONGEST: usize = 400;

/// The last line of every usage error.
const HELP: &str = "For more information, try '--help'.";

/// Prints usage errors in at most three lines.
pub(super) struct Short;

type Error = clap::error::Error<Short>;

impl ErrorFormatter for Short {
    fn format_error(error: &Error) -> StyledStr {
        let what = what(error).unwrap_or_else(|| {
            let kind = error.kind().as_str().map(str::to_owned);
            kind.or_else(|| source(error)).unwrap_or_else(|| "unknown cause".to_owned())
        });
        let usage = match error.get(ContextKind::Usage) {
            Some(ContextValue::StyledStr(usage)) => Some(usage.to_string()),
            _ => None,
        };
        let tips = tips(error);
        let first = std::iter::once(format!("error: {what}")).chain((!tips.is_empty()).then(|| tips.join(" ")));
        message(&first.collect::<Vec<_>>().join("; "), usage.as_deref()).into()
    }
}

/// The lines of a usage error.
pub(super) fn short(error: clap::Error) -> String {
    error.apply::<Short>().render().to_string()
}

/// The same lines of an unknown option, where a file has the name that was taken for one.
pub(super) fn with_file(lines: &str, args: &[OsString]) -> String {
    let is_file = |arg: &&OsString| arg.as_encoded_bytes().starts_with(b"-") && Path::new(arg).is_file();
    match (args.iter().skip(1).find(is_file), lines.split_once('\n')) {
        (Some(file), Some((first, rest))) => {
            format!("{first}; the file of that name is given as ./{}\n{rest}", one_line(&file.to_string_lossy()))
        }
        _ => lines.to_owned(),
    }
}

/// The lines of a usage error. What was typed may hold blanks and ends of lines: each run of them is one blank.
pub(super) fn message(first: &str, usage: Option<&str>) -> String {
    let mut first = one_line(first);
    if let Some((end, _)) = first.char_indices().nth(LONGEST) {
        first.truncate(end);
        first.push_str("...");
    }
    let lines = std::iter::once(first).chain(usage.map(one_line)).chain(std::iter::once(HELP.to_owned()));
    lines.map(|line| line + "\n").collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong, in clap's words; `None` where its kind says all.
fn what(error: &Error) -> Option<String> {
    let argument = || text(error, ContextKind::InvalidArg);
    let value = || text(error, ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::InvalidValue => {
            let (argument, value) = (argument()?, value()?);
            let what = if value.is_empty() {
                format!("a value is required for '{argument}' but none was supplied")
            } else {
                format!("invalid value '{value}' for '{argument}'")
            };
            Some(match list(error, ContextKind::ValidValue) {
                [] => what,
                valid => format!("{what} [possible values: {}]", valid.join(", ")),
            })
        }
        ErrorKind::ValueValidation => {
            let what = format!("invalid value '{}' for '{}'", value()?, argument()?);
            Some(match source(error) {
                Some(source) => format!("{what}: {source}"),
                None => what,
            })
        }
        ErrorKind::UnknownArgument => Some(format!("unexpected argument '{}' found", argument()?)),
        ErrorKind::InvalidSubcommand => {
            Some(format!("unrecognized subcommand '{}'", text(error, ContextKind::InvalidSubcommand)?))
        }
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg)? {
            ContextValue::Strings(missing) => {
                Some(format!("the following required arguments were not provided: {}", missing.join(" ")))
            }
            _ => None,
        },
        ErrorKind::TooManyValues => {
            Some(format!("unexpected value '{}' for '{}' found; no more were expected", value()?, argument()?))
        }
        // kinds that this grammar does not give, or that have no context
        _ => None,
    }
}

/// Arguments that exclude one another, or one that stands twice.
fn conflict(error: &Error) -> Option<String> {
    let argument = text(error, ContextKind::InvalidArg)?;
    let what = format!("the argument '{argument}' cannot be used");
    Some(match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(other)) if *other == argument => format!("{what} multiple times"),
        Some(ContextValue::String(other)) => format!("{what} with '{other}'"),
        Some(ContextValue::Strings(others)) => format!("{what} with: {}", others.join(" ")),
        _ => format!("{what} with one or more of the other specified arguments"),
    })
}

/// Whether a tensor is to be sliced and no slice is given: who asks for that wants to see it.
fn is_whole_slice(error: &Error) -> bool {
    let is_slice = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => plain(&usage.to_string()).contains("tensorop slice "),
        _ => false,
    };
    let missing = list(error, ContextKind::InvalidArg);
    is_slice && error.kind() == ErrorKind::MissingRequiredArgument && matches!(missing, [one] if one.contains("--at"))
}

/// What may have been meant.
fn tips(error: &Error) -> Vec<String> {
    let kinds = [
        (ContextKind::SuggestedSubcommand, "subcommand"),
        (ContextKind::SuggestedArg, "argument"),
        (ContextKind::SuggestedValue, "value"),
    ];
    let similar = kinds.into_iter().filter_map(|(kind, noun)| {
        let names: Vec<_> = list(error, kind).iter().map(|name| format!("'{name}'")).collect();
        let begin = match error.get(kind)? {
            ContextValue::Strings(names) if names.len() != 1 => format!("some similar {noun}s exist"),
            _ => format!("a similar {noun} exists"),
        };
        Some(format!("tip: {begin}: {}", names.join(", ")))
    });
    let mut tips: Vec<_> = similar.collect();
    if is_whole_slice(error) {
        tips.push("to look at a tensor, use `tensorop show FILE`".to_owned());
    }
    // More tips there are of unknown options: to pass them as operands after `--`, which nobody means here.
    tips
}

/// One text that the parser knows.
fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(plain(text)),
        _ => None,
    }
}

/// What the parser of a value, or the library, says of it.
fn source(error: &Error) -> Option<String> {
    error.source().map(|source| plain(&source.to_string()))
}

/// A text without its escape sequences. Of what was typed they go one by one: an unfinished one would take characters
/// of the message with it, and all of them would count as shown.
fn plain(text: &str) -> String {
    StyledStr::from(text.to_owned()).to_string()
}

/// The texts that the parser knows, be it one or several.
fn list(error: &Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors() {
        let slice = Some("Usage: tensorop slice [OPTIONS] <DATA> <--start <I> --stop <I>|--at <SLICES>>");
        let long = "x".repeat(500);
        let cut = format!("error: invalid value '{}...", "x".repeat(LONGEST - "error: invalid value '".len()));
        let rows: &[(&[&str], &str, Option<&str>)] = &[
            (
                &["slic"],
                "error: unrecognized subcommand 'slic'; tip: some similar subcommands exist: 'slice-scatter', 'slice'",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["slice", "a", "--at", ":", "--dtpye", "f"],
                "error: unexpected argument '--dtpye' found; tip: a similar argument exists: '--dtype'",
                slice,
            ),
            (&["slice", "a", "-x"], "error: unexpected argument '-x' found", slice),
            (
                &["slice", "a"],
                "error: the following required arguments were not provided: <--start <I>|--at <SLICES>>; to look at a \
                 tensor, use `tensorop show FILE`",
                slice,
            ),
            (
                &["slice", "a", "--at", ":", "--at", ":"],
                "error: the argument '--at <SLICES>' cannot be used multiple times",
                slice,
            ),
            (
                &["slice", "a", "--at", ":", "--start", "0", "--stop", "1"],
                "error: the argument '--at <SLICES>' cannot be used with: --start <I> --stop <I>",
                slice,
            ),
            (
                &["convert", "a", "--byte-order", "litle"],
                "error: invalid value 'litle' for '--byte-order <ORDER>' [possible values: little, big]; tip: a similar \
                 value exists: 'little'",
                None,
            ),
            (
                &["diff", "a", "b", "--ulp", "1\x1b[1m \n5\x1b"],
                "error: invalid value '1 5' for '--ulp <N>': expected a whole number, 0 or more",
                None,
            ),
            (&["diff", "a", "b", "--ulp", &long], &cut, None),
        ];
        for (args, first, usage) in rows {
            let args = std::iter::once("tensorop").chain(args.iter().copied());
            let error = crate::command::parse(args.map(Into::into), 100).err();
            let Some(crate::command::Ended::Usage(shown)) = error else { panic!("{first}: no usage error") };
            let lines = [Some(*first), *usage, Some(HELP)];
            assert_eq!(shown.lines().collect::<Vec<_>>(), lines.into_iter().flatten().collect::<Vec<_>>());
        }
    }
}
