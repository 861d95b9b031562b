//! The same command gives the same bytes, whatever the machine does.

use std::collections::BTreeMap;

use crate::common::{Folder, each, npy, words};

/// What may not matter: threads, window, locale, time zone, and how often.
const SETTINGS: [[&str; 5]; 9] = [
    ["", "", "", "", ""],
    ["", "", "", "", ""],
    ["1", "", "C", "UTC", "80"],
    ["2", "", "de_DE.UTF-8", "Asia/Kathmandu", "20"],
    ["8", "1000", "tr_TR.UTF-8", "America/St_Johns", "200"],
    ["3", "64", "C.UTF-8", ":nonsense", "1"],
    ["1", "24", "nonsense", "", "x"],
    ["8", "4096", "ja_JP.SJIS", "Pacific/Apia", "0"],
    ["5", "", "POSIX", "UTC+25", "80"],
];

/// Status, standard output, standard error.
type Outcome = (Option<i32>, Vec<u8>, String);

#[test]
fn whatever_the_surroundings() {
    let folder = Folder::new();
    let floats: Vec<u8> = (0..30_000_u32).flat_map(|i| (i as f32 * 0.37 - 1234.5).sin().to_le_bytes()).collect();
    let indices: Vec<u8> = (0..5000_i64).flat_map(|i| ((i * 7919) % 100).to_le_bytes()).collect();
    let bad: Vec<u8> =
        (0..5000_i64).flat_map(|i| if i % 1700 == 1699 { 100 + i } else { i % 100 }.to_le_bytes()).collect();
    folder.put("floats.npy", npy("<f4", &[100, 300], &floats)).put("table.npy", npy("<f4", &[100, 2], &floats[..800]));
    folder.put("indices.npy", npy("<i8", &[5000, 1], &indices)).put("flat.npy", npy("<i8", &[5000], &indices));
    folder.put("bad.npy", npy("<i8", &[5000, 1], &bad)).put("updates.npy", npy("<f4", &[5000, 2], &floats[..40_000]));
    let mut others = floats.clone();
    others.iter_mut().step_by(577).for_each(|byte| *byte ^= 5);
    folder.put("others.npy", npy("<f4", &[100, 300], &others)).put("big-endian.npy", npy(">f4", &[30_000], &floats));
    let wide: Vec<u8> = (0..30_000_u32).map(|n| (n * n % 100) as u8).collect();
    let mut bad_wide = wide.clone();
    bad_wide[20_001] = 100;
    bad_wide[29_999] = 101;
    folder.put("wide.npy", npy("|u1", &[100, 300], &wide)).put("bad-wide.npy", npy("|u1", &[100, 300], &bad_wide));
    // each window reads all indices
    let few: Vec<u8> = (0..3000_u32).map(|n| (n * n % 10) as u8).collect();
    folder.put("few.npy", npy("<f4", &[10, 300], &floats[..12_000])).put("few-wide.npy", npy("|u1", &[10, 300], &few));
    folder.put("few-others.npy", npy("<f4", &[10, 300], &others[..12_000]));
    folder.put("dates.json", br#"{"dtype": "<M8[s]", "data": ["2026-03-29T02:30:00", "1999-12-31T23:59:60"]}"#);
    folder.put("date.json", br#"{"dtype": "<M8[s]", "data": ["2026-03-29T02:30:00", "1969-12-31T23:59:59"]}"#);
    let rows = [
        "slice floats.npy --at ::3,::-7 --to npy",
        "slice floats.npy --at :40,5:9",
        "slice floats.npy --at ::20,::50 --to json",
        "slice-scatter floats.npy --fill 0.1 --at ::2,1::3 --to npy",
        "scatter-update table.npy flat.npy updates.npy --axis 0 --to npy",
        "scatter-nd table.npy indices.npy updates.npy --to npy",
        "scatter-nd table.npy indices.npy updates.npy --reduction add --to npy",
        "scatter-nd table.npy indices.npy updates.npy --reduction mul",
        "scatter-nd table.npy indices.npy updates.npy --reduction sub",
        "scatter-nd table.npy indices.npy --fill 1.5 --reduction max --to json",
        "scatter-nd table.npy bad.npy updates.npy --reduction add --to npy",
        "scatter-nd table.npy indices.npy updates.npy --on-duplicate error",
        "scatter-nd table.npy indices.npy updates.npy --dry-run",
        "scatter-elements few.npy few-wide.npy --fill 2.5 --to npy",
        "scatter-elements few.npy few-wide.npy few-others.npy --axis 0 --reduction add --to npy",
        "scatter-elements few.npy few-wide.npy few-others.npy --axis 1 --reduction mean --no-initial --to npy",
        "scatter-elements few.npy few-wide.npy few-others.npy --axis 0 --on-duplicate error",
        "scatter-elements floats.npy bad-wide.npy others.npy --axis 0",
        "gather table.npy flat.npy --to npy",
        "gather floats.npy [299,-1,7,0] --axis 1",
        "gather table.npy flat.npy --dry-run",
        "gather-elements floats.npy wide.npy --to npy",
        "gather-elements floats.npy wide.npy --axis -1 --to npy",
        "gather-elements floats.npy bad-wide.npy",
        "gather-nd table.npy indices.npy --to npy",
        "gather-nd floats.npy indices.npy --to npy",
        "gather-nd table.npy bad.npy --to npy",
        "gather-nd table.npy indices.npy --dry-run",
        "concat floats.npy floats.npy --axis -1 --to npy",
        "concat floats.npy indices.npy",
        "transpose floats.npy --to npy",
        "transpose floats.npy --axes 0,0",
        "reshape floats.npy --shape 7,-1 --to npy",
        "reshape floats.npy --shape 300,100 --to npy",
        "pad floats.npy --before 3,1 --after 0,450 --mode reflect --to npy",
        "pad floats.npy --before -90,2 --after 0,-290 --fill 0.5",
        "pad floats.npy --before 1 --after 1",
        "tile table.npy --repeats 3,2 --to npy",
        "tile table.npy --repeats 2 --dry-run",
        "roll floats.npy --shift 7,-7 --axes 0,1 --to npy",
        "roll floats.npy --shift 12345 --to npy",
        "broadcast table.npy --shape 3,1,1 --to npy",
        "broadcast table.npy --shape 3",
        "split floats.npy --parts 7 --to npz",
        "split floats.npy --lengths 1,-1,100 --axis 1 --to safetensors",
        "split floats.npy --lengths 1,2 --to npz",
        "slice date.json --at ::-1",
        "slice date.json --at ::-1 --to json",
        "slice dates.json --at ::-1",
        "slice [1e400] --at :",
        "slice missing.npy --at :",
        "slice floats.npy --at 1",
        "slice --help",
        "diff floats.npy others.npy --json",
        "diff floats.npy others.npy --json --rtol 1e-3 --max-mismatch 40",
        "diff floats.npy others.npy",
        "diff floats.npy others.npy -q",
        "info floats.npy table.npy big-endian.npy --stats --json",
        "info floats.npy --stats",
        "convert a=floats.npy b=table.npy c=flat.npy --to npz -o -",
        "convert a=floats.npy b=table.npy c=flat.npy --to safetensors -o -",
        "convert floats.npy --to pb -o -",
        "convert floats.npy --cast bfloat16 --to pb -o -",
        "convert floats.npy --cast int8 --to npz -o -",
    ];
    each(
        rows,
        |args| (*args).to_owned(),
        |args| {
            let mut outcomes: BTreeMap<Outcome, Vec<[&str; 5]>> = BTreeMap::new();
            for setting in SETTINGS {
                let mut command = folder.command();
                let names = ["TENSOROP_THREADS", "TENSOROP_WINDOW", "LC_ALL", "TZ", "LINES"];
                for (name, value) in names.into_iter().zip(setting).filter(|(_, value)| !value.is_empty()) {
                    command.env(name, value);
                }
                let output = command.args(words(args)).output().map_err(|e| e.to_string())?;
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                outcomes.entry((output.status.code(), output.stdout, said)).or_default().push(setting);
            }
            match outcomes.len() {
                1 => Ok(()),
                n => Err(format!("{n} outcomes: {:?}", outcomes.into_values().collect::<Vec<_>>())),
            }
        },
    );
}

/// Files, too: no time, no name and no number of a process gets into them.
#[test]
fn files_again_and_again() {
    let folder = Folder::new();
    folder.put("data.npy", npy("<f4", &[3, 2], &[7; 24]));
    for name in ["out.npy", "out.json", "out.txt", "out.npz", "out.safetensors", "out.pb"] {
        let write = |name: &str| folder.run(["slice", "data.npy", "--at", "::-1", "-o", name]).printed().unwrap();
        write(name);
        let first = folder.get(name);
        for _ in 0..3 {
            write(name);
            assert_eq!(folder.get(name), first, "{name}");
        }
    }
}
