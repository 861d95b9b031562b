//! What the library refuses, and about what.

use std::fmt;

/// What an [`Error`] is about: an operand or an argument of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The `data` tensor.
    Data,
    /// The `indices` tensor.
    Indices,
    /// The `updates` tensor.
    Updates,
    /// The one value that stands in place of `updates`.
    Fill,
    /// A list of slice starts.
    Start,
    /// A list of slice stops.
    Stop,
    /// A list of slice steps.
    Step,
    /// A list of axes.
    Axes,
    /// Slices in NumPy's notation.
    At,
    /// The one axis of ScatterUpdate.
    Axis,
    /// The reduction of ScatterND.
    Reduction,
    /// The ONNX opset.
    Opset,
    /// A dtype.
    Dtype,
    /// The tensor to be written.
    Output,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::Data => "data",
            Subject::Indices => "indices",
            Subject::Updates => "updates",
            Subject::Fill => "fill",
            Subject::Start => "start",
            Subject::Stop => "stop",
            Subject::Step => "step",
            Subject::Axes => "axes",
            Subject::At => "at",
            Subject::Axis => "axis",
            Subject::Reduction => "reduction",
            Subject::Opset => "opset",
            Subject::Dtype => "dtype",
            Subject::Output => "output",
        })
    }
}

/// A refusal: its subject, and one line that says what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    subject: Subject,
    message: String,
}

impl Error {
    pub(crate) fn new(subject: Subject, message: impl Into<String>) -> Self {
        Self { subject, message: message.into() }
    }

    /// A number of an index tensor or list that int64 cannot hold.
    pub fn beyond_int64(number: &impl fmt::Display) -> Self {
        Self::new(Subject::Indices, format!("{number} is beyond int64"))
    }

    /// The operand or argument that is at fault.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// What is wrong with it, in one line, without its name.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl std::error::Error for Error {}
