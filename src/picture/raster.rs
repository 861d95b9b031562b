//! Averages items to rows of pixels.

use super::scale::{Colours, INFINITY, MINUS_INFINITY, NAN, Rgb, Scale, SpecialNumbers, nearest};
use crate::error::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: usize,
    pub height: usize,
}

impl Size {
    pub(crate) fn at_most(self, most: usize) -> Self {
        Self { width: self.width.min(most), height: self.height.min(most) }
    }
}

pub(crate) type TakeRow<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

struct AxisPixels {
    /// The first index of each pixel, then the dim.
    firsts: Vec<usize>,
    place: usize,
    pixel: usize,
}

impl AxisPixels {
    fn new(from: usize, to: usize) -> Self {
        Self { firsts: (0..=to).map(|pixel| first(pixel, from, to)).collect(), place: 0, pixel: 0 }
    }

    fn pixels(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Indices left in the pixel.
    fn left(&self) -> usize {
        self.firsts[self.pixel + 1] - self.place
    }

    fn is_one_to_one(&self) -> bool {
        self.firsts.last() == Some(&self.pixels())
    }

    /// Returns true at the end of the pixel. Wraps around after the last pixel.
    fn advance(&mut self, places: usize) -> bool {
        self.place += places;
        if self.left() > 0 {
            return false;
        }
        self.pixel += 1;
        self.begin_again();
        true
    }

    /// Only for one index per pixel.
    fn advance_pixels(&mut self, pixels: usize) {
        self.place += pixels;
        self.pixel += pixels;
        self.begin_again();
    }

    fn begin_again(&mut self) {
        if self.pixel == self.pixels() {
            (self.place, self.pixel) = (0, 0);
        }
    }
}

pub(super) struct Raster<'a, 'b> {
    /// 1, or the number of colour channels.
    channels: usize,
    /// `None` if the numbers are colour channels.
    colours: Option<Colours>,
    take: &'a mut TakeRow<'b>,
    /// Sums of finite numbers by pixel and channel.
    sums: Vec<f64>,
    counts: Vec<u64>,
    special: Vec<SpecialNumbers>,
    has_special: bool,
    pixels: Vec<u8>,
    seen: SpecialNumbers,
    /// The next number.
    rows: AxisPixels,
    columns: AxisPixels,
    channel: usize,
}

impl<'a, 'b> Raster<'a, 'b> {
    /// `to` must not exceed `from`.
    pub(super) fn new(from: Size, to: Size, channels: usize, scale: Option<&Scale>, take: &'a mut TakeRow<'b>) -> Self {
        let width = to.width;
        Self {
            channels,
            colours: scale.map(Colours::new),
            take,
            sums: vec![0.0; width * channels],
            counts: vec![0; width],
            special: vec![SpecialNumbers::default(); width],
            has_special: false,
            pixels: Vec::new(),
            seen: SpecialNumbers::default(),
            rows: AxisPixels::new(from.height, to.height),
            columns: AxisPixels::new(from.width, width),
            channel: 0,
        }
    }

    pub(super) fn seen(&self) -> SpecialNumbers {
        self.seen
    }

    pub(super) fn add(&mut self, numbers: &[f64]) -> Result<()> {
        let mut rest = numbers;
        let is_one_to_one = self.channels == 1 && self.columns.is_one_to_one();
        while !rest.is_empty() {
            if is_one_to_one {
                let (now, later) = rest.split_at((self.columns.pixels() - self.columns.pixel).min(rest.len()));
                rest = later;
                self.add_to_pixels(now);
                self.columns.advance_pixels(now.len());
                if self.columns.place == 0 && self.rows.advance(1) {
                    self.emit()?;
                }
                continue;
            }
            let most = if self.channels == 1 { self.columns.left() } else { 1 };
            let (now, later) = rest.split_at(most.min(rest.len()));
            rest = later;
            self.add_to_pixel(now);
            self.channel += 1;
            if self.channel < self.channels {
                continue;
            }
            self.channel = 0;
            let is_row_complete = self.columns.advance(now.len()) && self.columns.place == 0;
            if is_row_complete && self.rows.advance(1) {
                self.emit()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn add_to_pixel(&mut self, numbers: &[f64]) {
        let pixel = self.columns.pixel;
        let (mut sum, mut count) = (self.sums[pixel * self.channels + self.channel], 0);
        for &number in numbers {
            let is_finite = number.is_finite();
            // A sum is never -0.0, so adding 0 preserves its bits.
            sum += if is_finite { number } else { 0.0 };
            count += usize::from(is_finite);
        }
        self.sums[pixel * self.channels + self.channel] = sum;
        self.counts[pixel] += if self.channel == 0 { count as u64 } else { 0 };
        if count < numbers.len() {
            self.has_special = true;
            numbers.iter().for_each(|&number| self.special[pixel].add(number));
        }
    }

    fn add_to_pixels(&mut self, numbers: &[f64]) {
        let pixels = self.columns.pixel..self.columns.pixel + numbers.len();
        let mut are_finite = true;
        let places = self.sums[pixels.clone()].iter_mut().zip(&mut self.counts[pixels.clone()]);
        for ((sum, count), &number) in places.zip(numbers) {
            let is_finite = number.is_finite();
            *sum += if is_finite { number } else { 0.0 };
            *count += u64::from(is_finite);
            are_finite &= is_finite;
        }
        if !are_finite {
            self.has_special = true;
            self.special[pixels].iter_mut().zip(numbers).for_each(|(special, &number)| special.add(number));
        }
    }

    fn emit(&mut self) -> Result<()> {
        let places = self.sums.chunks_exact(self.channels).zip(&self.counts);
        match &mut self.colours {
            None => {
                self.pixels.clear();
                self.pixels
                    .extend(places.flat_map(|(sums, &count)| sums.iter().map(move |sum| nearest(sum / count as f64))));
            }
            Some(colours) => {
                self.pixels.resize(3 * self.counts.len(), 0);
                let pixels = self.pixels.as_chunks_mut().0;
                for (pixel, (sum, &count)) in pixels.iter_mut().zip(self.sums.iter().zip(&self.counts)) {
                    *pixel = colours.colour(if count == 1 { *sum } else { sum / count.max(1) as f64 });
                }
                if self.has_special {
                    for (pixel, &special) in pixels.iter_mut().zip(&self.special) {
                        let Some(colour) = own(special) else { continue };
                        *pixel = colour;
                        self.seen.nan |= special.nan;
                        self.seen.infinity |= colour == INFINITY;
                        self.seen.minus_infinity |= colour == MINUS_INFINITY;
                    }
                }
            }
        }
        self.sums.fill(0.0);
        self.counts.fill(0);
        if self.has_special {
            self.special.fill(SpecialNumbers::default());
            self.has_special = false;
        }
        (self.take)(&self.pixels)
    }
}

fn first(pixel: usize, from: usize, to: usize) -> usize {
    (pixel as u128 * from as u128 / to as u128) as usize
}

/// A pixel with NaN or infinity shows it, so that one among many numbers stays visible.
fn own(special: SpecialNumbers) -> Option<Rgb> {
    match special {
        SpecialNumbers { nan: true, .. } => Some(NAN),
        SpecialNumbers { infinity: true, .. } => Some(INFINITY),
        SpecialNumbers { minus_infinity: true, .. } => Some(MINUS_INFINITY),
        SpecialNumbers { nan: false, infinity: false, minus_infinity: false } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::scale::viridis;

    fn rows(
        from: Size,
        to: Size,
        channels: usize,
        scale: Option<&Scale>,
        numbers: &[f64],
    ) -> (Vec<Vec<u8>>, SpecialNumbers) {
        let mut rows = Vec::new();
        let mut take = |row: &[u8]| {
            rows.push(row.to_vec());
            Ok(())
        };
        let mut raster = Raster::new(from, to, channels, scale, &mut take);
        let mut rest = numbers;
        for len in 1.. {
            let (now, later) = rest.split_at(len.min(rest.len()));
            raster.add(now).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let seen = raster.seen();
        (rows, seen)
    }

    fn size(width: usize, height: usize) -> Size {
        Size { width, height }
    }

    #[test]
    fn pixels_are_means_of_what_they_stand_for() {
        // 5 x 3 to 2 x 2: columns 0-1 and 2-4, rows 0 and 1-2.
        let numbers: Vec<f64> = (0..15).map(f64::from).collect();
        let channels: Vec<f64> = numbers.iter().flat_map(|&n| [n, 2.0 * n, 100.0]).collect();
        let (found, _) = rows(size(5, 3), size(2, 2), 3, None, &channels);
        assert_eq!(found, [[1, 1, 100, 3, 6, 100], [8, 16, 100, 11, 21, 100]]);
        let (found, _) = rows(size(5, 3), size(5, 3), 3, None, &channels);
        assert_eq!(found.concat(), channels.iter().map(|&n| n as u8).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_finite_is_not_lost() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let scale = Scale::from_range(0.0, 1.0);
        let (found, seen) = rows(size(4, 2), size(2, 1), 1, Some(&scale), &[0.0, 1.0, inf, 0.5, nan, 0.0, inf, -inf]);
        assert_eq!(found, [[NAN, INFINITY].concat()]);
        assert_eq!(seen, SpecialNumbers { nan: true, infinity: true, minus_infinity: false });
        let (found, seen) = rows(size(3, 1), size(3, 1), 1, Some(&scale), &[-inf, 2.0, -5.0]);
        assert_eq!(found, [[MINUS_INFINITY, [253, 231, 37], [68, 1, 84]].concat()]);
        assert_eq!(seen, SpecialNumbers { minus_infinity: true, ..SpecialNumbers::default() });
    }

    fn plain(from: Size, to: Size, scale: (f64, f64), numbers: &[f64]) -> Vec<Vec<u8>> {
        let places = |pixel: usize, from: usize, to: usize| first(pixel, from, to)..first(pixel + 1, from, to);
        let colour = |row: usize, column: usize| {
            let rows = places(row, from.height, to.height);
            let columns = places(column, from.width, to.width);
            let of: Vec<f64> = rows.flat_map(|y| columns.clone().map(move |x| numbers[y * from.width + x])).collect();
            match () {
                () if of.iter().any(|number| number.is_nan()) => NAN,
                () if of.contains(&f64::INFINITY) => INFINITY,
                () if of.contains(&f64::NEG_INFINITY) => MINUS_INFINITY,
                () => viridis((of.iter().sum::<f64>() / of.len() as f64 - scale.0) / (scale.1 - scale.0)),
            }
        };
        (0..to.height).map(|row| (0..to.width).flat_map(|column| colour(row, column)).collect()).collect()
    }

    #[test]
    fn pixels_are_those_of_plain_loops() {
        let number = |i: usize| match i % 97 {
            13 => f64::NAN,
            40 => f64::INFINITY,
            41 => f64::NEG_INFINITY,
            _ => (i * 7919 % 1009) as f64,
        };
        let scale = Scale::from_range(0.0, 1008.0);
        let rows_of = [
            // (from, to): averages columns, rows, both or neither.
            ((30, 9), (30, 9)),
            ((30, 9), (30, 4)),
            ((30, 9), (7, 9)),
            ((30, 9), (7, 4)),
            ((1, 9), (1, 9)),
            ((30, 1), (30, 1)),
            ((30, 1), (1, 1)),
        ];
        for ((width, height), (to_width, to_height)) in rows_of {
            let (from, to) = (size(width, height), size(to_width, to_height));
            for is_finite in [true, false] {
                let finite = |i: usize| Some(number(i)).filter(|n| n.is_finite()).unwrap_or(-5.0);
                let numbers: Vec<f64> =
                    (0..width * height).map(|i| if is_finite { finite(i) } else { number(i) }).collect();
                let (found, seen) = rows(from, to, 1, Some(&scale), &numbers);
                assert_eq!(found, plain(from, to, (0.0, 1008.0), &numbers), "{from:?} {to:?} {is_finite}");
                let red = found.iter().any(|row| row.as_chunks().0.contains(&NAN));
                assert_eq!(seen.nan, red, "{from:?} {to:?} {is_finite}");
            }
        }
    }

    #[test]
    fn ranges_beyond_float64() {
        let scale = Scale::from_range(f64::MIN, f64::MAX);
        let (found, _) = rows(size(3, 1), size(3, 1), 1, Some(&scale), &[f64::MIN, 0.0, f64::MAX]);
        assert_eq!(found, [[[68, 1, 84], [33, 145, 140], [253, 231, 37]].concat()]);
    }
}
