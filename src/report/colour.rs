//! How a report looks: the colours of a terminal, and the way options are written.

/// How a report looks. The caller decides whether it has colours, because only a program knows about its terminal and
/// `NO_COLOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    option_names: OptionNames,
}

/// How a report writes the names of tolerances, limits and other options.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionNames {
    /// As fields of a struct: `rtol 0.5`.
    #[default]
    Fields,
    /// As options of a command line: `--rtol 0.5`.
    CommandLine,
    /// As keyword arguments of Python: `rtol=0.5`.
    Keywords,
}

impl Style {
    /// Returns a style without colours that writes options as fields, as `default()` does.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Returns this style with the colours of a terminal, or without them.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Returns this style with another way of writing options.
    #[must_use]
    pub fn with_option_names(self, option_names: OptionNames) -> Self {
        Self { option_names, ..self }
    }

    /// Returns an option, which is called by its field, with its value.
    pub(crate) fn option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields => format!("{field} {value}"),
            OptionNames::CommandLine => format!("--{} {value}", field.replace('_', "-")),
            OptionNames::Keywords => {
                let is_number = value.parse::<f64>().is_ok();
                if is_number { format!("{field}={value}") } else { format!("{field}={value:?}") }
            }
        }
    }

    /// Returns an option whose value a shell or Python needs in quotes.
    #[cfg(feature = "cli")]
    pub(crate) fn quoted_option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields | OptionNames::CommandLine => self.option(field, &format!("'{value}'")),
            OptionNames::Keywords => self.option(field, value),
        }
    }

    /// Returns an option that has no value.
    #[cfg(feature = "cli")]
    pub(crate) fn flag(self, field: &str) -> String {
        match self.option_names {
            OptionNames::Fields => field.to_owned(),
            OptionNames::CommandLine => format!("--{}", field.replace('_', "-")),
            OptionNames::Keywords => format!("{field}=True"),
        }
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
