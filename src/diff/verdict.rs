//! The verdict on each of many tensors that are compared by name.

use super::difference::{Difference, Outline};

/// The verdict on a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TensorVerdict {
    /// Both sides have it, and all items are the same.
    Same,
    /// Both have it, and what differs passes.
    Within,
    /// Both have it, and it does not pass.
    Different,
    /// Only the expected side has it.
    Missing,
    /// Only the actual side has it.
    Extra,
    /// It cannot be read on one of the sides that have it.
    Unreadable,
}

impl TensorVerdict {
    pub(super) const ALL: [Self; 6] =
        [Self::Same, Self::Within, Self::Different, Self::Missing, Self::Extra, Self::Unreadable];

    /// Returns the name that JSON uses.
    pub fn name(self) -> &'static str {
        ["same", "within", "different", "missing", "extra", "unreadable"][self as usize]
    }

    /// Returns whether models with such a tensor can be equal.
    pub fn passes(self) -> bool {
        matches!(self, Self::Same | Self::Within)
    }

    /// Returns the place among the lines of a report: the worst come first.
    pub(super) fn rank(self) -> usize {
        let worst_first = [Self::Different, Self::Unreadable, Self::Missing, Self::Extra, Self::Within, Self::Same];
        worst_first.iter().position(|verdict| *verdict == self).expect("all verdicts are in the list")
    }
}

/// A tensor that only one side has.
#[derive(Clone, Debug, PartialEq)]
pub struct LoneTensor {
    /// Its dtype and shape.
    pub outline: Outline,
    /// The name of a tensor of the same bytes that only the other side has, if one was found.
    pub renamed: Option<String>,
}

/// The result of comparing the tensors of one name.
#[derive(Clone, Debug)]
pub enum NamedResult {
    /// Both sides have it.
    Both(Box<Difference>),
    /// Only the expected side has it.
    Missing(LoneTensor),
    /// Only the actual side has it.
    Extra(LoneTensor),
    /// It cannot be read, and why.
    Unreadable(String),
    /// Both sides have it as a file that is not read, and the files have the same bytes.
    SameFile,
}

impl NamedResult {
    /// Returns the verdict.
    pub fn verdict(&self) -> TensorVerdict {
        match self {
            NamedResult::Missing(_) => TensorVerdict::Missing,
            NamedResult::Extra(_) => TensorVerdict::Extra,
            NamedResult::Unreadable(_) => TensorVerdict::Unreadable,
            NamedResult::Both(found) if !found.equal() => TensorVerdict::Different,
            NamedResult::Both(found) if found.differing() > Some(0) => TensorVerdict::Within,
            NamedResult::Both(_) | NamedResult::SameFile => TensorVerdict::Same,
        }
    }
}
