//! Sides of chunks and shards, by axis or dimension name.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::glob::Glob;

/// Typed as -1.
pub const WHOLE_AXIS: usize = usize::MAX;

/// A value of `--chunks` or `--shards`: `64,-1` by axis, `time=48,lat=-1` by dimension, either after `GLOB=` for
/// matching tensor names. `X=48` means dimension X if a tensor has it, else tensors that match X.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SidesRule {
    pub(crate) glob: Option<Glob>,
    pub(crate) sides: Sides,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    ByAxis(Vec<usize>),
    ByName(Vec<(String, usize)>),
}

/// `None` keeps the side of an axis.
pub type AskedSides = Vec<Option<usize>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorSides {
    pub chunks: Option<AskedSides>,
    pub shards: Option<AskedSides>,
}

impl SidesRule {
    /// Returns a rule of a side for each axis.
    pub fn by_axis(sides: Vec<usize>) -> Self {
        Self { glob: None, sides: Sides::ByAxis(sides) }
    }

    /// Returns whether the rule applies to a tensor.
    pub fn is_about(&self, name: &str, dims: &[Option<String>]) -> bool {
        let has = |(dim, _): &(String, usize)| dims.iter().flatten().any(|own| own == dim);
        let is_for = match &self.sides {
            Sides::ByAxis(_) => self.takes(name),
            Sides::ByName(sides) => self.takes(name) && sides.iter().any(has),
        };
        is_for || self.either().is_some_and(|(either, _)| Glob::new(either).matches(name))
    }

    /// The parts of an ambiguous rule such as `X=48`.
    pub(crate) fn either(&self) -> Option<(&str, usize)> {
        match (&self.glob, &self.sides) {
            (None, Sides::ByName(sides)) if sides.len() == 1 => Some((&sides[0].0, sides[0].1)),
            (Some(_), _) | (None, Sides::ByAxis(_) | Sides::ByName(_)) => None,
        }
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.matches(name))
    }
}

impl FromStr for SidesRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(sides) = by_axis(text) {
            return Ok(Self::by_axis(sides));
        }
        if let Some(sides) = by_name(text)? {
            return Ok(Self { glob: None, sides: Sides::ByName(sides) });
        }
        for (at, _) in text.match_indices('=') {
            let (glob, rest) = (&text[..at], &text[at + 1..]);
            // commas separate sides; a pattern has `?` instead
            if glob.is_empty() || glob.contains(',') || rest.trim().is_empty() {
                continue;
            }
            let sides = match by_axis(rest) {
                Some(sides) => Some(Sides::ByAxis(sides)),
                None => by_name(rest)?.map(Sides::ByName),
            };
            if let Some(sides) = sides {
                return Ok(Self { glob: Some(Glob::new(glob)), sides });
            }
        }
        Err("expected numbers of 1 or more, or -1 for all, with commas between them, or DIM=N,DIM=N, or either after GLOB="
            .to_owned())
    }
}

fn by_axis(text: &str) -> Option<Vec<usize>> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']').trim();
    if inner.is_empty() { Some(Vec::new()) } else { inner.split(',').map(side).collect() }
}

fn by_name(text: &str) -> Result<Option<Vec<(String, usize)>>, String> {
    let mut sides: Vec<(String, usize)> = Vec::new();
    for part in text.split(',') {
        let named = part.split_once('=').map(|(name, number)| (name.trim(), side(number)));
        let Some((name, Some(side))) = named.filter(|(name, _)| !name.is_empty()) else { return Ok(None) };
        if sides.iter().any(|(other, _)| other == name) {
            return Err(format!("{name} twice"));
        }
        sides.push((name.to_owned(), side));
    }
    Ok(Some(sides))
}

fn side(text: &str) -> Option<usize> {
    match text.trim() {
        "-1" => Some(WHOLE_AXIS),
        side => side.parse().ok().filter(|side| (1..WHOLE_AXIS).contains(side)),
    }
}

pub(crate) fn side_text(side: &usize) -> String {
    if *side == WHOLE_AXIS { "-1".to_owned() } else { side.to_string() }
}

impl Display for SidesRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.glob.iter().try_for_each(|glob| write!(f, "{}=", glob.text()))?;
        let parts: Vec<String> = match &self.sides {
            Sides::ByAxis(sides) => sides.iter().map(side_text).collect(),
            Sides::ByName(sides) => sides.iter().map(|(name, side)| format!("{name}={}", side_text(side))).collect(),
        };
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed() {
        let rows = [
            ("64,64", "64,64"),
            ("[64, -1]", "64,-1"),
            ("", ""),
            ("time=48", "time=48"),
            (" time = 48 , lat=-1", "time=48,lat=-1"),
            ("temp*=64,64", "temp*=64,64"),
            ("temp=[64, 64]", "temp=64,64"),
            ("temp*=time=48,lat=-1", "temp*=time=48,lat=-1"),
            ("[ab]*=4,5", "[ab]*=4,5"),
            ("a=b=c=4", "a=b=c=4"),
            ("time=48,time=4", "time twice"),
            ("x=time=48,time=4", "time twice"),
        ];
        for (text, expected) in rows {
            let found = text.parse::<SidesRule>().map_or_else(|why| why, |rule| rule.to_string());
            assert_eq!(found, expected, "{text:?}");
        }
        for text in
            ["0", "-2", "4,", "=4", "time=", "time=0", "time=x,4", "a", "=", "time=48,lat", "4,time=48", "a,b=4"]
        {
            let why = text.parse::<SidesRule>().expect_err(text);
            assert!(why.starts_with("expected numbers"), "{text:?}: {why}");
        }
    }
}
