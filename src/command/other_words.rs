//! The words of NumPy, PyTorch and ONNX for options and values that have other names here, and what to type for them.

/// Words for an option, and the names of the options that may be meant, the likeliest first. A sub-command has few of them.
const OPTIONS: &[(&str, &[&str])] = &[
    ("dim axis axes dims", &["axis", "axes", "by-axis"]),
    ("perm permutation", &["axes"]),
    ("reps repeat repeats times", &["repeats"]),
    ("sections num-sections indices-or-sections num-outputs num-splits chunks", &["parts"]),
    ("split split-sizes split-lengths sizes", &["lengths"]),
    ("width pad-width padding pads", &["before"]),
    ("pads-begin", &["before"]),
    ("pads-end", &["after"]),
    ("value constant-value constant-values constant", &["fill"]),
    ("fill-value", &["fill", "missing"]),
    ("shifts", &["shift"]),
    ("starts begin", &["start"]),
    ("ends end", &["stop"]),
    ("steps stride strides", &["step"]),
    ("size newshape new-shape target-shape", &["shape"]),
    ("reduce op mode", &["reduction"]),
    ("batch-dim", &["batch-dims"]),
    ("slice slices index indices", &["at"]),
    ("mask condition cond if", &["where"]),
    ("out outfile output-file", &["output"]),
    ("inplace", &["in-place"]),
    ("compressed zip deflate", &["compress"]),
    ("astype as-type to-dtype out-dtype target-dtype type", &["cast", "dtype"]),
    ("dtype-out", &["cast"]),
    ("format output-format", &["to"]),
    ("input-format", &["from"]),
    ("endian endianness byteorder", &["byte-order"]),
    ("tol tolerance eps epsilon abs-tol absolute-tolerance", &["atol"]),
    ("rel-tol relative-tolerance", &["rtol"]),
    ("max-ulp maxulp", &["ulp"]),
    ("include filter select keys", &["only"]),
    ("ignore skip except", &["exclude"]),
    ("header headers skiprows", &["skip-rows"]),
    ("sep separator delim", &["delimiter"]),
    ("jobs workers num-threads", &["threads"]),
    ("max-memory mem", &["memory"]),
];

/// The name of an option, words for its values, and the value that is meant.
const VALUES: &[(&str, &str, &str)] = &[
    ("reduction", "sum plus accumulate", "add"),
    ("reduction", "prod product multiply times", "mul"),
    ("reduction", "amax maximum", "max"),
    ("reduction", "amin minimum", "min"),
    ("reduction", "avg average", "mean"),
    ("reduction", "subtract minus", "sub"),
    ("reduction", "replace update overwrite assign set", "none"),
    ("mode", "constants zero zeros", "constant"),
    ("mode", "replicate nearest clamp border", "edge"),
    ("mode", "mirror", "reflect"),
    ("mode", "circular periodic", "wrap"),
    ("byte-order", "be msb network", "big"),
    ("byte-order", "le lsb intel", "little"),
    ("order", "row row-major", "C"),
    ("order", "column column-major fortran", "F"),
    ("to", "numpy", "npy"),
    ("to", "txt", "text"),
    ("to", "bin binary bytes", "raw"),
    ("to", "tensorproto", "pb"),
];

/// Returns the name of the option that is meant by another word, of those that `has_option` holds for. Underscores stand for
/// hyphens.
pub(super) fn option_for(typed: &str, has_option: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = normalised(typed);
    let rows = OPTIONS.iter().filter(|(words, _)| words.split(' ').any(|known| known == word));
    rows.flat_map(|(_, options)| *options).copied().find(|option| has_option(option))
}

/// Returns the value of an option that is meant by another word.
pub(super) fn value_for(option: &str, typed: &str) -> Option<&'static str> {
    let word = normalised(typed);
    let rows = VALUES.iter().filter(|(of, words, _)| *of == option && words.split(' ').any(|known| known == word));
    rows.map(|(_, _, value)| *value).next()
}

fn normalised(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

/// The options that take the list that users of other tools type behind the tensor.
const LISTS: &[(&str, &str)] = &[
    ("transpose", "--axes"),
    ("reshape", "--shape"),
    ("broadcast", "--shape"),
    ("tile", "--repeats"),
    ("roll", "--shift"),
    ("split", "--parts"),
    ("slice", "--at"),
    ("show", "--at"),
];

/// Returns how a list is typed that was left over as an operand of a sub-command.
pub(super) fn option_of_list(sub_command: &str, typed: &str) -> Option<String> {
    let (_, option) = LISTS.iter().find(|(name, _)| *name == sub_command)?;
    let list = typed.trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let is_number = |item: &str| item.trim().parse::<i64>().is_ok();
    let is_slice = |item: &str| item.split(':').all(|part| part.trim().is_empty() || is_number(part));
    let takes_slices = *option == "--at";
    let fits = list.split(',').all(|item| if takes_slices { is_slice(item) } else { is_number(item) });
    (fits && !list.is_empty()).then(|| format!("{option} {list}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::grammar;

    /// Each word leads to an option or a value that some sub-command has, and that has another name.
    #[test]
    fn words_lead_to_what_is_there() {
        let grammar = grammar();
        let options: Vec<_> = grammar.get_subcommands().flat_map(|command| command.get_arguments()).collect();
        let find = |name: &'static str| options.iter().filter(move |option| option.get_long() == Some(name));
        for (words, names) in OPTIONS {
            for name in *names {
                assert!(find(name).next().is_some(), "{words}: no --{name}");
            }
        }
        for (name, words, value) in VALUES {
            let has = |word: &str| {
                find(name).any(|option| option.get_possible_values().iter().any(|known| known.matches(word, false)))
            };
            assert!(has(value), "--{name} {value}");
            assert!(!words.split(' ').any(has), "{words}: a value of --{name}");
        }
        for (name, option) in LISTS {
            let command = grammar.find_subcommand(name).expect(name);
            assert!(command.get_arguments().any(|argument| argument.get_long() == option.strip_prefix("--")), "{name}");
        }
    }
}
