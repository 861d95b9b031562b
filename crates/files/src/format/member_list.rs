//! Names of members: repeated ones, and the list that the walk of a model fills.

use std::collections::{HashMap, HashSet};

use crate::error::{Result, ensure};

/// Appends `#2`, `#3` to the second and third of equal names, except where another member has that name.
pub(super) fn numbered(mut names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    let repeated: Vec<usize> = (0..names.len()).filter(|n| !taken.insert(names[*n].clone())).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    for n in repeated {
        let number = next.entry(names[n].clone()).or_insert(2);
        let name = loop {
            let name = format!("{}#{number}", names[n]);
            *number += 1;
            if taken.insert(name.clone()) {
                break name;
            }
        };
        names[n] = name;
    }
    names
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_occurs_once() {
        let rows: [(&str, &str); 4] =
            [("a b", "a b"), ("a a b a", "a a#2 b a#3"), ("a a#2 a a a#2", "a a#2 a#3 a#4 a#2#2"), ("", "")];
        for (given, expected) in rows {
            let given = given.split_whitespace().map(str::to_owned).collect();
            assert_eq!(numbered(given).join(" "), expected);
        }
    }
}
