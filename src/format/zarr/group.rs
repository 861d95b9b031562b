//! The arrays of a group.

use std::collections::BTreeMap;

use super::metadata;
use crate::error::{Result, ensure};
use crate::storage::key_store::{ReadableStore, join};

/// The most levels that groups may lie in groups.
const MOST_DEPTH: usize = 32;

/// The most folders that are looked at in a group.
const MOST_FOLDERS: usize = 1 << 20;

/// What a group holds.
#[derive(Debug)]
pub(super) struct Group {
    /// The arrays in it and in the groups in it, by their paths from its own prefix on, in the order of these.
    pub(super) arrays: Vec<String>,
    /// The attributes of the group, whose path is empty, and of those in it, by their paths.
    pub(super) attributes: BTreeMap<String, String>,
    /// Whether any of the arrays is of version 2.
    pub(super) has_v2: bool,
}

/// Looks for all arrays in the group that a store is.
///
/// # Errors
/// There are more folders than are looked at; listing or reading fails.
pub(super) fn walk(store: &dyn ReadableStore) -> Result<Group> {
    let mut group = Group { arrays: Vec::new(), attributes: BTreeMap::new(), has_v2: false };
    let (mut pending, mut seen) = (vec![(String::new(), 0)], 0_usize);
    while let Some((path, depth)) = pending.pop() {
        let own = metadata::group_attributes(store, &path);
        if let Some(own) = own.map_err(|error| if path.is_empty() { error } else { error.within(path.clone()) })? {
            group.attributes.insert(path.clone(), own);
        }
        // hidden folders are nobody's members
        for own in store.prefixes(&path)?.into_iter().filter(|own| !own.starts_with('.')) {
            seen += 1;
            ensure!(seen <= MOST_FOLDERS, "more than {MOST_FOLDERS} folders");
            let name = join(&path, &own);
            match metadata::node(store, &name) {
                Ok(None) => {}
                Ok(Some(node)) if node.is_group => {
                    ensure!(depth < MOST_DEPTH, "groups in groups deeper than {MOST_DEPTH}");
                    pending.push((name, depth + 1));
                }
                // an array that is damaged is refused when it is read, and the others can be read
                found => {
                    group.has_v2 |= found.is_ok_and(|node| node.is_some_and(|node| node.is_v2));
                    group.arrays.push(name);
                }
            }
        }
    }
    group.arrays.sort();
    Ok(group)
}

/// Checks that the name of a member of a group, which is its prefix there, leads nowhere else.
///
/// # Errors
/// A name that does.
pub(super) fn check_member(name: &str) -> Result<()> {
    let plain = !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    ensure!(plain && !name.contains(['\0', '\\']), "no tensor {name:?}");
    Ok(())
}
