//! Field numbers of ONNX models.

pub(super) mod field {
    pub(in crate::format::onnx) mod model {
        pub(in crate::format::onnx) const IR_VERSION: u32 = 1;
        pub(in crate::format::onnx) const PRODUCER_NAME: u32 = 2;
        pub(in crate::format::onnx) const PRODUCER_VERSION: u32 = 3;
        pub(in crate::format::onnx) const DOMAIN: u32 = 4;
        pub(in crate::format::onnx) const MODEL_VERSION: u32 = 5;
        pub(in crate::format::onnx) const GRAPH: u32 = 7;
        pub(in crate::format::onnx) const OPSET_IMPORT: u32 = 8;
        pub(in crate::format::onnx) const METADATA_PROPS: u32 = 14;
        pub(in crate::format::onnx) const TRAINING_INFO: u32 = 20;
        pub(in crate::format::onnx) const FUNCTION: u32 = 25;
    }
    pub(in crate::format::onnx) mod training {
        pub(in crate::format::onnx) const INITIALIZATION: u32 = 1;
        pub(in crate::format::onnx) const ALGORITHM: u32 = 2;
    }
    pub(in crate::format::onnx) mod function {
        pub(in crate::format::onnx) const NAME: u32 = 1;
        pub(in crate::format::onnx) const NODE: u32 = 7;
    }
    pub(in crate::format::onnx) mod sparse {
        pub(in crate::format::onnx) const VALUES: u32 = 1;
        pub(in crate::format::onnx) const INDICES: u32 = 2;
    }
    pub(in crate::format::onnx) mod opset {
        pub(in crate::format::onnx) const DOMAIN: u32 = 1;
        pub(in crate::format::onnx) const VERSION: u32 = 2;
    }
    pub(in crate::format::onnx) mod graph {
        pub(in crate::format::onnx) const NODE: u32 = 1;
        pub(in crate::format::onnx) const NAME: u32 = 2;
        pub(in crate::format::onnx) const INITIALIZER: u32 = 5;
        pub(in crate::format::onnx) const INPUT: u32 = 11;
        pub(in crate::format::onnx) const OUTPUT: u32 = 12;
        pub(in crate::format::onnx) const SPARSE_INITIALIZER: u32 = 15;
    }
    pub(in crate::format::onnx) mod node {
        pub(in crate::format::onnx) const INPUT: u32 = 1;
        pub(in crate::format::onnx) const OUTPUT: u32 = 2;
        pub(in crate::format::onnx) const NAME: u32 = 3;
        pub(in crate::format::onnx) const OPERATOR: u32 = 4;
        pub(in crate::format::onnx) const ATTRIBUTE: u32 = 5;
        pub(in crate::format::onnx) const DOMAIN: u32 = 7;
    }
    pub(in crate::format::onnx) mod attribute {
        pub(in crate::format::onnx) const NAME: u32 = 1;
        pub(in crate::format::onnx) const FLOAT: u32 = 2;
        pub(in crate::format::onnx) const INT: u32 = 3;
        pub(in crate::format::onnx) const TEXT: u32 = 4;
        pub(in crate::format::onnx) const TENSOR: u32 = 5;
        pub(in crate::format::onnx) const GRAPH: u32 = 6;
        pub(in crate::format::onnx) const FLOATS: u32 = 7;
        pub(in crate::format::onnx) const INTS: u32 = 8;
        pub(in crate::format::onnx) const TEXTS: u32 = 9;
        pub(in crate::format::onnx) const TENSORS: u32 = 10;
        pub(in crate::format::onnx) const GRAPHS: u32 = 11;
        pub(in crate::format::onnx) const TYPE: u32 = 20;
        pub(in crate::format::onnx) const REFERENCE: u32 = 21;
        pub(in crate::format::onnx) const SPARSE_TENSOR: u32 = 22;
        pub(in crate::format::onnx) const SPARSE_TENSORS: u32 = 23;
    }
    pub(in crate::format::onnx) const TENSOR_NAME: u32 = 8;
    pub(in crate::format::onnx) mod value {
        pub(in crate::format::onnx) const NAME: u32 = 1;
        pub(in crate::format::onnx) const TYPE: u32 = 2;
    }
    pub(in crate::format::onnx) mod of_type {
        pub(in crate::format::onnx) const TENSOR: u32 = 1;
        pub(in crate::format::onnx) const SEQUENCE: u32 = 4;
        pub(in crate::format::onnx) const MAP: u32 = 5;
        pub(in crate::format::onnx) const SPARSE_TENSOR: u32 = 8;
        pub(in crate::format::onnx) const OPTIONAL: u32 = 9;
        pub(in crate::format::onnx) const ITEM: u32 = 1;
        pub(in crate::format::onnx) const SHAPE: u32 = 2;
    }
    /// Of TensorShapeProto and its dims.
    pub(in crate::format::onnx) const DIM: u32 = 1;
    pub(in crate::format::onnx) const DIM_NAME: u32 = 2;
    pub(in crate::format::onnx) mod sequence {
        pub(in crate::format::onnx) const KIND: u32 = 2;
        pub(in crate::format::onnx) const TENSORS: u32 = 3;
    }
}

pub(super) const OF_TENSORS: u64 = 1;

#[derive(Clone, Copy)]
pub(super) enum AttributeKind {
    Float = 1,
    Int = 2,
    Text = 3,
    Ints = 7,
}
