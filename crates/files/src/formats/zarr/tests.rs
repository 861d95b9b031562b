use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::container::chunk_sides::TensorSides;
use crate::container::file_options::{FileOptions, Inherited, LayoutRequest, ResolvedChunks};
use crate::container::interface::{Layout, WriteChunks, Writer};
use crate::storage::chunked::PackedUnit;
use crate::storage::key_store::{KeyStore, WritableStore};
use crate::storage::tests::MemoryStore;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::layout::window::Windows;
use tensorop_kernels::parallel::Threads;

const SHAPE: [usize; 2] = [5, 7];

fn meta() -> Meta {
    Meta::c_order(DType::parse("<u2").unwrap(), SHAPE.to_vec())
}

/// Consecutive numbers from `first`.
fn items(first: u16) -> Vec<u8> {
    (first..first + 35).flat_map(u16::to_le_bytes).collect()
}

/// Each name is an array with this first item; an empty name is the store itself.
fn written(names: &[(&str, u16)], (options, chunks): &(FileOptions, ResolvedChunks)) -> MemoryStore {
    let meta = meta();
    let tensors: Vec<_> = names.iter().map(|(name, _)| (*name, &meta)).collect();
    let request = LayoutRequest { options, inherited: &Inherited::default(), chunks };
    let Layout::Chunks(chunks) = ZarrWriter.layout(&tensors, &request).unwrap() else { panic!("other than chunks") };
    let store = MemoryStore::default();
    for (n, (_, first)) in names.iter().enumerate() {
        put_chunks(&store, &*chunks, n, &items(*first));
    }
    for (key, text) in chunks.seal().unwrap() {
        store.put(&key, &text).unwrap();
    }
    store
}

fn put_chunks(store: &MemoryStore, chunks: &dyn WriteChunks, n: usize, items: &[u8]) {
    let windows = Windows::boxes(&SHAPE, &chunks.style(n).unit);
    for window in windows.iter() {
        let of_rows = window.ranges[0].clone().flat_map(|row| {
            let columns = window.ranges[1].clone();
            items[(row * 7 + columns.start) * 2..(row * 7 + columns.end) * 2].to_vec()
        });
        let packed = chunks.pack(n, &window, &of_rows.collect::<Vec<_>>(), &|_| false).unwrap();
        store.put(&chunks.key(n, &window), &packed.expect("more than the fill value")).unwrap();
    }
}

fn opened(store: &MemoryStore) -> Result<ReadableFile> {
    open(Content::from_store(Arc::new(store.clone()), Threads::default()))
}

/// Reads windows of at most `most` items.
fn read(source: &Source, most: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for window in Windows::new(&SHAPE, most).iter() {
        let mut items = vec![0; window.items() * 2];
        source.read(&source.view().part(&window.ranges), &mut items, &mut Default::default())?;
        out.extend(items);
    }
    source.finish()?;
    Ok(out)
}

fn chunked(chunks: &[usize], shards: Option<&[usize]>, codec: &str) -> (FileOptions, ResolvedChunks) {
    let asked = |sides: &[usize]| sides.iter().copied().map(Some).collect();
    let sides = TensorSides { chunks: Some(asked(chunks)), shards: shards.map(asked) };
    let options = FileOptions { codec: Some(codec.to_owned()), ..FileOptions::default() };
    (options, ResolvedChunks { sides: vec![sides; 2], ..ResolvedChunks::default() })
}

#[test]
fn arrays_in_memory_come_back() {
    let rows = [
        chunked(&[2, 3], None, "none"),
        chunked(&[2, 3], None, "zstd"),
        chunked(&[1, 2], Some(&[2, 4]), "gzip:1"),
        chunked(&[5, 7], None, "blosc"),
    ];
    for extras in rows {
        let store = written(&[("", 0)], &extras);
        let reader = opened(&store).unwrap();
        for most in [35, 4, 1] {
            let source = reader.source(0, "x".to_owned()).unwrap();
            assert_eq!(read(&source, most).unwrap(), items(0), "{extras:?}, windows of {most}");
        }
    }
}

#[test]
fn groups_in_memory_are_walked() {
    let mut extras = chunked(&[2, 3], None, "none");
    extras.0.is_group = true;
    let store = written(&[("b", 100), ("a/deep/c", 200)], &extras);
    // unfinished folders and folders without metadata are not members
    store.put(".x.0.tmp/zarr.json", b"{}").unwrap();
    store.put("other/file", b"").unwrap();
    let reader = opened(&store).unwrap();
    assert_eq!(reader.members.names().unwrap(), ["a/deep/c", "b"]);
    for (n, first) in [(0, 200), (1, 100)] {
        let source = reader.source(n, "x".to_owned()).unwrap();
        assert_eq!(read(&source, 35).unwrap(), items(first));
        assert_eq!(source.container().unwrap().file, store.identity().unwrap());
    }
    assert!(reader.members.unwritten.is_none());
    store.put("b/.zarray", b"{}").unwrap();
    store.remove("zarr.json").unwrap();
    store.put(".zgroup", b"{}").unwrap();
    assert!(opened(&store).unwrap().members.unwritten.is_some());
}

#[test]
fn stores_that_are_not_in_order() {
    let extras = chunked(&[2, 3], None, "none");
    let message = |change: &dyn Fn(&MemoryStore)| {
        let store = written(&[("", 0)], &extras);
        change(&store);
        let read = || read(&opened(&store)?.source(0, "x".to_owned())?, 35);
        read().map_or_else(|error| error.to_string(), |items| format!("{} bytes", items.len()))
    };
    type Row<'a> = (&'a dyn Fn(&MemoryStore), &'a str);
    let rows: [Row<'_>; 7] = [
        (&|_| (), "70 bytes"),
        // a missing chunk has the fill value
        (&|store| store.remove("c/0/0").unwrap(), "70 bytes"),
        (&|store| store.put("c/0/0", b"").unwrap(), "x: chunk c/0/0: 0 bytes, expected 12"),
        (&|store| store.put("c/0/0", &[1; 13]).unwrap(), "x: chunk c/0/0: 13 bytes, expected 12"),
        (
            &|store| {
                store.remove("c/0/0").unwrap();
                store.put("c/0/0/more", b"").unwrap();
            },
            "x: chunk c/0/0: is a folder, expected a file",
        ),
        (&|store| store.remove("zarr.json").unwrap(), "not a Zarr store: has neither zarr.json nor .zarray"),
        (&|store| store.put("zarr.json", b"{").unwrap(), "zarr.json: EOF while parsing an object at line 1 column 1"),
    ];
    for (change, expected) in rows {
        assert_eq!(message(change), expected);
    }
}

#[test]
fn changes_in_memory() {
    let store = written(&[("", 0)], &chunked(&[2, 3], None, "none"));
    let reader = opened(&store).unwrap();
    let source = reader.source(0, "x".to_owned()).unwrap();
    reader.lock(0, false).unwrap();
    let chunks = Arc::clone(source.as_chunks().unwrap());
    let window = Windows::boxes(&SHAPE, chunks.grid()).get(0);
    let PackedUnit { key, bytes: Some(bytes) } = chunks.packed(&window, &[9; 12], false).unwrap() else {
        panic!("nothing is stored");
    };
    let edit = chunks.edit().unwrap();
    let value = edit.prepare(&key, &bytes).unwrap();
    assert_eq!(read(&source, 35).unwrap(), items(0));
    value().unwrap();
    assert_eq!(&read(&source, 35).unwrap()[..6], [9; 6]);
    assert_eq!(chunks.value_of(&window).unwrap().unwrap().size().unwrap(), 12);
    // the metadata shows that another process changed the array
    let text = store.get("zarr.json", u64::MAX).unwrap().unwrap();
    store.put("zarr.json", &text).unwrap();
    assert_eq!(read(&source, 35).unwrap_err().to_string(), "x: changed while it was read");
    assert_eq!(store.prefixes("").unwrap(), ["c"]);
}

#[test]
fn axes_of_version_2_have_the_names_among_the_attributes() {
    let array = br#"{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<u2", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null}"#;
    let rows = [
        (r#"{"_ARRAY_DIMENSIONS": ["time", "x"], "units": "m"}"#, Some(r#"["time","x"]"#)),
        (r#"{"_ARRAY_DIMENSIONS": ["time"]}"#, None),
        (r#"{"units": "m"}"#, None),
    ];
    for (attributes, expected) in rows {
        let store = MemoryStore::default();
        store.put(".zarray", array).unwrap();
        store.put(".zattrs", attributes.as_bytes()).unwrap();
        let style = metadata::array(&store, "").unwrap().style;
        assert_eq!(style.dimension_names.as_deref(), expected, "{attributes}");
        let others = attributes.replace(r#""_ARRAY_DIMENSIONS": ["time", "x"], "#, "").replace(": ", ":");
        assert_eq!(style.attributes.as_deref(), Some(if expected.is_some() { &others } else { attributes }));
    }
}

#[test]
fn fields_of_another_kind_are_refused() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let after_bytes =
        |name: &str, configuration: Value| json!({"codecs": [bytes, {"name": name, "configuration": configuration}]});
    let index = json!([{"name": "bytes", "configuration": {"endian": 1}}]);
    let sharding = json!({"chunk_shape": [2, 3], "codecs": [bytes], "index_codecs": index});
    let date = json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": "9"}});
    let v3 = [
        (after_bytes("zstd", json!({"checksum": 1})), "codec zstd: checksum is not of type boolean"),
        (after_bytes("gzip", json!({"level": "5"})), "codec gzip: level is not of type integer"),
        (after_bytes("blosc", json!({"shuffle": 1})), "codec blosc: shuffle is not of type text"),
        (after_bytes("blosc", json!({"cname": 1})), "codec blosc: cname is not of type text"),
        (
            json!({"codecs": [{"name": "sharding_indexed", "configuration": sharding}]}),
            "codec sharding_indexed: codec bytes: endian is neither little nor big",
        ),
        (
            json!({"data_type": date}),
            r#"data_type {"configuration":{"scale_factor":"9","unit":"s"},"name":"numpy.datetime64"} is not known"#,
        ),
        (json!({"data_type": "r16", "fill_value": "A"}), "fill_value: not base64"),
    ];
    let v2 = [
        (json!({"filters": {"id": "delta"}}), r#"filter "?" is not known"#),
        (json!({"filters": [{"id": "delta"}]}), r#"filter "delta" is not known"#),
        (json!({"order": 1}), "order 1 is neither C nor F"),
        (json!({"dimension_separator": 1}), "dimension_separator is neither / nor ."),
        (json!({"compressor": {"id": "blosc", "shuffle": 7}}), "codec blosc: an unknown shuffle"),
        (json!({"compressor": {"id": "zlib", "level": "1"}}), "codec zlib: level is not of type integer"),
    ];
    let usual = [
        json!({"zarr_format": 3, "node_type": "array", "shape": [2, 3], "data_type": "uint16", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}, "codecs": [bytes]}),
        json!({"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "<u2", "compressor": null,
            "fill_value": 0, "order": "C", "filters": null}),
    ];
    for (file, usual, rows) in [(V3, &usual[0], &v3[..]), (V2_ARRAY, &usual[1], &v2[..])] {
        for (other, expected) in rows {
            let mut text = usual.clone();
            text.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
            let store = MemoryStore::default();
            store.put(file, text.to_string().as_bytes()).unwrap();
            let refused = metadata::array(&store, "").unwrap_err();
            assert_eq!(refused.to_string(), format!("{file}: {expected}"));
        }
    }
}
