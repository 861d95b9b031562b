//! The dtypes of PyTorch, by the names of classes and of `torch.dtype`.

use crate::item::dtype::{DType, Kind};

/// Returns the dtype of the items of a storage by its class, also of the integers of quantised items.
pub(super) fn dtype_of_storage(class: &str) -> Option<DType> {
    let (_, class) = class.rsplit_once('.').filter(|(module, _)| module.starts_with("torch"))?;
    let kind = match class.strip_suffix("Storage")? {
        "Double" => Kind::Float64,
        "Float" => Kind::Float32,
        "Half" => Kind::Float16,
        "BFloat16" => Kind::BFloat16,
        "Long" => Kind::Int64,
        "Int" | "QInt32" => Kind::Int32,
        "Short" => Kind::Int16,
        "Char" | "QInt8" => Kind::Int8,
        "Byte" | "Untyped" | "QUInt8" | "QUInt4x2" | "QUInt2x4" => Kind::UInt8,
        "Bool" => Kind::Bool,
        "ComplexDouble" => Kind::Complex128,
        "ComplexFloat" => Kind::Complex64,
        _ => return None,
    };
    Some(kind.into())
}

/// Returns the dtype of a `torch.dtype`, which has NumPy's name. Items below 8 bits are not stored as elsewhere.
pub(super) fn dtype_named(class: &str) -> Option<DType> {
    let name = DType::names().find(|name| class.strip_prefix("torch.") == Some(name))?;
    let is_whole = |dtype: &DType| !matches!(dtype.kind(), Kind::Narrow(narrow) if narrow.bits() < 8);
    DType::parse(name).ok().filter(is_whole)
}
