//! Terminal colours and option names in reports.

/// The look of a report. Only the program knows its terminal and `NO_COLOR`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    option_names: OptionNames,
}

/// How options are written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionNames {
    /// `rtol 0.5`.
    #[default]
    Fields,
    /// `--rtol 0.5`.
    CommandLine,
    /// `rtol=0.5`, for Python.
    Keywords,
}

impl Style {
    /// Returns the default style.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Sets whether there are colours.
    #[must_use]
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// Sets how options are written.
    #[must_use]
    pub fn with_option_names(self, option_names: OptionNames) -> Self {
        Self { option_names, ..self }
    }

    #[doc(hidden)]
    pub fn option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields => format!("{field} {value}"),
            OptionNames::CommandLine => format!("--{} {value}", field.replace('_', "-")),
            OptionNames::Keywords => {
                let is_number = value.parse::<f64>().is_ok();
                if is_number { format!("{field}={value}") } else { format!("{field}={value:?}") }
            }
        }
    }

    /// For values that need quotes in a shell or in Python.
    #[doc(hidden)]
    pub fn quoted_option(self, field: &str, value: &str) -> String {
        match self.option_names {
            OptionNames::Fields | OptionNames::CommandLine => self.option(field, &format!("'{value}'")),
            OptionNames::Keywords => self.option(field, value),
        }
    }

    #[doc(hidden)]
    pub fn flag(self, field: &str) -> String {
        match self.option_names {
            OptionNames::Fields => field.to_owned(),
            OptionNames::CommandLine => format!("--{}", field.replace('_', "-")),
            OptionNames::Keywords => format!("{field}=True"),
        }
    }

    #[doc(hidden)]
    pub fn paint(self, colour: Colour, text: &str) -> String {
        match colour.code() {
            Some(code) if self.colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// All are readable on dark and light terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Plain,
    Red,
    Green,
    Dim,
    Bold,
}

impl Colour {
    /// The parameter of "select graphic rendition".
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
