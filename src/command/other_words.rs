//! The words of NumPy, PyTorch and ONNX for options and values that have other names here.

/// Words, and the possible options, the likeliest first. [`AND`] separates two options for one word.
const OPTIONS: &[(&str, &[&str])] = &[
    ("dim axis axes dims", &["axis", "axes", "by-axis"]),
    ("perm permutation", &["axes"]),
    ("reps repeat repeats times", &["repeats"]),
    ("sections num-sections indices-or-sections num-outputs num-splits chunks", &["parts"]),
    ("split split-sizes split-lengths sizes", &["lengths"]),
    ("width pad-width padding pads", &["before and after"]),
    ("pads-begin", &["before"]),
    ("pads-end", &["after"]),
    ("value constant-value constant-values constant pad-value", &["fill"]),
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
    ("tol tolerance eps epsilon abs abs-tol absolute-tolerance", &["atol"]),
    ("rel rel-tol relative-tolerance", &["rtol"]),
    ("new-axis newaxis", &["stack"]),
    ("max-ulp maxulp", &["ulp"]),
    ("include filter select keys", &["only"]),
    ("ignore skip except", &["exclude"]),
    ("header headers skiprows", &["skip-rows"]),
    ("sep separator delim", &["delimiter"]),
    ("jobs workers num-threads", &["threads"]),
    ("max-memory mem", &["memory"]),
];

const OPERANDS: &[(&str, &str)] = &[("index indices", "INDICES"), ("src source updates", "UPDATES")];

/// Words for options without effect, the option that sub-commands have instead, and the tip.
const NEEDLESS: &[(&str, &str, &str)] =
    &[("equal-nan equalnan", "nan-differs", "NaN equals NaN already: --nan-differs is the opposite")];

const AND: &str = " and ";

/// Option, words for a value, and the value.
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

/// `typed` has no hyphens in front.
pub(super) fn tip_for_option(
    typed: &str,
    has_option: impl Fn(&str) -> bool,
    has_operand: impl Fn(&str) -> bool,
) -> Option<String> {
    let word = normalised(typed);
    let is_meant = |words: &str| words.split(' ').any(|known| known == word);
    let options = OPTIONS.iter().filter(|(words, _)| is_meant(words)).flat_map(|(_, options)| *options);
    let mut options = options.filter(|names| names.split(AND).all(&has_option));
    let operand = || OPERANDS.iter().find(|(words, operand)| is_meant(words) && has_operand(operand));
    let needless = || NEEDLESS.iter().find(|(words, option, _)| is_meant(words) && has_option(option));
    (options.next().map(|names| use_options(names, "")))
        .or_else(|| operand().map(|(_, operand)| format!("{operand} is an operand")))
        .or_else(|| needless().map(|(.., tip)| (*tip).to_owned()))
}

fn use_options(names: &str, value: &str) -> String {
    let typed = |name| format!("--{name} {value}").trim_end().to_owned();
    format!("use {}", names.split(AND).map(typed).collect::<Vec<_>>().join(AND))
}

pub(super) fn value_for(option: &str, typed: &str, has_value: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = normalised(typed);
    let rows = VALUES.iter().filter(|(of, words, _)| *of == option && words.split(' ').any(|known| known == word));
    rows.map(|(_, _, value)| *value).find(|value| has_value(value))
}

fn normalised(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

/// The options for lists that users of other tools type after the tensor.
const LISTS: &[(&str, &str)] = &[
    ("transpose", "axes"),
    ("reshape", "shape"),
    ("broadcast", "shape"),
    ("tile", "repeats"),
    ("roll", "shift"),
    ("split", "parts"),
    ("slice", "at"),
    ("show", "at"),
    ("pad", "before and after"),
];

pub(super) fn is_list(text: &str) -> bool {
    text.split(',').all(|item| item.trim().parse::<f64>().is_ok())
}

/// `typed` was parsed as an extra operand, or as an option because it begins with a hyphen.
pub(super) fn tip_for_list(sub_command: &str, typed: &str) -> Option<String> {
    let Some((_, option)) = LISTS.iter().find(|(name, _)| *name == sub_command) else {
        return (typed.starts_with('-') && is_list(typed)).then(|| format!("write a list as '[{typed}]'"));
    };
    let list = typed.trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let is_number = |item: &str| item.trim().parse::<i64>().is_ok();
    let is_slice = |item: &str| item.split(':').all(|part| part.trim().is_empty() || is_number(part));
    let takes_slices = *option == "at";
    let fits = list.split(',').all(|item| if takes_slices { is_slice(item) } else { is_number(item) });
    (fits && !list.is_empty()).then(|| use_options(option, list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::grammar;
    use crate::command::usage::is_operand;

    /// Each word must lead to an existing option or value of another name.
    #[test]
    fn words_lead_to_names() {
        let grammar = grammar();
        let options: Vec<_> = grammar.get_subcommands().flat_map(|command| command.get_arguments()).collect();
        let find = |name: &'static str| options.iter().filter(move |option| option.get_long() == Some(name));
        for (words, names) in OPTIONS {
            for name in names.iter().flat_map(|names| names.split(AND)) {
                assert!(find(name).next().is_some(), "{words}: no --{name}");
            }
        }
        for (words, name, _) in NEEDLESS {
            assert!(find(name).next().is_some(), "{words}: no --{name}");
        }
        for (words, name) in OPERANDS {
            assert!(options.iter().any(|option| is_operand(option, name)), "{words}: no {name}");
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
            for option in option.split(AND) {
                assert!(command.get_arguments().any(|argument| argument.get_long() == Some(option)), "{name}");
            }
        }
    }
}
