//! The tensor operators of OpenVINO and ONNX, exactly as specified, on [`ndarray`] arrays and on bytes of any dtype.
//!
//! ```
//! use ndarray::array;
//! use tensorop_kernels::slice_scatter;
//!
//! let data = array![[1.0_f32, 2.0], [3.0, 4.0]];
//! let patched = slice_scatter(&data, &array![[0.0, 0.5]], &":1".parse()?)?;
//! assert_eq!(patched, array![[0.0, 0.5], [3.0, 4.0]].into_dyn());
//! # Ok::<(), tensorop_kernels::Error>(())
//! ```
//!
//! # The operators
//!
//! [`slice()`] (OpenVINO Slice-8), [`slice_scatter()`] (OpenVINO SliceScatter-15), [`scatter_update()`] (OpenVINO
//! ScatterUpdate-3), [`scatter_nd()`] and [`scatter_nd_reduce()`] (ONNX ScatterND 11 to 18, OpenVINO
//! ScatterNDUpdate-15), [`scatter_elements()`] and [`scatter_elements_reduce()`] (ONNX ScatterElements 11 to 18,
//! OpenVINO ScatterElementsUpdate-12), [`gather()`] and [`gather_or_zero()`] (OpenVINO Gather-8, ONNX Gather-13),
//! [`gather_nd()`] (ONNX GatherND-13, OpenVINO GatherND-8), [`gather_elements()`] (ONNX GatherElements-13, OpenVINO
//! GatherElements-6), [`concat()`] and [`stack()`] (ONNX Concat 4 to 13, OpenVINO Concat-1, ONNX ConcatFromSequence),
//! [`transpose()`] (ONNX Transpose, OpenVINO Transpose-1), [`reshape()`] (Reshape, Squeeze, Unsqueeze and Flatten of
//! ONNX and OpenVINO), [`pad()`] (ONNX Pad 2 to 25, OpenVINO Pad-1 and -12), [`tile()`] (ONNX Tile, OpenVINO Tile-1),
//! [`roll()`] (OpenVINO Roll-7), [`broadcast()`] (ONNX Expand, OpenVINO Broadcast-1 and -3), [`split()`] (ONNX Split,
//! OpenVINO Split-1 and VariadicSplit-1) and [`replace_where()`] (one value for all items that meet a [`Condition`])
//! take and return [`ndarray`] arrays of any layout. [`SliceArgs`] are slices, parsed from NumPy's notation or built
//! axis by axis.
//!
//! # Features
//!
//! `system` uses what standard Rust lacks: memory in huge pages, copies and marks of Linux, unnamed files.
//!
//! # How the source is organised
//!
//! Every operator is **resolved, then applied**. Resolving checks everything and returns only numbers in range;
//! applying cannot fail. So all refusals precede the first write, and the same code runs an operator on a whole tensor
//! or on a window, in memory or in a file. Operators that only move items know the item size, not the dtype, and
//! preserve every bit; only reductions compute with numbers.
//!
//! A row may import the rows that its last column names, and their imports.
//!
//! | row | content | imports |
//! | --- | --- | --- |
//! | `ops/` | a file per operator: checks, kernel and windows; `call` has all operators as values; `indexed/` has index tensors, scatters and gathers | `storage` |
//! | `storage/` | bytes by position, values by key; sources of items, chunks, streams; attachments (container content beside the tensors); `platform/` system calls | `item` |
//! | `item/` | dtypes, tensors, and the values, texts and casts of items | `layout` |
//! | `layout/` | axes, views of storage, windows, segments of axes, the copy loop, gathering | `parallel` |
//! | `parallel.rs` | all threads | `memory` |
//! | `memory.rs` | fallible allocation | `error` |
//! | `error.rs` | the error type | |
//!
//! - An **operator** with its arguments is a [`Call`](ops::call::Call). Linked to its operands it is a
//!   [`Fill`](ops::fill::Fill): it states an [`Access`](ops::access::Access) per operand and fills any window of its
//!   output. The engine names no operator.
//!
//! Words in `engine/`, `ops/`, `layout/` and `storage/`:
//!
//! | word | meaning |
//! | --- | --- |
//! | operand | an input tensor of an operator |
//! | source | the origin of items: a file, a server, chunks, memory or a stream |
//! | sink | the receiver of the output's windows |
//! | box | a range of places on each axis of a tensor |
//! | window | a box of the output that is filled and sent to a sink at once |
//! | segment | places of an output axis: a range of data places in either direction, one repeated place, or filled places |
//! | region | the unit of filling: a window, or a run of items that may start and end within rows |
//! | unit | a box stored as one value under one key: a chunk or a shard of chunks |
//! | grain | the smallest readable box: a decoded chunk, or a page of a file |
//! | slab | a box of several windows held in memory, so that its grains are read once |
//! | piece | items or bytes contiguous in storage, read or written by one call |
//! | tile | a box in another storage order, with sides that make both read and written pieces long |
//! | sweep | one pass over an index tensor that keeps the entries for a range of places |

#![forbid(unsafe_code)]

pub mod error;
#[doc(hidden)]
pub mod item;
#[doc(hidden)]
pub mod layout;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod ops;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod storage;

pub use error::Error;
pub use item::dtype::DType;
pub use item::element::Element;
pub use item::meta::{Meta, Order};
pub use item::tensor::Tensor;
pub use layout::axis::{Span, StepRange};
pub use ops::broadcast::{BroadcastRule, broadcast};
pub use ops::concat::{concat, stack};
pub use ops::condition::Condition;
pub use ops::gather::{gather, gather_or_zero};
pub use ops::gather_elements::gather_elements;
pub use ops::gather_nd::gather_nd;
pub use ops::indexed::Index;
pub use ops::pad::{PadMode, pad};
pub use ops::reduction::{Reducible, Reduction};
pub use ops::replace::replace_where;
pub use ops::reshape::{NewShape, reshape};
pub use ops::roll::roll;
pub use ops::scatter_elements::{scatter_elements, scatter_elements_reduce};
pub use ops::scatter_nd::{scatter_nd, scatter_nd_reduce};
pub use ops::scatter_update::scatter_update;
pub use ops::slice::{SliceArgs, slice};
pub use ops::slice_scatter::slice_scatter;
pub use ops::split::{SplitInto, split};
pub use ops::tile::tile;
pub use ops::transpose::transpose;

/// The parts of a [`DType`]: item kinds, fields of structured dtypes, time units.
pub mod dtype {
    pub use crate::item::dtype::{Field, Kind, Narrow, Struct};
    pub use crate::item::time_unit::{TimeBase, TimeUnit};
}
