//! `tensorop man` writes a page for the program and for each of its sub-commands.

use std::fs;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;

use crate::common::{binary, sub_commands};

#[test]
fn a_page_for_every_sub_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    Command::new(binary()).arg("man").arg(&pages).assert().success().stdout("");
    let mut wrong = Vec::new();
    // git calls `textconv`, whose page has no examples
    let suffixes = sub_commands().into_iter().filter(|name| name != "textconv").map(|name| format!("-{name}"));
    for name in std::iter::once(String::new()).chain(suffixes) {
        let page = fs::read_to_string(pages.join(format!("tensorop{name}.1"))).unwrap_or_default();
        let expected = [
            format!(".TH tensorop{name} 1"),
            ".SH SYNOPSIS".into(),
            ".SH OPTIONS".into(),
            ".SH EXAMPLES\n.nf\n".into(),
            "\n.fi\n".into(),
        ];
        wrong.extend(expected.into_iter().filter(|text| !page.contains(text)).map(|text| (name.clone(), text)));
    }
    assert!(wrong.is_empty(), "missing: {wrong:?}");
    let page = fs::read_to_string(pages.join("tensorop.1")).unwrap();
    // sub-commands in their groups, whose headings are below that of the section
    let (_, list) =
        page.split_once(".SH SUBCOMMANDS\n.SS Operators\n.TP\ntensorop\\-slice(1)\n").expect("the operators");
    let (operators, list) = list.split_once(".SS Looking\n.TP\ntensorop\\-show(1)\n").expect("what looks");
    assert!(
        operators.contains("\ntensorop\\-gather\\-nd(1)\n") && !operators.contains("tensorop\\-diff(1)"),
        "{operators}"
    );
    assert!(list.contains(".SS Comparing\n.TP\ntensorop\\-diff(1)\n"), "{list}");
    Command::new(binary()).arg("man").assert().success().stdout(page);
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    let run = Command::new(binary()).arg("man").arg(&file).assert().code(2);
    let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(message.starts_with("error: ") && message.contains("file: cannot be") && message.lines().count() == 1);
    assert_eq!(fs::read(file).unwrap(), b"kept");
}
