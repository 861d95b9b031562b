//! Copies of items between views.

use super::tile::copy_tiles;
use super::view::View;
use super::walk::{CopyWalk, copy_walk};

/// Copies items between views of the same shape.
pub fn copy<T: Copy>(source: &[T], from: &View, target: &mut [T], to: &View) {
    let Some(walk) = CopyWalk::new(from, to) else { return };
    if walk.is_across() || walk.has_short_rows(size_of::<T>()) {
        copy_tiles(source, target, walk);
    } else {
        copy_walk(source, target, &walk);
    }
}

/// Repeats the first `period` items of `out` until its end.
pub fn repeat<T: Copy>(out: &mut [T], period: usize) {
    let mut done = period;
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

/// Fills `out` with copies of an item.
pub fn fill<T: Copy>(out: &mut [T], item: &[T]) {
    if let (Some(first), true) = (out.get_mut(..item.len()), !item.is_empty()) {
        first.copy_from_slice(item);
        repeat(out, item.len());
    }
}

/// Evaluates `$body` with the item size as constant `$N` for items that move as words, else `$other`. Items of 3 bytes
/// took three to four times as long as rows of 3 one-byte words.
#[doc(hidden)]
#[macro_export]
macro_rules! with_word {
    (among $($size:literal)+; $itemsize:expr, $N:ident => $body:expr, _ => $other:expr) => {
        match $itemsize {
            $($size => {
                const $N: usize = $size;
                $body
            })+
            _ => $other,
        }
    };
    ($itemsize:expr, $N:ident => $body:expr, _ => $other:expr) => {
        $crate::layout::copy::with_word!(among 1 2 3 4 5 6 7 8 12 16; $itemsize, $N => $body, _ => $other)
    };
}

pub use with_word;

/// Whether items of this size move as words.
pub fn is_word(itemsize: usize) -> bool {
    with_word!(itemsize, N => N > 0, _ => false)
}

/// Copies items of `itemsize` bytes; the views count items. Items that are not words move as rows of words.
pub fn copy_bytes(source: &[u8], from: &View, target: &mut [u8], to: &View, itemsize: usize) {
    fn words<const N: usize>(source: &[u8], from: &View, target: &mut [u8], to: &View) {
        copy(source.as_chunks::<N>().0, from, target.as_chunks_mut::<N>().0, to);
    }
    with_word!(itemsize, N => words::<N>(source, from, target, to), _ => {
        let word = 1 << itemsize.trailing_zeros().min(4);
        let (from, to) = (from.with_words(itemsize / word), to.with_words(itemsize / word));
        with_word!(word, N => words::<N>(source, &from, target, &to), _ => unreachable!("a word has at most 16 bytes"));
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, span, views};
    use super::*;

    #[test]
    fn copies_go_from_place_to_place() {
        let source: Vec<u16> = (0..60).collect();
        for from in views() {
            for to in views().into_iter().filter(|to| to.shape() == from.shape()) {
                let mut expected = vec![999; 60];
                places(&from).into_iter().zip(places(&to)).for_each(|(f, t)| expected[t] = source[f]);
                let mut target = vec![999; 60];
                copy(&source, &from, &mut target, &to);
                assert_eq!(target, expected, "{from:?} {to:?}");
                for itemsize in (1..=16).chain([24, 48]) {
                    let bytes =
                        |items: &[u16]| items.iter().flat_map(|&i| vec![i as u8; itemsize]).collect::<Vec<u8>>();
                    let mut target = bytes(&[999; 60]);
                    copy_bytes(&bytes(&source), &from, &mut target, &to, itemsize);
                    assert_eq!(target, bytes(&expected), "{itemsize} bytes, {from:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn items_stored_across_the_destination() {
        let shapes: [&[usize]; 12] = [
            &[70, 45],
            &[150, 70],
            &[2048, 20],
            &[64, 16, 40],
            &[3, 700, 4, 5],
            &[130, 66],
            &[1, 70, 65],
            &[9, 40, 3],
            &[17, 9, 33],
            &[2, 3, 5, 3, 70],
            &[70, 3, 5, 3, 2],
            &[3, 1, 70, 4, 2],
        ];
        for shape in shapes {
            let (count, c_order) = (shape.iter().product::<usize>(), View::c_order(shape));
            let turned: Vec<usize> = (0..shape.len()).map(|axis| (axis + 1) % shape.len()).collect();
            let back: Vec<usize> = (0..shape.len()).map(|axis| (axis + shape.len() - 1) % shape.len()).collect();
            let backwards: Vec<_> = shape.iter().map(|&dim| span(dim - 1, -1, dim)).collect();
            let by_two: Vec<_> = shape.iter().map(|&dim| span(0, 2, dim.div_ceil(2))).collect();
            let rotated = View::c_order(&turned.iter().map(|&axis| shape[axis]).collect::<Vec<_>>()).with_axes(&back);
            let fortran = View::fortran_order(shape);
            let repeated = View { axes: fortran.axes.iter().map(|&(dim, at)| (dim, at % 7)).collect(), offset: 0 };
            let all = [fortran.clone(), rotated, fortran.select(&backwards), repeated, c_order.clone()];
            let pairs = all.iter().flat_map(|from| [c_order.clone(), fortran.clone()].map(|to| (from.clone(), to)));
            let halves = (fortran.select(&by_two), c_order.select(&by_two));
            for (from, to) in pairs.chain([halves.clone(), (halves.1, halves.0)]) {
                for itemsize in [1, 2, 3, 8, 32] {
                    let items: Vec<u8> = (0..count * itemsize).map(|at| (at % 251) as u8).collect();
                    let mut expected = vec![255; items.len()];
                    for (from, to) in from.places().into_iter().zip(to.places()) {
                        let item = &items[from * itemsize..][..itemsize];
                        expected[to * itemsize..][..itemsize].copy_from_slice(item);
                    }
                    let mut target = vec![255; items.len()];
                    copy_bytes(&items, &from, &mut target, &to, itemsize);
                    assert!(target == expected, "{itemsize} bytes, {from:?} {to:?}");
                }
            }
        }
    }
}
