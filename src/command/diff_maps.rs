//! The map of `diff --map` and the picture of `diff --heatmap`.

use anyhow::Result;

use super::show::write_png;
use crate::diff::Options;
use crate::diff::maps::{self, Density};
use crate::ops::fill::Limits;
use crate::picture::Picture;
use crate::storage::source::Source;
use crate::storage::target::Target;

/// The largest map, which fits 80 columns with its frame. It does not depend on the terminal, so that a comparison
/// prints the same map everywhere.
const MAP_LINES: usize = 32;
const MAP_COLUMNS: usize = 74;

pub(super) fn map_lines(sources: [&mut Source; 2], options: &Options, limits: Limits) -> Result<Vec<String>> {
    let map = maps::density(sources, options, [MAP_LINES, MAP_COLUMNS], limits, &|_| ())?;
    Ok(map.as_ref().map_or_else(Vec::new, Density::lines))
}

pub(super) fn draw(sources: [Source; 2], options: &Options, target: &Target, limits: Limits) -> Result<Option<String>> {
    let picture = Picture::from_numbers(maps::error_plane(sources, options)?, limits)?;
    let scale = picture.scale(None, &|_| ())?;
    write_png(&picture, scale.as_ref(), target, &|_| ())
}
