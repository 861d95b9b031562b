use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};

use super::runs::Put;
use super::*;
use crate::operators::access::Pattern;
use crate::operators::converted::Converted;
use crate::operators::fill::{Fill, Limits, Machine, Patch, Region, Scratch};
use crate::operators::selection::Selection;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Source;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::kernel::{TensorMut, TensorRef};
use tensorop_kernels::layout::copy::copy_bytes;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::ops::call::{Call, Resolved, ScatterRule};
use tensorop_kernels::ops::indexed::OutOfRange;
use tensorop_kernels::ops::operators::scatter_update::scatter_update;
use tensorop_kernels::ops::operators::{scatter_nd, scatter_update};
use tensorop_kernels::ops::reduction::{self, Combine, Reduction, Repeats};
use tensorop_kernels::ops::tally::Application;
use tensorop_kernels::parallel::Threads;

fn limits(threads: usize) -> Limits {
    Limits { threads: Threads::new(NonZero::new(threads)).started_for(0), ..Limits::default() }
}

/// So few entries at a time that most index tensors take several sweeps.
fn in_sweeps(threads: usize) -> Limits {
    Limits { machine: Machine::with_windows_of(0), ..limits(threads) }
}

fn source<T: tensorop_kernels::item::element::Element>(shape: &[usize], items: Vec<T>) -> Source {
    Source::memory(Tensor::from(&ArrayD::from_shape_vec(IxDyn(shape), items).unwrap()), "x".to_owned())
}

fn updates(shape: &[usize]) -> Converted {
    let dtype = DType::parse("int16").unwrap();
    let items = (1..=shape.iter().product::<usize>() as i16).collect();
    Converted::new(source(shape, items), Conversion::new(&dtype, &dtype).unwrap())
}

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
    // data, number of indexed axes, numbers
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
        let updates_array = ArrayD::from_shape_vec(IxDyn(&shapes.updates), items).unwrap();
        let indices = ArrayD::from_shape_vec(IxDyn(&[count, width]), numbers.to_vec()).unwrap();
        for (repeats, add) in [(Repeats::LastWins, None), (Repeats::Combined, sum)] {
            let data = ArrayD::zeros(shape);
            let expected = match add {
                None => scatter_nd::scatter_nd(&data, &indices, &updates_array),
                Some(_) => scatter_nd::scatter_nd_reduce(&data, &indices, &updates_array, Reduction::Add),
            };
            let expected = expected.unwrap().into_raw_vec_and_offset().0;
            for threads in [1, 2, 5] {
                for group in [1, 2, 3, 4, 6, 8, 100] {
                    for (given, limits) in [None, Some(&updates)]
                        .into_iter()
                        .flat_map(|given| [(given, limits(threads)), (given, in_sweeps(threads))])
                    {
                        let indices = source(&[count, width], numbers.to_vec());
                        let grouping = Grouping { repeats, group, lasts: None };
                        let sweeps = Sweeps::new(numbers_of.clone(), indices, given, grouping, limits).unwrap();
                        // Carried updates belong to whole blocks.
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
    // Outer places, and updates of a tensor in Fortran order: [2, 3] is stored as [3, 2].
    for (limits, sweeps) in [(limits(2), 1), (in_sweeps(2), 2)] {
        for (order, shape, expected) in
            [(Order::C, [2, 3], [2, 0, 1, 4, 0, 3]), (Order::Fortran, [3, 2], [3, 4, 0, 0, 1, 2])]
        {
            let numbers = scatter_update::check(&[2, 3], &[2], None, 1).unwrap().in_order(order);
            let indices = source(&[2], vec![2_u8, 0]);
            let made = Sweeps::new(
                numbers.clone(),
                indices,
                None,
                Grouping { repeats: Repeats::LastWins, group: 2, lasts: None },
                limits,
            )
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
        let refused =
            Sweeps::new(shapes, indices, None, Grouping { repeats: Repeats::Refused, group: 2, lasts: None }, limits);
        refused.err().map(|error| error.message().to_owned())
    };
    for limits in [1, 2, 6].into_iter().flat_map(|threads| [limits(threads), in_sweeps(threads)]) {
        assert_eq!(repeat(&[4, 3, 2, 1, 0], limits), None);
        let message = "the index at [3] repeats the one at [1]";
        assert_eq!(repeat(&[4, 0, 1, -5, 4, 4], limits).as_deref(), Some(message));
    }
    let (rows, spec) = (source(&[2, 2], vec![3_i32, 1, 0, 1]), scatter_update::check(&[4], &[2, 2], None, 0).unwrap());
    let grouping = Grouping { repeats: Repeats::Refused, group: 1, lasts: None };
    let refused = Sweeps::new(spec.in_order(Order::C), rows, None, grouping, limits(1));
    assert_eq!(refused.unwrap_err().to_string(), "indices: the index at [1, 1] repeats the one at [0, 1]");
    let whole = scatter_nd::check(&[5], &[3, 0], None).unwrap().in_order(Order::C);
    let none = source(&[3, 0], Vec::<i64>::new());
    let refused =
        Sweeps::new(whole, none, None, Grouping { repeats: Repeats::Refused, group: 1, lasts: None }, limits(1));
    assert_eq!(refused.unwrap_err().message(), "the index at [1] repeats the one at [0]");
}

#[test]
fn the_first_number_out_of_range_is_named() {
    let bad = |numbers: &[i64], limits| {
        let shape = [numbers.len() / 2, 2];
        let numbers_of = scatter_nd::check(&[2, 3], &shape, None).unwrap().in_order(Order::C);
        let indices = source(&shape, numbers.to_vec());
        let refused = Sweeps::new(
            numbers_of,
            indices,
            None,
            Grouping { repeats: Repeats::LastWins, group: 2, lasts: None },
            limits,
        );
        refused.err().map(|e| e.message().to_owned())
    };
    for limits in [limits(1), limits(2), in_sweeps(1), in_sweeps(2)] {
        assert_eq!(bad(&[-2, -3, 1, 2], limits), None);
        let message = bad(&[0, 0, 0, 3, 9, 9], limits);
        assert_eq!(message.as_deref(), Some("3 at [1, 1] is out of range: expected [-3, 2] on axis 1 (data [2, 3])"));
    }
    let huge = source(&[1, 2], vec![0, 1_u64 << 63]);
    let numbers = scatter_nd::check(&[2, 3], &[1, 2], None).unwrap().in_order(Order::C);
    let refused = Sweeps::new(
        numbers.clone(),
        huge,
        None,
        Grouping { repeats: Repeats::LastWins, group: 1, lasts: None },
        limits(1),
    )
    .unwrap_err();
    assert!(refused.message().starts_with("9223372036854775808 at [0, 1] is out of range"), "{refused}");
    let whole = Window::whole(&[2, 3]);
    let none = source(&[0, 2], Vec::<i8>::new());
    let none = Sweeps::new(
        numbers.clone(),
        none,
        None,
        Grouping { repeats: Repeats::LastWins, group: 1, lasts: None },
        limits(4),
    )
    .unwrap()
    .get(0, None)
    .unwrap();
    assert!(none.extent(&whole).is_empty());
}

fn stored(meta: Meta, bytes: Vec<u8>) -> Source {
    Source::stored(meta, Arc::new(MemoryBytes::new(bytes)), 0, "x".to_owned()).unwrap()
}

/// Also checks the touched windows.
fn filled(scatter: &LinkedScatter, items: usize) -> (Vec<u8>, Vec<usize>) {
    let (meta, itemsize) = (scatter.meta(), scatter.meta().dtype.itemsize());
    let (mut out, mut scratch) = (vec![255; meta.bytes()], Scratch::default());
    for start in (0..meta.items()).step_by(items) {
        let run = start..meta.items().min(start + items);
        let out = &mut out[start * itemsize..run.end * itemsize];
        scatter.fill(&Region::Run(run), out, &mut scratch).unwrap();
    }
    let windows = Windows::new(&meta.shape, items);
    let touched = scatter.touched(&windows, 0..windows.count()).unwrap();
    for number in 0..windows.count() {
        let window = windows.get(number);
        let extent = scatter.extent(&window).unwrap();
        assert_eq!(extent.is_empty(), !touched.contains(&number), "{window:?}");
        let bytes = window.start * itemsize..(window.start + window.items()) * itemsize;
        let outside = |n: usize| !extent.contains(&(n / itemsize));
        // The data are zeros, and the updates are not.
        assert!(out[bytes].iter().enumerate().all(|(n, &byte)| byte == 0 || !outside(n)), "{window:?} {extent:?}");
    }
    (out, touched)
}

fn in_fortran_order(shape: &[usize], itemsize: usize, bytes: &[u8]) -> Vec<u8> {
    let mut moved = vec![0; bytes.len()];
    copy_bytes(bytes, &View::c_order(shape), &mut moved, &View::fortran_order(shape), itemsize);
    moved
}

#[test]
fn outer_places_get_the_last_update_of_each_place() {
    let random = |n: i64| (n * n * 7 + n * 13 + 5) % 1009;
    // data, axis, numbers
    let rows: [(&[usize], i64, Vec<i64>); 13] = [
        (&[4, 7], 1, vec![5, 0, 5, 3]),
        (&[4, 7], 1, (0..7).collect()),
        (&[4, 7], 1, vec![2, 3, 4, 6]),
        (&[4, 7], 1, (0..40).map(|n| random(n) % 7).collect()),
        (&[7, 4], 0, vec![6, 6, 0]),
        (&[3, 5, 2], 1, vec![4, 1, 2, 4]),
        (&[3, 5, 3], 1, vec![1, 2, 0]),
        (&[3, 1], 1, vec![0]),
        (&[3, 1, 4], 1, vec![0, 0]),
        // many short outer places, and few long ones
        (&[1400, 3], 1, vec![2]),
        (&[1100, 2, 2], 1, vec![1, 0]),
        (&[2, 900], 1, (0..450).map(|n| random(n) % 900).collect()),
        (&[2, 3000], 1, vec![2999, 17, 18]),
    ];
    let places = [
        ("in a file", Order::C, false),
        ("in memory", Order::C, false),
        ("one item", Order::C, false),
        ("in a file", Order::Fortran, false),
        ("in a file", Order::C, true),
    ];
    for (shape, axis, numbers) in rows {
        let indices = ArrayD::from_shape_vec(IxDyn(&[numbers.len()]), numbers.clone()).unwrap();
        let spec = scatter_update::check(shape, &[numbers.len()], None, axis).unwrap();
        let counted = |axes: &[usize]| {
            ArrayD::from_shape_vec(IxDyn(axes), (0..axes.iter().product::<usize>()).collect()).unwrap()
        };
        // The update of each item, counted from 1.
        let which =
            scatter_update(&counted(shape).mapv(|_| 0), &indices, &counted(&spec.updates).mapv(|n| n + 1), axis);
        let which = which.unwrap();
        for (dtype, (given, order, in_place)) in
            ["uint8", "V20"].into_iter().flat_map(|name| places.map(|place| (DType::parse(name).unwrap(), place)))
        {
            let itemsize = dtype.itemsize();
            // No byte is 0, as in the data.
            let item = |n: usize| (0..itemsize).map(move |byte| (n * 31 + byte * 7) as u8 | 1).collect::<Vec<u8>>();
            let new: Vec<u8> = (1..=spec.updates.iter().product()).flat_map(item).collect();
            let number = |n: usize| if given == "one item" { 3 } else { n };
            let expected: Vec<u8> =
                which.iter().flat_map(|&n| if n == 0 { vec![0; itemsize] } else { item(number(n)) }).collect();
            let meta = Meta { order, ..Meta::c_order(dtype.clone(), spec.updates.clone()) };
            let updates = || match (given, order) {
                ("one item", _) => Source::item(meta.clone(), item(3), "x".to_owned()),
                ("in memory", _) => {
                    let tensor = Tensor::new(dtype.clone(), meta.shape.clone(), new.clone()).unwrap();
                    Source::memory(tensor, "x".to_owned())
                }
                (_, Order::C) => stored(meta.clone(), new.clone()),
                (_, Order::Fortran) => stored(meta.clone(), in_fortran_order(&meta.shape, itemsize, &new)),
            };
            let short = Machine::with_windows_of(40);
            // Updates are read together for an outer place, run by run, or per window.
            let machines = [Machine { read: 1 << 20, ..short }, short, Machine::with_windows_of(0), Machine::default()];
            for (threads, machine) in [2, 1, 1, 2].into_iter().zip(machines) {
                let limits = Limits { machine, ..limits(threads) };
                let order = if in_place { Order::Fortran } else { Order::C };
                let meta = Meta { order, ..Meta::c_order(dtype.clone(), shape.to_vec()) };
                let bytes = meta.bytes();
                let operands = ScatterOperands {
                    base: Selection::base(stored(meta, vec![0; bytes]), in_place),
                    indices: source(&[numbers.len()], numbers.clone()),
                    updates: Converted::new(updates(), Conversion::identity(&dtype)),
                };
                let rule = ScatterRule { repeats: Repeats::LastWins, application: Application::Replace };
                let mut scatter = LinkedScatter::new(spec.clone(), operands, rule, limits).unwrap();
                for holding in scatter.holdings(0, &limits) {
                    scatter.hold(&holding, &limits).unwrap();
                }
                let expected = if in_place { in_fortran_order(shape, itemsize, &expected) } else { expected.clone() };
                let items = bytes / itemsize;
                let windows = if items < 100 { [1, 5, items] } else { [300, 777, items] };
                // Short windows make several sweeps again and again.
                for window in windows.into_iter().skip(if machine.entries == 0 && items > 100 { 2 } else { 0 }) {
                    let (found, touched) = filled(&scatter, window);
                    let what = format!("{shape:?} {numbers:?} {dtype} {given} {order:?} {} {window}", machine.window);
                    assert!(found == expected, "{what}");
                    let windows = Windows::new(&scatter.meta().shape, window);
                    let is_changed = |number: &usize| {
                        let window = windows.get(*number);
                        expected[window.start * itemsize..][..window.items() * itemsize].iter().any(|&byte| byte != 0)
                    };
                    assert_eq!(touched, (0..windows.count()).filter(is_changed).collect::<Vec<_>>(), "{what}");
                }
            }
        }
    }
}

#[test]
fn gathers_from_both_orders_of_storage() {
    let random = |n: i64| (n * n * 7 + n * 13 + 5) % 1009;
    let numbers = |count: usize, below: i64| (0..count as i64).map(|n| random(n) % below).collect::<Vec<_>>();
    let gather =
        |axis, batch_dims, out_of_range| Call::Gather { axis, batch_dims, out_of_range, counts_from_end: true };
    let or_zero = |axis| gather(axis, 0, OutOfRange::Zero);
    let batched = |axis, batch_dims| gather(axis, batch_dims, OutOfRange::Error);
    let tuples = |batch_dims| Call::GatherNd { batch_dims };
    let elements = |axis| Call::GatherElements { axis };
    // data, operator, shape of the numbers, numbers
    type Row<'a> = (&'a [usize], Call, &'a [usize], Vec<i64>);
    let rows: [Row<'_>; 12] = [
        (&[9], or_zero(0), &[5], vec![8, 9, -9, -10, 0]),
        (&[7, 40], or_zero(0), &[4], vec![6, 7, 0, 6]),
        (&[7, 40], or_zero(1), &[30], numbers(30, 45)),
        (&[3, 5, 4], batched(1, 0), &[6], numbers(6, 5)),
        (&[3, 5, 4], batched(1, 1), &[3, 2], numbers(6, 5)),
        (&[3, 4, 5], batched(2, 1), &[3, 2], numbers(6, 5)),
        (&[2, 3, 100], batched(1, 0), &[2], vec![2, 0]),
        (&[4, 5, 30], tuples(0), &[7, 2], numbers(14, 4)),
        (&[4, 5, 6], tuples(0), &[9, 3], numbers(27, 4)),
        (&[3, 4, 5, 6], tuples(1), &[3, 2, 2], numbers(12, 4)),
        (&[6, 7], elements(1), &[6, 9], numbers(54, 7)),
        (&[6, 70], elements(0), &[11, 70], numbers(770, 6)),
    ];
    let mut boxed = BTreeSet::new();
    for (shape, call, of, numbers) in rows {
        let items = shape.iter().product::<usize>();
        let resolved = call.resolve(&[&Meta::c_order(DType::INT64, shape.to_vec())], Some(of), None).unwrap();
        let Resolved::Gathered(spec) = resolved.resolved else { unreachable!("all are gathers") };
        // The number of each data item, counted from 1.
        let which = gathered_in_memory(&call, (shape, (1..=items as i64).collect()), (of, numbers.clone()));
        for dtype in ["uint8", "int16", "V20"].map(|name| DType::parse(name).unwrap()) {
            let itemsize = dtype.itemsize();
            let item = |n: usize| (0..itemsize).map(move |byte| (n * 31 + byte * 7) as u8).collect::<Vec<u8>>();
            let old: Vec<u8> = (1..=items).flat_map(item).collect();
            let expected: Vec<u8> =
                which.iter().flat_map(|&n| if n == 0 { vec![0; itemsize] } else { item(n as usize) }).collect();
            for order in [Order::C, Order::Fortran] {
                let meta = Meta { order, ..Meta::c_order(dtype.clone(), shape.to_vec()) };
                let old = if order == Order::C { old.clone() } else { in_fortran_order(shape, itemsize, &old) };
                let tiny = Machine::with_windows_of(100);
                // With `write: 1`, short writes are free.
                let machines = [Machine::with_windows_of(0), tiny, Machine { write: 1, ..tiny }, Machine::default()];
                for (threads, machine) in [1, 2, 2, 2].into_iter().zip(machines) {
                    let (limits, mut data) = (Limits { machine, ..limits(threads) }, stored(meta.clone(), old.clone()));
                    let mut index_tensor = stored(
                        Meta::c_order(DType::parse("int64").unwrap(), of.to_vec()),
                        numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
                    );
                    let linked =
                        |data, index_tensor| LinkedGather::new(data, spec.clone(), index_tensor, limits).unwrap();
                    let ways = linked(data.another().unwrap(), index_tensor.another().unwrap()).ways(&limits);
                    for way in ways {
                        let mut gather = linked(data.another().unwrap(), index_tensor.another().unwrap());
                        gather.take(way);
                        for holding in gather.holdings(way, &limits) {
                            gather.hold(&holding, &limits).unwrap();
                        }
                        if let Pattern::Boxed { sides, .. } = &gather.reads(way)[0].pattern {
                            // Boxes of the operator, and smaller ones that cut its tuples.
                            let halves: Vec<usize> = sides.iter().map(|side| side.div_ceil(2)).collect();
                            for sides in [sides, &halves] {
                                boxed.insert((way, sides == &halves));
                                let out = filled_by_boxes(&gather, sides);
                                assert!(out == expected, "{shape:?} {numbers:?} {dtype} {order:?} {sides:?} way {way}");
                            }
                        }
                        for window in [1, 17, usize::MAX].map(|most: usize| most.min(which.len())) {
                            let mut out = vec![255; which.len() * itemsize];
                            let mut scratch = Scratch::default();
                            for start in (0..which.len()).step_by(window) {
                                let run = start..which.len().min(start + window);
                                let out = &mut out[start * itemsize..run.end * itemsize];
                                gather.fill(&Region::Run(run), out, &mut scratch).unwrap();
                            }
                            let what = format!(
                                "{shape:?} {numbers:?} {dtype} {order:?} {} way {way} {window}",
                                machine.window
                            );
                            assert!(out == expected, "{what}");
                        }
                    }
                }
            }
        }
    }
    assert_eq!(boxed.len(), 4, "elements and parts of blocks: {boxed:?}");
}

fn gathered_in_memory(call: &Call, data: (&[usize], Vec<i64>), indices: (&[usize], Vec<i64>)) -> Vec<i64> {
    let inputs =
        [data, indices].map(|(shape, numbers)| (shape, numbers.iter().flat_map(|n| n.to_le_bytes()).collect()));
    let inputs: [(&[usize], Vec<u8>); 2] = inputs;
    let inputs = inputs.each_ref().map(|(shape, bytes)| TensorRef::new(&DType::INT64, shape, bytes).unwrap());
    let kernel = call.infer(&inputs.each_ref().map(TensorRef::meta)).unwrap();
    let mut out = vec![0; kernel.bytes()];
    kernel.apply(&inputs, TensorMut::new(kernel.dtype(), kernel.shape(), &mut out).unwrap(), 1).unwrap();
    out.as_chunks().0.iter().map(|number| i64::from_le_bytes(*number)).collect()
}

fn filled_by_boxes(gather: &LinkedGather, sides: &[usize]) -> Vec<u8> {
    let (shape, itemsize) = (&gather.meta().shape, gather.meta().dtype.itemsize());
    let (mut out, mut scratch) = (vec![255; gather.meta().bytes()], Scratch::default());
    for window in Windows::boxes(shape, sides).iter() {
        let to = View::c_order(shape).part(&window.ranges);
        let mut items = vec![254; window.items() * itemsize];
        gather.fill(&Region::Box(window), &mut items, &mut scratch).unwrap();
        copy_bytes(&items, &View::c_order(&to.shape()), &mut out, &to, itemsize);
    }
    out
}
