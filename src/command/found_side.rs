//! What is found at an operand of a comparison: one tensor, a container, a folder, or nothing yet.

use std::sync::Arc;

use anyhow::{Result, bail};

use super::member::Member;
use super::options::Operand;
use super::sources::OperandReader;
use crate::format::collection::{Collection, Opening};
use crate::format::folder::Folder;
use crate::format::located::{Located, Place};
use crate::format::open::{Input, OpenOptions};
use crate::format::raw::RawView;

/// What was found at an operand.
pub(super) enum FoundSide {
    /// One tensor. It is meant if it was named, or is the only one that a file of its format can hold; else it is the only
    /// one of a container, which stands for that tensor if the other side is one, too.
    One { member: Member, is_meant: bool },
    /// A container that holds no or several tensors, or of which a pattern selects several, or an index.
    Container(Arc<Input>),
    /// A folder.
    Folder(Folder),
    /// Nothing is there, but may be made.
    Absent,
}

/// Returns whether there is no such file, or no such tensor in it.
pub(super) fn is_absent(located: &Located) -> bool {
    match (&located.place, &located.suffix) {
        (Place::Absent(_), _) => true,
        (Place::File(file) | Place::Store(file, _), Some(name))
            if !name.contains(['*', '?', '{']) && !RawView::is_meant(name) =>
        {
            let has = |input: Input| input.names().is_none_or(|names| names.contains(&&**name));
            OpenOptions::default().open(&Located::from_path(file)).is_ok_and(|input| !has(input))
        }
        // nothing is made behind an address, and a tensor of a folder is made by naming its file
        _ => false,
    }
}

/// Finds out what an operand is; if it `may_be_made`, it need not exist.
///
/// # Errors
/// It does not exist, or holds no tensors.
pub(super) fn find(reader: &OperandReader<'_>, operand: &Operand, may_be_made: bool) -> Result<FoundSide> {
    match &operand.located {
        located if may_be_made && is_absent(located) => return Ok(FoundSide::Absent),
        Located { place: Place::Folder(folder), suffix: None, .. } => {
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
    let input = reader.open(operand)?;
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
    /// Returns whether it is one tensor, or may stand for one.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One { .. } | Self::Absent)
    }

    /// Returns the name of the one tensor that was named.
    pub(super) fn named(&self) -> Option<&str> {
        match self {
            Self::One { member, is_meant: true } => member.input.member(),
            Self::One { .. } | Self::Container(_) | Self::Folder(_) | Self::Absent => None,
        }
    }

    /// Returns the tensor called `name` of a whole container or folder, since that of the other side has this name. What is
    /// one tensor anyway, or selects some by a pattern, stays as it is.
    ///
    /// # Errors
    /// There is no such tensor, or several files can be meant; those of opening.
    pub(super) fn with_member(self, name: &str, reader: &OperandReader<'_>, operand: &Operand) -> Result<Self> {
        let input = match self {
            Self::Container(input) if input.member().is_none() => input,
            Self::Folder(_) => reader.open(operand)?,
            Self::One { .. } | Self::Container(_) | Self::Absent => return Ok(self),
        };
        let n = input.pick(Some(name))?;
        Ok(Self::One { member: Member::from_input(input, n), is_meant: true })
    }

    /// Returns the one tensor of a side; messages call the other side `other`.
    pub(super) fn into_one(self, operand: &Operand, other: &str) -> Result<Member> {
        let (label, name) = (&operand.label, "name a member after a colon, or a file");
        match self {
            Self::One { member, .. } => Ok(member),
            Self::Container(input) => {
                if let Some(glob) = input.glob() {
                    let count = input.select()?.len();
                    bail!("{label}: {} matches {count} tensors, and {other} is one: {name}", glob.text());
                }
                // if it holds several tensors, or none, this is the error
                input.chosen()?;
                bail!("{label}: an index stands for all of its tensors, and {other} is one: {name}")
            }
            Self::Folder(_) => bail!("{label}: is a folder, and {other} is one tensor: {name}"),
            Self::Absent => bail!("{label}: is not there"),
        }
    }

    /// Returns all tensors by name.
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
