//! The methods of quantising that configs state, with their formats and layouts.

use super::rules::{
    AWQ, BITNET, BNB_FP4, BNB_INT8, BNB_NF4, DEEPSEEK_FP4, FBGEMM_FP8, FLOAT_QUANTIZED, FP8_BLOCK, GEMMA, GPTQ,
    GPTQ_V2, HQQ, INT_QUANTIZED, METAL, MLX, MXFP4, MXFP4_CT, MXFP6, MXFP8, NVFP4, NVFP4_CT, PACK_QUANTIZED, TORCHAO,
    W4A16_AWQ,
};

/// A method, a format, and the layouts of the format.
type Method = (&'static str, &'static str, &'static [&'static str]);

pub(crate) const BITSANDBYTES: &[&str] = &[BNB_NF4, BNB_FP4, BNB_INT8];

const COMPRESSED: &[&str] = &[NVFP4_CT, MXFP4_CT, MXFP6, PACK_QUANTIZED, INT_QUANTIZED, MXFP8, FLOAT_QUANTIZED];

const METHODS: &[Method] = &[
    ("auto-round", "auto_round", &[GPTQ_V2]),
    ("auto-round", "auto_round:auto_awq", &[AWQ]),
    ("auto-round", "auto_round:auto_gptq", &[GPTQ]),
    ("auto-round", "auto_round:fp8_static", &[FP8_BLOCK, FLOAT_QUANTIZED]),
    ("auto-round", "auto_round:gptqmodel", &[GPTQ_V2]),
    ("auto-round", "auto_round:llm_compressor", COMPRESSED),
    ("awq", "", &[AWQ]),
    ("awq", "gemm", &[AWQ]),
    ("bitnet", "", &[BITNET]),
    ("bitsandbytes", "", BITSANDBYTES),
    ("compressed-tensors", "float-quantized", &[FLOAT_QUANTIZED]),
    ("compressed-tensors", "int-quantized", &[INT_QUANTIZED]),
    ("compressed-tensors", "mxfp4-pack-quantized", &[MXFP4_CT]),
    ("compressed-tensors", "mxfp6-pack-quantized", &[MXFP6]),
    ("compressed-tensors", "mxfp8-quantized", &[MXFP8]),
    ("compressed-tensors", "naive-quantized", &[INT_QUANTIZED, FLOAT_QUANTIZED]),
    ("compressed-tensors", "nvfp4-pack-quantized", &[NVFP4_CT]),
    ("compressed-tensors", "pack-quantized", &[PACK_QUANTIZED]),
    ("fbgemm_fp8", "", &[FP8_BLOCK, FLOAT_QUANTIZED, FBGEMM_FP8]),
    ("fp8", "", &[FP8_BLOCK, FLOAT_QUANTIZED]),
    ("fp8", "fp4", &[DEEPSEEK_FP4]),
    ("fp8", "fp8", &[FP8_BLOCK, FLOAT_QUANTIZED, DEEPSEEK_FP4]),
    ("gemma", "", &[GEMMA]),
    ("gptq", "", &[GPTQ]),
    ("gptq", "gptq", &[GPTQ]),
    ("gptq", "gptq_v2", &[GPTQ_V2]),
    ("hqq", "", &[HQQ]),
    ("metal", "", &[METAL]),
    ("mlx", "", &[MLX]),
    ("modelopt", "FP8", &[FLOAT_QUANTIZED]),
    ("modelopt", "FP8_PB_WO", &[FLOAT_QUANTIZED]),
    ("modelopt", "FP8_PER_CHANNEL_PER_TOKEN", &[FLOAT_QUANTIZED]),
    ("modelopt", "MIXED_PRECISION", &[NVFP4, FLOAT_QUANTIZED, W4A16_AWQ]),
    ("modelopt", "MXFP8", &[MXFP8]),
    ("modelopt", "NVFP4", &[NVFP4]),
    ("modelopt", "NVFP4_AWQ", &[NVFP4]),
    ("modelopt", "W4A16_AWQ", &[W4A16_AWQ]),
    ("mxfp4", "", &[MXFP4]),
    ("mxfp8", "", &[MXFP8]),
    ("torchao", "", &[TORCHAO]),
];

/// Returns the keys that state the format of a method.
pub(crate) fn format_keys(method: &str) -> &'static [&'static str] {
    match method {
        "auto-round" => &["packing_format"],
        "awq" | "gptq" => &["checkpoint_format", "format", "version"],
        "compressed-tensors" => &["format"],
        "fp8" => &["expert_dtype"],
        "modelopt" => &["quant_algo"],
        _ => &[],
    }
}

/// Returns the layouts of a format; `None` if it is not known.
pub(crate) fn layouts_of(method: &str, format: &str) -> Option<&'static [&'static str]> {
    let found = METHODS.iter().find(|(of, name, _)| *of == method && name.eq_ignore_ascii_case(format));
    found.map(|(.., layouts)| *layouts)
}
