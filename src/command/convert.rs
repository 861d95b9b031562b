//! The sub-command `convert`, which writes tensors in another container, format, dtype or order.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueHint};

use super::messages::{counted, made_up};
use super::operands::container_notes::tell_what_stayed;
use super::operands::dtype_option::Reinterpret;
use super::operands::member::Member;
use super::operands::operand_reader::{OpenMode, OperandReader};
use super::options::cast::{self, CastArg, parse_cast};
use super::options::members::meant;
use super::options::{
    DTypeParser, IN, InputOptions, MemberOptions, Operand, OperatorOptions, OptionWord, check_stdin, data_help,
    dtype_help, parse_size, parse_words, word,
};
use super::outputs::destination::Destination;
use super::outputs::output_set::{CastTallies, SideFiles};
use super::process::io::{Io, Outcome, Run, note};
use crate::DType;
use crate::container::names::list;
use crate::item::cast::{Overflow, is_floats};
use crate::item::dtype::Kind;
use crate::item::meta::Order;
use crate::opening::input::Input;
use crate::opening::located::Place;
use crate::opening::table::{Format, containers};
use crate::operators::cast::CastRule;
use crate::operators::selection::Selection;
use crate::storage::platform::allow_open_files;
use crate::storage::source::{Metadata, Source, merged};
use crate::storage::unread::UnreadArray;
use crate::writing::{OutputTensor, Recast};

/// Write tensors in another format, dtype or order
///
/// Changes the format. --cast also changes the values, and --dtype the meaning of the bits.
///
/// A .npz, .safetensors or .zarr output can have several tensors. All members of a whole container (a file, the index of
/// several, or a folder) keep their names, and so does a single member, FILE:NAME. NAME=IN gives a tensor a name; it
/// replaces the tensor of that name in a whole container. Other tensors are named after their files. They become arr_0,
/// arr_1, ... if there is only one, if they are in no file, or if their files have the same name. If --only and --exclude
/// leave one model in a folder, its tensors have the names of that model.
///
/// MODEL -o NEW/ writes NEW/model.safetensors, or shards and their index. If MODEL is a folder, its JSON, text and tokenizer
/// files are copied, with --dequantize without the layout of the codes, and a line on standard error lists the files that were
/// copied and those that were left.
#[derive(Args)]
#[command(override_usage = "tensorop convert [OPTIONS] [NAME=]<IN>... [-o <OUT>]", after_long_help = EXAMPLES)]
#[command(mut_arg("dtype", InputOptions::dtype_by_name))]
pub(super) struct Convert {
    /// The tensors, each optionally with its name in the output
    #[arg(value_name = "[NAME=]IN", value_parser = IN.named_parser(), required = true, allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensors, each as IN or NAME=IN (an IN that exists as a file is taken as it is)."))]
    pub inputs: Vec<Operand>,
    /// Convert the values to this dtype; with GLOB=DTYPE only in tensors with matching names
    #[arg(long, value_name = "[GLOB=]DTYPE", value_parser = DTypeParser::from_values(parse_cast), hide_possible_values = true, long_help = dtype_help(CAST_HELP), help_heading = HEADING)]
    pub cast: Vec<CastArg>,
    /// With --cast: truncate fractions, take the nearest integer of the dtype (0 for NaN), drop imaginary parts
    ///
    /// As bool every item but 0 is true, also NaN and a fraction.
    #[arg(long, requires = "cast", help_heading = HEADING)]
    pub lossy: bool,
    /// With --cast to floats: a finite item that is too large becomes the largest finite number of its sign
    ///
    /// By default the item becomes infinite, or NaN in a dtype without infinity, and a line on standard error counts these items
    /// and gives the index of the first, unless -q is given. Infinite items stay infinite, or become NaN in a dtype without
    /// infinity. In float8_e8m0fnu, which has neither zero nor a sign, 0 and negative numbers become its least number.
    #[arg(long, requires = "cast", conflicts_with = "strict", help_heading = HEADING)]
    pub saturate: bool,
    /// With --cast to floats: a finite item that would become infinite or NaN is an error, and nothing is written
    ///
    /// The error names the first such item. If the output goes to a pipe, it may come after a part of the output.
    #[arg(long, requires = "cast", help_heading = HEADING)]
    pub strict: bool,
    /// The order of the items in a .npy or .npz
    #[arg(long, value_name = "ORDER", value_parser = parse_words(orders()), default_value = "C", ignore_case = true, help_heading = HEADING)]
    pub order: Order,
    /// With NAME=IN and a whole container: allow a NAME that the container does not have
    ///
    /// Without it such a name is refused, since it is probably misspelt.
    #[arg(long, help_heading = "Names")]
    pub add: bool,
    /// With -o NAME.safetensors.index.json: the most bytes of items in a shard, such as 500MB [default: 5GB]
    ///
    /// KB, MB, GB and TB are decimal. Shards are filled in the order of the tensors, named and indexed as huggingface_hub
    /// does it (NAME-00001-of-00003.safetensors; a single shard is NAME.safetensors). A larger tensor gets its own shard. All
    /// shards are written before the first takes its name, and the index comes last. If the output replaces an index of
    /// several shards, the default is the size of the largest of these.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = HEADING)]
    pub max_shard_size: Option<u64>,
    /// With -o NAME.safetensors.index.json over an index: remove the shards that only the old index names
    ///
    /// They are removed when the new index has its name, and listed in a line. Files that another index in the folder names
    /// are kept. If an input comes from the old shards, all of their tensors must go into the output, except those that
    /// --only and --exclude leave out.
    #[arg(long, help_heading = HEADING)]
    pub remove_old_shards: bool,
    /// From a folder of several containers: write the names FILE:NAME that its tensors have
    ///
    /// Without it such names are refused, unless --rename gives others.
    #[arg(long, help_heading = "Names")]
    pub prefix_names: bool,
    #[command(flatten)]
    pub members: MemberOptions,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Conversion";

const CAST_HELP: &str = "Convert the values to this dtype; with GLOB=DTYPE only in tensors with matching names

A cast to floats and complex numbers rounds each value once, to nearest, ties to even; to float8_e8m0fnu, whose numbers are powers of \
two, ties go up. A line on standard error counts the finite items that became infinite, or NaN in a dtype without infinity; see \
--saturate and --strict. A cast to integers and bool must be exact; otherwise an error names the first value that is not.

With several tensors, DTYPE converts only those of its class: integers, floats or complex numbers (not bool). \
GLOB=DTYPE converts all that match, and the last match decides. Can be given several times. A value that applies to no tensor, or only \
to tensors that another value decides, is an error; a tensor that has the dtype already is not changed.";

const EXAMPLES: &str = "\
Examples:
  tensorop convert weights.npz:conv1 -o conv1.npy
  tensorop convert weights.npz -o weights.safetensors
  tensorop convert a=first.npy b=second.npy -o both.npz --compress
  tensorop convert model.safetensors head=new.npy -o model.safetensors        # in place of the tensor of that name
  tensorop convert model.safetensors --cast bfloat16 -o small.safetensors     # integers stay integers
  tensorop convert model.safetensors --cast float8_e4m3fn --saturate -o tiny.safetensors
  tensorop convert model.safetensors --exclude '*.bias' --rename 'model.*=*' -o model.safetensors
  tensorop convert model.safetensors.index.json -o model.safetensors
  tensorop convert model-folder --cast bfloat16 -o new-folder/                # with config.json, the tokenizer, ...
  tensorop convert folder --rename 'lora:*=*' --rename 'model:*=*' -o all.npz # a folder of lora.npz and model.npz
  tensorop convert model.safetensors -o model.safetensors.index.json --max-shard-size 2GB
  tensorop convert test_data_set_0/input_0.pb -o input.npy
  tensorop convert model.safetensors:head --cast float32 -o head.npy
  tensorop convert golden_bits.npy --dtype bfloat16 -o golden.safetensors     # bfloat16 that was saved as uint16
  tensorop convert data.npy --byte-order big --order F -o other.npy
  tensorop convert 'dump.bin:float32[16,-1]' -o dump.npy                      # bytes without a header, and back:
  tensorop convert dump.npy -o dump.bin
  tensorop convert table.csv --skip-rows 1 --dtype float32 -o table.npy

--dtype gives the dtype of void items of the same size, or of unsigned ones if there are no such void items, and leaves tensors of \
another dtype as they are. For a single tensor it gives the meaning of any bits, and for plain JSON it is the dtype.";

fn orders() -> Vec<OptionWord<Order>> {
    vec![word("C", "The last axis runs fastest", Order::C), word("F", "The first axis runs fastest", Order::Fortran)]
}

/// A tensor of the output, before it is opened.
struct Chosen<'o> {
    member: Member,
    operand: &'o Operand,
    /// The name that patterns match: the name in the input if the operand is a whole container or several tensors, else
    /// the name in the output.
    old_name: String,
    name: Option<String>,
    /// Whether the operand is a whole container. Patterns may leave out some of its tensors.
    whole: bool,
}

struct Inputs<'o> {
    chosen: Vec<Chosen<'o>>,
    /// The old names of the tensors that a `NAME=IN` replaces.
    replaced: HashSet<String>,
    metadata: Metadata,
    /// The inputs that are converted as a whole. Patterns may leave out some of their tensors.
    whole: Vec<(Arc<Input>, &'o Operand)>,
}

impl Convert {
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let operands = &self.inputs;
        check_stdin(operands)?;
        // The result is ignored: if the limit of open files stays too low, opening the files reports it.
        allow_open_files(operands.len());
        let output = &self.options.output;
        let order = self.order;
        if let ([_, .., Operand { name: None, located: last, .. }], None, None) =
            (&operands[..], &output.output, output.to)
            && !output.is_dry_run()
            && !matches!(last.place, Place::Stdin | Place::Json(_))
            && Format::from_name(last.typed()).is_ok()
        {
            // The user probably meant the last operand as the output, as with `cp`.
            let (label, count) = (last.typed().display(), operands.len());
            ensure!(last.is_whole(), "IN {label}: no such file: for the output write -o {label}?");
            let several = containers("and");
            bail!("standard output: {count} tensors, and only {several} hold several: -o {label}?");
        }
        let reader = OperandReader::new(io, &self.options.input, &self.options.run)?;
        // a dry run needs no output, which several files would have to name
        let has_model = output.is_dry_run() && operands.len() > 1
            || operands.iter().any(|one| one.name.is_none() && one.located.is_model());
        let destination = match has_model {
            true => Destination::for_model(reader.run, output)?,
            false => Destination::of(reader.run, output, false)?,
        };
        let destination = destination.with_shards_of(self.max_shard_size, self.remove_old_shards)?;
        let format = destination.format().expect("convert changes nothing in place");
        let Inputs { chosen, replaced, metadata, whole } = self.choose(&reader, operands, format)?;
        if chosen.is_empty() {
            let empty: Vec<_> = operands.iter().map(|one| &*one.label).collect();
            bail!("{}: no tensors", empty.join(", "));
        }
        let (alone, mut tensors) = (chosen.len() == 1, Vec::with_capacity(chosen.len()));
        // `--dtype` reinterprets any bits if there is one tensor and its operand is no whole container. Otherwise it
        // reinterprets only void items and unsigned integers.
        let reading = if alone && !chosen[0].whole { Reinterpret::Bits } else { Reinterpret::Unsigned };
        let mut asked = reader.asked(reading);
        asked.casts = true;
        for Chosen { member, old_name, .. } in chosen.iter().filter(|_| asked.depends_on_others()) {
            if let Ok(described) = member.input.describe(member.n) {
                asked.look_at(Some(old_name), &described.meta.dtype);
            }
        }
        let mut set = destination.output_set(destination.report("convert"));
        for one in chosen {
            let changes = |array: &UnreadArray| {
                let matches = |cast: &CastArg| cast.glob.as_ref().map_or(alone, |glob| glob.matches(&one.old_name));
                let own = [("--cast", self.cast.iter().any(matches)), ("--order", order == Order::Fortran)];
                let own = own.into_iter().find(|(_, changes)| *changes).map(|(option, _)| option);
                own.or_else(|| output.changes(&one.old_name, &array.dims))
            };
            let names = (&*one.old_name, one.name.as_deref().unwrap_or_default());
            let data = set.add(&one.member, names, asked.of(Some(&one.old_name)), one.whole && !alone, changes)?;
            tensors.extend(data.map(|data| (data, one)));
        }
        set.check_readable(&reader.run.io.stderr)?;
        asked.finish()?;
        for (input, _) in whole.iter().filter(|_| !reader.run.quiet) {
            if let Some(message) = input.index_faults(self.members.taken.filter()).message() {
                note(&io.stderr, &format!("{}: {message}", input.label()))?;
            }
        }
        let dtypes: Vec<_> = tensors.iter().map(|(data, tensor)| (tensor.old_name.as_str(), data.dtype())).collect();
        cast::check(&self.cast, &dtypes, alone)?;
        let cast_to = |(name, dtype): &(&str, &DType)| cast::target(&self.cast, name, dtype, alone);
        let (overflow, option) = self.overflow();
        if let Some(option) = option.filter(|_| !dtypes.iter().filter_map(cast_to).any(is_floats)) {
            bail!("{option}: is for a cast to floats, and no tensor is cast to floats");
        }
        self.tell_of_blocks(reader.run, &tensors, alone)?;
        self.tell_of_codes(reader.run, &tensors, alone)?;
        let mut tallies = CastTallies::default();
        for (data, Chosen { member, old_name, name, whole, operand }) in tensors {
            let dtype = cast::target(&self.cast, &old_name, data.dtype(), alone);
            let renamed = name.as_deref().filter(|name| whole && *name != old_name);
            match dtype.filter(|_| !alone) {
                None if renamed.is_none() => set.report.source(&data),
                dtype => set.report.becomes(&data, renamed, dtype),
            }
            let called = match member.name().filter(|_| operands.len() == 1) {
                Some(name) => name,
                None => operand.role.unlabelled(&member.label),
            };
            let tally = dtype.map(|dtype| tallies.add(called.to_owned(), dtype));
            let selection = Selection::in_order(data, order);
            let rule = CastRule { lossy: self.lossy, overflow, tally, ..CastRule::default() };
            let recast = Recast { cast: dtype.cloned(), rule, order, ..Recast::default() };
            set.inherited.is_group |= operand.name.is_some();
            set.push(OutputTensor {
                name,
                old_name: Some(old_name),
                recast,
                ..OutputTensor::new(Box::new(selection), reader.run.limits)
            });
        }
        set.left_out = Box::new(|name| !self.members.taken.takes(name) || replaced.contains(name));
        set.inherited.metadata = metadata;
        set.side = SideFiles::of(reader.run, &whole, output, self.options.input.dequantize.is_some())?;
        let outcome = destination.write(set)?;
        tallies.tell(reader.run, order)?;
        whole.iter().try_for_each(|(input, _)| tell_what_stayed(reader.run, input))?;
        Ok(outcome)
    }

    /// Items in blocks become float32s without an option that says so.
    fn tell_of_blocks(&self, run: Run<'_>, tensors: &[(Source, Chosen<'_>)], alone: bool) -> Result<()> {
        if run.quiet {
            return Ok(());
        }
        let rule = |(data, Chosen { member, old_name, .. }): &(Source, Chosen<'_>)| {
            let is_kept = || cast::target(&self.cast, old_name, data.dtype(), alone).is_none();
            // others need no look at how they are stored
            let may_be = *data.dtype().kind() == Kind::Float32 && is_kept();
            may_be.then(|| member.input.describe(member.n).ok()?.blocks)?.map(|blocks| blocks.name)
        };
        let mut names: Vec<_> = tensors.iter().filter_map(rule).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        if count > 0 {
            let (tensors, are) = (counted(count, "tensor", "tensors"), if count == 1 { "is" } else { "are" });
            note(&run.io.stderr, &format!("{tensors} of {} {are} written as float32", names.join(", ")))?;
        }
        Ok(())
    }

    /// A cast of codes or scales does not multiply them.
    fn tell_of_codes(&self, run: Run<'_>, tensors: &[(Source, Chosen<'_>)], alone: bool) -> Result<()> {
        if self.options.input.dequantize.is_some() || run.quiet {
            return Ok(());
        }
        let is_cast = |(data, Chosen { old_name, .. }): &&(Source, Chosen<'_>)| {
            cast::target(&self.cast, old_name, data.dtype(), alone).is_some()
        };
        let cast: Vec<_> = tensors.iter().filter(is_cast).map(|(_, chosen)| chosen).collect();
        for of_input in cast.chunk_by(|one, next| Arc::ptr_eq(&one.member.input, &next.member.input)) {
            let Chosen { member, operand, .. } = of_input[0];
            // what lies beside the file and cannot be read is no fault of it
            let mut counts = member.input.quantized(&operand.located, run.requests).unwrap_or_default();
            counts.retain(|count| of_input.iter().any(|chosen| count.parts.contains(&chosen.member.n)));
            for count in counts {
                let (label, made_up) = (member.input.label(), made_up(&count));
                let line = format!("{label}: {made_up}: their scales are not applied without --dequantize");
                note(&run.io.stderr, &line)?;
            }
        }
        Ok(())
    }

    fn overflow(&self) -> (Overflow, Option<&'static str>) {
        match (self.saturate, self.strict) {
            (true, _) => (Overflow::Saturate, Some("--saturate")),
            (_, true) => (Overflow::Refuse, Some("--strict")),
            (false, false) => (Overflow::Special, None),
        }
    }

    /// Opens the inputs, and chooses the tensors and their names.
    fn choose<'o>(&self, reader: &OperandReader<'_>, operands: &'o [Operand], format: Format) -> Result<Inputs<'o>> {
        let container = format.is_container();
        let (mut chosen, mut metadata) = (vec![], vec![]);
        let (mut whole_names, mut taken_names, mut beside) = (vec![], vec![], vec![]);
        let (mut first_whole, mut whole_inputs) = (None, Vec::new());
        for operand in operands {
            let filter = self.members.taken.filter();
            let input = reader.open(operand, OpenMode::Taking(filter))?;
            // The tensors of a whole container keep their names.
            let whole = operand.name.is_none() && input.member().is_none() && (container || !self.members.is_empty());
            let names = if whole { input.names() } else { None };
            if whole {
                whole_inputs.push((Arc::clone(&input), operand));
            }
            let whole = names.is_some();
            if whole {
                first_whole.get_or_insert_with(|| operand.label.clone());
            }
            let members = match &names {
                None if input.member().is_some() => input.select()?,
                None => vec![input.chosen()?],
                Some(names) => (0..names.len()).filter(|&n| input.is_taken(n, filter)).collect(),
            };
            whole_names.extend(names.into_iter().flatten().cloned());
            let several = members.len() > 1;
            for n in members {
                if format.can().metadata {
                    metadata.extend(input.file_of(n)?.metadata.map(|file| Arc::clone(&file.kept)));
                }
                let name = match (&operand.name, input.name(n)) {
                    (Some(name), _) => Some(name.clone()),
                    (None, Some(old)) if whole => {
                        Some(self.members.renamed(old)).filter(|renamed| container || renamed != old)
                    }
                    // The operand is FILE:NAME, so the tensor keeps its name.
                    (None, Some(old)) if container => Some(old.to_owned()),
                    // `name_by_files` names the tensor when the names of all other tensors are known.
                    (None, None) if container => None,
                    (None, _) => input.members().own_name.clone(),
                };
                taken_names.extend(input.name(n).filter(|_| whole).map(str::to_owned));
                let own = input.name(n).filter(|_| whole || several);
                let label = own.map_or_else(|| operand.label.clone(), |own| input.label_of(Some(own)));
                chosen.push(Chosen {
                    old_name: own.map_or_else(|| name.clone().unwrap_or_default(), str::to_owned),
                    member: Member { input: Arc::clone(&input), n, label },
                    operand,
                    name,
                    whole,
                });
            }
            if whole {
                beside.extend(input.names_beside());
            }
        }
        let whole_names: Vec<_> = whole_names.iter().map(String::as_str).collect();
        self.members.taken.check_names(&whole_names, &beside)?;
        // A rule that matches only excluded tensors is refused, because it would change nothing.
        self.members.check_renames(&taken_names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let mut replaced = HashSet::new();
        if container {
            self.check_prefixes(&chosen)?;
            name_by_files(&mut chosen);
            self.check_replaced(&chosen, first_whole.as_deref(), &whole_names)?;
            replaced = replace(&mut chosen);
            each_name_once(&chosen).with_context(|| self.options.output.label())?;
        }
        Ok(Inputs { chosen, replaced, metadata: merged(&metadata), whole: whole_inputs })
    }
}

impl Convert {
    /// Refuses the names `FILE:NAME` that tensors of a folder of several files have, unless `--rename` changes them or
    /// `--prefix-names` allows them.
    fn check_prefixes(&self, chosen: &[Chosen<'_>]) -> Result<()> {
        let stem = |one: &Chosen<'_>| {
            let is_kept = one.whole && one.name.as_deref() == one.member.input.name(one.member.n);
            one.member
                .input
                .members()
                .file_stem(one.member.n)
                .filter(|_| is_kept && !self.prefix_names)
                .map(str::to_owned)
        };
        let prefixed = chosen.iter().filter_map(|one| Some((one, stem(one)?)));
        let mut files: Vec<String> = Vec::new();
        let mut first = None;
        for (one, stem) in prefixed {
            first.get_or_insert(one);
            if !files.contains(&stem) {
                files.push(stem);
            }
        }
        let Some(Chosen { operand, name, .. }) = first else { return Ok(()) };
        let (label, name, file) = (&operand.label, name.as_deref().unwrap_or_default(), &files[0]);
        let quoted = |option: &str| format!("{option} '{file}:*");
        bail!(
            "{label}: tensors of {} would be called FILE:NAME, such as {name:?}: --prefix-names writes these names, \
             {}=*' drops the file's, and {}' takes one file",
            list(&files),
            quoted("--rename"),
            quoted("--only"),
        )
    }

    /// Refuses the NAME of a `NAME=IN` if no tensor of a whole container has it, either before or after `--rename`.
    /// `--add` allows it. `first_whole` is the label of the first whole container.
    fn check_replaced(&self, chosen: &[Chosen<'_>], first_whole: Option<&str>, whole_names: &[&str]) -> Result<()> {
        let Some(label) = first_whole.filter(|_| !self.add) else { return Ok(()) };
        let renamed: HashSet<_> = whole_names.iter().map(|name| self.members.renamed(name)).collect();
        let is_there = |name: &str| whole_names.contains(&name) || renamed.contains(name);
        let typed = chosen.iter().filter_map(|one| one.operand.name.as_deref());
        match typed.into_iter().find(|name| !is_there(name)) {
            None => Ok(()),
            Some(name) => {
                let meant = meant(name, whole_names);
                bail!("{label}: has no tensor {name:?} to be replaced (--add adds one){meant}")
            }
        }
    }
}

/// Names the tensors that have no name. A single such tensor becomes `arr_0`. Several such tensors get the stems of
/// their files. Those without a file, with equal stems, or with a stem that is the name of another tensor become
/// `arr_0`, `arr_1` and so on.
fn name_by_files(chosen: &mut [Chosen<'_>]) {
    let taken: HashSet<String> = chosen.iter().filter_map(|one| one.name.clone()).collect();
    let unnamed: Vec<_> = chosen.iter_mut().filter(|one| one.name.is_none()).collect();
    let stem = |one: &Chosen<'_>| stem(&one.operand.located.file()?).filter(|stem| !taken.contains(stem));
    let stems: Vec<_> = unnamed.iter().map(|one| stem(one)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    stems.iter().flatten().for_each(|stem| *counts.entry(stem).or_default() += 1);
    let is_alone = unnamed.len() == 1;
    let is_name = |stem: &str| !is_alone && counts.get(stem) == Some(&1);
    let mut numbers = (0..).map(|n| format!("arr_{n}")).filter(|name| !is_name(name));
    for (one, stem) in unnamed.into_iter().zip(&stems) {
        let name = stem.clone().filter(|stem| is_name(stem));
        let name = name.unwrap_or_else(|| numbers.next().expect("there are numbers without end"));
        (one.old_name, one.name) = (name.clone(), Some(name));
    }
}

fn stem(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let own = || Path::new(name).file_stem()?.to_str().map(str::to_owned);
    Format::from_file_name(name).map_or_else(own, |(_, stem)| Some(stem.into_owned()))
}

/// Drops each tensor of a whole container whose name in the output is the NAME of a `NAME=IN`. Returns the old names of
/// the dropped tensors.
fn replace(chosen: &mut Vec<Chosen<'_>>) -> HashSet<String> {
    let given: HashSet<_> = chosen.iter().filter_map(|one| one.operand.name.as_ref()).collect();
    let stays = |one: &mut Chosen<'_>| !one.whole || one.name.as_ref().is_none_or(|name| !given.contains(name));
    chosen.extract_if(.., |one| !stays(one)).map(|one| one.old_name).collect()
}

fn each_name_once(chosen: &[Chosen<'_>]) -> Result<()> {
    let mut seen: HashMap<&str, &Chosen<'_>> = HashMap::with_capacity(chosen.len());
    for one in chosen {
        let name = one.name.as_deref().unwrap_or_default();
        if let Some(other) = seen.insert(name, one) {
            bail!("two tensors are called {name:?}: {} and {}", other.member.label, one.member.label);
        }
    }
    Ok(())
}
