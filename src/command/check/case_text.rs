//! Reads cases in JSON, whose tensors are JSON or in files.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use tensorop_conformance::case::{
    Case, CaseInput, CaseOutput, Class, Expected, KnownTest, Specification, SpecificationName, Tolerances,
};

use crate::error::{Context, Result, bail, ensure, malformed};
use crate::ops::call::AttributeValue;
use crate::{DType, Tensor, read, read_bytes};

const MAX_OUTPUTS: usize = 1 << 16;

/// Tensors are parsed in [`load`](Self::load).
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with specification, operator, version, inputs and output or error")]
pub(super) struct CaseText<'a> {
    #[serde(default)]
    pub(super) id: String,
    #[serde(with = "SpecificationName")]
    specification: Specification,
    pub(super) operator: String,
    pub(super) version: u64,
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
    pub(super) class: Class,
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

/// For bits without a JSON number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HexTensor {
    dtype: String,
    shape: Vec<usize>,
    hex: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceText<'a> {
    #[serde(borrow)]
    sequence: Vec<&'a RawValue>,
}

impl<'a> CaseText<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| malformed!("not a case: {error}"))
    }

    pub(super) fn about(&self) -> KnownTest {
        KnownTest { operator: self.operator.clone(), version: self.version, class: self.class }
    }

    /// Files are relative to `folder`.
    pub(super) fn load(self, folder: &Path) -> Result<Case> {
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
            "the class is reject, but there is an output"
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

fn input(text: &str, folder: &Path) -> Result<CaseInput> {
    if may_have(text, "\"sequence\"")
        && let Ok(SequenceText { sequence }) = serde_json::from_str(text)
    {
        return sequence.iter().map(|text| tensor(text.get(), folder)).collect::<Result<_>>().map(CaseInput::Sequence);
    }
    tensor(text, folder).map(CaseInput::Tensor)
}

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

/// `key` includes its quotes. Parsing each tensor as an object takes a fifth of a run.
fn may_have(text: &str, key: &str) -> bool {
    text.contains(key) || text.contains('\\')
}

fn bytes_of_hex(digits: &str) -> Result<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { bail!("hex has an odd number of digits") };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.ok_or_else(|| malformed!("hex has other characters than hexadecimal digits"))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use tensorop_conformance::case::packed_cases;

    use super::*;
    use crate::diff::{Options, compare};
    use crate::dtype::Kind;
    use crate::kernel::{Call, TensorMut, TensorRef};

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

    /// Returns the outputs of the kernels; `None` for strings of several widths and for dtypes that only the readers widen.
    fn by_kernels(case: &Case) -> Option<Result<Vec<Tensor>>> {
        let (mut tensors, mut omitted) = (Vec::new(), Vec::new());
        for (n, input) in case.inputs.iter().enumerate() {
            match input {
                CaseInput::Absent => omitted.push(n),
                CaseInput::Tensor(tensor) => tensors.push(tensor),
                CaseInput::Sequence(list) => tensors.extend(list),
            }
        }
        let is_text = |tensor: &&Tensor| matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_));
        if tensors.iter().any(is_text) {
            return None;
        }
        let made = match case.specification {
            Specification::Onnx => Call::from_onnx(&case.operator, case.version, &case.attributes),
            Specification::OpenVino => Call::from_openvino(&case.operator, case.version, &case.attributes),
        };
        let call = made.map(|call| omitted.into_iter().fold(call, Call::without_input));
        let metas: Vec<_> = tensors.iter().map(|tensor| tensor.meta().clone()).collect();
        let output = |n| {
            let mut kernel = call.clone()?.output(n, case.operator_outputs).infer(&metas)?;
            let mut given: Vec<_> = tensors.iter().map(|tensor| Some(TensorRef::from(*tensor))).collect();
            while let Some(input) = kernel.unbound() {
                kernel.bind(input, &TensorRef::from(tensors[input]))?;
                given[input] = None;
            }
            let given: Vec<_> = given.into_iter().flatten().collect();
            let mut out = vec![0; kernel.bytes()];
            kernel.apply(&given, TensorMut::new(kernel.dtype(), kernel.shape(), &mut out)?, 1)?;
            Tensor::new(kernel.dtype().clone(), kernel.shape().to_vec(), out)
        };
        Some((0..case.operator_outputs).map(output).collect())
    }

    #[test]
    fn kernels_pass_the_cases() {
        let (mut passed, mut refused) = (0, 0);
        // the weekly run takes all
        let step = if std::env::var_os("TENSOROP_TEST_ROUNDS").is_some() { 1 } else { 11 };
        for text in packed_cases().unwrap() {
            for entry in serde_json::from_str::<Vec<&RawValue>>(&text).unwrap().into_iter().step_by(step) {
                let case = CaseText::read(entry.get()).unwrap().load(Path::new("")).unwrap();
                let id = entry.get();
                match (by_kernels(&case), &case.expected) {
                    (None, _) => {}
                    (Some(Ok(found)), Expected::Outputs(expected)) => {
                        let same = |(found, expected): (&Tensor, &Tensor)| {
                            let (dtype, shape) = (expected.dtype().native(), expected.shape());
                            (found.dtype().native(), found.shape()) == (dtype, shape)
                                && (found.bytes() == expected.bytes()
                                    || compare(expected, found, &Options::default()).unwrap().equal())
                        };
                        assert!(
                            found.len() == expected.len() && found.iter().zip(expected).all(same),
                            "{id}: {found:?}"
                        );
                        passed += 1;
                    }
                    (Some(Err(_)), Expected::Refusal(_)) => refused += 1,
                    (Some(found), _) => panic!("{id}: {found:?}"),
                }
            }
        }
        assert!(passed * step > 4000 && refused * step > 500, "{passed} cases passed, {refused} refused");
    }
}
