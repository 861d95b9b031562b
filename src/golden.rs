//! Golden files in Rust tests: a predicate that compares tensors and, when it fails, says how they differ.
//!
//! ```
//! use predicates_core::Predicate;
//! use tensorop::golden::tensor_eq;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(folder.path())?;
//! # std::fs::write("golden.json", "[1.0, 2.0]")?;
//! let predicate = tensor_eq("golden.json").rtol(1e-5);
//! assert!(predicate.eval(b"[1.0, 2.000001]".as_slice()));
//! assert!(!predicate.eval(b"[1.0, 2.1]".as_slice()));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! In a test with assert_cmd it stands where text would: `.stdout(tensor_eq("golden.npy").rtol(1e-5))`. What is
//! compared may be in any format that is read, and in another one than the golden file.
//!
//! # New golden files
//!
//! With the environment variable [`UPDATE`] set to `1` nothing is compared: what should have been compared becomes the
//! golden file, written over a file that is there and into folders that are made. Look at the changes before you commit
//! them.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Context, ErrorKind, Result, bail};
use predicates_core::Predicate;
use predicates_core::reflection::{Case, PredicateReflection, Product};

use crate::diff::{self, Difference, Effort, Options, Style};
use crate::format::Format;
use crate::format::open::Input;
use crate::parallel::Threads;

/// The environment variable that makes golden files anew, if it is `1`.
pub const UPDATE: &str = "TENSOROP_UPDATE_GOLDEN";

/// Whether bytes, or a file, hold the same tensor as the golden file, whose path is relative to the folder that the
/// test runs in (that of the crate, under `cargo test`) and may name a member, as `golden.npz:member`.
pub fn tensor_eq(golden: impl Into<PathBuf>) -> TensorEq {
    TensorEq { golden: golden.into(), options: Options::default() }
}

/// Made by [`tensor_eq`]: for bytes (what a program printed) and for paths (what it wrote).
#[derive(Clone, Debug)]
pub struct TensorEq {
    golden: PathBuf,
    options: Options,
}

impl TensorEq {
    /// Passes what differs by no more than this, plus [`rtol`](Self::rtol) times the golden value.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.options.atol = Some(atol);
        self
    }

    /// Passes what differs by no more than this times the golden value, plus [`atol`](Self::atol).
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.options.rtol = Some(rtol);
        self
    }

    /// Passes what is no more than so many representable values away.
    #[must_use]
    pub fn ulp(mut self, ulp: u64) -> Self {
        self.options.ulp = Some(ulp);
        self
    }

    /// NaNs of different bits differ.
    #[must_use]
    pub fn nan_differs(mut self) -> Self {
        self.options.nan_differs = true;
        self
    }

    /// Compares values, whatever the dtypes.
    #[must_use]
    pub fn ignore_dtype(mut self) -> Self {
        self.options.ignore_dtype = true;
        self
    }

    /// Nothing, or why it is not the tensor of the golden file.
    fn check(&self, actual: &Actual<'_>) -> Option<String> {
        let checked = match std::env::var_os(UPDATE) {
            Some(value) if value == "1" => self.update(actual).map(|()| None),
            _ => self.compare(actual).map(|found| (!found.equal()).then(|| report(&found))),
        };
        checked.unwrap_or_else(|error| Some(format!("{error:#}")))
    }

    fn compare(&self, actual: &Actual<'_>) -> Result<Difference> {
        let label = format!("golden file {}", self.golden.display());
        let opened = Input::path(&self.golden, None, &label, Threads::default());
        let (golden, member) = opened.map_err(|error| {
            let missing = error.kind() == ErrorKind::Io(io::ErrorKind::NotFound);
            if missing { error.within(format!("run the test with {UPDATE}=1 to make it")) } else { error }
        })?;
        let mut golden = golden.source(golden.pick(member.as_deref())?)?;
        let (actual, member) = actual.open()?;
        let mut actual = actual.source(actual.pick(member.as_deref())?)?;
        diff::compare_sources(&mut golden, &mut actual, &self.options, Effort::default(), &|_| {})
    }

    /// Makes what was found the golden file.
    fn update(&self, actual: &Actual<'_>) -> Result<()> {
        let path = &self.golden;
        let (input, member) = actual.open()?;
        let named = path.extension().and_then(OsStr::to_str).and_then(Format::by_extension);
        let Some(expected) = named.filter(|format| format.is_read()) else {
            bail!("golden file {}: its name does not tell a format", path.display())
        };
        if input.format() != expected || member.is_some() {
            let (found, expected) = (input.format().name(), expected.name());
            let part = if member.is_some() { "a part of " } else { "" };
            bail!("golden file {}: should be {expected}, but the tensor came as {part}{found}", path.display());
        }
        // what is cut off is no golden file
        input.source(input.pick(None)?)?.settle()?;
        let bytes = match actual {
            Actual::Bytes(bytes) => bytes.to_vec(),
            Actual::Path(from) => fs::read(from).with_context(|| from.display().to_string())?,
        };
        let failed = || format!("golden file {}: cannot be written", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(failed)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".golden-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut new = builder.tempfile_in(folder).with_context(failed)?;
        new.write_all(&bytes).with_context(failed)?;
        new.persist(path).map(drop).map_err(|error| error.error).with_context(failed)
    }

    fn case(&self, expected: bool, actual: &Actual<'_>) -> Option<Case<'_>> {
        let why = self.check(actual);
        let case = Case::new(Some(self), why.is_none());
        match why {
            None => expected.then_some(case),
            Some(why) => (!expected).then(|| case.add_product(Product::new("diff", format!("\n{why}")))),
        }
    }
}

/// What is compared with the golden file.
enum Actual<'a> {
    Bytes(&'a [u8]),
    Path(&'a Path),
}

impl Actual<'_> {
    fn open(&self) -> Result<(Input, Option<String>)> {
        match self {
            Actual::Bytes(bytes) => {
                let bytes = io::Cursor::new(bytes.to_vec());
                Ok((Input::stream(Box::new(bytes), None, "the output", Threads::default())?, None))
            }
            Actual::Path(path) => Input::path(path, None, &path.display().to_string(), Threads::default()),
        }
    }
}

fn report(found: &Difference) -> String {
    let mut text = Vec::new();
    // writing into memory does not fail
    let _ = found.write_report(&mut text, Style::plain());
    String::from_utf8_lossy(&text).into_owned()
}

impl Predicate<[u8]> for TensorEq {
    fn eval(&self, variable: &[u8]) -> bool {
        self.check(&Actual::Bytes(variable)).is_none()
    }

    fn find_case<'a>(&'a self, expected: bool, variable: &[u8]) -> Option<Case<'a>> {
        self.case(expected, &Actual::Bytes(variable))
    }
}

impl Predicate<Path> for TensorEq {
    fn eval(&self, variable: &Path) -> bool {
        self.check(&Actual::Path(variable)).is_none()
    }

    fn find_case<'a>(&'a self, expected: bool, variable: &Path) -> Option<Case<'a>> {
        self.case(expected, &Actual::Path(variable))
    }
}

impl PredicateReflection for TensorEq {}

impl fmt::Display for TensorEq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tensor of {}", self.golden.display())?;
        let Options { atol, rtol, ulp, .. } = &self.options;
        atol.map_or(Ok(()), |atol| write!(f, ", atol {atol:e}"))?;
        rtol.map_or(Ok(()), |rtol| write!(f, ", rtol {rtol:e}"))?;
        ulp.map_or(Ok(()), |ulp| write!(f, ", {ulp} ulp"))
    }
}
