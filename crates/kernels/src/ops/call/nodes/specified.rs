//! The operators that ONNX and OpenVINO specify, with the attributes and types of each version. A test of any other operator
//! is a mistake. A version refuses attributes and types that it lacks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use super::Specification;
use crate::error::{Error, Result, Subject, bail, ensure};
use crate::item::dtype::{DType, Kind};

/// The newest opset of each domain, lists of types, and each version of each operator with its attributes (`-` for none,
/// `*` for unknown) and, if vectors test it, its inputs with their lists of types (`*` for any).
/// `tests/oracle/operators_golden.py` generates the file.
static OPERATORS: &str = include_str!("operators.txt");

struct SpecifiedVersion {
    /// `None` if unknown.
    attributes: Option<Vec<&'static str>>,
    /// Names of inputs and of lists of types; the last may be variadic.
    inputs: Vec<(&'static str, &'static str)>,
}

impl SpecifiedVersion {
    fn lacks(&self, attribute: &str) -> bool {
        self.attributes.as_ref().is_some_and(|all| !all.contains(&attribute))
    }
}

struct SpecifiedTable {
    opsets: HashMap<&'static str, u64>,
    types: HashMap<&'static str, Vec<&'static str>>,
    operators: HashMap<(&'static str, &'static str), BTreeMap<u64, SpecifiedVersion>>,
}

static TABLE: LazyLock<SpecifiedTable> = LazyLock::new(|| {
    let mut table = SpecifiedTable { opsets: HashMap::new(), types: HashMap::new(), operators: HashMap::new() };
    for line in OPERATORS.lines().filter(|line| !line.starts_with('#')) {
        let number = |text: &str| text.parse::<u64>().expect("versions are numbers");
        match Vec::from_iter(line.split(' '))[..] {
            ["opset", domain, newest] => drop(table.opsets.insert(domain, number(newest))),
            ["types", name, types] => drop(table.types.insert(name, types.split(',').collect())),
            [specification, name, version, attributes, ref inputs @ ..] => {
                let attributes = match attributes {
                    "*" => None,
                    "-" => Some(Vec::new()),
                    names => Some(names.split(',').collect()),
                };
                let inputs = inputs.iter().map(|input| input.split_once('=').expect("an input has types")).collect();
                let versions = table.operators.entry((specification, name)).or_default();
                versions.insert(number(version), SpecifiedVersion { attributes, inputs });
            }
            ref other => unreachable!("a line has 3 words or more, not {}", other.len()),
        }
    }
    table
});

/// Any ONNX opset from the operator's first to the newest is valid. Foreign domains are not checked.
///
/// # Errors
/// The operator, the version or an attribute is specified nowhere.
pub fn check<'a>(
    specification: Specification,
    operator: &str,
    version: u64,
    mut attributes: impl Iterator<Item = &'a String>,
) -> Result<()> {
    let (table, name) = (&*TABLE, specification.name());
    let (domain, _) = operator.split_once("::").unwrap_or(("ai.onnx", operator));
    if specification == Specification::Onnx && !table.opsets.contains_key(domain) {
        return Ok(());
    }
    let Some(versions) = table.operators.get(&(name, operator)) else {
        // the program may lack the other specification's operators
        let is_known = table.operators.keys().any(|(_, known)| *known == operator);
        ensure!(is_known, "neither ONNX nor OpenVINO has an operator {operator}");
        return Ok(());
    };
    let first = versions.keys().next().copied().unwrap_or(0);
    match specification {
        Specification::Onnx => {
            let newest = table.opsets[domain];
            ensure!(version >= first, "{name} {operator} has no version {version}, it begins with opset {first}");
            ensure!(version <= newest, "{name} has no opset {version} of {domain}, the newest is {newest}");
        }
        Specification::OpenVino if versions.contains_key(&version) => {}
        Specification::OpenVino => {
            let versions: Vec<_> = versions.keys().map(u64::to_string).collect();
            bail!("{name} {operator} has no version {version}, expected {}", versions.join(", "));
        }
    }
    if let Some(attribute) = attributes.find(|name| versions.values().all(|version| version.lacks(name))) {
        let known: BTreeSet<_> =
            versions.values().flat_map(|version| version.attributes.iter().flatten()).copied().collect();
        ensure!(!known.is_empty(), "{name} {operator} has no attribute {attribute}, nor any other");
        bail!("{name} {operator} has no attribute {attribute}, expected {}", Vec::from_iter(known).join(", "));
    }
    Ok(())
}

fn version_in<'t>(
    specification: Specification,
    operator: &'t str,
    version: u64,
) -> Option<(&'t u64, &'t SpecifiedVersion)> {
    let table: &'t SpecifiedTable = &TABLE;
    let versions = table.operators.get(&(specification.name(), operator));
    versions.and_then(|versions| versions.range(..=version).next_back())
}

/// Refuses attributes that only other versions have.
pub(super) fn check_attributes<'a>(
    specification: Specification,
    operator: &str,
    version: u64,
    mut attributes: impl Iterator<Item = &'a String>,
) -> Result<()> {
    let Some((version, found)) = version_in(specification, operator, version) else { return Ok(()) };
    let Some(attribute) = attributes.find(|name| found.lacks(name)) else { return Ok(()) };
    let message = format!("{} {operator}-{version} has no {attribute}, other versions have", specification.name());
    Err(Error::new(Subject::Argument("attributes"), message))
}

/// Refuses types that the version does not list, by the places of inputs.
///
/// # Errors
/// The version does not list a type for its input, or inputs of one type differ.
pub fn check_types(
    specification: Specification,
    operator: &str,
    version: u64,
    inputs: impl Iterator<Item = (usize, String)>,
) -> Result<()> {
    let Some((_, found)) = version_in(specification, operator, version) else { return Ok(()) };
    let mut dtypes = HashMap::new();
    for (n, dtype) in inputs {
        let Some((label, types)) = found.inputs.get(n).or(found.inputs.last()) else { continue };
        let Some(listed) = TABLE.types.get(types) else { continue };
        let is_sequence = listed.first().is_some_and(|name| name.starts_with("seq("));
        let dtype = if is_sequence && !dtype.starts_with("seq(") { format!("seq({dtype})") } else { dtype };
        if !listed.contains(&dtype.as_str()) {
            let message = format!("dtype {dtype}, expected {}", listed.join(", "));
            return Err(Error::new(Subject::Argument(label), message));
        }
        let (first, same) = dtypes.entry(types).or_insert_with(|| (label, dtype.clone()));
        if *same != dtype {
            let message = format!("dtype {dtype}, expected {same} like {first}");
            return Err(Error::new(Subject::Argument(label), message));
        }
    }
    Ok(())
}

/// The name of a type in the lists. Void items have none: `.npy` has no name for some types.
pub fn type_name(dtype: &DType) -> Option<String> {
    match dtype.kind() {
        Kind::Void(_) => None,
        Kind::Str(_) | Kind::Bytes(_) => Some("string".to_owned()),
        _ => Some(dtype.native().name()),
    }
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
