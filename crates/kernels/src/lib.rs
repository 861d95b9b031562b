//! The tensor operators of OpenVINO and ONNX, exactly as specified, on [`ndarray`] arrays and on bytes of any dtype.
//!
//! ```
//! use ndarray::array;
//! use tensorop_kernels::slice_scatter;
//!
//! let data = array![[1.0_f32, 2.0], [3.0, 4.0]];
//! let patched = slice_scatter(&data, &array![[0.0, 0.5]], &":1".parse()?)?;
//! assert_eq!(patched, array![[0.0, 0.5], [3.0, 4.0]]);
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
//! take and return [`ndarray`] arrays of any layout. [`SliceArgs`] are slices, parsed from NumPy's notation, built axis
//! by axis, or taken from ndarray's `s![…]`.
//!
//! Functions that end in `_into`, such as [`slice_into`], fill an array of the caller of any layout. Those that end in
//! `_in_place`, such as [`slice_scatter_in_place`], change the caller's data and touch only the items that are named.
//! [`kernel`] has all operators on bytes with a dtype of run time, for runtimes with nodes, buffers and threads of their
//! own: shapes are inferred without data, tensors may have strides, and constants are resolved once. Results beyond
//! memory are errors ([`ErrorKind::Memory`](error::ErrorKind::Memory)).
//!
//! The operators are made of the other modules: [`item`] has dtypes, values, casts and tensors, [`layout`] views
//! of storage, windows and copies between them, [`ops`] the resolved operators, [`parallel`] the threads, and [`memory`]
//! allocation that can fail. They may change in any version.
//!
//! # Features
//!
//! With `system`, large buffers are in huge pages on Linux; this adds a package.
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
//! | `ops/` | `operators/` has a file for each operator: checks and kernel; Slice, SliceScatter and replacement are beside it; `call` has all operators as values; and, in its folder, by specification and version; `indexed` resolves index tensors; `kernels/` fills outputs and changes data in memory of the caller, and `runtime/` has the operators there: `_into`, `_in_place`, and on bytes | `item` |
//! | `item/` | dtypes, tensors, and the values, texts and casts of items | `layout` |
//! | `layout/` | axes, views of storage, windows, segments of axes, the copy loop, gathering | `parallel` |
//! | `parallel.rs` | all threads | `memory` |
//! | `memory.rs` | fallible allocation | `error` |
//! | `error.rs` | the error type | |
//!
//! Words in `ops/` and `layout/`:
//!
//! | word | meaning |
//! | --- | --- |
//! | operand | an input tensor of an operator |
//! | box | a range of places on each axis of a tensor |
//! | window | a box that is filled at once |
//! | segment | places of an output axis: a range of data places in either direction, one repeated place, or filled places |
//! | piece | items or bytes contiguous in storage, read or written by one call |
//! | tile | a box in another storage order, with sides that make both read and written pieces long |

#![forbid(unsafe_code)]

pub mod error;
pub mod item;
pub mod layout;
pub mod memory;
pub mod ops;
pub mod parallel;

#[doc(inline)]
pub use self::{
    error::Error,
    item::dtype::DType,
    item::element::Element,
    item::meta::{Meta, Order},
    item::tensor::Tensor,
    layout::axis::{Span, StepRange},
    memory::OutOfMemory,
    ops::condition::Condition,
    ops::indexed::Index,
    ops::operators::broadcast::{BroadcastRule, broadcast, broadcast_into},
    ops::operators::concat::{concat, concat_into, stack, stack_into},
    ops::operators::gather::{gather, gather_into, gather_or_zero, gather_or_zero_into},
    ops::operators::gather_elements::{gather_elements, gather_elements_into},
    ops::operators::gather_nd::{gather_nd, gather_nd_into},
    ops::operators::pad::{PadMode, pad, pad_into},
    ops::operators::reshape::{NewShape, reshape, reshape_into},
    ops::operators::roll::{roll, roll_into},
    ops::operators::scatter_elements::{
        scatter_elements, scatter_elements_in_place, scatter_elements_into, scatter_elements_reduce,
        scatter_elements_reduce_in_place, scatter_elements_reduce_into,
    },
    ops::operators::scatter_nd::{
        scatter_nd, scatter_nd_in_place, scatter_nd_into, scatter_nd_reduce, scatter_nd_reduce_in_place,
        scatter_nd_reduce_into,
    },
    ops::operators::scatter_update::{scatter_update, scatter_update_in_place, scatter_update_into},
    ops::operators::split::{SplitInto, split, split_into},
    ops::operators::tile::{tile, tile_into},
    ops::operators::transpose::{transpose, transpose_into},
    ops::reduction::{Reducible, Reduction},
    ops::replace::{replace_where, replace_where_in_place},
    ops::slice::{SliceArgs, slice, slice_into},
    ops::slice_scatter::{slice_scatter, slice_scatter_in_place, slice_scatter_into},
};

/// Operators on bytes of the caller, with a dtype of run time: for runtimes that have their own buffers.
///
/// A [`Call`](kernel::Call) is an operator with its arguments. [`infer`](kernel::Call::infer) resolves it by the dtypes
/// and shapes of its inputs, without their data, and returns a [`Kernel`](kernel::Kernel), which states dtype and shape
/// of the output. [`apply`](kernel::Kernel::apply) runs it on buffers, and
/// [`apply_in_place`](kernel::Kernel::apply_in_place) changes the buffer of the data. Any dtype is possible; strings and
/// structured items are moved as bytes.
///
/// ```
/// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
/// use tensorop_kernels::{DType, Meta, PadMode};
/// let text = DType::parse("S2")?;
/// let (before, after) = (vec![1], vec![0]);
/// let pad = Call::Pad { before, after, axes: None, mode: PadMode::Constant };
/// let kernel = pad.infer(&[Meta::new(text.clone(), vec![2])?, Meta::new(text.clone(), vec![])?])?;
/// let mut out = vec![0; kernel.bytes()];
/// let inputs = [TensorRef::new(&text, &[2], b"aabb")?, TensorRef::new(&text, &[], b"--")?];
/// kernel.apply(&inputs, TensorMut::new(kernel.dtype(), kernel.shape(), &mut out)?, 1)?;
/// assert_eq!(out, b"--aabb");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
pub mod kernel {
    #[doc(inline)]
    pub use crate::ops::{
        call::{AttributeValue, Call, nodes::Attributes},
        indexed::OutOfRange,
        operators::concat::Joining,
        reduction::Repeats,
        runtime::{Kernel, Part, TensorMut, TensorRef, replace_where},
    };
}

/// The parts of a [`DType`]: item kinds, fields of structured dtypes, time units.
pub mod dtype {
    #[doc(inline)]
    pub use crate::item::{
        datetime::{TimeBase, TimeUnit},
        dtype::{Field, Kind, Narrow, Struct},
    };
}
