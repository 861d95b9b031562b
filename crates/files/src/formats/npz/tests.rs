use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use tensorop_kernels::error::Result;

use super::records::{END_BYTES, LOCAL_BYTES, WrittenSums};
use super::write::{CENTRAL_BYTES, END_64_BYTES, LOCATOR_64_BYTES, NewMember};
use super::{Archive, ArchiveWriter, is_npz};
use crate::formats::npy::{self, Header};
use crate::storage::platform::{read_at, write_at};
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::view::View;
use tensorop_kernels::parallel::{Threads, threads_started_by};

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes.iter().skip(at).take(len).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn in_memory(bytes: &[u8]) -> Arc<dyn ReadAt> {
    Arc::new(MemoryBytes::new(bytes))
}

fn empty_file() -> File {
    tempfile::tempfile().expect("a temporary file")
}

fn all(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().expect("metadata").len() as usize];
    read_at(file, &mut bytes, 0).expect("read");
    bytes
}

fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    npy::write_header(&Meta::c_order(DType::parse(descr).expect("a dtype"), shape.to_vec()))
}

fn written(members: &[(&str, Vec<u8>, Vec<u8>)]) -> Result<Vec<u8>> {
    let laid = members.iter().map(|(name, header, items)| (name.to_string(), header.clone(), items.len() as u64));
    let writer = ArchiveWriter::new(laid.collect())?;
    let file = empty_file();
    let sums = WrittenSums::default();
    for (n, (_, _, items)) in members.iter().enumerate().rev() {
        write_at(&file, items, writer.items_at(n))?;
        sums.add(items, writer.items_at(n));
    }
    writer.finish(&file, &sums)?;
    let bytes = all(&file);
    assert_eq!(bytes.len() as u64, writer.len());
    Ok(bytes)
}

#[derive(Debug)]
struct CountedBytes {
    bytes: MemoryBytes,
    reads: AtomicUsize,
}

impl ReadAt for CountedBytes {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        // empty reads make no system call
        self.reads.fetch_add(usize::from(!out.is_empty()), Relaxed);
        self.bytes.read_at(out, at)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.bytes.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.bytes.identity()
    }
}

/// Describing and then opening a member reads its record and header once.
#[test]
fn headers_are_read_once() {
    let counted = Arc::new(CountedBytes { bytes: MemoryBytes::new(small()), reads: AtomicUsize::new(0) });
    let archive = || Archive::read(counted.clone()).expect("an archive");
    let reads = |of: &dyn Fn()| {
        counted.reads.store(0, Relaxed);
        of();
        counted.reads.load(Relaxed)
    };
    let (one, other) = (archive(), archive());
    let describe = || drop(one.header(0).expect("a header"));
    let open = |archive: &Archive| drop(archive.source(0, String::new(), Threads::default()).expect("a member"));
    let (described, opened) = (reads(&describe), reads(&|| open(&other)));
    assert_eq!(described, 1);
    assert_eq!((reads(&describe), reads(&|| open(&one))), (0, opened - described));
    // small members share a page of records and headers, and each is read once more for its checksum
    let member = |n: usize| (format!("m{n}"), header("|u1", &[2]), b"xy".to_vec());
    let members: Vec<_> = (0..100).map(member).collect();
    let members: Vec<_> =
        members.iter().map(|(name, header, items)| (&**name, header.clone(), items.clone())).collect();
    let bytes = written(&members).expect("an archive");
    let pages = bytes.len() / 2048;
    let many = Arc::new(CountedBytes { bytes: MemoryBytes::new(bytes), reads: AtomicUsize::new(0) });
    let archive = Archive::read(many.clone()).expect("an archive");
    many.reads.store(0, Relaxed);
    for n in 0..members.len() {
        drop(archive.source(n, String::new(), Threads::default()).expect("a member"));
    }
    let found = many.reads.load(Relaxed);
    assert!((100..=100 + pages).contains(&found), "{found} reads, {pages} pages");
}

fn small() -> Vec<u8> {
    let items: Vec<u8> = (0..24).collect();
    written(&[
        ("b", header("<f4", &[2, 3]), items),
        ("a/é", header("|u1", &[5]), b"PK\x05\x06\0".to_vec()),
        ("none", header("<i8", &[0, 7]), Vec::new()),
        ("one", header("|b1", &[]), vec![1]),
    ])
    .expect("an archive")
}

fn deflated(archive: &[u8]) -> Vec<u8> {
    let directory = Archive::read(in_memory(archive)).expect("an archive");
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for member in &directory.members {
        let new = NewMember {
            name: member.full_name.clone(),
            header: Vec::new(),
            items: 0,
            at: out.len() as u64,
            deflated: None,
        };
        let begin = (member.at + new.local_bytes()) as usize;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&archive[begin..][..member.size() as usize]).expect("deflated");
        let data = encoder.finish().expect("deflated");
        let (mut local, mut record) = (new.local(member.crc), new.central(member.crc));
        for (bytes, at) in [(&mut local, 8), (&mut record, 10)] {
            bytes[at] = 8;
            bytes[at + 10..][..4].copy_from_slice(&(data.len() as u32).to_le_bytes());
            bytes[at + 14..][..4].copy_from_slice(&(member.size() as u32).to_le_bytes());
        }
        out.extend(local);
        out.extend(data);
        central.extend(record);
    }
    let none = NewMember { name: String::new(), header: Vec::new(), items: 0, at: 0, deflated: None };
    let members = vec![none; directory.members.len()];
    let (end, bytes) = (out.len() as u64, central.len() as u64);
    out.extend(central);
    out.extend(ArchiveWriter { members, end, directory: bytes }.closing());
    out
}

type Content = Vec<(String, Header, Vec<u8>)>;

fn read(bytes: &[u8]) -> Result<Content> {
    let archive = Archive::read(in_memory(bytes))?;
    let names: Vec<_> = archive.names().map(str::to_owned).collect();
    let read = |(n, name): (usize, String)| {
        let (header, at) = archive.header(n)?;
        let source = archive.source(n, name.clone(), Threads::default())?;
        assert_eq!(source.offset(), at);
        assert_eq!(source.meta(), &header.meta);
        let mut items = vec![0; header.bytes];
        source.read(&View::c_order(&header.meta.shape), &mut items, &mut Default::default())?;
        source.finish()?;
        Ok((name, header, items))
    };
    names.into_iter().enumerate().map(read).collect()
}

fn message<T>(result: Result<T>) -> String {
    result.map_or_else(|error| format!("{error:#}"), |_| "no error".to_owned())
}

fn check(failed: &[String]) {
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn beginnings() {
    let rows: [(&[u8], bool); 6] = [
        (b"PK\x03\x04rest", true),
        (b"PK\x05\x06", true),
        (b"PK\x01\x02", false),
        (b"PK", false),
        (b"", false),
        (b"\x93NUMPY", false),
    ];
    check(
        &rows
            .map(|(begin, expected)| (is_npz(begin) != expected).then(|| format!("{begin:?}")))
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
    );
}

#[test]
fn round_trip_stored_and_deflated() {
    let archive = small();
    assert_eq!(archive, small());
    let content = read(&archive).expect("read");
    let names: Vec<_> = content.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["b", "a/é", "none", "one"]);
    assert_eq!(content[0].2, (0..24).collect::<Vec<u8>>());
    assert_eq!(content[1].2, b"PK\x05\x06\0");
    assert_eq!((&content[2].1.meta.shape[..], content[3].2.as_slice()), (&[0, 7][..], &[1_u8][..]));
    assert_eq!(read(&deflated(&archive)).expect("read"), content);
    let empty = written(&[]).expect("an empty archive");
    assert_eq!(empty.len(), END_BYTES);
    assert!(is_npz(&empty) && read(&empty).expect("read").is_empty());
}

#[test]
fn large_members_by_several_threads_and_reads() {
    let noise = |len: u32| (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<u8>>();
    let archive = |items: &[u8]| written(&[("x", header("|u1", &[items.len()]), items.to_vec())]).expect("an archive");
    let items = noise((4 << 20) + 1);
    let large = archive(&items);
    let mut crc = Crc::new();
    crc.update(&header("|u1", &[items.len()]));
    crc.update(&items);
    assert_eq!(number(&large, 14, 4), u64::from(crc.sum()));
    assert!(read(&large).expect("read")[0].2 == items);
    let items = noise(200_000);
    assert!(read(&deflated(&archive(&items))).expect("read")[0].2 == items);
}

#[test]
fn every_truncation_is_refused() {
    let archives = [small(), deflated(&small())];
    let mut failed = Vec::new();
    for (kind, archive) in archives.iter().enumerate() {
        for len in 0..archive.len() {
            let said = message(read(&archive[..len]));
            if said == "no error" || said.contains('\n') {
                failed.push(format!("{kind}, {len} bytes: {said}"));
            }
        }
        for more in [&b"\0"[..], b"PK\x05\x06", b"PK\x05\x06                  "] {
            let said = message(read(&[archive, more].concat()));
            if said == "no error" {
                failed.push(format!("{kind} and {more:?}"));
            }
        }
    }
    check(&failed);
}

#[test]
fn no_flipped_byte_gives_other_data() {
    let stored = written(&[("é", header("<u2", &[2, 1]), vec![1, 2, 3, 4]), ("none", header("|u1", &[0]), Vec::new())])
        .expect("an archive");
    let archives = [deflated(&stored), stored];
    let mut failed = Vec::new();
    for (kind, archive) in archives.iter().enumerate() {
        let expected = read(archive).expect("read");
        for at in 0..archive.len() {
            for flip in [0xff, 0x01, 0x08] {
                let mut bytes = archive.clone();
                bytes[at] ^= flip;
                match read(&bytes) {
                    Ok(content) if content != expected => failed.push(format!("{kind}, byte {at} ^ {flip:#x}")),
                    Err(error) if format!("{error:#}").contains('\n') => failed.push(format!("{error:#}")),
                    _ => {}
                }
            }
        }
    }
    check(&failed);
}

#[test]
fn refused_with_one_line() {
    let stored = small();
    let deflated = deflated(&stored);
    let one = |name: &str| written(&[(name, header("|u1", &[2]), vec![1, 2])]).expect("an archive");
    let directory = |archive: &[u8]| number(archive, archive.len() - 6, 4) as usize;
    let with = |archive: &[u8], changes: &[(usize, &[u8])]| {
        let mut bytes = archive.to_vec();
        for (at, new) in changes {
            bytes[*at..][..new.len()].copy_from_slice(new);
        }
        bytes
    };
    let x = one("x");
    let at = directory(&x);
    let names = |new: &[u8]| with(&one("name"), &[(LOCAL_BYTES, new), (directory(&one("name")) + CENTRAL_BYTES, new)]);
    let two = written(&[("x", header("|u1", &[1]), vec![1]), ("y", header("|u1", &[1]), vec![2])]).expect("an archive");
    let second = number(&two, directory(&two) + 47 + 4 + 42, 4) as usize;
    let twice = |new: &[u8]| with(&two, &[(second + LOCAL_BYTES, new), (directory(&two) + 2 * CENTRAL_BYTES + 5, new)]);
    let wrong_items = written(&[("x", header("<f4", &[2, 3]), vec![0; 23])]).expect("an archive");
    let no_npy = written(&[("x", b"MUMPY".to_vec(), vec![0; 200])]).expect("an archive");
    let short = written(&[("x", b"\x93NUMPY\x01\0\xff\0{".to_vec(), vec![])]).expect("an archive");
    let at_deflated = directory(&deflated);
    let end = x.len() - END_BYTES;
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "the ZIP archive has no end: cut off, or not a ZIP"),
        ("text", b"PK\x03\x04 and so on".to_vec(), "the ZIP archive has no end: cut off, or not a ZIP"),
        ("a byte more", [&x[..], b"\0"].concat(), "the ZIP archive ends after 238 bytes, the file after 239"),
        ("bytes before", [b"#!", &x[..]].concat(), "the first member of the ZIP archive is at byte 2, expected 0"),
        (
            "count + 1",
            with(&x, &[(end + 8, &[2, 0, 2, 0])]),
            "the directory of the ZIP archive has 1 members, expected 2",
        ),
        (
            "count - 1",
            with(&x, &[(end + 8, &[0, 0, 0, 0])]),
            "the directory of the ZIP archive has more than the 0 members that its end claims",
        ),
        (
            "directory after its end",
            with(&x, &[(end + 16, &[0xff, 0xff, 0, 0])]),
            "the directory of the ZIP archive begins after its end",
        ),
        ("CP437", names(b"n\x81me"), "the name of member 1 is not UTF-8: \"n\\x81me.npy\""),
        ("NUL", names(b"n\0me"), "the name of member 1 holds a NUL: \"n\\0me.npy\""),
        ("two of a name", twice(b"x"), "the ZIP archive has several members named \"x.npy\""),
        ("encrypted", with(&x, &[(at + 8, &[1])]), "encrypted, which is not read"),
        (
            "encrypted by its own record",
            with(&x, &[(6, &[1])]),
            "the record before the member and the directory differ in its encryption",
        ),
        ("method 14", with(&x, &[(at + 10, &[14])]), "compressed by method 14 (LZMA), expected stored or deflated"),
        ("method 77", with(&x, &[(at + 10, &[77])]), "compressed by method 77 (UNKNOWN), expected stored or deflated"),
        (
            "another method",
            with(&x, &[(at + 10, &[8])]),
            "the record before the member and the directory differ in its method",
        ),
        ("another name", with(&x, &[(30, b"y")]), "the record before the member and the directory differ in its name"),
        (
            "another size",
            with(&x, &[(22, &[131])]),
            "the record before the member and the directory differ in its size",
        ),
        (
            "another checksum",
            with(&x, &[(14, &[x[14] ^ 1])]),
            "the record before the member and the directory differ in its checksum",
        ),
        ("no record", with(&x, &[(2, b"\x01\x02")]), "no member record at byte 0, where the directory has one"),
        (
            "a record that ends in the directory",
            with(&x, &[(28, &[0xff, 0xff])]),
            "the record of a member at byte 0: failed to fill whole buffer",
        ),
        ("stored in less", with(&x, &[(20 + at, &[129]), (18, &[129])]), "stored in 129 bytes, expected its size, 130"),
        (
            "too many bytes",
            with(&x, &[(20 + at, &[0, 1]), (18, &[0, 1])]),
            "member \"x.npy\" of 256 bytes at byte 0 does not end before the directory at 165",
        ),
        ("a damaged item", with(&x, &[(at - 1, &[7])]), "damaged: CRC-32 2f0ff6ed, expected 5f650262"),
        ("too few items", wrong_items, "23 bytes of data, expected 24 (float32 [2, 3])"),
        ("no npy", no_npy, "not a .npy file: does not begin with \\x93NUMPY"),
        ("short header", short, "ends after 11 bytes, inside its header of 265"),
        (
            "deflated to more",
            with(&deflated, &[(22, &[151]), (at_deflated + 24, &[151])]),
            "23 bytes of data, expected 24 (float32 [2, 3])",
        ),
    ];
    let mut failed = Vec::new();
    for (name, bytes, expected) in rows {
        let said = message(read(&bytes));
        if said != expected {
            failed.push(format!("{name}: {said}, expected {expected}"));
        }
    }
    check(&failed);
}

#[test]
fn members_without_the_ending() {
    // names are changed in place, to others of the same length
    let renamed = |archive: &[u8], names: &[(&str, &str)]| {
        let mut bytes = archive.to_vec();
        for (from, to) in names {
            assert_eq!(from.len(), to.len());
            for at in 0..bytes.len() - from.len() {
                if bytes[at..].starts_with(from.as_bytes()) {
                    bytes[at..][..to.len()].copy_from_slice(to.as_bytes());
                }
            }
        }
        bytes
    };
    let (one, text) = (|item| (header("|u1", &[1]), vec![item]), (b"text".to_vec(), b"and more".to_vec()));
    let archive = written(&[
        ("x", one(1).0, one(1).1),
        ("folder/", Vec::new(), Vec::new()),
        ("array", one(2).0, one(2).1),
        ("read.me", text.0, text.1),
        ("y", one(6).0, one(6).1),
    ])
    .expect("an archive");
    let endings = [("folder/.npy", "folder/.np/"), ("array.npy", "array.bin"), ("read.me.npy", "read.me.txt")];
    let bytes = renamed(&archive, &endings);
    let archive = Archive::read(in_memory(&bytes)).expect("read");
    let names: Vec<_> = archive.names().collect();
    assert_eq!(names, ["x", "array.bin", "y"]);
    let others: Vec<_> = archive.others.iter().map(|other| &*other.full_name).collect();
    assert_eq!(others, ["read.me.txt"]);
    let mut text = String::new();
    let length = archive.open_other(0, Threads::default()).expect("open").read_to_string(&mut text);
    assert_eq!((length.expect("read"), &*text), (12, "textand more"));
    let (found, offset) = archive.header(1).expect("an array");
    assert_eq!((found.meta.shape, offset.map(|at| bytes[at as usize])), (vec![1], Some(2)));
    // with a damaged record it may be a tensor
    let name = "the record before the member and the directory differ in its name";
    let record = bytes.windows(11).position(|window| window == b"read.me.txt").expect("a name") - LOCAL_BYTES;
    let signature = format!("no member record at byte {record}, where the directory has one");
    for (at, expected) in [(0, &*signature), (30, name)] {
        let mut damaged = bytes.clone();
        damaged[record + at] ^= 0xff;
        assert_eq!(message(read(&damaged)), expected, "byte {at}");
        let archive = Archive::read(in_memory(&damaged)).expect("read");
        assert_eq!(archive.names().collect::<Vec<_>>(), ["x", "array.bin", "read.me.txt", "y"], "byte {at}");
    }
}

#[test]
fn names_the_writer_refuses() {
    let long = "x".repeat(65_532);
    let rows: [(&[&str], &str); 6] = [
        (&[""], "the name of a member is empty"),
        (&["a\0"], "the name of member \"a\\0\" holds a NUL"),
        (&["a", "b", "a"], "two members named \"a\""),
        (&[&long], "the name of a member has 65532 bytes, expected at most 65531"),
        (&[&long[1..]], "no error"),
        (&["a", "a.npy"], "no error"),
    ];
    let mut failed = Vec::new();
    for (names, expected) in rows {
        let said = message(ArchiveWriter::new(names.iter().map(|name| (name.to_string(), Vec::new(), 0)).collect()));
        if said != expected {
            failed.push(said);
        }
    }
    check(&failed);
    let sizes = |sizes: &[u64]| {
        message(ArchiveWriter::new(sizes.iter().enumerate().map(|(n, &size)| (n.to_string(), vec![0], size)).collect()))
    };
    assert!(sizes(&[u64::MAX]).contains("more than a file can have"));
    assert!(sizes(&[1 << 62, 1 << 62]).contains("more than a file can have"));
}

#[test]
fn more_than_32_bits() {
    // a hole of 4 GiB takes no room
    let large = (1_u64 << 32) + 5;
    let head = header("|u1", &[large as usize]);
    let members = vec![("hole".to_owned(), head.clone(), large), ("after".to_owned(), header("|u1", &[3]), 3)];
    let writer = ArchiveWriter::new(members).expect("laid out");
    let local = LOCAL_BYTES as u64 + 8 + 20;
    assert_eq!(writer.items_at(0), local + head.len() as u64);
    assert!(writer.items_at(1) > 1 << 32);
    let record = writer.members[0].local(1);
    assert_eq!(record.len() as u64, local);
    assert_eq!((number(&record, 18, 4), number(&record, 22, 4)), (0xffff_ffff, 0xffff_ffff));
    assert_eq!(number(&record, 42, 8), large + head.len() as u64);
    assert_eq!(writer.directory, writer.members.iter().map(|member| member.central(1).len() as u64).sum::<u64>());
    assert_eq!(writer.closing().len(), END_64_BYTES + LOCATOR_64_BYTES + END_BYTES);
}

#[test]
fn more_members_than_16_bits_count() {
    let head = header("|u1", &[1]);
    let members: Vec<_> = (0..70_000).map(|n| (n.to_string(), head.clone(), 1)).collect();
    let writer = ArchiveWriter::new(members).expect("laid out");
    // only the directory is read
    let mut bytes: Vec<u8> = writer.members.iter().flat_map(|member| member.central(0)).collect();
    bytes.extend(writer.closing());
    let file = empty_file();
    write_at(&file, &bytes, writer.end).expect("written");
    let archive = Archive::read(Arc::new(file)).expect("read");
    assert_eq!(archive.names().len(), 70_000);
    assert_eq!(archive.names().last(), Some("69999"));
}

#[test]
fn golden_archives_of_numpy() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/npz/");
    let read = |name: &str| read(&std::fs::read(format!("{folder}{name}")).expect("a golden file")).expect("read");
    let stored = read("stored.npz");
    assert_eq!(read("deflated.npz"), stored);
    assert_eq!(read("streamed.npz"), stored);
    let shown = |(name, header, items): &(String, Header, Vec<u8>)| {
        let Meta { dtype, shape, order } = &header.meta;
        (name.clone(), dtype.name(), shape.clone(), *order == Order::Fortran, items.clone())
    };
    let found: Vec<_> = stored.iter().map(shown).collect();
    let row = |name: &str, dtype: &str, shape: &[usize], fortran_order, items: Vec<u8>| {
        (name.to_owned(), dtype.to_owned(), shape.to_vec(), fortran_order, items)
    };
    let matrix = (0..12_u8).flat_map(|n| (f32::from(n) / 8.0).to_le_bytes());
    let fortran = (0..20_i16).flat_map(|n| (n % 4 * 5 + n / 4).to_le_bytes());
    let expected = [
        row("matrix", "float32", &[3, 4], false, matrix.collect()),
        row("fortran", "int16", &[4, 5], true, fortran.collect()),
        row("none", "float64", &[0, 3], false, Vec::new()),
        row("one", "complex128", &[], false, [1.5_f64, -2.0].map(f64::to_le_bytes).concat()),
        row("größe/x", "uint8", &[2000], false, (0..2000).map(|n| (n % 7) as u8).collect()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn one_thread_starts_no_other() {
    let items = vec![7; 5 << 20];
    let head = header("|u1", &[items.len()]);
    let (file, members) = (empty_file(), vec![("x".to_owned(), head, items.len() as u64)]);
    let writer = ArchiveWriter::new(members).expect("laid out");
    write_at(&file, &items, writer.items_at(0)).expect("written");
    let sums = WrittenSums::default();
    sums.add(&items, writer.items_at(0));
    writer.finish(&file, &sums).expect("finished");
    let two = Threads::new(NonZero::new(2));
    for (threads, expected) in [(Threads::new(NonZero::new(1)), 0), (two, 1)] {
        let archive = Archive::read(Arc::new(file.try_clone().expect("a file"))).expect("read");
        let (started, source) = threads_started_by(|| archive.source(0, "x".to_owned(), threads));
        assert_eq!(source.expect("a source").bytes(), items.len());
        assert_eq!(started, expected, "read, {threads:?}");
    }
}
