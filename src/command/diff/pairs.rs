//! The two sides of a comparison: one tensor each, or many that are compared by name.
//!
//! Small pairs are compared several at a time, one thread each; large pairs one at a time, by all threads.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};

use super::acceptance::is_damaged;
use super::compared::{ComparedOperand, fits_as_stored};
use crate::command::messages::{counted, message, option_error};
use crate::command::operands::dtype_option::{AskedDTypes, DTypeOption};
use crate::command::operands::member::{Member, typed};
use crate::command::operands::operand_reader::OperandReader;
use crate::command::options::{ACTUAL, EXPECTED, MemberOptions, Operand};
use crate::container::glob::Glob;
use crate::container::names::{ModelFile, NameFilter, by_numbers};
use crate::diff::{self, Effort, Options, Outline};
use crate::findings::metadata::{DifferingNames, FilePairs};
use crate::library::rewrite::NamedSource;
use crate::opening::collection::{Collection, Opening};
use crate::opening::input::Input;
use crate::opening::table::Format;
use crate::operators::fill::Limits;
use crate::parallel::{locked, share_by_size};
use crate::plans::job::Progress;
use crate::reports::models::{LoneTensor, Models, NamedResult, TensorVerdict};
use crate::storage::requests::as_address;
use crate::storage::source::Source;

pub(crate) enum ComparedSides {
    Two(Box<[Member; 2]>),
    /// EXPECTED does not exist and becomes ACTUAL.
    New(Box<Member>),
    Many(Box<NamedPairs>),
}

pub(crate) fn pair_up(
    reader: &OperandReader<'_>,
    operands: [&Operand; 2],
    found: &[ComparedOperand; 2],
    members: &MemberOptions,
) -> Result<ComparedSides> {
    let (labels, root) = (operands.map(|operand| operand.label.as_str()), &operands[0].located);
    let one = |side: usize| found[side].one(reader, operands[side], (labels[1 - side], &found[1 - side]));
    let is_absent = matches!(found[0], ComparedOperand::Absent);
    // EXPECTED names one tensor, and `one` fails if ACTUAL has several
    if is_absent && (found[1].is_one() || root.output().1.is_some()) {
        return Ok(ComparedSides::New(Box::new(one(1)?)));
    }
    if found.iter().all(ComparedOperand::is_one) || found.iter().any(ComparedOperand::is_meant) {
        return Ok(ComparedSides::Two(Box::new([one(0)?, one(1)?])));
    }
    let is_folder = [0, 1].map(|side: usize| matches!(found[side], ComparedOperand::Folder(_)));
    let takes_dumps = found.iter().all(|side| matches!(side, ComparedOperand::Folder(_) | ComparedOperand::Made(..)));
    let open = |side: usize, by_files| {
        let filter = if side == 0 { members.renaming_filter() } else { members.taken.filter() };
        let role = [EXPECTED, ACTUAL][side].name;
        let opening = Opening { role, options: reader.open_options(""), filter, by_files, takes_dumps };
        let path = operands[side].located.typed().to_owned();
        let folder = match &found[side] {
            ComparedOperand::Opened(input) => return Ok(Side { input: Arc::clone(input), folder: None, path }),
            ComparedOperand::Folder(folder) => Collection::from_folder(folder, &opening)?,
            ComparedOperand::Made(folder, made) => {
                let whole = Opening { filter: NameFilter::default(), ..opening };
                let folder = Collection::from_folder(folder, &whole)?.with_tensors_of(Arc::clone(made), &path);
                return Ok(Side { input: Arc::clone(made), folder: Some(folder.into()), path });
            }
            ComparedOperand::Absent => Collection::default(),
        };
        let (input, folder) = folder.into_input();
        Ok::<_, anyhow::Error>(Side { input: input.into(), folder: Some(folder), path })
    };
    let mut sides = [open(0, false)?, open(1, false)?];
    let makes_folder = is_absent && !Format::names_container(root.typed());
    for (one, other) in [(0, 1), (1, 0)] {
        // beside a folder of several files, a model's names are those of its folder, or nothing would have a partner
        let has_files = |folder: &Arc<Collection>| folder.model.is_none() && !folder.is_empty();
        let is_beside = is_folder[other] && sides[other].folder.as_ref().is_some_and(has_files);
        if is_folder[one] && (is_beside || makes_folder) && sides[one].model().is_some() {
            sides[one] = open(one, true)?;
        }
    }
    Ok(ComparedSides::Many(Box::new(NamedPairs::new(sides, members, labels)?)))
}

/// A side of a comparison by name.
pub(crate) struct Side {
    pub input: Arc<Input>,
    /// The folder that is compared as a whole; its tensors are numbered with files in formats without a reader.
    pub folder: Option<Arc<Collection>>,
    path: PathBuf,
}

impl Side {
    /// Returns names and numbers in natural order.
    pub(crate) fn tensors(&self) -> Result<Vec<(&str, usize)>> {
        let mut tensors: Vec<_> = match &self.folder {
            Some(folder) => folder.names().zip(0..).collect(),
            None => self.input.select()?.into_iter().filter_map(|n| Some((self.input.name(n)?, n))).collect(),
        };
        tensors.sort_by(|(a, _), (b, _)| by_numbers(a, b));
        Ok(tensors)
    }

    /// Returns the container of all tensors, and its path; `None` for a folder of several files.
    pub(crate) fn container(&self) -> Option<(&Path, &Input)> {
        let path = self.folder.as_ref().map_or(Some(&self.path), |folder| Some(&folder.open_model()?.path));
        path.map(|path| (&**path, &*self.input))
    }

    /// Returns the number of a tensor in the container.
    pub(crate) fn number(&self, n: usize) -> Option<usize> {
        self.folder.as_ref().map_or(Some(n), |folder| folder.number_in_model(n))
    }

    fn find(&self, n: usize) -> Result<(Arc<Input>, usize)> {
        Ok(match (&self.folder, self.number(n)) {
            (Some(folder), None) => folder.find(n)?,
            (_, own) => (Arc::clone(&self.input), own.unwrap_or(n)),
        })
    }

    pub(crate) fn member(&self, n: usize) -> Result<Member> {
        let (input, n) = self.find(n)?;
        Ok(Member::from_input(input, n))
    }

    /// Returns the path of the file of a tensor.
    pub(crate) fn path(&self, n: usize) -> &Path {
        self.folder.as_ref().map_or(&self.path, |folder| &folder.file(n).path)
    }

    /// Returns the path of its file in the folder, without the ending.
    pub(crate) fn stem(&self, n: usize) -> Option<&str> {
        self.folder.as_ref()?.file(n).stem.as_deref()
    }

    pub(crate) fn model(&self) -> Option<&ModelFile> {
        self.folder.as_ref()?.model.as_ref()
    }

    pub(crate) fn is_not_read(&self, n: usize) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.is_not_read(n))
    }

    /// An estimate.
    fn bytes(&self, n: usize) -> u64 {
        let described = || self.input.describe(n).map_or(0, |described| described.bytes);
        self.folder.as_ref().map_or_else(described, |folder| folder.bytes(n))
    }
}

pub(crate) struct NamedPairs {
    pub sides: [Side; 2],
    /// The numbers of tensors, in natural order of their names, which are those of EXPECTED after `--rename`.
    pub named: Vec<(String, [Option<usize>; 2])>,
    /// The names that a checkpoint or a GGUF has alone by design.
    pub by_design: Vec<String>,
    /// The bytes of each pair, roughly.
    bytes: Vec<usize>,
}

/// The partner of a tensor may be in an unreadable file, so it does not count as missing.
fn unite_broken(named: &mut Vec<(String, [Option<usize>; 2])>, sides: &[Side; 2]) {
    let mut united = HashSet::new();
    for (side, folder) in sides.iter().enumerate().filter_map(|(side, found)| Some((side, found.folder.as_ref()?))) {
        for (name, numbers) in named.iter_mut().filter(|(_, numbers)| numbers[side].is_none()) {
            if let Some((stem, n)) = folder.broken(name) {
                numbers[side] = Some(n);
                united.insert(stem);
            }
        }
    }
    named.retain(|(name, numbers)| numbers.iter().all(Option::is_some) || !united.contains(&**name));
}

impl NamedPairs {
    fn new(sides: [Side; 2], members: &MemberOptions, labels: [&str; 2]) -> Result<Self> {
        let filter = members.taken.filter();
        let (expected, actual) = (sides[0].tensors()?, sides[1].tensors()?);
        let [own, other] =
            [&expected, &actual].map(|tensors| tensors.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        members.check_renames_of_expected(&own, &other)?;
        let mut expected: Vec<_> = expected.into_iter().map(|(old, n)| (members.renamed(old), old, n)).collect();
        expected.sort_by(|(a, ..), (b, ..)| by_numbers(a, b));
        if let Some(twice) = expected.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [(name, other, _), (_, old, _)] = [&twice[0], &twice[1]];
            bail!("{}: two tensors are called {name:?} after --rename: {other:?} and {old:?}", labels[0]);
        }
        let mut actual = actual.into_iter().peekable();
        let mut named = Vec::with_capacity(expected.len().max(actual.len()));
        let alone = |(name, n): (&str, usize)| (name.to_owned(), [None, Some(n)]);
        for (name, _, n) in expected {
            named.extend(iter::from_fn(|| actual.next_if(|(other, _)| by_numbers(other, &name).is_lt())).map(alone));
            let partner = actual.next_if(|(other, _)| *other == name);
            named.push((name, [Some(n), partner.map(|(_, n)| n)]));
        }
        named.extend(actual.map(alone));
        unite_broken(&mut named, &sides);
        let one_sided = [0, 1].map(|side: usize| sides[side].input.one_sided());
        let alone_in = |numbers: &[Option<usize>; 2]| match numbers {
            [Some(_), None] => Some(one_sided[0]),
            [None, Some(_)] => Some(one_sided[1]),
            _ => None,
        };
        named.retain(|(name, numbers)| alone_in(numbers).is_none_or(|names| !names.implied.contains(name)));
        let lone =
            named.extract_if(.., |(name, numbers)| alone_in(numbers).is_some_and(|names| names.here.contains(name)));
        let by_design = lone.map(|(name, _)| name).collect();
        let models: Vec<_> = sides.iter().filter_map(Side::model).collect();
        let folders = || sides.iter().filter_map(|side| side.folder.as_deref());
        if !members.taken.is_empty() {
            let names: Vec<_> = named.iter().map(|(name, _)| name).collect();
            let beside: Vec<_> = sides.iter().flat_map(|side| side.input.names_beside()).collect();
            members.taken.check_names(&names, &beside)?;
        }
        if named.is_empty() {
            // comparing nothing must not pass
            let left: Vec<_> = folders().flat_map(|folder| &folder.left_alone).collect();
            let files = counted(left.len(), "file", "files");
            let left = match left.first() {
                None => String::new(),
                Some(first) => format!("; {files} left alone, such as {}", first.display()),
            };
            bail!("{} and {}: there is no tensor in either{left}", labels[0], labels[1]);
        }
        // a tensor of a folder's model also matches by the name that it would have beside other files
        named.retain(|(name, numbers)| {
            let is_file = |(n, side): (&Option<usize>, &Side)| n.is_some_and(|n| side.is_not_read(n));
            let is_tensor = !numbers.iter().zip(&sides).any(is_file);
            let by_file = |glob: &Glob| is_tensor && models.iter().any(|model| model.is_matched(glob, name));
            filter.takes_where(|glob| glob.matches(name) || by_file(glob))
        });
        if named.is_empty() {
            bail!("{} and {}: --only and --exclude leave no tensor to compare", labels[0], labels[1]);
        }
        let bytes = |numbers: &[Option<usize>; 2]| {
            let bytes = |(n, side): (&Option<usize>, &Side)| n.map_or(0, |n| side.bytes(n));
            usize::try_from(numbers.iter().zip(&sides).map(bytes).fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
        };
        let bytes = named.iter().map(|(_, numbers)| bytes(numbers)).collect();
        Ok(Self { sides, named, by_design, bytes })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.named.binary_search_by(|(other, _)| by_numbers(other, name)).is_ok()
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &Collection> {
        self.sides.iter().filter_map(|side| side.folder.as_deref())
    }

    pub(crate) fn left_alone(&self) -> Vec<String> {
        self.folders().flat_map(|folder| &folder.left_alone).map(|path| path.display().to_string()).collect()
    }

    /// An estimate.
    pub(crate) fn bytes(&self) -> usize {
        let pairs = self.named.iter().zip(&self.bytes).filter(|((_, numbers), _)| numbers.iter().all(Option::is_some));
        pairs.map(|(_, bytes)| *bytes).fold(0, usize::saturating_add)
    }

    fn are_same_files(&self, numbers: [usize; 2]) -> bool {
        let path = |side: usize| self.sides[side].folder.as_ref()?.path_if_foreign(numbers[side]);
        path(0).zip(path(1)).is_some_and(|(one, other)| are_same_files(one, other).unwrap_or(false))
    }

    /// Whether both members are passed over, and are stored alike.
    fn are_same_unread(&self, numbers: [usize; 2]) -> bool {
        let whole = |side: usize| {
            let Member { input, n, .. } = self.sides[side].member(numbers[side]).ok()?;
            let stored = input.stored(n);
            let (entry, bytes) = stored.entry.zip(stored.bytes).filter(|_| stored.is_passed_over)?;
            Some((input.format(), io::Cursor::new(entry).chain(bytes)))
        };
        let is_same = |((one, a), (other, b))| one == other && has_same_bytes(a, b).unwrap_or(false);
        whole(0).zip(whole(1)).is_some_and(is_same)
    }

    pub(crate) fn actual(&self, asked: &AskedDTypes<'_>) -> Result<Vec<NamedSource>> {
        let open = |(name, numbers): &(String, [_; 2])| {
            let source = self.open_one(1, numbers[1]?, asked.of(Some(name)));
            Some(source.map(|source| NamedSource { name: Some(name.clone()), source }))
        };
        self.named.iter().filter_map(open).collect()
    }

    pub(crate) fn show_dtypes(&self, asked: &AskedDTypes<'_>) {
        if !asked.depends_on_others() {
            return;
        }
        for (name, numbers) in &self.named {
            for (side, n) in self.sides.iter().zip(numbers) {
                let member = n.and_then(|n| side.member(n).ok());
                let described = member.and_then(|member| member.input.describe(member.n).ok());
                described.into_iter().for_each(|described| asked.look_at(Some(name), &described.meta.dtype));
            }
        }
    }

    pub(crate) fn open(&self, [expected, actual]: [usize; 2], asked: DTypeOption<'_>) -> Result<[Source; 2]> {
        open_two(&[self.sides[0].member(expected)?, self.sides[1].member(actual)?], asked)
    }

    pub(crate) fn open_one(&self, side: usize, n: usize, asked: DTypeOption<'_>) -> Result<Source> {
        self.sides[side].member(n)?.source(asked)
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

/// Opens both together, since text gets its dtype from the other side.
pub(crate) fn open_two(members: &[Member; 2], asked: DTypeOption<'_>) -> Result<[Source; 2]> {
    Ok(typed(members, asked)?.try_into().expect("a source for each tensor"))
}

pub(crate) struct Comparing<'a> {
    pub pairs: &'a NamedPairs,
    pub asked: &'a AskedDTypes<'a>,
    pub options: &'a (dyn Fn(&str) -> Options + Sync),
    pub effort: Effort,
    /// Whether a damaged tensor of EXPECTED differs, so that it can be replaced.
    pub is_golden: bool,
    /// The name on the other side.
    pub partner: &'a (dyn Fn(usize, &str) -> Option<String> + Sync),
    /// The names of tensors that fit better with their rows as stored.
    pub as_stored: Mutex<Vec<String>>,
}

/// The result for a pair, and the sources whose files have metadata to compare.
pub(crate) struct ComparedPair {
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
    /// Goes on after unreadable pairs. Returns the readable pairs that do not pass.
    pub(crate) fn compare(&self, models: &mut Models, progress: Progress<'_>) -> Result<Vec<usize>> {
        let NamedPairs { sides, named, bytes, .. } = self.pairs;
        let asked: Vec<_> = named.iter().map(|(name, _)| self.asked.of(Some(name))).collect();
        let asks = sides.iter().any(|side| as_address(&side.path).is_some());
        let (mut files, mut failed) = (FilePairs::default(), Vec::new());
        share_by_size(
            self.effort.limits.threads.for_requests(asks),
            bytes,
            |n, threads| {
                let limits = Limits { threads, ..self.effort.limits };
                self.pair(n, asked[n], Effort { limits, ..self.effort }, progress)
            },
            |n, pair| {
                let found = self.add_beside(pair, n, models, &mut files);
                let verdict = found.verdict();
                failed.extend((!verdict.passes() && verdict != TensorVerdict::Unreadable).then_some(n));
                Ok(models.add(&named[n].0, &found)?)
            },
        )?;
        if let [Some(one), Some(other)] = sides.each_ref().map(|side| side.folder.as_ref()) {
            for (stem, own) in &one.without_tensors {
                let Some(other) = other.without_tensors.get(stem) else { continue };
                let differing = DifferingNames::from_files([&**own, &**other])?.behind(&format!("{stem}:"));
                models.add_beside(differing, (self.options)(stem).metadata);
            }
        }
        Ok(failed)
    }

    pub(crate) fn compare_one(
        &self,
        n: usize,
        models: &mut Models,
        files: &mut FilePairs,
        progress: Progress<'_>,
    ) -> Result<NamedResult> {
        let pair = self.pair(n, self.asked.of(Some(&self.pairs.named[n].0)), self.effort, progress)?;
        Ok(self.add_beside(pair, n, models, files))
    }

    fn pair(&self, n: usize, asked: DTypeOption<'_>, effort: Effort, progress: Progress<'_>) -> Result<ComparedPair> {
        let (name, numbers) = &self.pairs.named[n];
        let numbers = match *numbers {
            [Some(expected), Some(actual)] => [expected, actual],
            [Some(n), None] => return Ok(self.alone(name, 0, n, asked).into()),
            [None, Some(n)] => return Ok(self.alone(name, 1, n, asked).into()),
            [None, None] => unreachable!("a name comes from a tensor of one of the sides"),
        };
        let is_golden = self.is_golden;
        let mut sources = match self.pairs.open(numbers, asked) {
            Ok(sources) => sources,
            Err(_) if self.pairs.are_same_unread(numbers) => return Ok(NamedResult::SameBytes.into()),
            Err(_) if self.pairs.are_same_files(numbers) => return Ok(NamedResult::SameBytes.into()),
            Err(error) => return Ok(unreadable(&error, is_golden).into()),
        };
        let options = (self.options)(name);
        options.check_axes(&sources[1]).map_err(option_error)?;
        let [expected, actual] = &mut sources;
        let found = match diff::compare_sources(expected, actual, &options, effort, progress) {
            Ok(difference) => {
                let [one, other] = [self.pairs.sides[0].find(numbers[0])?, self.pairs.sides[1].find(numbers[1])?];
                let found_in = [(&*one.0, one.1), (&*other.0, other.1)];
                if fits_as_stored(found_in, || self.pairs.open(numbers, asked), &difference, &options, effort)? {
                    locked(&self.as_stored).push(name.clone());
                }
                NamedResult::Both(Box::new(difference))
            }
            Err(error) => unreadable(&error.into(), is_golden),
        };
        Ok(ComparedPair { found, beside: Some(PairBeside { sources, counts: options.metadata }) })
    }

    /// Adds the differences in metadata and attachments, once for each pair of files. In a folder each name begins with
    /// that of its file.
    fn add_beside(&self, pair: ComparedPair, n: usize, models: &mut Models, files: &mut FilePairs) -> NamedResult {
        let Some(PairBeside { sources, counts }) = pair.beside else { return pair.found };
        let NamedPairs { sides, named, .. } = self.pairs;
        let stem = sides.iter().zip(named[n].1).find_map(|(side, n)| side.stem(n?));
        let before = stem.map_or_else(String::new, |stem| format!("{stem}:"));
        match files.differing(&sources) {
            Ok(differing) => {
                models.add_beside(differing.behind(&before), counts);
                pair.found
            }
            Err(error) => unreadable(&error.into(), self.is_golden),
        }
    }

    fn alone(&self, name: &str, side: usize, n: usize, asked: DTypeOption<'_>) -> NamedResult {
        let lone = |source: Source| {
            let outline = Outline::new(source.dtype(), source.shape());
            LoneTensor { outline, renamed: (self.partner)(side, name) }
        };
        match self.pairs.open_one(side, n, asked).map(lone) {
            Ok(lone) => [NamedResult::Missing, NamedResult::Extra][side](lone),
            Err(error) => unreadable(&error, false),
        }
    }
}

fn unreadable(error: &anyhow::Error, is_golden: bool) -> NamedResult {
    let is_replaceable = is_golden && is_damaged(error);
    (if is_replaceable { NamedResult::Damaged } else { NamedResult::Unreadable })(message(error))
}
