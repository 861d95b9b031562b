//! The packages that the program and its tests are built from: their licences, duplicate versions and sources are
//! those that `deny.toml` allows. Needs cargo alone, and no network: the packages of the features that are tested are there, or
//! this would not run.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::common::{FEATURES, each};

/// The most packages that the program, without its tests, is made of; and the kernels alone, without files and program.
const MAX_PACKAGES: [(&[&str], usize); 2] = [(&[], 125), (&["--package", "tensorop-kernels"], 20)];

struct Rules(String);

impl Rules {
    fn read() -> Self {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/deny.toml")).expect("deny.toml");
        Self(text)
    }

    /// The texts between quotes in the list `key`, which in that file ends at the first `]`.
    fn list(&self, key: &str) -> Vec<&str> {
        let begin = self.0.split(&format!("\n{key} = [")).nth(1).unwrap_or_else(|| panic!("no {key} in deny.toml"));
        let inside = begin.split(']').next().unwrap_or_default();
        inside.split('"').skip(1).step_by(2).collect()
    }
}

/// Returns whether the licences allowed satisfy an SPDX expression. `/` is an old form of OR.
fn is_met(expression: &str, allowed: &[&str]) -> bool {
    let mut text = expression.replace('/', " OR ");
    // the last opening bracket has no other one inside; what is inside becomes `true` or `false`
    while let Some(begin) = text.rfind('(') {
        let Some(length) = text[begin..].find(')') else { return false };
        let inside = is_met(&text[begin + 1..begin + length], allowed);
        text.replace_range(begin..=begin + length, &inside.to_string());
    }
    let is_allowed = |licence: &str| licence == "true" || allowed.contains(&licence);
    text.split(" OR ").any(|all| all.split(" AND ").all(|licence| is_allowed(licence.trim())))
}

/// Returns the packages that `cargo tree` lists for some kinds of dependencies, each once: its name, version and licence.
fn tree(kinds: &str, more: &[&str]) -> BTreeSet<[String; 3]> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let run = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--prefix=none", "--format={p}\t{l}", "--edges", kinds])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).expect("a list");
    let package = |line: &str| {
        let (package, licence) = line.split_once('\t')?;
        let mut words = package.split(' ');
        let name = words.next().filter(|name| !name.starts_with("tensorop"))?;
        let version = words.next()?.strip_prefix('v')?;
        Some([name.to_owned(), version.to_owned(), licence.trim_end_matches(" (*)").to_owned()])
    };
    printed.lines().filter_map(package).collect()
}

#[test]
fn licences() {
    let rules = Rules::read();
    let allowed = rules.list("allow");
    each(
        tree("all", FEATURES),
        |[name, version, _]| format!("{name} {version}"),
        |[_, _, licence]| match is_met(licence, &allowed) {
            true => Ok(()),
            false => Err(format!("licence {licence:?}, expected some of {allowed:?}")),
        },
    );
}

#[test]
fn versions() {
    let rules = Rules::read();
    let skipped: Vec<&str> = rules.list("skip").into_iter().step_by(2).collect();
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for [name, version, _] in tree("all", FEATURES) {
        let major = version.split('.').next().unwrap_or_default();
        if !skipped.contains(&format!("{name}@{major}").as_str()) {
            versions.entry(name).or_default().push(version);
        }
    }
    each(
        versions,
        |(name, _)| name.clone(),
        |(_, versions)| if versions.len() == 1 { Ok(()) } else { Err(format!("in the versions {versions:?}")) },
    );
}

/// All packages but the project's own come from one registry, the one that cargo uses when none is named.
#[test]
fn sources() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("Cargo.lock");
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    each(
        lock.split("[[package]]").skip(1),
        |package| value(package, "name").unwrap_or_default(),
        |package| match (value(package, "source"), value(package, "checksum")) {
            (None, None)
                if value(package, "name").is_some_and(|name| name.starts_with("tensorop") || name == "softmax") =>
            {
                Ok(())
            }
            (Some(source), Some(_)) if source.starts_with("registry+") => Ok(()),
            (source, checksum) => Err(format!("source {source:?}, checksum {checksum:?}, expected a registry")),
        },
    );
    let from: std::collections::BTreeSet<_> =
        lock.split("[[package]]").filter_map(|package| value(package, "source")).collect();
    assert_eq!(from.len(), 1, "{from:?}");
}

/// Every package has to be trusted, so their number may not grow unnoticed.
#[test]
fn packages_are_few() {
    each(
        MAX_PACKAGES,
        |(features, _)| format!("{features:?}"),
        |(features, most)| {
            let count = tree("normal", features).len();
            eprintln!("{count} packages");
            let expected = 1..=*most;
            if expected.contains(&count) { Ok(()) } else { Err(format!("{count} packages, expected at most {most}")) }
        },
    );
}

#[test]
fn expressions_of_licences() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    let rows = [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("GPL-3.0 OR (MIT AND Apache-2.0)", true),
        ("MIT GPL-3.0", false),
    ];
    each(
        rows,
        |(expression, _)| format!("{expression:?}"),
        |&(expression, met)| {
            if is_met(expression, &allowed) == met { Ok(()) } else { Err(format!("expected {met}")) }
        },
    );
}
