//! From a job to its output: format, target, and what `--dry-run` says of them.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::dry_run::Report;
use super::meter::Meter;
use super::options::output::{OutputFormat, OutputOptions};
use crate::DType;
use crate::engine::job::{Change, Job, Options, Progress, room_for};
use crate::error::{Error, ErrorKind};
use crate::format::packed::{Packer, bits, packed_bytes};
use crate::format::text::{self, TextOptions};
use crate::format::{json, npy, npz, onnx, safetensors};
use crate::item::dtype::Kind;
use crate::item::meta::{Meta, Order};
use crate::item::tensor::Tensor;
use crate::layout::view::View;
use crate::storage::platform::reserve;
use crate::storage::platform::{same_file, write_at};
use crate::storage::signals;
use crate::storage::source::Source;
use crate::storage::target::{Sink, Target};

/// NumPy's own limit above which arrays are elided.
const TERMINAL_THRESHOLD: usize = 1000;

/// Items of no bytes take no room in a file, but all of it in a text.
const MOST_EMPTY_ITEMS: usize = 1 << 24;

/// A tensor of the output, resolved.
pub struct Work {
    pub data: Source,
    /// The items of the data that the output begins with.
    pub view: View,
    pub change: Change,
    pub options: Options,
    pub recast: Recast,
}

/// What becomes of the items of an output, and how they are arranged.
#[derive(Clone, Debug, Default)]
pub struct Recast {
    /// The dtype that values are cast to, and whether they may lose by it.
    pub cast: Option<(DType, bool)>,
    /// Whether numbers are written with the highest byte first; `None` leaves it as it is.
    pub big_endian: Option<bool>,
    /// The order of the items.
    pub order: Order,
}

impl Work {
    /// The dtype of the output in a format.
    fn dtype(&self, format: OutputFormat) -> DType {
        let dtype = self.recast.cast.as_ref().map_or(self.data.dtype(), |(dtype, _)| dtype);
        match (format, self.recast.big_endian) {
            (OutputFormat::Safetensors | OutputFormat::Pb, _) | (_, Some(false)) => dtype.native(),
            (_, Some(true)) => dtype.big_endian(),
            (_, None) => dtype.clone(),
        }
    }

    /// The dims of the output.
    fn shape(&self) -> Vec<usize> {
        let mut shape = self.view.shape();
        if self.recast.order == Order::Fortran {
            shape.reverse();
        }
        shape
    }
}

/// Writes the output where and as the options say, or says what would be written. Tensors without a name get one
/// where the format has names.
pub fn emit(
    mut works: Vec<(Option<String>, Work)>,
    options: &OutputOptions,
    quiet: bool,
    mut report: Report,
) -> Result<()> {
    if let [(_, work)] = &works[..]
        && work.options.in_place
    {
        return works.pop().map_or(Ok(()), |(_, work)| edit(work, options, quiet, report));
    }
    let target = match options.output.as_deref() {
        None => Target::Stdout,
        Some(dash) if dash == Path::new("-") => Target::Stdout,
        Some(path) => resolve(path, options.no_clobber)?,
    };
    let format = options.format()?;
    let label = target.label().to_owned();
    let works = named(works, format).with_context(|| label.clone())?;
    for (_, work) in &works {
        check(format, work).map_err(|message| anyhow!("{label}: {message}"))?;
    }
    check_replaced(&target, &works)?;
    let mut jobs = Vec::with_capacity(works.len());
    for (name, work) in works {
        let (dtype, lossy) = (work.dtype(format), work.recast.cast.as_ref().is_some_and(|(_, lossy)| *lossy));
        let (shape, source) = (work.shape(), work.data.label().to_owned());
        let job = Job::new(work.data, work.view, work.change, work.options)?;
        let job = job.cast_to(dtype, lossy).map_err(|e| anyhow!("{source}: {}", e.message()))?;
        jobs.push(Output { name, shape, order: work.recast.order, job });
    }
    let by_items = format.is_binary() && jobs.iter().all(|output| !output.is_text(format));
    let plan = by_items.then(|| Plan::new(&jobs, format).with_context(|| label.clone())).transpose()?;
    if options.dry_run {
        for output in &jobs {
            let (dtype, shape) = (output.job.dtype(), &output.shape);
            let items = shape.iter().product::<usize>();
            let bytes = packed_bits(dtype, format).map_or(output.job.bytes(), |bits| packed_bytes(items, bits));
            output.job.finish(true)?;
            let member = if format.is_container() { format!(" {:?}:", output.name) } else { String::new() };
            report.line(format!("{label}:{member} {} of {dtype} {shape:?}, {bytes} bytes of data", format.name()));
        }
        if let Some(sink) = target.probe()? {
            check_binary(&sink, format)?;
        }
        return report.print();
    }
    let mut sink = target.create()?;
    check_binary(&sink, format)?;
    let meter = Meter::new(Some(jobs.iter().map(|output| output.job.bytes()).sum()), quiet);
    let progress = |bytes| meter.add(bytes);
    let failed = || format!("{label}: cannot be written");
    let written = |error: io::Error| Error::from(error).within(failed());
    if let Some(plan) = plan {
        match sink.as_file() {
            Some(file) => plan.write(&jobs, file, &label, &progress)?,
            None if plan.archive.is_some() => {
                // it begins with what is known when all is written
                let mut file = tempfile::tempfile().with_context(failed)?;
                plan.write(&jobs, &file, &label, &progress)?;
                file.rewind().and_then(|()| io::copy(&mut file, &mut sink)).with_context(failed)?;
            }
            None => plan.stream(&jobs, &mut |bytes| sink.write_all(bytes).map_err(written), &progress)?,
        }
        return Ok(sink.finish()?);
    }
    for Output { name, shape, job, .. } in jobs {
        let mut bytes = room_for(job.bytes(), &format!("{label} as {}", format.name()))?;
        job.stream(&progress, |window| {
            bytes.extend_from_slice(window);
            Ok(())
        })?;
        meter.finish();
        let tensor = Tensor::new(job.dtype().clone(), shape, bytes).ok_or_else(|| anyhow!("{label}: no tensor"))?;
        match format {
            OutputFormat::Json => json::write(&mut sink, &tensor).with_context(failed)?,
            OutputFormat::Pb => {
                let message = onnx::write_strings(tensor.shape(), &name, &tensor).with_context(|| label.clone())?;
                sink.write_all(&message).with_context(failed)?;
            }
            _ => {
                let elided = sink.is_terminal().then_some(TERMINAL_THRESHOLD);
                let layout = TextOptions {
                    threshold: options.threshold.or(elided),
                    edgeitems: options.edgeitems,
                    linewidth: options.linewidth,
                    precision: options.precision,
                };
                text::write(&mut sink, &tensor, &layout).with_context(failed)?;
            }
        }
    }
    Ok(sink.finish()?)
}

/// What the output goes to.
fn resolve(path: &Path, no_clobber: bool) -> Result<Target> {
    Target::resolve(path, format!("output {}", path.display()), no_clobber).map_err(|error| match error.kind() {
        ErrorKind::Io(io::ErrorKind::AlreadyExists) => anyhow!("{error}, and --no-clobber keeps it"),
        _ => error.into(),
    })
}

/// Refuses to show a person what is not meant to be read by people.
fn check_binary(sink: &Sink<'_>, format: OutputFormat) -> Result<()> {
    if format.is_binary() && sink.is_terminal() {
        let label = if matches!(sink, Sink::Stdout(_)) { Target::Stdout.label() } else { "output" };
        bail!("{label}: is a terminal, and the output is binary: use -o FILE");
    }
    Ok(())
}

/// Refuses to replace a file of several tensors, of which one is an input, by one that has fewer.
fn check_replaced(target: &Target, works: &[(String, Work)]) -> Result<()> {
    let Some(existing) = target.existing() else { return Ok(()) };
    let tensors = |source: &Source| {
        source.container().filter(|container| same_file(&container.file, existing)).map(|container| container.tensors)
    };
    let inputs = works.iter().flat_map(|(_, work)| std::iter::once(&work.data).chain(work.change.updates()));
    let Some(there) = inputs.into_iter().find_map(tensors) else { return Ok(()) };
    let kept = works.iter().filter(|(_, work)| tensors(&work.data).is_some()).count();
    if kept < there {
        let (label, lost) = (target.label(), there - kept);
        bail!("{label}: holds {lost} more tensors, which would be lost: choose another file (or --in-place)");
    }
    Ok(())
}

/// Changes the data where it lies.
fn edit(work: Work, options: &OutputOptions, quiet: bool, mut report: Report) -> Result<()> {
    let Work { data, view, change, options: how, .. } = work;
    let label = data.label().to_owned();
    if options.dry_run {
        change.finish()?;
        report.line(format!("output: {label} changed in place, {} {:?}", data.dtype(), data.shape()));
        return report.print();
    }
    let job = Job::new(data, view, change, how)?;
    let (file, start) = job.data().as_file().ok_or_else(|| anyhow!("{label}: no file"))?;
    let meter = Meter::new(None, quiet);
    signals::survive_size_limit();
    Ok(job.edit(file, &label, start, &|bytes| meter.add(bytes))?)
}

/// Gives tensors the names they are written under, and sorts them by these in an archive.
fn named(works: Vec<(Option<String>, Work)>, format: OutputFormat) -> Result<Vec<(String, Work)>> {
    if works.len() != 1 && !format.is_container() {
        bail!("{} tensors, and only .npz and .safetensors hold several", works.len());
    }
    let mut unnamed = 0..;
    let mut named: Vec<_> = works
        .into_iter()
        .map(|(name, work)| match name {
            Some(name) => (name, work),
            None if format.is_container() => (format!("arr_{}", unnamed.next().unwrap_or(0)), work),
            None => (String::new(), work),
        })
        .collect();
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    match named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(twice) => bail!("two tensors are called {:?}", twice[0].0),
        None => Ok(named),
    }
}

/// Whether a format can hold a tensor.
fn check(format: OutputFormat, work: &Work) -> Result<(), String> {
    let dtype = work.dtype(format);
    let checked = match format {
        OutputFormat::Npy | OutputFormat::Npz => Ok(()),
        OutputFormat::Json => json::check(&dtype),
        OutputFormat::Text => text::check(&dtype),
        OutputFormat::Safetensors => safetensors::check(&dtype),
        OutputFormat::Pb => onnx::check(&dtype),
    };
    checked.map_err(|e| e.message().to_owned())?;
    if !matches!(format, OutputFormat::Npy | OutputFormat::Npz) {
        if work.recast.order == Order::Fortran {
            return Err(format!("{} is always in C order", format.name()));
        }
        if work.recast.big_endian == Some(true) {
            return Err(format!("{} is never big-endian", format.name()));
        }
    }
    let items = work.view.items();
    if !format.is_binary() && dtype.itemsize() == 0 && items > MOST_EMPTY_ITEMS {
        return Err(format!("{items} items of no bytes are too many to print"));
    }
    Ok(())
}

/// A tensor about to be written.
struct Output {
    name: String,
    shape: Vec<usize>,
    order: Order,
    job: Job,
}

impl Output {
    /// Whether it is written as text, which has no fixed place for an item.
    fn is_text(&self, format: OutputFormat) -> bool {
        format == OutputFormat::Pb && matches!(self.job.dtype().kind(), Kind::Str(_) | Kind::Bytes(_))
    }
}

/// How many bits an item takes in a file, if several share a byte.
fn packed_bits(dtype: &DType, format: OutputFormat) -> Option<u32> {
    let packs = matches!(format, OutputFormat::Safetensors | OutputFormat::Pb);
    Some(bits(dtype)).filter(|&bits| packs && bits < 8)
}

/// Where everything goes in a binary file.
struct Plan {
    header: Vec<u8>,
    /// Where the items of each tensor begin.
    places: Vec<u64>,
    /// The bits of each tensor's items, if they share bytes.
    packed: Vec<Option<u32>>,
    /// The bytes of all.
    bytes: u64,
    archive: Option<npz::Writer>,
}

impl Plan {
    fn new(outputs: &[Output], format: OutputFormat) -> Result<Self> {
        let packed: Vec<_> = outputs.iter().map(|output| packed_bits(output.job.dtype(), format)).collect();
        let (mut header, mut places, mut archive) = (Vec::new(), Vec::new(), None);
        let meta = |o: &Output| Meta::new(o.job.dtype().clone(), o.shape.clone()).in_order(o.order);
        let npy = |o: &Output| npy::write_header(&meta(o));
        match format {
            OutputFormat::Safetensors => {
                let member = |o: &Output| (o.name.clone(), meta(o));
                (header, places) = safetensors::write_header(&outputs.iter().map(member).collect::<Vec<_>>())?;
            }
            OutputFormat::Npz => {
                let member = |o: &Output| (o.name.clone(), npy(o), o.job.bytes() as u64);
                let writer = npz::Writer::new(outputs.iter().map(member).collect())?;
                places = (0..outputs.len()).map(|n| writer.items_at(n)).collect();
                archive = Some(writer);
            }
            _ => {
                for output in outputs {
                    header = match format {
                        OutputFormat::Pb => onnx::write_header(output.job.dtype(), &output.shape, &output.name)?,
                        _ => npy(output),
                    };
                    places.push(header.len() as u64);
                }
            }
        }
        let ends = outputs.iter().zip(&places).zip(&packed).map(|((output, &place), packed)| {
            let items = output.shape.iter().product::<usize>();
            place + packed.map_or(output.job.bytes(), |bits| packed_bytes(items, bits)) as u64
        });
        let bytes = archive.as_ref().map_or(ends.max().unwrap_or(header.len() as u64), npz::Writer::len);
        Ok(Self { header, places, packed, bytes, archive })
    }

    /// Writes all to an empty file.
    fn write(&self, outputs: &[Output], file: &File, label: &str, progress: Progress<'_>) -> Result<()> {
        let failed = || format!("{label}: cannot be written");
        if let ([output], [None], None) = (outputs, &self.packed[..], &self.archive) {
            return Ok(output.job.write(file, label, &self.header, progress)?);
        }
        reserve(file, self.bytes).with_context(failed)?;
        write_at(file, &self.header, 0).with_context(failed)?;
        for ((output, &place), packed) in outputs.iter().zip(&self.places).zip(&self.packed) {
            let mut at = place;
            let put = &mut |bytes: &[u8]| {
                write_at(file, bytes, at).map_err(|error| Error::from(error).within(failed()))?;
                at += bytes.len() as u64;
                Ok(())
            };
            match packed {
                None => output.job.write_part(file, label, place, progress)?,
                Some(bits) => pack(&output.job, *bits, put, progress)?,
            }
        }
        self.archive.as_ref().map_or(Ok(()), |archive| archive.finish(file)).with_context(failed)
    }

    /// Hands all to `put`, from front to back.
    fn stream(
        &self,
        outputs: &[Output],
        put: &mut dyn FnMut(&[u8]) -> crate::error::Result<()>,
        progress: Progress<'_>,
    ) -> Result<()> {
        put(&self.header)?;
        let mut order: Vec<usize> = (0..outputs.len()).collect();
        order.sort_by_key(|&n| self.places[n]);
        for n in order {
            match self.packed[n] {
                None => outputs[n].job.stream(progress, &mut *put)?,
                Some(bits) => pack(&outputs[n].job, bits, put, progress)?,
            }
        }
        Ok(())
    }
}

/// Hands the items of a job to `put`, several to a byte.
fn pack(
    job: &Job,
    bits: u32,
    put: &mut dyn FnMut(&[u8]) -> crate::error::Result<()>,
    progress: Progress<'_>,
) -> Result<()> {
    let (mut packer, mut bytes) = (Packer::new(bits), Vec::new());
    job.stream(progress, |window| {
        bytes.clear();
        packer.push(window, &mut bytes);
        put(&bytes)
    })?;
    bytes.clear();
    packer.finish(&mut bytes);
    Ok(put(&bytes)?)
}
