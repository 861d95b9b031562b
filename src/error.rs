//! The one error of the library: what kind it is, what it is about, and one line that says what was found and what
//! was expected.
//!
//! A message never names an option of the command line: the library's users have none. The program adds its own words
//! where it knows them, by the [`Subject`], the [`ErrorKind`] or the [`Advice`].

use std::fmt;
use std::io;

/// What the library's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of error it is, for callers that act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or operand that an operator refuses: [`Error::subject`] tells which.
    Argument,
    /// Content that is not in order: no tensor, a damaged file, an item that is not what its type can be.
    Malformed,
    /// A format, element type or file that cannot do what was asked, although nothing is wrong with it.
    Unsupported,
    /// A container has no tensor of that name, or several and none was named.
    Member,
    /// A file was changed while it was read.
    Changed,
    /// More than there is memory for.
    Memory,
    /// The system refused: reading, writing, opening.
    Io(io::ErrorKind),
}

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
    /// An argument of one operator only, by the name that the specification gives it, with `-` between words.
    Argument(&'static str),
    /// What is read: a file, its content, a tensor in it.
    File,
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
            Subject::Argument(name) => name,
            Subject::File => "file",
        })
    }
}

/// What would help against an error, for a program that says it in the words its users type. The library itself leaves
/// it out: how a tensor is written or read is another matter in each program.
///
/// A variant for each help rather than a text, so that the compiler tells a program which words it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advice {
    /// To write the tensor as `.npy`, which holds every dtype.
    WriteNpy,
    /// To read the bits as the other dtype, where values are not cast.
    ReadBits,
    /// To say what the items are, whose bits alone are known.
    NameItems,
    /// To write the tensor as `.npy`, or to say what the items are.
    WriteOrName,
    /// To write a tensor where text was printed, or nothing.
    PassTensor,
    /// To change the option that the message begins with, which is a field of [`Options`](crate::diff::Options).
    ChangeOption,
    /// To leave out so many lines at the beginning of a text: they seem to be headings.
    SkipRows(usize),
}

/// An error: its kind, and one line that says what was found and what was expected.
///
/// Shown, it begins with what it is about: a file (`weights.npz:conv1: …`) or, where the operator knows no files, the
/// operand (`updates: …`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    subject: Subject,
    /// What it happened in, such as a file, outermost first.
    place: Option<String>,
    message: String,
    advice: Option<Advice>,
}

impl Error {
    /// A refusal of an operand or argument.
    pub(crate) fn new(subject: Subject, message: impl Into<String>) -> Self {
        Self { subject, ..Self::of(ErrorKind::Argument, message) }
    }

    /// An error about no operand of an operator.
    pub(crate) fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, subject: Subject::File, place: None, message: message.into(), advice: None }
    }

    /// Not enough memory: what [`crate::memory`] says.
    pub(crate) fn memory(message: impl Into<String>) -> Self {
        Self::of(ErrorKind::Memory, message)
    }

    /// A number of an index tensor or list that int64 cannot hold.
    pub(crate) fn beyond_int64(number: &impl fmt::Display) -> Self {
        Self::new(Subject::Indices, format!("{number} is beyond int64"))
    }

    /// The same, said to have happened in `place`, which stands before what it happened in so far.
    #[must_use]
    pub fn within(self, place: impl Into<String>) -> Self {
        let outer = place.into();
        let place = Some(self.place.map_or_else(|| outer.clone(), |inner| format!("{outer}: {inner}")));
        Self { place, ..self }
    }

    /// Returns the error with another kind.
    #[must_use]
    pub(crate) fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// The same, with what would help.
    #[must_use]
    pub(crate) fn advising(self, advice: Advice) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// The same, but about what is read or written rather than an operand.
    #[must_use]
    pub(crate) fn about_file(self) -> Self {
        Self { subject: Subject::File, ..self }
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The operand or argument that is at fault; [`Subject::File`] where it is none of an operator's.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// What would help, if anything does that a program can say better.
    pub fn advice(&self) -> Option<Advice> {
        self.advice
    }

    /// What is wrong, in one line, without what it is about.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.place, &self.subject) {
            (Some(place), _) => write!(f, "{place}: {}", self.message),
            (None, Subject::File) => f.write_str(&self.message),
            (None, subject) => write!(f, "{subject}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // what the library itself said may have passed through a reader or writer of the standard library
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::of(ErrorKind::Io(kind(&error)), error.to_string()),
        }
    }
}

/// The kind of a system's error. That nobody is connected to a pipe, which Windows says where it has a name and wine of every
/// pipe, is what the standard library has no kind for: whoever read it has gone away.
pub(crate) fn kind(error: &io::Error) -> io::ErrorKind {
    const PIPE_NOT_CONNECTED: i32 = 233;
    let gone = cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED);
    if gone { io::ErrorKind::BrokenPipe } else { error.kind() }
}

/// A number that this machine's memory cannot have, such as a length in a file.
impl From<std::num::TryFromIntError> for Error {
    fn from(error: std::num::TryFromIntError) -> Self {
        Self::of(ErrorKind::Malformed, error.to_string())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error.kind {
            ErrorKind::Io(kind) => Self::new(kind, error),
            ErrorKind::Memory => Self::new(io::ErrorKind::OutOfMemory, error),
            ErrorKind::Argument
            | ErrorKind::Malformed
            | ErrorKind::Unsupported
            | ErrorKind::Member
            | ErrorKind::Changed => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}

/// Names the place of an error on its way up.
pub(crate) trait Context<T> {
    /// Says that it happened in `place`. Of an `Option` that is none, `place` is the message.
    fn context(self, place: impl Into<String>) -> Result<T>;

    /// The same, where the text costs something to make.
    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, place: impl Into<String>) -> Result<T> {
        self.map_err(|error| error.into().within(place))
    }

    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.map_err(|error| error.into().within(place()))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, place: impl Into<String>) -> Result<T> {
        self.ok_or_else(|| Error::of(ErrorKind::Malformed, place))
    }

    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.ok_or_else(|| Error::of(ErrorKind::Malformed, place()))
    }
}

/// An [`ErrorKind::Malformed`] with a formatted message: most of what formats refuse.
macro_rules! malformed {
    ($($text:tt)*) => { $crate::error::Error::of($crate::error::ErrorKind::Malformed, format!($($text)*)) };
}

/// Returns [`malformed!`].
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::error::malformed!($($text)*)) };
}

/// Returns [`malformed!`] unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => { if !$condition { $crate::error::bail!($($text)*); } };
}

pub(crate) use {bail, ensure, malformed};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_before_the_message() {
        let refused = Error::new(Subject::Updates, "shape [2], expected [3]");
        assert_eq!(refused.to_string(), "updates: shape [2], expected [3]");
        let placed = refused.within("b.npy").within("a.npz");
        assert_eq!(placed.to_string(), "a.npz: b.npy: shape [2], expected [3]");
        assert_eq!((placed.subject(), placed.message()), (Subject::Updates, "shape [2], expected [3]"));
        let advised = Error::new(Subject::Output, "no").advising(Advice::WriteNpy).within("a.json");
        assert_eq!((advised.to_string().as_str(), advised.advice()), ("a.json: no", Some(Advice::WriteNpy)));
        let none: Result<u8> = None.context("nothing there");
        assert_eq!(none.unwrap_err().to_string(), "nothing there");
    }

    #[test]
    fn errors_pass_through_readers() {
        let own = Error::of(ErrorKind::Changed, "changed").within("x");
        assert_eq!(Error::from(io::Error::from(own.clone())), own);
        let foreign = Error::from(io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(foreign.kind(), ErrorKind::Io(io::ErrorKind::NotFound));
    }
}
