//! Tensors as pictures. A [`Picture`] reads a plane of a tensor window by window. All threads determine its [`Scale`];
//! then its rows are averaged down and passed to a terminal ([`blocks`]) or a file ([`write_file`]). Memory holds only a
//! window and a row.

pub(crate) mod blocks;
mod raster;
pub(crate) mod scale;

use std::io::Write;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

pub(crate) use self::raster::Size;
pub(crate) use self::scale::{Scale, SpecialNumbers};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::item::dtype::{DType, Kind};
use crate::item::load::Load;
use crate::operators::fill::{Fill, Limits};
use crate::operators::selection::Selection;
use crate::ops::basic_index::ResolvedIndex;
use crate::parallel::Threads;
use crate::plans::job::{Job, Progress};
use crate::plans::plan::SinkKind;
use crate::storage::source::{Hold, Source};

pub(crate) struct Picture {
    job: Job,
    dtype: DType,
    pub size: Size,
    read: Load<f64>,
    paint: Paint,
    /// The dims of the axes not drawn; empty if all are 1.
    pub others: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Paint {
    Heat,
    Channels {
        /// 3, or 4 with opacity.
        count: usize,
        /// Whether items are floats from 0 to 1 instead of bytes.
        is_unit: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// Numbers, unless a uint8 tensor has 3 or 4 channels last.
    Numbers,
    /// Channels are the last axis, or the last axis but two.
    Colours,
}

impl Picture {
    /// Draws the last two axes that `places` keeps, at index 0 of the others. A uint8 tensor with a last axis of 3 or
    /// 4, and axes of 1 before the last three, is drawn in colours. With [`Drawn::Colours`], the last three axes must
    /// be colours.
    pub(crate) fn new(mut source: Source, places: ResolvedIndex, drawn: Drawn, limits: Limits) -> Result<Self> {
        let (dtype, label) = (source.dtype().clone(), source.label().to_owned());
        let refuse = |why: String| Err(Error::from_kind(ErrorKind::Unsupported, why).within(label.as_str()));
        let (shape, kept) = (places.shape(), places.kept());
        let ResolvedIndex { mut spans, dropped: mut axes } = places;
        if shape.contains(&0) {
            return refuse(format!("{shape:?} has no items, and a picture needs some"));
        }
        let rank = shape.len();
        let (mut is_last, is_float) = (true, is_float(dtype.kind()));
        let (paint, drawn) = match (&shape[..], dtype.kind()) {
            ([before @ .., _, _, 3 | 4], Kind::UInt8)
                if drawn == Drawn::Numbers && before.iter().all(|&dim| dim == 1) =>
            {
                (Paint::Channels { count: shape[rank - 1], is_unit: false }, 3)
            }
            ([.., first, _, last], kind)
                if drawn == Drawn::Colours
                    && (is_float || *kind == Kind::UInt8)
                    && (matches!(last, 3 | 4) || matches!(first, 3 | 4)) =>
            {
                is_last = matches!(last, 3 | 4);
                let count = if is_last { *last } else { *first };
                (Paint::Channels { count, is_unit: is_float }, 3)
            }
            _ if drawn == Drawn::Colours => {
                let expected = "[3, H, W], [4, H, W], [H, W, 3] or [H, W, 4] of uint8, or of floats from 0 to 1";
                return refuse(format!("{} {shape:?} is not a colour picture, expected {expected}", dtype.name()));
            }
            _ => (Paint::Heat, 2),
        };
        let Some(read) = scale::reader(&dtype) else {
            let why = format!("dtype {} cannot be drawn", dtype.name());
            return Err(dtype.advise(Error::from_kind(ErrorKind::Unsupported, why)).within(label));
        };
        let others = rank.saturating_sub(drawn);
        for &axis in &kept[..others] {
            spans[axis].len = 1;
        }
        let dim = |back: usize| rank.checked_sub(back).map_or(1, |axis| shape[axis]);
        let size = match paint {
            Paint::Channels { .. } if is_last => Size { width: dim(2), height: dim(3) },
            Paint::Heat | Paint::Channels { .. } => Size { width: dim(1), height: dim(2) },
        };
        source.hold(Hold::Seekable, Threads::default())?;
        let mut fill = if spans.is_empty() { Selection::whole(source) } else { Selection::slice(source, &spans) };
        // Dropped axes have dim 1 and move to the front.
        match &kept[..] {
            // The channels of a pixel must be adjacent.
            [before @ .., channel, row, column] if !is_last => axes.extend(before.iter().chain([row, column, channel])),
            all => axes.extend(all),
        }
        if !axes.is_sorted() {
            fill = fill.along(&axes.into_iter().map(Some).collect::<Vec<_>>());
        }
        let mut job = Job::new(Box::new(fill), limits);
        job.begin(&job.plan(SinkKind::Stream))?;
        let others = if shape[..others].iter().all(|&dim| dim == 1) { Vec::new() } else { shape[..others].to_vec() };
        Ok(Self { job, dtype, size, read, paint, others })
    }

    /// Draws numbers with one or two axes.
    pub(crate) fn from_numbers(fill: Box<dyn Fill>, limits: Limits) -> Result<Self> {
        let dtype = fill.meta().dtype.clone();
        let read = scale::reader(&dtype).ok_or_else(|| Error::from_kind(ErrorKind::Unsupported, "no numbers"))?;
        let dim = |back: usize| fill.meta().shape.iter().rev().nth(back - 1).copied().unwrap_or(1);
        let size = Size { width: dim(1), height: dim(2) };
        let mut job = Job::new(fill, limits);
        job.begin(&job.plan(SinkKind::Stream))?;
        Ok(Self { job, dtype, size, read, paint: Paint::Heat, others: Vec::new() })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.job.meta().bytes()
    }

    /// Bytes per pixel: red, green, blue, and possibly opacity.
    pub(crate) fn channels(&self) -> usize {
        match self.paint {
            Paint::Heat => 3,
            Paint::Channels { count, .. } => count,
        }
    }

    /// The requested range, or the range of the finite numbers. `None` for colours; float colours must be from 0 to 1.
    pub(crate) fn scale(&self, range: Option<(f64, f64)>, progress: Progress<'_>) -> Result<Option<Scale>> {
        match (self.paint, range) {
            (Paint::Channels { is_unit: false, .. }, _) => Ok(None),
            (Paint::Channels { is_unit: true, count }, _) => self.check_unit(count, progress).map(|()| None),
            (Paint::Heat, Some((low, high))) => Ok(Some(Scale::from_range(low, high))),
            (Paint::Heat, None) => scale::find(&self.job, &self.dtype, &self.read, progress).map(Some),
        }
    }

    /// Runs before any drawing.
    fn check_unit(&self, channels: usize, progress: Progress<'_>) -> Result<()> {
        let (mut numbers, mut first) = (Vec::new(), 0);
        self.job.stream(&self.job.plan(SinkKind::Stream), progress, &mut |items| {
            (self.read)(items, &mut numbers);
            if let Some(at) = numbers.iter().position(|number| !(0.0..=1.0).contains(number)) {
                let (pixel, channel) = ((first + at) / channels, (first + at) % channels);
                let (row, column) = (pixel / self.size.width, pixel % self.size.width);
                let why = format!(
                    "{} at row {row}, column {column} of channel {channel}: a picture of floats has them from 0 to 1",
                    numbers[at]
                );
                return Err(Error::from_kind(ErrorKind::Unsupported, why).within(self.job.fill().data().label()));
            }
            first += numbers.len();
            Ok(())
        })
    }

    /// Averages rows down to the size `to`, which must not exceed the picture. Returns the kinds of non-finite numbers.
    pub(crate) fn draw(
        &self,
        scale: Option<&Scale>,
        to: Size,
        progress: Progress<'_>,
        take: &mut raster::TakeRow<'_>,
    ) -> Result<SpecialNumbers> {
        let (channels, is_unit) = match self.paint {
            Paint::Heat => (1, false),
            Paint::Channels { count, is_unit } => (count, is_unit),
        };
        let mut raster = raster::Raster::new(self.size, to, channels, scale, take);
        let mut numbers = Vec::new();
        self.job.stream(&self.job.plan(SinkKind::Stream), progress, &mut |items| {
            (self.read)(items, &mut numbers);
            if is_unit {
                numbers.iter_mut().for_each(|number| *number *= 255.0);
            }
            raster.add(&numbers)
        })?;
        Ok(raster.seen())
    }
}

fn is_float(kind: &Kind) -> bool {
    matches!(kind, Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64)
}

/// Pixels. Longer sides are averaged down, because few viewers open larger pictures.
pub(crate) const MAX_SIDE: usize = 4096;

pub(crate) fn file_size(picture: &Picture) -> Size {
    picture.size.at_most(MAX_SIDE)
}

pub(crate) fn write_file(
    picture: &Picture,
    scale: Option<&Scale>,
    out: &mut (dyn Write + Send),
    label: &str,
    description: String,
    progress: Progress<'_>,
) -> Result<SpecialNumbers> {
    let failed = |error: EncodingError| Error::from(std::io::Error::from(error)).within(failed_label(label));
    let size = file_size(picture);
    let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
    let mut encoder = Encoder::new(out, side(size.width), side(size.height));
    encoder.set_color(if picture.channels() == 4 { ColorType::Rgba } else { ColorType::Rgb });
    encoder.set_depth(BitDepth::Eight);
    // The default compression takes most of the time.
    encoder.set_compression(Compression::Fast);
    encoder.add_itxt_chunk("Description".to_owned(), description).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    let mut stream = writer.stream_writer().map_err(failed)?;
    let seen =
        picture.draw(scale, size, progress, &mut |row| stream.write_all(row).with_context(|| failed_label(label)))?;
    stream.finish().map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(seen)
}

fn failed_label(label: &str) -> String {
    format!("{label}: cannot be written")
}
