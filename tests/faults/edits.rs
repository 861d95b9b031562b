//! Edits in place: many at once, and a refusal at the very end.

use std::process::{Child, Stdio};

use super::spawn;
use crate::common::{Folder, each, joined, npy};

fn int32(items: impl Iterator<Item = i32>) -> Vec<u8> {
    joined(items.map(i32::to_le_bytes))
}

fn all_succeed(children: Vec<Child>) {
    for mut child in children {
        let status = child.wait().unwrap();
        assert!(status.success(), "{status:?}: {}", super::stderr(&mut child));
    }
}

/// Rows lie one after the other, columns interleave in every window; sums need every read and write to be one step.
#[test]
fn many_at_once() {
    const EDITS: usize = 64;
    let folder = Folder::new();
    let edit = |args: String| spawn(&folder, &args, Stdio::null(), Stdio::null());
    for fortran in [false, true] {
        let header = crate::common::header("<i4", fortran, &[EDITS, EDITS]);
        let file = |items: &[u8]| {
            let stored = if fortran { crate::common::to_fortran(items, &[EDITS, EDITS], 4) } else { items.to_owned() };
            crate::common::npy_with_header(&header, &stored)
        };
        for column in [false, true] {
            folder.put("data.npy", file(&[0; 4 * EDITS * EDITS]));
            let at = |n: usize| if column { format!(":,{n}:{}", n + 1) } else { format!("{n}:{}", n + 1) };
            let start = |n| edit(format!("slice-scatter data.npy --fill {n} --at {} -i", at(n)));
            all_succeed((0..EDITS).map(start).collect());
            let expected = int32((0..EDITS * EDITS).map(|i| if column { i % EDITS } else { i / EDITS } as i32));
            assert!(folder.get("data.npy") == file(&expected), "fortran {fortran}, column {column}");
        }
        // 128 at once, rows and columns, each counting itself everywhere
        folder.put("data.npy", file(&[0; 4 * EDITS * EDITS]));
        let start = |n: usize| {
            let (indices, reduction) = (n % EDITS, "--reduction add -i");
            if n < EDITS {
                edit(format!("scatter-nd data.npy [[{indices}]] --fill 1 {reduction}"))
            } else {
                let column: Vec<String> = (0..EDITS).map(|row| format!("[{row},{indices}]")).collect();
                edit(format!("scatter-nd data.npy [{}] --fill 1 {reduction}", column.join(",")))
            }
        };
        all_succeed((0..2 * EDITS).map(start).collect());
        assert!(folder.get("data.npy") == file(&int32((0..EDITS * EDITS).map(|_| 2))), "fortran {fortran}: sums");
    }
}

/// Edits in place while others replace the file: each edit is made in a file that had the name when it began.
#[test]
fn while_the_file_is_replaced() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<i4", &[16], &[0; 64])).put("new.npy", npy("<i4", &[16], &[0; 64]));
    let start = |n: i32| match n % 2 {
        0 => spawn(&folder, &format!("slice-scatter data.npy --fill {n} --at : -i"), Stdio::null(), Stdio::null()),
        _ => spawn(
            &folder,
            &format!("slice-scatter new.npy --fill {n} --at : -o data.npy"),
            Stdio::null(),
            Stdio::null(),
        ),
    };
    all_succeed((0..40).map(start).collect());
    let found = folder.get("data.npy");
    assert!((0..40).any(|n| found == npy("<i4", &[16], &int32((0..16).map(|_| n)))), "torn");
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn the_last_of_millions_is_bad() {
    const COUNT: usize = 2_000_000;
    let folder = Folder::new();
    let before = npy("<u1", &[1000], &[7; 1000]);
    let mut indices: Vec<u8> = joined((0..COUNT as u32 - 1).map(|i| (i % 1000).to_le_bytes()));
    indices.extend(1000_u32.to_le_bytes());
    folder.put("data.npy", &before);
    folder.put("tuples.npy", npy("<u4", &[COUNT, 1], &indices)).put("places.npy", npy("<u4", &[COUNT], &indices));
    folder.put("updates.npy", npy("<u1", &[COUNT], &vec![1; COUNT]));
    let rows = [
        ("scatter-nd data.npy tuples.npy --fill 1 -i", "INDICES tuples.npy: 1000 at [1999999, 0]"),
        ("scatter-nd data.npy tuples.npy updates.npy --reduction add -i", "INDICES tuples.npy: 1000 at [1999999, 0]"),
        ("scatter-update data.npy places.npy updates.npy --axis 0 -i", "INDICES places.npy: 1000 at [1999999]"),
        ("scatter-update data.npy places.npy --fill 1 --axis 0 -i --threads 2", "1000 at [1999999]"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, message)| folder.refuses(crate::common::words(args), &[message]).map(drop),
    );
    assert_eq!(folder.get("data.npy"), before);
}
