//! A case: an operator, its inputs, and what must come out.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Context, Result, bail, ensure, malformed};
use crate::format::files::{read, read_bytes};
use crate::format::onnx::model::AttributeValue;
use crate::item::dtype::DType;
use crate::item::tensor::Tensor;

/// The most outputs of an operator that has to refuse its inputs; of others each has to be there.
const MAX_OUTPUTS: usize = 1 << 16;

/// The operator, version and class of a test.
#[derive(Clone, Debug)]
pub(crate) struct KnownTest {
    /// The operator, as its specification calls it.
    pub operator: String,
    /// The version of the operator; of one that is not known here the opset.
    pub version: u64,
    /// What the verdict means.
    pub class: Class,
}

/// Who specifies an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Specification {
    OpenVino,
    Onnx,
}

impl Specification {
    /// Returns the name as people write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenVino => "OpenVINO",
            Self::Onnx => "ONNX",
        }
    }
}

/// What the verdict on a case means for a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Class {
    /// The specification says what comes out.
    Must,
    /// The specification is silent: what comes out was decided here, and other runtimes may differ.
    Choice,
    /// The operator must refuse its inputs.
    Reject,
}

impl Class {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Must, Self::Choice, Self::Reject];

    /// Returns the name in cases and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Choice => "choice",
            Self::Reject => "reject",
        }
    }
}

/// The attributes of an operator by the names of its specification.
pub(crate) type Attributes = BTreeMap<String, AttributeValue>;

/// What an operator gets for an input.
#[derive(Debug)]
pub(crate) enum CaseInput {
    /// Nothing, since the input is optional.
    Absent,
    /// A tensor.
    Tensor(Tensor),
    /// A sequence of tensors.
    Sequence(Vec<Tensor>),
}

/// An output of a case.
#[derive(Debug)]
pub(crate) enum CaseOutput {
    /// The output of the operator that has this number.
    Operator(usize),
    /// A tensor that the operator does not make: the graph of a model may hand on one of its inputs or a constant.
    Given(Tensor),
}

/// The errors that pass in a test, in the terms of [`diff::Options`](crate::diff::Options).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tolerances {
    pub atol: Option<f64>,
    pub rtol: Option<f64>,
    pub ulp: Option<u64>,
}

impl Tolerances {
    /// Returns tolerances that a test has given.
    ///
    /// # Errors
    /// A number below 0. JSON has none that is not finite.
    pub(super) fn new(atol: Option<f64>, rtol: Option<f64>, ulp: Option<u64>) -> Result<Self> {
        for (name, value) in [("atol", atol), ("rtol", rtol)] {
            if let Some(value) = value.filter(|value| *value < 0.0) {
                bail!("{name} is {value}, expected a number, 0 or more");
            }
        }
        Ok(Self { atol, rtol, ulp })
    }
}

/// What must come of a case.
#[derive(Debug)]
pub(crate) enum Expected {
    /// A tensor for each output of the case.
    Outputs(Vec<Tensor>),
    /// The operator refuses its inputs. The text says what is wrong with them.
    Refusal(String),
}

/// An operator, its inputs, and what must come out.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its name among the cases of its file.
    pub id: String,
    /// Who specifies the operator.
    pub specification: Specification,
    /// The name of the operator in the specification.
    pub operator: String,
    /// The version of the operator, or an opset that has it.
    pub version: u64,
    /// The attributes that are given.
    pub attributes: Attributes,
    /// The inputs in the order of the specification.
    pub inputs: Vec<CaseInput>,
    /// How many outputs the operator has.
    pub operator_outputs: usize,
    /// The outputs in their order. They are the operator's own, except in a model: there they are the outputs of the graph.
    pub outputs: Vec<CaseOutput>,
    /// What must come out.
    pub expected: Expected,
    /// The errors that pass.
    pub tolerances: Tolerances,
    /// What the verdict means.
    pub class: Class,
    /// The sentence of the specification that the case rests on, or what was decided where it is silent.
    pub why: String,
}

/// A case as JSON has it. Its tensors are read when the case is taken, not when the file is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with specification, operator, version, inputs and output or error")]
pub(crate) struct CaseText<'a> {
    #[serde(default)]
    pub id: String,
    specification: Specification,
    pub operator: String,
    pub version: u64,
    #[serde(default)]
    attributes: BTreeMap<String, serde_json::Value>,
    #[serde(borrow)]
    inputs: Vec<Option<&'a RawValue>>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    outputs: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default = "one")]
    output_count: usize,
    #[serde(default = "must")]
    pub class: Class,
    #[serde(default)]
    why: String,
    #[serde(default)]
    atol: Option<f64>,
    #[serde(default)]
    rtol: Option<f64>,
    #[serde(default)]
    ulp: Option<u64>,
}

fn one() -> usize {
    1
}

fn must() -> Class {
    Class::Must
}

/// A tensor by the bytes of its items, for bits that JSON has no numbers for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HexTensor {
    dtype: String,
    shape: Vec<usize>,
    hex: String,
}

/// Tensors that are one input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceText<'a> {
    #[serde(borrow)]
    sequence: Vec<&'a RawValue>,
}

impl<'a> CaseText<'a> {
    /// Reads a case of a text of JSON.
    ///
    /// # Errors
    /// The text is no case, with line and column.
    pub(crate) fn read(text: &'a str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| malformed!("no case: {error}"))
    }

    /// Returns the operator, version and class of the case.
    pub(super) fn about(&self) -> KnownTest {
        KnownTest { operator: self.operator.clone(), version: self.version, class: self.class }
    }

    /// Reads the tensors of the case; names of files are those in `folder`.
    ///
    /// # Errors
    /// A tensor cannot be read; there is neither an output nor an error, or both; a class that does not go with it; a
    /// tolerance below 0.
    pub(crate) fn load(self, folder: &Path) -> Result<Case> {
        let input = |(n, text): (usize, &Option<&RawValue>)| match text {
            None => Ok(CaseInput::Absent),
            Some(text) => input(text.get(), folder).with_context(|| format!("input {n}")),
        };
        let inputs = self.inputs.iter().enumerate().map(input).collect::<Result<_>>()?;
        let (output_count, expected) = match (self.output, self.outputs, self.error) {
            (Some(output), None, None) => {
                (1, Expected::Outputs(vec![tensor(output.get(), folder).context("the output")?]))
            }
            (None, Some(outputs), None) => {
                let output =
                    |(n, text): (usize, &&RawValue)| tensor(text.get(), folder).with_context(|| format!("output {n}"));
                let outputs = outputs.iter().enumerate().map(output).collect::<Result<Vec<_>>>()?;
                (outputs.len(), Expected::Outputs(outputs))
            }
            (None, None, Some(error)) => (self.output_count, Expected::Refusal(error)),
            (None, None, None) => bail!("neither an output nor an error"),
            (Some(_), Some(_), None) => bail!("an output and outputs, expected one of them"),
            (_, _, Some(_)) => bail!("an output and an error, expected one of them"),
        };
        ensure!(output_count <= MAX_OUTPUTS, "{output_count} outputs, expected at most {MAX_OUTPUTS}");
        ensure!(
            (self.class == Class::Reject) <= matches!(expected, Expected::Refusal(_)),
            "the class is reject, and there is an output"
        );
        let tolerances = Tolerances::new(self.atol, self.rtol, self.ulp)?;
        let value = |value| match value {
            serde_json::Value::Bool(is) => AttributeValue::Int(is.into()),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => AttributeValue::Int(whole),
                (None, Some(float)) => AttributeValue::Float(float as f32),
                (None, None) => AttributeValue::Other,
            },
            serde_json::Value::String(text) => AttributeValue::Text(text),
            serde_json::Value::Array(items) => {
                let numbers = items.iter().map(serde_json::Value::as_i64).collect::<Option<_>>();
                numbers.map_or(AttributeValue::Other, AttributeValue::Ints)
            }
            serde_json::Value::Null | serde_json::Value::Object(_) => AttributeValue::Other,
        };
        Ok(Case {
            id: self.id,
            specification: self.specification,
            operator: self.operator,
            version: self.version,
            attributes: self.attributes.into_iter().map(|(name, json)| (name, value(json))).collect(),
            inputs,
            operator_outputs: output_count,
            outputs: (0..output_count).map(CaseOutput::Operator).collect(),
            expected,
            tolerances,
            class: self.class,
            why: self.why,
        })
    }
}

/// Reads what an operator gets for an input.
fn input(text: &str, folder: &Path) -> Result<CaseInput> {
    if may_have(text, "\"sequence\"")
        && let Ok(SequenceText { sequence }) = serde_json::from_str(text)
    {
        return sequence.iter().map(|text| tensor(text.get(), folder)).collect::<Result<_>>().map(CaseInput::Sequence);
    }
    tensor(text, folder).map(CaseInput::Tensor)
}

/// Reads a tensor: the name of a file, the bytes of its items, or what the program reads as JSON anywhere.
fn tensor(text: &str, folder: &Path) -> Result<Tensor> {
    if text.starts_with('"')
        && let Ok(name) = serde_json::from_str::<String>(text)
    {
        return read(folder.join(name));
    }
    if may_have(text, "\"hex\"")
        && let Ok(HexTensor { dtype, shape, hex }) = serde_json::from_str(text)
    {
        return Tensor::new(DType::parse(&dtype)?, shape, bytes_of_hex(&hex)?);
    }
    read_bytes(text.as_bytes())
}

/// Returns whether a text of JSON may have an object with a key in it, which is given with its quotes. To find that it has
/// none takes a fifth of the time of a run where each tensor is parsed for it.
fn may_have(text: &str, key: &str) -> bool {
    text.contains(key) || text.contains('\\')
}

/// Returns the bytes that pairs of hexadecimal digits stand for.
fn bytes_of_hex(digits: &str) -> Result<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { bail!("hex has an odd number of digits") };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.ok_or_else(|| malformed!("hex holds something else than hexadecimal digits"))
}

/// Returns pairs of hexadecimal digits for bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        assert_eq!(bytes_of_hex("00ff7F"), Ok(vec![0, 255, 127]));
        assert_eq!(bytes_of_hex(&hex(&[1, 0xab])), Ok(vec![1, 0xab]));
        assert_eq!(bytes_of_hex(""), Ok(vec![]));
        assert!(bytes_of_hex("0").is_err() && bytes_of_hex("0g").is_err() && bytes_of_hex("+1").is_err());
    }

    #[test]
    fn what_is_no_case() {
        let rows = [
            (r#"{"inputs": []}"#, "missing field"),
            (r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [], "extra": 1}"#, "unknown field"),
            (r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": []}"#, "neither an output"),
            (
                r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [[1]], "output": [1], "error": "e"}"#,
                "an output and an error",
            ),
            (
                r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [{"dtype": "int8", "shape": [2], "hex": "00"}], "error": "e"}"#,
                "input 0: ",
            ),
            (
                r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [], "error": "e", "output_count": 1000000}"#,
                "1000000 outputs",
            ),
            (
                r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [], "output": [1], "outputs": [[1]]}"#,
                "an output and outputs",
            ),
            (
                r#"{"specification": "onnx", "operator": "X", "version": 1, "inputs": [[1]], "output": [1], "class": "reject"}"#,
                "the class is reject",
            ),
        ];
        for (text, wanted) in rows {
            let loaded = CaseText::read(text).and_then(|case| case.load(Path::new("")));
            let message = loaded.expect_err(text).to_string();
            assert!(message.contains(wanted), "{text}: {message}");
        }
    }
}
