//! A Zarr store: metadata, and the bytes of a chunk through its codecs.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;
#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/zarr.rs"]
mod zarr;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| zarr::zarr(bytes));
