//! How a report looks: the colours of a terminal, and the way options are written.

/// How a report looks. The caller decides whether it has colours, because only a program knows about its terminal and
/// `NO_COLOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    option_prefix: &'static str,
}

impl Style {
    /// Returns a style without colours and without a prefix of options, as `default()` does.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Returns this style with the colours of a terminal, or without them.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Returns this style with a prefix for the names of options in a report, such as `--`, as users of a program type them.
    #[must_use]
    pub fn with_option_prefix(self, option_prefix: &'static str) -> Self {
        Self { option_prefix, ..self }
    }

    /// Returns the name of an option and its value as a text, by the prefix: as users type them, or as a field of a struct.
    pub(crate) fn option(self, name: &str, value: &str) -> String {
        let name = if self.option_prefix.is_empty() { name.to_owned() } else { name.replace('_', "-") };
        format!("{}{name} {value}", self.option_prefix)
    }

    /// Returns a text in a colour, if the style has colours.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        match colour.code() {
            Some(code) if self.colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// The colours of a report, named by what they express. Dark and light terminals show all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    /// The terminal's own colour.
    #[default]
    Plain,
    /// Something is wrong.
    Red,
    /// Something is right.
    Green,
    /// A detail that matters less.
    Dim,
    /// A heading.
    Bold,
}

impl Colour {
    /// Returns the parameter of the escape sequence "select graphic rendition".
    fn code(self) -> Option<&'static str> {
        match self {
            Colour::Plain => None,
            Colour::Red => Some("31"),
            Colour::Green => Some("32"),
            Colour::Dim => Some("2"),
            Colour::Bold => Some("1"),
        }
    }
}
