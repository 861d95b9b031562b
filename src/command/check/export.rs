//! Writes cases for other runtimes: as ONNX's backend tests, or as `.npy` files with a `case.json`.

use std::fs;
use std::path::Path;

use tensorop_conformance::case::{Attributes, Case, CaseInput, Expected, Specification, Tolerances};

use super::case_text::hex;
use super::find::ABOUT;
use crate::error::{Context, Result};
use crate::formats::onnx::model_write::{NodeModel, ValueType, write_sequence};
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;
use crate::library::files::WriteOptions;
use crate::opening::table::Format;
use crate::ops::call::AttributeValue;
use crate::report::json::{self, Escapes};

pub(super) const DATA_SET: &str = "test_data_set_0";

/// The files of each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaseLayout {
    /// Like ONNX's tests.
    Onnx,
    /// `case.json` and its `.npy` files.
    Npy,
}

/// False if the layout cannot express the case: only ONNX's operators can be models.
///
/// # Errors
/// A file cannot be written.
pub(super) fn export(case: &Case, folder: &Path, layout: CaseLayout) -> Result<bool> {
    let files = match layout {
        CaseLayout::Npy => Some(npy(case)?),
        CaseLayout::Onnx => onnx(case)?,
    };
    let Some(files) = files else { return Ok(false) };
    let of_files = if layout == CaseLayout::Onnx { folder.join(DATA_SET) } else { folder.to_owned() };
    fs::create_dir_all(&of_files).with_context(|| of_files.display().to_string())?;
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(true)
}

type NamedFile = (String, Vec<u8>);

fn npy(case: &Case) -> Result<Vec<NamedFile>> {
    let mut files = Vec::new();
    let mut tensor = |tensor: &Tensor, name: String| -> Result<String> {
        let dtype = tensor.dtype();
        // `.npy` has no name for these dtypes
        if matches!(dtype.kind(), Kind::BFloat16 | Kind::Narrow(_)) {
            let text = |text: &str| json::string(text, Escapes::Short);
            return Ok(json::object([
                ("dtype", text(&dtype.name())),
                ("shape", json::list(tensor.shape())),
                ("hex", text(&hex(tensor.bytes()))),
            ]));
        }
        files.push((name.clone(), WriteOptions::new().format(Format::NPY).to_bytes(tensor)?));
        Ok(json::string(&name, Escapes::Short))
    };
    let mut inputs = Vec::new();
    for (n, input) in case.inputs.iter().enumerate() {
        inputs.push(match input {
            CaseInput::Absent => "null".to_owned(),
            CaseInput::Tensor(input) => tensor(input, format!("input_{n}.npy"))?,
            CaseInput::Sequence(tensors) => {
                let names = tensors.iter().enumerate().map(|(k, item)| tensor(item, format!("input_{n}_{k}.npy")));
                let names = names.collect::<Result<Vec<_>>>()?;
                json::object([("sequence", format!("[{}]", names.join(", ")))])
            }
        });
    }
    let mut expected = Vec::new();
    match &case.expected {
        Expected::Outputs(outputs) => match &outputs[..] {
            [output] => expected.push(("output", tensor(output, "output.npy".to_owned())?)),
            several => {
                let texts = several.iter().enumerate().map(|(n, output)| tensor(output, format!("output_{n}.npy")));
                expected.push(("outputs", format!("[{}]", texts.collect::<Result<Vec<_>>>()?.join(", "))));
            }
        },
        Expected::Refusal(wrong) => {
            expected.push(("error", json::string(wrong, Escapes::Short)));
            expected.extend((case.outputs.len() != 1).then(|| ("output_count", case.outputs.len().to_string())));
        }
    }
    let text = |text: &str| json::string(text, Escapes::Short);
    let mut members = vec![
        ("id", text(&case.id)),
        ("specification", text(&case.specification.name().to_lowercase())),
        ("operator", text(&case.operator)),
        ("version", case.version.to_string()),
        ("attributes", attributes(&case.attributes)),
        ("inputs", format!("[{}]", inputs.join(", "))),
    ];
    members.extend(expected);
    members.extend([("class", text(case.class.name())), ("why", text(&case.why))]);
    members.extend(tolerances(&case.tolerances));
    files.push(("case.json".to_owned(), format!("{}\n", json::object(members)).into_bytes()));
    Ok(files)
}

fn tolerances(given: &Tolerances) -> impl Iterator<Item = (&'static str, String)> {
    let Tolerances { atol, rtol, ulp } = *given;
    let [atol, rtol] = [atol, rtol].map(|value| value.map(json::float));
    let all = [("atol", atol), ("rtol", rtol), ("ulp", ulp.map(|steps| steps.to_string()))];
    all.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

fn attributes(attributes: &Attributes) -> String {
    let value = |value: &AttributeValue| match value {
        AttributeValue::Int(number) => number.to_string(),
        AttributeValue::Ints(numbers) => format!("{numbers:?}"),
        AttributeValue::Float(number) => format!("{number:?}"),
        AttributeValue::Text(text) => json::string(text, Escapes::Short),
        AttributeValue::Other => "null".to_owned(),
    };
    json::object(attributes.iter().map(|(name, of)| (name.as_str(), value(of))))
}

/// `None` if ONNX cannot express the case.
fn onnx(case: &Case) -> Result<Option<Vec<NamedFile>>> {
    if case.specification != Specification::Onnx {
        return Ok(None);
    }
    let proto = |tensor: &Tensor| WriteOptions::new().format(Format::ONNX).to_bytes(tensor);
    let (mut files, mut values) = (Vec::new(), Vec::new());
    let mut put = |name: String, bytes: Vec<u8>| files.push((format!("{DATA_SET}/{name}"), bytes));
    let mut number = 0;
    for input in &case.inputs {
        let (bytes, value) = match input {
            CaseInput::Absent => {
                values.push(None);
                continue;
            }
            CaseInput::Tensor(tensor) => (proto(tensor)?, value_type(tensor, false)),
            CaseInput::Sequence(tensors) => {
                let Some(first) = tensors.first() else { return Ok(None) };
                let protos = tensors.iter().map(proto).collect::<Result<Vec<_>>>()?;
                (write_sequence(&protos), ValueType { is_sequence: true, ..value_type(first, true) })
            }
        };
        put(format!("input_{number}.pb"), bytes);
        values.push(Some(value));
        number += 1;
    }
    // a model needs an output even if it must refuse: the data's dtype and an open shape
    let outputs = match (&case.expected, values.iter().flatten().next()) {
        (Expected::Outputs(outputs), _) => {
            for (n, output) in outputs.iter().enumerate() {
                put(format!("output_{n}.pb"), proto(output)?);
            }
            outputs.iter().map(|output| value_type(output, false)).collect()
        }
        (Expected::Refusal(_), Some(data)) => {
            vec![ValueType { shape: None, is_sequence: false, ..data.clone() }; case.outputs.len()]
        }
        (Expected::Refusal(_), None) => return Ok(None),
    };
    let model = NodeModel {
        operator: &case.operator,
        opset: case.version,
        attributes: &case.attributes,
        inputs: &values,
        outputs: &outputs,
    };
    let model = model.write()?;
    let text = |text: &str| json::string(text, Escapes::Short);
    let mut about = vec![("class", text(case.class.name())), ("why", text(&case.why))];
    if let Expected::Refusal(wrong) = &case.expected {
        about.push(("error", text(wrong)));
    }
    about.extend(tolerances(&case.tolerances));
    files.push((ABOUT.to_owned(), format!("{}\n", json::object(about)).into_bytes()));
    files.push(("model.onnx".to_owned(), model));
    Ok(Some(files))
}

/// Tensors in a sequence may differ in shape.
fn value_type(tensor: &Tensor, is_open: bool) -> ValueType<'_> {
    ValueType { dtype: tensor.dtype(), shape: (!is_open).then(|| tensor.shape()), is_sequence: false }
}
