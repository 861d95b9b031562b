//! The layouts: the names of their parts, and the functions that make weights of them. Rules are those of the libraries
//! that write the files: DeepSeek V3 and V4, NVIDIA modelopt, compressed-tensors, gpt-oss, MLX, GPTQ, AWQ, bitsandbytes,
//! ComfyUI, HQQ, torchao, transformers.

use super::assemble::{
    FLOAT8, Weight, awq, float4, float4_blocks, fused_fbgemm, fused_float4, fused_scaled, gptq, mlx, mxfp6, mxfp8,
    packed, scaled,
};
use super::byte_codes::{bitnet, bitsandbytes_4bit, bitsandbytes_int8, comfy, gemma, hqq, int4_columns, torchao};
use super::parts::{PartNames, PartNumbers, Role, WeightParts};
use super::weight::WholeScale;
use tensorop_kernels::error::{Result, malformed};
use tensorop_kernels::item::dtype::{Kind, Narrow};

macro_rules! layouts {
    ($($name:ident = $text:literal;)+) => {
        $(pub(crate) const $name: &str = $text;)+

        /// In the order of the documentation.
        pub const LAYOUTS: [&str; [$($text),+].len()] = [$($text),+];
    };
}

layouts! {
    FP8_BLOCK = "fp8-block";
    NVFP4 = "nvfp4";
    NVFP4_CT = "nvfp4-ct";
    MXFP4 = "mxfp4";
    PACK_QUANTIZED = "pack-quantized";
    INT_QUANTIZED = "int-quantized";
    FLOAT_QUANTIZED = "float-quantized";
    MLX = "mlx";
    GPTQ = "gptq";
    GPTQ_V2 = "gptq-v2";
    AWQ = "awq";
    DEEPSEEK_FP4 = "deepseek-fp4";
    FBGEMM_FP8 = "fbgemm-fp8";
    BNB_NF4 = "bnb-nf4";
    BNB_FP4 = "bnb-fp4";
    BNB_INT8 = "bnb-int8";
    COMFY = "comfy";
    MXFP4_CT = "mxfp4-ct";
    MXFP6 = "mxfp6";
    MXFP8 = "mxfp8";
    METAL = "metal";
    BITNET = "bitnet";
    GEMMA = "gemma";
    W4A16_AWQ = "w4a16-awq";
    HQQ = "hqq";
    TORCHAO = "torchao";
}

/// How a weight is made of its parts.
type Assemble = fn(&WeightParts<'_>, &PartNumbers) -> Result<Weight>;

/// The weights of a layout.
#[derive(Debug)]
pub(crate) struct Rule {
    pub names: PartNames,
    assemble: Assemble,
}

const fn names(layout: &'static str, dtypes: &'static [Kind], required: &'static [(Role, &'static str)]) -> PartNames {
    PartNames { layout, codes: ".weight", dtypes, weight: ".weight", required, optional: &[] }
}

/// Experts in one tensor of three axes, without the ending `.weight`.
const fn fused_names(
    layout: &'static str,
    dtypes: &'static [Kind],
    required: &'static [(Role, &'static str)],
) -> PartNames {
    PartNames { codes: "", weight: "", ..names(layout, dtypes, required) }
}

const FUSED_NVFP4: &[(Role, &str)] = &[(Role::Scales, "_weight_scale"), (Role::Whole, "_weight_scale_2")];

const GPTQ_PARTS: &[(Role, &str)] = &[(Role::Scales, ".scales"), (Role::Zeros, ".qzeros")];

const fn gptq_names(layout: &'static str) -> PartNames {
    let optional = &[(Role::Groups, ".g_idx")];
    PartNames { codes: ".qweight", optional, ..names(layout, &[Kind::Int32], GPTQ_PARTS) }
}

const fn bitsandbytes_names(layout: &'static str, required: &'static [(Role, &'static str)]) -> PartNames {
    // the parameters of codes may be stored as other dtypes than bytes
    const DTYPES: &[Kind] = &[Kind::UInt8, Kind::BFloat16, Kind::Float16, Kind::Float32, Kind::Int8];
    const OPTIONAL: &[(Role, &str)] =
        &[(Role::NestedScales, ".weight.nested_absmax"), (Role::NestedBook, ".weight.nested_quant_map")];
    PartNames { optional: OPTIONAL, ..names(layout, DTYPES, required) }
}

/// Those of layers of all formats: the description of a layer says which parts it has.
const COMFY_CODES: &[Kind] =
    &[Kind::Narrow(Narrow::Float8E4M3FN), Kind::Narrow(Narrow::Float8E5M2), Kind::Int8, Kind::UInt8];

const TORCHAO_CODES: &[Kind] = &[Kind::Narrow(Narrow::Float8E4M3FN), Kind::Narrow(Narrow::Float8E5M2), Kind::Int8];

const PRE_QUANT_SCALE: &[(Role, &str)] = &[(Role::Columns, ".pre_quant_scale")];

const HQQ_PARTS: &[(Role, &str)] = &[
    (Role::Scales, ".scale"),
    (Role::Zeros, ".zero"),
    (Role::Bits, ".nbits"),
    (Role::GroupSize, ".group_size"),
    (Role::Axis, ".axis"),
    (Role::Packing, ".packing"),
    (Role::Shape, ".shape"),
];

const HQQ_SETTINGS: &[(Role, &str)] = &[
    (Role::Setting, ".channel_wise"),
    (Role::Setting, ".compute_dtype"),
    (Role::Setting, ".encoded_state_dict"),
    (Role::Setting, ".offload_meta"),
    (Role::Setting, ".optimize"),
    (Role::Setting, ".quant_scale"),
    (Role::Setting, ".quant_zero"),
    (Role::Setting, ".round_zero"),
    (Role::Setting, ".stores_quant_config"),
    (Role::Setting, ".unpack_view_dtype"),
    (Role::Setting, ".view_as_float"),
];

pub(crate) static RULES: &[Rule] = &[
    Rule { names: names(FP8_BLOCK, FLOAT8, &[(Role::Scales, ".weight_scale_inv")]), assemble: scaled },
    Rule { names: fused_names(FP8_BLOCK, FLOAT8, &[(Role::Scales, "_scale_inv")]), assemble: fused_scaled },
    // Mistral's own files
    Rule { names: names(FP8_BLOCK, FLOAT8, &[(Role::Scales, ".qscale_weight")]), assemble: scaled },
    Rule {
        names: PartNames {
            optional: PRE_QUANT_SCALE,
            ..names(NVFP4, &[Kind::UInt8], &[(Role::Scales, ".weight_scale"), (Role::Whole, ".weight_scale_2")])
        },
        assemble: |parts, _| float4(parts, 16, Narrow::Float8E4M3FN, WholeScale::Times),
    },
    Rule { names: fused_names(NVFP4, &[Kind::UInt8], FUSED_NVFP4), assemble: |parts, _| fused_float4(parts) },
    Rule {
        names: PartNames {
            codes: ".weight_packed",
            ..names(NVFP4_CT, &[Kind::UInt8], &[(Role::Scales, ".weight_scale"), (Role::Whole, ".weight_global_scale")])
        },
        assemble: |parts, _| float4(parts, 16, Narrow::Float8E4M3FN, WholeScale::DividedBy),
    },
    Rule {
        names: PartNames { codes: "_blocks", weight: "", ..names(MXFP4, &[Kind::UInt8], &[(Role::Scales, "_scales")]) },
        assemble: |parts, _| float4_blocks(parts),
    },
    Rule {
        names: PartNames {
            codes: ".weight_packed",
            optional: &[(Role::Zeros, ".weight_zero_point"), (Role::Groups, ".weight_g_idx")],
            ..names(PACK_QUANTIZED, &[Kind::Int32], &[(Role::Scales, ".weight_scale"), (Role::Shape, ".weight_shape")])
        },
        assemble: packed,
    },
    Rule {
        names: PartNames {
            optional: &[(Role::Zeros, ".weight_zero_point")],
            ..names(INT_QUANTIZED, &[Kind::Int8], &[(Role::Scales, ".weight_scale")])
        },
        assemble: scaled,
    },
    Rule { names: names(FLOAT_QUANTIZED, FLOAT8, &[(Role::Scales, ".weight_scale")]), assemble: scaled },
    Rule { names: fused_names(FLOAT_QUANTIZED, FLOAT8, &[(Role::Scales, "_weight_scale")]), assemble: fused_scaled },
    Rule {
        names: PartNames {
            optional: &[(Role::Biases, ".biases")],
            ..names(MLX, &[Kind::UInt32], &[(Role::Scales, ".scales")])
        },
        assemble: mlx,
    },
    Rule { names: gptq_names(GPTQ), assemble: |parts, numbers| gptq(parts, numbers, 1.0) },
    Rule { names: gptq_names(GPTQ_V2), assemble: |parts, numbers| gptq(parts, numbers, 0.0) },
    Rule { names: PartNames { codes: ".qweight", ..names(AWQ, &[Kind::Int32], GPTQ_PARTS) }, assemble: awq },
    Rule {
        names: names(DEEPSEEK_FP4, &[Kind::Int8], &[(Role::Scales, ".scale")]),
        assemble: |parts, _| float4(parts, 32, Narrow::Float8E8M0FNU, WholeScale::Times),
    },
    Rule { names: names(DEEPSEEK_FP4, FLOAT8, &[(Role::Scales, ".scale")]), assemble: scaled },
    Rule { names: fused_names(FBGEMM_FP8, FLOAT8, &[(Role::Scales, "_scale")]), assemble: fused_fbgemm },
    Rule {
        names: bitsandbytes_names(
            BNB_NF4,
            &[
                (Role::Scales, ".weight.absmax"),
                (Role::Book, ".weight.quant_map"),
                (Role::State, ".weight.quant_state.bitsandbytes__nf4"),
            ],
        ),
        assemble: bitsandbytes_4bit,
    },
    Rule {
        names: bitsandbytes_names(
            BNB_FP4,
            &[
                (Role::Scales, ".weight.absmax"),
                (Role::Book, ".weight.quant_map"),
                (Role::State, ".weight.quant_state.bitsandbytes__fp4"),
            ],
        ),
        assemble: bitsandbytes_4bit,
    },
    Rule {
        names: PartNames {
            optional: &[(Role::State, ".weight_format")],
            ..names(BNB_INT8, &[Kind::Int8], &[(Role::Scales, ".SCB")])
        },
        assemble: bitsandbytes_int8,
    },
    Rule {
        names: PartNames {
            optional: &[(Role::Whole, ".weight_scale_2"), (Role::State, ".comfy_quant")],
            ..names(COMFY, COMFY_CODES, &[(Role::Scales, ".weight_scale")])
        },
        assemble: comfy,
    },
    Rule { names: names(COMFY, COMFY_CODES, &[(Role::Scales, ".scale_weight")]), assemble: comfy },
    Rule {
        names: PartNames {
            codes: ".weight_packed",
            ..names(MXFP4_CT, &[Kind::UInt8], &[(Role::Scales, ".weight_scale")])
        },
        assemble: |parts, _| float4(parts, 32, Narrow::Float8E8M0FNU, WholeScale::Times),
    },
    Rule {
        names: PartNames {
            codes: ".weight_packed",
            ..names(MXFP6, &[Kind::UInt8], &[(Role::Scales, ".weight_scale")])
        },
        assemble: mxfp6,
    },
    Rule { names: names(MXFP8, FLOAT8, &[(Role::Scales, ".weight_scale")]), assemble: mxfp8 },
    Rule { names: names(MXFP8, FLOAT8, &[(Role::Scales, ".weight_scale_inv")]), assemble: mxfp8 },
    Rule {
        names: names(METAL, &[Kind::UInt32], &[(Role::Scales, ".scales"), (Role::Biases, ".qbiases")]),
        assemble: mlx,
    },
    Rule { names: names(BITNET, &[Kind::UInt8], &[(Role::Scales, ".weight_scale")]), assemble: bitnet },
    Rule { names: names(GEMMA, &[Kind::UInt8, Kind::Int8], &[(Role::Scales, ".weight_scale")]), assemble: gemma },
    Rule {
        names: PartNames {
            codes: ".embedding_quantized",
            ..names(GEMMA, &[Kind::UInt8, Kind::Int8], &[(Role::Scales, ".embedding_scale")])
        },
        assemble: gemma,
    },
    Rule {
        names: PartNames {
            optional: PRE_QUANT_SCALE,
            ..names(W4A16_AWQ, &[Kind::UInt8], &[(Role::Scales, ".weight_scale")])
        },
        assemble: int4_columns,
    },
    Rule {
        names: PartNames {
            codes: ".W_q",
            optional: HQQ_SETTINGS,
            ..names(HQQ, &[Kind::UInt8, Kind::Int32], HQQ_PARTS)
        },
        assemble: hqq,
    },
    Rule {
        names: PartNames {
            codes: "._weight_qdata",
            optional: &[(Role::Zeros, "._weight_zero_point")],
            ..names(TORCHAO, TORCHAO_CODES, &[(Role::Scales, "._weight_scale")])
        },
        assemble: torchao,
    },
];

impl Rule {
    /// Makes a weight by the first of the numbers that fit its shapes.
    ///
    /// # Errors
    /// Parts are missing or do not fit one another, or a number is missing.
    pub(crate) fn weight(&self, parts: &WeightParts<'_>, numbers: &[PartNumbers]) -> Result<Weight> {
        let mut failed = None;
        let has = |role| self.names.endings().any(|(of, _)| of == role);
        for numbers in numbers {
            let missing = numbers.demanded.iter().find(|role| has(**role) && (parts.open)(**role).is_none());
            let weight = match missing {
                Some(role) => Err(malformed!("{}, and {} demands it", parts.missing(*role), parts.config)),
                None => (self.assemble)(parts, numbers),
            };
            match weight {
                Ok(weight) => return Ok(weight),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| malformed!("{} states no numbers of the layout", parts.config)))
    }
}
