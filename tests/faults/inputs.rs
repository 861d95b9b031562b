//! Inputs that change while they are read, and inputs that are the output by another name.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::Duration;

use super::{is_one_error, large, litter, shell, spawn, stderr};
use crate::common::{Folder, each, npy};

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
        assert!(said.contains("DATA big.npy") && said.contains(message) && is_one_error(&said), "{args}: {said}");
    }
}

/// Cut off at some moment of the run: an error and no output, or all of the output.
#[test]
fn an_input_that_is_cut_at_any_moment() {
    let folder = Folder::new();
    let commands = [
        "slice big.npy --at ::-1 -o out.npy",
        "slice-scatter big.npy --fill 1 --at ::2 -o out.npy",
        "slice-scatter base.npy big.npy --at : -o out.npy",
        "scatter-update base.npy [[0,1,2,3,4,5,6,7]] big.npy --axis 0 -o out.npy",
        "slice big.npy --at 4000:,:1 -o out.json",
    ];
    large(&folder, "base.npy");
    let mut refused = 0;
    for round in 0..25_u64 {
        let args = commands[round as usize % commands.len()];
        let file = large(&folder, "big.npy");
        for name in ["out.npy", "out.json"] {
            let _ = fs::remove_file(folder.path(name));
        }
        let mut child = spawn(&folder, args, Stdio::null(), Stdio::null());
        std::thread::sleep(Duration::from_micros(2000 + round * 1500));
        file.set_len([0, 60, 1 << 12, 1 << 20, 1 << 25][round as usize % 5 * 7 % 5]).unwrap();
        let said = stderr(&mut child);
        let status = child.wait().unwrap();
        let written = ["out.npy", "out.json"].iter().any(|name| folder.path(name).exists());
        let right = match status.code() {
            Some(0) => said.is_empty() && written,
            Some(2) => is_one_error(&said) && !written,
            _ => false,
        };
        refused += usize::from(status.code() == Some(2));
        assert!(right, "{args} in round {round}: {status:?}, said {said:?}, written: {written}");
        assert!(litter(&folder.path("")).is_empty());
    }
    eprintln!("{refused} of 25 runs were refused");
}

#[test]
fn the_output_is_the_input_by_another_name() {
    let (before, after) = (npy("<u1", &[4], &[1, 2, 3, 4]), npy("<u1", &[4], &[4, 3, 2, 1]));
    // input, output
    let rows = [
        ("data.npy", "data.npy"),
        ("./data.npy", "data.npy"),
        ("symbolic.npy", "data.npy"),
        ("data.npy", "symbolic.npy"),
        ("symbolic.npy", "symbolic.npy"),
        ("data.npy", "chain.npy"),
        ("hard.npy", "data.npy"),
        ("data.npy", "hard.npy"),
    ];
    each(
        rows,
        |(input, output)| format!("{input} to {output}"),
        |(input, output)| {
            let folder = Folder::new();
            folder.put("data.npy", &before);
            let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, folder.path(name));
            link("data.npy", "symbolic.npy")
                .and_then(|()| link("symbolic.npy", "chain.npy"))
                .map_err(|e| e.to_string())?;
            fs::hard_link(folder.path("data.npy"), folder.path("hard.npy")).map_err(|e| e.to_string())?;
            let run = shell(&folder, &format!("exec tensorop slice {input} --at ::-1 -o {output}"));
            if !run.status.success() {
                return Err(String::from_utf8_lossy(&run.stderr).into_owned());
            }
            let links = ["symbolic.npy", "chain.npy"].map(|name| fs::symlink_metadata(folder.path(name)).unwrap());
            if links.iter().any(|link| !link.is_symlink()) {
                return Err("a link has become a file".to_owned());
            }
            // the other hard link keeps what it had
            let (new, old) = if *output == "hard.npy" { ("hard.npy", "data.npy") } else { ("data.npy", "hard.npy") };
            if folder.get(new) != after || folder.get(old) != before {
                return Err(format!("{new} {:?}, {old} {:?}", folder.get(new), folder.get(old)));
            }
            let count = fs::metadata(folder.path(new)).unwrap().nlink();
            if count != 1 || folder.names().len() != 4 { Err(format!("{count} links")) } else { Ok(()) }
        },
    );
}
