//! File formats, one a file: read and written. None of them knows an operator.
//!
//! - [`interface`]: what a format is to the rest, a [`Reader`](interface::Reader) and a [`Writer`](interface::Writer).
//! - A file or a folder for each format, which implements the two.
//! - `rows`: the table, which has a row for each format, and `table`: a row as the rest of the program knows it.
//! - [`located`]: what a path means, decided once.
//! - What uses the table: [`open`] and [`write`], on which [`files`], [`collection`] and [`rewrite`] stand.

#[cfg(any(feature = "onnx", feature = "safetensors"))]
mod beside;
pub mod beside_index;
mod chosen_members;
pub mod chunk_codec;
pub mod collection;
pub mod content;
#[cfg(feature = "csv")]
mod csv;
pub mod dims;
pub mod dump_views;
mod dumps;
pub mod files;
pub mod folder;
mod folder_index;
mod folder_model;
mod folder_reader;
mod foreign;
pub mod glob;
#[cfg(feature = "safetensors")]
mod index;
pub mod index_faults;
#[cfg(feature = "safetensors")]
pub mod index_name;
pub mod interface;
pub mod json;
mod json_object;
pub mod located;
pub mod name_filter;
pub mod name_order;
mod narrow_bytes;
mod narrow_view;
#[cfg(feature = "npy")]
pub mod npy;
#[cfg(feature = "npy")]
pub mod npy_append;
#[cfg(feature = "npy")]
mod npy_file;
#[cfg(feature = "npy")]
pub mod npy_header;
#[cfg(feature = "npy")]
mod npy_literal;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(feature = "safetensors")]
mod numbered;
mod objects;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod open;
pub mod opened;
pub mod packed;
mod plain;
pub mod python_json;
pub mod raw;
pub mod remote;
pub mod rewrite;
mod rows;
#[cfg(feature = "safetensors")]
pub mod safetensors;
#[cfg(feature = "safetensors")]
mod safetensors_entries;
#[cfg(feature = "safetensors")]
pub mod shards;
pub mod sides;
pub mod stored_dtype;
mod table;
pub mod text;
pub mod typed_pair;
pub mod values;
pub mod write;
#[cfg(feature = "zarr")]
mod zarr;

pub use self::interface::{FileOptions, Unchangeable};
pub use self::table::Format;
#[cfg(feature = "cli")]
pub(crate) use self::table::containers;
