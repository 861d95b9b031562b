//! Dtypes as people type them: NumPy's names and codes, the unambiguous names of other libraries, and suggestions for a
//! name that is neither.

use crate::error::{Error, Subject};
use crate::item::dtype::DType;

/// Names from elsewhere, each with NumPy's or ml_dtypes' name: first those that programmers of other languages write,
/// then those of safetensors and of ONNX (both in capitals).
///
/// NumPy's own names are not among them, whatever they mean elsewhere: `i8` is int64, `f16` is long double, `U8` is a
/// string of 8 characters, so that a script written with NumPy in mind keeps its meaning.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("bf16", "bfloat16"),
    ("fp16", "float16"),
    ("fp32", "float32"),
    ("fp64", "float64"),
    ("f32", "float32"),
    ("f64", "float64"),
    ("i16", "int16"),
    ("i32", "int32"),
    ("i64", "int64"),
    ("u16", "uint16"),
    ("u32", "uint32"),
    ("u64", "uint64"),
    ("I8", "int8"),
    ("I16", "int16"),
    ("I32", "int32"),
    ("I64", "int64"),
    ("F16", "float16"),
    ("F32", "float32"),
    ("F64", "float64"),
    ("BF16", "bfloat16"),
    ("C64", "complex64"),
    ("F4", "float4_e2m1fn"),
    ("F6_E2M3", "float6_e2m3fn"),
    ("F6_E3M2", "float6_e3m2fn"),
    ("F8_E4M3", "float8_e4m3fn"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2", "float8_e5m2"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
    ("F8_E8M0", "float8_e8m0fnu"),
    ("BOOL", "bool"),
    ("FLOAT", "float32"),
    ("DOUBLE", "float64"),
    ("FLOAT16", "float16"),
    ("BFLOAT16", "bfloat16"),
    ("FP16", "float16"),
    ("FP32", "float32"),
    ("FP64", "float64"),
    ("INT8", "int8"),
    ("INT16", "int16"),
    ("INT32", "int32"),
    ("INT64", "int64"),
    ("UINT8", "uint8"),
    ("UINT16", "uint16"),
    ("UINT32", "uint32"),
    ("UINT64", "uint64"),
    ("STRING", "str"),
    ("COMPLEX64", "complex64"),
    ("COMPLEX128", "complex128"),
    ("FLOAT8E4M3FN", "float8_e4m3fn"),
    ("FLOAT8E4M3FNUZ", "float8_e4m3fnuz"),
    ("FLOAT8E5M2", "float8_e5m2"),
    ("FLOAT8E5M2FNUZ", "float8_e5m2fnuz"),
    ("FLOAT8E8M0", "float8_e8m0fnu"),
    ("FLOAT6E2M3", "float6_e2m3fn"),
    ("FLOAT6E3M2", "float6_e3m2fn"),
    ("FLOAT4E2M1", "float4_e2m1fn"),
    ("INT4", "int4"),
    ("UINT4", "uint4"),
    ("INT2", "int2"),
    ("UINT2", "uint2"),
];

/// How many names are suggested that begin with the text.
const BEGIN: usize = 12;
const ALIKE: usize = 3;

impl DType {
    /// Parses what a person typed: everything that [`DType::parse`] takes, which goes first, and the names that
    /// safetensors, ONNX and programmers of other languages have for the same types (`BF16`, `FLOAT`, `f32`).
    ///
    /// Headers of files use [`DType::parse`]: a name there that NumPy does not know means damage.
    ///
    /// # Errors
    /// The name is unknown; the error lists known names that may have been meant.
    pub fn asked(text: &str) -> Result<Self, Error> {
        Self::parse(text).or_else(|refused| {
            if let Some((_, name)) = NEIGHBOURS.iter().find(|(neighbour, _)| *neighbour == text) {
                return Self::parse(name);
            }
            match meant(text).as_slice() {
                [] => Err(refused),
                [names @ .., last] => {
                    let list =
                        if names.is_empty() { (*last).to_owned() } else { format!("{} or {last}", names.join(", ")) };
                    let message = format!("{}; did you mean {list}?", refused.message());
                    Err(Error::new(Subject::Dtype, message))
                }
            }
        })
    }
}

/// Returns known names that may have been meant: those that begin like `text`, else the most similar ones.
fn meant(text: &str) -> Vec<&'static str> {
    const LEAST: f64 = 0.8;
    let lower = text.to_lowercase();
    let known = || DType::names().chain(NEIGHBOURS.iter().map(|(neighbour, _)| *neighbour));
    let begin: Vec<_> = known().filter(|name| !lower.is_empty() && name.starts_with(&lower)).take(BEGIN).collect();
    if !begin.is_empty() {
        return begin;
    }
    let mut alike: Vec<_> = DType::names().map(|name| (strsim::jaro_winkler(&lower, name), name)).collect();
    alike.retain(|(score, _)| *score >= LEAST);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike.into_iter().take(ALIKE).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_mean_known_dtypes() {
        for (neighbour, name) in NEIGHBOURS {
            assert!(DType::parse(neighbour).is_err(), "{neighbour} is NumPy's");
            assert_eq!(DType::asked(neighbour), DType::parse(name), "{neighbour}");
        }
        for (typed, name) in [("i8", "int64"), ("f16", "float128"), ("U8", "<U8"), ("f4", "float32"), ("u4", "uint32")]
        {
            assert_eq!(DType::asked(typed).map(|dtype| dtype.name()).as_deref(), Ok(name));
        }
    }

    #[test]
    fn what_was_meant() {
        let eight = "float8_e5m2, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz, \
                     float8_e5m2fnuz or float8_e8m0fnu";
        let rows = [
            ("float8", format!("unknown dtype 'float8'; did you mean {eight}?")),
            ("bfloat", "unknown dtype 'bfloat'; did you mean bfloat16?".to_owned()),
            ("Float32", "unknown dtype 'Float32'; did you mean float32?".to_owned()),
            ("flaot32", "unknown dtype 'flaot32'; did you mean float32".to_owned()),
            ("int33", "unknown dtype 'int33'; did you mean int32".to_owned()),
            ("quux", "unknown dtype 'quux'".to_owned()),
            ("", "unknown dtype ''".to_owned()),
        ];
        for (typed, expected) in rows {
            let refused = DType::asked(typed).unwrap_err();
            assert!(refused.message().starts_with(&expected), "{}", refused.message());
        }
        assert!(DType::asked("O").unwrap_err().message().contains("pickled"));
    }
}
