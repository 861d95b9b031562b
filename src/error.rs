//! The one type of error: [`Error`] has a kind, a subject, and one line of text that says what was found and what was
//! expected.
//!
//! The text never names an option of the command line, because users of the library have none. A program adds its own words
//! to it, which it chooses by the [`Subject`], the [`ErrorKind`] or the [`Advice`].

use std::fmt;
use std::io;

/// The result of most functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an [`Error`], for callers that act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An operator refuses an argument or an operand; [`Error::subject`] tells which.
    Argument,
    /// The content is invalid: it is no tensor, the file is damaged, or an item is none of its dtype's values.
    Malformed,
    /// A format, a dtype or a file cannot do what was asked, although nothing is wrong with it: a format cannot hold the
    /// dtype, or does not have the choice, or cannot be changed in place.
    Unsupported,
    /// A file has no tensor of that name, or has several and none was named.
    Member,
    /// A file was changed while it was read.
    Changed,
    /// There is not enough memory.
    Memory,
    /// The system refused to read, write or open; a file or a folder that does not exist is `Io(NotFound)`.
    Io(io::ErrorKind),
}

/// The operand or the argument that an [`Error`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The `data` tensor.
    Data,
    /// The `indices` tensor.
    Indices,
    /// The `updates` tensor.
    Updates,
    /// An operand by its number from 0, of those that are read together.
    Operand(usize),
    /// The one value that stands in place of `updates`.
    Fill,
    /// The list of the slices' starts.
    Start,
    /// The list of the slices' stops.
    Stop,
    /// The list of the slices' steps.
    Step,
    /// The list of the slices' axes.
    Axes,
    /// Slices in NumPy's notation.
    At,
    /// The axis of ScatterUpdate.
    Axis,
    /// The reduction of ScatterND.
    Reduction,
    /// The ONNX opset.
    Opset,
    /// A dtype.
    Dtype,
    /// The tensor to be written.
    Output,
    /// An argument that one operator has alone, by the name of the specification, with `-` between words.
    Argument(&'static str),
    /// A file, its content, or a tensor in it.
    File,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Subject::Operand(n) = self {
            return write!(f, "operand {n}");
        }
        if let Subject::Argument(name) = self {
            return f.write_str(name);
        }
        // every other variant is called by its own name
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// What a user could do about an [`Error`]. The text of the error leaves it out, because each program reads and writes
/// tensors in its own way, and says so in the words that its users type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Write the tensor as `.npy`, which holds every dtype.
    WriteNpy,
    /// Read the bits as the other dtype, since values are not cast to it.
    ReadBits,
    /// Say which dtype the items are of, since the file only has their bits: this many bytes for each.
    NameItems(usize),
    /// Write the tensor as `.npy`, or say which dtype the items are of, which have this many bytes each.
    WriteOrName(usize),
    /// Pass a tensor, where text or nothing was passed.
    PassTensor,
    /// Change the option that the message begins with, a field of [`Options`](crate::diff::Options).
    ChangeOption,
    /// Read the text as CSV, which it looks like.
    ReadAsCsv {
        /// The delimiter of its cells; a blank means any number of blanks.
        delimiter: char,
        /// Whether its first line seems to be headings, which are to be skipped.
        headings: bool,
    },
    /// Read cells that are divided by another character, which are numbers then.
    DelimitBy {
        /// The delimiter; a blank means any number of blanks.
        delimiter: char,
        /// The number of lines at the beginning to skip, which seem to be headings.
        skip: usize,
    },
    /// Say which value the cells of a table that have none are read as.
    ReadMissing,
    /// Convert the store of Zarr to version 3, which can be written.
    ConvertStore,
    /// Ask for a public object without the credentials that are given.
    AskUnsigned,
    /// Write the tensor to a file of its own, and put it into the container from there, which keeps the other tensors.
    KeepOthers,
    /// Skip this number of lines at the beginning of a text, which seem to be headings.
    SkipRows(usize),
}

/// An error, with one line of text that says what was found and what was expected.
///
/// The text begins with the file (`weights.npz:conv1: …`) or, if the operator knows no files, with the operand
/// (`updates: …`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    subject: Subject,
    /// The file and the tensor that it happened in, outermost first.
    place: Option<String>,
    message: String,
    advice: Option<Advice>,
}

impl Error {
    /// Makes an [`ErrorKind::Argument`] about an operand or an argument.
    pub(crate) fn new(subject: Subject, message: impl Into<String>) -> Self {
        Self { subject, ..Self::from_kind(ErrorKind::Argument, message) }
    }

    /// Makes an error of a kind about [`Subject::File`].
    pub(crate) fn from_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, subject: Subject::File, place: None, message: message.into(), advice: None }
    }

    /// Makes the error that a number of an index tensor or list is too large for int64.
    pub(crate) fn beyond_int64(number: &impl fmt::Display) -> Self {
        Self::new(Subject::Indices, format!("{number} is beyond int64"))
    }

    /// Returns the error with `place`, such as a file, put before the places that its text names already.
    #[must_use]
    pub fn within(self, place: impl Into<String>) -> Self {
        let outer = place.into();
        let place = Some(self.place.map_or_else(|| outer.clone(), |inner| format!("{outer}: {inner}")));
        Self { place, ..self }
    }

    /// Returns the error with another kind.
    #[cfg(feature = "files")]
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the error with advice.
    pub(crate) fn advising(self, advice: Advice) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// Returns the error with [`Subject::File`] in place of its subject.
    #[cfg(feature = "files")]
    pub(crate) fn about_file(self) -> Self {
        Self { subject: Subject::File, ..self }
    }

    /// Returns the error with what would have been needed, if a disk or the size of a file that a process may write is full.
    #[must_use]
    pub(crate) fn needing(self, what: impl FnOnce() -> String) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self.kind {
            ErrorKind::Io(StorageFull | QuotaExceeded | FileTooLarge) => {
                Self { message: format!("{}; {}", self.message, what()), ..self }
            }
            _ => self,
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the operand or the argument that is wrong; [`Subject::File`] if it is none.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Returns what a user could do about it, if there is advice that a program can give.
    pub fn advice(&self) -> Option<Advice> {
        self.advice
    }

    /// Returns the line of text without the file or operand at its beginning.
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
        // an error of this crate may have passed through a reader or writer of the standard library
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::from_kind(ErrorKind::Io(kind(&error)), error.to_string()),
        }
    }
}

/// Returns the kind of a system's error. The standard library has no kind for Windows' error that nobody is connected to a
/// pipe, which Windows returns for named pipes and wine for all: here it is a broken pipe, since whoever read it has gone.
pub(crate) fn kind(error: &io::Error) -> io::ErrorKind {
    const PIPE_NOT_CONNECTED: i32 = 233;
    let gone = cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED);
    if gone { io::ErrorKind::BrokenPipe } else { error.kind() }
}

/// Converts the error that a number, such as a length in a file, is too large for the addresses of this machine.
impl From<std::num::TryFromIntError> for Error {
    fn from(error: std::num::TryFromIntError) -> Self {
        Self::from_kind(ErrorKind::Malformed, error.to_string())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        use ErrorKind::{Argument, Changed, Io, Malformed, Member, Memory, Unsupported};
        let kind = match error.kind {
            Io(kind) => kind,
            Memory => io::ErrorKind::OutOfMemory,
            Argument | Malformed | Unsupported | Member | Changed => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Returns a number with the noun for as many things, for a message.
pub(crate) fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// Names the place of an error where it is passed on.
pub(crate) trait Context<T> {
    /// Puts `place` before the text of an error. For an `Option` that is `None` it is the text.
    fn context(self, place: impl Into<String>) -> Result<T>
    where
        Self: Sized,
    {
        self.with_context(|| place)
    }

    /// Does what [`context`](Self::context) does with a text that is made only if there is an error.
    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for std::result::Result<T, E> {
    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.map_err(|error| error.into().within(place()))
    }
}

impl<T> Context<T> for Option<T> {
    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.ok_or_else(|| Error::from_kind(ErrorKind::Malformed, place()))
    }
}

/// Makes an [`ErrorKind::Malformed`] with a formatted message.
macro_rules! malformed {
    ($($text:tt)*) => { $crate::error::Error::from_kind($crate::error::ErrorKind::Malformed, format!($($text)*)) };
}

/// Returns an error that [`malformed!`] makes.
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::error::malformed!($($text)*)) };
}

/// Returns an error that [`malformed!`] makes unless a condition holds.
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
        let full = Error::from_kind(ErrorKind::Io(io::ErrorKind::StorageFull), "full")
            .within("a")
            .needing(|| "needs 8".into());
        assert_eq!(full.to_string(), "a: full; needs 8");
        assert_eq!(Error::from_kind(ErrorKind::Memory, "full").needing(|| "needs 8".into()).to_string(), "full");
        let none: Result<u8> = None.with_context(|| "nothing there");
        assert_eq!(none.unwrap_err().to_string(), "nothing there");
    }

    #[test]
    fn errors_pass_through_readers() {
        let own = Error::from_kind(ErrorKind::Changed, "changed").within("x");
        assert_eq!(Error::from(io::Error::from(own.clone())), own);
        let foreign = Error::from(io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(foreign.kind(), ErrorKind::Io(io::ErrorKind::NotFound));
    }
}
