//! The verdict on each of many tensors that are compared by name.

use super::difference::{Difference, Outline};

/// The verdict on a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TensorVerdict {
    /// All items are the same.
    Same,
    /// Items differ but pass.
    Within,
    /// The tensor fails.
    Different,
    /// Only the expected side has it.
    Missing,
    /// Only the actual side has it.
    Extra,
    /// One side cannot be read.
    Unreadable,
}

impl TensorVerdict {
    pub(super) const ALL: [Self; 6] =
        [Self::Same, Self::Within, Self::Different, Self::Missing, Self::Extra, Self::Unreadable];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        ["same", "within", "different", "missing", "extra", "unreadable"][self as usize]
    }

    /// Whether models with this verdict can be equal.
    pub fn passes(self) -> bool {
        matches!(self, Self::Same | Self::Within)
    }

    pub(super) fn rank(self) -> usize {
        let worst_first = [Self::Different, Self::Unreadable, Self::Missing, Self::Extra, Self::Within, Self::Same];
        worst_first.iter().position(|verdict| *verdict == self).expect("all verdicts are in the list")
    }
}

/// A tensor on one side only.
#[derive(Clone, Debug, PartialEq)]
pub struct LoneTensor {
    /// The dtype and shape.
    pub outline: Outline,
    /// A tensor with the same bytes that only the other side has.
    pub renamed: Option<String>,
}

/// The result for one tensor name.
#[derive(Clone, Debug)]
pub enum NamedResult {
    /// Both sides have it.
    Both(Box<Difference>),
    /// Only the expected side has it.
    Missing(LoneTensor),
    /// Only the actual side has it.
    Extra(LoneTensor),
    /// Why it cannot be read.
    Unreadable(String),
    /// Why the expected tensor cannot be read, if the actual one may replace it.
    Damaged(String),
    /// A file or member on both sides that is not read, with the same bytes.
    SameBytes,
}

impl NamedResult {
    /// The verdict.
    pub fn verdict(&self) -> TensorVerdict {
        match self {
            NamedResult::Missing(_) => TensorVerdict::Missing,
            NamedResult::Extra(_) => TensorVerdict::Extra,
            NamedResult::Unreadable(_) => TensorVerdict::Unreadable,
            NamedResult::Damaged(_) => TensorVerdict::Different,
            NamedResult::Both(found) if !found.equal() => TensorVerdict::Different,
            NamedResult::Both(found) if found.differing() > Some(0) => TensorVerdict::Within,
            NamedResult::Both(_) | NamedResult::SameBytes => TensorVerdict::Same,
        }
    }
}
