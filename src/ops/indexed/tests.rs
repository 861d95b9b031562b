use std::num::NonZero;

use ndarray::{ArrayD, IxDyn, aview1};

use super::*;
use crate::item::dtype::DType;
use crate::item::meta::Order;
use crate::item::tensor::Tensor;
use crate::layout::window::{Window, Windows};
use crate::ops::converted::Converted;
use crate::ops::fill::Limits;
use crate::ops::machine::Machine;
use crate::ops::reduction::{self, Combine, Reduction, Repeats};
use crate::ops::tally::Put;
use crate::ops::{scatter_nd, scatter_update};
use crate::parallel::Threads;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

fn limits(threads: usize) -> Limits {
    Limits { threads: Threads::new(NonZero::new(threads)).started_for(0), ..Limits::default() }
}

/// The same, with so few entries at a time that most index tensors take several sweeps.
fn in_sweeps(threads: usize) -> Limits {
    Limits { machine: Machine::with_windows_of(0), ..limits(threads) }
}

fn source<T: crate::item::element::Element>(shape: &[usize], items: Vec<T>) -> Source {
    Source::memory(Tensor::from(&ArrayD::from_shape_vec(IxDyn(shape), items).unwrap()), "x".to_owned())
}

/// Updates of int16, numbered from 1.
fn updates(shape: &[usize]) -> Converted {
    let dtype = DType::parse("int16").unwrap();
    let items = (1..=shape.iter().product::<usize>() as i16).collect();
    Converted::new(source(shape, items), Conversion::new(&dtype, &dtype).unwrap())
}

/// What a scatter makes of zeros, window by window.
fn applied(
    sweeps: &Sweeps,
    given: Option<&Converted>,
    updates: &Converted,
    (shape, items): (&[usize], usize),
    add: Option<Combine>,
) -> Vec<i16> {
    let mut out = vec![0; 2 * shape.iter().product::<usize>()];
    let all = updates.source.as_bytes().unwrap();
    for window in Windows::new(shape, items).iter() {
        let out = &mut out[2 * window.start..][..2 * window.items()];
        let before: Vec<u8> = out.to_vec();
        let (mut first, mut last) = (window.items(), 0);
        for number in sweeps.near(&window) {
            let scatter = sweeps.get(number, given).unwrap();
            if scatter.carries_updates() {
                scatter.apply(&window, 2, out, &mut add.map_or(Put::Replace, Put::Combine));
            } else {
                scatter.runs(&window, |ItemRun { to, from, len }| {
                    let (old, new) = (&mut out[2 * to..][..2 * len], &all[2 * from..][..2 * len]);
                    match add {
                        None => old.copy_from_slice(new),
                        Some(add) => (add.blocks)(old, new),
                    }
                });
            }
            let extent = scatter.extent(&window);
            if !extent.is_empty() {
                (first, last) = (first.min(extent.start), last.max(extent.end));
            }
        }
        let (first, last) = (first.min(last), last);
        assert_eq!((&before[..2 * first], &before[2 * last..]), (&out[..2 * first], &out[2 * last..]), "{window:?}");
    }
    out.as_chunks().0.iter().map(|item| i16::from_le_bytes(*item)).collect()
}

#[test]
fn any_windows_parts_and_payloads() {
    let int16 = DType::parse("int16").unwrap();
    let sum = reduction::combine(&int16, Reduction::Add).unwrap();
    // data, axes that are indexed, numbers (as many as tuples of them)
    let rows: [(&[usize], usize, &[i64]); 6] = [
        (&[9], 1, &[3, 8, 3, 0, 3, 8, 1]),
        (&[4, 3], 1, &[2, 0, 2]),
        (&[4, 3], 2, &[2, 1, 0, 0, 2, 1, -1, -1]),
        (&[2, 3, 2], 2, &[1, 2, 0, 0, 1, 2]),
        (&[5, 0], 1, &[4, 4]),
        (&[3, 8], 1, &[2, 2, 0]),
    ];
    for (shape, width, numbers) in rows {
        let count = numbers.len() / width;
        let shapes = scatter_nd::check(shape, &[count, width], None).unwrap();
        let updates = updates(&shapes.updates);
        let numbers_of = shapes.clone().in_order(Order::C);
        let items = updates.source.as_bytes().unwrap().as_chunks().0;
        let items: Vec<i16> = items.iter().map(|item| i16::from_le_bytes(*item)).collect();
        for (repeats, add) in [(Repeats::LastWins, None), (Repeats::Combined, sum)] {
            let combine = |old: i16, new: i16| if add.is_some() { old + new } else { new };
            let (data, indices) = (ArrayD::zeros(shape), aview1(numbers));
            let expected =
                shapes.clone().scatter(&data, &indices, &aview1(&items), combine).unwrap().into_raw_vec_and_offset().0;
            for threads in [1, 2, 5] {
                for group in [1, 2, 3, 4, 6, 8, 100] {
                    for (given, limits) in [None, Some(&updates)]
                        .into_iter()
                        .flat_map(|given| [(given, limits(threads)), (given, in_sweeps(threads))])
                    {
                        let indices = source(&[count, width], numbers.to_vec());
                        let grouping = Grouping { repeats, group };
                        let sweeps = Sweeps::new(numbers_of.clone(), indices, given, grouping, limits).unwrap();
                        // updates that are carried along belong to whole blocks
                        let items = if sweeps.carries_updates() { group } else { group + 1 };
                        let found = applied(&sweeps, given, &updates, (shape, items), add);
                        let what = format!("{numbers:?} {repeats:?} {threads} {group} {}", given.is_some());
                        assert_eq!(found, expected, "{shape:?} {what} {limits:?}");
                        assert!(
                            limits.machine == Machine::default() || sweeps.all().len() > 1 || shape == [5, 0],
                            "{shape:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn axes_inside_and_in_fortran_order() {
    // outer places, and updates of a tensor that is stored across: axes reversed, so that [2, 3] is stored as [3, 2]
    for (limits, sweeps) in [(limits(2), 1), (in_sweeps(2), 2)] {
        for (order, shape, expected) in
            [(Order::C, [2, 3], [2, 0, 1, 4, 0, 3]), (Order::Fortran, [3, 2], [3, 4, 0, 0, 1, 2])]
        {
            let numbers = scatter_update::check(&[2, 3], &[2], None, 1).unwrap().in_order(order);
            let indices = source(&[2], vec![2_u8, 0]);
            let made =
                Sweeps::new(numbers.clone(), indices, None, Grouping { repeats: Repeats::LastWins, group: 2 }, limits)
                    .unwrap();
            assert_eq!(applied(&made, None, &updates(&[2, 2]), (&shape, 2), None), expected, "{order:?} {sweeps}");
            assert_eq!(made.all().len(), sweeps);
        }
    }
}

#[test]
fn repeats_are_named() {
    let repeat = |numbers: &[i64], limits| {
        let shapes = scatter_nd::check(&[5], &[numbers.len(), 1], None).unwrap().in_order(Order::C);
        let indices = source(&[numbers.len(), 1], numbers.to_vec());
        let refused = Sweeps::new(shapes, indices, None, Grouping { repeats: Repeats::Refused, group: 2 }, limits);
        refused.err().map(|error| error.message().to_owned())
    };
    for limits in [1, 2, 6].into_iter().flat_map(|threads| [limits(threads), in_sweeps(threads)]) {
        assert_eq!(repeat(&[4, 3, 2, 1, 0], limits), None);
        let message = "the index at [3] repeats the one at [1]";
        assert_eq!(repeat(&[4, 0, 1, -5, 4, 4], limits).as_deref(), Some(message));
    }
    let whole = scatter_nd::check(&[5], &[3, 0], None).unwrap().in_order(Order::C);
    let none = source(&[3, 0], Vec::<i64>::new());
    let refused = Sweeps::new(whole, none, None, Grouping { repeats: Repeats::Refused, group: 1 }, limits(1));
    assert_eq!(refused.unwrap_err().message(), "the index at [1] repeats the one at [0]");
}

#[test]
fn the_first_number_out_of_range_is_named() {
    let bad = |numbers: &[i64], limits| {
        let shape = [numbers.len() / 2, 2];
        let numbers_of = scatter_nd::check(&[2, 3], &shape, None).unwrap().in_order(Order::C);
        let indices = source(&shape, numbers.to_vec());
        let refused = Sweeps::new(numbers_of, indices, None, Grouping { repeats: Repeats::LastWins, group: 2 }, limits);
        refused.err().map(|e| e.message().to_owned())
    };
    for limits in [limits(1), limits(2), in_sweeps(1), in_sweeps(2)] {
        assert_eq!(bad(&[-2, -3, 1, 2], limits), None);
        let message = bad(&[0, 0, 0, 3, 9, 9], limits);
        assert_eq!(message.as_deref(), Some("3 at [1, 1] is out of range: expected [-3, 2] on axis 1 (data [2, 3])"));
    }
    let huge = source(&[1, 2], vec![0, 1_u64 << 63]);
    let numbers = scatter_nd::check(&[2, 3], &[1, 2], None).unwrap().in_order(Order::C);
    let refused =
        Sweeps::new(numbers.clone(), huge, None, Grouping { repeats: Repeats::LastWins, group: 1 }, limits(1))
            .unwrap_err();
    assert!(refused.message().starts_with("9223372036854775808 at [0, 1] is out of range"), "{refused}");
    let whole = Window::whole(&[2, 3]);
    let none = source(&[0, 2], Vec::<i8>::new());
    let none = Sweeps::new(numbers.clone(), none, None, Grouping { repeats: Repeats::LastWins, group: 1 }, limits(4))
        .unwrap()
        .get(0, None)
        .unwrap();
    assert!(none.extent(&whole).is_empty());
}
