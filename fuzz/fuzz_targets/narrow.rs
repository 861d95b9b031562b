//! Values of types of 8 bits or fewer.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;
#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| values::narrow(bytes));
