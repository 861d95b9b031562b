//! The slices of `--at`, from any text, and what they take of a tensor: never more than it has.
#![no_main]

// the files below are taken from the library, which has these at its root
use tensorop::{layout, ops};

#[allow(dead_code, reason = "the target uses a part")]
#[path = "../../src/command/options/at.rs"]
mod at;
#[allow(dead_code, reason = "the target uses a part")]
#[path = "../../src/command/options/index_list.rs"]
mod index_list;

libfuzzer_sys::fuzz_target!(|text: &str| {
    match at::parse(text) {
        Err(message) => assert!(!message.is_empty()),
        Ok(args) => {
            for shape in [&[4, 0, 3][..], &[5], &[1, 2, 3, 4, 5], &[usize::MAX >> 1]] {
                let Ok(spans) = args.resolve(shape) else { continue };
                assert_eq!(spans.len(), shape.len());
                for (span, &dim) in spans.iter().zip(shape) {
                    assert!(span.len <= dim);
                    assert!(span.len == 0 || span.at(0) < dim && span.at(span.len - 1) < dim);
                }
            }
        }
    }
});
