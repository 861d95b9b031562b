//! Finds tests: ONNX's backend tests, folders with `case.json`, and JSON lists of cases.
//!
//! Tests are read one at a time, so memory does not grow with their number. An error in a test is its verdict.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use tensorop_conformance::case::{
    Case, CaseInput, CaseOutput, Class, Expected, KnownTest, Specification, Tolerances, packed_cases,
};

use super::case_text::CaseText;
use crate::error::{Context, Error, ErrorKind, Result, bail, counted, ensure, malformed};
use crate::formats::onnx::model::{GraphOutput, Model, NodeInput, sequence_tensors};
use crate::item::dtype::{DType, Kind};
use crate::item::tensor::Tensor;
use crate::library::files::read;
use crate::library::opened::read_proto;
use crate::ops::call::nodes::{specified, version_of};

const MAX_BYTES: u64 = 1 << 24;

/// Links are not followed, so only a hostile tree is deeper.
const MAX_NESTED: usize = 64;

/// For data without a place in ONNX's tests.
pub(super) const ABOUT: &str = "about.json";

#[derive(Clone, Debug)]
pub(super) struct BrokenTest {
    /// `None` if reading failed earlier.
    pub about: Option<Box<KnownTest>>,
    pub error: Error,
}

impl From<Error> for BrokenTest {
    fn from(error: Error) -> Self {
        Self { about: None, error }
    }
}

#[derive(Debug)]
pub(super) struct Loaded {
    pub about: KnownTest,
    pub tolerances: Tolerances,
    pub task: Task,
    /// `None` for an entry of a list.
    pub files: Option<TestFiles>,
}

/// The files of a test for another runtime.
#[derive(Clone, Debug)]
pub(super) struct TestFiles {
    /// `model.onnx` or `case.json`.
    pub model: PathBuf,
    /// The folder of the inputs: beside the model if it has several.
    pub inputs: PathBuf,
}

#[derive(Debug)]
pub(super) enum Task {
    Run(Case),
    /// Only outputs of another runtime can be judged.
    Only {
        unsupported: String,
        /// Empty if the outputs are not tensors.
        stored: Vec<Stored>,
    },
}

#[derive(Debug)]
pub(super) struct Stored(PathBuf);

impl Stored {
    pub(super) fn read(&self) -> Result<Tensor> {
        read(&self.0)
    }
}

pub(super) type LoadedTest = Result<Loaded, BrokenTest>;

/// Takes a test's id and its reader.
pub(super) type TakeTest<'a> = dyn FnMut(&str, &dyn Fn() -> LoadedTest) -> Result<()> + 'a;

#[derive(Debug)]
pub(super) enum Tests {
    /// `id` is a prefix.
    Folder { path: PathBuf, id: String },
    /// `id` is a prefix; the texts name files in `folder`.
    Texts { texts: Vec<String>, id: String, folder: PathBuf },
}

impl Tests {
    pub(super) fn own() -> Result<Self> {
        Ok(Self::Texts { texts: packed_cases()?, id: String::new(), folder: PathBuf::new() })
    }

    pub(super) fn of(path: &Path) -> Result<Self> {
        let place = || path.display().to_string();
        let is_folder = fs::metadata(path).with_context(place)?.is_dir();
        let full = fs::canonicalize(path).with_context(place)?;
        let own_name = full.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        if is_folder {
            fs::read_dir(path).with_context(place)?;
            // a single test has its id in the parent folder
            let id = if is_test(path) { own_name } else { String::new() };
            return Ok(Self::Folder { path: path.to_owned(), id });
        }
        let text = text(path).with_context(place)?;
        if !is_list_of_cases(&text) {
            bail!(
                "{}: not a list of cases, expected a folder of tests or [{{\"operator\": ...}}, ...]",
                path.display()
            );
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self::Texts { texts: vec![text], id: without_ending(&own_name).to_owned(), folder })
    }

    pub(super) fn each(&self, take: &mut TakeTest<'_>) -> Result<()> {
        match self {
            Self::Folder { path, id } => folder(path, id.clone(), 0, take),
            Self::Texts { texts, id, folder } => texts.iter().try_for_each(|text| entries(text, id, folder, take)),
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.join("model.onnx").is_file() || path.join("case.json").is_file()
}

fn without_ending(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

fn folder(path: &Path, id: String, nested: usize, take: &mut TakeTest<'_>) -> Result<()> {
    if path.join("model.onnx").is_file() {
        return data_sets(path, &id, take);
    }
    if path.join("case.json").is_file() {
        return take(&id, &|| {
            let text = text(&path.join("case.json")).context("case.json")?;
            loaded(CaseText::read(&text).context("case.json")?, path, "case.json")
        });
    }
    let entries_of = |path: &Path| -> Result<Vec<fs::DirEntry>> {
        ensure!(nested < MAX_NESTED, "more than {MAX_NESTED} folders within one another");
        let mut entries = fs::read_dir(path)?.collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_by_key(|entry| entry.file_name());
        Ok(entries)
    };
    let entries_in_order = match entries_of(path) {
        Ok(entries) => entries,
        Err(error) => return take(&id, &|| Err(error.clone().into())),
    };
    for entry in entries_in_order {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let own = |name: &str| if id.is_empty() { name.to_owned() } else { format!("{id}/{name}") };
        let kind = entry.file_type();
        if name.starts_with('.') {
            continue;
        }
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            folder(&path, own(&name), nested + 1, take)?;
        } else if name.ends_with(".json") && kind.is_ok_and(|kind| kind.is_file()) {
            let id = own(without_ending(&name));
            match text(&path) {
                Ok(text) if is_list_of_cases(&text) => {
                    entries(&text, &id, path.parent().expect("a file has a folder"), take)?;
                }
                Ok(_) => {}
                Err(error) => take(&id, &|| Err(error.clone().into()))?,
            }
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)? as u64;
    ensure!(read <= MAX_BYTES, "more than {MAX_BYTES} bytes, which are read whole");
    Ok(bytes)
}

fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|error| malformed!("not UTF-8: {error}"))
}

/// Tensors are lists too.
fn is_list_of_cases(text: &str) -> bool {
    text.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'))
}

#[derive(Deserialize)]
struct CaseName {
    id: Option<String>,
}

fn entries(text: &str, file: &str, folder: &Path, take: &mut TakeTest<'_>) -> Result<()> {
    let list: Vec<&RawValue> = match serde_json::from_str(text) {
        Ok(list) => list,
        Err(error) => return take(file, &|| Err(malformed!("not a list of cases: {error}").into())),
    };
    for (n, entry) in list.into_iter().enumerate() {
        let name = serde_json::from_str::<CaseName>(entry.get()).ok().and_then(|case| case.id);
        let name = name.unwrap_or_else(|| n.to_string());
        let id = if file.is_empty() { name } else { format!("{file}#{name}") };
        take(&id, &|| loaded(CaseText::read(entry.get())?, folder, ""))?;
    }
    Ok(())
}

fn loaded(text: CaseText<'_>, folder: &Path, file: &str) -> LoadedTest {
    let about = text.about();
    let known = Some(Box::new(about.clone()));
    let load = || {
        let case = text.load(folder);
        let case = if file.is_empty() { case } else { case.context(file) }?;
        specified::check(case.specification, &case.operator, case.version, case.attributes.keys())?;
        Ok(case)
    };
    let case = load().map_err(|error| BrokenTest { about: known, error })?;
    let version = version_of(case.specification, &case.operator, case.version).unwrap_or(case.version);
    let files = (!file.is_empty()).then(|| TestFiles { model: folder.join(file), inputs: folder.to_owned() });
    Ok(Loaded { about: KnownTest { version, ..about }, tolerances: case.tolerances, task: Task::Run(case), files })
}

fn data_sets(path: &Path, id: &str, take: &mut TakeTest<'_>) -> Result<()> {
    let mut sets = BTreeMap::new();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("test_data_set_")?.parse::<u64>().ok());
        sets.extend(number.map(|number| (number, entry.path())));
    }
    if sets.is_empty() {
        let error = Error::from_kind(ErrorKind::Malformed, "there is no test_data_set_0 beside model.onnx");
        return take(id, &|| Err(error.clone().into()));
    }
    for (number, set) in sets {
        take(&format!("{id}/{number}"), &|| data_set(path, &set))?;
    }
    Ok(())
}

#[derive(Default, Deserialize)]
struct About {
    class: Option<Class>,
    error: Option<String>,
    #[serde(default)]
    why: String,
    atol: Option<f64>,
    rtol: Option<f64>,
    ulp: Option<u64>,
}

fn data_set(folder: &Path, set: &Path) -> LoadedTest {
    let model = bytes(&folder.join("model.onnx")).context("model.onnx")?;
    let model = Model::read(&model).context("model.onnx")?;
    let about = match text(&folder.join(ABOUT)) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| malformed!("{error}")).context(ABOUT)?,
        Err(_) => About::default(),
    };
    let class = about.class.unwrap_or(if about.error.is_some() { Class::Reject } else { Class::Must });
    let version = version_of(Specification::Onnx, &model.operator, model.opset).unwrap_or(model.opset);
    let known = KnownTest { operator: model.operator.clone(), version, class };
    match task_of(model, about, class, folder, set) {
        Ok((tolerances, task)) => {
            let files = Some(TestFiles { model: folder.join("model.onnx"), inputs: set.to_owned() });
            Ok(Loaded { about: known, tolerances, task, files })
        }
        Err(error) => Err(BrokenTest { about: Some(Box::new(known)), error }),
    }
}

fn task_of(model: Model<'_>, about: About, class: Class, folder: &Path, set: &Path) -> Result<(Tolerances, Task)> {
    let tolerances = Tolerances::new(about.atol, about.rtol, about.ulp).context(ABOUT)?;
    let Model { operator, opset, attributes, inputs, gives_tensors, outputs, node_outputs, nodes } = model;
    specified::check(Specification::Onnx, &operator, opset, attributes.keys()).context("model.onnx")?;
    let given = outputs.iter().filter_map(|output| match output {
        GraphOutput::Node(_) => None,
        GraphOutput::Given(value) => Some(value),
    });
    let known = version_of(Specification::Onnx, &operator, opset);
    let unsupported = match () {
        () if nodes > 1 => Some("a model of several nodes".to_owned()),
        () if known.is_none() => Some(format!("ONNX {operator}-{opset}")),
        () if !gives_tensors => Some(format!("{operator} with an output that is not a tensor")),
        () => inputs.iter().chain(given).find_map(|input| match input {
            NodeInput::Other(attribute) => Some(format!("a Constant node with {attribute}")),
            NodeInput::Absent | NodeInput::Graph { .. } | NodeInput::Proto(_) | NodeInput::Ints { .. } => None,
        }),
    };
    if let Some(unsupported) = unsupported {
        let outputs = (0..).map(|n| set.join(format!("output_{n}.pb"))).take_while(|path| path.exists());
        let stored = if gives_tensors { outputs.map(Stored).collect() } else { Vec::new() };
        return Ok((tolerances, Task::Only { unsupported, stored }));
    }
    let inputs = inputs.into_iter().map(|input| self::input(input, folder, set, &operator)).collect::<Result<_>>()?;
    let output = |(n, output)| match output {
        GraphOutput::Node(number) => Ok(CaseOutput::Operator(number)),
        GraphOutput::Given(value) => given_tensor(value, folder, set).with_context(|| format!("output {n}")),
    };
    let outputs = outputs.into_iter().enumerate().map(output).collect::<Result<Vec<_>>>()?;
    let expected = match about.error {
        Some(wrong) => Expected::Refusal(wrong),
        None => {
            let read = |n| read(set.join(format!("output_{n}.pb")));
            let extra = format!("output_{}.pb", outputs.len());
            if set.join(&extra).exists() {
                bail!("{extra}: the graph has {}", counted(outputs.len(), "output", "outputs"));
            }
            Expected::Outputs((0..outputs.len()).map(read).collect::<Result<_>>()?)
        }
    };
    let case = Case {
        id: String::new(),
        specification: Specification::Onnx,
        operator,
        version: opset,
        attributes,
        inputs,
        operator_outputs: node_outputs,
        outputs,
        expected,
        tolerances,
        class,
        why: about.why,
    };
    Ok((tolerances, Task::Run(case)))
}

fn given_tensor(value: NodeInput<'_>, folder: &Path, set: &Path) -> Result<CaseOutput> {
    match input(value, folder, set, "")? {
        CaseInput::Tensor(tensor) => Ok(CaseOutput::Given(tensor)),
        CaseInput::Absent | CaseInput::Sequence(_) => bail!("is not a tensor"),
    }
}

fn input(input: NodeInput<'_>, folder: &Path, set: &Path, operator: &str) -> Result<CaseInput> {
    let of_model = |proto| Ok::<_, Error>(CaseInput::Tensor(read_proto(proto, folder).context("model.onnx")?));
    Ok(match input {
        NodeInput::Other(attribute) => unreachable!("a test with a Constant node with {attribute} is not run"),
        NodeInput::Absent => CaseInput::Absent,
        NodeInput::Proto(proto) => of_model(proto)?,
        NodeInput::Ints { items, is_list } => {
            let shape = if is_list { vec![items.len()] } else { Vec::new() };
            let bytes = items.iter().flat_map(|item| item.to_le_bytes()).collect();
            CaseInput::Tensor(Tensor::new(DType::from(Kind::Int64), shape, bytes)?)
        }
        NodeInput::Graph { number, default } => {
            let path = set.join(format!("input_{number}.pb"));
            match default {
                Some(proto) if !path.exists() => of_model(proto)?,
                _ if operator == "ConcatFromSequence" => {
                    let place = || path.display().to_string();
                    let bytes = bytes(&path).with_context(place)?;
                    let tensors = sequence_tensors(&bytes).with_context(place)?;
                    let tensors = tensors.into_iter().map(|proto| read_proto(proto, set).with_context(place));
                    CaseInput::Sequence(tensors.collect::<Result<_>>()?)
                }
                _ => CaseInput::Tensor(read(&path)?),
            }
        }
    })
}

/// Prevents an id from addressing files outside the folder.
pub(super) fn check_id(id: &str) -> Result<()> {
    let is_plain = |part: &str| !["", ".", ".."].contains(&part) && !part.contains(['\0', '\\', ':']);
    ensure!(id.split('/').all(is_plain), "the id {id:?} cannot be the path of a folder");
    Ok(())
}
