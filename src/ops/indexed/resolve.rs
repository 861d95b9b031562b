//! Index numbers made places of the axes that they address.
//!
//! Numbers are resolved a slice at a time, without a branch for any of them: whether one was out of range is known at the
//! end of the slice, and only then are they looked at one by one, to name the first. A loop that could stop at each number
//! took 87 ns a tuple together with what followed; this one is bound by memory.

use std::array;

use super::Index;

/// An axis that a number of a tuple addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    /// Its places.
    dim: u64,
    /// What is added to a negative number: `dim` where they count from the end, else nothing, which leaves them beyond
    /// any dim.
    wrap: u64,
    /// The places of all axes together from one of its values to the next.
    stride: u64,
}

/// From index tuples to places, in range or refused.
#[derive(Clone, Debug)]
pub(super) struct Resolver {
    axes: Vec<Axis>,
}

impl Resolver {
    /// For tuples of one number for each of `axes`: the dim of its axis, and the places from one of its values to the
    /// next. Numbers count from the end where `negative` ones are allowed.
    pub(super) fn new(axes: &[(usize, usize)], negative: bool) -> Self {
        let axis = |&(dim, stride): &(usize, usize)| {
            let dim = dim as u64;
            Axis { dim, wrap: if negative { dim } else { 0 }, stride: stride as u64 }
        };
        Self { axes: axes.iter().map(axis).collect() }
    }

    /// The numbers of a tuple.
    pub(super) fn width(&self) -> usize {
        self.axes.len()
    }

    /// All places.
    pub(super) fn places(&self) -> usize {
        self.axes.iter().fold(1, |places, axis| places.saturating_mul(axis.dim as usize))
    }

    /// Makes `places` those of whole tuples, each number of which `read` gives.
    ///
    /// # Errors
    /// The number among `words` of the first that names no place.
    pub(super) fn resolve<W: Copy, I: Index>(
        &self,
        words: &[W],
        read: impl Fn(W) -> I + Copy,
        places: &mut Vec<u64>,
    ) -> Result<(), usize> {
        places.clear();
        let good = match self.axes[..] {
            [] => true,
            [axis] => {
                let mut good = true;
                places.extend(words.iter().map(|&word| {
                    let place = read(word).place(axis.wrap);
                    good &= place < axis.dim;
                    place
                }));
                good
            }
            [a, b] => tuples([a, b], words, read, places),
            [a, b, c] => tuples([a, b, c], words, read, places),
            [a, b, c, d] => tuples([a, b, c, d], words, read, places),
            _ => {
                let mut good = true;
                places.extend(words.chunks_exact(self.axes.len()).map(|tuple| {
                    let mut place = 0_u64;
                    for (n, &word) in tuple.iter().enumerate() {
                        let axis = self.axes[n];
                        let number = read(word).place(axis.wrap);
                        good &= number < axis.dim;
                        place = place.wrapping_add(number.wrapping_mul(axis.stride));
                    }
                    place
                }));
                good
            }
        };
        if good {
            return Ok(());
        }
        let is_bad = |(n, &word): (usize, &W)| {
            let axis = self.axes[n % self.axes.len()];
            read(word).place(axis.wrap) >= axis.dim
        };
        Err(words.iter().enumerate().position(is_bad).expect("one of the numbers was found to be out of range"))
    }
}

/// The places of tuples of `K` numbers, for as many as there are in a cache line or so: the loop over a tuple has no end
/// to look for. (An array of what its numbers add, since zipped iterators are made by a call for each tuple.)
fn tuples<W: Copy, I: Index, const K: usize>(
    axes: [Axis; K],
    words: &[W],
    read: impl Fn(W) -> I,
    places: &mut Vec<u64>,
) -> bool {
    let mut good = true;
    places.extend(words.as_chunks::<K>().0.iter().map(|tuple| {
        let steps: [u64; K] = array::from_fn(|n| {
            let number = read(tuple[n]).place(axes[n].wrap);
            good &= number < axes[n].dim;
            number.wrapping_mul(axes[n].stride)
        });
        steps.into_iter().fold(0, u64::wrapping_add)
    }));
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_type_and_width() {
        let mut places = Vec::new();
        let mut of = |axes: &[(usize, usize)], negative, numbers: &[i64]| {
            let resolver = Resolver::new(axes, negative);
            let same = |number| number;
            let found = resolver.resolve(numbers, same, &mut places).map(|()| places.clone());
            // as the narrowest type that holds them, they give the same
            let bytes: Vec<i8> = numbers.iter().map(|&n| i8::try_from(n).unwrap_or(i8::MAX)).collect();
            let narrow = resolver.resolve(&bytes, |number: i8| number, &mut places).map(|()| places.clone());
            assert_eq!(narrow.is_ok(), found.is_ok(), "{numbers:?}");
            found
        };
        assert_eq!(of(&[(5, 1)], true, &[0, -1, 4, -5]), Ok(vec![0, 4, 4, 0]));
        assert_eq!(of(&[(5, 1)], true, &[0, 5, -6]), Err(1));
        assert_eq!(of(&[(5, 1)], true, &[0, -6]), Err(1));
        assert_eq!(of(&[(5, 1)], false, &[3, -1]), Err(1));
        assert_eq!(of(&[(2, 3), (3, 1)], true, &[1, 2, -2, -3]), Ok(vec![5, 0]));
        assert_eq!(of(&[(2, 3), (3, 1)], true, &[0, 0, 0, 3]), Err(3));
        assert_eq!(of(&[(2, 6), (3, 2), (2, 1)], true, &[1, 2, 1]), Ok(vec![11]));
        let five = [(2, 16), (2, 8), (2, 4), (2, 2), (2, 1)];
        assert_eq!(of(&five, true, &[1, 0, 1, 0, 1, -1, -1, -1, -1, -1]), Ok(vec![21, 31]));
        assert_eq!(of(&five, true, &[1, 0, 1, 0, 2]), Err(4));
        assert_eq!(of(&[], true, &[]), Ok(vec![]));
        let large = Resolver::new(&[(2, 1)], true);
        assert_eq!(large.resolve(&[1_u64, 1 << 63], |number| number, &mut places), Err(1));
        assert_eq!(large.resolve(&[u64::MAX], |number| number, &mut places), Err(0));
        assert_eq!(large.resolve(&[i64::MIN], |number| number, &mut places), Err(0));
    }
}
