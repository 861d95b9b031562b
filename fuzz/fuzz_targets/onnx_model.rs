//! An ONNX model, beside a file of items.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;
#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/containers.rs"]
mod containers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| containers::onnx_model(bytes));
