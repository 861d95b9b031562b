//! Recognises files without readable tensors for messages: "not JSON" does not help with a model or a packed file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(crate) const PYTORCH: &str = "a PyTorch file that was packed anew, with other files first: it is read as pytorch";

pub(crate) const EXPORTED: &str = "a PyTorch file of an exported program (.pt2), which is not read";

pub(crate) const DISTRIBUTED: &str = "a PyTorch distributed checkpoint (.distcp), which is not read";

pub(crate) const ZIPPED_STORE: &str = "a Zarr store in a ZIP archive: unpack it into a folder first";

const NETCDF: &str = "a netCDF file, which is not read";
const PARQUET: &str = "a Parquet file, which is not read";
const PICKLE: &str = "a Python pickle, which is not read";
const TIFF: &str = "a TIFF image, which is not read";
const MATLAB: &str = "a MATLAB file, which is not read";
const LITE: &str = "a TensorFlow Lite model, which is not read";
const OF_RUNTIME: &str = "a model in ONNX Runtime's own format (.ort), which is not read";
const EXECUTABLE: &str = "an ExecuTorch program (.pte), which is not read";
pub(crate) const KERAS: &str = "a Keras model, which is not read";

const MAGIC: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "packed by gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first"),
    (b"GGUF", "a GGUF model, which is not read in a folder under this name"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (netCDF 4 is one, too), which is not read"),
    (b"CDF\x01", NETCDF),
    (b"CDF\x02", NETCDF),
    (b"CDF\x05", NETCDF),
    (b"II*\0", TIFF),
    (b"MM\0*", TIFF),
    (b"II+\0", TIFF),
    (b"MM\0+", TIFF),
    (b"PAR1", PARQUET),
    (b"MATLAB 5.0 MAT-file", MATLAB),
    (b"MATLAB 7.3 MAT-file", MATLAB),
];

/// Marks that are not at the beginning, and where they are.
const MARKS: &[(usize, &[u8], &str)] = &[
    (257, b"ustar", "a TAR archive, which is not read (nor are PyTorch's of 2016)"),
    (4, b"TFL3", LITE),
    (4, b"ORTM", OF_RUNTIME),
    (4, b"ET12", EXECUTABLE),
];

/// By its name, but not by its content.
const OF_TORCH: &str = "a PyTorch file, which is not read";

const ENDINGS: &[(&str, &str)] = &[
    (".pt", OF_TORCH),
    (".pth", OF_TORCH),
    (".pt2", EXPORTED),
    (".pkl", PICKLE),
    (".pickle", PICKLE),
    (".parquet", PARQUET),
    (".tif", TIFF),
    (".tiff", TIFF),
    (".ckpt", "a checkpoint of PyTorch or TensorFlow, which is not read"),
    (".ggml", "a GGML model, which is not read"),
    (".distcp", DISTRIBUTED),
    (".h5", "an HDF5 file, which is not read"),
    (".hdf5", "an HDF5 file, which is not read"),
    (".keras", KERAS),
    (".msgpack", "a Flax model, which is not read"),
    (".nc", NETCDF),
    (".nc4", NETCDF),
    (".mat", MATLAB),
    (".ort", OF_RUNTIME),
    (".pte", EXECUTABLE),
    (".tflite", LITE),
    (".zarr.zip", ZIPPED_STORE),
];

/// Any bytes may be called `.bin`, so its content decides.
pub(crate) fn holder(name: &str, path: &Path) -> Option<&'static str> {
    let ends = |ending: &str| {
        let at = name.len().checked_sub(ending.len()).filter(|at| *at > 0);
        at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    let named = ENDINGS.iter().find(|(ending, _)| ends(ending)).map(|(_, what)| *what);
    named.or_else(|| if ends(".bin") { holder_among_bytes(path).ok().flatten() } else { None })
}

pub(crate) fn is_holder(path: &Path) -> bool {
    holder_among_bytes(path).is_ok_and(|what| what.is_some())
}

fn holder_among_bytes(path: &Path) -> io::Result<Option<&'static str>> {
    const LOOK: u64 = 4096;
    let mut begin = Vec::new();
    File::open(path)?.take(LOOK).read_to_end(&mut begin)?;
    Ok(stand_in(&begin).or_else(|| binary(&begin)))
}

const POINTER: u64 = 1024;

/// A longer file is not opened.
pub(crate) fn is_pointer_at(path: &Path, bytes: u64) -> bool {
    let begin = || -> io::Result<Vec<u8>> {
        let mut begin = Vec::new();
        File::open(path)?.take(POINTER).read_to_end(&mut begin)?;
        Ok(begin)
    };
    (LFS.len() as u64..POINTER).contains(&bytes) && begin().is_ok_and(|begin| is_pointer(&begin))
}

const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1";

pub(crate) const POINTS: &str = "a Git LFS pointer in place of the file: git lfs pull fetches it";

pub(crate) fn stand_in(begin: &[u8]) -> Option<&'static str> {
    let text = begin.trim_ascii_start();
    let begins = |with: &str| text.get(..with.len()).is_some_and(|word| word.eq_ignore_ascii_case(with.as_bytes()));
    match () {
        () if is_pointer(begin) => Some(POINTS),
        () if begins("<!doctype html") || begins("<html") => {
            Some("an HTML page in place of a tensor, as servers send for an error")
        }
        () => None,
    }
}

pub(crate) fn is_pointer(begin: &[u8]) -> bool {
    begin.starts_with(LFS)
}

pub(crate) fn binary(begin: &[u8]) -> Option<&'static str> {
    let magic = MAGIC.iter().find(|(magic, _)| begin.starts_with(magic)).map(|(_, what)| *what);
    let marked = MARKS.iter().find(|(at, mark, _)| begin.get(*at..).is_some_and(|bytes| bytes.starts_with(mark)));
    match begin {
        [0x80, 2..=5, ..] if magic.is_none() => {
            Some("a Python pickle that torch.save did not write, which is not read")
        }
        _ => magic.or(marked.map(|(.., what)| *what)),
    }
}

pub(crate) fn text(text: &str) -> Option<TextKind> {
    if is_printed(text) {
        return Some(TextKind::Printed);
    }
    let mut rows = text.lines();
    let row = rows.next().unwrap_or_default();
    let delimiter = ['\t', ',', ';', '|'].into_iter().find(|delimiter| row.contains(*delimiter));
    // Sentences contain blanks too.
    let has_numbers = || row.trim().contains(' ') && !row.split_ascii_whitespace().any(is_word);
    let delimiter = delimiter.or_else(|| has_numbers().then_some(' '))?;
    let has_word = |row: &str| row.split(delimiter).any(is_word);
    let headings = has_word(row) && rows.next().is_some_and(|second| !has_word(second));
    (!row.starts_with(['[', '{', '"'])).then_some(TextKind::Rows { delimiter, headings })
}

fn is_word(cell: &str) -> bool {
    let cell = cell.trim().trim_matches('"');
    let is_bool = ["true", "false"].iter().any(|name| cell.eq_ignore_ascii_case(name));
    !cell.is_empty() && !is_bool && cell.parse::<f64>().is_err()
}

/// A tensor, but not as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// As NumPy prints arrays.
    Printed,
    Rows {
        /// A blank means any number of blanks.
        delimiter: char,
        /// Whether only the first row has words.
        headings: bool,
    },
}

/// Items are separated by blanks, without commas.
fn is_printed(text: &str) -> bool {
    const ITEMS: usize = 50;
    let text = text.trim_start();
    let Some(items) = text.strip_prefix('[') else { return false };
    // Several lists are not a printed array.
    let mut depth = 0_i32;
    let after = text.trim_end().char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        depth == 0
    });
    if after.is_some_and(|(end, _)| end + 1 < text.trim_end().len()) {
        return false;
    }
    let mut words =
        items.split(|c: char| c.is_whitespace() || "[]".contains(c)).filter(|word| !word.is_empty()).peekable();
    // The JSON reader explains `NaN` and `Infinity` better.
    let number = |word: &str| word.parse::<f64>().is_ok() && !word.contains(|c: char| c.is_ascii_uppercase());
    // A sign that is not in an exponent begins the imaginary part.
    let complex = |word: &str| {
        let signs = word.char_indices().filter(|(at, c)| *at > 0 && "+-".contains(*c)).map(|(at, _)| word.split_at(at));
        signs.into_iter().any(|(re, im)| number(re) && im.strip_suffix('j').is_some_and(number))
    };
    let item = |word: &str| matches!(word, "True" | "False" | "...") || number(word) || complex(word);
    let first = words.peek().copied();
    let alone = text.split_whitespace().nth(1).is_none();
    first.is_some_and(|first| !alone || first.ends_with('.')) && words.take(ITEMS).all(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let rows = [
            ("[1. 2.5 nan -inf]", Some(TextKind::Printed)),
            ("[[1 2]\n [3 4]]\n", Some(TextKind::Printed)),
            ("[ True False]", Some(TextKind::Printed)),
            ("[0.+1.j 2.e-05-3.j]", Some(TextKind::Printed)),
            ("[1. ... 3.]", Some(TextKind::Printed)),
            ("[1.]", Some(TextKind::Printed)),
            ("[1]\n[2]", None),
            ("[nan]", None),
            ("[NaN Infinity]", None),
            ("[1, 2", None),
            ("[]", None),
            ("[a b]", None),
            ("{\"a\" 1}", None),
            ("a,b\n1,2\n", Some(TextKind::Rows { delimiter: ',', headings: true })),
            ("a,b\nc,2\n", Some(TextKind::Rows { delimiter: ',', headings: false })),
            ("a,b\n", Some(TextKind::Rows { delimiter: ',', headings: false })),
            ("1,true,\n2,nan,\n", Some(TextKind::Rows { delimiter: ',', headings: false })),
            ("1\t2\n", Some(TextKind::Rows { delimiter: '\t', headings: false })),
            ("x, unit\ty\n1\t2\n", Some(TextKind::Rows { delimiter: '\t', headings: true })),
            ("1;2\n3;4\n", Some(TextKind::Rows { delimiter: ';', headings: false })),
            ("a|b\n1|2\n", Some(TextKind::Rows { delimiter: '|', headings: true })),
            ("1  2\n3 4\n", Some(TextKind::Rows { delimiter: ' ', headings: false })),
            ("two words\n", None),
            ("word", None),
            ("", None),
        ];
        for (given, expected) in rows {
            assert_eq!(text(given), expected, "{given:?}");
        }
    }

    #[test]
    fn files() {
        let rows: [(&[u8], &str); 15] = [
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"GGUF\x03\0\0\0", "GGUF"),
            (b"CDF\x01\0\0\0\0", "netCDF"),
            (b"CDF\x05\0\0\0\0", "netCDF"),
            (b"\x89HDF\r\n\x1a\n\0", "netCDF 4"),
            (b"II*\0\x08\0\0\0", "TIFF"),
            (b"MM\0+\0\x08\0\0", "TIFF"),
            (b"MM\0*\0\0\0\x08", "TIFF"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"\x80\x02\x8a\x0al", "pickle"),
            (b"MATLAB 5.0 MAT-file, Platform: GLNXA64", "MATLAB"),
            (b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "MATLAB"),
            (b"\x1c\0\0\0TFL3\x14\0", "TensorFlow Lite"),
            (b"\x18\0\0\0ORTM\0\0", "ONNX Runtime"),
            (b"\x30\0\0\0ET12\xd0\x04", "ExecuTorch"),
        ];
        for (begin, what) in rows {
            assert!(binary(begin).is_some_and(|found| found.contains(what)), "{what}");
        }
        for begin in [&b"\x93NUMPY"[..], b"", b"\x08", b"\x08\x02\x10\x01", b"\x3a\x01"] {
            assert_eq!((binary(begin), stand_in(begin)), (None, None), "{begin:?}");
        }
        for (begin, what) in [
            ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
            ("\r\n<!DOCTYPE HTML>\n<html>", "an HTML page"),
            ("<html lang=\"en\">", "an HTML page"),
        ] {
            assert!(stand_in(begin.as_bytes()).is_some_and(|found| found.contains(what)), "{what}");
        }
    }
}
