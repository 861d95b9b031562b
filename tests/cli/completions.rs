//! The scripts in `completions/` are those that the program prints, and complete the words of each shell.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;

use crate::common::{Folder, SPECS, binary, each, has};

/// Shells, and the names of their scripts.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "tensorop.bash"),
    ("zsh", "_tensorop"),
    ("fish", "tensorop.fish"),
    ("powershell", "_tensorop.ps1"),
    ("elvish", "tensorop.elv"),
];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/completions"))
}

#[test]
fn scripts_are_printed_and_short() {
    for (shell, name) in SCRIPTS {
        let script = fs::read_to_string(folder().join(name)).unwrap();
        assert!(script.lines().count() <= 30, "{name}");
        Command::new(binary()).args(["completions", shell]).assert().success().stdout(script);
    }
}

/// What the program prints for a shell that passes whole words: values, without their help.
#[test]
fn candidates_of_words() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| Command::new(binary()).args(args).current_dir(folder.path()).assert().success();
    run(&["convert", "conv.weight=[1, 2]", "fc=[3]", "-o", "w.npz"]);
    run(&["convert", "[[1, 2], [3, 4]]", "--dims", "time,lat", "-o", "t.zarr"]);
    let rows: &[(&[&str], &[&str])] = &[
        (&["slice-"], &["slice-scatter"]),
        (&["show", "w.npz:"], &["w.npz:conv.weight", "w.npz:fc"]),
        (&["convert", "a=w.npz:f"], &["a=w.npz:fc"]),
        (&["show", "missing.npz:"], &[]),
        (&["show", "https://host/w.npz:"], &[]),
        (&["convert", "w.npz", "--only", "c"], &["conv.weight"]),
        (&["convert", "w.npz", "--cast", "fc=bf"], &["fc=bfloat16"]),
        (&["convert", "w.npz", "--cast", "f"], &["float16", "float32", "float64", "fc="]),
        (&["convert", "w.npz", "--rename", "co"], &["conv.weight"]),
        (&["slice", "t.zarr", "--at", ""], &["time=", "lat="]),
        (&["slice", "t.zarr", "--at=time=0,l"], &["--at=time=0,lat="]),
        (&["slice", "w.npz:fc", "--at", ""], &[]),
        (&["slice", ""], &[]),
        (&["pad", "--mode", "s"], &["symmetric"]),
        // after any number of operands, one of which is the name of a sub-command
        (&["info", "a.npy", "b.npy", "diff", "--dtype", "bf"], &["bfloat16"]),
        (&["scatter-nd", "a.npy", "b.npy", "c.npy", "--reduction", "mu"], &["mul"]),
    ];
    for (words, expected) in rows {
        let ran = run(&[&["completions", "elvish", "--", "tensorop"], *words].concat());
        let printed = String::from_utf8_lossy(&ran.get_output().stdout).into_owned();
        let values: Vec<_> = printed.lines().filter_map(|line| line.split('\t').next()).collect();
        let found: Vec<_> =
            values.iter().filter(|value| expected.contains(value) || !value.starts_with("float")).collect();
        assert_eq!(found, expected.iter().collect::<Vec<_>>(), "{words:?}");
    }
    // PowerShell passes no empty word
    run(&["completions", "powershell", "--new-word", "--", "tensorop", "pad", "--mode"])
        .stdout(predicates::str::contains("symmetric\t"));
}

#[test]
fn nothing_else_is_there() {
    let mut names: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let mut expected = SCRIPTS.map(|(_, name)| name.to_owned());
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

/// A pipe among the words is not opened, because that would wait for a writer.
#[cfg(unix)]
#[test]
fn pipes_are_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    Command::new("mkfifo").arg(folder.path().join("pipe")).assert().success();
    let mut program = assert_cmd::Command::new(binary());
    program.current_dir(folder.path()).timeout(std::time::Duration::from_secs(60));
    let words = ["completions", "fish", "--", "tensorop", "convert", "pipe", "--only", "x"];
    program.args(words).assert().success().stdout("");
}

/// What bash offers, where there is a bash.
#[test]
fn bash_completes_values_and_files() {
    if !has(&["bash", "grep"]) {
        return;
    }
    let script = r#"
        source completions/tensorop.bash
        complete -p tensorop | grep -q -- '-o default ' && echo 'no reply: files'
        # offer LINE: bash divides words at = and :, too
        offer() {
            COMP_LINE="tensorop $1" COMP_POINT=$((9 + ${#1})) COMPREPLY=() COMP_WORDS=()
            local word rest="$COMP_LINE"
            while [[ $rest =~ ^\ *([^\ =:]+|[=:]+) ]]; do
                COMP_WORDS+=("${BASH_REMATCH[1]}") rest="${rest#"${BASH_REMATCH[0]}"}"
            done
            [[ -z "$rest" && "$COMP_LINE" != *" " ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _tensorop "$PROGRAM"
            echo "$1 [${COMPREPLY[*]}]"
        }
        offer 'slice-'
        offer 'slice samples/ten'
        offer 'slice-scatter samples/matrix.npy samples/ro'
        offer 'slice --start samples/ten'
        offer 'slice samples/ten.json -o samples/ten'
        offer 'scatter-nd --reduction m'
        offer 'scatter-update --on-duplicate '
        offer 'slice --to '
        offer 'slice --from '
        offer 'gather --out-of-range '
        offer 'scatter-elements --reduction me'
        offer 'scatter-elements --no'
        offer 'pad --mode '
        offer 'pad a.npy --mode=s'
        offer 'roll --shift samples/ten'
        offer 'split a.npy --len'
        offer 'completions z'
        # as bash parts --to=np
        offer 'slice --to=n'
        offer 'convert --order='
        offer 'convert a=samples/ten'
        offer 'slice --dtype bf'
        offer 'slice --dtype=float3'
        offer 'convert --cast=bo'
        offer 'slice --to='
        offer 'convert name=samples/ro'
        # after any number of operands, one of which is the name of a sub-command
        offer 'show a.npy b.npy --im'
        offer 'info a.npy b.npy diff --dtype bf'
        offer 'convert a.npy b.npy c.npy --order '
        offer 'scatter-nd a.npy b.npy c.npy --reduction mu'
    "#;
    let expected = "\
no reply: files
slice- [slice-scatter]
slice samples/ten []
slice-scatter samples/matrix.npy samples/ro []
slice --start samples/ten []
slice samples/ten.json -o samples/ten []
scatter-nd --reduction m [mul max min]
scatter-update --on-duplicate  [last error]
slice --to  [npy npz safetensors pb zarr json csv tsv text raw]
slice --from  [npy pytorch npz safetensors index pb onnx-model openvino zarr gguf json csv tsv]
gather --out-of-range  [error zero]
scatter-elements --reduction me [mean]
scatter-elements --no [--no-initial --no-sign-request --no-clobber --no-metadata]
pad --mode  [constant edge reflect symmetric wrap]
pad a.npy --mode=s [symmetric]
roll --shift samples/ten []
split a.npy --len [--lengths]
completions z [zsh]
slice --to=n [npy npz]
convert --order= [C F]
convert a=samples/ten []
slice --dtype bf [bfloat16]
slice --dtype=float3 [float32]
convert --cast=bo [bool]
slice --to= [npy npz safetensors pb zarr json csv tsv text raw]
convert name=samples/ro []
show a.npy b.npy --im [--image]
info a.npy b.npy diff --dtype bf [bfloat16]
convert a.npy b.npy c.npy --order  [C F]
scatter-nd a.npy b.npy c.npy --reduction mu [mul]
";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C");
    bash.env("PROGRAM", binary()).assert().success().stdout(expected);
}

/// Each option that the help of an operator lists is offered, and names of files where an operand stands.
#[test]
fn every_operator_is_completed() {
    let folder = Folder::new();
    let offered = |words: &[&str]| {
        let lines = folder.run([&["completions", "fish", "--", "tensorop"], words].concat()).printed()?;
        Ok::<_, String>(
            lines.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect::<BTreeSet<_>>(),
        )
    };
    each(
        SPECS,
        |spec| spec.operator.to_owned(),
        |spec| {
            let help = folder.run([spec.operator, "--help"]).printed()?;
            let of_line =
                |line: &str| line.split([' ', ',', '[', '=']).find(|word| word.starts_with("--")).map(str::to_owned);
            // what is said of an option stands further inside
            let is_head =
                |line: &&str| line.find(|c| c != ' ').is_some_and(|at| at <= 6 && line[at..].starts_with('-'));
            let listed: BTreeSet<_> = help.lines().filter(is_head).filter_map(of_line).collect();
            let found = offered(&[spec.operator, "--"])?;
            match found == listed && listed.len() > 10 && offered(&[spec.operator, "samples/ten"])?.is_empty() {
                true => Ok(()),
                false => Err(format!("{:?}", found.symmetric_difference(&listed).collect::<Vec<_>>())),
            }
        },
    );
}

/// The names in a container, after its colon, whatever bash divides words at.
#[test]
fn bash_completes_members() {
    if !has(&["bash"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["w.npz", "m.safetensors", "a.b.npz"] {
        let tensors = ["conv1.weight=[1]", "conv1.bias=[1]", "odd name=[1]"];
        let args = [&["convert"], &tensors[..], &["-o", name]].concat();
        Command::new(binary()).args(args).current_dir(folder.path()).assert().success();
    }
    fs::write(folder.path().join("x.npy"), "").unwrap();
    let script = r#"
        source "$SCRIPTS/tensorop.bash"
        # stands for how bash divides `tensorop slice WORD`
        offer() {
            COMP_LINE="tensorop slice $1" COMP_POINT=$((15 + ${#1})) COMPREPLY=() COMP_WORDS=(tensorop slice)
            local rest="$1" breaks="${COMP_WORDBREAKS//[^:=]}"
            while [[ -n "$breaks" && $rest =~ ^([^$breaks]+|[$breaks]+) ]]; do
                COMP_WORDS+=("${BASH_REMATCH[1]}") rest="${rest#"${BASH_REMATCH[0]}"}"
            done
            [[ -z "$rest" ]] || COMP_WORDS+=("$rest")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _tensorop "$PROGRAM"
            echo "$1 [${COMPREPLY[*]}]"
        }
        HOME=$PWD
        offer w.npz:
        offer w.npz:conv1.b
        offer w.npz:w
        offer m.safetensors:o
        offer 'm.safetensors:odd\ n'
        offer a.b.npz:c
        offer new=w.npz:conv1.b
        offer '~/w.npz:conv1.b'
        offer missing.npz:c
        offer x.npy:c
        COMP_WORDBREAKS=${COMP_WORDBREAKS//:}
        offer w.npz:conv1.b
        offer new=w.npz:conv1.b
        COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
        offer new=w.npz:conv1.b
    "#;
    let expected = "\
w.npz: [conv1.bias conv1.weight odd\\ name]
w.npz:conv1.b [conv1.bias]
w.npz:w []
m.safetensors:o [odd\\ name]
m.safetensors:odd\\ n [odd\\ name]
a.b.npz:c [conv1.bias conv1.weight]
new=w.npz:conv1.b [conv1.bias]
~/w.npz:conv1.b [conv1.bias]
missing.npz:c []
x.npy:c []
w.npz:conv1.b [w.npz:conv1.bias]
new=w.npz:conv1.b [w.npz:conv1.bias]
new=w.npz:conv1.b [new=w.npz:conv1.bias]
";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(folder.path()).env("LC_ALL", "C").env("PROGRAM", binary());
    bash.env("SCRIPTS", self::folder()).assert().success().stdout(expected);
}

/// What zsh offers, where there is a zsh: it completes in a terminal of its own.
#[test]
fn zsh_completes_after_operands() {
    if !has(&["zsh"]) {
        return;
    }
    let script = r#"
        zmodload zsh/zpty
        zpty shell 'zsh -f -i'
        typed() { zpty -w shell "$1"; }
        typed 'PS1=; fpath=($PWD/completions $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep'
        # what is typed is echoed, and so has quotes that what is printed has not
        typed 'bindkey "^I" complete-word; echo rea""dy'
        while zpty -r shell line; do [[ $line == *ready* ]] && break; done
        for line in 'show a.npy b.npy --im' 'info a.npy b.npy --dtype bf' 'convert a.npy b.npy c.npy --orde'; do
            zpty -w -n shell "tensorop $line"$'\t'
            sleep 1
            zpty -w -n shell $'\x15'
        done
        typed 'echo fini""shed'
        while zpty -r shell line; do print -r -- "$line"; [[ $line == *finished* ]] && break; done
    "#;
    let usual = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{usual}", binary().parent().unwrap().display());
    let mut zsh = Command::new("zsh");
    zsh.env("PATH", path);
    let ran =
        zsh.args(["-f", "-c", script]).env("TERM", "dumb").current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    for expected in ["b.npy --image", "b.npy --dtype bfloat16", "c.npy --order"] {
        assert!(said.contains(expected), "{expected}: {said}\n{}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// What fish offers, where there is a fish.
#[test]
fn fish_completes_values_and_files() {
    if !has(&["fish"]) {
        return;
    }
    let rows = [
        ("tensorop slice-", "slice-scatter"),
        ("tensorop show samples/weights.npz:", "samples/weights.npz:conv1 samples/weights.npz:fc"),
        ("tensorop convert a=samples/ten", "a=samples/ten.json"),
        ("tensorop slice --dtype bf", "bfloat16"),
        ("tensorop slice --dtype=float3", "--dtype=float32"),
        ("tensorop convert --cast=bo", "--cast=bool"),
        ("tensorop scatter-nd --reduction m", "mul max min"),
        ("tensorop pad --mode s", "symmetric"),
        ("tensorop slice samples/readings", "samples/readings.npy"),
        // after any number of operands, one of which is the name of a sub-command
        ("tensorop show a.npy b.npy --im", "--image"),
        ("tensorop info a.npy b.npy diff --dtype bf", "bfloat16"),
        ("tensorop convert a.npy b.npy c.npy --order ", "C F"),
    ];
    let script: String =
        rows.iter().map(|(line, _)| format!("echo (complete -C '{line}' | string split -f1 \\t)\n")).collect();
    let usual = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{usual}", binary().parent().unwrap().display());
    let said = Command::new("fish")
        .args(["--no-config", "-c", &format!("source completions/tensorop.fish\n{script}")])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path)
        .env("HOME", std::env::temp_dir())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let expected: Vec<_> = rows.iter().map(|(_, offered)| *offered).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}
