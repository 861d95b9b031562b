//! The record of the arguments of an output in parts.

use std::fmt::{self, Write as _};

const MAX_SHOWN: usize = 60;

/// The arguments of an output in parts: in the text, lines of tab-separated fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    lines: Vec<RecordLine>,
}

/// No field contains a tab or a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecordLine {
    /// An option, or the role of an operand. Keys may repeat.
    key: String,
    value: Option<String>,
    /// A version of the file or folder, which is never shown.
    stamp: Option<String>,
}

impl Record {
    pub fn add(&mut self, key: &str, value: Option<&str>, stamp: Option<&str>) {
        let [value, stamp] = [value, stamp].map(|text| text.map(escaped));
        self.lines.push(RecordLine { key: escaped(key), value, stamp });
    }

    /// A malformed text gives a record that differs from all others.
    pub(crate) fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut fields = line.splitn(3, '\t').map(str::to_owned);
            RecordLine { key: fields.next().unwrap_or_default(), value: fields.next(), stamp: fields.next() }
        };
        Self { lines: text.split_terminator('\n').map(line).collect() }
    }

    /// Returns the first difference. Lines are compared by key, because an option may be on one side only.
    pub(crate) fn difference(&self, begun: &Self) -> Option<String> {
        begun.lines.iter().chain(&self.lines).find_map(|RecordLine { key, .. }| {
            let [then, now] = [begun, self].map(|record| record.of(key));
            if then == now {
                return None;
            }
            let [before, after] = [&then, &now].map(|lines| lines_text(lines));
            let changed = then.iter().zip(&now).find(|(then, now)| then.stamp != now.stamp);
            Some(match changed {
                _ if then.is_empty() => format!("begun without {key}, now with {key}{after}"),
                _ if now.is_empty() => format!("begun with {key}{before}, now without"),
                Some((file, _)) if values(&then).eq(values(&now)) => {
                    format!("begun with {key}{}, which has changed since then", lines_text(&[file]))
                }
                _ => format!("begun with {key}{before}, now{after}"),
            })
        })
    }

    fn of(&self, key: &str) -> Vec<&RecordLine> {
        self.lines.iter().filter(|line| line.key == key).collect()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for RecordLine { key, value, stamp } in &self.lines {
            f.write_str(key)?;
            [value, stamp].into_iter().flatten().try_for_each(|field| write!(f, "\t{field}"))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// Different texts stay different.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn values<'a>(lines: &'a [&RecordLine]) -> impl Iterator<Item = Option<&'a String>> {
    lines.iter().map(|line| line.value.as_ref())
}

fn lines_text(lines: &[&RecordLine]) -> String {
    let mut out = String::new();
    for value in values(lines).flatten() {
        out.push(' ');
        out.extend(value.chars().take(MAX_SHOWN));
        if value.chars().nth(MAX_SHOWN).is_some() {
            out.push('…');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    type Line<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

    fn record(lines: &[Line<'_>]) -> Record {
        let mut record = Record::default();
        lines.iter().for_each(|(key, value, stamp)| record.add(key, *value, *stamp));
        record
    }

    #[test]
    fn what_differs_is_said() {
        let long = "7".repeat(100);
        let cut = format!("begun with --at {}…, now :1", &long[..60]);
        let rows: [(&[Line<'_>], &[Line<'_>], &str); 9] = [
            (&[("--at", Some(":1"), None)], &[("--at", Some(":2"), None)], "begun with --at :1, now :2"),
            (&[("--at", Some(&long), None)], &[("--at", Some(":1"), None)], &cut),
            (&[("--fill", Some("0"), None)], &[], "begun with --fill 0, now without"),
            (&[], &[("--fill", Some("0"), None)], "begun without --fill, now with --fill 0"),
            (&[("--packed", None, None)], &[], "begun with --packed, now without"),
            (&[], &[("--packed", None, None)], "begun without --packed, now with --packed"),
            (
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("2"))],
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("3"))],
                "begun with IN b, which has changed since then",
            ),
            (
                &[("IN", Some("a"), Some("1")), ("IN", Some("b"), Some("2"))],
                &[("IN", Some("b"), Some("2")), ("IN", Some("a"), Some("1"))],
                "begun with IN a b, now b a",
            ),
            (&[("IN", Some("a"), Some("1"))], &[("IN", Some("b"), Some("2"))], "begun with IN a, now b"),
        ];
        for (begun, now, expected) in rows {
            assert_eq!(record(now).difference(&record(begun)).as_deref(), Some(expected));
        }
        let same: [Line<'_>; 2] = [("--at", Some(":1"), None), ("--fill", Some("0"), None)];
        let turned: [Line<'_>; 2] = [same[1], same[0]];
        assert_eq!(record(&same).difference(&record(&turned)), None);
    }

    #[test]
    fn no_text_ends_a_field_or_a_line() {
        let first =
            record(&[("--fill", Some("a\tb\nc\r\\t"), None), ("IN", Some(""), Some("x")), ("--packed", None, None)]);
        let text = first.to_string();
        assert_eq!(text, "--fill\ta\\tb\\nc\\r\\\\t\nIN\t\tx\n--packed\n");
        assert_eq!(Record::parse(&text), first);
        assert!(first.difference(&Record::parse("nonsense")).is_some());
    }
}
