//! Text files with a name on each line: the ids of `check --expect`, and the tensors of `diff --order`.

/// Returns the names in a text, one from each line that has one, without blanks around them and without comments. A byte
/// order mark at the beginning is left out.
pub(super) fn listed_names(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines().map(name_of).filter(|name| !name.is_empty())
}

/// Returns the name in a line without blanks around it and without a comment, which begins at a `#` after a blank or at the
/// beginning of the line. Within the id of a test, a `#` comes before the name of an entry.
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
