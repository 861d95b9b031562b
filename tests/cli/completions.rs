//! The scripts in `completions/` are what the program generates, and complete what they should.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;

use crate::common::{binary, has};

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
fn scripts_are_current() {
    let mut stale = Vec::new();
    for (shell, name) in SCRIPTS {
        let generated = Command::new(binary()).args(["completions", shell]).assert().success();
        if fs::read(folder().join(name)).ok().as_ref() != Some(&generated.get_output().stdout) {
            stale.push(format!("  cargo run --quiet -- completions {shell} >completions/{name}"));
        }
    }
    assert!(stale.is_empty(), "files in completions/ are stale; refresh them with\n{}", stale.join("\n"));
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

/// What bash offers, where there is a bash.
#[test]
fn bash_completes_values_and_files() {
    if !has(&["bash", "grep"]) {
        return;
    }
    let script = r#"
        source completions/tensorop.bash
        complete -p tensorop | grep -q -- '-o default ' && echo 'no reply: files'
        offer() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _tensorop tensorop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
            echo "${*:2} [${COMPREPLY[*]}]"
        }
        offer tensorop slice-
        offer tensorop slice samples/ten
        offer tensorop slice-scatter samples/matrix.npy samples/ro
        offer tensorop slice --start samples/ten
        offer tensorop slice samples/ten.json -o samples/ten
        offer tensorop scatter-nd --reduction m
        offer tensorop scatter-update --on-duplicate ''
        offer tensorop slice --to ''
        offer tensorop slice --from ''
        offer tensorop gather --out-of-range ''
        offer tensorop scatter-elements --reduction me
        offer tensorop scatter-elements --no
        offer tensorop gather-elements samples/ten
        offer tensorop gather-nd --b
        offer tensorop gather-nd samples/ten
        offer tensorop pad --mode ''
        offer tensorop pad a.npy --mode = s
        offer tensorop pad --be
        offer tensorop roll --shift samples/ten
        offer tensorop split a.npy --len
        offer tensorop completions z
        # as bash parts --to=np
        offer tensorop slice --to = n
        offer tensorop convert --order = ''
        offer tensorop convert a = samples/ten
        offer tensorop slice --dtype bf
        offer tensorop slice --dtype = float3
        offer tensorop convert --cast = bo
        offer tensorop slice --to =
        offer tensorop convert name = samples/ro
        # after any number of operands, one of which is the name of a sub-command
        offer tensorop show a.npy b.npy --im
        offer tensorop info a.npy b.npy diff --dtype bf
        offer tensorop convert a.npy b.npy c.npy --order ''
        offer tensorop scatter-nd a.npy b.npy c.npy --reduction mu
    "#;
    let expected = "\
no reply: files
slice- [slice-scatter]
slice samples/ten []
slice-scatter samples/matrix.npy samples/ro []
slice --start samples/ten [samples/ten.json]
slice samples/ten.json -o samples/ten [samples/ten.json]
scatter-nd --reduction m [mul max min]
scatter-update --on-duplicate  [last error]
slice --to  [npy npz safetensors pb zarr json csv tsv text raw]
slice --from  [npy npz safetensors index pb zarr json csv tsv]
gather --out-of-range  [error zero]
scatter-elements --reduction me [mean]
scatter-elements --no [--no-initial --no-sign-request --no-clobber --no-metadata]
gather-elements samples/ten []
gather-nd --b [--batch-dims --byte-order]
gather-nd samples/ten []
pad --mode  [constant edge reflect symmetric wrap]
pad a.npy --mode = s [symmetric]
pad --be [--before]
roll --shift samples/ten [samples/ten.json]
split a.npy --len [--lengths]
completions z [zsh]
slice --to = n [npy npz]
convert --order =  [C F]
convert a = samples/ten []
slice --dtype bf [bfloat16]
slice --dtype = float3 [float32]
convert --cast = bo [bool]
slice --to = [npy npz safetensors pb zarr json csv tsv text raw]
convert name = samples/ro []
show a.npy b.npy --im [--image]
info a.npy b.npy diff --dtype bf [bfloat16]
convert a.npy b.npy c.npy --order  [C F]
scatter-nd a.npy b.npy c.npy --reduction mu [mul]
";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C");
    bash.assert().success().stdout(expected);
}

/// The names in a container, after its colon, whatever bash parts words at.
#[test]
fn bash_completes_members() {
    if !has(&["bash"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["w.npz", "m.safetensors", "m.safetensors.index.json", "a.b.npz", "x.npy"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let script = r#"
        source "$SCRIPTS/tensorop.bash"
        # stands for the program
        named() { [[ ${*:1:4} == "info --members --sort name" ]] && printf '%s\n' conv1.weight conv1.bias "$6:0" 'odd name'; }
        offer() {
            COMP_LINE="named slice $1" COMP_POINT=$((12 + ${#1})) COMPREPLY=()
            COMP_WORDS=(named slice "$1") COMP_CWORD=2
            _tensorop named "$1" slice 2>/dev/null
            echo "$1 [${COMPREPLY[*]}]"
        }
        HOME=$PWD
        offer w.npz:
        offer w.npz:conv1.b
        offer w.npz:w
        offer w.npz:w.npz:
        offer m.safetensors:o
        offer m.safetensors.index.json:conv1.w
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
w.npz: [conv1.weight conv1.bias w.npz:0 odd\\ name]
w.npz:conv1.b [conv1.bias]
w.npz:w [w.npz:0]
w.npz:w.npz: [0]
m.safetensors:o [odd\\ name]
m.safetensors.index.json:conv1.w [conv1.weight]
a.b.npz:c [conv1.weight conv1.bias]
new=w.npz:conv1.b [conv1.bias]
~/w.npz:conv1.b [conv1.bias]
missing.npz:c []
x.npy:c []
w.npz:conv1.b [w.npz:conv1.bias]
new=w.npz:conv1.b [w.npz:conv1.bias]
new=w.npz:conv1.b [new=w.npz:conv1.bias]
";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script]).current_dir(folder.path()).env("LC_ALL", "C");
    bash.env("SCRIPTS", self::folder()).assert().success().stdout(expected);
}

/// zsh takes what follows an operand for options, too, unless a script has `*::` before the operands. Only the word after a
/// sub-command is so, since that begins another list of words.
#[test]
fn zsh_goes_on_after_operands() {
    let script = fs::read_to_string(folder().join("_tensorop")).unwrap();
    let lists: Vec<_> = script.lines().filter(|line| line.contains("*::") && !line.contains("*::: :->")).collect();
    assert!(lists.is_empty() && script.contains("'*:files -- "), "{lists:?}");
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
    let mut zsh = Command::new("zsh");
    let ran =
        zsh.args(["-f", "-c", script]).env("TERM", "dumb").current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    for expected in ["b.npy --image", "b.npy --dtype bfloat16", "c.npy --order="] {
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
        ("tensorop scatter-nd --reduction m", "max min mul"),
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
