//! Tensors in files, as users of the library read and write them.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "predicates")]
mod golden;
mod ndarray_npy;
mod opened;
mod options;
mod remote;
mod rows;

use std::fs;
use std::io;

use tensorop::dtype::Kind;
use tensorop::error::{Error, ErrorKind};
use tensorop::{DType, Tensor, read, read_all, write, write_all};

use crate::common::each;

/// One dtype of every kind, in both byte orders where there are two.
const DTYPES: &str = "bool int8 uint8 <i2 >i2 <u2 >u2 <i4 >i4 <u4 >u4 <i8 >i8 <u8 >u8 <f2 >f2 bfloat16 <f4 >f4 <f8 >f8 \
    <c8 >c8 <c16 >c16 int2 uint2 int4 uint4 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 \
    float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu <M8[s] <m8[D] S3 <U3 \
    >U3 float128 complex256 V3";

/// What each format does not hold.
const UNHELD: &[(&str, &str)] = &[
    ("npy", ""),
    ("npz", ""),
    (
        "safetensors",
        "<c16 >c16 int2 uint2 int4 uint4 float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz <M8[s] \
         <m8[D] S3 <U3 >U3 float128 complex256 V3",
    ),
    ("pb", "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz <M8[s] <m8[D] float128 complex256 V3"),
    ("json", "float128 complex256 V3"),
    #[cfg(feature = "zarr")]
    ("zarr", "float128 complex256"),
];

/// Four items, two of them equal in no dtype that has so many.
fn tensor(dtype: &str) -> Tensor {
    let dtype = DType::parse(dtype).expect("a dtype");
    let item = |n: u8| -> Vec<u8> {
        let mut item = vec![0; dtype.itemsize()];
        match dtype.kind() {
            Kind::Bool => item[0] = n % 2,
            Kind::Narrow(narrow) => item[0] = n & ((1_u16 << narrow.bits()) - 1) as u8,
            Kind::Str(_) => {
                for (place, point) in item.chunks_exact_mut(4).zip([u32::from(n) + 0x61, 0x4e2d, 0x1f600]) {
                    let big = dtype.is_big_endian();
                    place.copy_from_slice(&if big { point.to_be_bytes() } else { point.to_le_bytes() });
                }
            }
            _ => item[0] = n,
        }
        item
    };
    let items = [1, 2, 3, 4].map(item).concat();
    Tensor::new(dtype, vec![2, 2], items).expect("a tensor")
}

#[test]
fn every_format_takes_every_dtype_there_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = UNHELD.iter().flat_map(|(format, unheld)| DTYPES.split_whitespace().map(move |d| (*format, d, *unheld)));
    each(
        rows,
        |(format, dtype, _)| format!("{dtype} in {format}"),
        |(format, dtype, unheld)| {
            let path = folder.path().join(format!("tensor.{format}"));
            let tensor = tensor(dtype);
            let written = write(&path, &tensor);
            if unheld.split_whitespace().any(|unheld| unheld == *dtype) {
                let kind = written.as_ref().err().map(Error::kind);
                return match written {
                    Err(error)
                        if error.message().contains(" cannot hold items of dtype ")
                            && kind == Some(ErrorKind::Unsupported) =>
                    {
                        Ok(())
                    }
                    other => Err(format!("{other:?}")),
                };
            }
            written.map_err(|error| error.to_string())?;
            let found = read(&path).map_err(|error| error.to_string())?;
            // a TensorProto has one kind of strings, and only npy and npz have byte orders
            let bytes = *format == "pb" && *dtype == "S3";
            let void = DType::parse("V1").expect("a dtype");
            let expected = match *format {
                // NumPy's files have no name for most types of ml_dtypes
                "npy" | "npz" if *found.dtype() == void && matches!(tensor.dtype().kind(), Kind::Narrow(_)) => void,
                "npy" | "npz" => tensor.dtype().clone(),
                _ if bytes => DType::parse("<U1").expect("a dtype"),
                _ => tensor.dtype().native(),
            };
            if (found.dtype(), found.shape()) != (&expected, tensor.shape()) {
                return Err(format!("{} {:?}", found.dtype(), found.shape()));
            }
            let same = if expected == *tensor.dtype() || matches!(expected.kind(), Kind::Void(_)) {
                found.bytes() == tensor.bytes()
            } else if bytes {
                found.bytes() == [[1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0], [4, 0, 0, 0]].as_flattened()
            } else {
                // the other byte order: written once more it is what a little-endian tensor gives
                let again = folder.path().join("again.npy");
                write(&again, &found).map_err(|error| error.to_string())?;
                let unit = if matches!(tensor.dtype().kind(), Kind::Complex64 | Kind::Complex128) { 2 } else { 1 };
                let unit = match tensor.dtype().kind() {
                    Kind::Str(_) => 4,
                    _ => tensor.dtype().itemsize() / unit,
                };
                let swapped = tensor.bytes().chunks_exact(unit).flat_map(|word| word.iter().rev().copied());
                read(&again).map_err(|error| error.to_string())?.bytes() == swapped.collect::<Vec<u8>>()
            };
            if same { Ok(()) } else { Err(format!("{:?} became {:?}", tensor.bytes(), found.bytes())) }
        },
    );
    // all that was written under another name has gone
    assert!(fs::read_dir(folder.path()).expect("a folder").count() <= UNHELD.len() + 1);
}

#[test]
fn text_is_what_numpy_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tensor.TXT");
    write(&path, &tensor("int8")).expect("written");
    assert_eq!(fs::read_to_string(&path).expect("a text"), "[[1 2]\n [3 4]]\n");
}

#[test]
fn several_tensors_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (tensor("<f4"), tensor("int8"));
    for format in ["npz", "safetensors"] {
        let path = folder.path().join(format!("both.{format}"));
        write_all(&path, [("b", &first), ("a", &second)]).expect("written");
        let mut found = read_all(&path).expect("read");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, [("a".to_owned(), second.clone()), ("b".to_owned(), first.clone())], "{format}");
        let member = folder.path().join(format!("both.{format}:b"));
        assert_eq!(read(&member).expect("read"), first);
        assert_eq!(read_all(&member).expect("read"), [("b".to_owned(), first.clone())]);
        // one that is replaced is replaced whole; without a name it gets NumPy's
        write(&path, &first).expect("written");
        assert_eq!(read_all(&path).expect("read"), [("arr_0".to_owned(), first.clone())]);
        write_all::<String>(&path, []).expect("written");
        assert_eq!(read_all(&path).expect("read"), []);
    }
    for (format, name) in [("pb", "weights"), ("npy", ""), ("json", "")] {
        let path = folder.path().join(format!("one.{format}"));
        write_all(&path, vec![("weights".to_owned(), &first)]).expect("written");
        assert_eq!(read_all(&path).expect("read"), [(name.to_owned(), first.clone())], "{format}");
    }
}

#[test]
fn plain_json_is_of_a_dtype_by_its_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plain");
    for (text, dtype) in [("[1, 2]", "int64"), ("[0.5]", "float64"), ("[true]", "bool"), ("[\"ab\"]", "<U2")] {
        fs::write(&path, text).expect("written");
        assert_eq!(read(&path).expect("read").dtype(), &DType::parse(dtype).expect("a dtype"), "{text}");
    }
}

#[test]
fn fortran_order_becomes_c_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fortran.npy");
    let text = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }\n";
    let header = [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
    fs::write(&path, [&header[..], &[1, 3, 2, 4]].concat()).expect("written");
    assert_eq!(read(&path).expect("read"), tensor("int8"));
}

#[test]
fn errors_name_file_and_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let one = tensor("<f4");
    write_all(path("two.npz"), [("weight", &one), ("bias", &one)]).expect("written");
    write(path("one.npy"), &one).expect("written");
    fs::write(path("cut.npy"), &fs::read(path("one.npy")).expect("a file")[..130]).expect("written");
    fs::write(path("list.json"), "[1, [2]]").expect("written");
    fs::write(path("noise"), [1, 2, 3]).expect("written");
    let missing = ErrorKind::Io(io::ErrorKind::NotFound);
    let malformed = ErrorKind::Malformed;
    let member = ErrorKind::Member;
    let rows = [
        ("no.npy", missing, "(os error 2)"),
        ("no/x.npy", missing, "(os error 2)"),
        ("two.npz:x*", member, "has no tensor that \"x*\" matches, but \"bias\", \"weight\""),
        ("two.npz", member, "holds 2 tensors: name one after a colon: \"bias\", \"weight\""),
        ("two.npz:weigth", member, "has no tensor \"weigth\"; did you mean \"weight\"?"),
        ("one.npy:x", member, "its format (npy) has no members, expected a .npz"),
        ("cut.npy", malformed, "2 bytes of data, expected 16 (float32 [2, 2])"),
        ("list.json", malformed, "[1] is a list, [0] is not"),
        (
            "noise",
            malformed,
            "neither .npy, a PyTorch file, .npz, .safetensors, an ONNX tensor, an ONNX model, OpenVINO IR, GGUF nor JSON: begins with byte 0x01; for items \
             without a header give FILE:DTYPE[DIMS]",
        ),
        // a folder is a container of the tensors in its files
        (".", member, "holds 5 tensors: name one after a colon: \"cut\", \"list\", \"one\""),
    ];
    each(
        rows,
        |row| row.0.to_owned(),
        |(name, kind, expected)| {
            let error = read(path(name)).map_or_else(Ok, |_| Err("was read".to_owned()))?;
            let message = error.to_string();
            let begins = message.starts_with(&format!("{}: ", path(name).display()));
            let good = begins && message.contains(expected) && error.kind() == *kind && !message.contains('\n');
            if good { Ok(()) } else { Err(format!("{:?} {message}", error.kind())) }
        },
    );
    let dates = tensor("<M8[s]");
    let several = [("a", &one), ("b", &dates)];
    let rows = [
        (
            "x.foo",
            malformed,
            &several[..1],
            "x.foo: the name does not show the format: end it in .npy, .npz, .safetensors, .pb, ",
        ),
        ("x", malformed, &several[..1], "x: the name does not show the format"),
        (
            "x.safetensors.index.json",
            ErrorKind::Unsupported,
            &several[..1],
            "x.safetensors.index.json: an index of shards is written by the program",
        ),
        ("no/x.npy", missing, &several[..1], "no/x.npy: there is no folder "),
        ("x.pb", ErrorKind::Unsupported, &several[1..], "x.pb: ONNX cannot hold items of dtype <M8[s]"),
        (
            "x.safetensors",
            ErrorKind::Unsupported,
            &several[..],
            "x.safetensors:b: safetensors cannot hold items of dtype <M8[s]",
        ),
        ("x.npy", malformed, &several[..], "x.npy: 2 tensors, and only .npz"),
        ("x.npy", malformed, &several[..0], "x.npy: 0 tensors, and only .npz"),
    ];
    each(
        rows,
        |row| row.0.to_owned(),
        |(name, kind, tensors, expected)| match write_all(path(name), tensors.iter().copied()) {
            Ok(()) => Err("was written".to_owned()),
            Err(_) if path(name).exists() => Err("is there".to_owned()),
            Err(error) => {
                let expected = format!("{}/{expected}", folder.path().display());
                let message = error.to_string();
                let good = message.starts_with(&expected) && error.kind() == *kind;
                if good { Ok(()) } else { Err(format!("{:?} {message}", error.kind())) }
            }
        },
    );
    let refused = write_all(path("x.npz"), [("a", &one), ("a", &one)]).unwrap_err().to_string();
    assert!(refused.ends_with("x.npz: two tensors are called \"a\""), "{refused}");
}

#[test]
fn bytes_without_a_header_are_read_as_what_the_path_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.bin");
    each(
        DTYPES.split_whitespace(),
        |dtype| (*dtype).to_owned(),
        |dtype| {
            let expected = tensor(dtype);
            write(&path, &expected).map_err(|e| e.to_string())?;
            if fs::read(&path).expect("a file") != expected.bytes() {
                return Err("the file is not its items".to_owned());
            }
            for view in [format!("{dtype}[2,2]"), format!("{dtype}[-1,2]@0"), format!("{dtype}[2,-1]@0x0")] {
                let found = read(format!("{}:{view}", path.display())).map_err(|e| e.to_string())?;
                if found != expected {
                    return Err(format!("{view}: {found:?}"));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn tables_are_there_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let tensor = Tensor::from(&ndarray::array![[0.1_f64, f64::INFINITY], [-0.0, 1e300]]);
    for name in ["t.csv", "t.tsv"] {
        write(folder.path().join(name), &tensor).expect("written");
        assert_eq!(read(folder.path().join(name)), Ok(tensor.clone()));
    }
}

#[cfg(not(feature = "zarr"))]
#[test]
fn a_store_says_which_feature_it_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store.zarr");
    fs::create_dir(&store).and_then(|()| fs::write(store.join("zarr.json"), "{}")).expect("written");
    for error in [read(&store).unwrap_err(), write(folder.path().join("new.zarr"), &tensor("int8")).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains("feature zarr"), "{error}");
    }
}
