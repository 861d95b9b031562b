//! What `tensorop check` refuses by the version of an operator: attributes, dtypes of inputs, and ranges that a version does not
//! have. The vectors hold every row of this kind; these are the messages.

use crate::common::{Folder, each, words};

/// Runs one case, and returns the reason if it is refused, or nothing.
fn refusal(specification: &str, operator: &str, attributes: &str, inputs: &str) -> Result<String, String> {
    let (name, version) = operator.split_once('-').expect("a name and a version");
    let folder = Folder::new();
    let count = if name.contains("Split") { r#", "output_count": 2"# } else { "" };
    let case = format!(
        r#"[{{"id": "x", "specification": "{specification}", "operator": "{name}", "version": {version}, "attributes": {{{attributes}}}, "inputs": [{inputs}], "error": "nothing"{count}}}]"#
    );
    folder.put("cases.json", case);
    let run = folder.run(words("check cases.json --save out --json"));
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).map_err(|_| run.stderr.clone())?;
    let (verdict, reason) = (json["tests"][0]["verdict"].as_str(), json["tests"][0]["reason"].as_str());
    match verdict {
        Some("passed") => Ok(String::from_utf8(folder.get("out/cases#x/refused")).unwrap().trim_end().to_owned()),
        Some("failed") if reason.is_some_and(|reason| reason.starts_with("gave ")) => Ok(String::new()),
        _ => Err(format!("{verdict:?} {reason:?}")),
    }
}

fn typed(dtype: &str, shape: &str, data: &str) -> String {
    format!(r#"{{"dtype": "{dtype}", "shape": {shape}, "data": {data}}}"#)
}

#[test]
fn what_a_version_forbids() {
    let narrow = |dtype: &str| typed(dtype, "[2, 1]", "[1, 0]");
    let text = r#"{"dtype": "<U1", "shape": [2], "data": ["a", "b"]}"#;
    let data = "[[1, 2], [3, 4]]";
    let one = |more: &str| format!("{data}, {more}");
    let floats = typed("float32", "[2]", "[1, 2]");
    let rows: &[(&str, &str, &str, String, &str)] = &[
        // attributes by version
        (
            "onnx",
            "GatherND-11",
            r#""batch_dims": 1"#,
            one("[[1], [0]]"),
            "attributes: ONNX GatherND-11 has no batch_dims, other versions have",
        ),
        ("onnx", "GatherND-12", r#""batch_dims": 1"#, one("[[1], [0]]"), ""),
        (
            "onnx",
            "ScatterND-15",
            r#""reduction": "none""#,
            "[1, 2], [[1]], [3]".into(),
            "attributes: ONNX ScatterND-13 has no reduction, other versions have",
        ),
        (
            "onnx",
            "Slice-13",
            r#""axes": [0]"#,
            "[1, 2], [0], [1]".into(),
            "attributes: ONNX Slice-13 has no axes, other versions have",
        ),
        (
            "openvino",
            "ScatterNDUpdate-3",
            r#""reduction": "none""#,
            "[1, 2], [[1]], [3]".into(),
            "attributes: OpenVINO ScatterNDUpdate-3 has no reduction, other versions have",
        ),
        ("openvino", "ScatterNDUpdate-15", r#""reduction": "none""#, "[1, 2], [[1]], [3]".into(), ""),
        (
            "openvino",
            "Gather-1",
            r#""batch_dims": 0"#,
            "[1, 2], [1], 0".into(),
            "attributes: OpenVINO Gather-1 has no batch_dims, other versions have",
        ),
        // dtypes by version
        ("onnx", "GatherND-13", "", one(&narrow("int32")), "indices: dtype int32, expected int64"),
        ("onnx", "Gather-13", "", one(&narrow("int16")), "indices: dtype int16, expected int32, int64"),
        ("onnx", "Gather-13", "", one(&narrow("int32")), ""),
        ("openvino", "Gather-8", "", format!("{data}, {}, 0", narrow("int16")), ""),
        (
            "openvino",
            "GatherElements-6",
            r#""axis": 1"#,
            one(&narrow("uint8")),
            "indices: dtype uint8, expected int32, int64",
        ),
        (
            "openvino",
            "Roll-7",
            "",
            one(&format!("{}, [0]", typed("int8", "[1]", "[1]"))),
            "shift: dtype int8, expected int32, int64",
        ),
        ("openvino", "Roll-7", "", one(&format!("{}, [0]", typed("int32", "[1]", "[1]"))), ""),
        (
            "onnx",
            "Pad-2",
            r#""pads": [1, 0]"#,
            "[1, 2]".into(),
            "data: dtype int64, expected float16, float32, float64",
        ),
        ("onnx", "Pad-2", r#""pads": [1, 0]"#, floats, ""),
        (
            "onnx",
            "Squeeze-13",
            "",
            format!("[[1]], {}", typed("int32", "[1]", "[0]")),
            "axes: dtype int32, expected int64",
        ),
        (
            "onnx",
            "Slice-13",
            "",
            format!("[1, 2], [0], {}", typed("int32", "[1]", "[1]")),
            "ends: dtype int32, expected int64 like starts",
        ),
        (
            "onnx",
            "ConcatFromSequence-11",
            r#""axis": 0"#,
            r#"{"sequence": [{"dtype": "int4", "shape": [1], "data": [1]}]}"#.into(),
            "input_sequence: dtype seq(int4), expected seq(bool), seq(complex128), seq(complex64), seq(float16), seq(float32), seq(float64), seq(int16), seq(int32), seq(int64), seq(int8), seq(string), seq(uint16), seq(uint32), seq(uint64), seq(uint8)",
        ),
        (
            "onnx",
            "Tile-13",
            "",
            r#"{"sequence": [[1, 2]]}, [2]"#.into(),
            "input: dtype seq(int64), expected bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64, int8, string, uint16, uint32, uint64, uint8",
        ),
        ("openvino", "Broadcast-1", "", format!("{text}, [3, 2]"), ""),
        (
            "openvino",
            "Broadcast-3",
            "",
            format!("{text}, [3, 2]"),
            "data: dtype string, expected bfloat16, bool, complex128, complex64, float16, float32, float4_e2m1fn, float64, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, int16, int2, int32, int4, int64, int8, uint16, uint2, uint32, uint4, uint64, uint8",
        ),
        // void items may have any type
        ("onnx", "Tile-13", "", r#"{"dtype": "V1", "shape": [1], "hex": "01"}, [2]"#.into(), ""),
        // ranges, shapes and counts
        (
            "onnx",
            "GatherND-13",
            "",
            one(r#"{"dtype": "int64", "shape": [2, 0], "data": []}"#),
            "inputs: tuples without indices",
        ),
        ("openvino", "GatherND-8", "", one(r#"{"dtype": "int64", "shape": [2, 0], "data": []}"#), ""),
        ("openvino", "GatherND-5", "", one("[[-1]]"), "inputs: indices has -1, expected 0 or more"),
        ("openvino", "GatherND-8", "", one("[[-1]]"), ""),
        (
            "openvino",
            "ScatterNDUpdate-3",
            "",
            "[1, 2], [[-1]], [3]".into(),
            "inputs: indices has -1, expected 0 or more",
        ),
        (
            "openvino",
            "GatherElements-6",
            r#""axis": 1"#,
            one("[[1]]"),
            "inputs: indices [1, 1] for axis 1 of data [2, 2]",
        ),
        ("onnx", "GatherElements-13", r#""axis": 1"#, one("[[1]]"), ""),
        ("onnx", "Squeeze-1", r#""axes": [-1]"#, "[[1]]".into(), "inputs: axes has -1, expected 0 or more"),
        ("onnx", "Squeeze-11", r#""axes": [-1]"#, "[[1]]".into(), ""),
        ("onnx", "Unsqueeze-1", r#""axes": [-1]"#, "[1]".into(), "inputs: axes has -1, expected 0 or more"),
        ("onnx", "Flatten-9", r#""axis": -1"#, data.into(), "inputs: axis has -1, expected 0 or more"),
        ("onnx", "Flatten-11", r#""axis": -1"#, data.into(), ""),
        ("onnx", "Transpose-25", r#""perm": [-1, 0]"#, data.into(), "inputs: perm has -1, expected 0 or more"),
        ("openvino", "Transpose-1", "", one("[-1, 0]"), "inputs: input_order has -1, expected 0 or more"),
        ("onnx", "Pad-13", "", "[1, 2], [1, 1], [7]".into(), "inputs: constant_value has shape [1], expected a scalar"),
        ("onnx", "Pad-13", "", "[1, 2], [1, 1], 7".into(), ""),
        (
            "openvino",
            "Split-1",
            r#""num_splits": 2"#,
            "[1, 2], [0]".into(),
            "inputs: axis has shape [1], expected a scalar",
        ),
        ("openvino", "VariadicSplit-1", "", "[1, 2], [0], [1, 1]".into(), ""),
        ("openvino", "Roll-7", "", one("[1], 0"), "inputs: axes without an axis for shifts along one"),
        ("openvino", "StridedSlice-1", "", one("[0], [1]"), "inputs: 1 entries and 0 ellipses for data [2, 2]"),
        (
            "openvino",
            "StridedSlice-1",
            r#""shrink_axis_mask": [1]"#,
            one("[0], [1]"),
            "inputs: an axis shrinks to 0, and ends at 1",
        ),
        ("openvino", "StridedSlice-1", r#""shrink_axis_mask": [1]"#, one("[1], [1]"), ""),
        ("onnx", "Tile-13", "", "[1, 2], [2], [3]".into(), "inputs: 3 inputs, expected 2"),
        ("onnx", "Pad-13", "", "[1, 2], [1, 1], 7, [0]".into(), "inputs: 4 inputs, expected 3"),
    ];
    each(
        rows,
        |(specification, operator, attributes, inputs, _)| format!("{specification} {operator} {attributes} {inputs}"),
        |(specification, operator, attributes, inputs, wanted)| match refusal(
            specification,
            operator,
            attributes,
            inputs,
        )? {
            found if found == *wanted => Ok(()),
            found => Err(format!("{found:?}, expected {wanted:?}")),
        },
    );
}
