//! Dtypes by name, as NumPy has them.

use super::dtype::{DType, Kind};

macro_rules! constants {
    ($($name:ident $kind:ident $text:literal;)+) => {
        /// Little-endian dtypes; [`big_endian`](Self::big_endian) makes the others, and
        /// [`parse`](Self::parse) any dtype by its name.
        impl DType {
            $(#[doc = concat!("`", $text, "`.")]
            pub const $name: Self = Self { kind: Kind::$kind, big: false };)+
        }

        #[cfg(test)]
        #[test]
        fn names() {
            $(assert_eq!(DType::$name, DType::parse($text).unwrap());)+
        }
    };
}

constants! {
    BOOL Bool "bool";
    INT8 Int8 "int8";
    INT16 Int16 "int16";
    INT32 Int32 "int32";
    INT64 Int64 "int64";
    UINT8 UInt8 "uint8";
    UINT16 UInt16 "uint16";
    UINT32 UInt32 "uint32";
    UINT64 UInt64 "uint64";
    FLOAT16 Float16 "float16";
    BFLOAT16 BFloat16 "bfloat16";
    FLOAT32 Float32 "float32";
    FLOAT64 Float64 "float64";
    COMPLEX64 Complex64 "complex64";
    COMPLEX128 Complex128 "complex128";
}
