//! The members that the walk of a model finds.

use super::repeated_names::numbered;
use crate::error::{Result, ensure};

const MAX_MEMBERS: usize = 1 << 20;

/// The most bytes of all names, which repeat the names of the groups around the tensors.
const MAX_NAMES: usize = 1 << 26;

/// The name of each member with a value of the reader.
#[derive(Debug)]
pub(super) struct MemberList<T> {
    names: Vec<String>,
    members: Vec<T>,
    bytes: usize,
}

impl<T> Default for MemberList<T> {
    fn default() -> Self {
        Self { names: Vec::new(), members: Vec::new(), bytes: 0 }
    }
}

impl<T> MemberList<T> {
    pub(super) fn add(&mut self, name: String, member: T) -> Result<()> {
        self.bytes += name.len();
        ensure!(self.names.len() < MAX_MEMBERS, "more than {MAX_MEMBERS} tensors");
        ensure!(self.bytes <= MAX_NAMES, "names of more than {MAX_NAMES} bytes");
        self.names.push(name);
        self.members.push(member);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Each name is there once.
    pub(super) fn into_parts(self) -> (Vec<String>, Vec<T>) {
        (numbered(self.names), self.members)
    }
}
