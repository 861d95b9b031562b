use super::groups::{Keep, group};
use super::*;
use crate::layout::window::Windows;

/// Targets of axes of those dims in C order.
fn targets_of(dims: &[usize], count: usize, negative: bool) -> Targets {
    let stride = |n: usize| dims[n + 1..].iter().product();
    Targets::new(dims.iter().enumerate().map(|(n, &dim)| (dim, stride(n))).collect(), count, negative)
}

fn entries(numbers: &[i64], dim: usize, unique: bool) -> Vec<(usize, usize)> {
    let keep = Keep { unique, repeats: true, group: 2, count: numbers.len() };
    let mut targets = targets_of(&[dim], numbers.len(), true);
    let mut second = targets.part(2);
    targets.extend(numbers[..2].iter().copied()).unwrap();
    second.extend(numbers[2..].iter().copied()).unwrap();
    let entries = group(vec![targets, second], keep).unwrap();
    let mut all = Vec::new();
    entries.visit(0, 4, |target, position| all.push((target, position)));
    entries.visit(4, dim, |target, position| all.push((target, position)));
    all.sort_by_key(|(target, _)| *target); // stable: the order within a target is kept
    all
}

#[test]
fn the_order_of_positions_is_kept() {
    for dim in [5, 1 << 40] {
        let last = if dim == 5 { -1 } else { 4 };
        let sorted = [(1, 1), (1, 4), (1, 5), (3, 0), (3, 2), (4, 3)];
        assert_eq!(entries(&[3, 1, 3, last, 1, 1], dim, false), sorted);
    }
    // more tuples than places: the losers are dropped
    assert_eq!(entries(&[3, 1, 3, -1, 1, 1], 5, true), [(1, 5), (3, 2), (4, 3)]);
}

#[test]
fn repeats_are_named() {
    let repeat = |numbers: &[i64]| {
        let mut targets = targets_of(&[5], numbers.len(), true);
        targets.extend(numbers.iter().copied()).unwrap();
        group(vec![targets], Keep { unique: true, repeats: false, group: 1, count: numbers.len() }).err()
    };
    assert_eq!(repeat(&[4, 3, 2, 1, 0]), None);
    assert_eq!(repeat(&[4, 0, 1, -5, 4, 4]), Some((3, 1)));
    let empty = targets_of(&[], 3, true);
    assert_eq!(group(vec![empty], Keep { unique: true, repeats: false, group: 1, count: 3 }), Err((1, 0)));
}

#[test]
fn numbers_out_of_range() {
    let bad = |negative, numbers: &[i64]| targets_of(&[2, 3], 2, negative).extend(numbers.iter().copied()).err();
    assert_eq!(bad(true, &[-2, -3, 1, 2]), None);
    assert_eq!(bad(true, &[0, 0, 0, 3]), Some(BadIndex { position: 3, value: "3".into() }));
    assert_eq!(bad(true, &[0, 0, -3]), Some(BadIndex { position: 2, value: "-3".into() }));
    assert_eq!(bad(false, &[0, -1]), Some(BadIndex { position: 1, value: "-1".into() }));
    let huge = targets_of(&[2], 1, true).extend([1_u64 << 63]).err();
    assert_eq!(huge, Some(BadIndex { position: 0, value: "9223372036854775808".into() }));
}

#[test]
fn runs_of_any_window() {
    let mut targets = targets_of(&[4], 3, false);
    targets.extend([2_u8, 0, 2]).unwrap();
    let scatter = Scatter {
        outer: 2,
        dim: 4,
        block: 3,
        count: 3,
        entries: group(vec![targets], Keep { unique: false, repeats: true, group: 2, count: 3 }).unwrap(),
        updates_axes: None,
    };
    let updates: Vec<usize> = (100..118).collect();
    let add = |old: &mut [usize], updates: &[usize]| old.iter_mut().zip(updates).for_each(|(o, u)| *o += u);
    let mut expected = vec![0; 24];
    for (outer, position, place) in [(0, 0, 2), (0, 1, 0), (0, 2, 2), (1, 0, 2), (1, 1, 0), (1, 2, 2)] {
        let old: &mut [usize] = &mut expected[(outer * 4 + place) * 3..][..3];
        add(old, &updates[(outer * 3 + position) * 3..][..3]);
    }
    for shape in [&[2, 4, 3][..], &[24]] {
        for items in [1, 2, 3, 5, 7, 12, 24] {
            let mut out = vec![0; 24];
            for window in Windows::new(shape, items).iter() {
                let part = &mut out[window.start..][..window.items()];
                scatter.runs(&window, |run| add(&mut part[run.to..][..run.len], &updates[run.from..][..run.len]));
            }
            assert_eq!(out, expected, "{shape:?} by {items}");
        }
    }
}
