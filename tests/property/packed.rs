//! Random tensors of items that share bytes, through `convert` to another format and back, bit for bit.

use crate::common::Random;
use crate::common::{
    DIVISIONS, Folder, header, member, npy, npy_with_header, npz, rounds, safetensors, to_fortran, words,
};

/// Dtypes of which several items share a byte: name, dtype of the items, how many they are.
const PACKED: [(&str, &str, usize); 5] = [
    ("int4x2", "int4", 2),
    ("uint4x2", "uint4", 2),
    ("float4_e2m1fnx2", "float4_e2m1fn", 2),
    ("int2x4", "int2", 4),
    ("uint2x4", "uint2", 4),
];

#[test]
fn packed_tensors_there_and_back() {
    let mut random = Random(11);
    let folder = Folder::new();
    for case in 0..rounds(300) {
        let (name, dtype, each) = *random.of(&PACKED);
        let rank = 1 + random.below(3);
        let mut shape: Vec<usize> = (0..rank).map(|_| random.below(6)).collect();
        let bytes: Vec<u8> = (0..shape.iter().product()).map(|_| random.below(256) as u8).collect();
        let from = *random.of(&["c.npy", "f.npy", "v.npy", "a.npz", "a.safetensors"]);
        let content = match from {
            "c.npy" => npy("|u1", &shape, &bytes),
            "f.npy" => npy_with_header(&header("|u1", true, &shape), &to_fortran(&bytes, &shape, 1)),
            "v.npy" => npy("|V1", &shape, &bytes),
            "a.npz" => npz(&[("a", npy("|u1", &shape, &bytes))]),
            _ => safetensors(&[member("a", "uint8", &shape, bytes.clone())]),
        };
        folder.put(from, content);
        shape[rank - 1] *= each;
        let (to, between, view) = match random.below(5) {
            0 => ("npy", "o.npy", format!(" --dtype {dtype}")),
            1 => ("pb", "o.pb", String::new()),
            2 => ("json", "o.json", String::new()),
            3 => ("raw", "o.bin", format!(":{dtype}{shape:?}").replace(' ', "")),
            _ => ("raw --packed", "o.bin", format!(":{name}{shape:?}").replace(' ', "")),
        };
        let division = random.of(&DIVISIONS);
        // through standard output, since a file that is replaced is first put on the disk
        let run = |args: String| {
            let args = words(&format!("{args} --threads {}", division.threads));
            let run = folder.run_with(args, division.window, None);
            assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "case {case}");
            run.stdout
        };
        folder.put(between, run(format!("convert {from} --dtype {name} --to {to}")));
        let back = run(format!("convert {between}{view} --to raw --packed"));
        assert!(back == bytes, "case {case}: {name} {shape:?} from {from} by {to}");
    }
}
