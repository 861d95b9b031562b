//! The two sides of a comparison: one tensor each, or many that are compared by name.
//!
//! Small pairs are compared several at a time, one thread each; large pairs one at a time, by all threads.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::Path;

use anyhow::{Result, bail};

use super::acceptance::is_damaged;
use super::asked::{AskedDTypes, DTypeOption};
use super::found_side::FoundSide;
use super::member::{Member, typed};
use super::messages::{counted, message, option_error};
use super::options::{ACTUAL, EXPECTED, MemberOptions, Operand};
use super::sources::OperandReader;
use crate::diff::metadata::{DifferingNames, FilePairs};
use crate::diff::models::{LoneTensor, Models, NamedResult, TensorVerdict};
use crate::diff::{self, Effort, Options, Outline};
use crate::engine::job::Progress;
use crate::format::Format;
use crate::format::collection::{Collection, Opening, TensorPlace};
use crate::format::glob::Glob;
use crate::format::name_order::by_numbers;
use crate::format::rewrite::NamedSource;
use crate::operators::fill::Limits;
use crate::parallel::share_by_size;
use crate::storage::source::Source;

pub(super) enum ComparedSides {
    Two(Box<[Member; 2]>),
    /// EXPECTED does not exist and becomes ACTUAL.
    New(Box<Member>),
    Many(Box<NamedPairs>),
}

pub(super) struct NamedPairs {
    pub sides: [Collection; 2],
    /// In natural order. The names are those of EXPECTED after `--rename`.
    pub named: Vec<(String, [Option<TensorPlace>; 2])>,
}

pub(super) fn pair_up(
    reader: &OperandReader<'_>,
    operands: [&Operand; 2],
    [expected, actual]: [FoundSide; 2],
    members: &MemberOptions,
) -> Result<ComparedSides> {
    let labels = operands.map(|operand| operand.label.as_str());
    let is_meant = |side: &FoundSide| matches!(side, FoundSide::One { is_meant: true, .. });
    let root = &operands[0].located;
    // EXPECTED names one tensor, and `into_one` fails if ACTUAL has several
    if matches!(expected, FoundSide::Absent) && (actual.is_one() || root.output().1.is_some()) {
        return Ok(ComparedSides::New(Box::new(actual.into_one(operands[1], labels[0])?)));
    }
    let name = [&expected, &actual].map(|side| side.named().map(str::to_owned));
    let (expected, actual) = match name {
        [Some(name), None] => (expected, actual.with_member(&name, reader, operands[1])?),
        [None, Some(name)] => (expected.with_member(&name, reader, operands[0])?, actual),
        _ => (expected, actual),
    };
    if expected.is_one() && actual.is_one() || is_meant(&expected) || is_meant(&actual) {
        let expected = expected.into_one(operands[0], labels[1])?;
        return Ok(ComparedSides::Two(Box::new([expected, actual.into_one(operands[1], labels[0])?])));
    }
    let folders =
        [&expected, &actual].map(|side| if let FoundSide::Folder(folder) = side { Some(folder.clone()) } else { None });
    let makes_folder = matches!(expected, FoundSide::Absent) && !Format::names_container(root.typed());
    let opening = |side: usize, by_files| {
        let role = [EXPECTED, ACTUAL][side].name;
        let filter = if side == 0 { members.renaming_filter() } else { members.taken.filter() };
        let takes_dumps = folders.iter().all(Option::is_some);
        Opening { role, options: reader.open_options(""), filter, by_files, takes_dumps }
    };
    let mut sides =
        [expected.into_many(operands[0], &opening(0, false))?, actual.into_many(operands[1], &opening(1, false))?];
    for (one, other) in [(0, 1), (1, 0)] {
        // beside a folder of several files, a model's names are those of its folder, or nothing would have a partner
        let is_beside = folders[other].is_some() && sides[other].model().is_none() && !sides[other].is_empty();
        if let Some(folder) = folders[one].as_ref().filter(|_| is_beside || makes_folder)
            && sides[one].model().is_some()
        {
            sides[one] = Collection::from_folder(folder, &opening(one, true))?;
        }
    }
    Ok(ComparedSides::Many(Box::new(NamedPairs::new(sides, members, labels)?)))
}

/// The partner of a tensor may be in an unreadable file, so it does not count as missing.
fn unite_broken(named: &mut Vec<(String, [Option<TensorPlace>; 2])>, sides: &[Collection; 2]) {
    let mut united = HashSet::new();
    for (n, side) in sides.iter().enumerate() {
        for (name, places) in named.iter_mut().filter(|(_, places)| places[n].is_none()) {
            if let Some((stem, place)) = side.broken(name) {
                places[n] = Some(place);
                united.insert(stem);
            }
        }
    }
    named.retain(|(name, places)| places.iter().all(Option::is_some) || !united.contains(&**name));
}

impl NamedPairs {
    fn new(sides: [Collection; 2], members: &MemberOptions, labels: [&str; 2]) -> Result<Self> {
        let filter = members.taken.filter();
        let [expected, actual] = sides.each_ref().map(Collection::tensors);
        members.check_renames_of_expected(&names(&expected), &names(&actual))?;
        let mut expected: Vec<_> =
            expected.into_iter().map(|(old, place)| (members.renamed(old), old, place)).collect();
        expected.sort_by(|(a, ..), (b, ..)| by_numbers(a, b));
        if let Some(twice) = expected.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [(name, other, _), (_, old, _)] = [&twice[0], &twice[1]];
            bail!("{}: two tensors are called {name:?} after --rename: {other:?} and {old:?}", labels[0]);
        }
        let mut actual = actual.into_iter().peekable();
        let mut named = Vec::with_capacity(expected.len().max(actual.len()));
        let alone = |(name, place): (&str, TensorPlace)| (name.to_owned(), [None, Some(place)]);
        for (name, _, place) in expected {
            named.extend(iter::from_fn(|| actual.next_if(|(other, _)| by_numbers(other, &name).is_lt())).map(alone));
            let partner = actual.next_if(|(other, _)| *other == name);
            named.push((name, [Some(place), partner.map(|(_, place)| place)]));
        }
        named.extend(actual.map(alone));
        unite_broken(&mut named, &sides);
        let models: Vec<_> = sides.iter().filter_map(Collection::model).collect();
        if !members.taken.is_empty() {
            let names: Vec<_> = named.iter().map(|(name, _)| name).collect();
            let mut beside: Vec<Cow<'_, str>> = Vec::new();
            beside.extend(models.iter().flat_map(|model| named.iter().map(|(name, _)| model.within(name).into())));
            beside.extend(sides.iter().flat_map(Collection::left_out).map(Cow::from));
            beside.extend(sides.iter().flat_map(|side| side.index_faults().names()).map(Cow::from));
            members.taken.check_names(&names, &beside)?;
        }
        if named.is_empty() {
            // comparing nothing must not pass
            let left: Vec<_> = sides.iter().flat_map(Collection::left_alone).collect();
            let files = counted(left.len(), "file", "files");
            let left = match left.first() {
                None => String::new(),
                Some(first) => format!("; {files} left alone, such as {}", first.display()),
            };
            bail!("{} and {}: there is no tensor in either{left}", labels[0], labels[1]);
        }
        // a tensor of a folder's model also matches by the name that it would have beside other files
        named.retain(|(name, places)| {
            let is_file = |(place, side): (&Option<TensorPlace>, &Collection)| {
                place.is_some_and(|place| side.is_not_read(place.file))
            };
            let is_tensor = !places.iter().zip(&sides).any(is_file);
            let by_file = |glob: &Glob| is_tensor && models.iter().any(|model| model.is_matched(glob, name));
            filter.takes_where(|glob| glob.matches(name) || by_file(glob))
        });
        if named.is_empty() {
            bail!("{} and {}: --only and --exclude leave no tensor to compare", labels[0], labels[1]);
        }
        Ok(Self { sides, named })
    }

    pub(super) fn places(&self, name: &str) -> [Option<TensorPlace>; 2] {
        let found = self.named.binary_search_by(|(other, _)| by_numbers(other, name));
        self.named[found.expect("one of the names that were compared")].1
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.named.binary_search_by(|(other, _)| by_numbers(other, name)).is_ok()
    }

    pub(super) fn left_alone(&self) -> Vec<String> {
        self.sides.iter().flat_map(Collection::left_alone).map(|path| path.display().to_string()).collect()
    }

    /// Containers beside an index that do not belong to its model.
    pub(super) fn beside(&self) -> Vec<String> {
        self.sides.iter().flat_map(Collection::beside).map(|beside| beside.path.display().to_string()).collect()
    }

    /// An estimate.
    pub(super) fn bytes(&self) -> usize {
        let pairs = self.named.iter().map(|(_, places)| places).filter(|places| places.iter().all(Option::is_some));
        pairs.map(bytes).fold(0, usize::saturating_add)
    }

    fn are_same_files(&self, places: [TensorPlace; 2]) -> bool {
        let path = |side: usize| self.sides[side].path_if_foreign(places[side]);
        path(0).zip(path(1)).is_some_and(|(one, other)| are_same_files(one, other).unwrap_or(false))
    }

    /// Whether both members are passed over, and are stored alike.
    fn are_same_unread(&self, places: [TensorPlace; 2]) -> bool {
        let whole = |side: usize| {
            let input = self.sides[side].open(places[side].file).ok()?;
            let stored = input.stored(places[side].number_in(&input).ok()?);
            let (entry, bytes) = stored.entry.zip(stored.bytes).filter(|_| stored.is_passed_over)?;
            Some((input.format(), io::Cursor::new(entry).chain(bytes)))
        };
        let is_same = |((one, a), (other, b))| one == other && has_same_bytes(a, b).unwrap_or(false);
        whole(0).zip(whole(1)).is_some_and(is_same)
    }

    pub(super) fn name_of(&self, side: usize, place: TensorPlace) -> Option<&str> {
        let found = self.named.iter().find(|(_, places)| places[side] == Some(place));
        found.map(|(name, _)| name.as_str())
    }

    pub(super) fn actual(&self, asked: &AskedDTypes<'_>) -> Result<Vec<NamedSource>> {
        let open = |(name, places): &(String, [_; 2])| {
            let source = self.open_one(1, places[1]?, asked.of(Some(name)));
            Some(source.map(|source| NamedSource { name: Some(name.clone()), source }))
        };
        self.named.iter().filter_map(open).collect()
    }

    pub(super) fn show_dtypes(&self, asked: &AskedDTypes<'_>) {
        if !asked.depends_on_others() {
            return;
        }
        for (name, places) in &self.named {
            for (side, place) in self.sides.iter().zip(places) {
                let describe = |place: &TensorPlace| {
                    let input = side.open(place.file).ok()?;
                    input.describe(place.number_in(&input).ok()?).ok()
                };
                let described = place.as_ref().and_then(describe);
                described.into_iter().for_each(|described| asked.look_at(Some(name), &described.meta.dtype));
            }
        }
    }

    pub(super) fn open(&self, places: [TensorPlace; 2], asked: DTypeOption<'_>) -> Result<[Source; 2]> {
        let inputs = [self.sides[0].open(places[0].file)?, self.sides[1].open(places[1].file)?];
        let numbers = [places[0].number_in(&inputs[0])?, places[1].number_in(&inputs[1])?];
        let [expected, actual] = inputs;
        open_two(&[Member::from_input(expected, numbers[0]), Member::from_input(actual, numbers[1])], asked)
    }

    pub(super) fn open_one(&self, side: usize, place: TensorPlace, asked: DTypeOption<'_>) -> Result<Source> {
        let input = self.sides[side].open(place.file)?;
        let n = place.number_in(&input)?;
        Member::from_input(input, n).source(asked)
    }
}

fn are_same_files(one: &Path, other: &Path) -> io::Result<bool> {
    let [one, other] = [File::open(one)?, File::open(other)?];
    Ok(one.metadata()?.len() == other.metadata()?.len() && has_same_bytes(one, other)?)
}

fn has_same_bytes(one: impl Read, other: impl Read) -> io::Result<bool> {
    let (mut one, mut other) = (BufReader::with_capacity(1 << 20, one), BufReader::with_capacity(1 << 20, other));
    loop {
        let [here, there] = [one.fill_buf()?, other.fill_buf()?];
        let len = here.len().min(there.len());
        if len == 0 || here[..len] != there[..len] {
            return Ok(here.is_empty() && there.is_empty());
        }
        one.consume(len);
        other.consume(len);
    }
}

fn names<'a>(tensors: &[(&'a str, TensorPlace)]) -> Vec<&'a str> {
    tensors.iter().map(|(name, _)| *name).collect()
}

/// Opens both together, since text gets its dtype from the other side.
pub(super) fn open_two(members: &[Member; 2], asked: DTypeOption<'_>) -> Result<[Source; 2]> {
    Ok(typed(members, asked)?.try_into().expect("a source for each tensor"))
}

pub(super) struct Comparing<'a> {
    pub pairs: &'a NamedPairs,
    pub asked: &'a AskedDTypes<'a>,
    pub options: &'a (dyn Fn(&str) -> Options + Sync),
    pub effort: Effort,
    /// Whether a damaged tensor of EXPECTED differs, so that it can be replaced.
    pub is_golden: bool,
    /// The name on the other side.
    pub partner: &'a (dyn Fn(usize, &str) -> Option<String> + Sync),
}

/// The result for a pair, and the sources whose files have metadata to compare.
pub(super) struct ComparedPair {
    found: NamedResult,
    beside: Option<PairBeside>,
}

struct PairBeside {
    sources: [Source; 2],
    /// Whether differences beside the tensors count.
    counts: bool,
}

impl From<NamedResult> for ComparedPair {
    fn from(found: NamedResult) -> Self {
        Self { found, beside: None }
    }
}

impl Comparing<'_> {
    /// Goes on after pairs that cannot be read. Returns the names that were read and do not pass.
    pub(super) fn compare(&self, models: &mut Models, progress: Progress<'_>) -> Result<Vec<String>> {
        let named = &self.pairs.named;
        let asked: Vec<_> = named.iter().map(|(name, _)| self.asked.of(Some(name))).collect();
        let asks = self.pairs.sides.iter().any(Collection::costs_requests);
        let bytes: Vec<_> = named.iter().map(|(_, places)| bytes(places)).collect();
        let (mut files, mut failed) = (FilePairs::default(), Vec::new());
        share_by_size(
            self.effort.limits.threads.for_requests(asks),
            &bytes,
            |n, threads| {
                let limits = Limits { threads, ..self.effort.limits };
                self.pair(&named[n].0, &named[n].1, asked[n], Effort { limits, ..self.effort }, progress)
            },
            |n, pair| {
                let found = self.add_beside(pair, &named[n].1, models, &mut files);
                add(models, &mut failed, &named[n].0, found)
            },
        )?;
        let [one, other] = self.pairs.sides.each_ref().map(|side| &side.without_tensors);
        for (stem, metadata) in one.iter().filter_map(|(stem, own)| Some((stem, [&**own, &**other.get(stem)?]))) {
            let differing = DifferingNames::of_files(metadata)?.behind(&format!("{stem}:"));
            models.add_beside(differing, (self.options)(stem).metadata);
        }
        Ok(failed)
    }

    pub(super) fn compare_one(
        &self,
        name: &str,
        places: &[Option<TensorPlace>; 2],
        models: &mut Models,
        files: &mut FilePairs,
        progress: Progress<'_>,
    ) -> Result<NamedResult> {
        let pair = self.pair(name, places, self.asked.of(Some(name)), self.effort, progress)?;
        Ok(self.add_beside(pair, places, models, files))
    }

    fn pair(
        &self,
        name: &str,
        places: &[Option<TensorPlace>; 2],
        asked: DTypeOption<'_>,
        effort: Effort,
        progress: Progress<'_>,
    ) -> Result<ComparedPair> {
        let [Some(expected), Some(actual)] = *places else {
            return Ok(self.alone(name, *places, asked).unwrap_or_else(|error| unreadable(&error, false)).into());
        };
        let (places, is_golden) = ([expected, actual], self.is_golden);
        let mut sources = match self.pairs.open(places, asked) {
            Ok(sources) => sources,
            Err(_) if self.pairs.are_same_unread(places) => return Ok(NamedResult::SameBytes.into()),
            Err(_) if self.pairs.are_same_files(places) => return Ok(NamedResult::SameBytes.into()),
            Err(error) => return Ok(unreadable(&error, is_golden).into()),
        };
        let options = (self.options)(name);
        options.check_axes(&sources[1]).map_err(option_error)?;
        let [expected, actual] = &mut sources;
        let found = match diff::compare_sources(expected, actual, &options, effort, progress) {
            Ok(difference) => NamedResult::Both(Box::new(difference)),
            Err(error) => unreadable(&error.into(), is_golden),
        };
        Ok(ComparedPair { found, beside: Some(PairBeside { sources, counts: options.metadata }) })
    }

    /// Adds the differences in metadata and attachments, once for each pair of files. In a folder each name begins with
    /// that of its file.
    fn add_beside(
        &self,
        pair: ComparedPair,
        places: &[Option<TensorPlace>; 2],
        models: &mut Models,
        files: &mut FilePairs,
    ) -> NamedResult {
        let Some(PairBeside { sources, counts }) = pair.beside else { return pair.found };
        let stem = [0, 1].into_iter().find_map(|side: usize| self.pairs.sides[side].stem(places[side]?.file));
        let before = stem.map_or_else(String::new, |stem| format!("{stem}:"));
        match files.differing(&sources) {
            Ok(differing) => {
                models.add_beside(differing.behind(&before), counts);
                pair.found
            }
            Err(error) => unreadable(&error.into(), self.is_golden),
        }
    }

    fn alone(&self, name: &str, places: [Option<TensorPlace>; 2], asked: DTypeOption<'_>) -> Result<NamedResult> {
        let side = usize::from(places[0].is_none());
        let place = places[side].expect("a name comes from a tensor of one of the sides");
        let source = self.pairs.open_one(side, place, asked)?;
        let outline = Outline::new(source.dtype(), source.shape());
        let lone = LoneTensor { outline, renamed: (self.partner)(side, name) };
        Ok(if side == 0 { NamedResult::Missing(lone) } else { NamedResult::Extra(lone) })
    }
}

/// The bytes of a pair, roughly.
fn bytes(places: &[Option<TensorPlace>; 2]) -> usize {
    let bytes = places.iter().flatten().fold(0, |sum: u64, place| sum.saturating_add(place.bytes));
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn unreadable(error: &anyhow::Error, is_golden: bool) -> NamedResult {
    let is_replaceable = is_golden && is_damaged(error);
    (if is_replaceable { NamedResult::Damaged } else { NamedResult::Unreadable })(message(error))
}

/// Unreadable pairs do not count as `failed`.
fn add(models: &mut Models, failed: &mut Vec<String>, name: &str, found: NamedResult) -> Result<()> {
    let verdict = found.verdict();
    if !verdict.passes() && verdict != TensorVerdict::Unreadable {
        failed.push(name.to_owned());
    }
    Ok(models.add(name, &found)?)
}
