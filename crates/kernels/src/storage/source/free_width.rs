//! Strings without a stored width: JSON, CSV, ONNX.

use super::Source;
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;

impl Source {
    /// Takes a tensor in memory whose strings an operator may widen.
    pub fn with_free_width(tensor: Tensor, label: String) -> Self {
        let has_free_width = matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
        Self { has_free_width, ..Self::memory(tensor, label) }
    }

    pub fn has_free_width(&self) -> bool {
        self.has_free_width
    }
}
