//! The arrays of a group.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::metadata::{self, Node};
use crate::error::{Result, ensure};

/// How deep groups may lie in groups.
const MOST_DEPTH: usize = 32;

/// The most folders of a group that are looked at.
const MOST_FOLDERS: usize = 1 << 20;

/// The arrays in a group, by their paths from its folder on, in the order of these; and the attributes of the group (whose
/// path is empty) and of those in it, by their paths.
///
/// # Errors
/// More folders than are looked at; of reading them.
pub(super) fn arrays(group: &Path) -> Result<(Vec<String>, BTreeMap<String, String>)> {
    let mut attributes = BTreeMap::new();
    let (mut found, mut pending, mut seen) = (Vec::new(), vec![(group.to_owned(), String::new(), 0)], 0_usize);
    while let Some((folder, name, depth)) = pending.pop() {
        let own = metadata::group_attributes(&folder);
        if let Some(own) = own.map_err(|error| if name.is_empty() { error } else { error.within(name.clone()) })? {
            attributes.insert(name.clone(), own);
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(own) = entry.file_name().into_string() else { continue };
            // hidden files are nobody's members
            if own.starts_with('.') || !entry.path().is_dir() {
                continue;
            }
            seen += 1;
            ensure!(seen <= MOST_FOLDERS, "more than {MOST_FOLDERS} folders");
            let name = if name.is_empty() { own } else { format!("{name}/{own}") };
            match metadata::node(&entry.path()) {
                // what is not in order says so when it is asked for
                Ok(Some(Node::Array)) | Err(_) => found.push(name),
                Ok(Some(Node::Group)) => {
                    ensure!(depth < MOST_DEPTH, "groups in groups deeper than {MOST_DEPTH}");
                    pending.push((entry.path(), name, depth + 1));
                }
                Ok(None) => {}
            }
        }
    }
    found.sort();
    Ok((found, attributes))
}

/// The folder of a member of a group, if its name leads nowhere else.
pub(super) fn member(group: &Path, name: &str) -> Result<PathBuf> {
    let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    ensure!(plain && !name.contains(['\0', '\\']), "no tensor {name:?}");
    Ok(group.join(name))
}
