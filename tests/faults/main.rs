//! Failing machines: inputs that change, disks that fill, limits, kills, many writers at once. Linux only; what needs
//! a privilege is skipped with the reason printed.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

mod appends;
mod containers;
mod disks;
mod durability;
mod edits;
mod inputs;
mod kills;
mod pipes;
mod several;
mod stores;
mod targets;

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{Folder, binary, header, npy_with_header, skip, stop_ignoring_signals, words};

/// The program, not yet started, in a folder.
fn program(folder: &Folder, args: &str) -> Command {
    stop_ignoring_signals();
    let mut command = Command::new(binary());
    command.args(words(args)).current_dir(folder.path("")).stdin(Stdio::null()).stderr(Stdio::piped());
    command.env_remove("TENSOROP_WINDOW").env_remove("TENSOROP_THREADS");
    command
}

fn spawn(folder: &Folder, args: &str, stdin: Stdio, stdout: Stdio) -> Child {
    program(folder, args).stdin(stdin).stdout(stdout).spawn().expect("the program starts")
}

/// Runs a line of shell in which `tensorop` is the program.
fn shell(folder: &Folder, script: &str) -> Output {
    let program = binary();
    let script = script.replace("tensorop ", &format!("{} ", program.display()));
    Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().expect("a shell")
}

/// A `.npy` of 64 MiB that takes no room on the disk.
fn large(folder: &Folder, name: &str) -> File {
    folder.put(name, npy_with_header(&header("<f4", false, &[4096, 4096]), &[]));
    let file = OpenOptions::new().write(true).open(folder.path(name)).expect("the file just made");
    let length = file.metadata().expect("its length").len() + (1 << 26);
    file.set_len(length).expect("a file with a hole");
    file
}

fn stderr(child: &mut Child) -> String {
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("a message");
    said
}

/// Whether a message is the one line of an error.
fn is_one_error(said: &str) -> bool {
    said.starts_with("error: ") && said.ends_with('\n') && said.lines().count() == 1
}

/// The temporary names in a folder.
fn litter(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.to_string_lossy().contains("/.tensorop")).collect()
}

/// A file system that is there as long as the value; `None`, and the reason printed, where it cannot be mounted.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn tmpfs(at: std::path::PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&at).expect("a folder to mount on");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&at).output();
        let done = mounted.is_ok_and(|output| output.status.success());
        if !done {
            skip("mounting a small file system needs `mount` and root");
        }
        done.then_some(Self(at))
    }

    fn make_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "mounted, but not again to be read only");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
