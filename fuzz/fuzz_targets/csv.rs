//! Tables of cells, from any bytes.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::csv(bytes));
