//! The sub-command `man`, which makes manual pages from the grammar of the command line.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Command, ValueHint};

use super::help::Group;
use super::options::parse_path;
use super::process::io::{Io, Outcome};

/// Write the man pages
///
/// Writes one page for the program and one for each sub-command: tensorop.1, tensorop-slice.1, ... Without FOLDER the page
/// of the program is printed.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Man {
    /// The folder to write them to; it is made if it is missing
    #[arg(value_name = "FOLDER", value_parser = parse_path(), value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  tensorop man ~/.local/share/man/man1
  tensorop man | man -l -";

impl Man {
    pub(super) fn run(&self, io: &Io, grammar: Command, groups: &[Group]) -> Result<Outcome> {
        let mut grammar = grammar.disable_help_subcommand(true);
        grammar.build();
        let Some(folder) = self.folder.as_deref().filter(|folder| *folder != Path::new("-")) else {
            io.stdout.clone().write_all(&page(&grammar, groups)?).context("standard output")?;
            return Ok(Outcome::Done);
        };
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
        for command in std::iter::once(&grammar).chain(grammar.get_subcommands()) {
            let path = folder.join(clap_mangen::Man::new(command.clone()).get_filename());
            fs::write(&path, page(command, groups)?)
                .with_context(|| format!("{}: cannot be written", path.display()))?;
        }
        Ok(Outcome::Done)
    }
}

fn page(command: &Command, groups: &[Group]) -> Result<Vec<u8>> {
    let man = clap_mangen::Man::new(command.clone())
        .source(concat!("tensorop ", env!("CARGO_PKG_VERSION")))
        .manual("tensorop");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        writeln!(out, ".SH SUBCOMMANDS")?;
    }
    for group in groups.iter().filter(|_| command.has_subcommands()) {
        let names = group.names.iter().filter_map(|name| command.find_subcommand(name).cloned());
        let of_group = Command::new("tensorop").disable_help_subcommand(true);
        let of_group = of_group.subcommand_help_heading(group.heading).subcommands(names);
        let mut section = Vec::new();
        clap_mangen::Man::new(of_group).render_subcommands_section(&mut section)?;
        // cuts off the definitions that clap_mangen writes before the section
        let section = String::from_utf8(section)?;
        let (_, list) = section.split_once(".SH ").context("a section without a heading")?;
        write!(out, ".SS {list}")?;
    }
    // clap_mangen would join the lines of examples
    let help = command.get_after_long_help().or_else(|| command.get_after_help()).map(ToString::to_string);
    let mut section = "";
    for paragraph in help.unwrap_or_default().split("\n\n") {
        let examples = paragraph.strip_prefix("Examples:").map(|lines| lines.trim_matches('\n'));
        let (heading, text) = examples.map_or(("NOTES", paragraph.trim()), |lines| ("EXAMPLES", lines));
        if text.is_empty() {
            continue;
        }
        let begin = if section == heading { ".PP".to_owned() } else { format!(".SH {heading}") };
        let lines = text.lines().map(roff).collect::<Vec<_>>().join("\n");
        // indented lines are a list or an example
        match text.lines().any(|line| line.starts_with(' ')) {
            true => writeln!(out, "{begin}\n.nf\n{lines}\n.fi")?,
            false => writeln!(out, "{begin}\n{lines}")?,
        }
        section = heading;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut out)?;
    }
    Ok(out)
}

/// Escapes a line of text for roff.
fn roff(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
