//! Random items replaced where a random condition holds, against plain loops: the program on any layout, to an output, in
//! place and from a pipe, and the library on arrays.

use ndarray::{ArrayD, IxDyn};
use tensorop::{Condition, SliceArgs, replace_where};

use crate::common::Random;
use crate::common::{DIVISIONS, Folder, header, indices, items_replaced, npy, npy_with_header, rounds, to_fortran};

/// The numbers that items are, few of them so that conditions often hold.
const NUMBERS: [f32; 9] = [0.0, -0.0, 1.0, -1.0, 2.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45];

/// The names of the conditions, and whether each holds for a number and a value.
type Named = (&'static str, bool, fn(f32, f32) -> bool);

const CONDITIONS: [Named; 9] = [
    ("nan", false, |item, _| item.is_nan()),
    ("inf", false, |item, _| item.is_infinite()),
    ("finite", false, |item, _| item.is_finite()),
    ("==", true, |item, value| item == value),
    ("!=", true, |item, value| !item.is_nan() && item != value),
    ("<", true, |item, value| item < value),
    ("<=", true, |item, value| item <= value),
    (">", true, |item, value| item > value),
    (">=", true, |item, value| item >= value),
];

#[test]
fn items_are_replaced_where_a_condition_holds() {
    let mut random = Random(7);
    let folder = Folder::new();
    for case in 0..rounds(60) {
        let rank = 1 + random.below(3);
        let shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(6)).collect();
        let items: Vec<f32> = (0..shape.iter().product()).map(|_| *random.of(&NUMBERS)).collect();
        let (name, has_value, holds) = *random.of(&CONDITIONS);
        let value = *random.of(&NUMBERS);
        // the program refuses a comparison with NaN, which the library finds true for no item
        let value = if has_value && value.is_nan() { 0.0 } else { value };
        let text = if has_value { format!("{name}{value}") } else { name.to_owned() };
        let (axis, start, step) = (random.below(rank), random.below(4) as i64, *random.of(&[1_i64, 2, -1, -2]));
        let stop = if step < 0 { i64::MIN } else { i64::MAX };
        // plain loops
        let places: Vec<i64> = match step {
            1.. => (start..shape[axis] as i64).step_by(step as usize).collect(),
            _ => (0..=start.min(shape[axis] as i64 - 1)).rev().step_by(-step as usize).collect(),
        };
        let (mut expected, mut count) = (items.clone(), 0);
        for (n, at) in indices(&shape).iter().enumerate() {
            if places.contains(&(at[axis] as i64)) && holds(items[n], value) {
                (expected[n], count) = (7.0, count + 1);
            }
        }
        let bytes = |items: &[f32]| items.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<u8>>();
        let shown = format!("case {case}: {shape:?} {text} axis {axis} from {start} by {step}");
        // the library
        let args = SliceArgs::new(&[start], &[stop]).and_then(|args| args.with_steps(&[step]));
        let args = args.and_then(|args| args.with_axes(&[axis as i64])).expect("slices");
        let condition: Condition<String> = text.parse().expect("a condition");
        let condition = condition.try_map(|_| Ok::<_, ()>(value)).expect("a value");
        let data = ArrayD::from_shape_vec(IxDyn(&shape), items.clone()).expect("an array");
        let out = replace_where(&data, &condition, 7.0, &args).expect("an array");
        assert_eq!(bytes(out.as_slice().expect("C order")), bytes(&expected), "{shown}");
        // the program
        let fortran = header("<f4", true, &shape);
        folder.put("c.npy", npy("<f4", &shape, &bytes(&items)));
        folder.put("f.npy", npy_with_header(&fortran, &to_fortran(&bytes(&items), &shape, 4)));
        let [start, stop, step, axis] = [start, stop, step, axis as i64].map(|number| number.to_string());
        let slice = ["--start", &start, "--stop", &stop, "--step", &step, "--axes", &axis];
        let division = random.of(&DIVISIONS);
        let common = ["--fill", "7", "--where", &text, "--threads", division.threads];
        let run = |more: &[&str]| {
            let args = [&["slice-scatter"], more, &common, &slice].concat();
            let said = folder.run_with(&args, division.window, Some(&folder.get("c.npy"))).printed();
            assert_eq!(said, Ok(items_replaced(count)), "{shown} {args:?}");
        };
        for operand in ["c.npy", "f.npy", "-"] {
            run(&[operand, "-o", "out.npy"]);
            assert!(folder.get("out.npy") == npy("<f4", &shape, &bytes(&expected)), "{shown} of {operand}");
        }
        run(&["c.npy", "-i"]);
        assert!(folder.get("c.npy") == npy("<f4", &shape, &bytes(&expected)), "{shown} in place");
        run(&["f.npy", "-i"]);
        let expected = npy_with_header(&fortran, &to_fortran(&bytes(&expected), &shape, 4));
        assert!(folder.get("f.npy") == expected, "{shown} in place in Fortran order");
    }
}
