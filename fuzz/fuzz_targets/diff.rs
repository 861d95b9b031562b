//! `diff` against a plain loop.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;
#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| values::difference(bytes));
