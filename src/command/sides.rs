//! Finds out what the two sides of a comparison are: one tensor each, or many tensors each, which are compared by name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::asked::{Asked, Reinterpret};
use super::options::{MemberOptions, OperandArg};
use super::sources::{FoundTensor, Operand, OperandReader, OperandRole, TensorOf, typed, typed_alone};
use crate::error::Subject;
use crate::format::collection::{Collection, Opening, TensorPlace};
use crate::format::colon::{files_before_colons, folders_before_colons};
use crate::format::open::{Input, OpenOptions};
use crate::format::raw::View;
use crate::format::{Format, rewrite};
use crate::layout::order::sort_by;
use crate::storage::source::Source;

/// The tensors that are right.
pub(super) const EXPECTED: OperandRole = OperandRole { name: "EXPECTED", subject: Subject::Operand(0) };
/// The tensors that are checked.
pub(super) const ACTUAL: OperandRole = OperandRole { name: "ACTUAL", subject: Subject::Operand(1) };

/// What was found at an operand.
pub(super) enum FoundSide {
    /// A tensor that was named, or is the only one that a file of its format can hold.
    One(FoundTensor),
    /// A container that holds one tensor: it stands for that tensor if the other side is one, too.
    OnlyMember(Input),
    /// A container that holds no or several tensors, or an index.
    Container(Input),
    /// A folder.
    Folder(PathBuf),
    /// A path that does not exist, and may be made.
    Absent(PathBuf),
}

/// What is compared.
pub(super) enum ComparedSides {
    /// Two tensors.
    Two(Box<[FoundTensor; 2]>),
    /// ACTUAL with nothing: EXPECTED does not exist, and becomes what ACTUAL is.
    New(Box<FoundTensor>),
    /// Tensors of both sides by their names.
    Many(Box<NamedPairs>),
}

/// Tensors of both sides, by the names that they are compared under.
pub(super) struct NamedPairs {
    pub sides: [Collection; 2],
    /// In alphabetical order, the names and where the tensors of each name are, on one side or both. The names are those of
    /// EXPECTED after `--rename`.
    pub named: Vec<(String, [Option<TensorPlace>; 2])>,
}

/// Finds EXPECTED; if `may_be_made`, it need not exist.
///
/// # Errors
/// Those of [`find`].
pub(super) fn find_expected(reader: &OperandReader<'_>, operand: &Operand<'_>, may_be_made: bool) -> Result<FoundSide> {
    match operand.arg {
        OperandArg::Path(path) if may_be_made && is_absent(path) => Ok(FoundSide::Absent(path.clone())),
        _ => find(reader, operand),
    }
}

/// Returns whether there is no such file, or no such tensor in it.
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
/// It does not exist, or holds no tensors.
pub(super) fn find(reader: &OperandReader<'_>, operand: &Operand<'_>) -> Result<FoundSide> {
    if let OperandArg::Path(path) = operand.arg
        && path.is_dir()
        && Format::of_folder(path).is_none()
    {
        return Ok(FoundSide::Folder(path.clone()));
    }
    let input = reader.open(operand)?;
    let count = input.names().map(|names| names.len());
    Ok(match (input.member(), count) {
        (Some(_), _) => FoundSide::One(FoundTensor { n: input.chosen()?, input }),
        (None, None) => FoundSide::One(FoundTensor { n: 0, input }),
        (None, Some(1)) if !input.format().names_files() => FoundSide::OnlyMember(input),
        (None, Some(_)) => FoundSide::Container(input),
    })
}

impl FoundSide {
    /// Returns whether it is one tensor, or may stand for one.
    fn is_one(&self) -> bool {
        matches!(self, Self::One(_) | Self::OnlyMember(_) | Self::Absent(_))
    }

    /// Returns the one tensor of the side called `role`; messages call the other side `other`.
    fn into_one(self, role: OperandRole, other: &str) -> Result<FoundTensor> {
        let (role, name) = (role.name, "name a member after a colon, or a file");
        match self {
            Self::One(found) => Ok(found),
            Self::OnlyMember(input) => Ok(FoundTensor { input, n: 0 }),
            Self::Container(input) => {
                // if it holds several tensors, or none, this is the error
                input.chosen()?;
                bail!("{}: an index stands for all of its tensors, and {other} is one: {name}", input.label())
            }
            Self::Folder(path) => bail!("{role} {}: is a folder, and {other} is one tensor: {name}", path.display()),
            Self::Absent(path) => bail!("{role} {}: is not there", path.display()),
        }
    }

    /// Returns all tensors by name.
    fn into_many(self, arg: &OperandArg, opening: Opening<'_>) -> Result<Collection> {
        match self {
            Self::One(FoundTensor { input, .. }) | Self::OnlyMember(input) | Self::Container(input) => {
                let path = match arg {
                    OperandArg::Path(path) => path.as_path(),
                    OperandArg::Stdin | OperandArg::StdinAs(_) | OperandArg::Inline(_) => Path::new("-"),
                };
                Ok(Collection::of_input(input, path, opening.options)?)
            }
            Self::Folder(path) => Ok(Collection::of_folder(&path, opening)?),
            Self::Absent(_) => Ok(Collection::default()),
        }
    }

    fn label(&self, role: OperandRole) -> String {
        match self {
            Self::One(FoundTensor { input, .. }) | Self::OnlyMember(input) | Self::Container(input) => {
                input.label().to_owned()
            }
            Self::Folder(path) | Self::Absent(path) => format!("{} {}", role.name, path.display()),
        }
    }
}

/// Decides what is compared.
///
/// # Errors
/// One tensor against many; those of opening; patterns that match nothing.
pub(super) fn pair_up(
    reader: &OperandReader<'_>,
    operands: &[Operand<'_>; 2],
    [expected, actual]: [FoundSide; 2],
    members: &MemberOptions,
) -> Result<ComparedSides> {
    let labels = [expected.label(EXPECTED), actual.label(ACTUAL)];
    let is_named = |side: &FoundSide| matches!(side, FoundSide::One(_));
    // the name of one tensor among several is an error, which `into_one` reports
    if let FoundSide::Absent(path) = &expected
        && (actual.is_one() || rewrite::divided(path).member.is_some())
    {
        return Ok(ComparedSides::New(Box::new(actual.into_one(ACTUAL, &labels[0])?)));
    }
    if expected.is_one() && actual.is_one() || is_named(&expected) || is_named(&actual) {
        let expected = expected.into_one(EXPECTED, &labels[1])?;
        return Ok(ComparedSides::Two(Box::new([expected, actual.into_one(ACTUAL, &labels[0])?])));
    }
    let renamed = |name: &str| members.takes(&members.renamed(name));
    let as_it_is = |name: &str| members.takes(name);
    let opening = |role: OperandRole, wanted| Opening { role: role.name, options: reader.open_options(""), wanted };
    let sides = [
        expected.into_many(operands[0].arg, opening(EXPECTED, &renamed))?,
        actual.into_many(operands[1].arg, opening(ACTUAL, &as_it_is))?,
    ];
    Ok(ComparedSides::Many(Box::new(NamedPairs::new(sides, members, &labels)?)))
}

impl NamedPairs {
    fn new(sides: [Collection; 2], members: &MemberOptions, labels: &[String; 2]) -> Result<Self> {
        let mut named: HashMap<String, [Option<TensorPlace>; 2]> = HashMap::new();
        let expected = sides[0].tensors();
        members.check_renames(&expected.iter().map(|(name, _)| *name).collect::<Vec<_>>())?;
        for (old, place) in expected {
            let name = members.renamed(old);
            if named.entry(name.clone()).or_default()[0].replace(place).is_some() {
                bail!("{}: two tensors are called {name:?} after --rename, one of them {old:?}", labels[0]);
            }
        }
        for (name, place) in sides[1].tensors() {
            named.entry(name.to_owned()).or_default()[1] = Some(place);
        }
        let mut named: Vec<_> = named.into_iter().collect();
        sort_by(&mut named, |(a, _), (b, _)| a.cmp(b));
        members.check_names(&named.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
        let any = !named.is_empty();
        named.retain(|(name, _)| members.takes(name));
        if any && named.is_empty() {
            bail!("{} and {}: --only and --exclude leave no tensor to compare", labels[0], labels[1]);
        }
        Ok(Self { sides, named })
    }

    /// Returns where the tensors of one of the names are.
    pub(super) fn places(&self, name: &str) -> [Option<TensorPlace>; 2] {
        let found = self.named.binary_search_by(|(other, _)| other.as_str().cmp(name));
        self.named[found.expect("one of the names that were compared")].1
    }

    /// Returns about how many bytes all tensors have that have a partner.
    pub(super) fn bytes(&self) -> usize {
        let pairs = self.named.iter().filter_map(|(_, [expected, actual])| expected.zip(*actual));
        let bytes = pairs.fold(0, |sum: u64, (one, other)| sum.saturating_add(one.bytes).saturating_add(other.bytes));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Opens both tensors of a pair.
    ///
    /// # Errors
    /// Of opening, and of reading text that has no dtype of its own.
    pub(super) fn open(&self, places: [TensorPlace; 2], asked: &Asked<'_>) -> Result<[Source; 2]> {
        let [expected, actual] = [0, 1].map(|side| self.sides[side].open(places[side].file));
        let (expected, actual) = (expected?, actual?);
        let numbers = [self.sides[0].find(&expected, places[0])?.0, self.sides[1].find(&actual, places[1])?.0];
        open_two([TensorOf::new(&expected, numbers[0]), TensorOf::new(&actual, numbers[1])], asked)
    }

    /// Opens a tensor of one side.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(super) fn open_one(&self, side: usize, place: TensorPlace, asked: &Asked<'_>) -> Result<Source> {
        let input = self.sides[side].open(place.file)?;
        let n = self.sides[side].find(&input, place)?.0;
        typed_alone(TensorOf::new(&input, n), asked, Reinterpret::Unsigned)
    }
}

/// Makes sources of two tensors that are compared, typed together.
///
/// # Errors
/// Of opening, and of reading text that has no dtype of its own.
pub(super) fn open_two(tensors: [TensorOf<'_>; 2], asked: &Asked<'_>) -> Result<[Source; 2]> {
    Ok(typed(&tensors, asked, Reinterpret::Unsigned)?.try_into().expect("a source for each tensor"))
}
