//! The sides of chunks and shards that the rules of options give to each tensor.

use crate::container::chunk_sides::{AskedSides, Sides, SidesRule, side_text};
use crate::container::glob::Glob;
use crate::container::names::{alike, list};
use tensorop_kernels::error::{Error, Result, Subject};
use tensorop_kernels::ops::slice::twice;

#[derive(Debug)]
pub(crate) struct RuledTensor<'a> {
    /// The name that patterns match.
    pub name: &'a str,
    pub shape: &'a [usize],
    pub dims: Vec<Option<String>>,
}

impl SidesRule {
    /// Resolves `X=N`: X is a dimension if a tensor has one of that name, and else a pattern of tensor names. Also
    /// checks that the rule matches a tensor, and that each name is the name of one axis.
    fn resolve(&self, tensors: &[RuledTensor<'_>]) -> Result<Self, String> {
        let names: Vec<_> = tensors.iter().map(|tensor| tensor.name).collect();
        let matches = |glob: &Glob| tensors.iter().any(|tensor| glob.matches(tensor.name));
        let of_rule = || tensors.iter().filter(|tensor| self.takes(tensor.name));
        let dims: Vec<&str> = of_rule().flat_map(|tensor| &tensor.dims).flatten().map(String::as_str).collect();
        let mut known: Vec<&str> = Vec::new();
        dims.into_iter().for_each(|dim| {
            if !known.contains(&dim) {
                known.push(dim)
            }
        });
        let dimensions = || if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        if let Some((either, side)) = self.either()
            && !known.contains(&either)
        {
            let glob = Glob::new(either);
            if matches(&glob) {
                return Ok(Self { glob: Some(glob), sides: Sides::ByAxis(vec![side]) });
            }
            let (dims, tensors) = (dimensions(), list(&names));
            return Err(format!(
                "{either} is neither a dimension nor a tensor: dimensions are {dims}, tensors are {tensors}"
            ));
        }
        if let Some(glob) = self.glob.as_ref().filter(|glob| !matches(glob)) {
            let meant = match &*alike(glob.text(), &names) {
                [] => format!(": there are {}", list(&names)),
                near => format!("; did you mean {}?", near.join(" or ")),
            };
            return Err(format!("{} matches no tensor{meant}", glob.text()));
        }
        if let Sides::ByName(sides) = &self.sides
            && let Some((name, _)) = sides.iter().find(|(name, _)| !known.contains(&name.as_str()))
        {
            return Err(match known.is_empty() {
                true => {
                    format!(
                        "{name} is not a dimension: the tensors have no dimension names, so give a side for each axis"
                    )
                }
                false => format!("no dimension is called {name}: there are {}", dimensions()),
            });
        }
        if let Sides::ByName(sides) = &self.sides {
            let of = |(name, _): &(String, usize)| {
                of_rule().find_map(|of| Some((name.clone(), of.name, twice(name, &of.dims)?)))
            };
            if let Some((name, tensor, [one, other])) = sides.iter().find_map(of) {
                let which = if tensors.len() > 1 { format!(" of {tensor:?}") } else { String::new() };
                return Err(format!("axes {one} and {other}{which} are both called {name}: give a side for each axis"));
            }
        }
        Ok(self.clone())
    }
}

/// Returns the sides that the rules ask for each tensor; `None` for a tensor without a rule. Rules for all tensors
/// apply before rules with a pattern. Within both groups, the given order counts. A later rule overrides an earlier one
/// for the same axis.
pub(crate) fn resolved(
    rules: &[SidesRule],
    option: &'static str,
    tensors: &[RuledTensor<'_>],
) -> Result<Vec<Option<AskedSides>>> {
    let refuse = |message: String| Error::new(Subject::Argument(option), message);
    let rules = rules.iter().map(|rule| rule.resolve(tensors).map_err(|why| refuse(format!("{rule}: {why}"))));
    let rules = rules.collect::<Result<Vec<_>>>()?;
    let (with_pattern, for_all): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| rule.glob.is_some());
    let of_tensor = |tensor: &RuledTensor<'_>| {
        let own: Vec<_> = for_all.iter().chain(&with_pattern).filter(|rule| rule.takes(tensor.name)).collect();
        // A rule that gives the side of every axis overrides all rules before it.
        let gives_every_axis = |rule: &&&&SidesRule| matches!(rule.sides, Sides::ByAxis(_));
        let first = own.iter().rposition(|rule| gives_every_axis(&rule)).unwrap_or_default();
        let mut asked = None;
        for rule in &own[first..] {
            match &rule.sides {
                Sides::ByAxis(sides) => {
                    let rank = tensor.shape.len();
                    if sides.len() != rank || sides.contains(&0) {
                        let which = if tensors.len() > 1 { format!(" for {:?}", tensor.name) } else { String::new() };
                        let (typed, shape) = (sides.iter().map(side_text).collect::<Vec<_>>().join(", "), tensor.shape);
                        let numbers = if rank == 1 { "1 number" } else { &format!("{rank} numbers") };
                        let expected = format!("expected {numbers} of 1 or more (shape {shape:?})");
                        return Err(refuse(format!("[{typed}]{which}, {expected}")));
                    }
                    asked = Some(sides.iter().copied().map(Some).collect());
                }
                Sides::ByName(sides) => {
                    for (axis, dim) in tensor.dims.iter().enumerate() {
                        let side = sides.iter().find(|(name, _)| Some(name) == dim.as_ref());
                        if let Some(&(_, side)) = side {
                            asked.get_or_insert_with(|| vec![None; tensor.shape.len()])[axis] = Some(side);
                        }
                    }
                }
            }
        }
        Ok(asked)
    };
    tensors.iter().map(of_tensor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for() {
        let named = |dims: &[&str]| dims.iter().map(|dim| Some((*dim).to_owned())).collect::<Vec<_>>();
        let tensors = [
            RuledTensor { name: "temp", shape: &[100, 20, 30], dims: named(&["time", "lat", "lon"]) },
            RuledTensor { name: "time", shape: &[100], dims: named(&["time"]) },
            RuledTensor { name: "mask", shape: &[20, 30], dims: vec![None, Some("lon".to_owned())] },
            RuledTensor { name: "bare", shape: &[20, 30], dims: vec![] },
        ];
        let rows: [(&[&str], &str); 17] = [
            (&[], "-;-;-;-"),
            (&["time=48"], "48,_,_;48;-;-"),
            (&["time=48,lon=-1"], "48,_,-1;48;_,-1;-"),
            (&["temp=time=48"], "48,_,_;-;-;-"),
            (&["time=48", "lon=5"], "48,_,5;48;_,5;-"),
            // A rule with a pattern overrides a rule for all, in any order.
            (&["temp=time=4", "time=48"], "4,_,_;48;-;-"),
            (&["?a*=5,6", "lon=7"], "_,_,7;-;5,6;5,6"),
            (&["4,4", "temp=1,2,3", "tim?=9"], "1,2,3;9;4,4;4,4"),
            (&["temp=1,2,3", "time=8", "mask=4,4", "bare=7,7", "*=lon=6"], "1,2,6;8;4,6;7,7"),
            (&["bare=7,7"], "-;-;-;7,7"),
            (&["bare=7"], "[7] for \"bare\", expected 2 numbers of 1 or more (shape [20, 30])"),
            (&["4,4"], "[4, 4] for \"temp\", expected 3 numbers of 1 or more (shape [100, 20, 30])"),
            (
                &["lta=4"],
                "lta=4: lta is neither a dimension nor a tensor: dimensions are time, lat, lon, tensors are \
              \"bare\", \"mask\", \"temp\", \"time\"",
            ),
            (&["time=4,lta=4"], "time=4,lta=4: no dimension is called lta: there are time, lat, lon"),
            (&["mask=time=4"], "mask=time=4: no dimension is called time: there are lon"),
            (
                &["bare=lat=4"],
                "bare=lat=4: lat is not a dimension: the tensors have no dimension names, so give a side for each axis",
            ),
            (&["tmp*=4,4,4"], "tmp*=4,4,4: tmp* matches no tensor; did you mean \"temp\"?"),
        ];
        for (texts, expected) in rows {
            let rules: Vec<SidesRule> = texts.iter().map(|text| text.parse().expect("a rule")).collect();
            let told = |asked: Option<AskedSides>| match asked {
                None => "-".to_owned(),
                Some(sides) => {
                    let side = |side: &Option<usize>| side.as_ref().map_or_else(|| "_".to_owned(), side_text);
                    sides.iter().map(side).collect::<Vec<_>>().join(",")
                }
            };
            let found = match resolved(&rules, "chunks", &tensors) {
                Ok(all) => all.into_iter().map(told).collect::<Vec<_>>().join(";"),
                Err(error) => error.message().to_owned(),
            };
            assert_eq!(found, expected, "{texts:?}");
        }
    }
}
