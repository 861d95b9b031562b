//! Writes pictures as PNG.

use std::io::Write;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use super::raster::Size;
use super::{Picture, Scale, SpecialNumbers};
use crate::engine::job::Progress;
use crate::error::{Context, Error, Result};

/// Pixels. Longer sides are averaged down, because few viewers open larger pictures.
pub(crate) const MAX_SIDE: usize = 4096;

pub(crate) fn size(picture: &Picture) -> Size {
    picture.size().at_most(MAX_SIDE)
}

pub(crate) fn write(
    picture: &Picture,
    scale: Option<&Scale>,
    out: &mut (dyn Write + Send),
    label: &str,
    description: String,
    progress: Progress<'_>,
) -> Result<SpecialNumbers> {
    let failed = |error: EncodingError| Error::from(std::io::Error::from(error)).within(failed_label(label));
    let size = size(picture);
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
