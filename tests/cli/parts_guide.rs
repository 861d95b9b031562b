//! What docs/parts.md shows is true: its shell runs, with stand-ins for the engines; its Python and YAML say what it says.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Folder, binary, npy};

const GUIDE: &str = include_str!("../../docs/parts.md");

/// The fenced blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE.split(&fence[..]).skip(1).map(|rest| rest.split("```").next().expect("an end")).collect()
}

/// Puts a script into the folder `bin`.
fn script(folder: &Folder, name: &str, text: &str) {
    folder.put(format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
    let path = folder.path(format!("bin/{name}"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
}

/// A folder with the operands that the guide names.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("bin")).expect("a folder");
    // more than a chunk of 16 MiB: three of a row each
    folder.put("big.npy", npy("<i4", &[3, 2_250_000], &vec![1; 27_000_000]));
    folder
}

fn sh(folder: &Folder, text: &str, env: &[(&str, &str)]) {
    let program = binary().parent().expect("a folder").to_owned();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.path("bin"), program].into_iter().chain(std::env::split_paths(&usual));
    let mut command = Command::new("sh");
    command.args(["-ec", text]).current_dir(folder.path("")).envs(env.iter().copied());
    let output = command.env("PATH", std::env::join_paths(folders).expect("a path")).output().expect("a shell");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn is_made(folder: &Folder) {
    folder.run(["diff", "big.npy", "big.zarr", "-q"]).printed().expect("the same");
    assert!(!folder.path(".big.zarr.tensorop").exists());
    fs::remove_dir_all(folder.path("big.zarr")).expect("removed");
}

#[test]
fn shell_blocks_run() {
    let [array, finish, parallel] = blocks("sh")[..] else { panic!("three blocks of sh") };
    let folder = folder();
    // a Slurm that runs what it is given at once; one task of an array fails the first time
    folder.put("convert.sh", array).put("finish.sh", finish);
    script(
        &folder,
        "sbatch",
        "case \"$*\" in\n*--array=*) list=${*#*--array=}; list=${list%% *}\n\
        for range in $(echo \"$list\" | tr , ' '); do for task in $(seq ${range%-*} ${range#*-}); do\n\
        if [ $task = 2 ] && [ ! -e failed ]; then touch failed; continue; fi\n\
        SLURM_CPUS_PER_TASK=1 SLURM_ARRAY_TASK_ID=$task sh convert.sh; done; done; echo 1 ;;\n\
        *) echo \"$*\" >>rounds; while [ \"$1\" != finish.sh ]; do shift; done; sh \"$@\" ;;\nesac",
    );
    sh(&folder, "sbatch finish.sh", &[]);
    assert!(folder.path("failed").exists(), "one was repeated");
    is_made(&folder);
    assert_eq!(String::from_utf8_lossy(&folder.get("rounds")).lines().count(), 3);
    // what a round has not made is not tried for ever
    sh(&folder, "sbatch --dependency=afterany:1 finish.sh 1-3 && exit 1; exit 0", &[]);
    assert!(!folder.path(".big.zarr.tensorop").exists());
    // a parallel that runs what comes after its options once for each number
    script(
        &folder,
        "parallel",
        "while [ \"$1\" != tensorop ]; do shift; done\nline=\"$*\"\n\
        numbers=${line#*::: } line=${line%%:::*}\nfor n in $numbers; do sh -c \"${line%%\\{\\}*}$n${line#*\\{\\}}\"; done",
    );
    sh(&folder, parallel, &[]);
    is_made(&folder);
    let [job] = blocks("yaml")[..] else { panic!("one block of YAML") };
    let command = job.split("\"-c\", \"").nth(1).and_then(|rest| rest.split("\"]").next()).expect("a command");
    (0..64).for_each(|index| sh(&folder, command, &[("JOB_COMPLETION_INDEX", &index.to_string())]));
    sh(&folder, "tensorop convert big.npy -o big.zarr --finish 64", &[]);
    is_made(&folder);
}

#[test]
fn python_blocks_name_the_same_command() {
    let python = blocks("python");
    assert_eq!(python.len(), 2);
    for block in python {
        assert!(block.contains(r#"COMMAND = ["tensorop", "convert", "big.npy", "-o", "big.zarr"]"#), "{block}");
        assert!(
            block.contains(r#""--part", f"{number}/{N}"], cwd=FOLDER"#) && block.contains(r#""--finish", str(N)"#),
            "{block}"
        );
    }
}
