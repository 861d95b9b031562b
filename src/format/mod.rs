//! File formats, one a file: read and written. None of them knows an operator.

pub mod json;
pub mod npy;
pub mod npz;
pub mod onnx;
pub mod open;
pub mod packed;
pub mod safetensors;
pub mod text;

/// A format that tensors are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// NumPy's `.npy`.
    Npy,
    /// NumPy's `.npz`: a ZIP archive of `.npy` files.
    Npz,
    /// safetensors.
    Safetensors,
    /// An ONNX TensorProto, `.pb`.
    Onnx,
    /// JSON.
    Json,
}

impl Format {
    /// The name that `info` prints.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Onnx => "onnx",
            Format::Json => "json",
        }
    }
}
