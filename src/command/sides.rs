//! The two sides of a comparison: each one tensor, or many by their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::asked::{Asked, Reading};
use super::io::Io;
use super::options::members::MemberOptions;
use super::options::operands::{InputOptions, OperandArg};
use super::sources::{self, TensorOf, typed, typed_alone};
use crate::format::collection::{Collection, Opening, Place};
use crate::format::open::{Input, OpenOptions, files_before_colons, folders_before_colons};
use crate::format::raw::View;
use crate::format::{Format, rewrite};
use crate::parallel::Threads;
use crate::storage::source::Source;

/// A side as it was found.
pub(super) enum Side {
    /// A tensor: its file, and its number there.
    One(Input, usize),
    /// A container that holds one tensor, which stands for that.
    Alone(Input),
    /// A container that holds any other number, or an index.
    Container(Input),
    /// A folder.
    Folder(PathBuf),
    /// What is not there, and may be made.
    Absent(PathBuf),
}

/// Both sides, resolved.
pub(super) enum Sides {
    /// Two tensors: the file of each, and its number there.
    Two(Box<[(Input, usize); 2]>),
    /// One tensor, which what is not there becomes.
    New(Box<(Input, usize)>),
    /// Tensors by name.
    Many(Box<Pairs>),
}

/// Tensors of both sides, by the names that they are compared under.
pub(super) struct Pairs {
    pub sides: [Collection; 2],
    /// Where those of each name lie; the names are those of the expected side after it was renamed.
    pub named: BTreeMap<String, [Option<Place>; 2]>,
}

/// The expected side, if it is to be made where it is not there.
///
/// # Errors
/// Those of [`side`].
pub(super) fn expected(io: &Io, arg: &OperandArg, how: &InputOptions, threads: Threads, is_made: bool) -> Result<Side> {
    match arg {
        OperandArg::Path(path) if is_made && is_absent(path) => Ok(Side::Absent(path.clone())),
        arg => side(io, ROLES[0], arg, how, threads),
    }
}

/// Whether there is no such file, or no such tensor in it.
fn is_absent(path: &Path) -> bool {
    match files_before_colons(path).chain(folders_before_colons(path)).next() {
        _ if path.exists() => false,
        None => true,
        Some((file, name)) => OpenOptions::default().open(&file).is_ok_and(|input| {
            let has = |names: Vec<&str>| names.iter().any(|other| other.as_bytes() == name);
            input.names().is_some_and(|names| !has(names)) && !View::is_meant(&String::from_utf8_lossy(name))
        }),
    }
}

/// Finds out what an operand is.
///
/// # Errors
/// What is not there, or holds no tensors.
pub(super) fn side(io: &Io, role: &str, arg: &OperandArg, how: &InputOptions, threads: Threads) -> Result<Side> {
    if let OperandArg::Path(path) = arg
        && path.is_dir()
        && Format::of_folder(path).is_none()
    {
        return Ok(Side::Folder(path.clone()));
    }
    let input = sources::open(io, arg, &sources::label(role, arg), how, threads)?;
    let count = input.names().map(|names| names.len());
    Ok(match (input.member(), count) {
        (Some(_), _) => {
            let n = input.chosen()?;
            Side::One(input, n)
        }
        (None, None) => Side::One(input, 0),
        (None, Some(1)) if !input.format().names_files() => Side::Alone(input),
        (None, Some(_)) => Side::Container(input),
    })
}

impl Side {
    /// Whether it is one tensor, or may stand for one.
    fn is_one(&self) -> bool {
        matches!(self, Side::One(..) | Side::Alone(_) | Side::Absent(_))
    }

    /// The one tensor. `other` is what messages call the other side.
    fn into_one(self, (role, other): (&str, &str)) -> Result<(Input, usize)> {
        let name = "name a member after a colon, or a file";
        match self {
            Side::One(input, n) => Ok((input, n)),
            Side::Alone(input) => Ok((input, 0)),
            Side::Container(input) => {
                // several tensors, or none, are told by their names
                input.pick(None)?;
                bail!("{}: an index stands for all of its tensors, and {other} is one: {name}", input.label())
            }
            Side::Folder(path) => bail!("{role} {}: is a folder, and {other} is one tensor: {name}", path.display()),
            Side::Absent(path) => bail!("{role} {}: is not there", path.display()),
        }
    }

    /// All tensors by name.
    fn into_many(self, arg: &OperandArg, opening: Opening<'_>) -> Result<Collection> {
        match self {
            Side::One(input, _) | Side::Alone(input) | Side::Container(input) => {
                let path = match arg {
                    OperandArg::Path(path) => path.as_path(),
                    OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => Path::new("-"),
                };
                Ok(Collection::of_input(input, path, opening.threads)?)
            }
            Side::Folder(path) => Ok(Collection::of_folder(&path, opening)?),
            Side::Absent(_) => Ok(Collection::default()),
        }
    }

    fn label(&self, role: &str) -> String {
        match self {
            Side::One(input, _) | Side::Alone(input) | Side::Container(input) => input.label().to_owned(),
            Side::Folder(path) | Side::Absent(path) => format!("{role} {}", path.display()),
        }
    }
}

/// The names of the sides.
pub(super) const ROLES: [&str; 2] = ["EXPECTED", "ACTUAL"];

/// Resolves both sides.
///
/// # Errors
/// A tensor against many; those of opening.
pub(super) fn resolve(
    [expected, actual]: [Side; 2],
    args: [&OperandArg; 2],
    members: &MemberOptions,
    how: &InputOptions,
    threads: Threads,
) -> Result<Sides> {
    let labels = [expected.label(ROLES[0]), actual.label(ROLES[1])];
    let many = [&expected, &actual].into_iter().filter(|side| !side.is_one()).count();
    let is_named = |side: &Side| matches!(side, Side::One(..));
    match (&expected, actual.is_one()) {
        // of several it is an error, where the name of one was given
        (Side::Absent(path), is_one) if is_one || rewrite::divided(path).1.is_some() => {
            return Ok(Sides::New(Box::new(actual.into_one((ROLES[1], &labels[0]))?)));
        }
        (Side::Absent(_) | Side::One(..) | Side::Alone(_) | Side::Container(_) | Side::Folder(_), _) => {}
    }
    if many == 0 || is_named(&expected) || is_named(&actual) {
        let expected = expected.into_one((ROLES[0], &labels[1]))?;
        let actual = actual.into_one((ROLES[1], &labels[0]))?;
        return Ok(Sides::Two(Box::new([expected, actual])));
    }
    let renamed = |name: &str| members.takes(&members.renamed(name));
    let as_it_is = |name: &str| members.takes(name);
    let opening = |role, wanted| Opening { role, from: how.from, skip_rows: how.skip_rows, wanted, threads };
    let sides = [
        expected.into_many(args[0], opening(ROLES[0], &renamed))?,
        actual.into_many(args[1], opening(ROLES[1], &as_it_is))?,
    ];
    Ok(Sides::Many(Box::new(Pairs::new(sides, members, &labels)?)))
}

impl Pairs {
    fn new(sides: [Collection; 2], members: &MemberOptions, labels: &[String; 2]) -> Result<Self> {
        let mut named: BTreeMap<String, [Option<Place>; 2]> = BTreeMap::new();
        members.check_renames(sides[0].tensors().keys().map(String::as_str))?;
        for (old, &place) in sides[0].tensors() {
            let name = members.renamed(old);
            if named.entry(name.clone()).or_default()[0].replace(place).is_some() {
                bail!("{}: two tensors are called {name:?} after --rename, one of them {old:?}", labels[0]);
            }
        }
        for (name, &place) in sides[1].tensors() {
            named.entry(name.clone()).or_default()[1] = Some(place);
        }
        members.check_names(&named.keys().map(String::as_str).collect::<Vec<_>>())?;
        let any = !named.is_empty();
        named.retain(|name, _| members.takes(name));
        if any && named.is_empty() {
            bail!("{} and {}: --only and --exclude leave no tensor to compare", labels[0], labels[1]);
        }
        Ok(Self { sides, named })
    }

    /// About the bytes of all tensors that have a partner.
    pub(super) fn bytes(&self) -> usize {
        let pairs = self.named.values().filter_map(|[expected, actual]| expected.zip(*actual));
        let bytes = pairs.fold(0, |sum: u64, (one, other)| sum.saturating_add(one.bytes).saturating_add(other.bytes));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Opens both tensors of a pair.
    ///
    /// # Errors
    /// Of opening, and of reading what has no dtype of its own.
    pub(super) fn open(&self, places: [Place; 2], asked: &Asked<'_>) -> Result<[Source; 2]> {
        let [expected, actual] = [0, 1].map(|side| self.sides[side].open(places[side].file));
        let (expected, actual) = (expected?, actual?);
        let numbers = [self.sides[0].find(&expected, places[0])?.0, self.sides[1].find(&actual, places[1])?.0];
        two([(&expected, numbers[0]), (&actual, numbers[1])], asked)
    }

    /// Opens a tensor of one side alone.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(super) fn open_one(&self, side: usize, place: Place, asked: &Asked<'_>) -> Result<Source> {
        let input = self.sides[side].open(place.file)?;
        let n = self.sides[side].find(&input, place)?.0;
        one((&input, n), asked)
    }
}

/// A tensor that is compared with none.
///
/// # Errors
/// Of opening, and of reading what has no dtype of its own.
pub(super) fn one((input, member): (&Input, usize), asked: &Asked<'_>) -> Result<Source> {
    typed_alone(TensorOf::new(input, member), asked, Reading::Unsigned)
}

/// Two tensors that are compared, typed together.
///
/// # Errors
/// Of opening, and of reading what has no dtype of its own.
pub(super) fn two([expected, actual]: [(&Input, usize); 2], asked: &Asked<'_>) -> Result<[Source; 2]> {
    let tensors = [expected, actual].map(|(input, n)| TensorOf::new(input, n));
    Ok(typed(&tensors, asked, Reading::Unsigned)?.try_into().expect("a source for each tensor"))
}
