//! What bytes without a header are said to be, from any text.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| checks::view(text));
