//! Examples in the help that are not wrapped: a command that is broken in its middle cannot be copied.
//!
//! clap wraps all of a help at blanks and knows no text that it must leave alone. So the blanks of a command are another
//! character while clap lays the help out.

use clap::Command;

/// What stands for a blank that is no place to break a line; no help has it otherwise.
const UNBROKEN: char = '\u{a0}';

/// A line of an example begins so.
const EXAMPLE: &str = "  tensorop ";

/// The grammar, with examples that clap does not wrap.
pub(super) fn unbroken(mut grammar: Command) -> Command {
    if let Some(help) = grammar.get_after_long_help() {
        let lines = help.to_string();
        let lines = lines.lines().map(|line| match line.starts_with(EXAMPLE) {
            true => line.replace(' ', UNBROKEN.encode_utf8(&mut [0; 4])),
            false => line.to_owned(),
        });
        let help = lines.collect::<Vec<_>>().join("\n");
        grammar = grammar.after_long_help(help);
    }
    grammar.mut_subcommands(unbroken)
}

/// A help as it is shown.
pub(super) fn plain(help: &str) -> String {
    help.replace(UNBROKEN, " ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn examples_stay_on_their_lines() {
        let grammar = crate::command::grammar();
        let names: Vec<_> = grammar.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let mut examples = 0;
        for name in names {
            let narrow = super::unbroken(grammar.clone()).term_width(40);
            let shown = narrow.try_get_matches_from(["tensorop", &name, "--help"]).expect_err("a help");
            let shown = super::plain(&shown.render().to_string());
            let command = grammar.find_subcommand(&name).expect("a sub-command");
            let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for example in help.lines().filter(|line| line.starts_with(super::EXAMPLE)) {
                assert!(shown.lines().any(|line| line == example), "{example}\n{shown}");
                examples += 1;
            }
        }
        assert!(examples > 20, "{examples}");
    }
}
