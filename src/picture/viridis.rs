//! The colour map viridis. Its lightness grows evenly, so that it is also read correctly in grey and by people who see few
//! colours.

/// A colour by its red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// The colour of NaN.
pub(crate) const NAN: Rgb = [220, 30, 30];
/// The colour of infinity.
pub(crate) const INFINITY: Rgb = [255, 255, 255];
/// The colour of minus infinity.
pub(crate) const MINUS_INFINITY: Rgb = [0, 0, 0];

/// The colours at even distances of the range, from the lowest to the highest. Between two of them colours are interpolated.
const STOPS: [Rgb; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];

/// Returns the colour at a share of the range, from 0 to 1.
pub(crate) fn viridis(share: f64) -> Rgb {
    let (before, weight) = place(share);
    let between = |low: u8, high: u8| {
        let (low, high) = (f64::from(low), f64::from(high));
        nearest(low + (high - low) * weight)
    };
    let (low, high) = (STOPS[before], STOPS[before + 1]);
    [between(low[0], high[0]), between(low[1], high[1]), between(low[2], high[2])]
}

/// How many bins [`Shares`] have, apart from the one of the highest share alone. A power of two, so that the ends of a bin
/// are exact. A bin in 25 or so has more than one colour.
const BINS: usize = 1 << 14;

/// Returns the colours of shares as [`viridis`] does, in less time: it keeps the colour of each bin of shares, if all shares of
/// the bin have the same colour.
pub(crate) struct Shares {
    bins: Vec<Bin>,
}

/// What is known of the shares of a bin.
#[derive(Clone, Copy)]
enum Bin {
    /// No share of it was asked for.
    Unknown,
    /// They all have this colour.
    One(Rgb),
    /// They have several colours.
    Several,
}

impl Shares {
    pub(crate) fn new() -> Self {
        Self { bins: vec![Bin::Unknown; BINS + 1] }
    }

    /// Returns the colour at a share of the range, from 0 to 1.
    #[inline]
    pub(crate) fn colour(&mut self, share: f64) -> Rgb {
        let number = ((share * BINS as f64) as usize).min(BINS);
        match self.bins[number] {
            Bin::One(colour) => colour,
            Bin::Several => viridis(share),
            Bin::Unknown => {
                self.bins[number] = Bin::of(number);
                viridis(share)
            }
        }
    }
}

impl Bin {
    /// Finds the colours of a bin. Between two stops each channel only grows or only falls, so that a colour which both ends of
    /// the bin have is that of all its shares, unless a stop lies in it.
    fn of(number: usize) -> Self {
        let first = number as f64 / BINS as f64;
        let last = ((number + 1) as f64 / BINS as f64).next_down().min(1.0);
        let colour = viridis(first);
        match viridis(last) == colour && place(first).0 == place(last).0 {
            true => Self::One(colour),
            false => Self::Several,
        }
    }
}

/// Returns the stop before a share, which is never the last one, and how far the share is from it to the next.
fn place(share: f64) -> (usize, f64) {
    let last = STOPS.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let before = (at as usize).min(last - 1);
    (before, at - before as f64)
}

/// Returns the nearest byte, and the larger one of two, as `f64::round` does, which is a call on machines without an
/// instruction for it.
pub(crate) fn nearest(number: f64) -> u8 {
    let below = number as u8;
    below.saturating_add((number - f64::from(below) >= 0.5).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_colours_of_their_shares() {
        let mut shares = Shares::new();
        let ends = (0..=BINS).map(|bin| bin as f64 / BINS as f64);
        let stops = (0..STOPS.len()).map(|stop| stop as f64 / (STOPS.len() - 1) as f64);
        let beside = ends.chain(stops).flat_map(|share| [share, share.next_down(), share.next_up()]);
        let steps = 1_000_003;
        let all = beside.chain((0..=steps).map(|step| f64::from(step) / f64::from(steps)));
        let all: Vec<f64> = all.map(|share| share.clamp(0.0, 1.0)).collect();
        // first each bin is found, then it is known
        for share in all.iter().chain(all.iter().rev()) {
            assert_eq!(shares.colour(*share), viridis(*share), "{share:e}");
        }
        let several = shares.bins.iter().filter(|bin| matches!(bin, Bin::Several)).count();
        assert!(several < BINS / 16, "{several}");
    }

    #[test]
    fn from_dark_to_light() {
        let rows = [
            (0.0, [68, 1, 84]),
            (0.05, [70, 19, 101]),
            (0.5, [33, 145, 140]),
            (1.0, [253, 231, 37]),
            (-1.0, [68, 1, 84]),
            (2.0, [253, 231, 37]),
        ];
        for (share, colour) in rows {
            assert_eq!(viridis(share), colour, "{share}");
        }
        let light = |share: f64| {
            let [red, green, blue] = viridis(share).map(f64::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        assert!((0..20).all(|step| light(f64::from(step) / 20.0) < light(f64::from(step + 1) / 20.0)));
    }
}
