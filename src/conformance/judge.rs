//! The verdict on a test: its operator is run here, or what another runtime has written is looked at.

use std::path::Path;

use super::arguments::NoOutput;
use super::case::{Case, Expected};
use super::find::{Loaded, Stored, Task};
use super::operators::output;
use crate::diff::{self, Difference, Options, Reason};
use crate::error::{Context, Error, Result};
use crate::format::files::{read, write};
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;

/// What became of a test.
#[derive(Debug)]
pub(crate) enum TestVerdict {
    /// What came out is what must.
    Passed,
    /// Something else came out. The difference is known where a tensor came and a tensor was expected.
    Failed { reason: String, difference: Option<Box<Difference>> },
    /// The program does not have what the test is about.
    Unsupported(String),
    /// The test cannot be read.
    Broken(String),
}

/// The names of the verdicts, in the order of the counts.
pub(crate) const VERDICTS: [&str; 4] = ["passed", "failed", "unsupported", "broken"];

impl TestVerdict {
    /// Returns its place among [`VERDICTS`].
    pub(crate) fn number(&self) -> usize {
        match self {
            Self::Passed => 0,
            Self::Failed { .. } => 1,
            Self::Unsupported(_) => 2,
            Self::Broken(_) => 3,
        }
    }

    /// Returns why the test did not pass.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed { reason, .. } | Self::Unsupported(reason) | Self::Broken(reason) => Some(reason),
        }
    }

    fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), difference: None }
    }
}

/// Where outputs come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outputs<'a> {
    /// The operators are run here, and their outputs are written to a folder if there is one.
    Made(Option<&'a Path>),
    /// Another runtime has written them to a folder, in one of its own for each test.
    Written(&'a Path),
}

/// Judges a test that has been read, which is called `id`.
///
/// # Errors
/// An output cannot be written.
pub(crate) fn judge(id: &str, loaded: Loaded, outputs: Outputs<'_>, options: &Options) -> Result<TestVerdict> {
    match (loaded.task, outputs) {
        (Task::Run(case), Outputs::Made(folder)) => run(id, &case, folder, options),
        (Task::Run(case), Outputs::Written(folder)) => Ok(match &case.expected {
            Expected::Output(expected) => judge_written(&folder.join(id), &[Ok(expected)], options),
            Expected::Refusal(wrong) => judge_refusal(&folder.join(id), wrong),
        }),
        (Task::Only { unsupported, .. }, Outputs::Made(_)) => Ok(TestVerdict::Unsupported(unsupported)),
        (Task::Only { unsupported, stored }, Outputs::Written(_)) if stored.is_empty() => {
            Ok(TestVerdict::Unsupported(unsupported))
        }
        // a test of an operator that is not known here can be judged all the same
        (Task::Only { stored, .. }, Outputs::Written(folder)) => {
            let outputs: Vec<_> = stored.iter().map(Stored::read).collect();
            let outputs: Vec<_> = outputs.iter().map(|output| output.as_ref().map_err(Clone::clone)).collect();
            Ok(judge_written(&folder.join(id), &outputs, options))
        }
    }
}

/// Runs a case.
fn run(id: &str, case: &Case, save: Option<&Path>, options: &Options) -> Result<TestVerdict> {
    let saved = save.map(|folder| folder.join(id).join("output.npy"));
    let actual = match output(case) {
        Ok(actual) => actual,
        Err(NoOutput::Unsupported(what)) => return Ok(TestVerdict::Unsupported(what)),
        Err(NoOutput::Refused(error)) => {
            // that of an earlier run would be taken for this one's
            if let Some(path) = saved.filter(|path| path.exists()) {
                std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
            return Ok(match &case.expected {
                Expected::Refusal(_) => TestVerdict::Passed,
                Expected::Output(_) => TestVerdict::failed(format!("refused: {error}")),
            });
        }
    };
    if let Some(path) = saved {
        let folder = path.parent().expect("it lies in the folder of the test");
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write(&path, &actual)?;
    }
    Ok(match &case.expected {
        Expected::Output(expected) => compare(expected, &actual, options),
        Expected::Refusal(wrong) => accepted(&actual, wrong),
    })
}

/// Returns the verdict on an output that should not be there.
fn accepted(actual: &Tensor, wrong: &str) -> TestVerdict {
    let (dtype, shape) = (actual.dtype().name(), actual.shape());
    TestVerdict::failed(format!("gave {dtype} {shape:?}, expected an error: {wrong}"))
}

/// Returns the verdict on an output.
fn compare(expected: &Tensor, actual: &Tensor, options: &Options) -> TestVerdict {
    // the same bits pass whatever is asked, and nearly all outputs have them
    if expected == actual {
        return TestVerdict::Passed;
    }
    let found = match diff::compare(expected, actual, options) {
        Ok(found) => found,
        Err(error) => return TestVerdict::failed(error.to_string()),
    };
    let reason = match found.reason() {
        None => return TestVerdict::Passed,
        Some(Reason::Dtype) => format!("dtype {}, expected {}", found.actual().dtype, found.expected().dtype),
        Some(Reason::Shape) => format!("shape {:?}, expected {:?}", found.actual().shape, found.expected().shape),
        Some(Reason::Metadata) => format!("metadata {}", found.metadata().join(", ")),
        Some(Reason::Values) => {
            let (mismatches, items) = (found.mismatches().unwrap_or(0), found.items());
            let first = found.first().first().map_or(String::new(), |first| {
                format!(", first at {:?}: expected {}, got {}", first.index, first.expected, first.actual)
            });
            let verb = if items == 1 { "item differs" } else { "items differ" };
            format!("{mismatches} of {items} {verb}{first}")
        }
    };
    TestVerdict::Failed { reason, difference: Some(Box::new(found)) }
}

/// Returns the names under which a runtime may write output number `n` of a test that has `count` outputs.
fn names(n: usize, count: usize) -> impl Iterator<Item = String> {
    let alone = ["output.npy", "output.pb"].into_iter().filter(move |_| count == 1).map(str::to_owned);
    alone.chain([format!("output_{n}.npy"), format!("output_{n}.pb")])
}

/// Judges what a runtime has written for a test to a folder.
fn judge_written(folder: &Path, expected: &[Result<&Tensor>], options: &Options) -> TestVerdict {
    for (n, wanted) in expected.iter().enumerate() {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(error) => return TestVerdict::Broken(error.to_string()),
        };
        let Some(path) = names(n, expected.len()).map(|name| folder.join(name)).find(|path| path.exists()) else {
            return TestVerdict::failed(match expected.len() {
                1 => "no output was written".to_owned(),
                _ => format!("no output {n} was written"),
            });
        };
        let verdict = match read(&path).and_then(|actual| as_named(actual, wanted)) {
            Ok(actual) => compare(wanted, &actual, options),
            Err(error) => TestVerdict::failed(error.to_string()),
        };
        if !matches!(verdict, TestVerdict::Passed) {
            return verdict;
        }
    }
    TestVerdict::Passed
}

/// Returns a tensor that was written without the name of its dtype, which NumPy's files do not have for most types of
/// ml_dtypes, as of the dtype that is expected, if its items have as many bytes.
fn as_named(actual: Tensor, expected: &Tensor) -> Result<Tensor, Error> {
    let is_void = matches!(actual.dtype().kind(), Kind::Void(size) if *size == expected.dtype().itemsize());
    if is_void { actual.view_as(&expected.dtype().native()) } else { Ok(actual) }
}

/// Judges what a runtime has written for a test that it must refuse.
fn judge_refusal(folder: &Path, wrong: &str) -> TestVerdict {
    let Some(path) = names(0, 1).map(|name| folder.join(name)).find(|path| path.exists()) else {
        return TestVerdict::Passed;
    };
    match read(&path) {
        Ok(actual) => accepted(&actual, wrong),
        Err(_) => TestVerdict::failed(format!("wrote {}, expected an error: {wrong}", path.display())),
    }
}
