//! Files that another file names. They must lie in the same folder, because the author of the name may be malicious.

use std::path::{Component, Path};

/// Returns whether a location is the plain name of a file in the same folder, on every system.
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
