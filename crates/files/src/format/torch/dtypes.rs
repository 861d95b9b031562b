//! The dtypes of PyTorch, by the names of classes and of `torch.dtype`.

use crate::item::dtype::{DType, Kind, Narrow};

/// Returns the dtype of a class of `torch` or `torch.storage`.
pub(super) fn dtype_of_storage(class: &str) -> Option<DType> {
    let kind = match class.strip_suffix("Storage")? {
        "Double" => Kind::Float64,
        "Float" => Kind::Float32,
        "Half" => Kind::Float16,
        "BFloat16" => Kind::BFloat16,
        "Long" => Kind::Int64,
        "Int" => Kind::Int32,
        "Short" => Kind::Int16,
        "Char" => Kind::Int8,
        "Byte" | "Untyped" => Kind::UInt8,
        "Bool" => Kind::Bool,
        "ComplexDouble" => Kind::Complex128,
        "ComplexFloat" => Kind::Complex64,
        _ => return None,
    };
    Some(kind.into())
}

/// Returns the bytes of an item, also of a quantised one: the storages of a stream are found by their lengths.
pub(super) fn itemsize_of_storage(class: &str) -> Option<usize> {
    match class {
        "QInt8Storage" | "QUInt8Storage" | "QUInt4x2Storage" | "QUInt2x4Storage" => Some(1),
        "QInt32Storage" => Some(4),
        _ => dtype_of_storage(class).map(|dtype| dtype.itemsize()),
    }
}

/// Returns the dtype of a `torch.dtype`.
pub(super) fn dtype_named(name: &str) -> Option<DType> {
    let kind = match name {
        "float64" | "double" => Kind::Float64,
        "float32" | "float" => Kind::Float32,
        "float16" | "half" => Kind::Float16,
        "bfloat16" => Kind::BFloat16,
        "int64" | "long" => Kind::Int64,
        "int32" | "int" => Kind::Int32,
        "int16" | "short" => Kind::Int16,
        "int8" => Kind::Int8,
        "uint8" => Kind::UInt8,
        "uint16" => Kind::UInt16,
        "uint32" => Kind::UInt32,
        "uint64" => Kind::UInt64,
        "bool" => Kind::Bool,
        "complex128" | "cdouble" => Kind::Complex128,
        "complex64" | "cfloat" => Kind::Complex64,
        "float8_e4m3fn" => Kind::Narrow(Narrow::Float8E4M3FN),
        "float8_e4m3fnuz" => Kind::Narrow(Narrow::Float8E4M3FNUZ),
        "float8_e5m2" => Kind::Narrow(Narrow::Float8E5M2),
        "float8_e5m2fnuz" => Kind::Narrow(Narrow::Float8E5M2FNUZ),
        "float8_e8m0fnu" => Kind::Narrow(Narrow::Float8E8M0FNU),
        _ => return None,
    };
    Some(kind.into())
}
