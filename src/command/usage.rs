//! Formats usage errors: the message, the usage and a hint at `--help`, or at the option that other programs call by
//! the typed word.
//!
//! clap's text has paragraphs and lists. Here each paragraph becomes one line, for `grep` and logs.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{NAMES, grammar};

/// Typed values may be of any length.
const LONGEST: usize = 400;

const HELP: &str = "For more information, try '--help'.";

pub(super) fn short(mut error: clap::Error, args: &[OsString]) -> String {
    // line ends in typed text would look like those of paragraphs, and an unfinished escape sequence would swallow part
    // of the message
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidSubcommand, ContextKind::InvalidValue] {
        if let Some(ContextValue::String(typed)) = error.get(kind) {
            let plain = StyledStr::from(typed.replace('\n', " ")).to_string();
            error.insert(kind, ContextValue::String(plain));
        }
    }
    let mut elsewhere = None;
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        elsewhere = use_instead(typed);
        let near = similar(typed);
        // clap's list has the best last, and has no end
        error.remove(ContextKind::SuggestedSubcommand);
        if !near.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
    // clap suggests `--` before an unknown option, which nobody means here
    error.remove(ContextKind::Suggested);
    let text = error.render().to_string();
    let (mut first, mut tips, mut usage) = (String::new(), Vec::new(), None);
    for paragraph in text.split("\n\n").map(str::trim) {
        match paragraph {
            HELP => {}
            _ if paragraph.starts_with("Usage: ") => usage = Some(paragraph),
            _ if paragraph.starts_with("tip: ") => tips.extend(paragraph.lines().map(str::trim)),
            _ => first += &format!("{paragraph} "),
        }
    }
    if let Some(instead) = elsewhere {
        // similar names would mislead
        tips = vec![instead];
    }
    let here = here(&error, usage, args);
    if let Some(here) = &here {
        // similar names would mislead
        tips = vec![here];
    }
    if is_list_behind_squeeze(&error, usage) {
        tips.push("(the axes of --squeeze follow a '=', as in --squeeze=0)");
    }
    if is_whole_slice(&error, usage) {
        tips.push("to look at a tensor, use `tensorop show FILE`");
    }
    let first = if tips.is_empty() { first } else { format!("{}; {}", first.trim(), tips.join(" ")) };
    message(&first, usage)
}

/// Names of sub-commands in other tools, and the command to use here.
const INSTEAD: &[(&str, &str)] = &[
    ("take index-select embedding lookup", "use tensorop gather DATA INDICES --axis N"),
    ("scatter index-put put", "use scatter-update (places of one axis) or scatter-nd (index tuples)"),
    ("scatter-add index-add", "use tensorop scatter-nd DATA INDICES UPDATES --reduction add"),
    ("take-along-axis takealongaxis", "use tensorop gather-elements DATA INDICES --axis N"),
    ("put-along-axis scatter-reduce", "use tensorop scatter-elements DATA INDICES UPDATES --axis N"),
    ("cast astype to dtype quantize", "use tensorop convert FILE --cast DTYPE -o OUT"),
    ("copy cp save export import extract merge rename repack pack", "use tensorop convert IN... -o OUT"),
    ("concatenate cat vstack hstack join", "use tensorop concat A.npy B.npy -o ALL.npy (--axis N for another axis)"),
    ("stack", "use tensorop concat A.npy B.npy --stack -o ALL.npy"),
    ("append", "use tensorop concat DATA ROWS --in-place"),
    ("permute swapaxes moveaxis t", "use tensorop transpose DATA --axes 0,2,1 (without --axes all are reversed)"),
    (
        "view squeeze unsqueeze flatten ravel expand-dims newaxis",
        "use tensorop reshape DATA --shape 2,-1 (or --squeeze, --unsqueeze AXES, --flatten AXIS)",
    ),
    ("crop narrow select get head tail subset", "use tensorop slice DATA --at SLICES"),
    ("flip reverse rot90", "use tensorop slice DATA --at ::-1 (a step of -1 for each axis that turns round)"),
    ("repeat", "use tensorop tile DATA --repeats 2,1"),
    ("expand broadcast-to expand-as", "use tensorop broadcast DATA --shape 8,1024"),
    ("chunk unbind unstack array-split tensor-split vsplit hsplit", "use tensorop split DATA --parts N -o 'OUT-*.npy'"),
    ("shift rotate circshift fftshift", "use tensorop roll DATA --shift N --axes N"),
    ("frame border extend", "use tensorop pad DATA --before 1,1 --after 1,1"),
    (
        "set fill assign patch replace overwrite edit where",
        "use tensorop slice-scatter DATA UPDATES --at SLICES (or --fill VALUE)",
    ),
    ("update", "use tensorop scatter-update DATA INDICES UPDATES --axis N"),
    ("print display dump look less", "use tensorop show FILE"),
    ("image plot draw render heatmap", "use tensorop show FILE --image"),
    ("compare cmp equal allclose verify", "use tensorop diff EXPECTED ACTUAL"),
    ("test run conformance", "use tensorop check PATH (tests of operators)"),
    ("list ls keys stat describe inspect header meta summary", "use tensorop info FILE"),
    ("stats min max mean std histogram hist nan nans", "use tensorop info FILE --stats (--histogram, --by-axis N)"),
    ("hash sha256 sha256sum checksum", "use tensorop info FILE --hash"),
];

fn use_instead(typed: &str) -> Option<&'static str> {
    let name = typed.to_lowercase().replace('_', "-");
    INSTEAD.iter().find(|(names, _)| names.split(' ').any(|known| known == name)).map(|(_, instead)| *instead)
}

/// Up to three sub-commands: those that a slip or two makes of the typed word, and then those that begin with it.
fn similar(typed: &str) -> Vec<String> {
    let name = typed.to_lowercase().replace('_', "-");
    let slips = |known: &str| strsim::osa_distance(&name, known);
    let is_begun = |known: &str| !name.is_empty() && known.starts_with(&name);
    let most = name.chars().count().div_ceil(3);
    let mut near: Vec<_> = NAMES.iter().filter(|known| slips(known) <= most || is_begun(known)).collect();
    near.sort_by_key(|known| if slips(known) <= most { slips(known) } else { usize::MAX });
    near.into_iter().take(3).map(|known| (*known).to_owned()).collect()
}

fn here(error: &clap::Error, usage: Option<&str>, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = usage?.strip_prefix("Usage: tensorop ")?.split(' ').next()?;
            let Some(option) = argument.strip_prefix("--") else {
                return tip_for_list(name, &whole_list(argument, args));
            };
            let grammar = grammar();
            let options: Vec<_> = grammar.find_subcommand(name)?.get_arguments().collect();
            let has_option = |name: &str| options.iter().any(|option| option.get_long() == Some(name));
            let has_operand = |name: &str| options.iter().any(|option| is_operand(option, name));
            let option = option.split('=').next().unwrap_or_default();
            tip_for_option(option, has_option, has_operand)
        }
        ErrorKind::InvalidValue => {
            let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return None };
            let option = argument.strip_prefix("--")?.split([' ', '=']).next()?;
            let has_value = |value: &str| match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(valid)) => valid.iter().any(|valid| valid == value),
                _ => false,
            };
            value_for(option, value, has_value).map(|value| format!("use --{option} {value}"))
        }
        _ => None,
    }
}

pub(super) fn is_operand(argument: &clap::Arg, name: &str) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    argument.is_positional() && names.iter().any(|known| known.as_str() == name)
}

/// If a list begins with a hyphen, clap names only its first two characters.
fn whole_list(argument: &str, args: &[OsString]) -> String {
    let is_cut = |word: &str| argument.starts_with('-') && word.starts_with(argument) && is_list(word);
    let words: Vec<_> = args.iter().filter_map(|arg| arg.to_str()).collect();
    match words.iter().skip(1).position(|word| *word == argument || is_cut(word)) {
        Some(at) if is_list(words[at + 1]) => {
            words[at + 1..].iter().take_while(|word| is_list(word)).copied().collect::<Vec<_>>().join(",")
        }
        Some(_) | None => argument.to_owned(),
    }
}

/// Users who omit the slice probably want to see the tensor.
fn is_whole_slice(error: &clap::Error, usage: Option<&str>) -> bool {
    let is_slice = usage.is_some_and(|usage| usage.contains("tensorop slice "));
    let missing = error.get(ContextKind::InvalidArg);
    let is_slices = matches!(missing, Some(ContextValue::Strings(missing)) if matches!(&missing[..], [one] if one.contains("--at")));
    is_slice && is_slices && error.kind() == ErrorKind::MissingRequiredArgument
}

/// The value of `--squeeze` is optional, so it needs `=`.
fn is_list_behind_squeeze(error: &clap::Error, usage: Option<&str>) -> bool {
    let is_reshape = usage.is_some_and(|usage| usage.contains("tensorop reshape "));
    let is_list = |typed: &str| typed.split(',').all(|number| number.parse::<i64>().is_ok());
    let unknown = error.get(ContextKind::InvalidArg);
    is_reshape
        && error.kind() == ErrorKind::UnknownArgument
        && matches!(unknown, Some(ContextValue::String(typed)) if is_list(typed))
}

pub(super) fn with_file(lines: &str, args: &[OsString]) -> String {
    let is_file = |arg: &&OsString| arg.as_encoded_bytes().starts_with(b"-") && Path::new(arg).is_file();
    match (args.iter().skip(1).find(is_file), lines.split_once('\n')) {
        (Some(file), Some((first, rest))) => {
            format!("{first}; write ./{} for the file of that name\n{rest}", one_line(&file.to_string_lossy()))
        }
        _ => lines.to_owned(),
    }
}

pub(super) fn message(first: &str, usage: Option<&str>) -> String {
    let mut first = one_line(first);
    if let Some((end, _)) = first.char_indices().nth(LONGEST) {
        first.truncate(end);
        first.push_str("...");
    }
    let lines = std::iter::once(first).chain(usage.map(one_line)).chain(std::iter::once(HELP.to_owned()));
    lines.map(|line| line + "\n").collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

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
    ("slice slices index indices", &["at", "lengths"]),
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

    /// A name would never be reached if it were a sub-command or occurred twice.
    #[test]
    fn names_of_other_tools() {
        let names: Vec<_> = INSTEAD.iter().flat_map(|(names, _)| names.split(' ')).collect();
        for (n, name) in names.iter().enumerate() {
            assert!(!crate::command::NAMES.contains(name), "{name} is a sub-command");
            assert!(!names[..n].contains(name), "{name} occurs twice");
        }
    }

    #[test]
    fn usage_errors() {
        let slice = Some("Usage: tensorop slice [OPTIONS] <DATA> <--start <I> --stop <I>|--at <SLICES>>");
        let long = "x".repeat(500);
        let cut = format!("error: invalid value '{}...", "x".repeat(LONGEST - "error: invalid value '".len()));
        let rows: &[(&[&str], &str, Option<&str>)] = &[
            (
                &["slic"],
                "error: unrecognized subcommand 'slic'; tip: some similar subcommands exist: 'slice', 'split', 'slice-scatter'",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["Slcie"],
                "error: unrecognized subcommand 'Slcie'; tip: a similar subcommand exists: 'slice'",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["conv"],
                "error: unrecognized subcommand 'conv'; tip: a similar subcommand exists: 'convert'",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["scatt"],
                "error: unrecognized subcommand 'scatt'; tip: some similar subcommands exist: 'scatter-update', \
                 'scatter-nd', 'scatter-elements'",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (&["xyzzy"], "error: unrecognized subcommand 'xyzzy'", Some("Usage: tensorop <COMMAND>")),
            (
                &["astype", "a"],
                "error: unrecognized subcommand 'astype'; use tensorop convert FILE --cast DTYPE -o OUT",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["Index_Select", "a"],
                "error: unrecognized subcommand 'Index_Select'; use tensorop gather DATA INDICES --axis N",
                Some("Usage: tensorop <COMMAND>"),
            ),
            (
                &["slice", "a", "--at", ":", "--dtpye", "f"],
                "error: unexpected argument '--dtpye' found; tip: a similar argument exists: '--dtype'",
                slice,
            ),
            (&["slice", "a", "-x"], "error: unexpected argument '-x' found", slice),
            (
                &["slice", "a"],
                "error: the following required arguments were not provided: <--start <I>|--at <SLICES>>; to look at a \
                 tensor, use `tensorop show FILE`",
                slice,
            ),
            (
                &["slice", "a", "--at", ":", "--at", ":"],
                "error: the argument '--at <SLICES>' cannot be used multiple times",
                slice,
            ),
            (
                &["slice", "a", "--at", ":", "--start", "0", "--stop", "1"],
                "error: the argument '--at <SLICES>' cannot be used with: --start <I> --stop <I>",
                slice,
            ),
            (
                &["convert", "a", "--byte-order", "litle"],
                "error: invalid value 'litle' for '--byte-order <ORDER>' [possible values: little, big]; tip: a similar \
                 value exists: 'little'",
                None,
            ),
            (
                &["diff", "a", "b", "--ulp", "1\x1b[1m \n5\x1b"],
                "error: invalid value '1 5' for '--ulp <N>': expected a whole number, 0 or more",
                None,
            ),
            (&["diff", "a", "b", "--ulp", &long], &cut, None),
        ];
        for (args, first, usage) in rows {
            let args = std::iter::once("tensorop").chain(args.iter().copied());
            let error = crate::command::parse(args.map(Into::into), 100).err();
            let Some(crate::command::EarlyExit::Usage(shown)) = error else { panic!("{first}: no usage error") };
            let lines = [Some(*first), *usage, Some(HELP)];
            assert_eq!(shown.lines().collect::<Vec<_>>(), lines.into_iter().flatten().collect::<Vec<_>>());
        }
    }

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
