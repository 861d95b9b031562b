//! Failing machines: inputs that change, disks that fill, limits, kills. Linux only; what needs a privilege is skipped
//! with the reason printed.
#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{Folder, header, npy, npy_with_header, words};

fn spawn(folder: &Folder, args: &str, stdin: Stdio, stdout: Stdio) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("tensorop"))
        .args(words(args))
        .current_dir(folder.path(""))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// A `.npy` of 64 MiB that takes no room on the disk.
fn large(folder: &Folder, name: &str) -> File {
    folder.put(name, npy_with_header(&header("<f4", false, &[4096, 4096]), &[]));
    let file = OpenOptions::new().write(true).open(folder.path(name)).unwrap();
    file.set_len(file.metadata().unwrap().len() + (1 << 26)).unwrap();
    file
}

fn stderr(child: &mut Child) -> String {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn an_input_that_shrinks_or_changes() {
    let folder = Folder::new();
    type Change = fn(&File);
    let rows: [(&str, &str, Change); 4] = [
        ("slice big.npy --at : --to npy", "became shorter", |file| file.set_len(5000).unwrap()),
        ("slice-scatter big.npy --fill 1 --at ::2 --to npy", "became shorter", |file| file.set_len(1 << 20).unwrap()),
        ("slice big.npy --at : --to npy", "changed while it was read", |mut file| file.write_all(b"x").unwrap()),
        ("slice big.npy --at ::-1 --to npy", "changed while it was read", |file| file.set_len(1 << 27).unwrap()),
    ];
    for (args, message, change) in rows {
        let file = large(&folder, "big.npy");
        let mut child = spawn(&folder, args, Stdio::null(), Stdio::piped());
        let mut out = child.stdout.take().unwrap();
        // the program has begun, and waits for this reader
        out.read_exact(&mut [0; 1 << 18]).unwrap();
        change(&file);
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        let said = stderr(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{args}: {said}");
        assert!(said.contains("DATA big.npy") && said.contains(message) && said.lines().count() == 1, "{args}: {said}");
    }
}

/// Runs a command whose output must not come about, over a target that exists and one that does not.
fn fails(folder: &Folder, prefix: &str, args: &str, out: &Path, message: &str) {
    let program = assert_cmd::cargo::cargo_bin!("tensorop");
    for existing in [true, false] {
        let _ = fs::remove_file(out);
        if existing {
            fs::write(out, b"before").unwrap();
        }
        let script = format!("{prefix} exec {} {args} -o {}", program.display(), out.display());
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {:?} {said}", output.status);
        assert!(said.contains(&format!("output {}", out.display())) && said.contains(message), "{script}: {said}");
        assert_eq!(fs::read(out).ok().as_deref(), existing.then_some(&b"before"[..]), "{script}");
        let litter: Vec<_> = fs::read_dir(out.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(!litter.iter().any(|name| name.to_string_lossy().contains(".tensorop")), "{litter:?}");
    }
}

#[test]
fn a_limit_of_file_size() {
    let folder = Folder::new();
    large(&folder, "big.npy");
    folder.put("small.npy", npy("<u1", &[20_000], &[1; 20_000]));
    for args in ["slice big.npy --at :", "slice small.npy --at :", "slice-scatter small.npy --fill 1 --at ::2"] {
        fails(&folder, "ulimit -f 16;", args, &folder.path("out.npy"), "File too large");
    }
    fails(&folder, "ulimit -f 16;", "slice small.npy --at :", &folder.path("out.json"), "File too large");
}

#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    }
    /// Unmounts also when the test fails.
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }
    let _mounted = Mounted(disk.clone());
    large(&folder, "big.npy");
    folder.put("many.npy", npy("<u1", &[600_000], &[1; 600_000]));
    fails(&folder, "", "slice big.npy --at :", &disk.join("out.npy"), "No space left");
    fails(&folder, "", "slice-scatter big.npy --fill 1 --at ::2", &disk.join("out.npy"), "No space left");
    fails(&folder, "", "slice many.npy --at :", &disk.join("out.json"), "No space left");
}

#[test]
fn killed_while_it_writes() {
    let folder = Folder::new();
    let data = npy("<u1", &[1 << 20], &[5; 1 << 20]);
    for (signal, name) in [(2, "INT"), (15, "TERM"), (9, "KILL"), (1, "HUP")] {
        folder.put("out.npy", b"before");
        let mut child = spawn(&folder, "slice-scatter - --fill 1 --at :5 -o out.npy", Stdio::piped(), Stdio::null());
        // half of the data: it writes, and waits for the rest
        child.stdin.as_mut().unwrap().write_all(&data[..1 << 19]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let kill = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        let content = folder.content();
        assert_eq!(content.len(), 1, "{name}: {:?}", content.keys());
        assert_eq!(folder.get("out.npy"), b"before", "{name}");
    }
}

/// Killed at any moment while it replaces a file: the old one or the whole new one, and no litter.
#[test]
fn killed_at_any_moment() {
    let folder = Folder::new();
    let (old, new) = (npy("<u1", &[1 << 20], &[1; 1 << 20]), npy("<u1", &[1 << 20], &[2; 1 << 20]));
    folder.put("old.npy", &old).put("new.npy", &new);
    let (mut kept, mut replaced) = (0, 0);
    for round in 0..150_u64 {
        folder.put("out.npy", &old);
        let mut child = spawn(&folder, "slice new.npy --at : -o out.npy", Stdio::null(), Stdio::null());
        std::thread::sleep(std::time::Duration::from_micros(round * 40));
        let _ = child.kill();
        child.wait().unwrap();
        let found = folder.get("out.npy");
        if found == new {
            replaced += 1
        } else {
            kept += 1
        }
        assert!(found == old || found == new, "torn in round {round}");
    }
    eprintln!("{kept} kept, {replaced} replaced");
    // SIGKILL can hit the one moment between link and rename: what is left then is the complete new file
    let content = folder.content();
    let litter: Vec<_> = content.iter().filter(|(name, _)| name.to_string_lossy().starts_with(".tensorop")).collect();
    assert!(litter.iter().all(|(_, file)| **file == new), "a draft had a name before it was complete");
    assert!(litter.len() <= 15, "{} of 150 runs left a file", litter.len());
}

/// Other signals wait for that moment to pass.
#[test]
fn ended_at_any_moment() {
    let folder = Folder::new();
    let (old, new) = (npy("<u1", &[1 << 20], &[1; 1 << 20]), npy("<u1", &[1 << 20], &[2; 1 << 20]));
    folder.put("old.npy", &old).put("new.npy", &new);
    for round in 0..100_u64 {
        folder.put("out.npy", &old);
        let mut child = spawn(&folder, "slice new.npy --at : -o out.npy", Stdio::null(), Stdio::null());
        std::thread::sleep(std::time::Duration::from_micros(round * 50));
        let _ = Command::new("kill")
            .args([if round % 2 == 0 { "-TERM" } else { "-INT" }, &child.id().to_string()])
            .output();
        child.wait().unwrap();
        let found = folder.get("out.npy");
        assert!(found == old || found == new, "torn in round {round}");
        assert_eq!(folder.content().len(), 3, "litter in round {round}");
    }
}

#[test]
fn many_writers_of_one_target() {
    let folder = Folder::new();
    let files: Vec<Vec<u8>> = (0..8).map(|n| npy("<u1", &[100_000], &[n; 100_000])).collect();
    for (n, file) in files.iter().enumerate() {
        folder.put(format!("{n}.npy"), file);
    }
    for _ in 0..10 {
        let start = |n| spawn(&folder, &format!("slice {n}.npy --at : -o out.npy"), Stdio::null(), Stdio::null());
        let children: Vec<Child> = (0..8).map(start).collect();
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        assert!(files.contains(&folder.get("out.npy")));
        fs::remove_file(folder.path("out.npy")).unwrap();
    }
    assert_eq!(folder.content().len(), 8);
}
