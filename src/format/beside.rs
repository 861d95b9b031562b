//! Files that a file names, and that must lie beside it: who wrote the name may not have meant well.

use std::path::{Component, Path};

/// Whether a location is the name of a file in the same folder and nothing else, on any system.
pub(super) fn is_plain_name(location: &str) -> bool {
    let mut parts = Path::new(location).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == location);
    // a colon is a drive or a stream on Windows
    one && !location.contains(['/', '\\', '\0']) && !(cfg!(windows) && location.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        for (name, plain) in [
            ("a.bin", true),
            ("..a", true),
            ("", false),
            (".", false),
            ("..", false),
            ("a/", false),
            ("./a", false),
            ("a/b", false),
            ("../a", false),
            ("/a", false),
            ("a\\b", false),
            ("a\0", false),
        ] {
            assert_eq!(is_plain_name(name), plain, "{name:?}");
        }
    }
}
