//! The tensors of an output, the content that comes with them from the files of the operands, and two notes: on items that
//! overflow in a cast, and on tensors that change when the output is read back. CSV has no axis of length 1 and no dtypes,
//! and strings of ONNX have no width.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};

use super::dry_run::Report;
use crate::DType;
use crate::command::messages::{advised, message};
use crate::command::operands::dtype_option::DTypeOption;
use crate::command::operands::member::Member;
use crate::command::options::members::UnreadableMembers;
use crate::command::options::{Operand, OutputOptions};
use crate::command::process::io::{Run, note};
use crate::container::file_options::{Inherited, NamedCopy};
use crate::container::interface::ReadsBack;
use crate::error::{Error, ErrorKind};
use crate::item::cast::overflow_name;
use crate::item::dtype::Kind;
use crate::item::meta::{Meta, Order};
use crate::library::files;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place};
use crate::opening::table::Format;
use crate::operators::cast::{OverflowTally, OverflowedItems};
use crate::quantized::{is_layout_file, without_layout};
use crate::report::printable;
use crate::storage::source::Source;
use crate::storage::targets::stream::OutputStream;
use crate::storage::targets::target::Target;
use crate::storage::unread::UnreadArray;
use crate::writing::{LaidOut, OutputTensor};

/// The tensors of an output, and the content that comes with them.
pub(crate) struct OutputSet<'a> {
    pub tensors: Vec<OutputTensor>,
    pub inherited: Inherited,
    /// Whether the user left out the tensor of a name.
    pub left_out: Box<dyn Fn(&str) -> bool + 'a>,
    pub report: Report,
    pub side: SideFiles,
    format: Option<Format>,
    unreadable: UnreadableMembers,
    /// Why members are left out, each with its name.
    passed_over: Vec<String>,
}

impl<'a> OutputSet<'a> {
    pub(crate) fn new(format: Option<Format>, report: Report) -> Self {
        let (tensors, inherited) = (Vec::new(), Inherited::default());
        let (unreadable, passed_over) = (UnreadableMembers::default(), Vec::new());
        Self {
            tensors,
            inherited,
            left_out: Box::new(|_| false),
            report,
            side: SideFiles::default(),
            format,
            unreadable,
            passed_over,
        }
    }

    pub(crate) fn push(&mut self, tensor: OutputTensor) {
        self.inherited.is_group |= tensor.fill.data().name_in_group().is_some();
        self.tensors.push(tensor);
    }

    /// Opens the items of a member, whose old and new names are given. A member of a store that cannot be read becomes a copy,
    /// unless `changes` returns an option that would change it; then there is no source. If `is_one_of_many`, a member that
    /// cannot be described is refused by [`check_readable`](Self::check_readable), together with all others.
    pub(crate) fn add(
        &mut self,
        member: &Member,
        (old, new): (&str, &str),
        dtype: DTypeOption<'_>,
        is_one_of_many: bool,
        changes: impl Fn(&UnreadArray) -> Option<&'static str>,
    ) -> Result<Option<Source>> {
        let Member { input, n, .. } = member;
        let why = match member.source(dtype) {
            Err(why) => why,
            source => return source.map(Some),
        };
        let is_copied = self.format.is_some_and(|format| format.can().chunks);
        let why = match if is_copied { input.unread(*n) } else { Ok(None) } {
            Ok(None) => why,
            Ok(Some(array)) => match changes(&array) {
                None => {
                    self.inherited.is_group |= array.is_of_group;
                    self.inherited.copies.push(NamedCopy { name: new.to_owned(), array });
                    return Ok(None);
                }
                Some(option) => {
                    let message = message(&why);
                    anyhow!("{message}, so it is only copied as stored, and {option} would change it")
                }
            },
            Err(error) => {
                anyhow!("{}, and it cannot be copied as stored: {}", message(&why), error.message())
            }
        };
        if !is_one_of_many || input.describe(*n).is_ok() {
            return Err(why);
        }
        match input.stored(*n).is_passed_over {
            true => self.passed_over.push(message(&why)),
            false => self.unreadable.add(old, message(&why)),
        }
        Ok(None)
    }

    /// Refuses the members that cannot be described, and notes those of unknown kinds, which are left out.
    pub(crate) fn check_readable(&mut self, stderr: &OutputStream) -> Result<()> {
        std::mem::take(&mut self.unreadable).finish()?;
        self.passed_over.iter().try_for_each(|why| note(stderr, &format!("{why}: not read, left out")))
    }
}

pub(crate) fn new_target(run: Run<'_>, path: &Path, label: String, format: Format, no_clobber: bool) -> Result<Target> {
    files::target(path, label, format, no_clobber, run.requests).map_err(|error| match error.kind() {
        ErrorKind::Io(io::ErrorKind::AlreadyExists) => anyhow!("{error}, and --no-clobber keeps it"),
        _ => error.into(),
    })
}

/// The files beside the weights of a checkpoint, which go with these into the folder of a new model.
#[derive(Default)]
pub(crate) struct SideFiles {
    copied: Vec<SideFile>,
    left: Vec<String>,
}

struct SideFile {
    name: String,
    from: PathBuf,
    target: Target,
    /// Replaces the bytes of the file.
    text: Option<String>,
}

/// The endings of JSON, text and tokenizer files. Others are weights, pictures, and the state of a training.
const SIDE_ENDINGS: [&str; 14] =
    ["bpe", "jinja", "json", "jsonl", "md", "model", "py", "spm", "tiktoken", "toml", "txt", "vocab", "yaml", "yml"];
const SIDE_NAMES: [&str; 3] = ["LICENSE", "NOTICE", "USE_POLICY"];

impl SideFiles {
    /// Finds the files beside the weights of the only folder among the inputs, and resolves their places if the output is a folder.
    /// Files that hold weights or list them are neither copied nor left.
    pub(crate) fn of(
        run: Run<'_>,
        inputs: &[(Arc<Input>, &Operand)],
        options: &OutputOptions,
        less: bool,
    ) -> Result<Self> {
        let mut found = Self::default();
        let mut folders = inputs.iter().filter_map(|(input, operand)| match &operand.located.place {
            Place::Folder(folder) => Some((input, &*folder.path)),
            _ => None,
        });
        let (Some(into), Some((input, from)), None) = (options.folder(), folders.next(), folders.next()) else {
            return Ok(found);
        };
        if fs::canonicalize(into).is_ok_and(|into| fs::canonicalize(from).is_ok_and(|from| from == into)) {
            return Ok(found);
        }
        let members = 0..input.names().map_or(0, <[_]>::len);
        let weights: HashSet<PathBuf> = members.filter_map(|n| input.file_of(n).ok()?.path).collect();
        let entries = fs::read_dir(from).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.with_context(|| from.display().to_string())?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let is_side = SIDE_ENDINGS.iter().any(|side| ending.eq_ignore_ascii_case(side))
                || SIDE_NAMES.iter().any(|side| name.starts_with(side));
            if name.starts_with('.') || weights.iter().any(|weight| weight.starts_with(&path)) {
                continue;
            }
            if path.is_dir() {
                found.left.push(name + "/");
                continue;
            }
            if Format::from_file_name(&name).is_some_and(|(format, _)| format == Format::INDEX) {
                continue;
            }
            let stated = match is_side && less && is_layout_file(&name) {
                true => {
                    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                    without_layout(&name, text).with_context(|| path.display().to_string())?.map(Some)
                }
                false => Some(None),
            };
            match stated.filter(|_| is_side) {
                Some(text) => {
                    let place = into.join(&name);
                    let label = format!("output {}", place.display());
                    let target = new_target(run, &place, label, Format::RAW, options.no_clobber)?;
                    found.copied.push(SideFile { name, from: path, target, text });
                }
                None => found.left.push(name),
            }
        }
        Ok(found)
    }

    pub(super) fn write(&self) -> Result<()> {
        for SideFile { from, target, text, .. } in &self.copied {
            let mut draft = target.create()?;
            let written = match text {
                Some(text) => draft.write_all(text.as_bytes()),
                None => fs::File::open(from).and_then(|mut file| io::copy(&mut file, &mut draft)).map(drop),
            };
            written.with_context(|| from.display().to_string())?;
            draft.finish()?;
        }
        Ok(())
    }

    /// Lists the copied files and the others in a line, with the verbs for either.
    pub(super) fn line(&self, verbs: [&str; 2]) -> Option<String> {
        let less = |file: &SideFile| if file.text.is_some() { " (less the layout of codes)" } else { "" };
        let names = self.copied.iter().map(|file| format!("{}{}", printable(&file.name), less(file)));
        let lists = [names.collect::<Vec<_>>().join(", "), printable(&self.left.join(", ")).into_owned()];
        let parts = verbs.into_iter().zip(lists).filter(|(_, names)| !names.is_empty());
        let parts: Vec<_> = parts.map(|(verb, names)| format!("{verb} {names}")).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

pub(crate) struct ReadBack {
    format: Format,
    others: Vec<(Option<String>, Meta, ReadsBack)>,
}

impl ReadBack {
    pub(crate) fn of(plan: &LaidOut) -> Self {
        let other = |(name, meta, _): (&str, &Meta, u64)| {
            let back = plan.format().writer().reads_back(meta);
            let name = Some(name.to_owned()).filter(|_| plan.format().is_container());
            (back != ReadsBack::Same).then(|| (name, meta.clone(), back))
        };
        Self { format: plan.format(), others: plan.tensors().filter_map(other).collect() }
    }

    /// Prints a note if a tensor changes.
    pub(crate) fn tell(self, run: Run<'_>, label: &str, path: &Path) -> Result<()> {
        if run.quiet {
            return Ok(());
        }
        let others = self.others.into_iter().filter_map(|(name, meta, back)| {
            let back = match back {
                ReadsBack::Same => return None,
                ReadsBack::As(back) => Ok(back),
                ReadsBack::ByItems => described(path, self.format),
            };
            Some((name, difference(&meta, back)?))
        });
        let others: Vec<_> = others.collect();
        let Some((name, back)) = others.first() else { return Ok(()) };
        let name = name.as_ref().map_or_else(String::new, |name| format!(":{name}"));
        let more =
            if others.len() > 1 { format!(", and {} more tensors as others", others.len() - 1) } else { String::new() };
        let line = format!("{label}{name}: {back}{more}");
        note(&run.io.stderr, &line)
    }
}

/// Commands ask for the dtype of void items, whose bits are the same.
fn difference(meta: &Meta, back: Result<Meta, Error>) -> Option<String> {
    let is_text = |meta: &Meta| matches!(meta.dtype.kind(), Kind::Str(_));
    match back {
        Ok(back) if back.dtype.is_ambiguous() || back.dtype.native() == meta.dtype.native() => {
            (back.shape != meta.shape).then(|| format!("reads back as {:?}", back.shape))
        }
        Ok(back) => {
            let advice = if is_text(meta) && !is_text(&back) { "; --dtype str reads strings" } else { "" };
            Some(format!("reads back as {} {:?}{advice}", back.dtype.name(), back.shape))
        }
        Err(error) => (error.kind() == ErrorKind::Malformed)
            .then(|| format!("does not read back: {}", advised(error.message().to_owned(), error.advice()))),
    }
}

fn described(path: &Path, format: Format) -> Result<Meta, Error> {
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    Ok(options.open(&Located::from_path(path))?.describe(0)?.meta)
}

#[derive(Default)]
pub(crate) struct CastTallies(Vec<CastTally>);

struct CastTally {
    name: String,
    dtype: DType,
    tally: Arc<OverflowTally>,
}

impl CastTallies {
    pub(crate) fn add(&mut self, name: String, dtype: &DType) -> Arc<OverflowTally> {
        let tally = Arc::new(OverflowTally::default());
        self.0.push(CastTally { name, dtype: dtype.clone(), tally: Arc::clone(&tally) });
        tally
    }

    /// Call after the output has been written.
    pub(crate) fn tell(&self, run: Run<'_>, order: Order) -> Result<()> {
        let mut out = run.io.stderr.clone();
        for CastTally { name, dtype, tally } in self.0.iter().filter(|_| !run.quiet) {
            if let Some(OverflowedItems { items, of, first }) = tally.found(order) {
                let (name, became) = (printable(name), overflow_name(dtype));
                writeln!(out, "{name}: {items} of {of} items became {became}, the first at {first:?}")
                    .context("standard error")?;
            }
        }
        Ok(())
    }
}
