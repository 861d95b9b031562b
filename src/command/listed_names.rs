//! Text files with a name on each line, for `check --expect` and `diff --order`.

/// Skips blank lines, comments and a byte order mark.
pub(super) fn listed_names(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines().map(name_of).filter(|name| !name.is_empty())
}

/// A comment begins at a `#` at the beginning of the line or after a blank. Elsewhere `#` is part of a test's id.
fn name_of(line: &str) -> &str {
    let is_comment = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let end = line.match_indices('#').find(is_comment).map_or(line.len(), |(at, _)| at);
    line[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_comments() {
        for (line, id) in [
            ("cases#right", "cases#right"),
            ("  slice/a/0 \r", "slice/a/0"),
            ("a b  # a note", "a b"),
            ("a\t#b", "a"),
            ("# a", ""),
            ("   ", ""),
        ] {
            assert_eq!(name_of(line), id, "{line:?}");
        }
    }
}
