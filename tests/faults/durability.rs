//! What is on the disk when a command has ended: seen in the calls it makes.

use std::process::Command;

use crate::common::{Folder, binary, each, has, npy, skip, words};

/// The calls that name, sync and replace files, one a line and in order; `None` where they cannot be seen.
fn calls(folder: &Folder, args: &str) -> Option<Vec<String>> {
    let program = binary();
    let trace =
        "trace=fsync,fdatasync,sync_file_range,syncfs,msync,rename,renameat,renameat2,link,linkat,unlink,unlinkat";
    let run = Command::new("strace")
        .args(["-f", "-qq", "-o", "calls.txt", "-e", trace])
        .arg(program)
        .args(words(args))
        .current_dir(folder.path(""))
        .output();
    let traced = run.is_ok_and(|output| output.status.success());
    if !traced {
        skip("strace may not be used");
        return None;
    }
    let text = String::from_utf8(folder.get("calls.txt")).expect("a trace");
    let name = |line: &str| {
        let call = line.split_whitespace().nth(1)?;
        Some(call.split('(').next()?.trim_end_matches('2').replace("renameat", "rename"))
    };
    Some(text.lines().filter(|line| line.contains('(')).filter_map(name).collect())
}

#[test]
fn what_is_synced() {
    let folder = Folder::new();
    let data = npy("<u1", &[100], &[1; 100]);
    folder.put("data.npy", &data).put("old.npy", &data).put("old.json", b"{}").put("old.txt", b"");
    std::os::unix::fs::symlink("old.npy", folder.path("link.npy")).unwrap();
    if !has(&["strace"]) || calls(&folder, "slice data.npy --at :").is_none() {
        return;
    }
    // the new file before it has a name, its folder after it has the right one
    let replaced = "fsync linkat rename fsync";
    let rows = [
        ("slice data.npy --at : -o old.npy", replaced),
        ("slice data.npy --at : -o old.json", replaced),
        ("slice data.npy --at : -o old.txt", replaced),
        ("slice data.npy --at : -o link.npy", replaced),
        ("slice-scatter data.npy --fill 2 --at :1 -o data.npy", replaced),
        ("slice data.npy --at : -o new.npy", "linkat"),
        ("slice data.npy --at : -o kept.npy --no-clobber", "linkat"),
        ("slice data.npy --at : -o old.npy --dry-run", ""),
        ("slice-scatter data.npy --fill 2 --at :1 -i", ""),
        ("slice data.npy --at : -o /dev/null --to npy", ""),
        ("slice data.npy --at : --to npy", ""),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let found = calls(&folder, args).ok_or("not traced")?.join(" ");
            if found == *expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
        },
    );
}
