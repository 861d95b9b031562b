//! What can be chosen when tensors are written.

use std::fs;

use ndarray::array;
use tensorop::error::ErrorKind;
use tensorop::{DType, Format, Order, Tensor, WriteOptions, read};

use crate::common::each;

fn dtype(name: &str) -> DType {
    DType::parse(name).expect("a dtype")
}

#[test]
fn items_become_what_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.npy");
    let data = Tensor::from(&array![[1.5_f32, -2.0], [300.0, 0.0]]);
    let new = WriteOptions::new;
    let rows = [
        (new(), "'<f4'", None),
        (new().cast(dtype("float16")), "'<f2'", None),
        (new().cast(dtype(">f8")), "'>f8'", None),
        (new().big_endian(true), "'>f4'", None),
        (new().cast(dtype(">f8")).big_endian(false), "'<f8'", None),
        (new().order(Order::Fortran), "'<f4'", None),
        (new().cast_lossy(dtype("int8")), "'|i1'", Some(vec![1, 0xfe, 127, 0])),
    ];
    each(
        rows,
        |(options, ..)| format!("{options:?}"),
        |(options, descr, items)| {
            options.write(&path, &data).map_err(|error| error.to_string())?;
            let found = read(&path).map_err(|error| error.to_string())?;
            let same = match items {
                Some(items) => found.bytes() == items,
                None => found.cast(&dtype("float32")) == Ok(data.clone()),
            };
            if same && found.dtype().descr() == *descr { Ok(()) } else { Err(format!("{found:?}")) }
        },
    );
    let refused = new().cast(dtype("int32")).write(&path, &data).unwrap_err();
    let expected = format!("{}: 1.5 is not an integer (int32) at [0, 0]", path.display());
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn files_become_what_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let data = Tensor::from(&ndarray::Array2::<f64>::zeros((100, 100)));
    WriteOptions::new().compress(true).write(path("small.npz"), &data).expect("written");
    assert!(fs::metadata(path("small.npz")).expect("a file").len() < 1000);
    assert_eq!(read(path("small.npz")), Ok(data.clone()));
    // the name does not tell the format
    WriteOptions::new().format(Format::NPY).write(path("plain"), &data).expect("written");
    assert_eq!(read(path("plain")), Ok(data.clone()));
    #[cfg(feature = "zarr")]
    {
        let chunked = WriteOptions::new().chunks([50, 20]).codec("none");
        chunked.write(path("out.zarr"), &data).expect("written");
        // of zeros, which are the fill value, nothing is stored
        assert!(!path("out.zarr/c").exists());
        assert_eq!(read(path("out.zarr")), Ok(data.clone()));
        chunked.store_empty(true).write(path("out.zarr"), &data).expect("written");
        let chunks = fs::read_dir(path("out.zarr/c")).map(Iterator::count);
        assert_eq!(chunks.expect("a folder of chunks"), 2);
        assert_eq!(read(path("out.zarr")), Ok(data));
    }
}

#[test]
fn narrow_items_share_bytes_and_axes_have_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let numbers = Tensor::from(&array![1_i8, -2, 7]);
    let narrow = numbers.cast(&DType::parse("int4").expect("a dtype")).expect("they fit");
    for (packed, expected) in [(false, &[1, 14, 7][..]), (true, &[0xe1, 7])] {
        let options = WriteOptions::new().format(Format::RAW).packed(packed);
        assert_eq!(options.to_bytes(&narrow).as_deref(), Ok(expected));
    }
    #[cfg(feature = "zarr")]
    {
        WriteOptions::new().dims(["time"]).write(path("named.zarr"), &numbers).expect("written");
        let metadata = fs::read_to_string(path("named.zarr/zarr.json")).expect("metadata");
        assert!(metadata.contains(r#""dimension_names": ["time"]"#), "{metadata}");
        let error = WriteOptions::new().dims(["a", "b"]).write(path("other.zarr"), &numbers).unwrap_err();
        assert!(error.message().contains("expected 1 names"), "{error}");
    }
    let refused = WriteOptions::new().dims(["time"]).write(path("out.npy"), &numbers).unwrap_err();
    assert_eq!(refused.message(), "npy has no names of axes, expected a .zarr as output");
    assert!(!path("out.npy").exists());
}

#[test]
fn a_format_refuses_what_it_does_not_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Tensor::from(&array![1_u8]);
    let new = WriteOptions::new;
    let rows = [
        ("out.npy", new().compress(true), "npy is not compressed, expected a .npz as output"),
        ("out.npy", new().metadata("a", "b"), "npy has no place for it, expected a .safetensors as output"),
        ("out.npz", new().chunks([1]), "npz has no chunks, expected a .zarr as output"),
        ("out.npy", new().store_empty(true), "npy has no chunks, expected a .zarr as output"),
        ("out.json", new().order(Order::Fortran), "json is always in C order"),
        ("out.safetensors", new().big_endian(true), "safetensors is never big-endian"),
    ];
    each(
        rows,
        |(name, _, _)| (*name).to_owned(),
        |(name, options, expected)| {
            let path = folder.path().join(name);
            let error = options.write(&path, &data).map_or_else(Ok, |()| Err("was written".to_owned()))?;
            let good = error.message() == *expected && error.kind() == ErrorKind::Unsupported && !path.exists();
            if good { Ok(()) } else { Err(format!("{:?} {error}", error.kind())) }
        },
    );
    for format in Format::all().filter(|format| !format.is_written()) {
        assert_eq!(new().format(format).to_bytes(&data).unwrap_err().kind(), ErrorKind::Unsupported, "{format:?}");
    }
    #[cfg(feature = "zarr")]
    for options in [
        new().chunks([0]),
        new().chunks([1, 1]),
        new().chunks([]),
        new().chunks([2]).shards([3]),
        new().shards([0]),
        new().codec("none:1"),
        new().codec("gzip:10"),
        new().codec("zstd:23"),
        new().codec("zstd:"),
        new().codec(""),
    ] {
        let path = folder.path().join("out.zarr");
        let error = options.write(&path, &data).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("{}: ", path.display())) && !path.exists(),
            "{options:?}: {error}"
        );
    }
    let unchosen = new().to_bytes(&data).unwrap_err();
    assert_eq!((unchosen.kind(), &*unchosen.to_string()), (ErrorKind::Unsupported, "output: a format must be chosen"));
}
