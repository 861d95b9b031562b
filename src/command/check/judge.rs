//! Runs a test's operator, or compares outputs of another runtime.

use std::path::{Path, PathBuf};

use tensorop_conformance::case::{Case, Expected};
use tensorop_conformance::operators::{NoOutput, outputs};

use super::find::{Loaded, Stored, Task};
use super::results::{self, CRASHED, MARKERS, REFUSED, UNSUPPORTED, message, output_names, results_in};
use crate::diff::{self, Difference, Options, Reason};
use crate::error::{Error, Result, counted};
use crate::item::dtype::Kind;
use crate::item::tensor::Tensor;
use crate::library::files::read;

#[derive(Debug)]
pub(super) enum TestVerdict {
    Passed,
    Failed { failure: CaseFailure, reason: String, difference: Option<Box<Difference>> },
    Unsupported(String),
    Broken(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaseFailure {
    Differs,
    /// The runtime crashed or wrote nothing.
    NoResult,
    /// The operator must not refuse these inputs.
    Refused,
}

impl CaseFailure {
    pub(super) const ALL: [Self; 3] = [Self::Differs, Self::NoResult, Self::Refused];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::NoResult => "no result",
            Self::Refused => "refused",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerdictKind {
    Passed,
    Failed,
    Unsupported,
    Broken,
}

impl VerdictKind {
    pub(super) const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Unsupported, Self::Broken];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
            Self::Broken => "broken",
        }
    }
}

impl TestVerdict {
    pub(super) fn kind(&self) -> VerdictKind {
        match self {
            Self::Passed => VerdictKind::Passed,
            Self::Failed { .. } => VerdictKind::Failed,
            Self::Unsupported(_) => VerdictKind::Unsupported,
            Self::Broken(_) => VerdictKind::Broken,
        }
    }

    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed { reason, .. } | Self::Unsupported(reason) | Self::Broken(reason) => Some(reason),
        }
    }

    fn failed(failure: CaseFailure, reason: impl Into<String>) -> Self {
        Self::Failed { failure, reason: reason.into(), difference: None }
    }
}

/// The outputs of a test, in a folder of its own.
#[derive(Debug)]
pub(super) enum Outputs {
    /// Outputs are saved in the folder.
    Made(Option<PathBuf>),
    /// Another runtime wrote them.
    Written(PathBuf),
}

pub(super) fn judge(loaded: &Loaded, outputs: Outputs, options: &Options) -> Result<TestVerdict> {
    match (&loaded.task, outputs) {
        (Task::Run(case), Outputs::Made(folder)) => run(case, folder.as_deref(), options),
        (Task::Run(case), Outputs::Written(folder)) => Ok(match &case.expected {
            Expected::Outputs(expected) => {
                let expected: Vec<_> = expected.iter().map(Ok).collect();
                judge_written(&folder, &expected, options)
            }
            Expected::Refusal(wrong) => judge_refusal(&folder, wrong),
        }),
        (Task::Only { unsupported, .. }, Outputs::Made(folder)) => {
            let result = Err((UNSUPPORTED, unsupported.clone()));
            folder.map_or(Ok(()), |folder| results::save(&folder, result))?;
            Ok(TestVerdict::Unsupported(unsupported.clone()))
        }
        (Task::Only { unsupported, stored }, Outputs::Written(_)) if stored.is_empty() => {
            Ok(TestVerdict::Unsupported(unsupported.clone()))
        }
        (Task::Only { stored, .. }, Outputs::Written(folder)) => {
            let outputs: Vec<_> = stored.iter().map(Stored::read).collect();
            let outputs: Vec<_> = outputs.iter().map(|output| output.as_ref().map_err(Clone::clone)).collect();
            Ok(judge_written(&folder, &outputs, options))
        }
    }
}

fn run(case: &Case, save: Option<&Path>, options: &Options) -> Result<TestVerdict> {
    let made = outputs(case);
    if let Some(folder) = save {
        let result = match &made {
            Ok(actual) => Ok(&actual[..]),
            Err(NoOutput::Refused(error)) => Err((REFUSED, error.to_string())),
            Err(NoOutput::Unsupported(what)) => Err((UNSUPPORTED, what.clone())),
        };
        results::save(folder, result)?;
    }
    Ok(match (made, &case.expected) {
        (Err(NoOutput::Unsupported(what)), _) => TestVerdict::Unsupported(what),
        (Err(NoOutput::Refused(_)), Expected::Refusal(_)) => TestVerdict::Passed,
        (Err(NoOutput::Refused(error)), Expected::Outputs(_)) => {
            TestVerdict::failed(CaseFailure::Refused, format!("refused: {error}"))
        }
        (Ok(actual), Expected::Outputs(expected)) => {
            let verdicts = expected.iter().zip(&actual).map(|(expected, actual)| compare(expected, actual, options));
            first_that_failed(verdicts, actual.len())
        }
        (Ok(actual), Expected::Refusal(wrong)) => accepted(&actual, wrong),
    })
}

fn first_that_failed(verdicts: impl Iterator<Item = TestVerdict>, count: usize) -> TestVerdict {
    match verdicts.enumerate().find(|(_, verdict)| !matches!(verdict, TestVerdict::Passed)) {
        None => TestVerdict::Passed,
        Some((n, TestVerdict::Failed { failure, reason, difference })) if count > 1 => {
            TestVerdict::Failed { failure, reason: format!("output {n}: {reason}"), difference }
        }
        Some((_, verdict)) => verdict,
    }
}

fn accepted(actual: &[Tensor], wrong: &str) -> TestVerdict {
    let shown: Vec<_> = actual.iter().map(|one| format!("{} {:?}", one.dtype().name(), one.shape())).collect();
    TestVerdict::failed(CaseFailure::Differs, format!("gave {}, expected an error: {wrong}", shown.join(", ")))
}

fn compare(expected: &Tensor, actual: &Tensor, options: &Options) -> TestVerdict {
    // nearly all outputs have equal bits
    if expected == actual {
        return TestVerdict::Passed;
    }
    // neither specification has string widths
    let kinds = (expected.dtype().kind(), actual.dtype().kind());
    let are_strings = matches!(kinds, (Kind::Str(_), Kind::Str(_)) | (Kind::Bytes(_), Kind::Bytes(_)));
    let ignore_dtype = options.ignore_dtype || are_strings;
    let found = match diff::compare(expected, actual, &options.clone().with_ignore_dtype(ignore_dtype)) {
        Ok(found) => found,
        Err(error) => return TestVerdict::failed(CaseFailure::Differs, error.to_string()),
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
    TestVerdict::Failed { failure: CaseFailure::Differs, reason, difference: Some(Box::new(found)) }
}

fn judge_written(folder: &Path, expected: &[Result<&Tensor>], options: &Options) -> TestVerdict {
    let names = match written_outputs(folder) {
        Ok(Ok(names)) => names,
        Ok(Err(message)) => return TestVerdict::failed(CaseFailure::Refused, message),
        Err(verdict) => return verdict,
    };
    let count = expected.len();
    let is_expected = |name: &String| (0..count).any(|n| output_names(n, count).any(|known| known == *name));
    if let Some(extra) = names.iter().find(|name| !is_expected(name)) {
        let reason = format!("wrote {extra}, expected {}", counted(count, "output", "outputs"));
        return TestVerdict::failed(CaseFailure::Differs, reason);
    }
    let verdict = |(n, wanted): (usize, &Result<&Tensor>)| {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(error) => return TestVerdict::Broken(error.to_string()),
        };
        let mut written = output_names(n, count).filter(|name| names.contains(name));
        let Some(name) = written.next() else { return TestVerdict::failed(CaseFailure::NoResult, "no result") };
        if let Some(other) = written.next() {
            let reason = format!("wrote {name} and {other} for one output");
            return TestVerdict::failed(CaseFailure::Differs, reason);
        }
        match read(folder.join(name)).and_then(|actual| as_named(actual, wanted)) {
            Ok(actual) => compare(wanted, &actual, options),
            Err(error) => TestVerdict::failed(CaseFailure::Differs, error.to_string()),
        }
    };
    first_that_failed(expected.iter().enumerate().map(verdict), count)
}

/// The error is the verdict if the runtime crashed, does not support the test, or wrote nothing or too much.
fn written_outputs(folder: &Path) -> Result<Result<Vec<String>, String>, TestVerdict> {
    let names = results_in(folder).map_err(|error| {
        TestVerdict::failed(CaseFailure::NoResult, error.within(folder.display().to_string()).to_string())
    })?;
    let (markers, outputs): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| MARKERS.contains(&name.as_str()));
    match (&markers[..], outputs.first()) {
        ([], None) => Err(TestVerdict::failed(CaseFailure::NoResult, "no result")),
        ([], Some(_)) => Ok(Ok(outputs)),
        // a runtime may crash after it wrote outputs
        ([marker], output) if output.is_none() || marker == CRASHED => match marker.as_str() {
            REFUSED => Ok(Err(message(folder, REFUSED))),
            CRASHED => Err(TestVerdict::failed(CaseFailure::NoResult, message(folder, CRASHED))),
            _ => Err(TestVerdict::Unsupported(message(folder, UNSUPPORTED).replacen("unsupported: ", "", 1))),
        },
        ([.., first], second) => {
            let reason = format!("wrote {} and {first}, expected one of them", second.unwrap_or(&markers[0]));
            Err(TestVerdict::failed(CaseFailure::Differs, reason))
        }
    }
}

/// `.npy` files do not name most ml_dtypes types.
fn as_named(actual: Tensor, expected: &Tensor) -> Result<Tensor, Error> {
    let is_void = matches!(actual.dtype().kind(), Kind::Void(size) if *size == expected.dtype().itemsize());
    if is_void { actual.view_as(&expected.dtype().native()) } else { Ok(actual) }
}

fn judge_refusal(folder: &Path, wrong: &str) -> TestVerdict {
    let names = match written_outputs(folder) {
        Ok(Ok(names)) => names,
        Ok(Err(_)) => return TestVerdict::Passed,
        Err(verdict) => return verdict,
    };
    match names.iter().map(|name| read(folder.join(name))).collect::<Result<Vec<_>>>() {
        Ok(actual) => accepted(&actual, wrong),
        Err(_) => {
            TestVerdict::failed(CaseFailure::Differs, format!("wrote {}, expected an error: {wrong}", names.join(", ")))
        }
    }
}
