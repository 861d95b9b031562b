//! Lists that options give: integers, on the command line or in files, and names in a file.

use anyhow::{Result, anyhow, bail};

use super::member::Member;
use super::operand_reader::OperandReader;
use crate::command::messages::option_error;
use crate::command::options::{IndexList, SliceOptions};
use crate::error::{ErrorKind, Subject};
use crate::layout::axis::BeyondInt64;
use crate::opening::located::Located;
use crate::operators::indexed::all_integers;
use crate::ops::slice::SliceArgs;

/// Returns the one integer of an option that names an axis.
pub(crate) fn axis(reader: &OperandReader<'_>, list: &IndexList, option: &str) -> Result<i64> {
    match number_or_list(reader, list, option)?[..] {
        [axis] => Ok(axis),
        ref other => bail!("{option}: {} integers, expected one", other.len()),
    }
}

/// Returns the integers of an option. A file must have one axis.
pub(crate) fn index_list(reader: &OperandReader<'_>, list: &IndexList, option: &str) -> Result<Vec<i64>> {
    integers(reader, list, option, 1, BeyondInt64::Refused)
}

/// Returns the integers of an option. A file may also have no axis, and one integer.
pub(crate) fn number_or_list(reader: &OperandReader<'_>, list: &IndexList, option: &str) -> Result<Vec<i64>> {
    integers(reader, list, option, 0, BeyondInt64::Refused)
}

pub(crate) fn slices(reader: &OperandReader<'_>, options: &SliceOptions) -> Result<SliceArgs> {
    if let Some(at) = &options.at {
        return Ok(at.args.clone().taking_scalars());
    }
    if options.start.is_none() {
        return Ok(SliceArgs::default().taking_scalars());
    }
    let list = |list: &Option<_>, option, beyond| {
        list.as_ref().map(|list| integers(reader, list, option, 1, beyond)).transpose()
    };
    let bounds = |bounds, option| list(bounds, option, BeyondInt64::Clamped);
    let start = bounds(&options.start, "--start")?.unwrap_or_default();
    let stop = bounds(&options.stop, "--stop")?.unwrap_or_default();
    let step = bounds(&options.step, "--step")?;
    let axes = list(&options.axes, "--axes", BeyondInt64::Refused)?;
    SliceArgs::new(&start, &stop)
        .and_then(|args| step.map_or(Ok(args.clone()), |steps| args.with_steps(&steps)))
        .and_then(|args| axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes)))
        .map_err(option_error)
}

fn integers(
    reader: &OperandReader<'_>,
    list: &IndexList,
    option: &str,
    min_rank: usize,
    beyond: BeyondInt64,
) -> Result<Vec<i64>> {
    let path = match list {
        IndexList::List(list) => return Ok(list.clone()),
        IndexList::File(path) => path,
    };
    let located = Located::from_path(path);
    let label = format!("{option} {}", located.without_secrets());
    let input = reader.open_options(&label).open(&located).map_err(|error| match error.kind() {
        ErrorKind::Io(std::io::ErrorKind::NotFound) => {
            let end = matches!(path.to_str(), Some("end" | "END" | "max" | "None" | "none" | ":" | "inf"));
            let cure = if end { " (INT_MAX is the end of any axis)" } else { "" };
            anyhow!("{label}: neither a list of integers such as 0,1 nor a file{cure}")
        }
        _ => error.into(),
    })?;
    reader.run.io.containers.add(&input);
    let tensor = Member::chosen(input.into())?.integers(&label)?;
    if !(min_rank..=1).contains(&tensor.shape().len()) {
        let expected = if min_rank == 0 { "one integer or 1 axis" } else { "1 axis" };
        bail!("{}: shape {:?}, expected {expected}", tensor.label(), tensor.shape());
    }
    all_integers(&tensor, beyond).map_err(|error| match error.subject() {
        Subject::Indices => anyhow!("{}: {}", tensor.label(), error.message()),
        _ => error.into(),
    })
}

/// Skips blank lines, comments and a byte order mark.
pub(crate) fn listed_names(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines().map(name_of).filter(|name| !name.is_empty())
}

/// A comment begins at a `#` at the beginning of the line or after a blank. Elsewhere `#` is part of a test's id.
fn name_of(line: &str) -> &str {
    let is_comment = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let end = line.match_indices('#').find(is_comment).map_or(line.len(), |(at, _)| at);
    line[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_comments() {
        for (line, id) in [
            ("cases#right", "cases#right"),
            ("  slice/a/0 \r", "slice/a/0"),
            ("a b  # a note", "a b"),
            ("a\t#b", "a"),
            ("# a", ""),
            ("   ", ""),
        ] {
            assert_eq!(name_of(line), id, "{line:?}");
        }
    }
}
