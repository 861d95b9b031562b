//! What is found at an operand of a comparison: one tensor, a container, a folder, or nothing yet.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::options::OperandArg;
use super::sources::{FoundTensor, Operand, OperandReader, OperandRole};
use crate::format::Format;
use crate::format::collection::{Collection, Opening};
use crate::format::colon::{files_before_colons, folder_of_files, folders_before_colons};
use crate::format::open::{Input, OpenOptions};
use crate::format::raw::View;
use crate::storage::requests::as_address;

/// What was found at an operand.
pub(super) enum FoundSide {
    /// One tensor. It is meant if it was named, or is the only one that a file of its format can hold; else it is the only
    /// one of a container, which stands for that tensor if the other side is one, too.
    One { found: FoundTensor, is_meant: bool },
    /// A container that holds no or several tensors, or of which a pattern selects several, or an index.
    Container(Input),
    /// A folder.
    Folder(PathBuf),
    /// A path that does not exist, and may be made.
    Absent(PathBuf),
}

/// Returns whether there is no such file, or no such tensor in it.
pub(super) fn is_absent(path: &Path) -> bool {
    if as_address(path).is_some() {
        // what is not there is an error, since nothing is made there
        return false;
    }
    if folder_of_files(path).is_some_and(|(_, member)| member.is_some()) {
        // a tensor of a folder is made by naming its file
        return false;
    }
    match files_before_colons(path).chain(folders_before_colons(path)).next() {
        _ if path.exists() => false,
        None => true,
        Some((file, name)) => OpenOptions::default().open(&file).is_ok_and(|input| {
            let has = |names: Vec<&str>| names.iter().any(|other| other.as_bytes() == name);
            let is_pattern = name.iter().any(|byte| b"*?".contains(byte));
            !is_pattern
                && input.names().is_some_and(|names| !has(names))
                && !View::is_meant(&String::from_utf8_lossy(name))
        }),
    }
}

/// Returns whether a path is a folder of files, and not one in a format.
fn is_plain_folder(path: &Path) -> bool {
    path.is_dir() && Format::of_folder(path).is_none()
}

/// Finds out what an operand is; if it `may_be_made`, it need not exist.
///
/// # Errors
/// It does not exist, or holds no tensors.
pub(super) fn find(reader: &OperandReader<'_>, operand: &Operand<'_>, may_be_made: bool) -> Result<FoundSide> {
    match operand.arg {
        OperandArg::Path(path) if may_be_made && is_absent(path) => return Ok(FoundSide::Absent(path.clone())),
        OperandArg::Path(path) if is_plain_folder(path) => {
            return Ok(FoundSide::Folder(path.clone()));
        }
        OperandArg::Path(_) | OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => {}
    }
    let input = reader.open(operand)?;
    if let Some(glob) = input.glob() {
        let selected = input.select()?;
        if may_be_made {
            let pattern = glob.text();
            bail!("{}: --accept: {pattern} is a pattern: name the whole, and give --only {pattern}", input.label());
        }
        return Ok(match selected[..] {
            [n] => FoundSide::One { found: FoundTensor { input, n }, is_meant: false },
            _ => FoundSide::Container(input),
        });
    }
    let count = input.names().map(|names| names.len());
    let is_meant = input.member().is_some() || count.is_none();
    if is_meant || count == Some(1) && !input.format().names_files() {
        return Ok(FoundSide::One { found: FoundTensor::of(input)?, is_meant });
    }
    Ok(FoundSide::Container(input))
}

impl FoundSide {
    /// Returns whether it is one tensor, or may stand for one.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One { .. } | Self::Absent(_))
    }

    /// Returns the name of the one tensor that was named.
    pub(super) fn named(&self) -> Option<&str> {
        match self {
            Self::One { found, is_meant: true } => found.input.member(),
            Self::One { .. } | Self::Container(_) | Self::Folder(_) | Self::Absent(_) => None,
        }
    }

    /// Returns the tensor called `name` of a whole container or folder, since that of the other side has this name. What is
    /// one tensor anyway, or selects some by a pattern, stays as it is.
    ///
    /// # Errors
    /// There is no such tensor, or several files can be meant; those of opening.
    pub(super) fn with_member(self, name: &str, reader: &OperandReader<'_>, operand: &Operand<'_>) -> Result<Self> {
        let input = match self {
            Self::Container(input) if input.member().is_none() => input,
            Self::Folder(_) => reader.open(operand)?,
            Self::One { .. } | Self::Container(_) | Self::Absent(_) => return Ok(self),
        };
        let n = input.pick(Some(name))?;
        Ok(Self::One { found: FoundTensor { input, n }, is_meant: true })
    }

    /// Returns the one tensor of the side called `role`; messages call the other side `other`.
    pub(super) fn into_one(self, role: OperandRole, other: &str) -> Result<FoundTensor> {
        let (role, name) = (role.name, "name a member after a colon, or a file");
        match self {
            Self::One { found, .. } => Ok(found),
            Self::Container(input) => {
                if let Some(glob) = input.glob() {
                    let count = input.select()?.len();
                    bail!("{}: {} matches {count} tensors, and {other} is one: {name}", input.label(), glob.text());
                }
                // if it holds several tensors, or none, this is the error
                input.chosen()?;
                bail!("{}: an index stands for all of its tensors, and {other} is one: {name}", input.label())
            }
            Self::Folder(path) => bail!("{role} {}: is a folder, and {other} is one tensor: {name}", path.display()),
            Self::Absent(path) => bail!("{role} {}: is not there", path.display()),
        }
    }

    /// Returns all tensors by name.
    pub(super) fn into_many(self, arg: &OperandArg, opening: &Opening<'_>) -> Result<Collection> {
        match self {
            Self::One { found: FoundTensor { input, .. }, .. } | Self::Container(input) => {
                let path = match arg {
                    OperandArg::Path(path) => path.as_path(),
                    OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => Path::new("-"),
                };
                Ok(Collection::of_input(input, path, opening)?)
            }
            Self::Folder(path) => Ok(Collection::of_folder(&path, opening)?),
            Self::Absent(_) => Ok(Collection::default()),
        }
    }

    pub(super) fn label(&self, role: OperandRole) -> String {
        match self {
            Self::One { found: FoundTensor { input, .. }, .. } | Self::Container(input) => input.label().to_owned(),
            Self::Folder(path) | Self::Absent(path) => format!("{} {}", role.name, path.display()),
        }
    }
}
