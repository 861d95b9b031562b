//! `.npy` files byte for byte as NumPy writes them: golden files of every dtype, copied through the program and
//! through the library, and headers too long to keep.

use serde_json::Value;
use tensorop::DType;
use tensorop::internal::formats::npy::{Begun, Header, read_header, write_header};
use tensorop::item::dtype::{Field, Kind};
use tensorop::item::meta::{Meta, Order};

#[cfg(feature = "cli")]
use crate::common::{self, Folder, npy_with_header};
use crate::common::{difference, each};

struct Golden {
    name: String,
    /// As NumPy wrote it.
    given: Vec<u8>,
    /// As NumPy writes the same array in C order.
    wanted: Vec<u8>,
    /// What it takes to read a file that does not tell its dtype.
    dtype: Option<String>,
}

/// The bytes that a text in hexadecimal stands for; `{count}` repeats the next byte.
fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut count = 1;
        if let Some((digits, after)) = rest.strip_prefix('{').and_then(|after| after.split_once('}')) {
            (count, rest) = (digits.parse().expect("a count"), after);
        }
        let byte = u8::from_str_radix(&rest[..2], 16).expect("a byte");
        out.extend(std::iter::repeat_n(byte, count));
        rest = &rest[2..];
    }
    out
}

fn golden() -> Vec<Golden> {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let given = bytes(text("in").expect("a file"));
        Golden {
            name: text("name").expect("a name").to_owned(),
            wanted: text("out").map_or_else(|| given.clone(), bytes),
            dtype: text("dtype").map(str::to_owned),
            given,
        }
    };
    include_str!("npy.jsonl").lines().map(row).collect()
}

fn begun(file: &[u8]) -> Result<Header, String> {
    match read_header(file).map_err(|error| error.to_string())? {
        Begun::Header(header) => Ok(header),
        Begun::Needs(bytes) => Err(format!("needs {bytes} bytes")),
    }
}

#[test]
fn headers_through_the_library() {
    each(
        golden(),
        |golden| golden.name.clone(),
        |Golden { given, wanted, dtype, .. }| {
            let mut header = begun(given)?;
            if let Some(dtype) = dtype {
                header.meta.dtype = DType::parse(dtype).map_err(|e| e.to_string())?;
            }
            if header.offset + header.bytes != given.len() {
                return Err(format!("{} bytes from {} on of {}", header.bytes, header.offset, given.len()));
            }
            let items = wanted.len() - header.bytes;
            let mut found = write_header(&Meta { order: Order::C, ..header.meta.clone() });
            if found != wanted[..items] {
                return Err(difference(&found, &wanted[..items]));
            }
            found.extend(&given[header.offset..]);
            if header.meta.order == Order::C && found != *wanted {
                return Err(difference(&found, wanted));
            }
            Ok(())
        },
    );
}

#[cfg(feature = "cli")]
#[test]
fn copies_through_the_program() {
    let folder = Folder::new();
    let rows: Vec<_> =
        golden().into_iter().filter(|golden| begun(&golden.given).is_ok_and(|h| !h.meta.shape.is_empty())).collect();
    assert!(rows.len() > 300);
    each(
        rows,
        |golden| golden.name.clone(),
        |Golden { given, wanted, dtype, .. }| {
            folder.put("in.npy", given);
            let dtype = dtype.as_ref().map(|dtype| format!("--dtype={dtype}"));
            let args = |operand, output: [&'static str; 2]| {
                let args = ["slice", operand, "--start=", "--stop="].into_iter().chain(output).map(str::to_owned);
                args.chain(dtype.clone()).collect::<Vec<String>>()
            };
            let printed = folder.run(args("in.npy", ["-o", "out.npy"])).printed()?;
            let found = folder.get("out.npy");
            if !printed.is_empty() || found != *wanted {
                return Err(format!("{printed}{}", difference(&found, wanted)));
            }
            // and as a stream
            let run = folder.run_with(args("-", ["--to", "npy"]), Some(7), Some(given));
            if run.stdout != *wanted {
                return Err(format!("as a stream: {}{}", run.stderr, difference(&run.stdout, wanted)));
            }
            Ok(())
        },
    );
}

/// What `numpy.save` writes before the items: room for 21 digits of the first dim, the line feed, at least one space
/// of padding to a multiple of 64, and version 2 where version 1 cannot say the length.
fn numpy_header(descr: &str, shape: &str, first_dim: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    text += &" ".repeat(21 - first_dim.len());
    for (version, prefix) in [(1, 10), (2, 12)] {
        let padding = 64 - (prefix + text.len() + 1) % 64;
        let len = text.len() + padding + 1;
        if version == 2 || len <= 65535 {
            let mut out = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
            out.extend(&(len as u32).to_le_bytes()[..prefix - 8]);
            out.extend(text.bytes());
            out.extend(vec![b' '; padding]);
            out.push(b'\n');
            return out;
        }
    }
    unreachable!("version 2 holds any length")
}

/// One field, its name as long as it takes.
fn one_field(width: usize) -> (DType, String) {
    let name = "n".repeat(width);
    let descr = format!("[('{name}', '|i1')]");
    let field = Field { name, title: None, dtype: Kind::Int8.into(), shapes: vec![], offset: 0 };
    (DType::structured(vec![field], 1).expect("a dtype"), descr)
}

#[test]
fn lengths_of_headers() {
    let mut exact = 0;
    let mut versions = [0; 4];
    for width in (1..200).chain(65_300..65_500) {
        let (dtype, descr) = one_field(width);
        let expected = numpy_header(&descr, "(12, 0)", "12");
        // where the header is a multiple of 64 without padding, NumPy still adds 64 spaces
        let unpadded = 10 + format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (12, 0), }}").len() + 19 + 1;
        exact += usize::from(unpadded.is_multiple_of(64));
        versions[usize::from(expected[6])] += 1;
        let found = write_header(&Meta::c_order(dtype.clone(), vec![12, 0]));
        assert!(found == expected, "width {width}: {}", difference(&found, &expected));
        assert_eq!(found.len() % 64, 0);
        if width % 50 != 0 {
            continue; // reading a long name takes a while
        }
        let header = begun(&found).expect("a header");
        assert_eq!((&header.meta, header.offset), (&Meta::c_order(dtype, vec![12, 0]), found.len()));
    }
    assert!(exact >= 3, "{exact} headers were a multiple of 64");
    assert!(versions[1] > 200 && versions[2] > 50, "{versions:?}");
}

/// Long headers through the program; also of many fields.
#[cfg(feature = "cli")]
#[test]
fn long_headers_through_the_program() {
    let folder = Folder::new();
    let many: Vec<String> = (0..6000).map(|i| format!("('f{i}', '<i2')")).collect();
    let rows = [
        (one_field(65_391).1, 1),
        (one_field(65_460).1, 1),
        (one_field(200_000).1, 1),
        (format!("[{}]", many.join(", ")), 12_000),
    ];
    each(
        rows,
        |(descr, _)| format!("descr of {} bytes", descr.len()),
        |(descr, itemsize)| {
            let items: Vec<u8> = (0..2 * itemsize).map(|i| i as u8).collect();
            folder.put(
                "in.npy",
                npy_with_header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}"), &items),
            );
            folder.run(["slice", "in.npy", "--at", "::-1", "-o", "out.npy"]).printed()?;
            let mut wanted = numpy_header(descr, "(2,)", "2");
            wanted.extend(&items[*itemsize..]);
            wanted.extend(&items[..*itemsize]);
            let found = folder.get("out.npy");
            if found == wanted { Ok(()) } else { Err(difference(&found, &wanted)) }
        },
    );
}

/// Headers that other writers may make, of the same array.
#[cfg(feature = "cli")]
#[test]
fn headers_of_other_writers() {
    let folder = Folder::new();
    let wanted = common::npy("<i4", &[2], &[1, 0, 0, 0, 2, 0, 0, 0]);
    let rows = [
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}",
        "{'shape': (2,), 'fortran_order': False, 'descr': '<i4'}",
        "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (2,), }",
        "{'descr': '<i4','fortran_order': True,'shape': (2L,), }",
        "  {'descr': '<i4', 'fortran_order': False, 'shape': (2,), }    ",
        "{'descr': 'i4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '=i4', 'fortran_order': False, 'shape': ( 2 , ) }",
    ];
    each(
        rows,
        |header| (*header).to_owned(),
        |header| {
            folder.put("in.npy", npy_with_header(header, &[1, 0, 0, 0, 2, 0, 0, 0]));
            folder.gives(&["slice", "in.npy", "--at", ":"], None, &wanted)
        },
    );
}
