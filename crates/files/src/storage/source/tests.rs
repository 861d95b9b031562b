use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::storage::chunked::{ChunkStyle, MAX_ROW, PackedUnit};
use crate::storage::key_store::WritableStore;
use crate::storage::read_at::{Identity, MemoryBytes};
use tensorop_kernels::layout::axis::Span;
use tensorop_kernels::layout::window::{Window, Windows};
use tensorop_kernels::parallel::share;

/// Bytes in memory of which those from byte `end` on cannot be read, and whose revision a test may raise.
#[derive(Debug)]
struct FaultyBytes {
    inner: MemoryBytes,
    end: AtomicU64,
    revision: AtomicU64,
}

impl FaultyBytes {
    fn new(bytes: impl Into<Vec<u8>>) -> Arc<Self> {
        let inner = MemoryBytes::new(bytes);
        Arc::new(Self { inner, end: AtomicU64::new(u64::MAX), revision: AtomicU64::new(0) })
    }

    /// Lets every read fail that goes beyond byte `end`.
    fn fail_from(&self, end: u64) {
        self.end.store(end, Ordering::Relaxed);
    }

    /// Makes the bytes look changed.
    fn touch(&self) {
        self.revision.fetch_add(1, Ordering::Relaxed);
    }
}

impl ReadAt for FaultyBytes {
    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        match at + out.len() as u64 > self.end.load(Ordering::Relaxed) {
            true => Err(io::Error::other("a fault of the device")),
            false => self.inner.read_at(out, at),
        }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::Revision(self.revision.load(Ordering::Relaxed)))
    }

    fn identity(&self) -> io::Result<Identity> {
        self.inner.identity()
    }
}

/// Bytes of a server.
#[derive(Debug)]
struct ServerBytes(MemoryBytes);

impl ReadAt for ServerBytes {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_at(out, at)
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.0.stamp()
    }

    fn identity(&self) -> io::Result<Identity> {
        self.0.identity()
    }

    fn costs_requests(&self) -> bool {
        true
    }
}

/// The items of a tensor in chunks, of a server or not.
#[derive(Debug)]
struct TestChunks {
    items: Tensor,
    style: Arc<ChunkStyle>,
    is_remote: bool,
}

impl TestChunks {
    fn source(items: Tensor, chunk: &[usize], is_remote: bool) -> Source {
        let style = ChunkStyle {
            unit: chunk.to_vec(),
            chunk: chunk.to_vec(),
            codecs: String::new(),
            is_exact: true,
            fill: Vec::new(),
            attributes: None,
            dimension_names: None,
            groups: Arc::default(),
            is_consolidated: false,
        };
        let meta = Meta::c_order(items.dtype().clone(), items.shape().to_vec());
        Source::chunks(meta, Arc::new(Self { items, style: Arc::new(style), is_remote }), label())
    }
}

impl Chunked for TestChunks {
    fn read(&self, places: &[Span], out: &mut [u8], _: &mut Buffer) -> Result<()> {
        let view = View::c_order(self.items.shape()).select(places);
        copy_bytes(self.items.bytes(), &view, out, &View::c_order(&view.shape()), self.items.dtype().itemsize());
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn style(&self) -> &Arc<ChunkStyle> {
        &self.style
    }

    fn costs_requests(&self) -> bool {
        self.is_remote
    }

    fn is_unit(&self, _: &Window) -> bool {
        false
    }

    fn value_of(&self, _: &Window) -> Result<Option<Arc<dyn ReadAt>>> {
        Ok(None)
    }

    fn has(&self, _: &Window) -> bool {
        false
    }

    fn packed(&self, _: &Window, _: &[u8], _: bool) -> Result<PackedUnit> {
        unreachable!("nothing is written")
    }

    /// As if each item were packed into 3 bytes.
    fn bytes_at(&self, places: &[Span]) -> u64 {
        places.iter().map(|span| span.len as u64).product::<u64>() * 3
    }

    fn store_identity(&self) -> Result<Identity> {
        unreachable!("nothing is written")
    }

    fn edit(&self) -> Result<Box<dyn WritableStore>> {
        unreachable!("nothing is written")
    }
}

const SHAPE: [usize; 3] = [3, 4, 5];

fn meta(order: Order) -> Meta {
    Meta::c_order(DType::parse("<u2").unwrap(), SHAPE.to_vec()).in_order(order)
}

/// The items of the tensor in C order: each is its own number.
fn items() -> Vec<u8> {
    (0..60_u16).flat_map(u16::to_le_bytes).collect()
}

/// The items as a tensor of that order stores them.
fn stored(order: Order) -> Vec<u8> {
    let mut out = vec![0; 120];
    copy_bytes(&items(), &View::c_order(&SHAPE), &mut out, &meta(order).view(), 2);
    out
}

fn label() -> String {
    "DATA x".to_owned()
}

/// The same tensor from every kind of storage, each with a name for messages.
fn every_kind() -> Vec<(&'static str, Source)> {
    let (c, fortran) = (stored(Order::C), stored(Order::Fortran));
    let mut file = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut file, &c).unwrap();
    let after_a_header = MemoryBytes::new([&[9; 7][..], &c, &[9]].concat());
    let at = |meta, bytes: Arc<dyn ReadAt>, start| Source::stored(meta, bytes, start, label()).unwrap();
    let stream = |order, bytes| Source::stream(meta(order), Box::new(Cursor::new(bytes)), 120, label());
    let settled = |mut source: Source| {
        source.hold(Hold::Seekable, Threads::default()).unwrap();
        source
    };
    vec![
        ("memory", Source::memory(Tensor::new(meta(Order::C).dtype, SHAPE.to_vec(), c.clone()).unwrap(), label())),
        ("a file", at(meta(Order::C), Arc::new(file), 0)),
        ("bytes after a header", at(meta(Order::C), Arc::new(after_a_header), 7)),
        ("bytes in Fortran order", at(meta(Order::Fortran), Arc::new(MemoryBytes::new(&*fortran)), 0)),
        ("a stream", stream(Order::C, c.clone())),
        ("a stream that was settled", settled(stream(Order::C, c))),
        ("a stream in Fortran order that was settled", settled(stream(Order::Fortran, fortran))),
    ]
}

#[test]
fn windows_of_every_kind() {
    let mut wrong = Vec::new();
    for size in [60, 7, 1] {
        for (name, source) in every_kind() {
            for threads in [1, 3] {
                // a stream comes once, from front to back
                if source.is_stream() && threads > 1 {
                    continue;
                }
                let windows = Windows::new(&SHAPE, size);
                let found = Mutex::new(vec![0; 120]);
                share(threads, windows.count(), Buffer::default, |number, scratch| -> Result<bool> {
                    let window = windows.get(number);
                    let mut out = vec![0; window.items() * 2];
                    source.read(&source.view().part(&window.ranges), &mut out, scratch)?;
                    let place = View::c_order(&SHAPE).part(&window.ranges);
                    copy_bytes(&out, &View::c_order(&place.shape()), &mut found.lock().unwrap(), &place, 2);
                    Ok(true)
                })
                .and_then(|_| source.finish())
                .unwrap_or_else(|error| wrong.push(format!("{name}, windows of {size}: {error}")));
                if found.into_inner().unwrap() != items() {
                    wrong.push(format!("{name}, windows of {size}, {threads} threads: other items"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn runs_of_every_kind() {
    for (name, source) in every_kind() {
        let expected = stored(source.meta().order);
        for (at, len) in [(0, 2), (2, 34), (36, 0), (100, 20)] {
            let mut out = vec![0; len];
            source.read_at(&mut out, at as u64).unwrap();
            assert_eq!(out, expected[at..][..len], "{name} {at}");
        }
    }
}

#[test]
fn what_each_kind_is() {
    let mut found: Vec<_> = every_kind();
    found.push(("an item", Source::item(meta(Order::C), vec![1, 2], label())));
    let shown: Vec<_> = found
        .iter()
        .map(|(name, source)| {
            let is = [
                ("read by position", source.is_read_by_position()),
                ("a local file", source.as_local_file().is_some()),
                ("in memory", source.as_bytes().is_some()),
                ("a stream", source.is_stream()),
                ("one item", source.is_one_item()),
            ];
            let is: Vec<_> = is.iter().filter(|(_, is)| *is).map(|(what, _)| *what).collect();
            format!("{name}: {}", is.join(", "))
        })
        .collect();
    let expected = [
        "memory: in memory",
        "a file: read by position, a local file",
        "bytes after a header: read by position",
        "bytes in Fortran order: read by position",
        "a stream: a stream",
        "a stream that was settled: in memory",
        "a stream in Fortran order that was settled: in memory",
        "an item: one item",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn one_item_stands_everywhere() {
    let mut source = Source::item(meta(Order::C), vec![1, 2], label());
    let mut out = vec![0; 6];
    source.read(&source.view().part(&[0..1, 1..2, 2..5]), &mut out, &mut Default::default()).unwrap();
    assert_eq!(out, [1, 2, 1, 2, 1, 2]);
    source.hold(Hold::Memory, Threads::default()).unwrap();
    assert_eq!(source.as_bytes(), Some(&[1, 2].repeat(60)[..]));
}

#[test]
fn resident_items_are_in_c_order() {
    for (name, mut source) in every_kind() {
        source.hold(Hold::Memory, Threads::default()).unwrap();
        assert_eq!((source.as_bytes(), source.meta().order), (Some(&items()[..]), Order::C), "{name}");
    }
}

const HOLDS: [Hold; 8] =
    [Hold::Seekable, Hold::COrder, Hold::Scan, Hold::Runs, Hold::Local, Hold::Memory, Hold::AsStored, Hold::ByBoxes(7)];

/// Three threads for any work.
fn three_threads() -> Threads {
    Threads::new(std::num::NonZero::new(3)).started_for(0)
}

#[test]
fn what_is_copied_to_be_held() {
    let tensor = |order| Tensor::new(meta(Order::C).dtype, SHAPE.to_vec(), stored(order)).unwrap();
    let server = |order| {
        Source::stored(meta(order), Arc::new(ServerBytes(MemoryBytes::new(stored(order)))), 0, label()).unwrap()
    };
    let more = || {
        vec![
            ("bytes of a server", server(Order::C)),
            ("bytes of a server in Fortran order", server(Order::Fortran)),
            ("chunks", TestChunks::source(tensor(Order::C), &[3, 2, 5], false)),
            ("chunks of a server in few rows", TestChunks::source(tensor(Order::C), &[3, 2, 5], true)),
            ("chunks of a server", TestChunks::source(tensor(Order::C), &[1, 4, 5], true)),
        ]
    };
    let all = || every_kind().into_iter().chain(more());
    // for each hold, how many bytes are read to copy all of them, if they are copied
    let expected = [
        "memory: - - - - - - - -",
        "a file: - - - - - 120 120 120",
        "bytes after a header: - - - - - 120 120 120",
        "bytes in Fortran order: - - - - - 120 120 120",
        "a stream: 120 - - 120 120 120 - -",
        "a stream that was settled: - - - - - - - -",
        "a stream in Fortran order that was settled: - - - - - 0 - -",
        "bytes of a server: - - - - 120 120 120 120",
        "bytes of a server in Fortran order: - - - - 120 120 120 120",
        "chunks: - - - - - 180 - -",
        "chunks of a server in few rows: - - 180 - 180 180 - -",
        "chunks of a server: - - - - 180 180 - -",
    ];
    let shown = |source: &Source, hold| match source.copy_to(hold, three_threads()) {
        Some(copy) => copy.bytes_read.to_string(),
        None => "-".to_owned(),
    };
    let found: Vec<_> =
        all().map(|(name, source)| format!("{name}: {}", HOLDS.map(|hold| shown(&source, hold)).join(" "))).collect();
    assert_eq!(found, expected);
    for hold in HOLDS {
        for (name, mut source) in all() {
            source.hold(hold, three_threads()).unwrap();
            assert!(source.copy_to(hold, three_threads()).is_none(), "{name} {hold:?}: copied once more");
            let times = if source.is_stream() { 1 } else { 2 };
            for _ in 0..times {
                let mut out = vec![0; 120];
                source.read(&source.view(), &mut out, &mut Default::default()).unwrap();
                source.finish().unwrap();
                assert_eq!(out, items(), "{name} {hold:?}");
            }
        }
    }
}

#[test]
fn chunks_in_long_rows() {
    let tensor = |dim| Tensor::new(DType::parse("uint8").unwrap(), vec![2, dim], vec![5; 2 * dim]).unwrap();
    for (dim, is_long) in [(MAX_ROW / 2, false), (MAX_ROW / 2 + 1, true)] {
        let source = TestChunks::source(tensor(dim), &[2, 1 << 20], false);
        let found = HOLDS.map(|hold| source.copy_to(hold, three_threads()).is_some());
        assert_eq!(found, [false, is_long, is_long, is_long, false, true, false, false], "{dim}");
    }
    let (dim, chunk) = (MAX_ROW / 2 + 1, [2, 1 << 20]);
    let mut source = TestChunks::source(tensor(dim), &chunk, false);
    assert_eq!(source.copy_to(Hold::COrder, three_threads()).map(|copy| copy.bytes_read), Some(3 * 2 * dim as u64));
    source.hold(Hold::COrder, three_threads()).unwrap();
    let mut out = vec![0; 9];
    source.read_at(&mut out, dim as u64 - 3).unwrap();
    assert_eq!((out, source.is_read_by_position()), (vec![5; 9], true));
}

#[test]
fn shared_bytes_are_brought_near() {
    let bytes = Arc::new(ServerBytes(MemoryBytes::new(stored(Order::C))));
    let source = Source::stored(meta(Order::C), bytes, 0, label()).unwrap();
    assert!(source.costs_requests());
    source.bring_near(three_threads()).unwrap();
    assert!(!source.costs_requests() && source.copy_to(Hold::Local, three_threads()).is_none());
    assert_eq!(refusal(&source), "read");
    let stream = Source::stream(meta(Order::C), Box::new(Cursor::new(stored(Order::C))), 120, label());
    stream.bring_near(three_threads()).unwrap();
    assert!(stream.is_stream());
}

/// The message of what reads all items, and then asks whether they have changed.
fn refusal(source: &Source) -> String {
    let mut out = vec![0; source.bytes()];
    let read = source.read(&source.view(), &mut out, &mut Default::default()).and_then(|()| source.finish());
    read.map_or_else(|error| error.to_string(), |()| "read".to_owned())
}

#[test]
fn reads_that_fail() {
    let wide = "bytes of data, expected 120 (uint16 [3, 4, 5])";
    for (len, expected) in [
        (0, format!("DATA x: 0 {wide}")),
        (119, format!("DATA x: 119 {wide}")),
        (120, "read".to_owned()),
        (121, format!("DATA x: more than 120 {wide}")),
    ] {
        let stream = || {
            Source::stream(
                meta(Order::C),
                Box::new(Cursor::new([stored(Order::C), vec![7; 9]].concat()).take(len)),
                120,
                label(),
            )
        };
        assert_eq!(refusal(&stream()), expected);
        let settled = stream()
            .hold(Hold::Seekable, Threads::default())
            .map_or_else(|error| error.to_string(), |()| "read".to_owned());
        assert_eq!(settled, expected);
    }
    let short = Arc::new(MemoryBytes::new(&stored(Order::C)[..119]));
    let short = Source::stored(meta(Order::C), short, 0, label()).unwrap();
    assert_eq!(refusal(&short), "DATA x: cannot be read: unexpected end of file");
    let bytes = FaultyBytes::new(stored(Order::C));
    let source = Source::stored(meta(Order::C), bytes.clone(), 0, label()).unwrap();
    assert_eq!(refusal(&source), "read");
    bytes.fail_from(119);
    assert_eq!(refusal(&source), "DATA x: cannot be read: a fault of the device");
    let mut first = [0; 118];
    source.read_at(&mut first, 0).unwrap();
}

#[test]
fn no_memory_is_taken_for_items_that_do_not_come() {
    let meta = Meta::c_order(DType::parse("|V1099511627776").unwrap(), vec![3]);
    let expected = format!("DATA x: 0 bytes of data, expected 3298534883328 ({} [3])", meta.dtype.name());
    let mut stream = Source::stream(meta, Box::new(io::empty()), 3 << 40, label());
    assert_eq!(stream.hold(Hold::Seekable, Threads::default()).unwrap_err().to_string(), expected);
}

#[test]
fn bytes_that_change() {
    let bytes = FaultyBytes::new(stored(Order::C));
    let source = |start| Source::stored(meta(Order::C), bytes.clone(), start, label()).unwrap();
    let before = source(0);
    assert_eq!(refusal(&before), "read");
    bytes.touch();
    assert_eq!(refusal(&before), "DATA x: changed while it was read");
    // the stamp is that of the time when the source was made
    let after = source(0);
    assert_eq!(refusal(&after), "read");
    assert!(before.shares_bytes_with(&after).unwrap());
    let other = Source::stored(meta(Order::C), FaultyBytes::new(stored(Order::C)), 0, label()).unwrap();
    assert!(!before.shares_bytes_with(&other).unwrap() && !every_kind()[0].1.shares_bytes_with(&before).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    let opened = || Source::stored(meta(Order::C), Arc::new(file.reopen().unwrap()), 0, label()).unwrap();
    assert!(opened().shares_bytes_with(&opened()).unwrap());
}

fn dtype(name: &str) -> DType {
    DType::parse(name).unwrap()
}

#[test]
fn items_that_are_read() {
    let rows: [(&str, &str, &[u8], &[u8]); 6] = [
        ("<u2", "<u2", &[1, 2, 3, 4], &[1, 2, 3, 4]),
        ("<u2", ">u2", &[1, 2, 3, 4], &[2, 1, 4, 3]),
        ("<c8", ">c8", &[1, 2, 3, 4, 5, 6, 7, 8], &[4, 3, 2, 1, 8, 7, 6, 5]),
        ("|S2", "|S3", b"abc\0", b"ab\0c\0\0"),
        ("|S3", "|S2", b"ab\0c\0\0", b"abc\0"),
        ("<U1", ">U2", &[7, 0, 0, 0, 8, 0, 0, 0], &[0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]),
    ];
    for (from, to, items, expected) in rows {
        let (from, to) = (dtype(from), dtype(to));
        let shape = vec![items.len() / from.itemsize()];
        let conversion = Conversion::new(&from, &to).unwrap();
        let source = Source::memory(Tensor::new(from.clone(), shape.clone(), items.to_vec()).unwrap(), "x".into());
        for windows in [Windows::new(&shape, usize::MAX), Windows::new(&shape, 1)] {
            let mut found = Vec::new();
            for window in windows.iter() {
                let mut out = vec![9; window.items() * to.itemsize()];
                let view = Meta::c_order(from.clone(), shape.clone()).view().part(&window.ranges);
                source.read_as(&conversion, &view, &mut out, &mut Default::default()).unwrap();
                found.extend(out);
            }
            assert_eq!(found, expected, "{from:?} as {to:?}");
        }
    }
}

#[test]
fn wide_items_are_not_all_held_at_once() {
    let from = dtype("<U100000");
    let items: Vec<u8> = (1..=4_u32).flat_map(|n| [vec![n as u8], vec![0; 399_999]].concat()).collect();
    let source = Source::memory(Tensor::new(from.clone(), vec![4], items).unwrap(), "x".into());
    let conversion = Conversion::new(&from, &dtype("<U1")).unwrap();
    let mut out = [9; 16];
    source.read_as(&conversion, &source.view(), &mut out, &mut Default::default()).unwrap();
    assert_eq!(out, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
}
