//! An operand of a comparison: one tensor, a container, a folder, or a missing file.

use std::sync::Arc;

use anyhow::{Result, bail};

use super::member::Member;
use super::options::Operand;
use super::sources::{OpenMode, OperandReader};
use crate::format::collection::{Collection, Opening};
use crate::format::folder::Folder;
use crate::format::located::{Located, Place};
use crate::format::name_filter::NameFilter;
use crate::format::open::{Input, OpenOptions};
use crate::format::raw::RawView;

pub(super) enum FoundSide {
    /// `is_meant`: named, or the format holds only one. Otherwise the only tensor of a container, which counts as one
    /// tensor only if the other side is one, too.
    One {
        member: Member,
        is_meant: bool,
    },
    /// A container of zero or several tensors, one where a pattern selects several, or an index.
    Container(Arc<Input>),
    Folder(Folder),
    /// Does not exist, but may be made.
    Absent,
}

pub(super) fn is_absent(located: &Located) -> bool {
    match (&located.place, &located.suffix) {
        (Place::Absent(_), _) => true,
        (Place::File(file) | Place::Store(file, _), Some(name))
            if !name.contains(['*', '?', '{']) && !RawView::is_meant(name) =>
        {
            let has = |input: Input| input.names().is_none_or(|names| names.contains(name));
            OpenOptions::default().open(&Located::from_path(file)).is_ok_and(|input| !has(input))
        }
        // addresses are never made, and a tensor of a folder is made through its file
        _ => false,
    }
}

pub(super) fn find(
    reader: &OperandReader<'_>,
    operand: &Operand,
    may_be_made: bool,
    taken: NameFilter<'_>,
) -> Result<FoundSide> {
    match &operand.located {
        located if may_be_made && is_absent(located) => return Ok(FoundSide::Absent),
        // the parts of a weight may lie in several files of the folder, which are opened as one
        Located { place: Place::Folder(folder), suffix: None, .. } if reader.options.dequantize.is_none() => {
            if may_be_made && folder.is_pattern() {
                bail!(
                    "{}: --accept: EXPECTED is a pattern of files without a header, which are not written",
                    operand.label
                );
            }
            return Ok(FoundSide::Folder(folder.clone()));
        }
        _ => {}
    }
    // only the scales of activations depend on the filter here
    let mode = if reader.options.dequantize.is_some() { OpenMode::Taking(taken) } else { OpenMode::Plain };
    let input = reader.open(operand, mode)?;
    if let Some(glob) = input.glob() {
        let selected = input.select()?;
        if may_be_made {
            let pattern = glob.text();
            bail!("{}: --accept: {pattern} is a pattern: name the whole, and give --only {pattern}", input.label());
        }
        return Ok(match selected[..] {
            [n] => FoundSide::One { member: Member::from_input(input, n), is_meant: false },
            _ => FoundSide::Container(input),
        });
    }
    let count = input.names().map(|names| names.len());
    let is_meant = input.member().is_some() || count.is_none();
    if is_meant || count == Some(1) && !input.format().names_files() {
        return Ok(FoundSide::One { member: Member::chosen(input)?, is_meant });
    }
    Ok(FoundSide::Container(input))
}

impl FoundSide {
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One { .. } | Self::Absent)
    }

    pub(super) fn named(&self) -> Option<&str> {
        match self {
            Self::One { member, is_meant: true } => member.input.member(),
            Self::One { .. } | Self::Container(_) | Self::Folder(_) | Self::Absent => None,
        }
    }

    /// A side that is one tensor or a pattern stays unchanged.
    pub(super) fn with_member(self, name: &str, reader: &OperandReader<'_>, operand: &Operand) -> Result<Self> {
        let input = match self {
            Self::Container(input) if input.member().is_none() => input,
            Self::Folder(_) => reader.open(operand, OpenMode::Plain)?,
            Self::One { .. } | Self::Container(_) | Self::Absent => return Ok(self),
        };
        let n = input.pick(Some(name))?;
        Ok(Self::One { member: Member::from_input(input, n), is_meant: true })
    }

    pub(super) fn into_one(self, operand: &Operand, other: &str) -> Result<Member> {
        let (label, name) = (&operand.label, "name a member after a colon, or a file");
        match self {
            Self::One { member, .. } => Ok(member),
            Self::Container(input) => {
                if let Some(glob) = input.glob() {
                    let count = input.select()?.len();
                    bail!("{label}: {} matches {count} tensors, and {other} is one: {name}", glob.text());
                }
                // fails for zero or several tensors
                input.chosen()?;
                bail!("{label}: an index names all of its tensors, and {other} is one: {name}")
            }
            Self::Folder(_) => bail!("{label}: is a folder, and {other} is one tensor: {name}"),
            Self::Absent => bail!("{label}: does not exist"),
        }
    }

    pub(super) fn into_many(self, operand: &Operand, opening: &Opening<'_>) -> Result<Collection> {
        Ok(match self {
            Self::One { member: Member { input, .. }, .. } | Self::Container(input) => {
                Collection::from_input(input, operand.located.typed(), opening)?
            }
            Self::Folder(folder) => Collection::from_folder(&folder, opening)?,
            Self::Absent => Collection::default(),
        })
    }
}
