//! Strings of formats that do not store a width: JSON, CSV, ONNX tensors.

use super::Source;
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;

impl Source {
    /// Takes a tensor in memory whose format does not store the width of strings, so that an operator may make them wider.
    pub fn with_free_width(tensor: Tensor, label: String) -> Self {
        let has_free_width = matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
        Self { has_free_width, ..Self::memory(tensor, label) }
    }

    /// Returns whether an operator may make the strings wider.
    pub fn has_free_width(&self) -> bool {
        self.has_free_width
    }
}
