//! Where two tensors differ, as `diff --map` prints it and `--heatmap` draws it.

use anyhow::Result;

use super::show::write_png;
use crate::diff::Options;
use crate::diff::maps::{self, Density};
use crate::ops::fill::Limits;
use crate::picture::Picture;
use crate::storage::source::Source;
use crate::storage::target::Target;

/// The most characters of a map down and across, which with its frame fits 80 columns. It does not follow the terminal,
/// so that the same comparison prints the same map everywhere.
const MAP_LINES: usize = 32;
const MAP_COLUMNS: usize = 74;

/// Returns the lines of a map with the density of mismatches.
pub(super) fn map_lines(sources: [&mut Source; 2], options: &Options, limits: Limits) -> Result<Vec<String>> {
    let map = maps::density(sources, options, [MAP_LINES, MAP_COLUMNS], limits, &|_| ())?;
    Ok(map.as_ref().map_or_else(Vec::new, Density::lines))
}

/// Draws the errors of two tensors to a PNG file. Returns a line about it, if there is something to say.
pub(super) fn draw(sources: [Source; 2], options: &Options, target: &Target, limits: Limits) -> Result<Option<String>> {
    let picture = Picture::from_numbers(maps::error_plane(sources, options)?, limits)?;
    let scale = picture.scale(None, &|_| ())?;
    write_png(&picture, scale.as_ref(), target, &|_| ())
}
