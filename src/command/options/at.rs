//! `--at`: NumPy's notation for basic slices.

use super::index_list::integer;
use crate::layout::axis::StepRange;
use crate::ops::slice::SliceArgs;

/// Slices, and how they were typed.
#[derive(Clone, Debug)]
pub(crate) struct At {
    /// As they were typed, without what stands around them.
    pub text: String,
    /// What they are.
    pub args: SliceArgs,
}

/// Reads slices, and remembers how they were typed.
pub(crate) fn parse_typed(text: &str) -> Result<At, String> {
    Ok(At { text: text.split_whitespace().collect::<Vec<_>>().join(" "), args: parse(text)? })
}

/// Reads slices such as `1:8:2, ..., ::-1`.
pub(crate) fn parse(text: &str) -> Result<SliceArgs, String> {
    let mut first = Vec::new();
    let mut last: Option<Vec<StepRange>> = None;
    if text.trim_start().starts_with(['[', '(']) {
        return Err("slices are written without brackets: 1:8:2, ..., ::-1".to_owned());
    }
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    // as in a Python tuple, a comma may end the list
    let items = match &items[..] {
        [""] => &[],
        [some @ .., ""] => some,
        all => all,
    };
    for item in items {
        match (*item, &mut last) {
            ("..." | "…", None) => last = Some(Vec::new()),
            ("..." | "…", Some(_)) => return Err("'...' may stand only once".to_owned()),
            (item, None) => first.push(range(item)?),
            (item, Some(last)) => last.push(range(item)?),
        }
    }
    Ok(SliceArgs::from_notation(first, last.unwrap_or_default()))
}

fn range(item: &str) -> Result<StepRange, String> {
    let parts: Vec<&str> = item.split(':').map(str::trim).collect();
    let number = |part: &str| {
        let value = (!part.is_empty()).then(|| integer(part).ok_or_else(|| format!("'{part}' is not an integer"))?);
        value.transpose()
    };
    match &parts[..] {
        [""] => Err("a slice is missing between two commas".to_owned()),
        [one] => match integer(one) {
            Some(Ok(-1)) => Err("an integer alone would drop its axis: for -1 use -1:".to_owned()),
            Some(Ok(i64::MAX)) => Err(format!("an integer alone would drop its axis: for {one} use {one}:")),
            Some(Ok(i)) => Err(format!("an integer alone would drop its axis: for {i} use {i}:{}", i + 1)),
            Some(Err(error)) => Err(error),
            _ if ["None", "newaxis", "np.newaxis"].contains(one) => {
                Err(format!("{one} would add an axis, which is not done here"))
            }
            _ => Err(format!("'{one}' is not a slice")),
        },
        [start, stop] => Ok(StepRange { start: number(start)?, stop: number(stop)?, step: 1 }),
        [start, stop, step] => {
            Ok(StepRange { start: number(start)?, stop: number(stop)?, step: number(step)?.unwrap_or(1) })
        }
        _ => Err(format!("'{item}' has more than two colons")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation() {
        let whole = StepRange { start: None, stop: None, step: 1 };
        let some = |start, stop, step| StepRange { start: Some(start), stop: Some(stop), step };
        let rows: [(&str, Vec<StepRange>, Vec<StepRange>); 9] = [
            ("", vec![], vec![]),
            (":", vec![whole], vec![]),
            ("1:8:2, ..., ::-1", vec![some(1, 8, 2)], vec![StepRange { step: -1, ..whole }]),
            ("-3:4", vec![some(-3, 4, 1)], vec![]),
            (" 0 : INT_MAX : 3 ,", vec![some(0, i64::MAX, 3)], vec![]),
            ("...", vec![], vec![]),
            ("…,5:INT_MIN:-1", vec![], vec![some(5, i64::MIN, -1)]),
            (
                "::,1:,:2",
                vec![whole, StepRange { start: Some(1), ..whole }, StepRange { stop: Some(2), ..whole }],
                vec![],
            ),
            ("1:2:", vec![some(1, 2, 1)], vec![]),
        ];
        for (text, first, last) in rows {
            assert_eq!(parse(text), Ok(SliceArgs::from_notation(first, last)), "{text}");
        }
    }

    #[test]
    fn refused() {
        let rows = [
            ("3", "an integer alone would drop its axis: for 3 use 3:4"),
            ("0:1,-1", "an integer alone would drop its axis: for -1 use -1:"),
            ("-3", "an integer alone would drop its axis: for -3 use -3:-2"),
            ("1:2:3:4", "'1:2:3:4' has more than two colons"),
            ("a:2", "'a' is not an integer"),
            ("1.5:2", "'1.5' is not an integer"),
            ("None", "None would add an axis, which is not done here"),
            ("...,...", "'...' may stand only once"),
            (":,,:", "a slice is missing between two commas"),
            (",", "a slice is missing between two commas"),
            ("0:9223372036854775808", "9223372036854775808 is beyond int64"),
            ("x", "'x' is not a slice"),
            ("[0:1]", "slices are written without brackets: 1:8:2, ..., ::-1"),
            ("INT_MAX", "an integer alone would drop its axis: for INT_MAX use INT_MAX:"),
        ];
        for (text, message) in rows {
            assert_eq!(parse(text), Err(message.to_owned()), "{text}");
        }
    }
}
