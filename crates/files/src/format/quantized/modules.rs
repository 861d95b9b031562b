//! What a config states of single modules.

use regex_lite::{Regex, escape};

use super::parts::Numbers;
use crate::error::{Result, malformed};

/// An entry of a config for the modules that its pattern matches.
#[derive(Clone, Debug)]
pub(super) struct ModuleEntry {
    /// As the config has it.
    pub text: String,
    /// `None` for the modules whose names have the text as consecutive parts.
    expression: Option<Regex>,
    /// `None` for modules that are not quantised.
    pub numbers: Option<Numbers>,
}

impl ModuleEntry {
    /// Reads `re:` and an expression, a name in which `*` stands for any text, or parts of a name.
    ///
    /// # Errors
    /// The expression is malformed, or of a kind that is not known.
    pub(super) fn parse(text: &str, numbers: Option<Numbers>) -> Result<Self> {
        match text.strip_prefix("re:") {
            Some(expression) => Self::expression(text, expression, numbers),
            None if text.contains('*') => {
                Self::expression(text, &format!("{}$", escape(text).replace(r"\*", ".*")), numbers)
            }
            None => Ok(Self { text: text.to_owned(), expression: None, numbers }),
        }
    }

    /// An entry for the names that begin as a regular expression says.
    ///
    /// # Errors
    /// The expression is malformed, or of a kind that is not known.
    pub(super) fn expression(text: &str, expression: &str, numbers: Option<Numbers>) -> Result<Self> {
        let compiled = Regex::new(&format!("^(?:{expression})"));
        let compiled = compiled.map_err(|_| malformed!("the expression {text:?} cannot be read"))?;
        Ok(Self { text: text.to_owned(), expression: Some(compiled), numbers })
    }

    pub(super) fn matches(&self, module: &str) -> bool {
        if let Some(expression) = &self.expression {
            return expression.is_match(module);
        }
        module.match_indices(&self.text).any(|(at, text)| {
            let (before, after) = (&module[..at], &module[at + text.len()..]);
            (before.is_empty() || before.ends_with('.')) && (after.is_empty() || after.starts_with('.'))
        })
    }
}
