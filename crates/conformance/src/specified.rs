//! The operators that ONNX and OpenVINO specify. A test of any other is a mistake.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::case::Specification;
use crate::error::{Result, bail, ensure};

/// Operators with specification, name, versions, attributes (`-` for none, `*` for unknown), and the newest opset of
/// each domain. `tests/oracle/operators_golden.py` generates the file.
static OPERATORS: &str = include_str!("operators.txt");

struct Specified {
    versions: Vec<u64>,
    /// `None` if unknown.
    attributes: Option<Vec<&'static str>>,
}

struct SpecifiedTable {
    opsets: HashMap<&'static str, u64>,
    operators: HashMap<(&'static str, &'static str), Specified>,
}

static TABLE: LazyLock<SpecifiedTable> = LazyLock::new(|| {
    let mut table = SpecifiedTable { opsets: HashMap::new(), operators: HashMap::new() };
    for line in OPERATORS.lines().filter(|line| !line.starts_with('#')) {
        let number = |text: &str| text.parse::<u64>().expect("versions are numbers");
        match Vec::from_iter(line.split(' '))[..] {
            ["opset", domain, newest] => drop(table.opsets.insert(domain, number(newest))),
            [specification, name, versions, attributes] => {
                let attributes = match attributes {
                    "*" => None,
                    "-" => Some(Vec::new()),
                    names => Some(names.split(',').collect()),
                };
                let versions = versions.split(',').map(number).collect();
                table.operators.insert((specification, name), Specified { versions, attributes });
            }
            ref other => unreachable!("a line has 3 or 4 words, not {}", other.len()),
        }
    }
    table
});

fn key(specification: Specification) -> &'static str {
    match specification {
        Specification::Onnx => "onnx",
        Specification::OpenVino => "openvino",
    }
}

/// Any ONNX opset from the operator's first to the newest is valid. Foreign domains are not checked.
pub(super) fn check<'a>(
    specification: Specification,
    operator: &str,
    version: u64,
    attributes: impl Iterator<Item = &'a String>,
) -> Result<()> {
    let (table, name) = (&*TABLE, specification.name());
    let (domain, _) = operator.split_once("::").unwrap_or(("ai.onnx", operator));
    if specification == Specification::Onnx && !table.opsets.contains_key(domain) {
        return Ok(());
    }
    let Some(found) = table.operators.get(&(key(specification), operator)) else {
        let other = match specification {
            Specification::Onnx => Specification::OpenVino,
            Specification::OpenVino => Specification::Onnx,
        };
        // the program may lack the other specification's operators
        ensure!(
            table.operators.contains_key(&(key(other), operator)),
            "neither ONNX nor OpenVINO has an operator {operator}"
        );
        return Ok(());
    };
    let first = found.versions.first().copied().unwrap_or(0);
    match specification {
        Specification::Onnx => {
            let newest = table.opsets[domain];
            ensure!(version >= first, "{name} {operator} has no version {version}, it begins with opset {first}");
            ensure!(version <= newest, "{name} has no opset {version} of {domain}, the newest is {newest}");
        }
        Specification::OpenVino if found.versions.contains(&version) => {}
        Specification::OpenVino => {
            let versions: Vec<_> = found.versions.iter().map(u64::to_string).collect();
            bail!("{name} {operator} has no version {version}, expected {}", versions.join(", "));
        }
    }
    for attribute in attributes {
        match &found.attributes {
            Some(known) if known.is_empty() => bail!("{name} {operator} has no attribute {attribute}, nor any other"),
            Some(known) if !known.contains(&attribute.as_str()) => {
                bail!("{name} {operator} has no attribute {attribute}, expected {}", known.join(", "))
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_specified() {
        use Specification::{Onnx, OpenVino};
        let rows: &[(Specification, &str, u64, &[&str], &str)] = &[
            (Onnx, "ScatterND", 18, &["reduction"], ""),
            (Onnx, "ScatterND", 28, &[], ""),
            (Onnx, "Relu", 13, &["consumed_inputs"], ""),
            (Onnx, "ai.onnx.ml::Scaler", 5, &["scale"], ""),
            (Onnx, "com.example::Anything", 99, &["any"], ""),
            (Onnx, "SliceScatter", 15, &["any"], ""),
            (OpenVino, "Slice", 8, &[], ""),
            (OpenVino, "ScatterNDUpdate", 3, &[], ""),
            (OpenVino, "ScatterNDUpdate", 4, &[], ""),
            (OpenVino, "Convolution", 1, &["strides"], ""),
            (Onnx, "Slise", 13, &[], "neither ONNX nor OpenVINO has an operator Slise"),
            (Onnx, "slice", 13, &[], "neither ONNX nor OpenVINO has an operator slice"),
            (OpenVino, "Slise", 8, &[], "neither ONNX nor OpenVINO has an operator Slise"),
            (Onnx, "ai.onnx.ml::Slice", 1, &[], "neither ONNX nor OpenVINO has an operator ai.onnx.ml::Slice"),
            (Onnx, "ScatterND", 10, &[], "ONNX ScatterND has no version 10, it begins with opset 11"),
            (Onnx, "ScatterND", 99, &[], "ONNX has no opset 99 of ai.onnx, the newest is 28"),
            (OpenVino, "Slice", 9, &[], "OpenVINO Slice has no version 9, expected 8"),
            (Onnx, "ScatterND", 18, &["reductoin"], "ONNX ScatterND has no attribute reductoin, expected reduction"),
            (OpenVino, "Slice", 8, &["axis"], "OpenVINO Slice has no attribute axis, nor any other"),
        ];
        for (specification, operator, version, attributes, wanted) in rows {
            let attributes: Vec<_> = attributes.iter().map(|&name| name.to_owned()).collect();
            let found = check(*specification, operator, *version, attributes.iter());
            assert_eq!(
                found.map_or_else(|error| error.to_string(), |()| String::new()),
                *wanted,
                "{operator}-{version}"
            );
        }
    }
}
