//! The error type. Its text never names a command-line option: the program adds its own words by [`Subject`],
//! [`ErrorKind`] and [`Advice`].

use std::{fmt, io};

/// The result of most functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an [`Error`], for callers that match on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An operator rejects an argument or an operand; [`Error::subject`] names it.
    Argument,
    /// The content is invalid: not a tensor, damaged, or an item out of range for its dtype.
    Malformed,
    /// The format, dtype or file does not support a valid request.
    Unsupported,
    /// No tensor has this name, or the caller named none of several.
    Member,
    /// The file changed while it was read.
    Changed,
    /// There is not enough memory.
    Memory,
    /// A system call failed; a missing file is `Io(NotFound)`.
    Io(io::ErrorKind),
}

/// The operand or argument at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The `data` tensor.
    Data,
    /// The `indices` tensor.
    Indices,
    /// The `updates` tensor.
    Updates,
    /// An operand by its position, counted from 0.
    Operand(usize),
    /// The value that replaces `updates`.
    Fill,
    /// The slice starts.
    Start,
    /// The slice stops.
    Stop,
    /// The slice steps.
    Step,
    /// The slice axes.
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
    /// The output tensor.
    Output,
    /// An argument of a single operator, by its name in the specification.
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
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A remedy for an [`Error`]; each program words it for its own users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advice {
    /// Write `.npy`, which holds every dtype.
    WriteNpy,
    /// Read the bits as the other dtype; values are not cast.
    ReadBits,
    /// Name the dtype of items with this many bytes.
    NameItems(usize),
    /// Write `.npy`, or name the dtype of items with this many bytes.
    WriteOrName(usize),
    /// Pass a tensor instead of text or nothing.
    PassTensor,
    /// Change the option that begins the message, a field of the options of a comparison.
    ChangeOption,
    /// Read the text as CSV.
    ReadAsCsv {
        /// The delimiter; a blank matches any number.
        delimiter: char,
        /// Whether the first line looks like headings.
        headings: bool,
    },
    /// Split cells at another delimiter.
    DelimitBy {
        /// The delimiter; a blank matches any number.
        delimiter: char,
        /// The number of leading lines to skip.
        skip: usize,
    },
    /// Choose a value for empty cells, or read all cells as strings.
    ReadMissing,
    /// Read all cells as strings.
    ReadStrings {
        /// The number of leading lines to skip otherwise.
        skip: usize,
    },
    /// Convert the Zarr store to version 3.
    ConvertStore,
    /// Request a public object without credentials.
    AskUnsigned,
    /// Insert the tensor into the container, which keeps the other tensors.
    KeepOthers,
    /// Skip this many leading lines.
    SkipRows(usize),
    /// Give the dtypes and shapes of files without a header.
    GiveShapes,
}

/// An error with one line of text.
///
/// The text begins with the file (`weights.npz:conv1: …`) or, without a file, with the operand (`updates: …`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    subject: Subject,
    place: Option<String>,
    message: String,
    advice: Option<Advice>,
}

impl Error {
    /// Returns an error about an operand or an argument.
    pub fn new(subject: Subject, message: impl Into<String>) -> Self {
        Self { subject, ..Self::from_kind(ErrorKind::Argument, message) }
    }

    /// Returns an error of a kind, without a subject.
    pub fn from_kind(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, subject: Subject::File, place: None, message: message.into(), advice: None }
    }

    #[doc(hidden)]
    pub fn beyond_int64(number: &impl fmt::Display) -> Self {
        Self::new(Subject::Indices, format!("{number} is beyond int64"))
    }

    /// Prepends a place, such as a file.
    #[must_use]
    pub fn within(self, place: impl Into<String>) -> Self {
        let outer = place.into();
        let place = Some(self.place.map_or_else(|| outer.clone(), |inner| format!("{outer}: {inner}")));
        Self { place, ..self }
    }

    /// Replaces the kind.
    #[must_use]
    pub fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn advising(self, advice: Advice) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// Makes a file the subject.
    #[must_use]
    pub fn about_file(self) -> Self {
        Self { subject: Subject::File, ..self }
    }

    /// Adds the required space if the disk, a quota or the file size limit is exhausted.
    #[must_use]
    pub fn needing(self, what: impl FnOnce() -> String) -> Self {
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

    /// Returns the operand or argument at fault, or [`Subject::File`].
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Returns the remedy, if known.
    pub fn advice(&self) -> Option<Advice> {
        self.advice
    }

    /// Returns the text without the leading place.
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
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::from_kind(ErrorKind::Io(kind(&error)), error.to_string()),
        }
    }
}

/// Maps Windows' error 233 to a broken pipe. Windows reports it for named pipes, wine for every pipe whose reader has
/// gone, and the standard library has no kind for it.
pub fn kind(error: &io::Error) -> io::ErrorKind {
    const PIPE_NOT_CONNECTED: i32 = 233;
    let gone = cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED);
    if gone { io::ErrorKind::BrokenPipe } else { error.kind() }
}

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

/// Writes a count with its noun: `1 item`, `2 items`.
#[doc(hidden)]
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// Adds the place of an error, as `anyhow` does.
#[doc(hidden)]
pub trait Context<T> {
    /// On an `Option`, `place` is the whole text.
    fn context(self, place: impl Into<String>) -> Result<T>
    where
        Self: Sized,
    {
        self.with_context(|| place)
    }

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

#[doc(hidden)]
#[macro_export]
macro_rules! malformed {
    ($($text:tt)*) => { $crate::error::Error::from_kind($crate::error::ErrorKind::Malformed, format!($($text)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! unsupported {
    ($($text:tt)*) => { $crate::error::Error::from_kind($crate::error::ErrorKind::Unsupported, format!($($text)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! bail {
    ($($text:tt)*) => { return Err($crate::error::malformed!($($text)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => { if !$condition { $crate::error::bail!($($text)*); } };
}

pub use {bail, ensure, malformed, unsupported};

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
