//! Helpers for the tests of several modules.

use super::axis::Span;
use super::view::View;

fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape
        .iter()
        .fold(vec![vec![]], |all, &dim| all.iter().flat_map(|i| (0..dim).map(|d| [&i[..], &[d]].concat())).collect())
}

/// The storage offsets of all items, in C order.
pub(super) fn places(view: &View) -> Vec<usize> {
    let at = |i: &Vec<usize>| {
        i.iter().zip(view.axes.iter()).fold(view.offset as isize, |at, (&i, &(_, stride))| at + i as isize * stride)
            as usize
    };
    indices(&view.shape()).iter().map(at).collect()
}

pub(super) fn span(start: usize, step: isize, len: usize) -> Span {
    Span { start, step, len }
}

/// Views of about 60 items with every kind of stride.
pub(super) fn views() -> Vec<View> {
    let c = View::c_order(&[3, 4, 5]);
    let f = View::fortran_order(&[3, 4, 5]);
    let selections = [
        [span(0, 1, 3), span(0, 1, 4), span(0, 1, 5)],
        [span(2, -1, 3), span(3, -1, 4), span(4, -1, 5)],
        [span(0, 2, 2), span(0, 1, 4), span(0, 1, 5)],
        [span(1, 1, 1), span(3, -2, 2), span(0, 3, 2)],
        [span(0, 1, 3), span(1, 1, 2), span(4, -2, 3)],
        [span(0, 1, 0), span(1, 1, 2), span(4, -2, 3)],
        [span(0, 1, 3), span(0, 1, 4), span(2, 1, 1)],
    ];
    [c, f].iter().flat_map(|view| selections.iter().map(|s| view.select(s))).collect()
}
