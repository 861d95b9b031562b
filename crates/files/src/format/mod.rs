//! File formats. They do not depend on operators.
//!
//! - [`interface`]: the traits [`Reader`](interface::Reader) and [`Writer`](interface::Writer), which a file or a
//!   folder for each format implements, and the [`Members`](interface::Members) of an open file.
//! - `rows` and `table`: the table of formats.
//! - [`located`]: the meaning of a path.
//! - [`open`], [`write`], [`files`], [`collection`] and [`rewrite`] use the table.

mod beside;
pub mod collection;
pub mod content;
mod csv;
pub mod dump_views;
mod dumps;
pub mod file_options;
pub mod files;
pub mod folder;
mod folder_model;
mod folder_reader;
mod foreign;
pub mod gguf;
pub mod glob;
pub mod index;
pub mod interface;
pub mod json;
mod lazy_content;
pub mod located;
mod member_list;
pub mod name_filter;
pub mod name_order;
mod narrow_bytes;
mod narrow_view;
pub mod npy;
pub mod npy_file;
mod npy_literal;
pub mod npz;
mod numbered;
mod objects;
pub mod onnx;
pub mod open;
pub mod opened;
mod openvino;
pub mod packed;
pub mod python_json;
pub mod quantized;
pub mod raw;
pub mod remote;
pub mod rewrite;
mod rows;
pub mod safetensors;
mod safetensors_entries;
pub mod shards;
pub mod sides;
pub mod stored_dtype;
mod table;
pub mod text;
mod torch;
mod units;
pub mod values;
pub mod write;
#[cfg(feature = "zarr")]
mod zarr;

pub use self::file_options::{FileOptions, Inherited};
pub use self::interface::Unchangeable;
pub use self::table::{Format, containers};
