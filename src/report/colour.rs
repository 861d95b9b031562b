//! Colours on a terminal.

/// How a report is shown. Whether colours are wanted (a terminal, `NO_COLOR`) only the program knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    option_prefix: &'static str,
}

impl Style {
    /// Neither colours nor anything before the names of options, as `default()`.
    pub fn plain() -> Self {
        Self::default()
    }

    /// With the colours of a terminal, or without them.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// With this before the name of each option that a report tells of, as users of a program type it.
    #[must_use]
    pub fn with_option_prefix(self, option_prefix: &'static str) -> Self {
        Self { option_prefix, ..self }
    }

    /// The name of an option and its value. A field is named as an option where options have a prefix.
    pub(crate) fn option(self, name: &str, value: &str) -> String {
        let name = if self.option_prefix.is_empty() { name.to_owned() } else { name.replace('_', "-") };
        format!("{}{name} {value}", self.option_prefix)
    }

    /// A text in a colour, if there are colours.
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        match colour.code() {
            Some(code) if self.colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// What a text is, as a colour says it: those that dark and light terminals show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    /// As the terminal has it.
    #[default]
    Plain,
    /// What is wrong.
    Red,
    /// What is right.
    Green,
    /// What matters less.
    Dim,
    /// A heading.
    Bold,
}

impl Colour {
    /// The parameter of the escape sequence "select graphic rendition".
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
