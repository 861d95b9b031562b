//! Tensors in shards that the index of a model does not name. Readers of the index miss them, but two models that
//! differ in one are not equal.

use std::collections::BTreeMap;

use anyhow::Result;

use super::pairs::{NamedPairs, open_two};
use crate::command::operands::dtype_option::AskedDTypes;
use crate::command::operands::member::Member;
use crate::command::options::MemberOptions;
use crate::container::content::{IndexFaults, UnlistedTensor};
use crate::diff::{self, Effort, Options};
use crate::opening::input::OpenOptions;
use crate::opening::located::Located;
use crate::reports::models::UnlistedResult;

/// An unreadable tensor counts as different.
pub(crate) fn compare(
    pairs: &NamedPairs,
    labels: [&str; 2],
    members: &MemberOptions,
    asked: &AskedDTypes<'_>,
    options: &dyn Fn(&str) -> Options,
    effort: Effort,
) -> UnlistedResult {
    let filters = [members.renaming_filter(), members.taken.filter()];
    let faults = [0, 1].map(|side: usize| pairs.sides[side].input.index_faults(filters[side]));
    let mut named: BTreeMap<String, [Option<&UnlistedTensor>; 2]> = BTreeMap::new();
    for (side, IndexFaults { unlisted, .. }) in faults.iter().enumerate() {
        for tensor in unlisted {
            let name = if side == 0 { members.renamed(&tensor.name) } else { tensor.name.clone() };
            named.entry(name).or_default()[side] = Some(tensor);
        }
    }
    let same = |name: &str, tensors: [&UnlistedTensor; 2]| -> Result<bool> {
        let open = |side: usize| -> Result<Member> {
            let UnlistedTensor { shard, member, .. } = tensors[side];
            let input = OpenOptions::new(labels[side]).open(&Located::from_path(shard))?;
            let n = input.pick(Some(member))?;
            Ok(Member::from_input(input.into(), n))
        };
        let [mut expected, mut actual] = open_two(&[open(0)?, open(1)?], asked.of(Some(name)))?;
        Ok(diff::compare_sources(&mut expected, &mut actual, &options(name), effort, &|_| ())?.equal())
    };
    let differs = |(name, tensors): (&String, &[Option<&UnlistedTensor>; 2])| {
        let is_same = match tensors {
            [Some(one), Some(other)] => same(name, [one, other]).is_ok_and(|same| same),
            // if an index names the tensor, the comparison has it
            _ => pairs.has(name),
        };
        (!is_same).then(|| name.clone())
    };
    let different = named.iter().filter_map(differs).collect();
    let mut lines = Vec::new();
    for (side, label) in labels.into_iter().enumerate() {
        let folder = pairs.sides[side].folder.as_ref();
        let messages = [folder.and_then(|folder| folder.beside_message()), faults[side].message()];
        lines.extend(messages.into_iter().flatten().map(|message| format!("{label}: {message}")));
    }
    UnlistedResult { names: named.into_keys().collect(), different, lines }
}
