//! Patterns for names of tensors, as `--only` and `FILE:GLOB` take them, and names made from other names.
//!
//! Unlike in a shell, `*` also matches `/`, so `model.*` matches `model.layers.0/w`; and a pattern that is not
//! well-formed is a name. The packages globset and glob refuse such a pattern, give `**`, `{` and `\` a meaning that these
//! characters do not have in a name, and do not tell whether a pattern may match a name that begins with a prefix. By that
//! question files of a folder are left closed in which no tensor is wanted.

/// A pattern of names: `*` stands for any letters or none, `?` for one letter, `[abc]`, `[a-c]` and `[!abc]` for one
/// letter that is in a set or not in it. A pattern also matches the name that is written like itself, since names may
/// hold these characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// Any letters or none.
    Any,
    /// One letter, whatever it is.
    One,
    /// One letter in (or not in) these ranges.
    Set { not: bool, ranges: Vec<(char, char)> },
    /// This letter.
    Letter(char),
}

impl Glob {
    /// Parses a text. Every text is a pattern: a bracket that is not closed is a letter.
    pub fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(letter) = rest.next() {
            tokens.push(match letter {
                '*' => Token::Any,
                '?' => Token::One,
                '[' => match set(rest.as_str()) {
                    Some((token, after)) => {
                        rest = after.chars();
                        token
                    }
                    None => Token::Letter('['),
                },
                letter => Token::Letter(letter),
            });
        }
        Self { text: text.to_owned(), tokens }
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it matches a whole name. The time is at most proportional to the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        if name == self.text {
            return true;
        }
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut letter) = (0, 0);
        // the last `*` and how many letters it stands for so far; no earlier one needs to be tried with more
        let mut last: Option<(usize, usize)> = None;
        while letter < name.len() {
            match self.tokens.get(token) {
                Some(Token::Any) => {
                    last = Some((token + 1, letter));
                    token += 1;
                }
                Some(one) if one.takes(name[letter]) => (token, letter) = (token + 1, letter + 1),
                Some(_) | None => {
                    let Some((after, from)) = &mut last else { return false };
                    *from += 1;
                    (token, letter) = (*after, *from);
                }
            }
        }
        self.tokens[token..].iter().all(|token| *token == Token::Any)
    }

    /// Returns whether it matches any name that begins with `prefix`, or may.
    pub fn matches_some_within(&self, prefix: &str) -> bool {
        let prefix: Vec<char> = prefix.chars().collect();
        let begins = |(token, letter): (&Token, &char)| token.takes(*letter);
        let fixed: Vec<_> = self.tokens.iter().take_while(|token| **token != Token::Any).cloned().collect();
        // a pattern without `*` matches names of its own length only
        let is_long = fixed.len() < self.tokens.len() || fixed.len() >= prefix.len();
        self.text.starts_with(&prefix.iter().collect::<String>()) || is_long && fixed.iter().zip(&prefix).all(begins)
    }

    /// Returns whether it surely matches every name that begins with `prefix`.
    pub fn matches_all_within(&self, prefix: &str) -> bool {
        // whatever comes behind a name that it matches, its last `*` stands for that, too
        self.tokens.last() == Some(&Token::Any) && self.matches(prefix)
    }
}

impl Token {
    fn takes(&self, letter: char) -> bool {
        match self {
            Token::Any => false,
            Token::One => true,
            Token::Set { not, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *not,
            Token::Letter(own) => *own == letter,
        }
    }
}

/// Parses the set at the beginning of `text`, behind its bracket, and returns what comes after it. A bracket that
/// closes is a letter if it comes first.
fn set(text: &str) -> Option<(Token, &str)> {
    let (not, text) = text.strip_prefix(['!', '^']).map_or((false, text), |rest| (true, rest));
    let first = text.chars().next()?.len_utf8();
    let end = first + text.get(first..)?.find(']')?;
    let letters: Vec<char> = text[..end].chars().collect();
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Some(&from) = letters.get(at) {
        let to = letters.get(at + 2).filter(|_| letters.get(at + 1) == Some(&'-'));
        ranges.push((from, to.copied().unwrap_or(from)));
        at += if to.is_some() { 3 } else { 1 };
    }
    Some((Token::Set { not, ranges }, &text[end + 1..]))
}

/// A rule that makes a name from another: `OLD=NEW`, where each `*` in NEW is replaced by what the `*` of the same number in
/// OLD matched.
///
/// A `*` of OLD stands for as few letters as lead to a match, the first `*` before the others; so the last one stands for all
/// that is left over. `*` also matches `.` and `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    text: String,
    /// What stands before the first `*` of OLD, between two of them, and after the last.
    old: Vec<String>,
    /// The same of NEW, which has as many parts as OLD, or one.
    new: Vec<String>,
}

impl Rename {
    /// Parses `OLD=NEW`.
    ///
    /// # Errors
    /// There is no `=` or nothing before it; NEW has `*`, but not as many as OLD.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (old, new) = text.split_once('=').ok_or("expected OLD=NEW")?;
        if old.is_empty() {
            return Err("expected OLD=NEW, and OLD is empty".to_owned());
        }
        let [old, new] = [old, new].map(|side| side.split('*').map(str::to_owned).collect::<Vec<_>>());
        let [of_old, of_new] = [&old, &new].map(|parts| parts.len() - 1);
        if of_new != 0 && of_new != of_old {
            let expected = if of_old == 0 { "none".to_owned() } else { format!("{of_old} or none") };
            return Err(format!("NEW has {of_new} * and OLD has {of_old}: expected {expected} in NEW"));
        }
        Ok(Self { text: text.to_owned(), old, new })
    }

    /// Returns the rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether OLD may match a name that begins with `prefix`.
    pub fn applies_within(&self, prefix: &str) -> bool {
        let before = &self.old[0];
        before.starts_with(prefix) || self.old.len() > 1 && prefix.starts_with(before.as_str())
    }

    /// Returns the new name if OLD matches the whole of `name`.
    pub fn apply(&self, name: &str) -> Option<String> {
        let kept = self.kept(name)?;
        if self.new.len() == 1 {
            return Some(self.new[0].clone());
        }
        let behind = kept.iter().zip(&self.new[1..]).map(|(kept, after)| format!("{kept}{after}"));
        Some(std::iter::once(self.new[0].clone()).chain(behind).collect())
    }

    /// Returns what each `*` of OLD stands for in `name`, if OLD matches all of it.
    fn kept<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        let [before, after @ ..] = &self.old[..] else { return None };
        let Some((last, between)) = after.split_last() else { return (name == before).then(Vec::new) };
        let mut rest = name.strip_prefix(before.as_str())?.strip_suffix(last.as_str())?;
        // no earlier * needs to be tried with more letters: what follows it is found in what is left, or nowhere
        let mut kept = Vec::with_capacity(after.len());
        for part in between {
            let (own, behind) = rest.split_once(part.as_str())?;
            kept.push(own);
            rest = behind;
        }
        kept.push(rest);
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("a", &["a"], &["", "b", "aa"]),
            ("", &[""], &["a"]),
            ("*", &["", "a", "a/b.c"], &[]),
            ("model.*", &["model.", "model.a/b.c"], &["model", "amodel.a"]),
            ("*.bias", &["a.bias", ".bias", "a.bias.bias"], &["bias", "a.bias2"]),
            ("a*b*c", &["abc", "axbxbxc", "abcc"], &["ab", "acb", "abcd"]),
            ("**a", &["a", "xa"], &["", "ab"]),
            ("a?c", &["abc", "a/c", "aéc", "a?c"], &["ac", "abbc"]),
            ("a[0-2x].w", &["a0.w", "a2.w", "ax.w", "a[0-2x].w"], &["a3.w", "a.w", "a-.w"]),
            ("[!ab]", &["c", "-", "[!ab]"], &["a", "b", ""]),
            ("[]]", &["]", "[]]"], &["["]),
            ("a[0", &["a[0"], &["a0"]),
            ("w[0]*", &["w0", "w0x"], &["w[0]x"]),
        ];
        for (pattern, matching, others) in rows {
            let glob = Glob::new(pattern);
            matching.iter().for_each(|name| assert!(glob.matches(name), "{pattern} should match {name}"));
            others.iter().for_each(|name| assert!(!glob.matches(name), "{pattern} should not match {name}"));
        }
    }

    #[test]
    fn patterns_of_names_that_begin_alike() {
        // of names that begin so: it matches some, it matches all
        let rows = [
            ("*", true, true),
            ("m:*", true, true),
            ("m*", true, true),
            ("?:*", true, true),
            ("m:w", true, false),
            ("m:*.w", true, false),
            ("*.w", true, false),
            ("n:*", false, false),
            ("mm:*", false, false),
            ("m", false, false),
            ("", false, false),
            ("[m]:w", true, false),
        ];
        for (text, some, all) in rows {
            let glob = Glob::new(text);
            assert_eq!((glob.matches_some_within("m:"), glob.matches_all_within("m:")), (some, all), "{text}");
        }
        for (text, applies) in [
            ("m:*=*", true),
            ("*.w=*", true),
            ("m:w=x", true),
            ("n:*=*", false),
            ("m=x", false),
            ("m*x*=*/*", true),
            ("n*x*=y", false),
        ] {
            assert_eq!(Rename::parse(text).expect(text).applies_within("m:"), applies, "{text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!Glob::new(&("a*".repeat(200) + "c")).matches(&format!("{}b", "a".repeat(20_000))));
    }

    #[test]
    fn names_from_names() {
        let rows = [
            ("a=b", "a", Some("b")),
            ("a=b", "aa", None),
            ("model.*=*", "model.x.y", Some("x.y")),
            ("model.*=*", "model.", Some("")),
            ("*=lm/*", "a.b", Some("lm/a.b")),
            ("x*y=1*2", "x/y", Some("1/2")),
            ("aa*aa=*", "aaa", None),
            ("*.w=same", "q.w", Some("same")),
            ("a?[b]=c", "a?[b]", Some("c")),
            ("a=b=c", "a", Some("b=c")),
            ("encoder.*.attn.*.weight=enc.*.a.*.w", "encoder.11.attn.q.weight", Some("enc.11.a.q.w")),
            ("encoder.*.attn.*.weight=enc.*.a.*.w", "encoder.11.attn.weight", None),
            ("encoder.*.attn.*.weight=one", "encoder.0.attn.k.weight", Some("one")),
            // the first stands for as little as it can, the last for the rest
            ("*.*=*/*", "a.b.c", Some("a/b.c")),
            ("*.*.*=*/*/*", "a.b.c.d", Some("a/b/c.d")),
            ("x*a*b*=*-*-*", "xaab.b", Some("-a-.b")),
            ("x*aa*aa=*-*", "xaaa", None),
            ("x*aa*aa=*-*", "xaaaaa", Some("-a")),
            ("**.w=*-*", "ab.w", Some("-ab")),
            ("\u{e9}*\u{e9}*=*|*", "\u{e9}\u{e8}\u{e9}\u{e8}", Some("\u{e8}|\u{e8}")),
        ];
        for (text, name, expected) in rows {
            let rename = Rename::parse(text).expect(text);
            assert_eq!(rename.apply(name).as_deref(), expected, "{text} of {name}");
        }
        let refused = [
            ("a", "expected OLD=NEW"),
            ("=b", "expected OLD=NEW, and OLD is empty"),
            ("*=**", "NEW has 2 * and OLD has 1: expected 1 or none in NEW"),
            ("*.*.*=*.*", "NEW has 2 * and OLD has 3: expected 3 or none in NEW"),
            ("a=*", "NEW has 1 * and OLD has 0: expected none in NEW"),
        ];
        for (text, expected) in refused {
            assert_eq!(Rename::parse(text), Err(expected.to_owned()), "{text}");
        }
    }
}
