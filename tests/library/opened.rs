//! Files that are opened: described, read in part, changed in place, and held in memory.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};

use ndarray::{ArrayD, array};
use tensorop::error::{ErrorKind, Subject};
use tensorop::{
    DType, Format, Order, SliceArgs, Tensor, WriteOptions, describe, open, open_bytes, patch, read, write_all,
};

use crate::common::each;

fn slices(text: &str) -> SliceArgs {
    text.parse().expect("slices")
}

fn counting(shape: &[usize]) -> Tensor {
    let items = shape.iter().product::<usize>() as i16;
    Tensor::from(&ArrayD::from_shape_vec(shape, (0..items).collect()).expect("an array"))
}

/// The formats that read an int16 tensor back, and whether they have names.
const FORMATS: &[(&str, bool)] = &[
    ("npy", false),
    ("npz", true),
    ("safetensors", true),
    ("pb", false),
    ("json", false),
    #[cfg(feature = "zarr")]
    ("zarr", true),
];

#[test]
fn every_format_is_described_and_read_in_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = counting(&[4, 3, 2]);
    each(
        FORMATS.iter().copied(),
        |(format, _)| (*format).to_owned(),
        |(format, named)| {
            let path = folder.path().join(format!("data.{format}"));
            let all = if *named { vec![("a", &data), ("b", &data)] } else { vec![("a", &data)] };
            write_all(&path, all).map_err(|e| e.to_string())?;
            let opened = open(&path).map_err(|e| e.to_string())?;
            let own = if *format == "pb" { "a" } else { "" };
            let expected = if *named { vec!["a", "b"] } else { vec![own] };
            if opened.names().collect::<Vec<_>>() != expected {
                return Err(format!("names {:?}", opened.names().collect::<Vec<_>>()));
            }
            for name in opened.names() {
                let info = opened.info(name).map_err(|e| e.to_string())?;
                if (info.dtype.name().as_str(), &info.shape[..], info.order) != ("int16", data.shape(), Order::C) {
                    return Err(format!("{info:?}"));
                }
                for text in ["", "1:3, ..., 1:", "::-2, :, ::-1", "4:, :", "-1:, 1:2, :1"] {
                    let part = opened.read_slice(name, &slices(text)).map_err(|e| e.to_string())?;
                    if part.to_array::<i16>() != data.slice(&slices(text)).and_then(|part| part.to_array()) {
                        return Err(format!("{text}: {part:?}"));
                    }
                }
            }
            let infos = describe(&path).map_err(|e| e.to_string())?;
            if infos.len() == expected.len() { Ok(()) } else { Err(format!("{infos:?}")) }
        },
    );
}

#[test]
fn one_tensor_needs_no_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (folder.path().join("one.npy"), folder.path().join("two.npz"));
    let data = counting(&[2, 2]);
    tensorop::write(&one, &data).expect("written");
    write_all(&two, [("conv1", &data), ("conv2", &data), ("bias", &data)]).expect("written");
    let opened = open(&one).expect("opened");
    assert_eq!(
        (opened.format(), opened.read(None), opened.read("")),
        (Format::NPY, Ok(data.clone()), Ok(data.clone()))
    );
    assert_eq!(opened.read("x").unwrap_err().kind(), ErrorKind::Member);
    // a path may select
    let path = |after: &str| format!("{}:{after}", two.display());
    assert_eq!(open(path("bias")).expect("opened").read(None), Ok(data.clone()));
    assert_eq!(open(path("conv*")).expect("opened").names().collect::<Vec<_>>(), ["conv1", "conv2"]);
    assert_eq!(open(&two).expect("opened").read(None).unwrap_err().kind(), ErrorKind::Member);
}

#[test]
fn a_file_says_where_items_lie_and_what_it_is_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("w.safetensors");
    let data = counting(&[2, 3]);
    WriteOptions::new().metadata("format", "pt").write_all(&path, [("w", &data)]).expect("written");
    let [info] = &describe(&path).expect("described")[..] else { panic!("not one") };
    let at = info.offset.expect("a place") as usize;
    assert_eq!(&fs::read(&path).expect("a file")[at..], data.bytes());
    assert_eq!((info.bytes, &*info.name, info.format, &*info.metadata["format"]), (12, "w", Format::SAFETENSORS, "pt"));
    let fortran = folder.path().join("f.npy");
    WriteOptions::new().order(Order::Fortran).write(&fortran, &data).expect("written");
    let info = open(&fortran).and_then(|file| file.info(None)).expect("described");
    assert_eq!((info.order, &info.shape[..], info.metadata.len()), (Order::Fortran, &[2, 3][..], 0));
    assert_eq!(open(&fortran).and_then(|file| file.read_slice(None, &slices("1:"))), data.slice(&slices("1:")));
}

/// A `.npy` of 8 GiB, of which only the header and the last items are on the disk.
#[test]
fn a_slice_of_a_large_file_takes_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.npy");
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2048, 1048576), }";
    let header =
        [b"\x93NUMPY\x01\x00".as_slice(), &118_u16.to_le_bytes(), format!("{text:<117}\n").as_bytes()].concat();
    let mut file = File::create(&path).expect("a file");
    file.write_all(&header).expect("written");
    file.set_len(128 + (8 << 30)).expect("a sparse file");
    file.seek(SeekFrom::End(-4)).and_then(|_| file.write_all(&1.5_f32.to_le_bytes())).expect("written");
    let opened = open(&path).expect("opened");
    let column = opened.read_slice(None, &slices("::-256, -1:")).expect("read");
    assert_eq!(column.shape(), [8, 1]);
    assert_eq!(column.to_array::<f32>().expect("floats").first(), Some(&1.5));
    patch(&path, &slices("1024:1025, 7:9"), &Tensor::from(&array![[2_f32, 3.0]])).expect("patched");
    let row = opened.read_slice(None, &slices("1024:1025, 6:10")).expect("read");
    assert_eq!(row.to_array::<f32>().expect("floats"), array![[0.0, 2.0, 3.0, 0.0]].into_dyn());
}

#[test]
fn a_patch_changes_its_slice_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, updates) = (counting(&[4, 6]), Tensor::from(&array![[100_i16, 101], [102, 103]]));
    let expected = data.to_array::<i16>().map(|mut items| {
        items[[1, 2]] = 100;
        items[[1, 4]] = 101;
        items[[3, 2]] = 102;
        items[[3, 4]] = 103;
        items
    });
    let big = updates.cast(&DType::parse(">i2").expect("a dtype")).expect("cast");
    let formats = FORMATS.iter().filter(|(format, _)| ["npy", "safetensors", "zarr"].contains(format));
    for ((format, _), updates) in formats.zip([&updates, &big, &updates]) {
        let path = folder.path().join(format!("data.{format}"));
        tensorop::write(&path, &data).expect("written");
        patch(&path, &slices("1::2, 2:5:2"), updates).expect("patched");
        assert_eq!(read(&path).and_then(|found| found.to_array()), expected, "{format}");
    }
}

#[test]
fn a_patch_that_is_refused_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = counting(&[2, 2]);
    for format in ["npy", "npz", "pb", "json"] {
        tensorop::write(folder.path().join(format!("data.{format}")), &data).expect("written");
    }
    let strings = Tensor::new(DType::parse("S2").expect("a dtype"), vec![1], b"ab".to_vec()).expect("a tensor");
    tensorop::write(folder.path().join("strings.npy"), &strings).expect("written");
    let wide = Tensor::new(DType::parse("S3").expect("a dtype"), vec![1], b"abc".to_vec()).expect("a tensor");
    let (one, float) = (counting(&[1, 2]), Tensor::from(&array![[0_f32, 0.0]]));
    let (unsupported, argument) = (ErrorKind::Unsupported, ErrorKind::Argument);
    let rows = [
        ("data.npz", ":1", &one, unsupported, Subject::File),
        ("data.pb", ":1", &one, unsupported, Subject::File),
        ("data.json", ":1", &one, unsupported, Subject::File),
        ("data.npy", ":", &one, argument, Subject::Updates),
        ("data.npy", ":1", &float, argument, Subject::Dtype),
        ("data.npy", ":, :, :", &one, argument, Subject::At),
        ("data.npy:x", ":1", &one, ErrorKind::Member, Subject::File),
        ("no.npy", ":1", &one, ErrorKind::Io(std::io::ErrorKind::NotFound), Subject::File),
        ("strings.npy", ":", &wide, argument, Subject::Data),
    ];
    each(
        rows,
        |row| format!("{} {}", row.0, row.1),
        |(name, at, updates, kind, subject)| {
            let path = folder.path().join(name);
            let before = fs::read(&path).ok();
            let error = patch(&path, &slices(at), updates).map_or_else(Ok, |()| Err("was patched".to_owned()))?;
            let good = (error.kind(), error.subject()) == (*kind, *subject)
                && error.to_string().starts_with(&format!("{}: ", path.display()))
                && fs::read(&path).ok() == before;
            if good { Ok(()) } else { Err(format!("{:?} {:?} {error}", error.kind(), error.subject())) }
        },
    );
}

#[test]
fn bytes_in_memory_are_files() {
    let data = counting(&[2, 3]);
    for format in FORMATS.iter().filter(|(format, _)| *format != "zarr") {
        let format = Format::named(format.0).expect("a format");
        let bytes = WriteOptions::new().format(format).to_bytes(&data).expect("written");
        let opened = open_bytes(&bytes[..]).expect("opened");
        // as often as wanted
        for _ in 0..2 {
            assert_eq!(opened.read(None), Ok(data.clone()), "{format:?}");
        }
        assert_eq!(opened.read_slice(None, &slices("1:")), data.slice(&slices("1:")), "{format:?}");
        let cut = open_bytes(&bytes[..bytes.len() - 2]).and_then(|opened| opened.read(None));
        assert!(cut.is_err_and(|error| error.to_string().starts_with("bytes")), "{format:?}");
    }
    assert_eq!(open_bytes([]).unwrap_err().to_string(), "bytes: empty, expected a tensor");
    // what a file holds is what is written to memory
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.npz");
    tensorop::write(&path, &data).expect("written");
    let mut file = Vec::new();
    File::open(&path).and_then(|mut opened| opened.read_to_end(&mut file)).expect("read");
    assert_eq!(WriteOptions::new().format(Format::NPZ).to_bytes(&data), Ok(file));
}

/// Axes by the names that a store has for its dimensions.
#[cfg(feature = "zarr")]
#[test]
fn slices_by_the_names_of_dimensions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.zarr");
    let data = counting(&[2, 3]);
    tensorop::write(&path, &data).expect("written");
    let metadata = fs::read_to_string(path.join("zarr.json")).expect("metadata");
    let mut metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    metadata["dimension_names"] = serde_json::json!(["y", "x"]);
    fs::write(path.join("zarr.json"), metadata.to_string()).expect("written");
    let slices = |text: &str| text.parse::<tensorop::SliceArgs>().expect("slices");
    let opened = open(&path).expect("opened");
    assert_eq!(opened.read_slice(None, &slices("x=1:")), opened.read_slice(None, &slices(":, 1:")));
    let unknown = opened.read_slice(None, &slices("z=1:")).unwrap_err();
    let message = format!("{}: no dimension is called z: there are y, x", path.display());
    assert_eq!((unknown.subject(), unknown.to_string()), (tensorop::error::Subject::At, message));
    let column = opened.read_slice(None, &slices("x=:1")).expect("a column");
    tensorop::patch(&path, &slices("x=2:"), &column).expect("changed");
    assert_eq!(open(&path).expect("opened").read_slice(None, &slices(":, 2:")), Ok(column.clone()));
    // other formats have no names
    let plain = folder.path().join("t.npy");
    tensorop::write(&plain, &data).expect("written");
    let refused = tensorop::patch(&plain, &slices("x=2:"), &column).unwrap_err();
    assert!(refused.to_string().contains("t.npy: its dimensions have no names"), "{refused}");
}

/// A folder of the name of a scheme would take the output without a word.
#[test]
#[cfg(feature = "remote")]
fn nothing_but_stores_is_written_to_an_address() {
    let (any, elsewhere) =
        ("only a Zarr store can be written to an address", "Zarr stores are written to s3://BUCKET/NAME.zarr");
    for (path, wanted) in [
        ("s3://bucket/x.npy", any),
        ("https://user:secret@host/x.npy", any),
        ("https://user:secret@host/x.zarr", elsewhere),
        ("hf://org/repo/x.zarr", elsewhere),
    ] {
        let error = write_all(path, [("x", &counting(&[2]))]).expect_err("an address");
        let message = error.to_string();
        assert!(message.ends_with(wanted) && !message.contains("secret"), "{message}");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
