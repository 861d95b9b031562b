//! Compares metadata: attributes, fill values and dimension names of chunked tensors, metadata of files, and
//! attachments. Metadata that one of the formats cannot store are not compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::diff::numbers::kernel::Rows;
use crate::diff::numbers::reading::Comparability;
use crate::report::printable;
use crate::storage::attachments::{self, Attachments};
use crate::storage::chunked::ChunkStyle;
use crate::storage::source::{FileMetadata, Source};
use crate::untyped::python_json;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::encoding::Conversion;

const FILL_VALUE: &str = "fill_value";

const DIMENSION_NAMES: &str = "dimension_names";

pub(crate) fn differing_of_tensors(expected: &Source, actual: &Source) -> BTreeSet<String> {
    let [Some(one), Some(other)] = [expected, actual].map(|source| source.as_chunks().map(|chunks| chunks.style()))
    else {
        return BTreeSet::new();
    };
    let attributes = [one, other].map(|style| style.attributes.as_deref().unwrap_or("{}"));
    let mut names = differing_keys(attributes);
    if axes_of(one) != axes_of(other) {
        names.insert(DIMENSION_NAMES.to_owned());
    }
    if !have_one_fill([expected, actual], [&one.fill, &other.fill]) {
        names.insert(FILL_VALUE.to_owned());
    }
    names
}

fn axes_of(style: &ChunkStyle) -> Option<Vec<Option<String>>> {
    let names: Vec<Option<String>> = serde_json::from_str(style.dimension_names.as_deref()?).ok()?;
    names.iter().any(Option::is_some).then_some(names)
}

fn have_one_fill(sources: [&Source; 2], fills: [&[u8]; 2]) -> bool {
    let dtypes = sources.map(Source::dtype);
    // `--dtype` may have changed the itemsize.
    let are_items = dtypes.iter().zip(fills).all(|(dtype, fill)| dtype.itemsize() == fill.len());
    if !are_items || dtypes[0] == dtypes[1] && fills[0] == fills[1] {
        return fills[0] == fills[1];
    }
    let native = |side: usize| {
        let mut item = fills[side].to_vec();
        Conversion::to_native(dtypes[side]).swap(&mut item);
        item
    };
    let how = Comparability::new(&dtypes[0].native(), &dtypes[1].native());
    how.is_some_and(|how| how.is_same(Rows { expected: &native(0), actual: &native(1) }))
}

fn differing_keys(objects: [&str; 2]) -> BTreeSet<String> {
    let [one, other] = objects.map(|text| python_json::object(text).unwrap_or_default());
    let is_same = |key: &str| match (one.get(key), other.get(key)) {
        (Some(one), Some(other)) => is_same_json(one, other),
        (_, _) => false,
    };
    let keys = one.keys().chain(other.keys());
    keys.filter(|key| !is_same(key)).cloned().collect()
}

/// Ignores spaces, key order and the notation of numbers.
fn is_same_json(one: &str, other: &str) -> bool {
    fn is_same(one: &Value, other: &Value) -> bool {
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => {
                one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
            }
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
            }
            (Value::Object(one), Value::Object(other)) => {
                let same = |(key, one)| other.get(key).is_some_and(|other| is_same(one, other));
                one.len() == other.len() && one.iter().all(same)
            }
            (one, other) => one == other,
        }
    }
    let parse = |text: &str| serde_json::from_str::<Value>(&python_json::comparable(text)).ok();
    one == other || parse(one).zip(parse(other)).is_some_and(|(one, other)| is_same(&one, &other))
}

/// Files of one format are compared by their values, also by those that outputs do not keep. Others have only the texts
/// in common that outputs keep.
fn differing_values([one, other]: [&FileMetadata; 2]) -> Result<BTreeSet<String>> {
    fn differing<T: PartialEq>(one: &BTreeMap<String, T>, other: &BTreeMap<String, T>) -> BTreeSet<String> {
        one.keys().chain(other.keys()).filter(|key| one.get(*key) != other.get(*key)).cloned().collect()
    }
    Ok(match one.format == other.format {
        true => differing(&one.exact.values()?, &other.exact.values()?),
        false => differing(&one.kept, &other.kept),
    })
}

/// The attributes of groups by their paths.
type Groups = BTreeMap<String, String>;

fn differing_groups([one, other]: [&Groups; 2], wanted: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let paths: BTreeSet<&String> = one.keys().chain(other.keys()).filter(|path| wanted(path)).collect();
    let of = |path: &String| {
        let attributes = [one, other].map(|groups| groups.get(path).map_or("{}", |text| text));
        let before = if path.is_empty() { String::new() } else { format!("{path}/") };
        differing_keys(attributes).into_iter().map(move |key| format!("{before}{key}"))
    };
    paths.into_iter().flat_map(of).collect()
}

/// Sorted names of metadata and attachments that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferingNames {
    /// Names of metadata.
    pub metadata: Vec<String>,
    /// Names of attachments.
    pub content: Vec<String>,
}

impl DifferingNames {
    /// Whether both lists are empty.
    pub fn is_empty(&self) -> bool {
        self.metadata.is_empty() && self.content.is_empty()
    }

    fn lists(&self) -> impl Iterator<Item = (&'static str, String)> {
        [("metadata", &self.metadata), ("content", &self.content)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(noun, names)| (noun, printable(&names.join(", ")).into_owned()))
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.lists().map(|(noun, names)| format!("{noun} differs: {names}"))
    }

    pub(crate) fn verdict(&self) -> String {
        self.lists().map(|(noun, names)| format!("{noun} {names}")).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn extend(&mut self, other: Self) {
        for (names, others) in [(&mut self.metadata, other.metadata), (&mut self.content, other.content)] {
            names.extend(others);
            names.sort();
            names.dedup();
        }
    }

    /// Compares the metadata of two files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn from_files(files: [&FileMetadata; 2]) -> Result<Self> {
        Ok(Self { metadata: differing_values(files)?.into_iter().collect(), ..Self::default() })
    }

    /// Prefixes all names with `before`.
    pub fn behind(self, before: &str) -> Self {
        let all = |names: Vec<String>| names.into_iter().map(|name| format!("{before}{name}")).collect();
        Self { metadata: all(self.metadata), content: all(self.content) }
    }
}

#[derive(Debug)]
struct BesideTensors {
    metadata: Option<Arc<FileMetadata>>,
    groups: Option<Arc<Groups>>,
    attachments: Option<Arc<dyn Attachments>>,
}

impl BesideTensors {
    fn of(source: &Source) -> Self {
        let container = source.container();
        let metadata = container.and_then(|container| container.metadata.clone());
        let groups = container.and(source.as_chunks()).map(|chunks| Arc::clone(&chunks.style().groups));
        Self { metadata, groups, attachments: source.attachments().cloned() }
    }

    fn is(&self, other: &Self) -> bool {
        let places = |Self { metadata, groups, attachments }: &Self| {
            let attachments = attachments.as_ref().map(|it| Arc::as_ptr(it).cast::<()>());
            (metadata.as_ref().map(Arc::as_ptr), groups.as_ref().map(Arc::as_ptr), attachments)
        };
        places(self) == places(other)
    }

    fn differing(&self, other: &Self, wanted: &dyn Fn(&str) -> bool) -> Result<DifferingNames> {
        let mut metadata = match (&self.metadata, &other.metadata) {
            (Some(one), Some(other)) => differing_values([one, other])?,
            (_, None) | (None, _) => BTreeSet::new(),
        };
        if let (Some(one), Some(other)) = (&self.groups, &other.groups) {
            metadata.extend(differing_groups([one, other], wanted));
        }
        let content = match (&self.attachments, &other.attachments) {
            (Some(one), Some(other)) => attachments::differing(&**one, &**other)?,
            (_, None) | (None, _) => BTreeSet::new(),
        };
        Ok(DifferingNames { metadata: metadata.into_iter().collect(), content: content.into_iter().collect() })
    }
}

/// Includes only groups that contain one of the tensors.
pub(crate) fn differing_of_files(expected: &Source, actual: &Source) -> Result<DifferingNames> {
    let members = [expected.member(), actual.member()];
    let is_around = |path: &str| {
        let within = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        path.is_empty() || members.iter().flatten().any(|name| within(name))
    };
    let [one, other] = [expected, actual].map(BesideTensors::of);
    one.differing(&other, &is_around)
}

/// Compares the files of one pair of tensors after another.
#[derive(Debug, Default)]
pub struct FilePairs {
    last: Option<[BesideTensors; 2]>,
}

impl FilePairs {
    /// Compares metadata and attachments once for consecutive pairs from the same files.
    ///
    /// # Errors
    /// The attachments of a container cannot be listed.
    pub fn differing(&mut self, [expected, actual]: &[Source; 2]) -> Result<DifferingNames> {
        let [one, other] = [expected, actual].map(BesideTensors::of);
        let is_known = self.last.as_ref().is_some_and(|last| last[0].is(&one) && last[1].is(&other));
        let names = if is_known { Ok(DifferingNames::default()) } else { one.differing(&other, &|_| true) };
        self.last = Some([one, other]);
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_json_are_compared_by_what_they_say() {
        let rows = [
            (r#"{"a": 1, "b": [1, {"c": "x"}]}"#, r#"{"b":[1,{"c":"\u0078"}],"a":1.0}"#, ""),
            (r#"{"a": 1e3, "b": 1000}"#, r#"{"a": 1000, "b": 1001}"#, "b"),
            (r#"{"a": {"x": 1, "y": 2}}"#, r#"{"a": {"y": 2, "x": 1}}"#, ""),
            (r#"{"a": [1, 2], "b": null, "c": 0}"#, r#"{"a": [2, 1], "c": false}"#, "a b c"),
            (r#"{"a": {"x": 1}}"#, r#"{"a": {"x": 1, "y": 1}}"#, "a"),
            (r#"{"a": 9007199254740993}"#, r#"{"a": 9007199254740992}"#, "a"),
            (r#"{"a": NaN, "b": [Infinity], "c": 1}"#, r#"{"c": 2, "a":NaN, "b": [ Infinity ]}"#, "c"),
            (r#"{"a": NaN, "b": Infinity, "c": NaN}"#, r#"{"a": "NaN", "b": -Infinity, "c": 0.0}"#, "a b c"),
            ("{}", "{}", ""),
        ];
        for (one, other, wanted) in rows {
            let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
            assert_eq!(differing_keys([one, other]), wanted, "{one} {other}");
            assert_eq!(differing_keys([other, one]), wanted, "{other} {one}");
        }
        // Deeper JSON than the parser accepts is equal only as text.
        let deep = |spaces: &str| format!("{{\"a\":{spaces}{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(differing_keys([&deep(""), &deep("")]).is_empty());
    }
}
