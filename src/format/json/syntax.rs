//! What is wrong with a text that is not JSON, and how deep one nests.

/// serde_json's message, with the hint that a name of a float wants.
pub(super) fn describe_syntax(text: &str, error: &serde_json::Error) -> String {
    if error.is_data() {
        return error.to_string();
    }
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default().as_bytes();
    let name = |b: &u8| b.is_ascii_alphabetic() || b"+-".contains(b);
    let column = error.column().saturating_sub(1).min(line.len());
    // The word around the column, as far as such a word can reach.
    let before = line[..column].iter().rev().take(10).take_while(|b| name(b)).count();
    let after = line[column..].iter().take(10).take_while(|b| name(b)).count();
    let word = String::from_utf8_lossy(&line[column - before..column + after]);
    let quoted = match word.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "nan" => "\"NaN\"",
        "inf" | "infinity" if word.starts_with('-') => "\"-Infinity\"",
        "inf" | "infinity" => "\"Infinity\"",
        _ => return format!("not JSON: {error}"),
    };
    format!("not JSON: bare {word} at line {} column {}; write {quoted} in quotes", error.line(), error.column())
}

/// Whether more lists and objects are ever open at once, strings left out.
pub(super) fn is_deeper(text: &[u8], most: usize) -> bool {
    let (mut open, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (true, _) => {}
            (false, b'[' | b'{') => open += 1,
            (false, b']' | b'}') => open = open.saturating_sub(1),
            _ => {}
        }
        if open > most {
            return true;
        }
    }
    false
}
