//! Patterns of names: `*` stands for any characters, among them `.` and `/`, and everything else for itself.

/// Whether a name is as a pattern says.
///
/// ```
/// use tensorop::format::glob::matches;
/// assert!(matches("layer.*.bias", "layer.0.attention.bias"));
/// assert!(!matches("layer.*", "model.layer.0"));
/// ```
pub fn matches(glob: &str, name: &str) -> bool {
    let Some((begin, rest)) = glob.split_once('*') else { return glob == name };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // what stands between two stars is best found as early as it can be: that leaves most for what follows
    for text in middle.split('*') {
        let Some(at) = name.find(text) else { return false };
        name = &name[at + text.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        let rows = [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "a/b.c", true),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("*a", "ab", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "axbxbc", true),
            ("a*b*c", "abxc", true),
            ("a*bc*c", "abc", false),
            ("**", "x", true),
            ("*.bias", "layer.0.bias", true),
            ("?", "a", false),
        ];
        for (glob, name, wanted) in rows {
            assert_eq!(matches(glob, name), wanted, "{glob} {name}");
        }
    }
}
