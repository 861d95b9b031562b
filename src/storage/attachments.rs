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

    /// Opens the bytes of that attachment as they are stored, with all that decides how they are decoded. `None` if they are
    /// stored as they are.
    ///
    /// # Errors
    /// The attachment cannot be found.
    fn open_stored(&self, _: usize) -> Result<Option<Box<dyn Read + '_>>> {
        Ok(None)
    }
}

/// Returns the names of attachments that differ between two containers, or that only one of them has. Attachments that
/// cannot be decoded are the same if their stored bytes are. One that cannot be read at all differs.
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

/// Returns whether two readers give the same bytes.
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
