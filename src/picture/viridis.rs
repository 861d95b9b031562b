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
    let last = STOPS.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let before = (at as usize).min(last - 1);
    let weight = at - before as f64;
    let between = |low: u8, high: u8| {
        let (low, high) = (f64::from(low), f64::from(high));
        nearest(low + (high - low) * weight)
    };
    let (low, high) = (STOPS[before], STOPS[before + 1]);
    [between(low[0], high[0]), between(low[1], high[1]), between(low[2], high[2])]
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
