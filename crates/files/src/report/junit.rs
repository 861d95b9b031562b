//! Reports as JUnit XML, with the elements and attributes that all dialects share. Every time is 0, because some
//! readers require one.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::Spool;

/// The result of a test.
#[derive(Clone, Copy, Debug)]
pub enum JunitResult<'a> {
    Passed,
    Failure {
        kind: &'a str,
        message: &'a str,
    },
    /// The test could not be read.
    Error {
        message: &'a str,
    },
    /// The test was not run, or does not count.
    Skipped {
        message: &'a str,
    },
}

/// A JUnit report, written at the end because its head has the counts.
#[derive(Debug, Default)]
pub struct JunitReport {
    cases: Spool,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl JunitReport {
    /// Adds a test. Readers group tests by class, such as `check.Slice`.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn add(&mut self, class: &str, name: &str, result: JunitResult<'_>) -> io::Result<()> {
        let case = format!(r#"    <testcase classname="{}" name="{}" time="0""#, escaped(class), escaped(name));
        self.tests += 1;
        // some readers show the attribute, others the text
        let element = match result {
            JunitResult::Passed => return writeln!(self.cases.file, "{case}/>"),
            JunitResult::Failure { kind, message } => {
                self.failures += 1;
                let (kind, message) = (escaped(kind), escaped(message));
                format!(r#"<failure type="{kind}" message="{message}">{message}</failure>"#)
            }
            JunitResult::Error { message } => {
                self.errors += 1;
                let message = escaped(message);
                format!(r#"<error type="error" message="{message}">{message}</error>"#)
            }
            JunitResult::Skipped { message } => {
                self.skipped += 1;
                format!(r#"<skipped message="{}"/>"#, escaped(message))
            }
        };
        writeln!(self.cases.file, "{case}>{element}</testcase>")
    }

    /// Writes the report.
    ///
    /// # Errors
    /// `out` fails, or a temporary file cannot be read.
    pub fn write(mut self, suite: &str, out: &mut dyn Write) -> io::Result<()> {
        let Self { tests, failures, errors, skipped, .. } = self;
        let counts = format!(
            r#"name="{}" tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="0""#,
            escaped(suite)
        );
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts}>")?;
        self.cases.write(out)?;
        writeln!(out, "  </testsuite>\n</testsuites>")
    }
}

/// XML 1.0 cannot represent most control characters, so they become Rust escapes: `\u{1b}`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => write!(out, "&#{};", u32::from(c)).expect("a string takes all text"),
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result() {
        let mut report = JunitReport::default();
        report.add("check.Slice", "slice/a", JunitResult::Passed).unwrap();
        let failure = JunitResult::Failure { kind: "no result", message: "1 < 2 & \"x\"" };
        report.add("check.Slice", "slice/<b>", failure).unwrap();
        report.add("check", "c", JunitResult::Error { message: "cut\noff" }).unwrap();
        report.add("check", "d", JunitResult::Skipped { message: "unsupported: Relu" }).unwrap();
        let mut out = Vec::new();
        report.write("tensorop check", &mut out).unwrap();
        let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tensorop check" tests="4" failures="1" errors="1" skipped="1" time="0">
  <testsuite name="tensorop check" tests="4" failures="1" errors="1" skipped="1" time="0">
    <testcase classname="check.Slice" name="slice/a" time="0"/>
    <testcase classname="check.Slice" name="slice/&lt;b&gt;" time="0"><failure type="no result" message="1 &lt; 2 &amp; &quot;x&quot;">1 &lt; 2 &amp; &quot;x&quot;</failure></testcase>
    <testcase classname="check" name="c" time="0"><error type="error" message="cut&#10;off">cut&#10;off</error></testcase>
    <testcase classname="check" name="d" time="0"><skipped message="unsupported: Relu"/></testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn characters_that_xml_does_not_have() {
        assert_eq!(escaped("a\u{1b}[31m\0\u{7f}\u{9b}\u{ffff}é\t"), r"a\u{1b}[31m\u{0}\u{7f}\u{9b}\u{ffff}é&#9;");
    }
}
