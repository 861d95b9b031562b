//! Draws pictures on a terminal, two pixels per character.

use std::io::{self, Write};

use super::raster::Size;
use super::scale::{Rgb, viridis};
use super::{Picture, Scale, SpecialNumbers};
use crate::error::{Context, Result};
use crate::plans::job::Progress;

/// Fills the upper half.
const HALF: char = '\u{2580}';
/// Characters.
const BAR: usize = 24;
/// Dark and light pictures are both visible on it.
const BEHIND: u8 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub columns: usize,
    pub lines: usize,
    /// If false, the nearest of 256 colours is used.
    pub all_colours: bool,
}

impl Terminal {
    /// Wide pictures get the width of the terminal, and small ones grow until they fill it. High pictures scroll, up to
    /// a limit.
    pub(crate) fn fit(&self, from: Size) -> (Size, usize) {
        let columns = self.columns.max(1);
        if from.width >= columns {
            let height = (from.height as u128 * columns as u128).div_ceil(from.width as u128);
            let height = usize::try_from(height).unwrap_or(usize::MAX).clamp(1, 2 * columns);
            return (Size { width: columns, height }, 1);
        }
        let height = from.height.min(2 * columns);
        // One line each for the name, the legend and the prompt.
        let rows = 2 * self.lines.saturating_sub(3).max(1);
        let times = (columns / from.width).min(rows / height).max(1);
        (Size { height, ..from }, times)
    }

    fn colour(&self, layer: u8, [red, green, blue]: Rgb) -> String {
        match self.all_colours {
            true => format!("\x1b[{layer};2;{red};{green};{blue}m"),
            false => format!("\x1b[{layer};5;{}m", nearest([red, green, blue])),
        }
    }

    fn block(&self, colour: Rgb) -> String {
        format!("{}\u{2588}\x1b[0m", self.colour(38, colour))
    }

    pub(crate) fn draw(
        &self,
        picture: &Picture,
        scale: Option<&Scale>,
        out: &mut (dyn Write + Send),
        progress: Progress<'_>,
    ) -> Result<()> {
        let (size, times) = self.fit(picture.size);
        let mut page = PixelRows { terminal: *self, out, upper: None };
        // A single row fills both halves of its line.
        let repeat = if size.height == 1 { times.max(2) } else { times };
        let seen = picture.draw(scale, size, progress, &mut |row| {
            let row: Vec<Rgb> = row
                .chunks_exact(picture.channels())
                .flat_map(|pixel| std::iter::repeat_n(opaque(pixel), times))
                .collect();
            (0..repeat).try_for_each(|_| page.row(row.clone())).context("standard output")
        })?;
        page.finish().and_then(|()| self.legend(out, scale, seen)).context("standard output")
    }

    fn legend(&self, out: &mut (dyn Write + Send), scale: Option<&Scale>, seen: SpecialNumbers) -> io::Result<()> {
        let Some(scale) = scale else { return Ok(()) };
        let mut entries = Vec::new();
        match scale.texts() {
            Some((low, high)) => {
                let share = |i: usize| i as f64 / (BAR - 1) as f64;
                let bar: String = (0..BAR).map(|i| self.block(viridis(share(i)))).collect();
                entries.push(format!("{low} {bar} {high}"));
            }
            None => entries.push("no finite item".to_owned()),
        }
        entries.extend(seen.legend().map(|(name, _, colour)| format!("{} {name}", self.block(colour))));
        writeln!(out, "{}", entries.join("  "))
    }
}

fn opaque(pixel: &[u8]) -> Rgb {
    let opacity = u32::from(pixel.get(3).copied().unwrap_or(u8::MAX));
    let mix = |channel: u8| (u32::from(channel) * opacity + u32::from(BEHIND) * (255 - opacity) + 127) / 255;
    std::array::from_fn(|i| mix(pixel.get(i).copied().unwrap_or(0)) as u8)
}

struct PixelRows<'a> {
    terminal: Terminal,
    out: &'a mut (dyn Write + Send),
    upper: Option<Vec<Rgb>>,
}

impl PixelRows<'_> {
    fn row(&mut self, row: Vec<Rgb>) -> io::Result<()> {
        match self.upper.take() {
            None => self.upper = Some(row),
            Some(upper) => self.line(&upper, Some(&row))?,
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.upper.take().map_or(Ok(()), |upper| self.line(&upper, None))
    }

    /// Sets colours only where they change, because terminals parse them slowly.
    fn line(&mut self, upper: &[Rgb], lower: Option<&[Rgb]>) -> io::Result<()> {
        let mut line = String::new();
        let mut set = (None, None);
        for (i, &above) in upper.iter().enumerate() {
            let below = lower.and_then(|row| row.get(i).copied());
            if set.0 != Some(above) {
                line += &self.terminal.colour(38, above);
            }
            if let Some(below) = below.filter(|_| set.1 != below) {
                line += &self.terminal.colour(48, below);
            }
            set = (Some(above), below);
            line.push(HALF);
        }
        writeln!(self.out, "{line}\x1b[0m")
    }
}

/// A cube of 6 x 6 x 6 colours and greys.
fn nearest(colour: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let far = |other: Rgb| -> u32 { colour.iter().zip(other).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    let level = |channel: u8| (0..6).min_by_key(|&i| LEVELS[i].abs_diff(channel)).unwrap_or(0);
    let cube = colour.map(level);
    let in_cube = (far(cube.map(|i| LEVELS[i])), 16 + 36 * cube[0] + 6 * cube[1] + cube[2]);
    let greys = (0..24_usize).map(|i| (far([8 + 10 * i as u8; 3]), 232 + i));
    greys.chain([in_cube]).min_by_key(|(far, _)| *far).map_or(0, |(_, number)| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::dtype::DType;
    use crate::item::tensor::Tensor;
    use crate::operators::fill::Limits;
    use crate::ops::basic_index::ResolvedIndex;
    use crate::storage::source::Source;

    #[test]
    fn fits_the_width() {
        let terminal = Terminal { columns: 80, lines: 24, all_colours: true };
        let rows = [
            ((5, 2), (5, 2), 16),
            ((28, 28), (28, 28), 1),
            ((10, 10), (10, 10), 4),
            ((80, 80), (80, 80), 1),
            ((800, 400), (80, 40), 1),
            ((1000, 1), (80, 1), 1),
            ((1, 100_000), (1, 160), 1),
            ((1, 1), (1, 1), 42),
        ];
        for ((width, height), (to_width, to_height), times) in rows {
            let found = terminal.fit(Size { width, height });
            assert_eq!(found, (Size { width: to_width, height: to_height }, times), "{width} x {height}");
        }
    }

    fn drawn(shape: &[usize], bytes: &[u8], terminal: Terminal) -> String {
        let tensor = Tensor::new(DType::parse("uint8").unwrap(), shape.to_vec(), bytes.to_vec()).unwrap();
        let places = ResolvedIndex::whole(shape);
        let source = Source::memory(tensor, "data".to_owned());
        let picture = Picture::new(source, places, crate::picture::Drawn::Numbers, Limits::default()).unwrap();
        let scale = picture.scale(None, &|_| ()).unwrap();
        let mut out = Vec::new();
        terminal.draw(&picture, scale.as_ref(), &mut out, &|_| ()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn two_pixels_a_character() {
        let terminal = Terminal { columns: 2, lines: 9, all_colours: true };
        // The last of three rows fills only an upper half.
        let colours = [[1, 2, 3], [1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [1, 1, 1]].concat();
        let expected = "\x1b[38;2;1;2;3m\x1b[48;2;4;5;6m\u{2580}\x1b[48;2;7;8;9m\u{2580}\x1b[0m\n\
                        \x1b[38;2;1;1;1m\u{2580}\u{2580}\x1b[0m\n";
        assert_eq!(drawn(&[3, 2, 3], &colours, terminal), expected);
        let found = drawn(&[1, 2, 4], &[255, 0, 0, 128, 0, 0, 0, 255], terminal);
        let expected =
            "\x1b[38;2;192;64;64m\x1b[48;2;192;64;64m\u{2580}\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m\u{2580}\x1b[0m\n";
        assert_eq!(found, expected);
        let numbers = drawn(&[2], &[5, 9], Terminal { all_colours: false, ..terminal });
        let (picture, legend) = numbers.split_once('\n').unwrap();
        assert_eq!(picture, "\x1b[38;5;53m\x1b[48;5;53m\u{2580}\x1b[38;5;220m\x1b[48;5;220m\u{2580}\x1b[0m");
        assert!(legend.starts_with("5 \x1b[38;5;53m\u{2588}") && legend.ends_with("\u{2588}\x1b[0m 9\n"), "{legend:?}");
    }

    #[test]
    fn one_of_256_colours() {
        let rows =
            [([0, 0, 0], 16), ([255, 255, 255], 231), ([128, 128, 128], 244), ([220, 30, 30], 160), ([68, 1, 84], 53)];
        for (colour, number) in rows {
            assert_eq!(nearest(colour), number, "{colour:?}");
        }
    }
}
