//! The type of a number between two dtypes: float64, int64 or uint64, whichever holds every number of the source.
//!
//! There are three types because float64 does not hold integers above 2^53, and because loops over integers of 128 bits
//! are not vectorised. The price is that an integer of 64 bits must reach a float of 16 without being rounded to
//! float64 on the way, see [`Middle::rounded_to_odd`].

use super::integer::Integer;

/// Writes runs of numbers as items of one type.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberWriter {
    pub float: StoreRun<f64>,
    pub signed: StoreRun<i64>,
    pub unsigned: StoreRun<u64>,
}

/// Writes a run of numbers over `out`; an error is the place of the first that does not fit.
pub(super) type StoreRun<M> = fn(big: bool, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize>;

/// A type through which numbers are cast.
pub(super) trait Middle: Copy + Default + PartialEq {
    /// Returns the number as `as f64` converts it.
    fn float(self) -> f64;
    /// Returns the number as `as f32` converts it.
    fn single(self) -> f32;
    /// Returns a float64 that rounds to any float of at most 16 bits as the number itself does: the number rounded to
    /// odd, which sets the last bit if anything was cut off. To round to nearest twice would be wrong if the first
    /// rounding ends halfway between two narrow floats: the second would take the even one although the number lies
    /// nearer to the other.
    fn rounded_to_odd(self) -> f64;
    /// Returns an integer, and whether it equals the number.
    fn exact<T: Integer>(self) -> (T, bool);
    /// Returns the number without its fraction, clamped to 128 bits.
    fn whole(self) -> i128;
    /// Returns the function that writes numbers of this type.
    fn writer(writer: &NumberWriter) -> StoreRun<Self>;
}

impl Middle for f64 {
    fn float(self) -> f64 {
        self
    }

    fn single(self) -> f32 {
        self as f32
    }

    fn rounded_to_odd(self) -> f64 {
        self
    }

    #[inline]
    fn exact<T: Integer>(self) -> (T, bool) {
        let found = T::from_float(self);
        // the largest integer of 64 bits rounds up to the number above it
        (found, found.float() == self && self < T::END)
    }

    fn whole(self) -> i128 {
        self as i128
    }

    fn writer(writer: &NumberWriter) -> StoreRun<Self> {
        writer.float
    }
}

/// Rounds a magnitude to odd: bits that float64 has no room for set the last bit.
fn rounded_to_odd(magnitude: u64) -> f64 {
    const LOW: u64 = (1 << 12) - 1;
    let rest = u64::from(magnitude & LOW != 0) << 12;
    (if magnitude >> 52 == 0 { magnitude } else { magnitude & !LOW | rest }) as f64
}

macro_rules! integers {
    ($($middle:ty, $wrap:ident, $back:ident, $writer:ident, $rounded_to_odd:expr;)+) => {$(
        impl Middle for $middle {
            fn float(self) -> f64 {
                self as f64
            }

            fn single(self) -> f32 {
                self as f32
            }

            fn rounded_to_odd(self) -> f64 {
                $rounded_to_odd(self)
            }

            #[inline]
            fn exact<T: Integer>(self) -> (T, bool) {
                let found = T::$wrap(self);
                (found, found.$back() == self && found.negative() == (self < Self::default()))
            }

            fn whole(self) -> i128 {
                self.into()
            }

            fn writer(writer: &NumberWriter) -> StoreRun<Self> {
                writer.$writer
            }
        }
    )+};
}

integers! {
    i64, from_signed, signed, signed, |value: i64| {
        let size = rounded_to_odd(value.unsigned_abs());
        if value < 0 { -size } else { size }
    };
    u64, from_unsigned, unsigned, unsigned, rounded_to_odd;
}
