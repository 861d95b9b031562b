//! The colour map viridis. Its lightness is even, so that it is readable in grey and with colour blindness.

pub(crate) type Rgb = [u8; 3];

pub(crate) const NAN: Rgb = [220, 30, 30];
pub(crate) const INFINITY: Rgb = [255, 255, 255];
pub(crate) const MINUS_INFINITY: Rgb = [0, 0, 0];

/// At even distances, with interpolation.
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

pub(crate) fn viridis(share: f64) -> Rgb {
    let (before, weight) = place(share);
    let between = |low: u8, high: u8| {
        let (low, high) = (f64::from(low), f64::from(high));
        nearest(low + (high - low) * weight)
    };
    let (low, high) = (STOPS[before], STOPS[before + 1]);
    [between(low[0], high[0]), between(low[1], high[1]), between(low[2], high[2])]
}

/// Bins of [`ColourShares`], except the bin of share 1. A power of two keeps their ends exact. About one bin in 25 has
/// several colours.
const BINS: usize = 1 << 14;

/// A faster [`viridis`]: caches the colour of each bin that has only one.
pub(crate) struct ColourShares {
    bins: Vec<ColourBin>,
}

#[derive(Clone, Copy)]
enum ColourBin {
    Unknown,
    One(Rgb),
    Several,
}

impl ColourShares {
    pub(crate) fn new() -> Self {
        Self { bins: vec![ColourBin::Unknown; BINS + 1] }
    }

    #[inline]
    pub(crate) fn colour(&mut self, share: f64) -> Rgb {
        let number = ((share * BINS as f64) as usize).min(BINS);
        match self.bins[number] {
            ColourBin::One(colour) => colour,
            ColourBin::Several => viridis(share),
            ColourBin::Unknown => {
                self.bins[number] = ColourBin::of(number);
                viridis(share)
            }
        }
    }
}

impl ColourBin {
    /// Channels are monotonic between stops, so a bin without a stop has one colour if its ends do.
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

/// The stop at or before a share, never the last, and the fraction to the next.
fn place(share: f64) -> (usize, f64) {
    let last = STOPS.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let before = (at as usize).min(last - 1);
    (before, at - before as f64)
}

/// Equals `f64::round`, which is a function call on CPUs without the instruction.
pub(crate) fn nearest(number: f64) -> u8 {
    let below = number as u8;
    below.saturating_add((number - f64::from(below) >= 0.5).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_colours_of_their_shares() {
        let mut shares = ColourShares::new();
        let ends = (0..=BINS).map(|bin| bin as f64 / BINS as f64);
        let stops = (0..STOPS.len()).map(|stop| stop as f64 / (STOPS.len() - 1) as f64);
        let beside = ends.chain(stops).flat_map(|share| [share, share.next_down(), share.next_up()]);
        let steps = 1_000_003;
        let all = beside.chain((0..=steps).map(|step| f64::from(step) / f64::from(steps)));
        let all: Vec<f64> = all.map(|share| share.clamp(0.0, 1.0)).collect();
        // The first visit fills a bin, the second reads it.
        for share in all.iter().chain(all.iter().rev()) {
            assert_eq!(shares.colour(*share), viridis(*share), "{share:e}");
        }
        let several = shares.bins.iter().filter(|bin| matches!(bin, ColourBin::Several)).count();
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
