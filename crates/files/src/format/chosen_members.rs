//! Selects members of an open container: by name, by glob, or the only one.

use super::open::Input;
use super::table::containers;
use crate::error::{Error, ErrorKind, Result};
use crate::format::glob::Glob;
use crate::format::name_order::{alike, list};

impl Input {
    /// Returns the number of the [member](Self::member) in the path, or of the only one.
    ///
    /// # Errors
    /// The member does not exist, or the path names none of several.
    pub fn chosen(&self) -> Result<usize> {
        self.pick(self.member())
    }

    /// Returns the number of the member called `name`, or of the only one.
    ///
    /// # Errors
    /// The member does not exist, or `name` is missing and there are several.
    pub fn pick(&self, name: Option<&str>) -> Result<usize> {
        let refuse = |message: String| Err(Error::from_kind(ErrorKind::Member, message).within(self.label()));
        if let (None, Some(n)) = (name, self.reader().itself()) {
            return Ok(n);
        }
        let Some(names) = self.names() else {
            return match name {
                None => Ok(0),
                Some(name) => {
                    let (format, expected) = (self.format().name(), containers("or"));
                    refuse(format!("its format ({format}) has no members, expected a {expected} before :{name}"))
                }
            };
        };
        match (name, names.len()) {
            (None, 1) => Ok(0),
            (_, 0) => refuse("holds no tensors".to_owned()),
            (None, count) => refuse(format!("holds {count} tensors: name one after a colon: {}", list(&names))),
            (Some(name), _) => names.iter().position(|n| *n == name).map_or_else(
                || match &alike(name, &names)[..] {
                    [] => refuse(format!("has no tensor {name:?}, but {}", list(&names))),
                    near => refuse(format!("has no tensor {name:?}; did you mean {}?", near.join(" or "))),
                },
                Ok,
            ),
        }
    }

    /// Returns the [member](Self::member) of the path as a glob, unless a tensor has this name.
    pub fn glob(&self) -> Option<Glob> {
        let names = self.names()?;
        self.member().filter(|name| !names.contains(name)).map(Glob::new).filter(Glob::is_pattern)
    }

    /// Returns the numbers of all members, or of the selected ones.
    ///
    /// # Errors
    /// The path matches no member.
    pub fn select(&self) -> Result<Vec<usize>> {
        let name = self.member();
        let Some(names) = self.names() else { return Ok(vec![self.chosen()?]) };
        let glob = self.glob();
        let found: Vec<_> = match (name, &glob) {
            (None, _) => (0..names.len()).collect(),
            (Some(_), Some(glob)) => (0..names.len()).filter(|&n| glob.matches(names[n])).collect(),
            (Some(_), None) => vec![self.chosen()?],
        };
        if let Some(glob) = glob.filter(|_| found.is_empty()) {
            let message = match &names[..] {
                [] => "holds no tensors".to_owned(),
                names => format!("has no tensor that {:?} matches, but {}", glob.text(), list(names)),
            };
            return Err(Error::from_kind(ErrorKind::Member, message).within(self.label()));
        }
        Ok(found)
    }
}
