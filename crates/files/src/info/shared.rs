//! Tensors of a file that have bytes of one another, such as tied weights.

use std::cmp::Reverse;

use super::Info;
use crate::format::content::StoredRange;

/// Another tensor of the file, with bytes of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The name of the other tensor.
    pub member: String,
    /// Whether both have the same bytes, and no others.
    pub has_all: bool,
}

/// Finds the tensors of a container that have bytes of another of these. Of several with the same bytes the first is not
/// marked.
pub fn mark_shared(infos: &mut [Info]) {
    let ranges = infos.iter().enumerate().filter_map(|(n, info)| {
        let StoredRange { holder, bytes } = info.stored.range()?;
        let end = Reverse(bytes.end);
        (info.member.is_some() && !bytes.is_empty()).then_some(((info.file_number, holder), bytes.start, end, n))
    });
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_unstable();
    let Some(mut other) = ranges.first() else { return };
    for range in &ranges[1..] {
        let (before, here) = (other.1..other.2.0, range.1..range.2.0);
        if other.0 == range.0 && here.start < before.end {
            let is_dense = before.end - before.start == infos[other.3].stored.bytes;
            let has_all = is_dense && before == here && infos[range.3].stored.bytes == infos[other.3].stored.bytes;
            let member = infos[other.3].member.clone().unwrap_or_default();
            infos[range.3].shared = Some(Shared { member, has_all });
            if here.end <= before.end {
                continue;
            }
        }
        other = range;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::format::content::Description;
    use crate::item::dtype::DType;
    use crate::item::meta::Meta;

    fn info(name: &str, file_number: usize, holder: Option<&str>, start: u64, len: u64, bytes: usize) -> Info {
        let meta = Meta::new(DType::parse("uint8").expect("a dtype"), vec![bytes]);
        let range = StoredRange { holder: holder.map(Into::into), bytes: start..start + len };
        Info {
            file: "m".into(),
            member: Some(name.into()),
            format: Format::NPZ,
            stored: Description { elsewhere: Some(range), ..Description::new(meta, bytes as u64, None) },
            stats: None,
            histogram: None,
            hash: None,
            by_axis: None,
            metadata: None,
            content: Default::default(),
            unlisted: Default::default(),
            file_number,
            shared: None,
            error: None,
        }
    }

    #[test]
    fn bytes_of_others_are_found() {
        let mut infos = [
            info("part", 0, None, 4, 2, 2),
            info("whole", 0, None, 0, 8, 8),
            info("tied", 0, None, 0, 8, 8),
            info("next", 0, None, 8, 4, 4),
            info("over", 0, None, 10, 6, 6),
            info("after", 0, None, 14, 4, 4),
            info("empty", 0, None, 2, 0, 0),
            info("shard", 1, None, 0, 8, 8),
            info("held", 0, Some("a"), 0, 8, 8),
            info("other", 0, Some("b"), 0, 8, 8),
            info("columns", 0, Some("c"), 0, 4, 8),
            info("more", 0, Some("c"), 4, 4, 8),
            info("again", 0, Some("c"), 4, 4, 8),
        ];
        mark_shared(&mut infos);
        let found: Vec<_> = infos
            .iter()
            .filter_map(|info| Some((info.member.as_deref()?, info.shared.as_ref()?)))
            .map(|(name, shared)| (name, &*shared.member, shared.has_all))
            .collect();
        let expected = [
            ("part", "whole", false),
            ("tied", "whole", true),
            ("over", "next", false),
            ("after", "over", false),
            ("again", "more", false),
        ];
        assert_eq!(found, expected);
        mark_shared(&mut []);
    }
}
