//! The sub-command `show`, which prints tensors as text or draws them.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{Args, ValueHint};

use super::info::orders;
use super::messages::about_items;
use super::operands::dtype_option::{AskedDTypes, Reinterpret};
use super::operands::member::Member;
use super::operands::operand_reader::{OpenMode, OperandReader};
use super::options::members::{MemberSelection, TakenOptions};
use super::options::{
    At, FILE, InputOptions, Operand, PageOptions, ThreadOptions, check_stdin, data_help, parse_number, parse_path,
    parse_words,
};
use super::process::io::{Io, Outcome, Run, TerminalSize, complain};
use super::process::meter::Meter;
use crate::error::Subject;
use crate::formats::text::{self, TextOptions};
use crate::info::ListOrder;
use crate::item::tensor::Tensor;
use crate::opening::input::Input;
use crate::opening::located::dims_of;
use crate::operators::fill::Limits;
use crate::operators::selection::Selection;
use crate::ops::basic_index::{BasicIndex, ResolvedIndex};
use crate::ops::operators::reshape::NewShape;
use crate::picture::blocks::Terminal;
use crate::picture::{self, Drawn, Picture, Scale, Size, SpecialNumbers};
use crate::plans::job::{Job, Progress};
use crate::report::{full_name, printable};
use crate::storage::source::Source;
use crate::storage::targets::target::{OpenOutput, Target};
use crate::writing::items_at;

/// Print tensors: dtype and shape, then the items, or draw them as a picture
///
/// Prints for each tensor a line with its name, dtype and shape, and then its items as text. Above 1000 items only those
/// at the ends of each axis are read and printed, so this is instant for a file of any size. A .npz or .safetensors file
/// without the name of a member shows all members; a * in the name matches any characters. If a tensor cannot be shown,
/// standard error gives the reason, the others are shown, and the status is 2.
///
/// --image draws numbers as colours.
#[derive(Args)]
#[command(override_usage = "tensorop show [OPTIONS] <FILE>...", after_long_help = EXAMPLES)]
#[command(mut_arg("dtype", InputOptions::dtype_by_name))]
pub(super) struct Show {
    /// The tensors
    #[arg(value_name = "FILE", value_parser = FILE.parser(), required = true, allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensors."))]
    pub files: Vec<Operand>,
    /// Show a part of each: slices and single places in NumPy's notation, such as '3, ..., ::2'
    ///
    /// Like --at of slice, with one entry for each axis; axes that are not named are shown whole. An integer is one place,
    /// and drops its axis; a negative one counts from the end. If the dimensions have names, as in Zarr stores, they can be
    /// used: time=3,lat=::2.
    #[arg(long, value_name = "SLICES")]
    pub at: Option<At<BasicIndex>>,
    /// The order of the tensors of a container [default: file]
    #[arg(long, value_name = "WHAT", value_parser = parse_words(orders().into_iter().take(2).collect()))]
    pub sort: Option<ListOrder>,
    #[command(flatten)]
    pub taken: TakenOptions,
    #[command(flatten)]
    pub input: InputOptions,
    /// Print every item
    #[arg(long, conflicts_with = "threshold", help_heading = "Text output")]
    pub all: bool,
    /// Print ... for the middle of arrays of more than N items [default: 1000]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, help_heading = "Text output")]
    pub threshold: Option<usize>,
    #[command(flatten)]
    pub page: PageOptions,
    /// Draw the last two axes of a tensor: numbers as colours, or an image stored as bytes
    ///
    /// Of the other axes the first place is drawn, unless --at selects another. Colours go from dark purple (the smallest
    /// finite item) through green to yellow (the largest); NaN is red, Infinity white, -Infinity black. Complex numbers are
    /// drawn by their modulus, and a tensor of one axis as a line. A uint8 tensor [H, W, 3] or [H, W, 4] is drawn in its own
    /// colours. On a terminal a character is two pixels, and the picture has the width of the terminal. A pixel for several
    /// items has the colour of their mean, or of NaN or infinity if one of them is.
    #[arg(long, conflicts_with_all = ["all", "threshold", "edgeitems", "linewidth", "precision"], help_heading = "Picture")]
    pub image: bool,
    /// The last three axes are a picture in colours: [3, H, W], [4, H, W], [H, W, 3] or [H, W, 4] of uint8, or of floats from 0 to 1
    ///
    /// The channels are the last axis if it has 3 or 4 places, otherwise the third from last. Of the other axes the first
    /// place is drawn, unless --at selects another.
    #[arg(long, requires = "image", conflicts_with = "range", help_heading = "Picture")]
    pub rgb: bool,
    /// Write the picture to a PNG file, with a pixel for each item
    ///
    /// Axes of more than 4096 items are averaged down to 4096 pixels. `-` is standard output.
    #[arg(short, long, value_name = "OUT.png", requires = "image", value_parser = parse_path(), value_hint = ValueHint::FilePath, help_heading = "Picture")]
    pub output: Option<PathBuf>,
    /// The numbers for the darkest and the lightest colour [default: the range of the finite items]
    #[arg(long, value_name = "LO,HI", requires = "image", value_parser = parse_range, help_heading = "Picture")]
    pub range: Option<(f64, f64)>,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop show data.npy
  tensorop show model.safetensors:layer.*.bias --precision 3
  tensorop show model.npz --only 'layer.*' --exclude '*.weight'
  tensorop show data.npy --at '0, ..., -5:' --all
  tensorop show attention.npy --image
  tensorop show attention.npy --image --at 3 --range 0,1 -o head3.png
  tensorop show batch.npy --image --rgb --at 3 -o fourth.png                  # one of float32 [N, 3, H, W]

With --edgeitems 0 all items are read, since NumPy makes the columns as wide as the widest of them.";

fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let ends = text.split_once(',').and_then(|(low, high)| Some((number(low)?, number(high)?)));
    ends.filter(|(low, high)| low < high).ok_or_else(|| "expected two numbers, the lower first, such as 0,1".to_owned())
}

/// The items that are printed; others are elided.
pub(super) struct ShownItems {
    items: Tensor,
    /// The shape of the whole tensor.
    shape: Vec<usize>,
}

impl ShownItems {
    /// Reads only the items that are printed.
    pub(super) fn read(selection: Selection, limits: Limits, options: &TextOptions) -> Result<Self> {
        let label = selection.source.label().to_owned();
        let dtype = selection.source.dtype();
        let refused = |error: crate::Error| anyhow!(about_items(format!("{label}: {}", error.message()), dtype));
        text::check(dtype).map_err(refused)?;
        let mut job = Job::new(Box::new(selection), limits);
        let shape = job.meta().shape.clone();
        let places = text::elided_ranges(&shape, options);
        let items = items_at(&mut job, places.as_deref(), &label)?;
        Ok(Self { items, shape })
    }

    fn without(self, axes: &[usize]) -> Result<Self> {
        let squeezed = NewShape::Squeeze(Some(axes.iter().map(|&axis| axis as i64).collect()));
        let shape = squeezed.resolve(&self.shape)?;
        Ok(Self { items: self.items.reshape(&squeezed)?, shape })
    }

    pub(super) fn write(&self, out: &mut impl Write, options: &TextOptions) -> Result<()> {
        text::write_shown(out, &self.items, &self.shape, options).context("standard output")
    }
}

impl Show {
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let files = &self.files;
        check_stdin(files)?;
        let reader = OperandReader::new(io, &self.input, &self.threads)?;
        let asked = reader.asked(Reinterpret::Unsigned);
        reader.look_ahead(files, &self.taken, &asked);
        if self.image {
            return self.draw(&reader, files, &asked).map(|()| Outcome::Done);
        }
        let threshold = if self.all { None } else { Some(self.threshold.unwrap_or(TextOptions::NUMPY_THRESHOLD)) };
        let options = self.page.above(threshold);
        let mut out = BufWriter::new(io.stdout.clone());
        let mut outcome = Outcome::Done;
        // errors come after the text so far
        let mut tell = |out: &mut BufWriter<_>, error| {
            outcome = complain(&io.stderr, &error);
            out.flush().context("standard output")
        };
        let (mut taking, last) =
            (MemberSelection::new(&self.taken, self.sort == Some(ListOrder::Name)), files.len() - 1);
        for (number, file) in files.iter().enumerate() {
            let (input, members) = match open(&reader, file, &mut taking) {
                Ok(opened) => opened,
                Err(error) => {
                    tell(&mut out, error)?;
                    continue;
                }
            };
            if number == last
                && let Err(error) = taking.check(files)
            {
                tell(&mut out, error)?;
                break;
            }
            asked.look_at_all(&input, &members);
            for n in members {
                let read = || {
                    let ShownPart { title, source, places } = self.part(file, &input, n, &asked)?;
                    let selection = match self.at {
                        None => Selection::whole(source),
                        Some(_) => Selection::slice(source, &places.spans),
                    };
                    let items = ShownItems::read(selection, reader.run.limits, &options)?;
                    Ok((title, items.without(&places.dropped)?))
                };
                match read() {
                    Ok((title, items)) => {
                        writeln!(out, "{title}").context("standard output")?;
                        items.write(&mut out, &options)?;
                    }
                    Err(error) => tell(&mut out, error)?,
                }
            }
        }
        asked.finish()?;
        out.flush().context("standard output")?;
        Ok(outcome)
    }

    fn part(&self, file: &Operand, input: &Arc<Input>, n: usize, asked: &AskedDTypes<'_>) -> Result<ShownPart> {
        let source = Member::new(input, n).source(asked.of(input.name(n)))?;
        let places = match &self.at {
            None => ResolvedIndex::whole(source.shape()),
            Some(at) => at.args.resolve(source.shape(), &dims_of(&source)).map_err(|error| match error.subject() {
                Subject::Data => anyhow!("{}: {}", source.label(), error.message()),
                subject => anyhow!("{}: --{subject}: {}", source.label(), error.message()),
            })?,
        };
        let name = full_name(&file.file(input.member()), input.name(n));
        let (dtype, shape) = (source.dtype().native().name(), source.shape());
        let shown = |at: &At<BasicIndex>| format!(" at {} -> {:?}", printable(&at.text), places.shape());
        let at = self.at.as_ref().map_or(String::new(), shown);
        let title = format!("{name}: {} {shape:?}{at}", printable(&dtype));
        Ok(ShownPart { title, source, places })
    }

    fn draw(&self, reader: &OperandReader<'_>, files: &[Operand], asked: &AskedDTypes<'_>) -> Result<()> {
        let Run { io, limits, .. } = reader.run;
        let [file] = files else { bail!("--image: a picture shows one tensor, got {} files", files.len()) };
        if self.output.is_none() {
            ensure!(io.stdout.is_terminal(), "--image: standard output is not a terminal: use -o OUT.png");
            let no_colour = "NO_COLOR or TERM=dumb turns colours off, and a picture needs them";
            ensure!(io.is_coloured(), "--image: {no_colour}: use -o OUT.png");
        }
        let target = self.output.as_deref().map(|path| png_target(path, io)).transpose()?;
        let mut taking = MemberSelection::new(&self.taken, self.sort == Some(ListOrder::Name));
        let (input, members) = open(reader, file, &mut taking)?;
        taking.check(files)?;
        let [member] = members[..] else {
            let names: Vec<_> = members.iter().filter_map(|&n| input.name(n)).take(5).collect();
            let (label, count) = (input.label(), members.len());
            bail!("{label}: {count} tensors, and a picture shows one: name it after a colon: {} ...", names.join(", "))
        };
        let ShownPart { title, source, places } = self.part(file, &input, member, asked)?;
        asked.finish()?;
        let picture = Picture::new(source, places, if self.rgb { Drawn::Colours } else { Drawn::Numbers }, limits)?;
        let times = if self.range.is_some() { 1 } else { 2 };
        let meter = Meter::new(reader.run, Some(picture.bytes().saturating_mul(times)));
        let progress = |bytes| meter.add(bytes);
        let scale = picture.scale(self.range, &progress)?;
        let has_range = scale.is_some() || self.range.is_none();
        ensure!(has_range, "--range: {} is a picture in its own colours", input.label());
        let plane = match &picture.others[..] {
            [] => String::new(),
            others => format!(", plane {:?} of {others:?}", vec![0; others.len()]),
        };
        let Some(target) = target else {
            let mut out = BufWriter::new(io.stdout.clone());
            writeln!(out, "{title}{plane}").context("standard output")?;
            let terminal = terminal(io);
            terminal.draw(&picture, scale.as_ref(), &mut out, &progress)?;
            if let Some(averaged) = averaged(&picture, terminal.fit(picture.size).0) {
                writeln!(out, "{averaged}").context("standard output")?;
            }
            return out.flush().context("standard output");
        };
        let line = write_png(&picture, scale.as_ref(), &target, &progress)?;
        meter.finish();
        // if the PNG goes to standard output, the text is only in its metadata
        line.map_or(Ok(()), |line| writeln!(io.stdout.clone(), "{title}{plane}\n{line}").context("standard output"))
    }
}

fn open(
    reader: &OperandReader<'_>,
    file: &Operand,
    taking: &mut MemberSelection<'_>,
) -> Result<(Arc<Input>, Vec<usize>)> {
    let (input, members) = taking.open(|filter| reader.open(file, OpenMode::Taking(filter)))?;
    let members = members.ok_or_else(|| anyhow!("{}: holds no tensors", input.label()))?;
    Ok((input, members))
}

/// `None` if the picture goes to standard output.
pub(super) fn write_png(
    picture: &Picture,
    scale: Option<&Scale>,
    target: &Target,
    progress: Progress<'_>,
) -> Result<Option<String>> {
    let size = picture::file_size(picture);
    let drawn = averaged(picture, size);
    let mut sink = target.create()?;
    ensure!(!sink.is_terminal(), "standard output: is a terminal, and a PNG is binary: use -o OUT.png, or no -o");
    let mut out = BufWriter::new(&mut sink);
    let all = SpecialNumbers { nan: true, infinity: true, minus_infinity: true };
    let notes = |seen| colours(scale, seen).into_iter().chain(drawn.clone());
    let description = notes(all).collect::<Vec<_>>().join("; ");
    let seen = picture::write_file(picture, scale, &mut out, target.label(), description, progress)?;
    out.flush().with_context(|| format!("{}: cannot be written", target.label()))?;
    drop(out);
    let to_stdout = matches!(sink, OpenOutput::Stdout(_));
    sink.finish()?;
    let pixels = format!("{} x {} pixels", size.width, size.height);
    let line = std::iter::once(pixels).chain(notes(seen)).collect::<Vec<_>>().join("; ");
    Ok((!to_stdout).then(|| format!("{}: {line}", target.label())))
}

struct ShownPart {
    title: String,
    source: Source,
    places: ResolvedIndex,
}

pub(super) fn png_target(path: &Path, io: &Io) -> Result<Target> {
    if path == Path::new("-") {
        return Ok(Target::Stdout(io.stdout.clone()));
    }
    let label = format!("output {}", path.display());
    let target = Target::resolve(path, label, false)?;
    let is_png = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    if !is_png && !matches!(target, Target::Device { .. } | Target::Stdout(_)) {
        bail!("{}: a picture is written as PNG: give it a name that ends in .png", target.label());
    }
    Ok(target)
}

fn terminal(io: &Io) -> Terminal {
    let size = io.terminal.unwrap_or(TerminalSize { columns: 80, lines: 24 });
    Terminal { columns: size.columns, lines: size.lines, all_colours: io.environment.has_all_colours }
}

fn averaged(picture: &Picture, to: Size) -> Option<String> {
    let from = picture.size;
    (from != to).then(|| format!("averaged from {} x {} to {} x {}", from.width, from.height, to.width, to.height))
}

/// `None` for a picture in its own colours.
fn colours(scale: Option<&Scale>, seen: SpecialNumbers) -> Option<String> {
    let range = match scale?.texts() {
        Some((low, high)) => format!("dark to light: {low} to {high}"),
        None => "no finite item".to_owned(),
    };
    let special = seen.legend().map(|(name, word, _)| format!("{name}: {word}"));
    Some(std::iter::once(range).chain(special).collect::<Vec<_>>().join("; "))
}
