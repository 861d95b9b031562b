//! `.npy` files as ndarray-npy writes and reads them: a reader and a writer that share no code with this project.

use std::fmt::Debug;

use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadableElement, WritableElement, read_npy, write_npy};
use num_complex::Complex;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tensorop::internal::formats::npy::{Begun, read_header};
use tensorop::item::meta::Order;
use tensorop::{Element, Tensor, WriteOptions, read};

use crate::common::each;

/// Shapes of the ranks 0 to 4, some of them without items.
const SHAPES: [&[usize]; 9] = [&[], &[1], &[5], &[0], &[2, 3], &[3, 0], &[3, 1, 2], &[2, 3, 1, 2], &[1, 0, 2, 2]];

/// An item type that both libraries know.
trait Known: Element + ReadableElement + WritableElement + Clone + PartialEq + Debug + 'static {
    /// The `n`th item of an array: small, extreme and special values.
    fn item(n: usize) -> Self;
}

impl Known for bool {
    fn item(n: usize) -> Self {
        n % 3 == 1
    }
}

macro_rules! known {
    (integers: $($integer:ty)+) => {$(
        impl Known for $integer {
            fn item(n: usize) -> Self {
                let few = [<$integer>::MIN, <$integer>::MAX, 0, 1];
                few.get(n).copied().unwrap_or((n as $integer).wrapping_mul(37))
            }
        }
    )+};
    (floats: $($float:ident)+) => {$(
        impl Known for $float {
            fn item(n: usize) -> Self {
                let few = [1.5, -0.0, <$float>::NAN, <$float>::INFINITY, <$float>::MIN_POSITIVE / 2.0, <$float>::MIN];
                few.get(n).copied().unwrap_or(n as $float / 3.0)
            }
        }

        impl Known for Complex<$float> {
            fn item(n: usize) -> Self {
                Self::new($float::item(n), $float::item(n + 1))
            }
        }
    )+};
}

known!(integers: i8 i16 i32 i64 u8 u16 u32 u64);
known!(floats: f32 f64);

/// An array in C or Fortran order.
fn array<T: Known>(shape: &[usize], order: Order) -> ArrayD<T> {
    let items = (0..shape.iter().product()).map(T::item).collect();
    ArrayD::from_shape_vec(IxDyn(shape).set_f(order == Order::Fortran), items).expect("an array")
}

/// Writes with one library and reads with the other, both ways; the bits of the items are compared.
fn there_and_back<T: Known>(shape: &[usize], order: Order) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (theirs, ours) = (folder.path().join("theirs.npy"), folder.path().join("ours.npy"));
    let array = array::<T>(shape, order);
    let tensor = Tensor::from(&array);
    write_npy(&theirs, &array).map_err(|error| error.to_string())?;
    let found = read(&theirs).map_err(|error| error.to_string())?;
    if found != tensor {
        return Err(format!("ndarray-npy wrote {array:?}, read as {found:?}"));
    }
    let found = found.to_array::<T>().map_err(|error| error.to_string())?;
    if Tensor::from(&found) != tensor || found.shape() != shape {
        return Err(format!("ndarray-npy wrote {array:?}, read as the array {found:?}"));
    }
    WriteOptions::new().order(order).write(&ours, &tensor).map_err(|error| error.to_string())?;
    let found: ArrayD<T> = read_npy(&ours).map_err(|error| error.to_string())?;
    if Tensor::from(&found) != tensor || found.shape() != shape || found.strides() != array.strides() {
        return Err(format!("tensorop wrote {tensor:?}, read as {found:?}"));
    }
    Ok(())
}

/// A check of one item type.
type Check = fn(&[usize], Order) -> Result<(), String>;

/// Runs a check of each item type on each shape, in C and in Fortran order.
#[track_caller]
fn each_type(checks: &[(&str, Check)]) {
    let rows = checks.iter().flat_map(|&(name, check)| {
        let orders = [Order::C, Order::Fortran];
        SHAPES.iter().flat_map(move |&shape| orders.map(|order| (name, check, shape, order)))
    });
    each(
        rows,
        |(name, _, shape, order)| format!("{name} {shape:?} {order:?}"),
        |(_, check, shape, order)| check(shape, *order),
    );
}

#[test]
fn every_item_type_both_ways() {
    each_type(&[
        ("bool", there_and_back::<bool>),
        ("i8", there_and_back::<i8>),
        ("i16", there_and_back::<i16>),
        ("i32", there_and_back::<i32>),
        ("i64", there_and_back::<i64>),
        ("u8", there_and_back::<u8>),
        ("u16", there_and_back::<u16>),
        ("u32", there_and_back::<u32>),
        ("u64", there_and_back::<u64>),
        ("f32", there_and_back::<f32>),
        ("f64", there_and_back::<f64>),
        ("complex of f32", there_and_back::<Complex<f32>>),
        ("complex of f64", there_and_back::<Complex<f64>>),
    ]);
}

/// The program's standard input is a file of ndarray-npy's, and ndarray-npy reads its standard output.
#[cfg(feature = "cli")]
#[test]
fn through_standard_input_and_output() {
    use ndarray_npy::{ReadNpyExt, WriteNpyExt};

    fn pass<T: Known>(shape: &[usize], order: Order) -> Result<(), String> {
        let folder = crate::common::Folder::new();
        let array = array::<T>(shape, order);
        let mut input = Vec::new();
        array.write_npy(&mut input).map_err(|error| error.to_string())?;
        for (wanted, is_fortran) in [("C", false), ("F", true)] {
            let run = folder.run_with(["convert", "-", "--to", "npy", "--order", wanted], None, Some(&input));
            if run.status != Some(0) {
                return Err(format!("{wanted}: {}", run.stderr));
            }
            let found = ArrayD::<T>::read_npy(run.stdout.as_slice()).map_err(|error| error.to_string())?;
            if Tensor::from(&found) != Tensor::from(&array) {
                return Err(format!("{wanted}: {found:?}, expected {array:?}"));
            }
            let header = Header::from_reader(&mut run.stdout.as_slice()).map_err(|error| error.to_string())?;
            // where both orders are one, a header says C
            let one_order = shape.contains(&0) || shape.iter().filter(|&&dim| dim > 1).count() < 2;
            if header.layout.is_fortran() != is_fortran && !one_order {
                return Err(format!("{wanted}: {header}"));
            }
        }
        Ok(())
    }
    each_type(&[("i16", pass::<i16>), ("f64", pass::<f64>), ("complex of f32", pass::<Complex<f32>>)]);
}

/// Dtypes as a header describes them: plain ones, and structs with brackets up to three deep.
const DESCRIPTIONS: [&str; 8] = [
    "'<f4'",
    "\">i8\"",
    "'|b1'",
    "'<c16'",
    "'<U3'",
    "[('a', '<f4'), ('b', '|u1'), ]",
    "[ ( 'time' , '<M8[s]' ) ,(\"v\",'<f8')]",
    "[('at', '<f4', (2, 3)), ('in', [('x', '<i2')])]",
];

/// Puts a header's text behind the first bytes of a file.
fn file(major: u8, text: &str) -> Vec<u8> {
    let len = text.len() as u32;
    let len = if major == 1 { (len as u16).to_le_bytes().to_vec() } else { len.to_le_bytes().to_vec() };
    [b"\x93NUMPY", [major, 0].as_slice(), &len, text.as_bytes()].concat()
}

/// The text of a header in any of the ways in which Python may print it.
fn header() -> impl Strategy<Value = String> {
    let dims = prop::collection::vec(0_usize..1000, 0..5);
    let spaces = prop::collection::vec(prop::sample::select(vec!["", "", " ", "  ", "\t"]), 16);
    let keys = Just(["descr", "fortran_order", "shape"]).prop_shuffle();
    let description = prop::sample::select(&DESCRIPTIONS);
    let parts = (description, any::<bool>(), dims, keys, spaces, any::<[bool; 3]>());
    parts.prop_map(|(description, fortran, dims, keys, spaces, [single, comma, tuple_comma])| {
        let mut spaces = spaces.iter().cycle();
        let mut spaced = |token: &str| format!("{token}{}", spaces.next().unwrap_or(&""));
        let quote = if single { "'" } else { "\"" };
        let mut text = spaced("{");
        for (at, key) in keys.iter().enumerate() {
            text += &spaced(&format!("{quote}{key}{quote}"));
            text += &spaced(":");
            text += &match *key {
                "descr" => spaced(description),
                "fortran_order" => spaced(if fortran { "True" } else { "False" }),
                _ => {
                    let comma = if dims.len() == 1 || tuple_comma && !dims.is_empty() { "," } else { "" };
                    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
                    spaced("(") + &spaced(&dims.join(", ")) + &spaced(comma) + &spaced(")")
                }
            };
            if at < 2 || comma {
                text += &spaced(",");
            }
        }
        text + &spaced("}") + "\n"
    })
}

/// Compares how both libraries read a header. Returns whether this project reads it.
fn is_read_alike(file: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(Begun::Header(ours)) = read_header(file) else { return Ok(false) };
    let theirs = Header::from_reader(&mut &file[..]).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(ours.offset, file.len());
    prop_assert_eq!(&ours.meta.shape, &theirs.shape);
    prop_assert_eq!(ours.meta.order == Order::Fortran, theirs.layout.is_fortran());
    // ndarray-npy leaves the dtype in text, and writes that text anew
    let again = theirs.to_bytes().map_err(|error| TestCaseError::fail(error.to_string()))?;
    match read_header(&again) {
        Ok(Begun::Header(again)) => prop_assert_eq!(again.meta, ours.meta),
        other => return Err(TestCaseError::fail(format!("{other:?}"))),
    }
    Ok(true)
}

/// Checks generated values, which are the same in every run.
fn holds<S: Strategy>(cases: u32, strategy: S, check: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(why) = runner.run(&strategy, check) {
        panic!("{why}");
    }
}

#[test]
fn headers_are_read_alike() {
    holds(2000, (1..=3_u8, header()), |(major, text)| {
        let is_read = is_read_alike(&file(major, &text))?;
        prop_assert!(is_read, "{:?}", read_header(&file(major, &text)));
        Ok(())
    });
}

/// Where a byte of a header is another one, or is missing, ndarray-npy reads all that this project reads, as the same.
#[test]
fn damaged_headers_are_read_alike() {
    let tokens = prop::sample::select(b"{}()[]:,'\" 0123456789-aTF<>|".to_vec());
    let read = std::cell::Cell::new(0);
    holds(4000, (1..=3_u8, header(), any::<prop::sample::Index>(), prop::option::of(tokens)), |row| {
        let (major, mut text, at, token) = row;
        let at = at.index(text.len() - 1);
        text.replace_range(at..=at, token.map(char::from).as_ref().map_or(String::new(), char::to_string).as_str());
        read.set(read.get() + u32::from(is_read_alike(&file(major, &text))?));
        Ok(())
    });
    // some damage changes no more than a number, a space or a name
    assert!((400..3600).contains(&read.get()), "{} were read", read.get());
}

/// Of two equal keys ndarray-npy takes the last. Here the file is refused, since nobody can tell which of them is meant.
#[test]
fn equal_keys_are_refused_here_alone() {
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (3,)}\n";
    let theirs = Header::from_reader(&mut file(1, text).as_slice()).expect("ndarray-npy reads it");
    assert_eq!(theirs.shape, [3]);
    let refused = read_header(&file(1, text)).expect_err("refused");
    assert_eq!(refused.to_string(), "the header has more than its three keys");
}
