//! Strings without a stored width (JSON, CSV, ONNX), and text without a dtype.

use super::Source;
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;

impl Source {
    /// Takes a tensor in memory whose strings an operator may widen.
    pub fn with_free_width(tensor: Tensor, label: String) -> Self {
        let has_free_width = matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
        Self { has_free_width, ..Self::memory(tensor, label) }
    }

    /// Takes a tensor in memory whose dtype was inferred from the items of a text.
    pub fn inferred(tensor: Tensor, label: String) -> Self {
        Self { is_inferred: true, ..Self::with_free_width(tensor, label) }
    }

    pub fn is_inferred(&self) -> bool {
        self.is_inferred
    }

    pub fn has_free_width(&self) -> bool {
        self.has_free_width
    }
}
