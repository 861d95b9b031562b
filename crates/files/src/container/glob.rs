//! Globs of tensor names and rules that rename tensors.
//!
//! Unlike in a shell, `*` also matches `/`, and a malformed pattern is a name. The crates globset and glob refuse
//! malformed patterns, give `**` and `\` a meaning, and cannot match prefixes, which saves opening files. Braces are
//! never expanded, so the time does not depend on the number of expansions.

use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Deeper braces are letters, which bounds the recursion.
const MAX_DEPTH: usize = 32;

/// A glob of `*`, `?`, `[abc]`, `[a-c]`, `[!abc]`, `{a,b}` and `{0..31}`. It also matches its own text, because names
/// may hold these characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Any,
    One,
    Set {
        not: bool,
        ranges: Vec<(char, char)>,
    },
    Letter(char),
    Choice(Vec<Vec<Token>>),
    /// If `width` is 0, without leading zeros.
    Number {
        low: u64,
        high: u64,
        width: usize,
    },
}

impl Glob {
    /// Parses a pattern. Unclosed brackets, and braces without a comma or a range, are letters.
    pub fn new(text: &str) -> Self {
        let pattern = PatternText { text, braces: &closed_braces(text) };
        Self { text: text.to_owned(), tokens: pattern.tokens(0, text.len(), 0) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it may match anything except its own text.
    pub fn is_pattern(&self) -> bool {
        self.tokens.iter().any(|token| !matches!(token, Token::Letter(_)))
    }

    /// Returns whether it matches the whole name, in time proportional to the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        name == self.text || GlobWalk::through(&self.tokens, name).ends.last() == Some(&name.len())
    }

    /// Returns whether it may match a name that begins with `prefix`.
    pub fn matches_some_within(&self, prefix: &str) -> bool {
        let walk = GlobWalk::through(&self.tokens, prefix);
        self.text.starts_with(prefix) || walk.goes_on || walk.ends.last() == Some(&prefix.len())
    }

    /// Returns whether it certainly matches every name that begins with `prefix`.
    pub fn matches_all_within(&self, prefix: &str) -> bool {
        // The last `*` also matches the rest of the name.
        self.tokens.last() == Some(&Token::Any) && self.matches(prefix)
    }
}

struct GlobWalk<'n> {
    name: &'n str,
    /// Offsets after the matched tokens, ascending and unique.
    ends: Vec<usize>,
    /// Whether a token could match more than the name has left.
    goes_on: bool,
}

impl<'n> GlobWalk<'n> {
    fn through(tokens: &[Token], name: &'n str) -> Self {
        let mut walk = Self { name, ends: vec![0], goes_on: false };
        walk.go(tokens);
        walk
    }

    fn go(&mut self, tokens: &[Token]) {
        for token in tokens {
            if self.ends.is_empty() {
                return;
            }
            self.goes_on |= self.ends.last() == Some(&self.name.len());
            match token {
                Token::Any => {
                    let (name, first) = (self.name, self.ends[0]);
                    self.ends = (first..=name.len()).filter(|&at| name.is_char_boundary(at)).collect();
                }
                Token::One => self.letter(|_| true),
                Token::Set { not, ranges } => {
                    self.letter(|letter| ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *not);
                }
                Token::Letter(own) => self.letter(|letter| letter == *own),
                Token::Choice(patterns) => {
                    let begins = std::mem::take(&mut self.ends);
                    let mut ends = Vec::new();
                    for pattern in patterns {
                        self.ends.clone_from(&begins);
                        self.go(pattern);
                        ends.append(&mut self.ends);
                    }
                    self.set(ends);
                }
                Token::Number { low, high, width } => self.number(*low..=*high, *width),
            }
        }
    }

    fn letter(&mut self, takes: impl Fn(char) -> bool) {
        let name = self.name;
        self.ends.retain_mut(|at| match name[*at..].chars().next() {
            Some(letter) if takes(letter) => {
                *at += letter.len_utf8();
                true
            }
            Some(_) | None => false,
        });
    }

    /// If `width` is 0, without leading zeros.
    fn number(&mut self, range: RangeInclusive<u64>, width: usize) {
        let longest = range.end().to_string().len().max(width);
        let mut ends = Vec::new();
        for at in std::mem::take(&mut self.ends) {
            let digits = self.name[at..].bytes().take(longest).take_while(u8::is_ascii_digit).count();
            self.goes_on |= at + digits == self.name.len() && digits < longest;
            for len in 1..=digits {
                let text = &self.name[at..at + len];
                let is_written_so = if width == 0 { len == 1 || !text.starts_with('0') } else { len == width };
                if is_written_so && text.parse().is_ok_and(|number| range.contains(&number)) {
                    ends.push(at + len);
                }
            }
        }
        self.set(ends);
    }

    fn set(&mut self, mut ends: Vec<usize>) {
        ends.sort_unstable();
        ends.dedup();
        self.ends = ends;
    }
}

struct Braces {
    close: usize,
    commas: Vec<usize>,
}

fn closed_braces(text: &str) -> HashMap<usize, Braces> {
    let (mut open, mut closed) = (Vec::new(), HashMap::new());
    for (at, byte) in text.bytes().enumerate() {
        match (byte, open.last_mut()) {
            (b'{', _) => open.push((at, Vec::new())),
            (b',', Some((_, commas))) => commas.push(at),
            (b'}', Some(_)) => {
                let (begin, commas) = open.pop().expect("it has a last one");
                closed.insert(begin, Braces { close: at, commas });
            }
            _ => {}
        }
    }
    closed
}

#[derive(Clone, Copy)]
struct PatternText<'t> {
    text: &'t str,
    braces: &'t HashMap<usize, Braces>,
}

impl PatternText<'_> {
    /// `depth` is that of the enclosing braces.
    fn tokens(self, mut at: usize, end: usize, depth: usize) -> Vec<Token> {
        let mut tokens = Vec::new();
        while let Some(letter) = self.text[at..end].chars().next() {
            let next = at + letter.len_utf8();
            let (token, after) = match letter {
                '*' => (Token::Any, next),
                '?' => (Token::One, next),
                '[' => match set(&self.text[next..end]) {
                    Some((token, rest)) => (token, end - rest.len()),
                    None => (Token::Letter('['), next),
                },
                '{' => self.braced(at, end, depth).unwrap_or((Token::Letter('{'), next)),
                letter => (Token::Letter(letter), next),
            };
            tokens.push(token);
            at = after;
        }
        tokens
    }

    /// Returns the offset after the braces too; `None` if the braces are letters.
    fn braced(self, at: usize, end: usize, depth: usize) -> Option<(Token, usize)> {
        let Braces { close, commas } = self.braces.get(&at).filter(|braces| braces.close < end && depth < MAX_DEPTH)?;
        if commas.is_empty() {
            return Some((number(&self.text[at + 1..*close])?, close + 1));
        }
        let begins = std::iter::once(at + 1).chain(commas.iter().map(|comma| comma + 1));
        let ends = commas.iter().copied().chain([*close]);
        let patterns = begins.zip(ends).map(|(begin, end)| self.tokens(begin, end, depth + 1));
        Some((Token::Choice(patterns.collect()), close + 1))
    }
}

fn number(text: &str) -> Option<Token> {
    let (first, last) = text.split_once("..")?;
    let parse = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (one, other): (u64, u64) = (parse(first)?, parse(last)?);
    let is_padded = [first, last].iter().any(|text| text.len() > 1 && text.starts_with('0'));
    let width = if is_padded { first.len().max(last.len()) } else { 0 };
    Some(Token::Number { low: one.min(other), high: one.max(other), width })
}

/// A first closing bracket is a letter.
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

/// A rule `OLD=NEW`: each `*` in NEW becomes the match of the same `*` in OLD.
///
/// Each `*` matches as few letters as possible, from left to right, and the last one the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    text: String,
    /// Split at `*`.
    old: Vec<String>,
    /// Split at `*`: as many parts as OLD has, or one.
    new: Vec<String>,
}

impl Rename {
    /// Parses `OLD=NEW`.
    ///
    /// # Errors
    /// `=` or OLD is missing, or NEW has a wrong number of `*`.
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

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether OLD may match a name with this prefix.
    pub fn applies_within(&self, prefix: &str) -> bool {
        let before = &self.old[0];
        before.starts_with(prefix) || self.old.len() > 1 && prefix.starts_with(before.as_str())
    }

    /// Returns the new name if OLD matches.
    pub fn apply(&self, name: &str) -> Option<String> {
        let kept = self.kept(name)?;
        if self.new.len() == 1 {
            return Some(self.new[0].clone());
        }
        let behind = kept.iter().zip(&self.new[1..]).map(|(kept, after)| format!("{kept}{after}"));
        Some(std::iter::once(self.new[0].clone()).chain(behind).collect())
    }

    fn kept<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        let [before, after @ ..] = &self.old[..] else { return None };
        let Some((last, between)) = after.split_last() else { return (name == before).then(Vec::new) };
        let mut rest = name.strip_prefix(before.as_str())?.strip_suffix(last.as_str())?;
        // A part that is missing after the shortest match is also missing after a longer one, so there is no
        // backtracking.
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
            ("{a,b}", &["a", "b", "{a,b}"], &["", "c", "a,b", "ab"]),
            ("x.{q,k,v}.w", &["x.q.w", "x.k.w", "x.v.w"], &["x.qk.w", "x..w"]),
            ("{a,}b", &["ab", "b"], &["aab"]),
            ("{*.bias,norm?}", &["x.bias", "norm1", ".bias"], &["norm", "bias"]),
            ("{a,b}{a,b}", &["aa", "ab", "ba", "bb"], &["a", "abc"]),
            ("{a,{b,c}*}d", &["ad", "bd", "cxd"], &["axd", "d"]),
            ("{a,ab}{c,bc}", &["ac", "abc", "abbc"], &["abb", "c"]),
            ("l.{0..3}.w", &["l.0.w", "l.3.w"], &["l.4.w", "l.00.w", "l..w", "l.-1.w", "l.+1.w"]),
            ("{8..11}", &["8", "9", "10", "11", "{8..11}"], &["7", "12", "08", "1", "110"]),
            ("{11..8}", &["8", "9", "10", "11"], &["7", "12"]),
            ("{00..12}", &["00", "07", "12"], &["0", "7", "13", "007"]),
            ("{8..012}", &["008", "012"], &["8", "08", "12", "013"]),
            ("{1..20}*", &["1", "13", "20x", "1999"], &["x", "0", "01"]),
            ("*{1..20}", &["1", "x20", "1999", "201"], &["x", "21x"]),
            ("{1..20}{0..9}", &["10", "200", "110"], &["1", "2000"]),
            ("{0..18446744073709551615}", &["0", "18446744073709551615"], &["18446744073709551616", "00"]),
            // Invalid braces are letters.
            ("{a}", &["{a}"], &["a"]),
            ("{}", &["{}"], &[""]),
            ("{a", &["{a"], &["a"]),
            ("a,b}", &["a,b}"], &["a"]),
            ("{0..x}", &["{0..x}"], &["0"]),
            ("{..3}", &["{..3}"], &["3"]),
            ("{+1..3}", &["{+1..3}"], &["1", "2"]),
            ("{0..18446744073709551616}", &["{0..18446744073709551616}"], &["0"]),
            ("{a{b,c}}", &["{ab}", "{ac}", "{a{b,c}}"], &["ab"]),
            ("{a,b", &["{a,b"], &["a"]),
            ("{{a,b}", &["{a", "{b"], &["a"]),
            ("[{a,b}]", &["{", "a", ",", "}"], &["[a]"]),
            ("{[ab],c}", &["a", "b", "c"], &["[ab]"]),
            ("{\u{e9},\u{e8}x}*", &["\u{e9}", "\u{e8}xy"], &["\u{e8}"]),
        ];
        for (pattern, matching, others) in rows {
            let glob = Glob::new(pattern);
            matching.iter().for_each(|name| assert!(glob.matches(name), "{pattern} should match {name}"));
            others.iter().for_each(|name| assert!(!glob.matches(name), "{pattern} should not match {name}"));
        }
    }

    #[test]
    fn patterns_of_names_that_begin_alike() {
        // Pattern, matches some names, matches all names.
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
            ("{m,n}:w", true, false),
            ("{m:a,n:b}", true, false),
            ("{n:a,o:b}", false, false),
            ("{m,n}:*", true, true),
            ("{m:*,n:*}", true, false),
            ("{m}:*", false, false),
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
    fn a_number_that_a_prefix_ends_in_may_go_on() {
        for (text, prefix, some) in [
            ("{10..20}:w", "1", true),
            ("{10..20}:w", "x", false),
            ("{10..20}:w", "100", false),
            ("{10..20}:w", "20:", true),
        ] {
            assert_eq!(Glob::new(text).matches_some_within(prefix), some, "{text} {prefix}");
        }
    }

    #[test]
    fn names_are_told_from_patterns() {
        for (text, is_pattern) in [
            ("a", false),
            ("", false),
            ("a*", true),
            ("[a]", true),
            ("[a", false),
            ("{a,b}", true),
            ("{0..1}", true),
            ("{a}", false),
        ] {
            assert_eq!(Glob::new(text).is_pattern(), is_pattern, "{text}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        assert!(!Glob::new(&("a*".repeat(200) + "c")).matches(&format!("{}b", "a".repeat(20_000))));
        let long = "a".repeat(2000);
        assert!(!Glob::new(&("{a,aa}".repeat(500) + "c")).matches(&long));
        assert!(!Glob::new(&("{a*,*a}".repeat(100) + "c")).matches(&long));
        assert!(!Glob::new(&"{0..999999999}".repeat(50)).matches(&"1".repeat(451)));
        assert!(Glob::new("w{0..999999999}").matches("w123456789"));
        // Braces deeper than the limit are letters and use no stack.
        for text in
            ["{".repeat(100_000), "{a,".repeat(40_000), format!("{}{}", "{a,".repeat(40_000), "}".repeat(40_000))]
        {
            assert!(Glob::new(&text).matches(&text) && !Glob::new(&text).matches("b"));
        }
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
            // The first `*` matches as little as possible.
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
