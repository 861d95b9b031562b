//! Plans: how an output is cut, read and held, as a value that is decided before the first window is filled.
//!
//! A [`Plan`] is a pure function of what an operator [states](crate::ops::access) of its operands, of what takes the output, and of
//! limits. It is one of several ways, which a [`Planner`](super::planner::Planner) lists and compares. An operator is prepared
//! before, which may read operands: a stream that is needed in another order, or a few updates that are transposed in memory. A
//! [`Job`](super::job::Job) carries the plan out, and finishes the operator when all windows are filled.
//!
//! For example, DATA of float32 `[4096, 4096]` lies in C order, and UPDATES of half as many bytes in Fortran order. Windows of
//! whole rows would read 4096 short pieces of UPDATES each. So boxes are tried that are as wide as the output, or narrower and
//! higher: of `[512, 4096]` each is one write, and reads UPDATES in pieces of 1 or 2 KiB. These cost the least.

use super::cut::Cut;
use crate::layout::window::Windows;

/// How an output is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is handed to a sink at a time.
    pub cut: Cut,
    /// The sides of the boxes that are held in memory as a whole, so that what is read for several windows is read once; `None`
    /// where each window is filled by itself.
    pub hold: Option<Vec<usize>>,
    /// Whether the output goes through a temporary file, from which it is read in order.
    pub is_spooled: bool,
    /// How many threads share the work.
    pub threads: usize,
}

/// A cut, with the sides of the boxes that are held for it, as in a [`Plan`].
pub(super) type HeldCut = (Cut, Option<Vec<usize>>);

/// What takes an output, as far as a plan depends on it.
#[derive(Clone, Copy)]
pub enum Takes<'a> {
    /// A file that takes items anywhere.
    File {
        /// Where the first item lies in the file, in bytes; `None` if items share bytes.
        base: Option<u64>,
    },
    /// A stream, which takes items in order.
    Stream,
    /// What wants these windows.
    Windows(&'a Windows),
}
