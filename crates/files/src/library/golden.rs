//! Golden files in Rust tests: a failing test reports how the tensors differ.
//!
//! ```
//! use tensorop_files::assert_tensor_eq;
//! use tensorop_files::golden::tensor_eq;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(folder.path())?;
//! # std::fs::write("golden.json", "[1.0, 2.0]")?;
//! # std::fs::write("out.json", "[1.0, 2.0]")?;
//! // an ndarray array or view, the bytes of a file, or the path of one
//! assert_tensor_eq!("golden.json", &ndarray::array![1.0, 2.0]);
//! assert_tensor_eq!("golden.json", b"[1.0, 2.0]");
//! assert_tensor_eq!("golden.json", "out.json");
//! // with a tolerance, and with a message as in `assert_eq!`
//! assert_tensor_eq!(tensor_eq("golden.json").rtol(1e-5), b"[1.0, 2.000001]", "layer {}", 1);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`golden()`](golden) and [`tensor_eq`] are predicates for bytes; [`for_path`](TensorEq::for_path) makes one for paths. They
//! differ in [new golden files](#new-golden-files) alone.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use predicates::prelude::*;
//! use tensorop_files::golden::{golden, tensor_eq};
//!
//! let output = assert_cmd::Command::new("program").arg("in.npy").assert().success();
//! let output = output.stdout(golden("golden.npy").rtol(1e-5)).get_output().clone();
//! assert!(golden("golden.npy").ulp(2).eval(&output.stdout));
//! assert!(golden("golden.npy").ulp(2).eval(Path::new("out.npy")));
//! assert!(tensor_eq("golden.npy").ulp(2).and(tensor_eq("in.npy").not()).eval(&output.stdout));
//! ```
//!
//! The two tensors may have different formats. Plain JSON and CSV take the dtype of the other tensor, as in
//! `tensorop diff`.
//!
//! # New golden files
//!
//! If the environment variable [`UPDATE`] is `1`, `true` or `yes`, a tensor that fails in
//! [`assert_tensor_eq!`](crate::assert_tensor_eq) or [`golden()`](golden) replaces the golden file, in its format, and a line
//! on standard error reports this. Missing folders are created, and a golden file that is empty or damaged is replaced. A
//! file that the next check would not find equal is not written, and the check fails. Review the changes before you commit
//! them. With `0`, `false`, `no` or an empty value nothing is written; with any other value every such assertion fails.
//!
//! The predicate [`tensor_eq`] never writes (`assert_tensor_eq!` writes the file of either). Under `.not()`, and beside
//! others in `.or()` and `.and()`, the test may expect a tensor that differs, and a predicate does not see the combination
//! around it. So use [`golden()`](golden) alone, as in `.stdout(golden(FILE))`.
//!
//! If [`KEEP_ACTUAL`] names a folder, a check that fails leaves the actual tensor there, as `NAME.actual.npy` for the golden
//! file NAME, and a check that passes removes it.

use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use ndarray::{ArrayBase, Data, Dimension};
use predicates_core::Predicate;
use predicates_core::reflection::{Case, PredicateReflection, Product};

use crate::diff::{self, Difference, Effort, Options};
use crate::library::rewrite;
pub use crate::library::rewrite::KEEP_ACTUAL;
pub use crate::library::rewrite::UPDATE_GOLDEN as UPDATE;
use crate::library::rewrite::{NamedSource, Rewrite};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::Located;
use crate::operators::fill::Limits;
use crate::storage::source::{Hold, Source};
use crate::untyped::{self, Values};
use tensorop_kernels::error::{Error, ErrorKind, Result, Subject, malformed};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::element::Element;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::parallel::Threads;

#[doc(hidden)]
#[track_caller]
pub fn assert_golden<A: Compared + ?Sized>(golden: &TensorEq, actual: &A, message: Option<fmt::Arguments<'_>>) {
    let golden = TensorEq { is_updated: true, ..golden.clone() };
    if let Some(why) = golden.check(&actual.compared(), true) {
        let before = message.map_or_else(String::new, |message| format!("{message}: "));
        panic!("{before}not {golden}:\n{}", why.trim_end());
    }
}

/// Returns a predicate for bytes that hold the golden tensor, which with [`UPDATE`] replace the golden file otherwise. The
/// path is relative to the test's working directory (the crate's folder under `cargo test`) and may name a member:
/// `golden.npz:member`.
pub fn golden(file: impl Into<PathBuf>) -> TensorEq {
    TensorEq { is_updated: true, ..tensor_eq(file) }
}

/// Returns the predicate of [`golden()`](golden) without its updates: it never writes the file.
pub fn tensor_eq(file: impl Into<PathBuf>) -> TensorEq {
    TensorEq { golden: file.into(), options: Options::default(), is_updated: false, actual: PhantomData }
}

/// A predicate for bytes, from [`golden()`](golden) or [`tensor_eq`], or for [`Path`]s. A predicate for both would make
/// assert_cmd's `.stdout(...)` and the predicates' `.and(...)` ambiguous.
#[derive(Debug)]
pub struct TensorEq<T: ?Sized = [u8]> {
    golden: PathBuf,
    options: Options,
    is_updated: bool,
    actual: PhantomData<fn(&T)>,
}

impl<T: ?Sized> TensorEq<T> {
    /// Accepts differences up to this value plus [`rtol`](Self::rtol) times the golden value.
    #[must_use]
    pub fn atol(self, atol: f64) -> Self {
        Self { options: self.options.with_atol(atol), ..self }
    }

    /// Accepts differences up to this factor times the golden value plus [`atol`](Self::atol).
    #[must_use]
    pub fn rtol(self, rtol: f64) -> Self {
        Self { options: self.options.with_rtol(rtol), ..self }
    }

    /// Accepts differences up to `ulp` representable values.
    #[must_use]
    pub fn ulp(self, ulp: u64) -> Self {
        Self { options: self.options.with_ulp(ulp), ..self }
    }

    /// Treats NaNs with different bits as different.
    #[must_use]
    pub fn nan_differs(self) -> Self {
        Self { options: self.options.with_nan_differs(true), ..self }
    }

    /// Compares values even if the dtypes differ.
    #[must_use]
    pub fn ignore_dtype(self) -> Self {
        Self { options: self.options.with_ignore_dtype(true), ..self }
    }

    /// Returns whether `actual` equals the golden tensor. With [`UPDATE`], [`golden()`](golden) replaces the golden file
    /// otherwise.
    pub fn eval<A: Compared + ?Sized>(&self, actual: &A) -> bool {
        self.check(&actual.compared(), self.is_updated).is_none()
    }

    /// Returns the predicate for paths.
    #[must_use]
    pub fn for_path(self) -> TensorEq<Path> {
        self.predicate()
    }

    fn predicate<U: ?Sized>(&self) -> TensorEq<U> {
        let (golden, options) = (self.golden.clone(), self.options.clone());
        TensorEq { golden, options, is_updated: self.is_updated, actual: PhantomData }
    }

    /// Returns why the tensors differ. Only an assertion, whose failure fails the test, writes files.
    fn check(&self, actual: &Actual<'_>, is_asserted: bool) -> Option<String> {
        let variable = std::env::var_os(UPDATE).filter(|_| is_asserted && self.is_updated);
        let updates = match rewrite::updates_golden(variable.as_deref()) {
            Ok(updates) => updates,
            Err(error) => return Some(error.to_string()),
        };
        let why = match self.compare(actual) {
            Ok(found) if found.equal() => None,
            compared if updates => self.update(actual, compared.err()).err().map(|error| error.to_string()),
            Ok(found) => Some(found.to_string()),
            Err(error) => Some(error.to_string()),
        };
        let folder = std::env::var_os(KEEP_ACTUAL).filter(|_| is_asserted);
        let Some(kept) = rewrite::files_to_keep(folder.as_deref(), &Located::from_path(&self.golden)) else {
            return why;
        };
        if why.is_none() {
            rewrite::remove_kept(&kept);
        }
        let write = |source| rewrite::keep(&kept, vec![NamedSource { name: None, source }], Limits::default());
        let keep = || actual.source().and_then(write).unwrap_or_else(|error| format!("ACTUAL is not kept: {error}"));
        why.map(|why| format!("{}\n{}", why.trim_end(), keep()))
    }

    fn label(&self) -> String {
        format!("golden file {}", self.golden.display())
    }

    fn open(&self, actual: &Actual<'_>) -> Result<[Source; 2]> {
        let found = OpenOptions::new(self.label()).open(&Located::from_path(&self.golden)).map_err(|error| {
            let missing = error.kind() == ErrorKind::Io(io::ErrorKind::NotFound);
            let to_make_it = if self.is_updated { "to make it" } else { "and golden(FILE) to make it" };
            if missing { error.within(format!("run the test with {UPDATE}=1 {to_make_it}")) } else { error }
        })?;
        let golden = TensorOrText::new(&found, found.chosen()?, Subject::Operand(0))?;
        actual.with_source(|actual| typed_pair([golden, actual]))
    }

    fn compare(&self, actual: &Actual<'_>) -> Result<Difference> {
        self.compare_sources(self.open(actual)?)
    }

    fn compare_sources(&self, [mut golden, mut actual]: [Source; 2]) -> Result<Difference> {
        diff::compare_sources(&mut golden, &mut actual, &self.options, Effort::default(), &|_| {})
    }

    /// The golden file was `damaged` if it is there and cannot be read.
    fn update(&self, actual: &Actual<'_>, damaged: Option<Error>) -> Result<()> {
        let label = self.label();
        // Keeps the golden file's dtype if the text has none and its items fit.
        let mut source = match self.open(actual) {
            Ok([_, actual]) => actual,
            Err(_) => actual.source()?,
        };
        // A truncated input must not become a golden file.
        source.hold(Hold::Seekable, Threads::default())?;
        let located = Located::from_path(&self.golden);
        let (path, member) = located.output();
        let old = rewrite::existing(path, &label, member.is_none())?;
        let name = match old.as_ref().and_then(Input::names) {
            Some(names) => Some(match member {
                Some(member) => member.to_owned(),
                None if names.len() == 1 => names[0].to_owned(),
                None => return Err(malformed!("{label}: holds {} tensors: name one after a colon", names.len())),
            }),
            None => member.map(str::to_owned),
        };
        let shown = format!("{} {:?}", source.dtype().native(), source.shape());
        let tensors = vec![NamedSource { name, source }];
        let mut file = Rewrite::new(path, &label, old.as_ref(), tensors, false, Limits::default())?;
        if let Some(pair) = file.read_again(&OpenOptions::new(&*label))? {
            let found = self.compare_sources(pair)?;
            if !found.equal() {
                return Err(file.refusal(&found.verdict()));
            }
        }
        file.write()?;
        let is_its = |error: &Error| error.kind() == ErrorKind::Malformed && error.to_string().starts_with(&label);
        let damaged = damaged.filter(is_its).map_or_else(String::new, |error| format!("; before, {error}"));
        writeln!(io::stderr(), "wrote {label}: {shown}{damaged}")?;
        Ok(())
    }
}

/// The tensor to compare with the golden file.
#[derive(Debug)]
pub struct Actual<'a>(ActualKind<'a>);

#[derive(Debug)]
enum ActualKind<'a> {
    Bytes(&'a [u8]),
    Path(&'a Path),
    Array(Tensor),
}

impl Actual<'_> {
    fn with_source<T>(&self, take: impl FnOnce(TensorOrText<'_>) -> Result<T>) -> Result<T> {
        let input = match &self.0 {
            ActualKind::Bytes(bytes) => {
                let bytes = io::Cursor::new(bytes.to_vec());
                OpenOptions::new("the output").open_stream(Box::new(bytes))?
            }
            ActualKind::Path(path) => OpenOptions::new(path.display().to_string()).open(&Located::from_path(path))?,
            ActualKind::Array(tensor) => {
                return take(TensorOrText::Tensor(Source::memory(tensor.clone(), "the array".to_owned())));
            }
        };
        take(TensorOrText::new(&input, input.chosen()?, Subject::Operand(1))?)
    }

    fn source(&self) -> Result<Source> {
        self.with_source(typed)
    }
}

/// A tensor to compare: a path, the bytes of a file in any readable format, or an `ndarray` array or view of any
/// [`Element`], in logical order.
pub trait Compared {
    /// Returns the tensor to compare.
    fn compared(&self) -> Actual<'_>;
}

impl<A: Compared + ?Sized> Compared for &A {
    fn compared(&self) -> Actual<'_> {
        (**self).compared()
    }
}

macro_rules! compared {
    ($($type:ty: $kind:ident $(of $N:ident)?),+) => {
        $(impl$(<const $N: usize>)? Compared for $type {
            fn compared(&self) -> Actual<'_> {
                Actual(ActualKind::$kind(self.as_ref()))
            }
        })+
    };
}

compared!(str: Path, String: Path, Path: Path, PathBuf: Path, [u8]: Bytes, Vec<u8>: Bytes, [u8; N]: Bytes of N);

impl<T: Element, S: Data<Elem = T>, D: Dimension> Compared for ArrayBase<S, D> {
    fn compared(&self) -> Actual<'_> {
        Actual(ActualKind::Array(Tensor::from(self)))
    }
}

impl<P: Into<PathBuf>> From<P> for TensorEq {
    fn from(golden: P) -> Self {
        tensor_eq(golden)
    }
}

impl<T: Compared + ?Sized> Predicate<T> for TensorEq<T> {
    /// Never writes: combinations call it.
    fn eval(&self, actual: &T) -> bool {
        self.check(&actual.compared(), false).is_none()
    }

    fn find_case<'a>(&'a self, expected: bool, actual: &T) -> Option<Case<'a>> {
        let why = self.check(&actual.compared(), !expected);
        let case = Case::new(Some(self), why.is_none());
        match why {
            None => expected.then_some(case),
            Some(why) => (!expected).then(|| case.add_product(Product::new("diff", format!("\n{why}")))),
        }
    }
}

impl<T: ?Sized> PredicateReflection for TensorEq<T> {}

impl<T: ?Sized> Clone for TensorEq<T> {
    fn clone(&self) -> Self {
        self.predicate()
    }
}

impl<T: ?Sized> fmt::Display for TensorEq<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tensor of {}", self.golden.display())?;
        let Options { atol, rtol, ulp, .. } = &self.options;
        atol.map_or(Ok(()), |atol| write!(f, ", atol {atol:e}"))?;
        rtol.map_or(Ok(()), |rtol| write!(f, ", rtol {rtol:e}"))?;
        ulp.map_or(Ok(()), |ulp| write!(f, ", {ulp} ulp"))
    }
}

/// A tensor, or text that needs a dtype.
#[derive(Debug)]
enum TensorOrText<'a> {
    Tensor(Source),
    Text {
        values: Values<'a>,
        /// The name in messages.
        label: String,
    },
}

impl<'a> TensorOrText<'a> {
    /// Returns a member; errors in text are about `subject`.
    ///
    /// # Errors
    /// The member is malformed or unreadable.
    fn new(input: &'a Input, n: usize, subject: Subject) -> Result<Self> {
        let values = input.members().text.as_ref().map(|text| text.values(subject)).transpose();
        match values.map_err(|error| named(error, input.label()))? {
            Some(values) if values.dtype().is_none() => Ok(Self::Text { values, label: input.label().to_owned() }),
            Some(_) | None => input.source(n).map(Self::Tensor),
        }
    }
}

fn named(error: Error, label: &str) -> Error {
    error.with_kind(ErrorKind::Malformed).about_file().within(label)
}

/// Returns a single tensor; text gets a dtype by content.
///
/// # Errors
/// The text is malformed.
fn typed(one: TensorOrText<'_>) -> Result<Source> {
    match one {
        TensorOrText::Tensor(tensor) => Ok(tensor),
        TensorOrText::Text { values, label } => {
            let tensor = values.infer().map_err(|error| named(error, &label))?;
            Ok(Source::inferred(tensor, label))
        }
    }
}

/// Returns both tensors. Text takes the other's dtype in native byte order; two texts get a common one.
///
/// # Errors
/// A text is malformed or does not fit the dtype.
fn typed_pair(pair: [TensorOrText<'_>; 2]) -> Result<[Source; 2]> {
    let read = |values: &Values<'_>, label: String, dtype: &DType| match values.read(dtype) {
        Ok(tensor) => Ok(Source::memory(tensor, label)),
        Err(error) => Err(named(error, &label)),
    };
    match pair {
        [TensorOrText::Tensor(one), TensorOrText::Tensor(other)] => Ok([one, other]),
        [TensorOrText::Tensor(one), TensorOrText::Text { values, label }] => {
            let other = read(&values, label, &one.dtype().native())?;
            Ok([one, other])
        }
        [TensorOrText::Text { values, label }, TensorOrText::Tensor(other)] => {
            Ok([read(&values, label, &other.dtype().native())?, other])
        }
        [TensorOrText::Text { values: one, label }, TensorOrText::Text { values: other, label: other_label }] => {
            let subject = other.subject;
            let tensors = untyped::infer(&[&one, &other]);
            let tensors = tensors.map_err(|error| {
                let label = if error.subject() == subject { &other_label } else { &label };
                named(error, label)
            });
            let mut tensors = tensors?.into_iter();
            let mut source = |label| Source::inferred(tensors.next().expect("a tensor for each text"), label);
            Ok([source(label), source(other_label)])
        }
    }
}
