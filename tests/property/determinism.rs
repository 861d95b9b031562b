//! The same command gives the same bytes, whatever the machine does.

use std::collections::BTreeMap;

use crate::common::{Folder, SPECS, commands, each, file_of, named, npy, put_operands, rounds, words};

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
    let float = |n: usize| (n as f32 * 0.37 - 1234.5).sin().to_le_bytes().to_vec();
    // many indices of few rows, each several times
    put_operands(&folder, "<f4", [100, 20], 3000, float);
    folder.put("n.npy", npy("<i4", &[0, 1 << 40], &[]));
    let mut others: Vec<u8> = (0..2000).flat_map(float).collect();
    folder.put("big-endian.npy", npy(">f4", &[2000], &others));
    others.iter_mut().step_by(577).for_each(|byte| *byte ^= 5);
    folder.put("others.npy", npy("<f4", &[100, 20], &others));
    // several numbers that are out of range
    let bad: Vec<u8> =
        (0..5000_i64).flat_map(|i| if i % 1700 == 1699 { 100 + i } else { i % 100 }.to_le_bytes()).collect();
    folder.put("bad.npy", npy("<i8", &[5000, 1], &bad)).put("flat.npy", npy("<i8", &[5000], &bad));
    let wide = |n: u32| if n == 1501 || n == 1999 { n } else { n * n % 100 };
    folder.put(
        "bad-wide.npy",
        npy("<u4", &[100, 20], &(0..2000).flat_map(|n| wide(n).to_le_bytes()).collect::<Vec<_>>()),
    );
    folder.put("dates.json", br#"{"dtype": "<M8[s]", "data": ["2026-03-29T02:30:00", "1999-12-31T23:59:60"]}"#);
    folder.put("date.json", br#"{"dtype": "<M8[s]", "data": ["2026-03-29T02:30:00", "1969-12-31T23:59:59"]}"#);
    let rows = [
        "scatter-nd d.npy t.npy u.npy --reduction mul",
        "scatter-nd d.npy t.npy u.npy --on-duplicate error",
        "scatter-nd d.npy bad.npy --fill 1 --reduction add --to npy",
        "scatter-elements d.npy e.npy v.npy --axis 1 --reduction mean --no-initial --to npy",
        "scatter-elements d.npy e.npy v.npy --axis 0 --on-duplicate error",
        "scatter-elements d.npy bad-wide.npy others.npy --axis 0",
        "gather-elements d.npy bad-wide.npy",
        "gather d.npy flat.npy",
        "gather-nd d.npy bad.npy --to npy",
        "split d.npy --parts 7 --to npz",
        "split d.npy --lengths 1,-1,10 --axis 1 --to safetensors",
        "slice date.json --at ::-1",
        "slice date.json --at ::-1 --to json",
        "slice dates.json --at ::-1",
        "slice [1e400] --at :",
        "slice missing.npy --at :",
        "slice d.npy --at 1",
        "slice --help",
        "diff d.npy others.npy --json",
        "diff d.npy others.npy --json --rtol 1e-3 --max-mismatch 40",
        "diff d.npy others.npy",
        "diff d.npy others.npy -q",
        "info d.npy u.npy big-endian.npy --stats --json",
        "info d.npy --stats",
        "convert a=d.npy b=u.npy c=i.npy --to npz -o -",
        "convert a=d.npy b=u.npy c=i.npy --to safetensors -o -",
        "convert d.npy --to pb -o -",
        "convert d.npy --cast bfloat16 --to pb -o -",
        "convert d.npy --cast int8 --to npz -o -",
    ];
    let forms = ["--to npy", "", "--to json", "--dry-run"].into_iter().cycle();
    let lines = commands().zip(forms).map(|(line, form)| format!("{} {form}", named(&line, file_of)));
    let refused = SPECS.iter().map(|spec| named(&spec.lines(spec.refused)[0], file_of));
    // of the surroundings the first, and half of the others, the other half for the next row; the weekly run takes all
    let step = if rounds(1) > 1 { 1 } else { 2 };
    let all = rows.map(str::to_owned).into_iter().chain(lines).chain(refused).enumerate();
    each(
        all,
        |(_, args)| args.clone(),
        |(row, args)| {
            let mut outcomes: BTreeMap<Outcome, Vec<[&str; 5]>> = BTreeMap::new();
            let others = SETTINGS.into_iter().skip(1 + row % step).step_by(step);
            for setting in SETTINGS.into_iter().take(1).chain(others) {
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
