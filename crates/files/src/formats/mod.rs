//! A file or a folder for each format.

pub(crate) mod csv;
pub mod gguf;
pub mod index;
pub mod json;
pub mod npy;
pub mod npz;
pub mod onnx;
pub(crate) mod openvino;
pub mod raw;
pub mod safetensors;
pub mod text;
pub(crate) mod torch;
#[cfg(feature = "zarr")]
pub(crate) mod zarr;
