//! Names of dtypes, and values of `--fill`, from any text.
#![no_main]

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/property/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|text: &str| {
    checks::dtype(text);
    checks::fill(text);
});
