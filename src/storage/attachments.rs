//! Content of a container that is not a tensor, such as a JSON file in a `.npz`.
//!
//! An output refuses to replace a container if its attachments would be lost. A comparison of two containers compares
//! their attachments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io::Read;

use crate::error::Result;

const COMPARED_BYTES: u64 = 1 << 16;

/// The content of a container that is not a tensor. Each attachment has a name and bytes.
pub trait Attachments: Debug + Send + Sync {
    /// Returns the names of all attachments, each once. The first call may search the container.
    fn names(&self) -> Result<&[String]>;

    /// Returns the names of the attachments that describe the container. Unlike [`names`](Self::names), it may omit
    /// attachments that only a look at all members would find.
    fn listed(&self) -> Result<&[String]> {
        self.names()
    }

    /// Opens attachment `n` of [`names`](Self::names).
    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>>;

    /// Opens the stored bytes of attachment `n` with the parameters of their decoder. `None` if they are not encoded.
    fn open_stored(&self, _: usize) -> Result<Option<Box<dyn Read + '_>>> {
        Ok(None)
    }
}

/// Returns the names of attachments that differ or that only one container has. Attachments that cannot be decoded are
/// compared by their stored bytes; unreadable attachments differ.
///
/// # Errors
/// The attachments cannot be listed.
pub fn differing(expected: &dyn Attachments, actual: &dyn Attachments) -> Result<BTreeSet<String>> {
    let numbers = |names: &[String]| names.iter().cloned().zip(0..).collect::<BTreeMap<String, usize>>();
    let [ours, theirs] = [numbers(expected.names()?), numbers(actual.names()?)];
    let is_same = |name: &str| match (ours.get(name), theirs.get(name)) {
        (Some(one), Some(other)) => {
            let decoded = have_same_bytes(expected.open(*one), actual.open(*other));
            decoded.or_else(|_| have_same_stored([(expected, *one), (actual, *other)])).unwrap_or(false)
        }
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    Ok(ours.keys().chain(theirs.keys()).filter(|name| !is_same(name)).cloned().collect())
}

fn have_same_stored([(expected, one), (actual, other)]: [(&dyn Attachments, usize); 2]) -> Result<bool> {
    match (expected.open_stored(one)?, actual.open_stored(other)?) {
        (Some(ours), Some(theirs)) => have_same_bytes(Ok(ours), Ok(theirs)),
        (Some(_), None) | (None, Some(_)) | (None, None) => Ok(false),
    }
}

fn have_same_bytes(expected: Result<impl Read>, actual: Result<impl Read>) -> Result<bool> {
    let (mut expected, mut actual) = (expected?, actual?);
    loop {
        let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
        expected.by_ref().take(COMPARED_BYTES).read_to_end(&mut ours)?;
        actual.by_ref().take(COMPARED_BYTES).read_to_end(&mut theirs)?;
        if ours != theirs || ours.is_empty() {
            return Ok(ours == theirs);
        }
    }
}
