//! Lays the help of the command line out: sub-commands are in groups, short help fits one screen, examples keep their lines,
//! formats are listed from their table.
//!
//! clap wraps all of a help at blanks and cannot be told to leave a text as it is. So the blanks of an example are replaced
//! by another character while clap lays the help out.

use clap::{Arg, Command};

use crate::opening::table::Format;

/// The character that replaces a blank at which no line may be broken. No help has it otherwise.
const UNBROKEN: &str = "\u{a0}";

/// The beginning of each line of an example.
const EXAMPLE: &str = "  tensorop ";

/// The options that `-h` shows, by what clap calls them: those that most command lines are made of. It only names the others,
/// so that the help of each sub-command fits one screen.
#[rustfmt::skip]
const NEEDED_MOST: &[&str] = &[
    // which items
    "at", "start", "stop", "step", "axes", "axis", "batch_dims", "fill", "where", "in_place", "reduction", "on_duplicate",
    "shape", "before", "after", "mode", "repeats", "shift", "equal_parts", "lengths",
    // how operands are read, what is written
    "dtype", "output", "to", "dry_run", "precision", "all", "image", "range",
    // diff and info
    "atol", "rtol", "ulp", "min_cosine", "ignore_dtype", "worst", "accept", "summary", "json",
    "stats", "by_axis", "histogram", "hash", "members", "tree",
    // containers
    "cast", "only",
    // check
    "actual", "export", "class", "min_tests",
];

/// What the short help says of operands, which the long help explains beside the first of them.
const OPERANDS: &str = "Operands: a file, FILE:NAME in a container, - (standard input), or JSON '[1, 2]'\n";

/// Sub-commands that the help lists below a heading of their own.
pub(super) struct Group {
    pub heading: &'static str,
    /// Their names, in the order of the help.
    pub names: &'static [&'static str],
}

/// Returns the grammar with help that is laid out for a terminal of `width` columns, with sub-commands in their `groups`.
pub(super) fn laid_out(grammar: Command, groups: &[Group], width: usize) -> Command {
    let lines_kept = |command| shortened(unbroken(command));
    grouped(lines_kept(grammar).mut_subcommands(lines_kept).term_width(width), groups)
}

/// Returns the whole grammar with help that lists sub-commands below the headings of their groups.
///
/// clap knows one heading for all of them. So it lays out its own list, and the headings are put between the lines of that.
fn grouped(grammar: Command, groups: &[Group]) -> Command {
    let list = grammar.clone().help_template("{subcommands}").render_help();
    let heading = *grammar.get_styles().get_header();
    let heading = |text: &str| format!("{heading}{text}:{heading:#}\n");
    let mut template = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (plain, styled) in list.to_string().lines().zip(list.ansi().to_string().lines()) {
        let name = plain.split_whitespace().next();
        if let Some(group) = groups.iter().find(|group| group.names.first().copied() == name) {
            let gap = if group.names == groups[0].names { "" } else { "\n" };
            template += &format!("{gap}{}", heading(group.heading));
        }
        template += &format!("{styled}\n");
    }
    grammar.help_template(format!("{template}\n{}{{options}}{{after-help}}", heading("Options")))
}

/// Returns a command whose short help has those options only that are needed most, and the names of the others.
fn shortened(command: Command) -> Command {
    let is_other = |arg: &Arg| !arg.is_positional() && !NEEDED_MOST.contains(&arg.get_id().as_str());
    let others = command.get_arguments().filter(|arg| is_other(arg) && !arg.is_hide_set()).filter_map(Arg::get_long);
    let others: Vec<_> = others.map(|long| format!("--{long}")).collect();
    if others.is_empty() {
        return command;
    }
    let command = command.mut_args(|arg| {
        let is_other = is_other(&arg);
        arg.hide_short_help(is_other)
    });
    let others = others.join(", ");
    // what only has paths explains them itself
    let operands = if command.get_positionals().all(|arg| arg.get_id() == "paths") { "" } else { OPERANDS };
    command.after_help(format!("{operands}More options, which --help explains: {others}"))
}

/// Returns a command with examples that clap does not wrap.
fn unbroken(command: Command) -> Command {
    let Some(help) = command.get_after_long_help() else { return command };
    let text = help.to_string();
    let lines = text.lines().map(|line| match line.starts_with(EXAMPLE) {
        true => line.replace(' ', UNBROKEN),
        false => line.to_owned(),
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    command.after_long_help(lines)
}

/// Returns the text of a help as it is shown.
pub(super) fn plain(help: &str) -> String {
    help.replace(UNBROKEN, " ")
}

/// Returns the formats that are read and those that are written, as help lists them.
pub(super) fn formats() -> String {
    let row = |format: Format, help: &str| format!("  {:<13}{help}", format.argument());
    let with_header = Format::all().filter_map(|format| Some(row(format, format.reading_help()?)));
    let read = with_header.chain([row(Format::RAW, "Bytes without a header: FILE:DTYPE[DIMS]@OFFSET")]);
    let written = Format::all().filter(|format| format.is_written()).map(|format| format!(".{}", format.extension()));
    let written = written.chain([format!("NAME.{}", Format::INDEX.extension())]);
    format!(
        "Formats that are read (by content, name or --from):\n{}\n\n\
         Formats that are written (by the name after -o, or --to): {}.",
        read.collect::<Vec<_>>().join("\n"),
        written.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{GROUPS, NAMES, grammar};

    /// Returns the lines of the help that a command line asks for, on a terminal of that width.
    fn shown(args: &[&str], width: usize) -> Vec<String> {
        let args = std::iter::once("tensorop").chain(args.iter().copied());
        let help = laid_out(grammar(), GROUPS, width).try_get_matches_from(args).expect_err("a help");
        plain(&help.render().to_string()).lines().map(str::to_owned).collect()
    }

    #[test]
    fn short_help_fits_one_screen() {
        for (name, width) in NAMES.iter().flat_map(|name| [(name, 80), (name, 100)]) {
            let lines = shown(&[name, "-h"], width);
            // a usage that is wider than the terminal takes a second row
            let count: usize = lines.iter().map(|line| line.chars().count().max(1).div_ceil(width)).sum();
            assert!(count <= 50, "{name} -h has {count} lines of {width} columns:\n{}", lines.join("\n"));
        }
    }

    #[test]
    fn sub_commands_are_in_groups() {
        for (help, width) in [("-h", 100), ("--help", 100), ("--help", 60)] {
            let lines = shown(&[help], width);
            let at = |text: &str| lines.iter().position(|line| line == text).unwrap_or_else(|| panic!("no {text}"));
            let ends = GROUPS.iter().skip(1).map(|group| group.heading).chain(["Options"]);
            for (group, end) in GROUPS.iter().zip(ends) {
                let list = &lines[at(&format!("{}:", group.heading)) + 1..at(&format!("{end}:"))];
                let names = list.iter().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
                let names: Vec<_> = names.filter(|name| !name.is_empty() && *name != "help").collect();
                assert_eq!(names, group.names, "{}", lines.join("\n"));
                assert_eq!(list.last().map(String::as_str), Some(""), "a line is free above {end}");
            }
            assert_eq!(lines.iter().filter(|line| line.starts_with("  help ")).count(), 1);
        }
    }

    #[test]
    fn short_help_names_what_long_help_explains() {
        let whole = grammar();
        let mut found = Vec::new();
        for command in whole.get_subcommands() {
            let words = |help: &str| {
                let text = shown(&[command.get_name(), help], 100).join(" ");
                text.split([' ', ',', '=', '[']).map(str::to_owned).collect::<Vec<_>>()
            };
            let (short, long) = (words("-h"), words("--help"));
            let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
            for option in shown.filter_map(Arg::get_long) {
                let option = format!("--{option}");
                for (help, words) in [("-h", &short), ("--help", &long)] {
                    assert!(words.contains(&option), "{} {help} says nothing of {option}", command.get_name());
                }
            }
            found.extend(command.get_arguments().map(|arg| arg.get_id().as_str()));
        }
        let unknown: Vec<_> = NEEDED_MOST.iter().filter(|id| !found.contains(id)).collect();
        assert!(unknown.is_empty(), "no sub-command has {unknown:?}");
    }

    #[test]
    fn formats_come_from_their_table() {
        let lines = shown(&["--help"], 100);
        for format in Format::all() {
            let (name, extension) = (format.argument(), format!(".{}", format.extension()));
            let is_row = |line: &&String| line.split_whitespace().next() == Some(name);
            match format.reading_help() {
                Some(help) => {
                    let row = lines.iter().find(is_row).unwrap_or_else(|| panic!("--help has no line for {name}"));
                    assert!(row.ends_with(help), "{row}");
                }
                None => assert_eq!(lines.iter().any(|line| is_row(&line)), format == Format::RAW, "{name}"),
            }
            let is_listed = |line: &String| line.split([' ', ',']).any(|word| word.trim_end_matches('.') == extension);
            let written = lines.iter().skip_while(|line| !line.starts_with("Formats that are written"));
            assert!(!format.is_written() || written.clone().any(is_listed), "{extension}");
        }
    }

    #[test]
    fn examples_stay_on_their_lines() {
        let mut examples = 0;
        for command in grammar().get_subcommands() {
            let lines = shown(&[command.get_name(), "--help"], 40);
            let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for example in help.lines().filter(|line| line.starts_with(EXAMPLE)) {
                assert!(lines.iter().any(|line| line == example), "{example}\n{}", lines.join("\n"));
                examples += 1;
            }
        }
        assert!(examples > 20, "{examples}");
    }
}
