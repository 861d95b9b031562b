//! The actual tensors of golden checks that failed, left for people to look at.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::located::Located;
use super::rewrite::{NamedSource, Rewrite};
use crate::error::Result;
use crate::ops::fill::Limits;

/// The environment variable with the folder for actual tensors.
pub const KEEP_ACTUAL: &str = "TENSOROP_KEEP_ACTUAL";

/// `NAME.actual.npy` for a tensor, and `NAME.actual.npz` for tensors with names, of a golden file NAME.
pub type KeptFiles = [PathBuf; 2];

/// `folder` is the value of [`KEEP_ACTUAL`]; an empty one keeps nothing.
pub fn files(folder: Option<&OsStr>, golden: &Located) -> Option<KeptFiles> {
    let folder = Path::new(folder.filter(|folder| !folder.is_empty())?);
    let (path, member) = golden.output();
    let member = member.map_or_else(String::new, |member| format!(".{member}"));
    let name = path.file_stem().unwrap_or_default().to_string_lossy() + &*member;
    let name = name.replace(['/', '\\', ':'], ".");
    Some(["npy", "npz"].map(|ending| folder.join(format!("{name}.actual.{ending}"))))
}

/// Writes the tensors, and returns a line that says where they are.
///
/// # Errors
/// A tensor cannot be read, or the file written.
pub fn write([one, several]: &KeptFiles, tensors: Vec<NamedSource>, limits: Limits) -> Result<String> {
    let path = if tensors.iter().any(|tensor| tensor.name.is_some()) { several } else { one };
    let label = path.display().to_string();
    Rewrite::new(path, &label, None, tensors, true, limits)?.write()?;
    Ok(format!("ACTUAL is in {label}"))
}

/// Removes what an earlier check left.
pub fn remove(kept: &KeptFiles) {
    kept.iter().for_each(|path| drop(fs::remove_file(path)));
}
