//! Disks that are full or cannot be written, and limits.

use std::fs;
use std::path::Path;

use super::{Mounted, is_one_error, large, litter, shell};
use crate::common::{Folder, each, npy};

/// Runs a command whose output must not come about, over a target that exists and one that does not.
fn fails(folder: &Folder, prefix: &str, args: &str, out: &Path, message: &str) -> Result<(), String> {
    for existing in [true, false] {
        let _ = fs::remove_file(out);
        if existing {
            fs::write(out, b"before").map_err(|e| e.to_string())?;
        }
        let output = shell(folder, &format!("{prefix} exec tensorop {args} -o {}", out.display()));
        let said = String::from_utf8_lossy(&output.stderr);
        let is_binary = out.extension().is_some_and(|extension| extension == "npy");
        let needs = said.contains(if is_binary { "; all of it needs " } else { "; its items are " });
        let named = needs && said.contains(&format!("output {}", out.display())) && said.contains(message);
        if output.status.code() != Some(2) || !is_one_error(&said) || !named {
            return Err(format!("existing {existing}: {:?}, said {said:?}", output.status));
        }
        if fs::read(out).ok().as_deref() != existing.then_some(&b"before"[..]) {
            return Err(format!("existing {existing}: the target is another"));
        }
        let left = litter(out.parent().unwrap_or(Path::new("/")));
        if !left.is_empty() {
            return Err(format!("left {left:?}"));
        }
    }
    Ok(())
}

#[test]
fn a_limit_of_file_size() {
    let folder = Folder::new();
    large(&folder, "big.npy");
    folder.put("small.npy", npy("<u1", &[20_000], &[1; 20_000]));
    let rows = [
        ("slice big.npy --at :", "out.npy"),
        ("slice small.npy --at :", "out.npy"),
        ("slice-scatter small.npy --fill 1 --at ::2", "out.npy"),
        ("scatter-update small.npy [0] --fill 1 --axis 0", "out.npy"),
        ("slice small.npy --at :", "out.json"),
        ("slice small.npy --at :", "out.txt"),
    ];
    each(
        rows,
        |(args, out)| format!("{args} -o {out}"),
        |(args, out)| fails(&folder, "ulimit -f 16;", args, &folder.path(out), "File too large"),
    );
    // a .npy of 20,000 bytes has a header of 128
    let exact = "File too large (os error 27); all of it needs 20128 bytes";
    fails(&folder, "ulimit -f 16;", "slice small.npy --at :", &folder.path("out.npy"), exact).expect("refused");
}

#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let Some(disk) = Mounted::tmpfs(folder.path("disk"), "size=1m") else { return };
    large(&folder, "big.npy");
    folder.put("many.npy", npy("<u1", &[600_000], &[1; 600_000]));
    let rows = [
        ("slice big.npy --at :", "out.npy"),
        ("slice-scatter big.npy --fill 1 --at ::2", "out.npy"),
        ("scatter-nd big.npy [[1]] --fill 1", "out.npy"),
        ("slice many.npy --at :", "out.json"),
        ("slice many.npy --at :", "out.txt"),
    ];
    each(
        rows,
        |(args, out)| format!("{args} -o {out}"),
        |(args, out)| fails(&folder, "", args, &disk.0.join(out), "No space left"),
    );
}

/// What is too long for memory and comes from a pipe goes to the folder for temporary files, which may be full too.
#[test]
fn no_room_for_a_stream() {
    let folder = Folder::new();
    let Some(disk) = Mounted::tmpfs(folder.path("tmp"), "size=1m") else { return };
    large(&folder, "big.npy");
    let script = "cat big.npy | TMPDIR=./tmp tensorop slice - --at ::-1 -o out.npy";
    let output = shell(&folder, script);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && is_one_error(&said) && said.contains("DATA (standard input)"), "{said}");
    assert!(said.contains("No space left") && said.matches("; all of it needs ").count() == 1, "{said}");
    assert!(!folder.path("out.npy").exists() && litter(&folder.path("")).is_empty() && litter(&disk.0).is_empty());
}

#[test]
fn a_full_device() {
    let folder = Folder::new();
    folder.put("small.npy", npy("<u1", &[20_000], &[1; 20_000]));
    let rows = [
        "slice small.npy --at : -o /dev/full --to npy",
        "slice small.npy --at : -o /dev/full --to json",
        "slice small.npy --at : --to npy >/dev/full",
        "slice small.npy --at : >/dev/full",
        "slice small.npy --at : --dry-run >/dev/full",
        "completions bash >/dev/full",
        "--help >/dev/full",
    ];
    each(
        rows,
        |args| (*args).to_owned(),
        |args| {
            let output = shell(&folder, &format!("exec tensorop {args}"));
            let said = String::from_utf8_lossy(&output.stderr);
            let refused = output.status.code() == Some(2) && is_one_error(&said) && said.contains("No space left");
            if refused { Ok(()) } else { Err(format!("{:?}, said {said:?}", output.status)) }
        },
    );
}

#[test]
fn a_read_only_folder() {
    let folder = Folder::new();
    let Some(disk) = Mounted::tmpfs(folder.path("disk"), "size=1m") else { return };
    let before = npy("<u1", &[4], &[1, 2, 3, 4]);
    folder.put("disk/old.npy", &before);
    disk.make_read_only();
    let rows = [
        ("slice disk/old.npy --at : -o disk/new.npy", "output disk/new.npy"),
        ("slice disk/old.npy --at : -o disk/old.npy", "output disk/old.npy"),
        ("slice disk/old.npy --at : -o disk/new.npy --dry-run", "output disk/new.npy"),
        ("slice-scatter disk/old.npy --fill 9 --at :1 -i", "DATA disk/old.npy"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, about)| {
            let output = shell(&folder, &format!("exec tensorop {args}"));
            let said = String::from_utf8_lossy(&output.stderr);
            let refused = output.status.code() == Some(2) && is_one_error(&said) && said.contains(about);
            if refused && said.contains("Read-only") {
                Ok(())
            } else {
                Err(format!("{:?}, said {said:?}", output.status))
            }
        },
    );
    assert_eq!(folder.get("disk/old.npy"), before);
}
