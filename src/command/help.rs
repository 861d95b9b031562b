//! Keeps the lines of examples in the help: a command that is broken in its middle cannot be copied.
//!
//! clap wraps all of a help at blanks and cannot be told to leave a text as it is. So the blanks of an example are replaced
//! by another character while clap lays the help out.

use clap::Command;

/// The character that replaces a blank at which no line may be broken. No help has it otherwise.
const UNBROKEN: &str = "\u{a0}";

/// The beginning of each line of an example.
const EXAMPLE: &str = "  tensorop ";

/// Returns the grammar with examples that clap does not wrap.
pub(super) fn unbroken(mut grammar: Command) -> Command {
    if let Some(help) = grammar.get_after_long_help() {
        let text = help.to_string();
        let lines = text.lines().map(|line| match line.starts_with(EXAMPLE) {
            true => line.replace(' ', UNBROKEN),
            false => line.to_owned(),
        });
        grammar = grammar.after_long_help(lines.collect::<Vec<_>>().join("\n"));
    }
    grammar.mut_subcommands(unbroken)
}

/// Returns the text of a help as it is shown.
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
