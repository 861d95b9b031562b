use std::io::{self, Read, Seek};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::prepare::check_replaced;
use super::*;
use crate::container::file_options::{FileOptions, Inherited};
use crate::container::interface::{Layout, TextOptions};
use crate::opening::input::OpenOptions;
use crate::opening::located::Located;
use crate::opening::table::{Format, containers};
use crate::operators::fill::{Limits, MAX_EMPTY_ITEMS, Machine};
use crate::operators::selection::Selection;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Source;
use crate::storage::targets::target::Target;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::parallel::Threads;

fn tensor(dtype: &str, shape: &[usize], bytes: &[u8]) -> Tensor {
    Tensor::new(DType::parse(dtype).expect("a dtype"), shape.to_vec(), bytes.to_vec()).expect("a tensor")
}

fn output(dtype: &str, shape: &[usize], bytes: &[u8]) -> OutputTensor {
    OutputTensor::copy(Source::memory(tensor(dtype, shape, bytes), "data".to_owned()), Limits::default())
}

fn output_to(format: Format) -> Output<'static> {
    static OPTIONS: LazyLock<FileOptions> = LazyLock::new(FileOptions::default);
    Output { format, label: "out", options: &OPTIONS, replaced: None, keeps_order: false }
}

fn plan(tensors: Vec<(&str, OutputTensor)>, format: Format) -> LaidOut {
    let tensors =
        tensors.into_iter().map(|(name, tensor)| OutputTensor { name: Some(name.to_owned()), ..tensor }).collect();
    let output = Output { keeps_order: true, ..output_to(format) };
    output.prepare(tensors, Inherited::default()).expect("a plan")
}

/// What a plan puts in a file, and what it hands out from front to back, which must be the same.
fn both(plan: &mut LaidOut) -> Vec<u8> {
    plan.begin(OutputKind::File, &TextOptions::default()).expect("begun");
    let Layout::Places(places) = &plan.layout else { panic!("no places") };
    let mut file = tempfile::tempfile().expect("a file");
    plan.place(places, &file, &|_| {}).expect("written");
    let (mut placed, mut streamed) = (Vec::new(), Vec::new());
    file.rewind().and_then(|()| file.read_to_end(&mut placed)).expect("read");
    assert_eq!(placed.len() as u64, places.bytes);
    plan.begin(OutputKind::Stream, &TextOptions::default()).expect("begun");
    let Layout::Places(places) = &plan.layout else { panic!("no places") };
    let put = &mut |bytes: &[u8]| {
        streamed.extend_from_slice(bytes);
        Ok(())
    };
    plan.stream(places, put, &|_| {}).expect("written");
    assert!(places.seal.is_some() || streamed == placed, "{placed:?}, but {streamed:?}");
    placed
}

#[test]
fn names_of_members() {
    let given = |names: &[Option<&str>], format| {
        let one = |(n, name): (usize, &Option<&str>)| OutputTensor {
            name: name.map(str::to_owned),
            ..output("int8", &[n], &vec![0; n])
        };
        let tensors = output_to(format).checked(names.iter().enumerate().map(one).collect());
        let tensors = tensors.map_err(|error| error.message().to_owned())?;
        let found = |tensor: OutputTensor| (tensor.name.unwrap_or_default(), tensor.fill.meta().items());
        Ok(tensors.into_iter().map(found).collect())
    };
    let list = |pairs: &[(&str, usize)]| Ok(pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect());
    let refused = |message: &str| Err(message.to_owned());
    type Row<'a> = (&'a [Option<&'a str>], Format, Result<Vec<(String, usize)>, String>);
    let rows: [Row<'_>; 6] = [
        (&[Some("b"), None, Some("a"), None], Format::NPZ, list(&[("a", 2), ("arr_0", 1), ("arr_1", 3), ("b", 0)])),
        (&[None], Format::NPY, list(&[("", 0)])),
        (&[Some("x")], Format::ONNX, list(&[("x", 0)])),
        (&[], Format::SAFETENSORS, list(&[])),
        (&[None, None], Format::NPY, refused(&format!("2 tensors, and only {} hold several", containers("and")))),
        (&[Some("arr_0"), None], Format::NPZ, refused("two tensors are called \"arr_0\"")),
    ];
    for (names, format, expected) in rows {
        assert_eq!(given(names, format), expected, "{names:?} as {format:?}");
    }
}

#[test]
fn what_formats_hold() {
    let ordered = |order, big_endian| Recast { big_endian, order, ..Recast::default() };
    let (c, fortran) = (Order::C, Order::Fortran);
    let rows = [
        ("V3", Format::NPY, ordered(fortran, Some(true)), ""),
        ("V3", Format::NPZ, ordered(fortran, Some(true)), ""),
        ("V3", Format::TEXT, ordered(c, None), "output: |V3 cannot be printed as text"),
        ("V3", Format::JSON, ordered(c, None), "output: JSON cannot hold items of dtype |V3"),
        ("V3", Format::ONNX, ordered(c, None), "output: ONNX cannot hold items of dtype |V3"),
        ("V3", Format::SAFETENSORS, ordered(c, None), "output: safetensors cannot hold items of dtype |V3"),
        (">i2", Format::SAFETENSORS, ordered(c, None), ""),
        (">i2", Format::JSON, ordered(c, None), ""),
        (">i2", Format::SAFETENSORS, ordered(c, Some(true)), "safetensors is never big-endian"),
        (">i2", Format::ONNX, ordered(fortran, Some(true)), "pb is always in C order"),
        (">i2", Format::TEXT, ordered(fortran, None), "text is always in C order"),
    ];
    for (dtype, format, recast, expected) in rows {
        let size = DType::parse(dtype).expect("a dtype").itemsize();
        let found = OutputTensor { recast: recast.clone(), ..output(dtype, &[1], &vec![0; size]) }.check(format);
        assert_eq!(found.err().map_or(String::new(), |e| e.to_string()), expected, "{dtype} {format:?} {recast:?}");
    }
    let many = Source::item(
        Meta::c_order(DType::parse("<U0").expect("a dtype"), vec![MAX_EMPTY_ITEMS + 1]),
        Vec::new(),
        "data".to_owned(),
    );
    let many = OutputTensor::copy(many, Limits::default());
    assert!(many.check(Format::NPY).is_ok());
    assert!(many.check(Format::TEXT).is_err_and(|error| error.message().ends_with("too many to print")));
}

#[test]
fn places_and_packing() {
    let big = || output(">i2", &[2], &[0, 1, 0, 2]);
    let four = || output("float4_e2m1fn", &[4], &[1, 2, 3, 4]);
    // by the widest alignment, then by name; items of 4 bits two to a byte
    let mut several = plan(vec![("a", four()), ("b", big()), ("c", output("int8", &[1], &[9]))], Format::SAFETENSORS);
    let file = both(&mut several);
    assert_eq!(&file[file.len() - 7..], [1, 0, 2, 0, 9, 0x21, 0x43]);
    let bytes: Vec<_> = several.tensors().map(|(name, meta, bytes)| (name, meta.dtype.name(), bytes)).collect();
    let expected = [("a", "float4_e2m1fn".to_owned(), 2), ("b", "int16".to_owned(), 4), ("c", "int8".to_owned(), 1)];
    assert_eq!(bytes, expected);
    assert_eq!(several.bytes(), 4 + 4 + 1);
    let three = both(&mut plan(vec![("", output("int4", &[3], &[1, 2, 15]))], Format::ONNX));
    assert_eq!(&three[three.len() - 2..], [0x21, 0x0f]);
    let npy = both(&mut plan(vec![("", big())], Format::NPY));
    assert_eq!((npy.len(), &npy[128..]), (132, &[0, 1, 0, 2][..]));
    let none = both(&mut plan(Vec::new(), Format::SAFETENSORS));
    assert_eq!(none, b"\x08\0\0\0\0\0\0\0{}      ");
}

#[test]
fn archives_are_sealed() {
    let bytes =
        both(&mut plan(vec![("a", output("int8", &[2], &[1, 2])), ("b", output(">i2", &[1], &[3, 4]))], Format::NPZ));
    let options = OpenOptions { format: Some(Format::NPZ), ..OpenOptions::new("a.npz") };
    let input = options.open_stream(Box::new(io::Cursor::new(bytes))).expect("an archive");
    assert_eq!(input.names().expect("a container"), ["a", "b"]);
    // the check sum is looked at here
    assert!((0..2).all(|n| input.source(n).is_ok()));
}

/// The checksums of an archive come from what is written, in whatever regions that is: the file cannot be read.
#[test]
fn archives_are_not_read_while_they_are_written() {
    let items: Vec<u8> = (0..24_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let stored = |dtype: &str, shape: &[usize], order| {
        let meta = Meta::c_order(DType::parse(dtype).expect("a dtype"), shape.to_vec()).in_order(order);
        Source::stored(meta, Arc::new(MemoryBytes::new(&*items)), 0, "data".to_owned()).expect("a source")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let written = |window: Option<usize>, threads: usize| {
        let limits = Limits {
            threads: Threads::new(NonZero::new(threads)).started_for(0),
            machine: window.map_or_else(Machine::default, Machine::with_windows_of),
        };
        let of = |fill: Selection, recast| OutputTensor { recast, ..OutputTensor::new(Box::new(fill), limits) };
        let fortran = || Recast { order: Order::Fortran, ..Recast::default() };
        let cast = Recast { cast: Some(DType::parse("float64").expect("a dtype")), ..Recast::default() };
        let tensors = vec![
            ("whole", of(Selection::whole(stored("uint16", &[300, 40], Order::C)), Recast::default())),
            ("across", of(Selection::whole(stored("uint16", &[300, 40], Order::Fortran)), Recast::default())),
            ("empty", of(Selection::whole(stored("uint16", &[0, 40], Order::C)), Recast::default())),
            (
                "turned",
                of(Selection::transposed(stored("<f4", &[20, 30, 10], Order::C), &[2, 0, 1]), Recast::default()),
            ),
            ("cast", of(Selection::whole(stored("uint8", &[24_000], Order::C)), cast)),
            ("columns", of(Selection::in_order(stored("uint16", &[300, 40], Order::C), Order::Fortran), fortran())),
        ];
        let path = folder.path().join(format!("{window:?} {threads}.npz"));
        let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(&path).expect("a file");
        let mut plan = plan(tensors, Format::NPZ);
        plan.begin(OutputKind::File, &TextOptions::default()).expect("begun");
        let Layout::Places(places) = &plan.layout else { panic!("no places") };
        plan.place(places, &file, &|_| {}).expect("written");
        std::fs::read(path).expect("an archive")
    };
    let expected = written(None, 1);
    let options = OpenOptions { format: Some(Format::NPZ), ..OpenOptions::new("a.npz") };
    let input = options.open_stream(Box::new(io::Cursor::new(expected.clone()))).expect("an archive");
    // the check sums are looked at here
    let sources: Vec<_> = (0..6).map(|n| input.source(n).expect("a member")).collect();
    assert_eq!(sources.iter().map(Source::bytes).collect::<Vec<_>>(), [24_000, 24_000, 0, 24_000, 192_000, 24_000]);
    for window in [Some(8), Some(100), Some(3000), Some(1 << 16), None] {
        for threads in [1, 3] {
            assert!(written(window, threads) == expected, "{window:?}, {threads} threads");
        }
    }
}

fn into(path: &Path, tensor: OutputTensor, format: Format) -> Result<()> {
    let target = Target::resolve(path, "out".to_owned(), false)?;
    let mut plan = output_to(format).prepare(vec![tensor], Inherited::default())?;
    let mut sink = target.create()?;
    plan.write(&mut sink, &TextOptions::default(), &|_| {})?;
    sink.finish()
}

#[test]
fn a_failure_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    // how a folder is replaced has tests of its own
    for format in Format::all().filter(|format| format.is_written() && !format.is_folder()) {
        std::fs::write(&path, "old").expect("written");
        let meta = Meta::c_order(DType::parse("int8").expect("a dtype"), vec![3]);
        let short = Source::stream(meta, Box::new(&b"ab"[..]), 3, "data".to_owned());
        let refused = into(&path, OutputTensor::copy(short, Limits::default()), format).unwrap_err().to_string();
        assert_eq!(refused, "data: 2 bytes of data, expected 3 (int8 [3])", "{format:?}");
        assert_eq!(std::fs::read(&path).expect("a file"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
        into(&path, output("int8", &[3], &[1, 2, 3]), format).expect("written");
        assert_ne!(std::fs::read(&path).expect("a file"), b"old");
    }
}

#[test]
fn containers_are_not_replaced_by_fewer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.npz");
    let one = tensor("int8", &[1], &[1]);
    crate::write_all(&path, [("a", &one), ("b", &one)]).expect("written");
    let input = OpenOptions::new("two.npz").open(&Located::from_path(&path)).expect("an archive");
    let member = |n: usize| OutputTensor {
        name: Some(n.to_string()),
        ..OutputTensor::copy(input.source(n).expect("a member"), Limits::default())
    };
    let target = |path: &Path| Target::resolve(path, "out".to_owned(), false).expect("a target");
    let refused = check_replaced(&target(&path), &[member(0)], &[], &[], &|_| false).unwrap_err().to_string();
    assert_eq!(refused, "out: holds 1 more tensor, which would be lost");
    assert!(check_replaced(&target(&path), &[member(0), member(1)], &[], &[], &|_| false).is_ok());
    assert!(check_replaced(&target(&folder.path().join("new.npz")), &[member(0)], &[], &[], &|_| false).is_ok());
}
