//! Transposes small blocks of items that are in the nearest cache.

/// Transposes a block: item `row` of each column, of `side` items, becomes an item of row `row` of `out`. Of the columns, `columns`
/// are taken, and `rows` items of each. The rest of `out` may become anything.
pub(super) type TransposeBlock<T> = fn(block: &[T], side: usize, rows: usize, columns: usize, out: &mut [T]);

/// A [`TransposeBlock`] that moves each item by itself.
#[inline(always)]
pub(super) fn transpose_items<T: Copy>(block: &[T], side: usize, rows: usize, columns: usize, out: &mut [T]) {
    for (row, out) in out.chunks_exact_mut(side).take(rows).enumerate() {
        out[..columns].iter_mut().zip(block[row..].iter().step_by(side)).for_each(|(to, from)| *to = *from);
    }
}

/// A [`TransposeBlock`] of items of `N` bytes. Those of 1 and of 2 bytes are moved as words of 8 bytes, and `side` must be a multiple
/// of 16: squares of 8 or 4 items a side are transposed within 8 or 4 words. Single bytes took 4 times as long.
pub(super) fn transpose_words<const N: usize>(
    block: &[[u8; N]],
    side: usize,
    rows: usize,
    columns: usize,
    out: &mut [[u8; N]],
) {
    match N {
        1 => squares(block.as_flattened(), side, rows, columns, out.as_flattened_mut(), |words: &mut [Words; 8]| {
            exchange(words, 4, 0x0000_0000_ffff_ffff);
            exchange(words, 2, 0x0000_ffff_0000_ffff);
            exchange(words, 1, 0x00ff_00ff_00ff_00ff);
        }),
        2 => {
            squares(
                block.as_flattened(),
                2 * side,
                2 * rows,
                columns,
                out.as_flattened_mut(),
                |words: &mut [Words; 4]| {
                    exchange(words, 2, 0x0000_0000_ffff_ffff);
                    exchange(words, 1, 0x0000_ffff_0000_ffff);
                },
            );
        }
        _ => transpose_items(block, side, rows, columns, out),
    }
}

/// A word of each of two squares, which are transposed together.
type Words = [u64; 2];

/// Transposes a block by squares of `W` items a side, each a row of `W` words. `side` and `rows` count bytes.
#[inline(always)]
fn squares<const W: usize>(
    block: &[u8],
    side: usize,
    rows: usize,
    columns: usize,
    out: &mut [u8],
    transpose: impl Fn(&mut [Words; W]),
) {
    let size = 8 / W;
    for column in (0..columns).step_by(W) {
        for row in (0..rows).step_by(16) {
            let mut words = [Words::default(); W];
            for (n, words) in words.iter_mut().enumerate() {
                let bytes: [u8; 16] = *block[(column + n) * side + row..].first_chunk().expect("whole words");
                let whole = u128::from_le_bytes(bytes);
                *words = [whole as u64, (whole >> 64) as u64];
            }
            transpose(&mut words);
            for (square, row) in [row, row + 8].into_iter().enumerate() {
                for (n, words) in words.iter().enumerate() {
                    let at = (row / size + n) * side + column * size;
                    *out[at..].first_chunk_mut().expect("whole words") = words[square].to_le_bytes();
                }
            }
        }
    }
}

/// Exchanges the upper half of each group of `2 * apart` items of a word for the lower half of that group in the word that is
/// `apart` words later. `lower` has the bits of all lower halves.
#[inline(always)]
fn exchange<const W: usize>(words: &mut [Words; W], apart: usize, lower: u64) {
    let bits = apart * 64 / W;
    for n in 0..W {
        if n & apart == 0 {
            // by values, which the compiler keeps in registers
            let ([one, two], [later_one, later_two]) = (words[n], words[n + apart]);
            let differ = [(one >> bits ^ later_one) & lower, (two >> bits ^ later_two) & lower];
            words[n + apart] = [later_one ^ differ[0], later_two ^ differ[1]];
            words[n] = [one ^ differ[0] << bits, two ^ differ[1] << bits];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>() {
        let (side, item) = (16, |at: usize| [at as u8, (at >> 8) as u8, 7, 9, 11].as_slice()[..N].try_into().unwrap());
        let block: Vec<[u8; N]> = (0..side * side).map(item).collect();
        for (rows, columns) in [(16, 16), (1, 1), (9, 3), (3, 9), (16, 5), (7, 16), (0, 4), (4, 0)] {
            let (mut words, mut items) = (vec![[255; N]; side * side], vec![[255; N]; side * side]);
            transpose_words(&block, side, rows, columns, &mut words);
            transpose_items(&block, side, rows, columns, &mut items);
            for row in 0..rows {
                for column in 0..columns {
                    let (at, expected) = (row * side + column, block[column * side + row]);
                    assert_eq!([words[at], items[at]], [expected; 2], "{N} bytes, {rows} x {columns}: {row} {column}");
                }
            }
        }
    }

    #[test]
    fn blocks_of_items() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<4>();
        check::<5>();
    }
}
