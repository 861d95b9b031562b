//! JSON strings, and excerpts for messages.

use std::borrow::Cow;

/// Of a valid quoted string. A lone surrogate is a code point.
pub(in crate::format) fn points(raw: &str) -> impl Iterator<Item = u32> {
    let mut rest = raw[1..raw.len() - 1].chars();
    let unit = |chars: &mut std::str::Chars<'_>| {
        let (hex, after) = chars.as_str().split_at(4);
        *chars = after.chars();
        u32::from_str_radix(hex, 16).expect("an escape has four hexadecimal digits")
    };
    std::iter::from_fn(move || {
        let c = rest.next()?;
        if c != '\\' {
            return Some(c.into());
        }
        Some(match rest.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'b' => 8,
            'f' => 12,
            'u' => {
                let high = unit(&mut rest);
                let mut ahead = rest.clone();
                if (0xd800..0xdc00).contains(&high) && ahead.next() == Some('\\') && ahead.next() == Some('u') {
                    let low = unit(&mut ahead);
                    if (0xdc00..0xe000).contains(&low) {
                        rest = ahead;
                        return Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                    }
                }
                high
            }
            c => c.into(),
        })
    })
}

pub(in crate::format) fn width(raw: &str) -> usize {
    if raw.contains('\\') { points(raw).count() } else { raw.chars().count() - 2 }
}

/// `None` also for lone surrogates.
pub(in crate::format) fn string(raw: &str) -> Option<String> {
    raw.starts_with('"').then(|| serde_json::from_str(raw).ok())?
}

pub(in crate::format) fn short(text: &str) -> Cow<'_, str> {
    shorten(text, 40)
}

pub(in crate::format) fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    let shown = &text[..end.unwrap_or(text.len())];
    if end.is_none() && !shown.contains(char::is_control) {
        return Cow::Borrowed(shown);
    }
    let clean = shown.chars().map(|c| if c.is_control() { ' ' } else { c });
    Cow::Owned(clean.chain(end.map(|_| '…')).collect())
}
