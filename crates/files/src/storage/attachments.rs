//! Content of a container that is not a tensor, such as a JSON file in a `.npz`. Writers refuse to lose attachments,
//! and comparisons include them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io::Read;

use tensorop_kernels::error::Result;

const COMPARED_BYTES: u64 = 1 << 16;

/// Named bytes of a container that are not tensors.
pub trait Attachments: Debug + Send + Sync {
    /// The first call may search the container.
    fn names(&self) -> Result<&[String]>;

    /// May omit attachments that only a look at all members would find.
    fn listed(&self) -> Result<&[String]> {
        self.names()
    }

    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>>;

    /// Opens the stored bytes with the parameters of their decoder; `None` if they are not encoded.
    fn open_stored(&self, _: usize) -> Result<Option<Box<dyn Read + '_>>> {
        Ok(None)
    }
}

/// Returns the names that differ or are on one side only. Attachments that cannot be decoded are compared as stored;
/// unreadable ones differ.
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
