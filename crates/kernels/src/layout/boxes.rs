//! The sides of boxes, chosen for long reads and writes.

/// Ratios of written to read piece lengths. A write takes longer than a read, but with short rows a box written in one
/// piece may be the cheapest.
const RATIOS: [usize; 4] = [1, 8, 64, usize::MAX];

/// Returns the sides of boxes of about `items` items, one per ratio of written to read pieces. Written pieces grow
/// along the last output axes, read pieces along the first of `stored`, the axes in storage order, innermost first.
///
/// A 4 MiB box of float32 is thus read in pieces of 1 KiB and written in pieces of 8 KiB.
pub fn tiles(shape: &[usize], stored: &[usize], items: usize) -> Vec<Vec<usize>> {
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    let grown = |times: usize| {
        let mut sides = vec![1; shape.len()];
        loop {
            let volume: usize = sides.iter().product();
            let (read, read_end) = piece(&sides, shape, stored);
            let (written, written_end) = piece(&sides, shape, &seen);
            let is_written_next = written < read.saturating_mul(times);
            let ends = if is_written_next { [written_end, read_end] } else { [read_end, written_end] };
            let grown = ends.into_iter().flatten().find_map(|axis| {
                let most = (items / (volume / sides[axis])).min(shape[axis]);
                (most > sides[axis]).then(|| (axis, most.min(2 * sides[axis])))
            });
            match grown {
                Some((axis, side)) => sides[axis] = side,
                None => break,
            }
        }
        let even = |(&side, &dim): (&usize, &usize)| dim.div_ceil(dim.div_ceil(side).max(1)).max(1);
        sides.iter().zip(shape).map(even).collect()
    };
    RATIOS.into_iter().map(grown).collect()
}

/// Returns the [tile](tiles) with the fewest calls, if a write costs as much as 8 reads.
pub fn tile(shape: &[usize], stored: &[usize], items: usize) -> Vec<usize> {
    tile_by(shape, stored, items, |[read, written]| 1.0 / read as f64 + 8.0 / written as f64)
}

/// Returns the cheapest [tile](tiles); `cost` maps contiguous items in storage and output to a cost per item.
pub fn tile_by(shape: &[usize], stored: &[usize], items: usize, cost: impl Fn([usize; 2]) -> f64) -> Vec<usize> {
    let cost = |sides: &Vec<usize>| cost(pieces(sides, shape, stored));
    let best = tiles(shape, stored, items).into_iter().min_by(|one, other| cost(one).total_cmp(&cost(other)));
    best.expect("there are ratios")
}

/// Returns the contiguous items of a box in storage and in the output.
pub fn pieces(sides: &[usize], shape: &[usize], stored: &[usize]) -> [usize; 2] {
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    [stored, &seen].map(|axes| piece(sides, shape, axes).0)
}

fn piece(sides: &[usize], shape: &[usize], axes: &[usize]) -> (usize, Option<usize>) {
    let mut piece = 1;
    let end = axes.iter().copied().find(|&axis| {
        piece *= sides[axis];
        sides[axis] < shape[axis]
    });
    (piece, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_boxes() {
        let rows = [
            ([4, 1, 18078], [4, 18078]),
            ([4, 29, 18078], [116, 29 * 18078]),
            ([4, 58, 10], [2320, 10]),
            ([3, 58, 10], [3, 10]),
        ];
        for (sides, wanted) in rows {
            assert_eq!(pieces(&sides, &[4, 58, 18078], &[0, 1, 2]), wanted, "{sides:?}");
        }
    }

    #[test]
    fn sides_of_tiles() {
        // shape, stored axes, items, ratio, sides
        type Row = (&'static [usize], &'static [usize], usize, usize, &'static [usize]);
        let rows: [Row; 14] = [
            (&[1024, 1024], &[0, 1], 1024, 8, &[16, 64]),
            (&[1024, 1024], &[0, 1], 1024, 1, &[32, 32]),
            (&[1024, 1024], &[0, 1], 1024, usize::MAX, &[1, 1024]),
            (&[1000, 1000], &[0, 1], 1024, 8, &[16, 63]),
            (&[1000, 3], &[0, 1], 100, 8, &[33, 3]),
            (&[3, 1000], &[0, 1], 100, 8, &[3, 33]),
            (&[6, 5, 139_810], &[0, 1, 2], 131_072, 8, &[6, 5, 4237]),
            (&[5, 14463, 58], &[2, 0, 1], 131_072, 8, &[5, 439, 58]),
            (&[50, 3, 20, 20], &[1, 3, 2, 0], 2400, 8, &[2, 3, 20, 20]),
            (&[678, 94, 522], &[2, 0, 1], 262_144, usize::MAX, &[5, 94, 522]),
            (&[4, 4], &[0, 1], 100, 8, &[4, 4]),
            (&[5, 1, 7], &[0, 2, 1], 14, 8, &[2, 1, 7]),
            (&[9, 9], &[0, 1], 1, 8, &[1, 1]),
            (&[9, 9], &[0, 1], 0, 8, &[1, 1]),
        ];
        for (shape, stored, items, ratio, wanted) in rows {
            let at = RATIOS.iter().position(|&it| it == ratio).unwrap();
            assert_eq!(tiles(shape, stored, items)[at], wanted, "{shape:?} {stored:?} {items} {ratio}");
        }
    }
}
