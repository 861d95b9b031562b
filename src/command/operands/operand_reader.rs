//! The reader of a command's operands: [`OperandReader::open`] opens the file of one operand, and
//! [`OperandReader::read`] makes sources of tensors that are typed together.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Result, anyhow, bail, ensure};

use super::container_notes::{ANY_MEMBER, put_back};
use super::dtype_option::{AskedDTypes, Reinterpret};
use super::member::{Member, typed};
use crate::command::messages::{counted, message, option_error, refusal};
use crate::command::options::members::{MemberSelection, TakenOptions};
use crate::command::options::{InputOptions, Operand};
use crate::command::process::io::{Io, Run, RunSettings, note};
use crate::command::process::meter::Meter;
use crate::command::usage;
use crate::container::glob::Glob;
use crate::container::interface::{CHANGEABLE, Unchangeable};
use crate::container::names::NameFilter;
use crate::error::{Error, Subject};
use crate::formats::json;
use crate::narrow::packed::unchangeable_items;
use crate::opening::dump_views::DumpShapes;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place};
use crate::opening::table::Format;
use crate::opening::{collection, located};
use crate::operators::fill::Limits;
use crate::ops::slice::SliceArgs;
use crate::quantized::{AskedLayout, Dequantized};
use crate::renamed::{NameStyle, Renaming};
use crate::storage::source::Source;
use crate::untyped::cells::TableOptions;

/// Names the subject of a refusal as the user typed it: an operand or an option.
pub(crate) fn explained<'a>(operands: impl IntoIterator<Item = &'a Operand>, error: Error) -> anyhow::Error {
    let operand = operands.into_iter().find(|operand| operand.role.subject == error.subject());
    let Some(Operand { located, label, role, .. }) = operand else { return option_error(error) };
    let refused = refusal(label, &error);
    if role.subject != Subject::Updates || !error.message().starts_with("shape []") {
        return refused;
    }
    // Most users who give one value as UPDATES want it in all places.
    let value = if let Place::Json(value) = &located.place { value } else { "VALUE" };
    let puts = if value == "VALUE" { "puts one value" } else { "puts it" };
    anyhow!("{refused}; --fill {value} {puts} in every place")
}

pub(crate) fn operands_error(operands: &[Source], error: Error) -> anyhow::Error {
    match error.subject() {
        Subject::Operand(n) => refusal(operands[n].label(), &error),
        _ => option_error(error),
    }
}

#[derive(Clone, Copy)]
pub(crate) struct OperandReader<'a> {
    /// The run, whose threads may share reading and the windows of the output.
    pub run: Run<'a>,
    pub options: &'a InputOptions,
    /// Whether the files are more than can be open at a time.
    pub reopens: bool,
    /// Whether streams can be read again.
    pub rereads: bool,
    /// The dtypes and shapes of files without a header in folders.
    pub shapes: Option<&'a Arc<DumpShapes>>,
    /// Whether names of tensors are compared with those of another file.
    pub compares: bool,
}

impl<'a> OperandReader<'a> {
    pub(crate) fn new<'o>(io: &'a Io, options: &'a InputOptions, settings: impl Into<RunSettings<'o>>) -> Result<Self> {
        let run = Run::new(io, settings.into(), &options.address)?;
        Ok(Self { run, options, reopens: false, rereads: false, shapes: None, compares: false })
    }

    pub(crate) fn asked(&self, reading: Reinterpret) -> AskedDTypes<'a> {
        AskedDTypes::new(self.options, reading, self.run.io)
    }

    /// Streams and pipes are skipped, because they can be opened only once.
    pub(crate) fn look_ahead(&self, files: &[Operand], taken: &TakenOptions, asked: &AskedDTypes<'_>) {
        for file in files.iter().filter(|_| files.len() > 1 && asked.depends_on_others()) {
            let is_once = matches!(file.located.place, Place::Stdin | Place::Pipe(_));
            let opened = (!is_once)
                .then(|| MemberSelection::new(taken, false).open(|filter| self.open(file, OpenMode::Taking(filter))));
            if let Some(Ok((input, Some(tensors)))) = opened {
                asked.look_at_all(&input, &tensors);
            }
        }
    }

    pub(crate) fn open(&self, operand: &Operand, mode: OpenMode<'_>) -> Result<Arc<Input>> {
        let named = if let OpenMode::Taking(filter) = mode { filter.only } else { &[] };
        let filter = match mode {
            OpenMode::Plain => NameFilter::default(),
            // parts of a weight have other names than it
            OpenMode::Taking(_) if self.options.makes_members() => NameFilter::default(),
            OpenMode::Taking(filter) => filter,
            OpenMode::Locked { is_shared } => return self.lock(operand, is_shared),
            OpenMode::LockedNpy => {
                let (input, label) = (self.lock(operand, false)?, &operand.label);
                let format = input.format();
                ensure!(
                    format == Format::NPY,
                    "{label}: --in-place changes the header of a .npy, and this is {}: use -o",
                    format.argument()
                );
                return Ok(input);
            }
        };
        let Operand { located, label, .. } = operand;
        let mut options = self.open_options(label);
        let is_json = |text: &str| json::open(text.as_bytes(), Subject::Data, self.run.limits.threads).is_ok();
        match &located.place {
            Place::Stdin => options.format = self.options.from,
            Place::Json(text) if Path::new(text).exists() && !is_json(text) => {
                bail!("{label}: not JSON; write ./{text} for the file of that name")
            }
            _ => {}
        }
        let stdin = || Box::new(self.run.io.stdin.clone());
        let input = match (&located.place, &located.suffix) {
            (Place::Stdin, None) => options.open_stream(stdin())?,
            (Place::Stdin, Some(view)) => options.open_stream_as(stdin(), view)?,
            (Place::Object(_), _) => {
                let _shown = Meter::for_requests(self.run);
                options.open(located)?
            }
            _ => match self.checkpoint(&options, located) {
                Some(input) => input,
                None => collection::open(&options, located, filter).map_err(|error| or_list(located, error.into()))?,
            },
        };
        let input = match &self.options.dequantize {
            Some(asked) => self.dequantized(input, asked, operand, named)?,
            None => input,
        };
        let input = match self.options.names {
            Some(style) => self.renamed(input, style, operand)?,
            None => input,
        };
        self.run.io.containers.add(&input);
        if let (Some(beside), None, false) = (input.beside_message(), input.member(), self.run.quiet) {
            note(&self.run.io.stderr, &format!("{label}: {beside}"))?;
        }
        Ok(input.into())
    }

    /// Opens the checkpoint of a folder without the GGUFs beside it, where converters write them.
    fn checkpoint(&self, options: &OpenOptions, located: &Located) -> Option<Input> {
        let Place::Folder(folder) = &located.place else { return None };
        self.options.names?;
        let paths = fs::read_dir(&folder.path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        let ggufs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "gguf"));
        let exclude: Vec<_> =
            ggufs.map(|path| Some(Glob::new(&format!("{}:*", path.file_stem()?.to_str()?)))).collect::<Option<_>>()?;
        if exclude.is_empty() {
            return None;
        }
        let filter = NameFilter { exclude: &exclude, ..NameFilter::default() };
        let input = collection::open(options, located, filter).ok()?;
        input.names().is_some_and(|names| !names.is_empty()).then_some(input)
    }

    /// Scales of activations are members only if a pattern of `named`, or the operand, speaks of such.
    fn dequantized(&self, input: Input, asked: &AskedLayout, operand: &Operand, named: &[Glob]) -> Result<Input> {
        let Run { io, requests, quiet, .. } = self.run;
        let member = input.member().map(Glob::new);
        let speaks = |glob: &Glob| ["scale", "zero_point"].iter().any(|word| glob.text().contains(word));
        let is_named = |name: &str| named.iter().chain(&member).any(|glob| speaks(glob) && glob.matches(name));
        let label = &operand.label;
        let found = input.dequantized(asked, &operand.located, requests, is_named);
        let (input, Dequantized { weights, left_alone, mut notes }) =
            found.inspect_err(|_| io.containers.has_quantized.store(true, Ordering::Relaxed))?;
        if weights > 0 {
            io.containers.has_quantized.store(true, Ordering::Relaxed);
        }
        match left_alone.len() as u64 {
            0 => {}
            _ if self.options.verbose => notes.extend(left_alone.iter().map(|name| format!("{name} is left alone"))),
            count => notes.push(format!("{} of activations left alone", counted(count, "scale", "scales"))),
        }
        notes.iter().filter(|_| !quiet).try_for_each(|line| note(&io.stderr, &format!("{label}: {line}")))?;
        Ok(input)
    }

    fn renamed(&self, input: Input, style: NameStyle, operand: &Operand) -> Result<Input> {
        let Run { io, requests, quiet, .. } = self.run;
        let renamed = input.renamed(style, self.compares, &operand.located, requests);
        let (input, Renaming { applies, mut notes, mut kept, one_sided }) =
            renamed.inspect_err(|_| io.containers.has_names.store(true, Ordering::Relaxed))?;
        if applies {
            io.containers.has_names.store(true, Ordering::Relaxed);
        }
        kept.retain(|name| !self.compares || !one_sided.here.contains(name));
        match &kept[..] {
            [] => {}
            all if self.options.verbose => notes.extend(all.iter().map(|name| format!("{name} keeps its name"))),
            [name] => notes.push(format!("1 tensor keeps its name: {name}")),
            [name, ..] => notes.push(format!("{} tensors keep their names, such as {name}", kept.len())),
        }
        let label = &operand.label;
        notes.iter().filter(|_| !quiet).try_for_each(|line| note(&io.stderr, &format!("{label}: {line}")))?;
        Ok(input)
    }

    /// `--from` is for standard input, if that is an operand. The formats of files follow from their names and first
    /// bytes, which a pipe may not have.
    pub(crate) fn open_options(&self, label: &str) -> OpenOptions {
        let InputOptions { from, skip_rows, delimiter, ref missing, .. } = *self.options;
        let format = from.filter(|_| !self.run.io.arguments.reads_stdin());
        let Run { limits: Limits { threads, .. }, requests, .. } = self.run;
        let (reopens, shapes) = (self.reopens, self.shapes.cloned());
        OpenOptions {
            format,
            table: TableOptions { skip_rows, delimiter, missing: missing.clone() },
            threads,
            requests,
            reopens,
            rereads: self.rereads,
            shapes,
            ..OpenOptions::new(label)
        }
    }

    fn lock(&self, operand: &Operand, is_shared: bool) -> Result<Arc<Input>> {
        let Operand { located, label, .. } = operand;
        if self.options.dequantize.is_some() {
            bail!("{label}: --in-place cannot change the numbers that --dequantize reads");
        }
        if self.options.names.is_some() {
            bail!("{label}: --in-place changes tensors under their own names, without --names");
        }
        match located.place {
            Place::Stdin | Place::Json(_) => bail!("{label}: --in-place changes a file"),
            Place::Object(_) => bail!("{label}: --in-place changes a local file, not one behind an address"),
            Place::File(_) | Place::Pipe(_) | Place::Store(..) | Place::Folder(_) | Place::Absent(_) => {}
        }
        let options = OpenOptions { locked: true, table: TableOptions::default(), ..self.open_options(label) };
        let located = self.in_its_file(operand, &options)?;
        let input = options.open(&located)?;
        let file = match &operand.located.place {
            Place::Folder(_) => located.without_secrets(),
            _ => operand.file(input.member()),
        };
        check_format_changeable(&input, input.chosen().ok(), &file, label)?;
        let input = input.lock_chosen(&options, is_shared)?;
        check_items_changeable(&input, input.chosen()?, label)?;
        Ok(input.into())
    }

    /// Makes sources of the tensors of an operator. They are typed together, because text takes the dtype of the tensors beside
    /// it, and `--dtype` must apply to at least one tensor.
    pub(crate) fn read(&self, members: &[Member]) -> Result<Vec<Source>> {
        let asked = self.asked(Reinterpret::Void);
        let sources = typed(members, asked.of(None))?;
        asked.finish()?;
        Ok(sources)
    }
}

pub(crate) enum OpenMode<'a> {
    Plain,
    /// Opens only the tensors that the filter takes. If these are one model of a folder, that model is opened.
    Taking(NameFilter<'a>),
    /// The tensor is locked for a change in place. A shared lock lets other processes change other parts of the tensor.
    Locked {
        is_shared: bool,
    },
    /// A `.npy` is locked for a change of its header.
    LockedNpy,
}

/// Refuses items that share bytes: the header of the `.npy` counts bytes.
pub(crate) fn check_header_counts(operand: &Operand, data: &Source) -> Result<()> {
    ensure!(
        data.as_local_file().is_some(),
        "{}: --in-place changes the header of a .npy, which counts bytes, and not the items that share them: use -o",
        operand.label
    );
    Ok(())
}

/// Suggests JSON for a list of numbers that was taken for the name of a file, and digits alone for a number.
fn or_list(located: &Located, error: anyhow::Error) -> anyhow::Error {
    let typed = located.typed().to_str().filter(|_| located.is_absent()).unwrap_or_default();
    let plain = typed.replace('_', "");
    match () {
        () if typed.contains(',') && usage::is_list(typed) => {
            anyhow!("{}; write a list as '[{typed}]'", message(&error))
        }
        () if typed != plain && usage::is_list(&plain) => anyhow!("{}; write {plain}", message(&error)),
        () => error,
    }
}

pub(crate) fn check_format_changeable(input: &Input, n: Option<usize>, file: &str, label: &str) -> Result<()> {
    if let Some(why) = input.unchangeable(n) {
        let why = match why {
            Unchangeable::Text => "this is neither".to_owned(),
            Unchangeable::Archive => "a PyTorch file is only read: -o x.safetensors writes its tensors".to_owned(),
            Unchangeable::CheckSums => {
                let member = n.and_then(|n| input.name(n));
                let member = member.unwrap_or(ANY_MEMBER).to_owned();
                let cure = put_back(input, file, &[member]);
                format!("an .npz holds check sums of its members: {cure}")
            }
            Unchangeable::Message => "an ONNX tensor is written anew with -o".to_owned(),
        };
        bail!("{label}: --in-place changes {CHANGEABLE}; {why}");
    }
    Ok(())
}

pub(crate) fn check_items_changeable(input: &Input, n: usize, label: &str) -> Result<()> {
    if let Some(blocks) = input.describe(n)?.blocks {
        bail!("{label}: --in-place cannot change items of {}, whose blocks share scales", blocks.name);
    }
    let source = input.source(n)?;
    if !source.is_changeable() {
        bail!("{label}: --in-place cannot change {}", unchangeable_items(&source));
    }
    Ok(())
}

pub(crate) fn slices_of(slices: &SliceArgs, data: &Source) -> Result<SliceArgs> {
    located::slices_of(slices, data).map_err(|error| anyhow!("--{}: {error}", error.subject()))
}
