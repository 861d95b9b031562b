//! Makes rows of pixels from items. Each pixel is the mean of the items that it stands for.

use super::scale::{Scale, SpecialNumbers};
use super::viridis::{INFINITY, MINUS_INFINITY, NAN, Rgb, nearest};
use crate::error::Result;

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of pixels in a row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

impl Size {
    /// Returns this size with both sides limited to `most`.
    pub(crate) fn at_most(self, most: usize) -> Self {
        Self { width: self.width.min(most), height: self.height.min(most) }
    }
}

/// A function that takes a row of pixels.
pub(crate) type TakeRow<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// The places of an axis, of which one after the other is visited, and the pixels that they belong to.
struct AxisPixels {
    /// The first place of each pixel, and the number of places.
    firsts: Vec<usize>,
    place: usize,
    pixel: usize,
}

impl AxisPixels {
    fn new(from: usize, to: usize) -> Self {
        Self { firsts: (0..=to).map(|pixel| first(pixel, from, to)).collect(), place: 0, pixel: 0 }
    }

    /// Returns how many pixels there are.
    fn pixels(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Returns how many places of the pixel are left to be visited.
    fn left(&self) -> usize {
        self.firsts[self.pixel + 1] - self.place
    }

    /// Goes on by some places of the pixel, and from the last place to the first. Returns whether another pixel begins there.
    fn advance(&mut self, places: usize) -> bool {
        self.place += places;
        if self.left() > 0 {
            return false;
        }
        self.pixel += 1;
        if self.pixel == self.pixels() {
            (self.place, self.pixel) = (0, 0);
        }
        true
    }
}

/// Takes numbers in C order and makes rows of pixels from them.
pub(super) struct Raster<'a, 'b> {
    /// How many numbers a place has: 1, or one for each channel of a colour.
    channels: usize,
    scale: Option<&'a Scale>,
    take: &'a mut TakeRow<'b>,
    /// For each pixel of the row and each channel, the sum of the finite numbers.
    sums: Vec<f64>,
    /// For each pixel of the row, the count of finite numbers in one channel.
    counts: Vec<u64>,
    /// For each pixel of the row, which numbers that are not finite it stands for.
    special: Vec<SpecialNumbers>,
    pixels: Vec<u8>,
    seen: SpecialNumbers,
    /// Where the next number goes.
    rows: AxisPixels,
    columns: AxisPixels,
    channel: usize,
}

impl<'a, 'b> Raster<'a, 'b> {
    /// Averages a picture of one size down to another size, which is not larger.
    pub(super) fn new(
        from: Size,
        to: Size,
        channels: usize,
        scale: Option<&'a Scale>,
        take: &'a mut TakeRow<'b>,
    ) -> Self {
        let width = to.width;
        Self {
            channels,
            scale,
            take,
            sums: vec![0.0; width * channels],
            counts: vec![0; width],
            special: vec![SpecialNumbers::default(); width],
            pixels: Vec::new(),
            seen: SpecialNumbers::default(),
            rows: AxisPixels::new(from.height, to.height),
            columns: AxisPixels::new(from.width, width),
            channel: 0,
        }
    }

    /// Returns which numbers that are not finite were added.
    pub(super) fn seen(&self) -> SpecialNumbers {
        self.seen
    }

    /// Adds the next numbers.
    ///
    /// # Errors
    /// Those of the function that takes the rows.
    pub(super) fn add(&mut self, numbers: &[f64]) -> Result<()> {
        let mut rest = numbers;
        while !rest.is_empty() {
            // the numbers of a pixel that come one after the other are added together
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

    /// Adds some numbers of one channel to the pixel.
    #[inline]
    fn add_to_pixel(&mut self, numbers: &[f64]) {
        let pixel = self.columns.pixel;
        let (mut sum, mut count) = (self.sums[pixel * self.channels + self.channel], 0);
        for &number in numbers {
            let is_finite = number.is_finite();
            // a sum is never -0.0, so that to add 0 leaves its bits
            sum += if is_finite { number } else { 0.0 };
            count += usize::from(is_finite);
        }
        self.sums[pixel * self.channels + self.channel] = sum;
        self.counts[pixel] += if self.channel == 0 { count as u64 } else { 0 };
        if count < numbers.len() {
            let special = &mut self.special[pixel];
            for &number in numbers {
                special.nan |= number.is_nan();
                special.infinity |= number == f64::INFINITY;
                special.minus_infinity |= number == f64::NEG_INFINITY;
            }
        }
    }

    /// Hands a complete row on.
    fn emit(&mut self) -> Result<()> {
        self.pixels.clear();
        for pixel in 0..self.columns.pixels() {
            let (count, special) = (self.counts[pixel] as f64, self.special[pixel]);
            let sums = &self.sums[pixel * self.channels..][..self.channels];
            match self.scale {
                None => self.pixels.extend(sums.iter().map(|sum| nearest(sum / count))),
                Some(scale) => {
                    let of_its_own = own(special);
                    self.pixels.extend(of_its_own.unwrap_or_else(|| scale.colour(sums[0] / count)));
                    self.seen.nan |= special.nan;
                    self.seen.infinity |= of_its_own == Some(INFINITY);
                    self.seen.minus_infinity |= of_its_own == Some(MINUS_INFINITY);
                }
            }
        }
        self.sums.fill(0.0);
        self.counts.fill(0);
        self.special.fill(SpecialNumbers::default());
        (self.take)(&self.pixels)
    }
}

/// Returns the first of the `from` places that pixel number `pixel` of `to` pixels stands for.
fn first(pixel: usize, from: usize, to: usize) -> usize {
    (pixel as u128 * from as u128 / to as u128) as usize
}

/// Returns the colour of a pixel that stands for a number that is not finite, since one NaN or infinity among many numbers
/// must not be lost; `None` if all of its numbers are finite.
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
        // in windows of every length
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
        // 5 x 3 to 2 x 2: columns 0-1 and 2-4, rows 0 and 1-2
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
        let scale = Scale::asked(0.0, 1.0);
        let (found, seen) = rows(size(4, 2), size(2, 1), 1, Some(&scale), &[0.0, 1.0, inf, 0.5, nan, 0.0, inf, -inf]);
        assert_eq!(found, [[NAN, INFINITY].concat()]);
        assert_eq!(seen, SpecialNumbers { nan: true, infinity: true, minus_infinity: false });
        let (found, seen) = rows(size(3, 1), size(3, 1), 1, Some(&scale), &[-inf, 2.0, -5.0]);
        assert_eq!(found, [[MINUS_INFINITY, [253, 231, 37], [68, 1, 84]].concat()]);
        assert_eq!(seen, SpecialNumbers { minus_infinity: true, ..SpecialNumbers::default() });
    }

    #[test]
    fn ranges_beyond_float64() {
        let scale = Scale::asked(f64::MIN, f64::MAX);
        let (found, _) = rows(size(3, 1), size(3, 1), 1, Some(&scale), &[f64::MIN, 0.0, f64::MAX]);
        assert_eq!(found, [[[68, 1, 84], [33, 145, 140], [253, 231, 37]].concat()]);
    }
}
