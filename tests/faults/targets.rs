//! Targets that cannot be one, and many writers of one target.

use std::fs;
use std::process::{Child, Stdio};

use super::{litter, spawn};
use crate::common::{Folder, each, npy};

#[test]
fn a_target_that_is_no_file() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<u1", &[4], &[1, 2, 3, 4]));
    fs::create_dir(folder.path("folder.npy")).unwrap();
    std::os::unix::fs::symlink("folder.npy", folder.path("link.npy")).unwrap();
    std::os::unix::fs::symlink("loop.npy", folder.path("loop.npy")).unwrap();
    let rows: &[(&str, &[&str])] = &[
        ("folder.npy", &["output folder.npy", "is a folder"]),
        ("folder.npy/", &["output folder.npy/", "is a folder"]),
        ("link.npy", &["output link.npy", "is a folder"]),
        (".", &["output .", "is a folder"]),
        ("/", &["output /", "is a folder"]),
        ("loop.npy", &["output loop.npy", "symbolic links"]),
        ("new.npy/", &["output new.npy/"]),
        ("data.npy/new.npy", &["output data.npy/new.npy", "Not a directory"]),
        ("data.npy/folder/new.npy", &["output data.npy/folder/new.npy", "Not a directory"]),
    ];
    each(
        rows,
        |(name, _)| (*name).to_owned(),
        |(name, fragments)| {
            for more in [&[][..], &["--dry-run"]] {
                let args = ["slice", "data.npy", "--at", ":", "--to", "npy", "-o", name];
                folder.refuses(args.iter().chain(more), fragments)?;
            }
            Ok(())
        },
    );
    let long = format!("{}.npy", "x".repeat(300));
    folder.refuses(["slice", "data.npy", "--at", ":", "-o", &long], &["File name too long"]).unwrap();
}

/// A name as long as names may be leaves no room for a longer temporary one.
#[test]
fn the_longest_name() {
    let folder = Folder::new();
    let name = format!("{}.npy", "x".repeat(251));
    for last in [1, 2] {
        folder.put("data.npy", npy("<u1", &[2], &[last; 2]));
        folder.run(["slice", "data.npy", "--at", ":", "-o", &name]).printed().unwrap();
        assert_eq!(folder.get(&name), npy("<u1", &[2], &[last; 2]));
    }
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn many_writers_of_one_target() {
    const WRITERS: u8 = 32;
    let folder = Folder::new();
    let files: Vec<Vec<u8>> = (0..WRITERS).map(|n| npy("<u1", &[100_000], &[n; 100_000])).collect();
    for (n, file) in files.iter().enumerate() {
        folder.put(format!("{n}.npy"), file);
    }
    for round in 0..6 {
        // every second time over a file that exists
        if round % 2 == 0 {
            let _ = fs::remove_file(folder.path("out.npy"));
        }
        let start = |n| spawn(&folder, &format!("slice {n}.npy --at : -o out.npy"), Stdio::null(), Stdio::null());
        let children: Vec<Child> = (0..WRITERS).map(start).collect();
        for mut child in children {
            // whoever looks meanwhile sees one of them, whole
            if let Ok(seen) = fs::read(folder.path("out.npy")) {
                assert!(files.contains(&seen), "a file of {} bytes", seen.len());
            }
            assert!(child.wait().unwrap().success(), "{}", super::stderr(&mut child));
        }
        assert!(files.contains(&folder.get("out.npy")));
        assert_eq!(litter(&folder.path("")), Vec::<std::path::PathBuf>::new());
    }
}

/// Of many that must not replace a file, one makes it and the others are refused.
#[test]
fn one_of_many_makes_the_file() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<u1", &[1000], &[1; 1000]));
    for _ in 0..5 {
        let start = |_| spawn(&folder, "slice data.npy --at : -o out.npy --no-clobber", Stdio::null(), Stdio::null());
        let children: Vec<Child> = (0..8).map(start).collect();
        let done = children.into_iter().filter_map(|mut child| child.wait().unwrap().code()).collect::<Vec<_>>();
        let count = |status| done.iter().filter(|&&code| code == status).count();
        assert_eq!((count(0), count(2)), (1, 7), "{done:?}");
        assert_eq!(folder.names().len(), 2);
        fs::remove_file(folder.path("out.npy")).unwrap();
    }
}
