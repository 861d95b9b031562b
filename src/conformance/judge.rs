//! The verdict on a test: its operator is run here, or what another runtime has written is looked at.

use std::path::Path;

use super::arguments::NoOutput;
use super::case::{Case, Expected};
use super::find::{Loaded, Stored, Task};
use super::operators::outputs;
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
            Expected::Outputs(expected) => {
                let expected: Vec<_> = expected.iter().map(Ok).collect();
                judge_written(&folder.join(id), &expected, options)
            }
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
    let count = case.output_count;
    let saved = |n| Some(save?.join(id).join(names(n, count).next().expect("an output has a name")));
    let actual = match outputs(case) {
        Ok(actual) => actual,
        Err(NoOutput::Unsupported(what)) => return Ok(TestVerdict::Unsupported(what)),
        Err(NoOutput::Refused(error)) => {
            // those of an earlier run would be taken for this one's
            for path in (0..count).filter_map(saved).filter(|path| path.exists()) {
                std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
            return Ok(match &case.expected {
                Expected::Refusal(_) => TestVerdict::Passed,
                Expected::Outputs(_) => TestVerdict::failed(format!("refused: {error}")),
            });
        }
    };
    for (n, output) in actual.iter().enumerate() {
        let Some(path) = saved(n) else { break };
        let folder = path.parent().expect("it lies in the folder of the test");
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write(&path, output)?;
    }
    Ok(match &case.expected {
        Expected::Outputs(expected) => {
            let verdicts = expected.iter().zip(&actual).map(|(expected, actual)| compare(expected, actual, options));
            first_that_failed(verdicts, count)
        }
        Expected::Refusal(wrong) => accepted(&actual, wrong),
    })
}

/// Returns the verdict on the first of `count` outputs that did not pass, and says which it is of several.
fn first_that_failed(verdicts: impl Iterator<Item = TestVerdict>, count: usize) -> TestVerdict {
    match verdicts.enumerate().find(|(_, verdict)| !matches!(verdict, TestVerdict::Passed)) {
        None => TestVerdict::Passed,
        Some((n, TestVerdict::Failed { reason, difference })) if count > 1 => {
            TestVerdict::Failed { reason: format!("output {n}: {reason}"), difference }
        }
        Some((_, verdict)) => verdict,
    }
}

/// Returns the verdict on outputs that should not be there.
fn accepted(actual: &[Tensor], wrong: &str) -> TestVerdict {
    let shown: Vec<_> = actual.iter().map(|one| format!("{} {:?}", one.dtype().name(), one.shape())).collect();
    TestVerdict::failed(format!("gave {}, expected an error: {wrong}", shown.join(", ")))
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

/// Returns the names under which a runtime may write output number `n` of a test that has `count` outputs; the first is the
/// one that is used here.
fn names(n: usize, count: usize) -> impl Iterator<Item = String> {
    let alone = ["output.npy", "output.pb"].into_iter().filter(move |_| count == 1).map(str::to_owned);
    alone.chain([format!("output_{n}.npy"), format!("output_{n}.pb")])
}

/// Judges what a runtime has written for a test to a folder.
fn judge_written(folder: &Path, expected: &[Result<&Tensor>], options: &Options) -> TestVerdict {
    let verdict = |(n, wanted): (usize, &Result<&Tensor>)| {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(error) => return TestVerdict::Broken(error.to_string()),
        };
        let Some(path) = names(n, expected.len()).map(|name| folder.join(name)).find(|path| path.exists()) else {
            return TestVerdict::failed("no output was written");
        };
        match read(&path).and_then(|actual| as_named(actual, wanted)) {
            Ok(actual) => compare(wanted, &actual, options),
            Err(error) => TestVerdict::failed(error.to_string()),
        }
    };
    first_that_failed(expected.iter().enumerate().map(verdict), expected.len())
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
        Ok(actual) => accepted(&[actual], wrong),
        Err(_) => TestVerdict::failed(format!("wrote {}, expected an error: {wrong}", path.display())),
    }
}
