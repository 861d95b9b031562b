//! Reductions that count updates: the mean, and those without the data's items (OpenVINO
//! [ScatterElementsUpdate-12](https://docs.openvino.ai/latest/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-elements-update-12.html)).
//! A tally covers one run of places, so memory does not grow with the updates.

use super::reduction::{Combine, CombineBlocks, Reducible, Reduction, combine};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, Float, match_kind, not_numbers};
use crate::memory;

/// A reduction of little-endian items.
#[derive(Clone, Copy, Debug)]
pub enum Application {
    /// Takes the place of the old item.
    Replace,
    /// Is combined with the old item.
    Combine(Combine),
    /// Depends on earlier updates of the place.
    Fold(Fold),
}

/// A reduction that counts updates.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    step: FoldStep,
    has_initial: bool,
}

#[derive(Clone, Copy, Debug)]
enum FoldStep {
    Combine(CombineBlocks),
    FloatMean { add: CombineBlocks, divide: fn(&mut [u8], u64) },
    IntegerMean { read: fn(&[u8]) -> i128, write: fn(&mut [u8], i128) },
}

impl Application {
    /// A reduction of items of a dtype, with the old item if `has_initial`.
    ///
    /// # Errors
    /// The dtype lacks the reduction.
    pub fn new(dtype: &DType, reduction: Reduction, has_initial: bool) -> Result<Self, Error> {
        let step = match reduction {
            Reduction::Mean => mean(dtype)?,
            _ => match combine(dtype, reduction)? {
                None => return Ok(Self::Replace),
                Some(combine) if has_initial => return Ok(Self::Combine(combine)),
                Some(Combine { blocks, .. }) => FoldStep::Combine(blocks),
            },
        };
        Ok(Self::Fold(Fold { step, has_initial }))
    }

    /// Whether items are numbers; otherwise they are only moved.
    pub fn knows_numbers(&self) -> bool {
        !matches!(self, Self::Replace)
    }
}

fn mean(dtype: &DType) -> Result<FoldStep, Error> {
    let add = combine(dtype, Reduction::Add).ok().flatten().map(|combine| combine.blocks);
    let step = match_kind!(dtype.kind(), {
        bool T => None,
        integer T => Some(FoldStep::IntegerMean {
            read: |item| i128::from(T::read_le(item)),
            write: |item, mean| {
                let mean = T::try_from(mean).expect("a mean is between the least and the largest of its items");
                item.copy_from_slice(&mean.to_little());
            },
        }),
        float T => add.map(|add| FoldStep::FloatMean {
            add,
            divide: |sum, count| {
                let mean = divided(T::read_le(sum), count);
                sum.copy_from_slice(&mean.to_little());
            },
        }),
        complex T => None,
        Kind::Narrow(_) | not_numbers!() => None,
    });
    step.ok_or_else(|| {
        let message = format!("mean is not defined for {}", dtype.name());
        dtype.advise(Error::new(Subject::Reduction, message))
    })
}

/// Rounds once: float64 has more than twice the digits of other floats.
fn divided<T: Float + Reducible>(sum: T, count: u64) -> T {
    let mean = sum.wide() / count as f64;
    // keeps a NaN's payload
    let add = T::operation(Reduction::Add).filter(|_| mean.is_nan());
    add.map_or_else(|| T::nearest(mean), |add| add(sum, sum))
}

/// The sums and counts of a run of places.
#[derive(Debug)]
pub struct Tally {
    fold: Fold,
    itemsize: usize,
    /// The items reduced into each place.
    counts: Vec<u64>,
    /// Exact sums; others are in the output itself.
    sums: Vec<i128>,
}

impl Tally {
    /// For `places` places of items of `itemsize` bytes: 8 bytes for each, or 24 for the mean of integers.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(fold: Fold, itemsize: usize, places: usize) -> Result<Self> {
        let (mut counts, mut sums) = (memory::with_capacity(places)?, Vec::new());
        counts.resize(places, 0);
        if let FoldStep::IntegerMean { .. } = fold.step {
            sums = memory::with_capacity(places)?;
            sums.resize(places, 0);
        }
        Ok(Self { fold, itemsize, counts, sums })
    }

    /// How many places there are.
    #[inline]
    pub fn places(&self) -> usize {
        self.counts.len()
    }

    /// Reduces an update into the item at place `at` of `out`.
    #[inline]
    pub fn put(&mut self, at: usize, update: &[u8], out: &mut [u8]) {
        let item = &mut out[at * self.itemsize..][..self.itemsize];
        let count = &mut self.counts[at];
        let is_first = *count == 0;
        *count += 1 + u64::from(is_first && self.fold.has_initial);
        match self.fold.step {
            FoldStep::Combine(add) | FoldStep::FloatMean { add, .. } => match is_first && !self.fold.has_initial {
                true => item.copy_from_slice(update),
                false => add(item, update),
            },
            FoldStep::IntegerMean { read, .. } => {
                if is_first && self.fold.has_initial {
                    self.sums[at] = read(item);
                }
                self.sums[at] += read(update);
            }
        }
    }

    /// Divides the sums of a mean.
    pub fn finish(self, out: &mut [u8]) {
        for (at, &count) in self.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let item = &mut out[at * self.itemsize..][..self.itemsize];
            match self.fold.step {
                FoldStep::Combine(_) => {}
                FoldStep::FloatMean { divide, .. } => divide(item, count),
                FoldStep::IntegerMean { write, .. } => write(item, self.sums[at] / i128::from(count)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn folded<T: Element>(reduction: Reduction, has_initial: bool, item: T, updates: &[T]) -> T {
        let Application::Fold(fold) = Application::new(&T::dtype(), reduction, has_initial).unwrap() else {
            panic!("{reduction:?} is a fold");
        };
        let mut out = [item.to_little().as_ref(); 3].concat();
        let before = out.clone();
        let mut tally = Tally::new(fold, T::SIZE, 3).unwrap();
        updates.iter().for_each(|update| tally.put(1, update.to_little().as_ref(), &mut out));
        tally.finish(&mut out);
        assert_eq!((&out[..T::SIZE], &out[2 * T::SIZE..]), (&before[..T::SIZE], &before[2 * T::SIZE..]));
        T::read_le(&out[T::SIZE..])
    }

    #[test]
    fn means_of_integers_are_exact_and_cut_toward_zero() {
        use Reduction::Mean;
        assert_eq!(folded(Mean, true, -3_i32, &[-5, -5, -5]), -4);
        assert_eq!(folded(Mean, false, 100_i32, &[-5, -6]), -5);
        assert_eq!(folded(Mean, true, 7_i32, &[]), 7);
        assert_eq!(folded(Mean, false, 7_i32, &[]), 7);
        assert_eq!(folded(Mean, true, u8::MAX, &[u8::MAX; 300]), u8::MAX);
        assert_eq!(folded(Mean, false, 0, &[u64::MAX, u64::MAX - 2, u64::MAX]), u64::MAX - 1);
        assert_eq!(folded(Mean, true, i64::MIN, &[i64::MIN, i64::MIN + 1]), i64::MIN + 1);
    }

    #[test]
    fn sums_of_floats_round_each_time_and_are_divided_once() {
        use Reduction::Mean;
        assert_eq!(folded(Mean, true, 1.0_f32, &[2.0, 4.0]), 7.0 / 3.0);
        assert_eq!(folded(Mean, false, 16_777_216.0_f32, &[16_777_216.0, 1.0, 1.0]), 16_777_216.0 / 3.0);
        let half = f16::from_f32;
        assert_eq!(folded(Mean, false, half(0.0), &[half(2048.0), half(1.0), half(1.0)]), half(2048.0 / 3.0));
        assert_eq!(folded(Mean, false, f16::MAX, &[f16::MAX, f16::MAX]), f16::INFINITY);
        assert!(folded(Mean, true, f64::NAN, &[1.0]).is_nan());
        assert_eq!(folded(Mean, false, f64::NAN, &[1.0, 2.0]), 1.5);
    }

    fn is_nearest(sum: f64, count: u64, mean: f64, below: f64, above: f64, is_even: bool) -> bool {
        let far = |value: f64| (sum - value * count as f64).abs();
        let nearest = far(below).min(far(above));
        far(mean) < nearest || far(mean) == nearest && is_even
    }

    #[test]
    fn quotients_of_sixteen_bits_are_rounded_once() {
        let mut state = 11_u32;
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (bits, count) = ((state >> 17) as u16, u64::from(state >> 4 & 0x1fff) + 1);
            let (sum, wide) = (f16::from_bits(bits), bf16::from_bits(bits));
            if sum.is_finite() && bits > 0 {
                let mean = divided(sum, count);
                let at = |step: u16| f16::from_bits((mean.to_bits() + step).saturating_sub(1)).to_f64();
                let is_even = mean.to_bits() % 2 == 0;
                assert!(
                    mean.to_bits() == 0 || is_nearest(sum.to_f64(), count, at(1), at(0), at(2), is_even),
                    "{sum} / {count}"
                );
            }
            if wide.is_finite() && bits > 0 {
                let mean = divided(wide, count);
                let at = |step: u16| bf16::from_bits((mean.to_bits() + step).saturating_sub(1)).to_f64();
                let is_even = mean.to_bits() % 2 == 0;
                assert!(
                    mean.to_bits() == 0 || is_nearest(wide.to_f64(), count, at(1), at(0), at(2), is_even),
                    "{wide} / {count}"
                );
            }
        }
    }

    #[test]
    fn without_the_item_of_data() {
        use Reduction::{Add, Max, Min, Mul};
        assert_eq!(folded(Add, false, 100_i8, &[100, 100]), -56);
        assert_eq!(folded(Mul, false, 0.0_f32, &[2.0, 4.0]), 8.0);
        assert_eq!(folded(Max, false, 9_u16, &[2, 4, 3]), 4);
        assert_eq!(folded(Min, false, f32::NAN, &[2.0]), 2.0);
        assert!(!folded(Add, false, true, &[false]));
        assert_eq!(folded(Add, false, 1.0_f32, &[-0.0]).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(folded(Add, false, 5, &[]), 5);
        assert!(matches!(Application::new(&f32::dtype(), Reduction::None, false), Ok(Application::Replace)));
        assert!(matches!(Application::new(&f32::dtype(), Add, true), Ok(Application::Combine(_))));
    }

    #[test]
    fn undefined() {
        for dtype in ["bool", "complex64", "S3", "<U3", "<M8[s]", "V4", "longdouble", "float8_e4m3fn"] {
            let refused = Application::new(&DType::parse(dtype).unwrap(), Reduction::Mean, true).unwrap_err();
            assert!(refused.message().starts_with("mean is not defined for "), "{refused}");
        }
    }
}
