//! The command-line arguments that must be the same in all processes that make parts of one output.

use std::any::Any;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::command::options::{IndexList, Operand};
use crate::container::chunk_sides::SidesRule;
use crate::opening::located::{Located, Place};
use crate::opening::remote::version_at;
use crate::storage::platform::same_file;
use crate::storage::requests::RequestOptions;
use crate::storage::targets::parts::Record;
use crate::storage::targets::stage;
use crate::storage::targets::target::Target;

/// Arguments that do not change the content of the output, so parts may differ in them.
const NOT_COMPARED_BY_PARTS: [&str; 14] = [
    "part",
    "finish",
    "threads",
    "memory",
    "output",
    "restart",
    "quiet",
    "verbose",
    "dry_run",
    "explain",
    "explain_json",
    "no_clobber",
    "timeout",
    "no_sign_request",
];

/// The arguments that matter beyond their sub-command.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    command: String,
    typed: Vec<Argument>,
    pub(crate) is_quiet: bool,
}

#[derive(Clone, Debug)]
struct Argument {
    key: String,
    values: Vec<ArgumentValue>,
}

#[derive(Clone, Debug)]
enum ArgumentValue {
    Text(String),
    /// An operand, or the file of a list.
    Operand {
        name: Option<String>,
        located: Located,
    },
}

impl Arguments {
    /// Collects arguments only for `--part`, `--finish` and `--from`.
    pub(crate) fn of(matches: &ArgMatches, sub_command: fn(&str) -> Option<Command>) -> Self {
        let Some((name, matches)) = matches.subcommand() else { return Self::default() };
        let is_set = |id| matches.try_get_one(id).ok().flatten().copied().unwrap_or_default();
        let is_quiet = is_set("quiet") || is_set("summary");
        if !["part", "finish", "from"].iter().any(|id| matches.try_contains_id(id).is_ok_and(|given| given)) {
            return Self { is_quiet, ..Self::default() };
        }
        let mut found = Self { command: name.to_owned(), is_quiet, ..Self::default() };
        let grammar = sub_command(name);
        for arg in grammar.iter().flat_map(Command::get_arguments) {
            let id = arg.get_id().as_str();
            if NOT_COMPARED_BY_PARTS.contains(&id) || matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let raw: Vec<_> = matches.try_get_raw(id).ok().flatten().into_iter().flatten().collect();
            // typing the default is the same as omitting the option
            if arg.get_action().takes_values() && raw == arg.get_default_values() {
                continue;
            }
            let operands = values::<Operand>(matches, id).into_iter();
            let operands = operands.map(|Operand { name, located, .. }| ArgumentValue::Operand { name, located });
            let lists = values::<IndexList>(matches, id).into_iter().map(|list| match list {
                IndexList::File(path) => ArgumentValue::Operand { name: None, located: Located::from_path(path) },
                IndexList::List(numbers) => {
                    ArgumentValue::Text(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
                }
            });
            let sides = values::<SidesRule>(matches, id).into_iter();
            let sides = sides.map(|sides| ArgumentValue::Text(sides.to_string()));
            let mut values: Vec<_> = operands.chain(lists).chain(sides).collect();
            if values.is_empty() && arg.get_action().takes_values() {
                values.extend(raw.into_iter().map(|text| ArgumentValue::Text(text.to_string_lossy().into_owned())));
            }
            found.typed.push(Argument { key: key_of(arg), values });
        }
        found
    }

    /// False without `--part`, `--finish` and `--from`.
    pub(crate) fn reads_stdin(&self) -> bool {
        let is_stdin =
            |value: &ArgumentValue| matches!(value, ArgumentValue::Operand { located, .. } if located.is_stdin());
        self.typed.iter().flat_map(|argument| &argument.values).any(is_stdin)
    }

    pub(crate) fn refuse_stdin(&self) -> Result<()> {
        ensure!(!self.reads_stdin(), "--part: standard input cannot be read by every part: name a file");
        Ok(())
    }

    /// Records operands by real path, suffix and a stamp that changes with the file, and inline JSON without blanks.
    pub(crate) fn record(&self, of: usize, target: &Target, requests: RequestOptions) -> Result<Record> {
        let mut record = Record::default();
        record.add("tensorop", Some(env!("CARGO_PKG_VERSION")), None);
        record.add("command", Some(&self.command), None);
        record.add("--part", Some(&format!("K/{of}")), None);
        let output = target.canonical().with_context(|| target.label().to_owned())?;
        for Argument { key, values } in &self.typed {
            if values.is_empty() {
                record.add(key, None, None);
            }
            for value in values {
                let (name, located) = match value {
                    ArgumentValue::Text(text) => {
                        record.add(key, Some(text), None);
                        continue;
                    }
                    ArgumentValue::Operand { name, located } => (name, located),
                };
                let name = name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
                let (value, stamp) = match &located.place {
                    Place::Json(text) => (without_blanks(text), None),
                    Place::Object(address) => {
                        let shown = located.without_secrets();
                        ensure!(
                            !target.overlaps(address),
                            "--part: the operand {shown} overlaps {}: parts would read what other parts write",
                            target.label()
                        );
                        let version = version_at(address, requests).with_context(|| format!("{key} {shown}"))?;
                        (shown, Some(version))
                    }
                    _ => file_recorded(located, key, target, output.as_deref())?,
                };
                record.add(key, Some(&(name + &value)), stamp.as_deref());
            }
        }
        Ok(record)
    }
}

fn file_recorded(
    located: &Located,
    key: &str,
    target: &Target,
    output: Option<&Path>,
) -> Result<(String, Option<String>)> {
    let label = || format!("{key} {}", located.without_secrets());
    let path = located.typed();
    let file = located.file().unwrap_or_else(|| path.to_owned());
    let found = fs::metadata(&file).with_context(label)?;
    let is_stored = found.is_file() || found.is_dir();
    ensure!(is_stored, "--part: {} cannot be read by every part: name a file", label());
    let real = fs::canonicalize(&file).with_context(label)?;
    if let Some(output) = output {
        refuse_own(target, output, path, &real)?;
    }
    let stamp = stage::stamp(&real).with_context(label)?;
    // machines may mount the output's folder under different names, so paths inside it are relative
    let from_there = output.and_then(Path::parent).and_then(|folder| real.strip_prefix(folder).ok());
    let behind = &path.as_os_str().as_encoded_bytes()[file.as_os_str().len()..];
    let value = format!("{}{}", text_of(from_there.unwrap_or(&real)), String::from_utf8_lossy(behind));
    Ok((value, Some(stamp)))
}

fn refuse_own(target: &Target, output: &Path, path: &Path, real: &Path) -> Result<()> {
    let (label, path) = (target.label(), path.display());
    let found = fs::metadata(real).with_context(|| path.to_string())?;
    if real == output || target.existing().is_some_and(|existing| same_file(existing, &found)) {
        bail!("--part: {path} is both an operand and the output: parts would read what other parts write");
    }
    ensure!(!output.starts_with(real), "--part: {label} is inside the operand {path}, which parts would change");
    ensure!(!real.starts_with(output), "--part: the operand {path} is inside {label}, which is replaced");
    Ok(())
}

fn key_of(arg: &Arg) -> String {
    match arg.get_long() {
        Some(long) => format!("--{long}"),
        None => {
            let name = arg.get_value_names().and_then(<[_]>::first).map_or(arg.get_id().as_str(), |name| name.as_str());
            name.trim_start_matches("[NAME=]").to_owned()
        }
    }
}

/// Different paths never give the same text.
fn text_of(path: &Path) -> String {
    path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned)
}

fn without_blanks(json: &str) -> String {
    let (mut in_string, mut is_escaped) = (false, false);
    let keep = |&c: &char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = in_string && c == '\\' && !is_escaped;
        in_string ^= ends;
        in_string || !c.is_ascii_whitespace()
    };
    json.chars().filter(keep).collect()
}

fn values<T: Any + Clone + Send + Sync>(matches: &ArgMatches, id: &str) -> Vec<T> {
    matches.try_get_many(id).ok().flatten().into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{grammar, sub_command};

    fn arguments(line: &str) -> Arguments {
        let words = std::iter::once("tensorop").chain(line.split(' '));
        Arguments::of(&grammar().try_get_matches_from(words).expect("a command line"), sub_command)
    }

    fn typed(line: &str) -> String {
        let Arguments { command, typed, .. } = arguments(line);
        let values = |values: Vec<ArgumentValue>| {
            values.into_iter().map(|value| match value {
                ArgumentValue::Text(text) => text,
                ArgumentValue::Operand { name, located } => {
                    format!("{}<{}>", name.map(|name| name + "=").unwrap_or_default(), located.without_secrets())
                }
            })
        };
        let typed = typed.into_iter().flat_map(|Argument { key, values: all }| [key].into_iter().chain(values(all)));
        [command].into_iter().chain(typed).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn arguments_of_parts() {
        let same = [
            "slice a.npy --part 1/4 -o out.npy --at :1 --threads=3 -q",
            "slice a.npy --finish=4 --at :1 -oout.npy --dry-run",
            "slice --at :1 -qo out.npy a.npy --threads 3 --part 2/4 --restart",
            "slice --at :1 -o out.npy a.npy --no-clobber --part 3/4 --skip-rows 0",
        ];
        for line in same {
            assert_eq!(typed(line), "slice DATA <a.npy> --at :1", "{line}");
        }
        let rows = [
            (
                "slice a.npy --at :1 --finish 2 --byte-order big --compress",
                "slice DATA <a.npy> --at :1 --byte-order big --compress",
            ),
            ("slice a.npy --start [0,1] --stop +2,3 --finish 2", "slice DATA <a.npy> --start 0,1 --stop 2,3"),
            ("slice a.npy --start s.npy --stop 2 --finish 2", "slice DATA <a.npy> --start <s.npy> --stop 2"),
            (
                "convert x=a.npy [1] --finish 2 --metadata a=b --metadata c=d",
                "convert IN x=<a.npy> <[1]> --metadata a=b c=d",
            ),
            ("scatter-nd a.npy [[1]] 5 --finish 2", "scatter-nd DATA <a.npy> INDICES <[[1]]> UPDATES <5>"),
        ];
        for (line, expected) in rows {
            assert_eq!(typed(line), expected, "{line}");
        }
        assert_eq!(without_blanks("{\"a b\\\" \": [1,\n 2 ]}"), "{\"a b\\\" \":[1,2]}");
    }

    /// A new option belongs in this list if it changes the output, and otherwise in [`NOT_COMPARED_BY_PARTS`].
    #[test]
    fn each_option_is_relevant_to_parts_or_not() {
        let relevant = "add after allow_zero at axes axis batch_dims before byte_order cast chunks codec compress data delimiter \
            dequantize dims dtype edgeitems equal_parts exclude fill flatten from group in_place indices inputs lengths linewidth \
            lossy max_shard_size metadata missing mode names names_of no_initial no_metadata on_duplicate only opset order \
            out_of_range packed precision prefix_names reduction remove_old_shards rename repeats saturate shape shards shift skip_rows squeeze stack \
            start step stop store_empty strict threshold to unsqueeze updates where";
        let found: std::collections::BTreeSet<_> = grammar()
            .get_subcommands()
            .filter(|command| command.get_arguments().any(|arg| arg.get_id() == "part"))
            .flat_map(|command| command.get_arguments().map(|arg| arg.get_id().to_string()).collect::<Vec<_>>())
            .filter(|id| !NOT_COMPARED_BY_PARTS.contains(&&**id))
            .collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>().join(" "), relevant);
    }

    #[test]
    fn operands_are_recognised() {
        let rows: [(&str, &[&str], bool); 7] = [
            ("slice-scatter a.npy - --at : --from csv", &["a.npy", "-"], true),
            ("diff a.npy - --from csv", &["a.npy", "-"], true),
            ("convert x=- b.npy --from csv", &["-", "b.npy"], true),
            ("slice 0.npy --part 1/2 --start 0 --stop stop.npy --to npy", &["0.npy", "stop.npy"], false),
            ("scatter-update a.npy [0] - --axis 0 --finish 3", &["a.npy", "[0]", "-"], true),
            ("convert x=a.npy b.npy --part 1/2 --rename a.npy=b.npy", &["a.npy", "b.npy"], false),
            ("scatter-nd a.zarr i.npy u.npz:u --part 1/2", &["a.zarr", "i.npy", "u.npz:u"], false),
        ];
        for (line, operands, reads_stdin) in rows {
            let found = arguments(line);
            let shown = found.typed.iter().flat_map(|argument| &argument.values).filter_map(|value| match value {
                ArgumentValue::Operand { located, .. } => Some(located.without_secrets()),
                ArgumentValue::Text(_) => None,
            });
            assert_eq!(shown.collect::<Vec<_>>(), operands, "{line}");
            assert_eq!(found.reads_stdin(), reads_stdin, "{line}");
        }
    }
}
