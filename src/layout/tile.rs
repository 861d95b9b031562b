//! Boxes for what is stored across the order in which it is wanted.

/// A piece that is written is worth so many of the same length that are read: a file system keeps a record of each write, so
/// that one of 3 KB took six times as long as its share of a long one, where a read of as much took a third longer than its own.
pub const WRITES_PER_READ: usize = 8;

/// Returns the sides of boxes of about `items` items of an output of that shape whose items are stored along the axes `stored`,
/// beginning with the one along which they lie side by side. What is contiguous in a box where it is read, and what is where it
/// is written, are both made as long as they can be: the former along the first of these axes, the latter along the last of the
/// output. So a box of 4 MiB of float32 is read in pieces of 1 KiB and written in pieces of 8 KiB, where one that is contiguous
/// in the output, with a row of 64 KiB, would be read in pieces of 1 KiB, a system call each. Axes that come last in both orders
/// are taken whole, and those that are short make all of a box one piece.
pub fn tile(shape: &[usize], stored: &[usize], items: usize) -> Vec<usize> {
    // the items of a piece, and the axis along which it ends
    let piece = |sides: &[usize], axes: &[usize]| {
        let mut piece = 1;
        let end = axes.iter().copied().find(|&axis| {
            piece *= sides[axis];
            sides[axis] < shape[axis]
        });
        (piece, end)
    };
    let seen: Vec<usize> = (0..shape.len()).rev().collect();
    // grows a box whose pieces that are written are about so many times as long as those that are read, and tells its cost
    let grown = |times: usize| {
        let mut sides = vec![1; shape.len()];
        loop {
            let volume: usize = sides.iter().product();
            let (read, read_end) = piece(&sides, stored);
            let (written, written_end) = piece(&sides, &seen);
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
        // as many boxes along each axis, none of them much smaller than the others
        let even = |(&side, &dim): (&usize, &usize)| dim.div_ceil(dim.div_ceil(side).max(1)).max(1);
        let sides: Vec<usize> = sides.iter().zip(shape).map(even).collect();
        let (read, written) = (piece(&sides, stored).0, piece(&sides, &seen).0);
        (1.0 / read as f64 + WRITES_PER_READ as f64 / written as f64, sides)
    };
    // where rows are short, a box that is written as one piece may cost less than one with longer pieces to read
    let shares = [WRITES_PER_READ, 1, WRITES_PER_READ * WRITES_PER_READ, usize::MAX];
    let best = shares.map(grown).into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other));
    best.expect("there are shares").1
}

#[cfg(test)]
mod tests {
    use super::tile;

    #[test]
    fn sides_of_tiles() {
        // shape, axes as they are stored, items, sides
        type Row = (&'static [usize], &'static [usize], usize, &'static [usize]);
        let rows: [Row; 12] = [
            (&[1024, 1024], &[0, 1], 1024, &[16, 64]),
            (&[1000, 1000], &[0, 1], 1024, &[16, 63]),
            // a short axis leaves its share to the others
            (&[1000, 3], &[0, 1], 100, &[33, 3]),
            (&[3, 1000], &[0, 1], 100, &[3, 33]),
            // all that is read or written lies together
            (&[6, 5, 139_810], &[0, 1, 2], 131_072, &[6, 5, 4237]),
            (&[5, 14463, 58], &[2, 0, 1], 131_072, &[5, 439, 58]),
            (&[50, 3, 20, 20], &[1, 3, 2, 0], 2400, &[2, 3, 20, 20]),
            // rows that are short where they are read: all of a box is one piece where it is written
            (&[678, 94, 522], &[2, 0, 1], 262_144, &[5, 94, 522]),
            (&[4, 4], &[0, 1], 100, &[4, 4]),
            (&[5, 1, 7], &[0, 2, 1], 14, &[2, 1, 7]),
            (&[9, 9], &[0, 1], 1, &[1, 1]),
            (&[9, 9], &[0, 1], 0, &[1, 1]),
        ];
        for (shape, stored, items, wanted) in rows {
            assert_eq!(tile(shape, stored, items), wanted, "{shape:?} {stored:?} {items}");
        }
    }
}
