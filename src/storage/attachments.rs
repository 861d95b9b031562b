//! Content of a container that is not a tensor, such as a JSON file in a `.npz`.
//!
//! A container lists its attachments for everybody who asks: what replaces the container refuses to lose them, and what
//! compares two containers compares them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io::Read;

use crate::error::Result;

/// The bytes of two attachments that are compared at a time.
const COMPARED_BYTES: u64 = 1 << 16;

/// The content of a container that is not a tensor: an attachment has a name and bytes.
pub trait Attachments: Debug + Send + Sync {
    /// Returns the names of all attachments, each once. A container that has to search for them does that in the first call.
    ///
    /// # Errors
    /// The search fails.
    fn names(&self) -> Result<&[String]>;

    /// Returns the names of attachments that describe the container, in which some may be missing that are found only by a look
    /// at all that belongs to its tensors.
    ///
    /// # Errors
    /// The search fails.
    fn listed(&self) -> Result<&[String]> {
        self.names()
    }

    /// Opens the bytes of the attachment whose name is the `n`-th of [`names`](Self::names).
    ///
    /// # Errors
    /// The attachment cannot be opened.
    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>>;
}

/// Returns the names of attachments that differ between two containers, or that only one of them has. An attachment that
/// cannot be read differs, since nobody knows that it is the same.
///
/// # Errors
/// The attachments cannot be listed.
pub fn differing(expected: &dyn Attachments, actual: &dyn Attachments) -> Result<BTreeSet<String>> {
    let numbers = |names: &[String]| names.iter().cloned().zip(0..).collect::<BTreeMap<String, usize>>();
    let [ours, theirs] = [numbers(expected.names()?), numbers(actual.names()?)];
    let is_same = |name: &str| match (ours.get(name), theirs.get(name)) {
        (Some(one), Some(other)) => have_same_bytes([(expected, *one), (actual, *other)]).unwrap_or(false),
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    Ok(ours.keys().chain(theirs.keys()).filter(|name| !is_same(name)).cloned().collect())
}

/// Returns whether two attachments have the same bytes.
fn have_same_bytes([(expected, one), (actual, other)]: [(&dyn Attachments, usize); 2]) -> Result<bool> {
    let mut readers = [expected.open(one)?, actual.open(other)?];
    loop {
        let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
        let [one, other] = &mut readers;
        one.take(COMPARED_BYTES).read_to_end(&mut ours)?;
        other.take(COMPARED_BYTES).read_to_end(&mut theirs)?;
        if ours != theirs || ours.is_empty() {
            return Ok(ours == theirs);
        }
    }
}
