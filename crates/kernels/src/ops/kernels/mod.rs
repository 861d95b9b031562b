//! What operators share that run in memory of the caller, on arrays of any type and layout, and on bytes with a dtype of
//! run time.
//!
//! A resolved operator with its operands is an [`Output`], which fills any window that is contiguous in C order, or
//! [`Scattered`] updates. New arrays, arrays of the caller and byte buffers are filled by these two alone:
//!
//! ```text
//! new array    | windows of new memory, one after the other, each filled while it is in the cache
//! C order      | all at once, or a window for each thread
//! other layout | windows in C order, from which the items are assigned to their places
//! in place     | the blocks that are named
//! ```
//!
//! [`Items`] say how items consist of elements: an item of an array is one element of its type, an item of bytes is a
//! row of bytes, or a word `[u8; N]` where single items are moved.

mod changed;
mod gathered;
mod output;
mod strided;

pub(super) use self::changed::{Changed, Scattered, put_slice};
pub(super) use self::gathered::{Places, gather_run};
pub(super) use self::output::{Output, check_output, copied, copy_into, gathered};
pub(super) use self::strided::{Items, Strided};
