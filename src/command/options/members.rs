//! Which tensors of whole containers are taken, and what they are called then.

use anyhow::{Result, bail};
use clap::{Args, ValueHint};

use crate::format::open::{alike, list};
use crate::item::glob::{Glob, Rename};

/// All patterns look at the names that tensors have in their files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Names")]
pub(crate) struct MemberOptions {
    /// Of whole containers take only tensors whose names match
    ///
    /// `*` stands for any letters, `/` and `.` among them, `?` for one, [a-c] for one of a set. Can be given several times.
    /// A pattern that matches nothing is an error.
    #[arg(long, value_name = "GLOB", value_parser = parse_glob, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub only: Vec<Glob>,
    /// Of whole containers leave out tensors whose names match, also of those that --only takes
    #[arg(long, value_name = "GLOB", value_parser = parse_glob, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub exclude: Vec<Glob>,
    /// Give tensors of whole containers other names, such as 'model.*=*'
    ///
    /// At most one * on each side; that of NEW is what that of OLD stood for. Can be given several times: the first that
    /// matches a name changes it.
    #[arg(long, value_name = "OLD=NEW", value_parser = Rename::parse, value_hint = ValueHint::Other, allow_hyphen_values = true)]
    pub rename: Vec<Rename>,
}

fn parse_glob(text: &str) -> Result<Glob, String> {
    Ok(Glob::new(text))
}

impl MemberOptions {
    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.exclude.is_empty() && self.rename.is_empty()
    }

    /// Whether a tensor of that name is taken.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
        (self.only.is_empty() || matches(&self.only)) && !matches(&self.exclude)
    }

    /// What a tensor of that name is called then.
    pub(crate) fn renamed(&self, name: &str) -> String {
        self.rename.iter().find_map(|rename| rename.apply(name)).unwrap_or_else(|| name.to_owned())
    }

    /// Refuses patterns that match none of all names.
    ///
    /// # Errors
    /// The first such pattern.
    pub(crate) fn check(&self, names: &[&str]) -> Result<()> {
        self.check_names(names)?;
        self.check_renames(names.iter().copied())
    }

    /// The same of the patterns that take names or leave them out.
    ///
    /// # Errors
    /// The first such pattern.
    pub(crate) fn check_names(&self, names: &[&str]) -> Result<()> {
        matching("--only", &self.only, names)?;
        matching("--exclude", &self.exclude, names)
    }

    /// The same of those that change names.
    ///
    /// # Errors
    /// The first such pattern.
    pub(crate) fn check_renames<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        match self.rename.iter().find(|rename| names.clone().all(|name| rename.apply(name).is_none())) {
            Some(rename) => {
                let old = rename.text().split('=').next().unwrap_or_default();
                let names: Vec<_> = names.collect();
                bail!("--rename {}: matches no tensor of a whole container{}", rename.text(), meant(old, &names))
            }
            None => Ok(()),
        }
    }
}

/// Refuses patterns that match none of all names.
fn matching(option: &str, globs: &[Glob], names: &[&str]) -> Result<()> {
    match globs.iter().find(|glob| !names.iter().any(|name| glob.matches(name))) {
        Some(glob) => {
            let text = glob.text();
            bail!("{option} {text}: matches no tensor of a whole container{}", meant(text, names))
        }
        None => Ok(()),
    }
}

/// What a pattern that matches none of `names` may have meant, as the end of a message.
pub(crate) fn meant(pattern: &str, names: &[&str]) -> String {
    let letters: String = pattern.chars().filter(|letter| !"*?[]".contains(*letter)).collect();
    match &*alike(&letters, names) {
        [] if names.is_empty() => String::new(),
        [] => format!(": there are {}", list(names)),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}
