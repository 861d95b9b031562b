//! Slices in NumPy's notation, parsed from any text, and the places that they select of a tensor: never more than it has.
#![no_main]

use tensorop::SliceArgs;

libfuzzer_sys::fuzz_target!(|text: &str| {
    match text.parse::<SliceArgs>() {
        Err(error) => assert!(!error.message().is_empty()),
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
