//! A case: an operator, its inputs, and the expected result. The cases that are built in.

use std::io::Read;

use flate2::read::ZlibDecoder;
use serde::Deserialize;

use crate::error::{Context, Result, bail};
use crate::item::tensor::Tensor;
pub use crate::ops::call::nodes::{Attributes, Specification};

#[derive(Clone, Debug)]
pub struct KnownTest {
    pub operator: String,
    /// The opset for an unknown operator.
    pub version: u64,
    pub class: Class,
}

/// The names of specifications in cases.
#[derive(Deserialize)]
#[serde(remote = "Specification", rename_all = "lowercase")]
pub enum SpecificationName {
    OpenVino,
    Onnx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The specification determines the result.
    Must,
    /// The specification is silent, so runtimes may differ.
    Choice,
    /// The operator must refuse its inputs.
    Reject,
}

impl Class {
    pub const ALL: [Self; 3] = [Self::Must, Self::Choice, Self::Reject];

    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Choice => "choice",
            Self::Reject => "reject",
        }
    }
}

#[derive(Debug)]
pub enum CaseInput {
    Absent,
    Tensor(Tensor),
    Sequence(Vec<Tensor>),
}

#[derive(Debug)]
pub enum CaseOutput {
    Operator(usize),
    /// An input or constant that a model's graph passes through.
    Given(Tensor),
}

/// Options of the comparison with the expected outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerances {
    pub atol: Option<f64>,
    pub rtol: Option<f64>,
    pub ulp: Option<u64>,
}

impl Tolerances {
    /// JSON has no NaN or infinity.
    pub fn new(atol: Option<f64>, rtol: Option<f64>, ulp: Option<u64>) -> Result<Self> {
        for (name, value) in [("atol", atol), ("rtol", rtol)] {
            if let Some(value) = value.filter(|value| *value < 0.0) {
                bail!("{name} is {value}, expected a number, 0 or more");
            }
        }
        Ok(Self { atol, rtol, ulp })
    }
}

#[derive(Debug)]
pub enum Expected {
    Outputs(Vec<Tensor>),
    Refusal(String),
}

#[derive(Debug)]
pub struct Case {
    /// Unique in its file.
    pub id: String,
    pub specification: Specification,
    pub operator: String,
    /// Or an opset that has the version.
    pub version: u64,
    pub attributes: Attributes,
    pub inputs: Vec<CaseInput>,
    pub operator_outputs: usize,
    /// For a model, the outputs of its graph.
    pub outputs: Vec<CaseOutput>,
    pub expected: Expected,
    pub tolerances: Tolerances,
    pub class: Class,
    /// The specification's sentence, or the decision made where it is silent.
    pub why: String,
}

/// Each file is preceded by a NUL.
static PACKED: &[u8] = include_bytes!("../vectors.zlib");

/// Returns the cases that are built in.
///
/// # Errors
/// There is not enough memory.
pub fn packed_cases() -> Result<Vec<String>> {
    let mut all = String::new();
    ZlibDecoder::new(PACKED).read_to_string(&mut all).context("vectors")?;
    Ok(all.split('\0').filter(|text| !text.is_empty()).map(str::to_owned).collect())
}
