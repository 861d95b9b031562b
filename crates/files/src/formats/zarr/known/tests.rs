use super::*;
use crate::storage::tests::MemoryStore;

fn known(values: &[(&str, &str)]) -> KnownStore {
    let store = MemoryStore::default();
    for (key, value) in values {
        store.put(key, value.as_bytes()).expect("put");
    }
    KnownStore::new(Arc::new(store))
}

#[test]
fn a_list_is_all_that_is_asked_for() {
    let root = r#"{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"metadata":
        {"a": {"x": 1}, "g": {}, "g/b": {"y": 2, "node_type": "array"}}}}"#;
    let third = known(&[("zarr.json", root), ("g/c/zarr.json", "{}"), ("g/b/c/0", "chunk")]);
    let list = r#"{"metadata": {".zgroup": {}, "a/.zarray": {"x": 1}, "a/.zattrs": {}, "g/.zgroup": {},
        "g/b/.zarray": {"y": 2}}}"#;
    let second = known(&[(".zgroup", "{}"), (".zmetadata", list), ("g/c/.zarray", "{}"), ("g/b/c/0", "chunk")]);
    for (store, name) in [(third, V3), (second, V2_ARRAY)] {
        assert_eq!(store.prefixes("").expect("names"), ["a", "g"]);
        assert_eq!(store.prefixes("g").expect("names"), ["b"]);
        let text = |key: &str| store.get(&join(key, name), 99).expect("read");
        assert_eq!(text("a").as_deref(), Some(&br#"{"x": 1}"#[..]));
        assert!(text("g/b").is_some_and(|text| text.starts_with(br#"{"y": 2"#)));
        assert_eq!(text("g/c"), None);
        assert_eq!(store.get("g/b/c/0", 99).expect("read").as_deref(), Some(&b"chunk"[..]));
        assert!(store.stamp(&join("a", name)).expect("a stamp").is_some());
        assert_eq!(store.prefixes("g/b").expect("prefixes"), ["c"]);
        assert_eq!(store.names("g/b/c").expect("names"), ["0"]);
    }
}

#[test]
fn without_a_list_the_store_is_asked() {
    let store = known(&[("zarr.json", r#"{"consolidated_metadata": null}"#), ("a/zarr.json", "{}")]);
    assert_eq!(store.prefixes("").expect("names"), ["a"]);
    assert!(store.open("a/zarr.json").expect("opened").is_some());
    assert!(store.open("b/zarr.json").expect("opened").is_none());
}
