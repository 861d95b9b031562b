//! `tensorop gather-elements`: ONNX GatherElements 11 and 13 and OpenVINO GatherElements-6 from the command line.

use crate::common::{Example, Folder, Tensor, each, examples, npy, prints, refusals, tensor, words};

fn example(name: &str, data: &Tensor<i32>, indices: Tensor<i64>, options: &str, expected: &[i32]) -> Example<i32> {
    let expected = tensor(&indices.shape, expected);
    Example {
        name: name.to_owned(),
        indices: Some(indices),
        ..Example::of("gather-elements", data.clone(), options, expected)
    }
}

/// The examples of both documents, which are ONNX's own tests of the operator, too.
#[test]
fn examples_of_the_specifications() {
    let two = tensor(&[2, 2], &[1, 2, 3, 4]);
    let nine = tensor(&[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let cube = tensor(&[3, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let pair = tensor(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
    examples(vec![
        example("0", &two, tensor(&[2, 2], &[0, 0, 1, 0]), "--axis 1", &[1, 1, 4, 3]),
        example("1", &nine, tensor(&[2, 3], &[1, 2, 0, 2, 0, 0]), "", &[4, 8, 3, 7, 2, 3]),
        example("from the end", &nine, tensor(&[2, 3], &[-1, -2, 0, -2, 0, 0]), "--axis 0", &[7, 5, 3, 4, 2, 3]),
        example("OpenVINO's 1", &two, tensor(&[2, 2], &[0, 1, 0, 0]), "--axis 0", &[1, 4, 1, 2]),
        example("OpenVINO's 2", &pair, tensor(&[2, 1, 2], &[0, 0, 1, 0]), "--axis -2", &[1, 2, 7, 6]),
        example(
            "fewer rows",
            &cube,
            tensor(&[2, 2, 3], &[0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1]),
            "--axis 2",
            &[1, 2, 2, 3, 3, 4, 6, 5, 5, 8, 8, 8],
        ),
    ]);
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0], &[]).npy()).put("i-none.npy", tensor::<i64>(&[0, 3], &[]).npy());
    folder.put("i-empty.npy", tensor::<i64>(&[5, 0], &[]).npy());
    let rows = [
        ("gather-elements d.npy [[1,0,-1]]", "int32 [1, 3] [[3, 1, 5]]"),
        ("gather-elements d.npy [[2],[0]] --axis 1", "int32 [2, 1] [[2], [3]]"),
        ("gather-elements d.npy [[-1,0,1,0]] --axis [-1]", "int32 [1, 4] [[2, 0, 1, 0]]"),
        ("gather-elements d.npy [[1],[1],[0],[1]]", "int32 [4, 1] [[3], [3], [0], [3]]"),
        // nothing to take
        ("gather-elements d.npy i-none.npy", "int32 [0, 3] []"),
        ("gather-elements none.npy i-empty.npy", "int32 [5, 0] [[], [], [], [], []]"),
        // plain JSON
        ("gather-elements [1.5,2] [1,1]", "float64 [2] [2.0, 2.0]"),
        (r#"gather-elements ["a","xyz"] [1,0]"#, r#"<U3 [2] ["xyz", "a"]"#),
        ("gather-elements [true,false] [-1]", "bool [1] [false]"),
    ];
    prints(&folder, &rows);
}

/// Data that is more than is kept in memory, and data whose rows are read with the items, in both orders of storage, along
/// every axis.
#[test]
fn larger_data() {
    let folder = Folder::new();
    // 20 MB: more than is kept for a few indices
    let shape = [50, 100, 1000];
    let items: Vec<i32> = (0..5_000_000).map(|n| n ^ 0x5a5a).collect();
    let data = tensor::<i32>(&shape, &items);
    folder.put("c.npy", data.npy()).put("f.npy", data.npy_fortran());
    each(
        (0..3).flat_map(|axis| ["c.npy", "f.npy"].map(|file| (axis, file))),
        |(axis, file)| format!("{file}, axis {axis}"),
        |&(axis, file)| {
            let mut index_shape = [7, 8, 9];
            index_shape[axis] = 20;
            let count: usize = index_shape.iter().product();
            let dim = shape[axis] as i64;
            let numbers: Vec<i64> = (0..count as i64).map(|n| n * 7919 % (2 * dim) - dim).collect();
            let picked: Vec<i32> = (0..count)
                .map(|n| {
                    let mut at = [
                        n / (index_shape[1] * index_shape[2]),
                        n / index_shape[2] % index_shape[1],
                        n % index_shape[2],
                    ];
                    at[axis] = numbers[n].rem_euclid(dim) as usize;
                    items[(at[0] * shape[1] + at[1]) * shape[2] + at[2]]
                })
                .collect();
            folder.put("i.npy", tensor::<i64>(&index_shape, &numbers).npy());
            let args = format!("gather-elements {file} i.npy --axis {axis}");
            folder.gives(&words(&args), None, &tensor::<i32>(&index_shape, &picked).npy())
        },
    );
}

/// What is gathered at indices goes back to them.
#[test]
fn gathered_goes_back() {
    let folder = Folder::new();
    let items: Vec<i32> = (0..60).map(|n| n * 37 % 61).collect();
    folder.put("d.npy", tensor::<i32>(&[3, 4, 5], &items).npy());
    folder.put("i.npy", tensor::<i64>(&[3, 2, 5], &(0..30).map(|n| n % 4).collect::<Vec<_>>()).npy());
    let run = |args: &str| folder.run(words(args)).printed().expect("a run");
    run("gather-elements d.npy i.npy --axis 1 -o taken.npy");
    run("scatter-elements d.npy i.npy taken.npy --axis 1 -o back.npy");
    assert_eq!(folder.get("back.npy"), folder.get("d.npy"));
    run("scatter-elements d.npy i.npy --fill -1 --axis 1 -o holes.npy");
    run("scatter-elements holes.npy i.npy taken.npy --axis 1 -i");
    assert_eq!(folder.get("holes.npy"), folder.get("d.npy"));
}

/// One is counted as one, by every operator that counts.
#[test]
fn dry_runs_of_one() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<u8>(&[1], &[7]).npy());
    for (args, line) in [
        ("gather d.npy 0", "batch dims 0: 1 index\n"),
        ("gather-elements d.npy [0]", "axis 0: 1 index\n"),
        ("gather-nd d.npy [[0]]", "batch dims 0: 1 index tuple\n"),
        ("scatter-elements d.npy [0] [5]", "reduction none: 1 index\n"),
        ("scatter-nd d.npy [[0]] [5]", "reduction none: 1 index tuple\n"),
        ("scatter-update d.npy [0] [5] --axis 0", "axis 0: 1 index\n"),
        ("concat d.npy", "axis 0: 1 place\n"),
        ("transpose d.npy", "axes [0]\n"),
        ("reshape d.npy --shape 1,1", "shape [1, 1]\n"),
    ] {
        let said = folder.run(words(&format!("{args} --dry-run -o out.npy"))).printed().expect("a report");
        assert!(said.contains(line) && said.ends_with(", 1 byte of data\n"), "{args}: {said}");
    }
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("i-huge.npy", npy("<u8", &[1, 1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    folder.put("i-least.npy", npy(">i8", &[1, 1], &[0x80, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("last.npy", {
        let mut numbers = vec![1_i64; 3000];
        numbers[2999] = 2;
        tensor::<i64>(&[3000, 1], &numbers).npy_fortran()
    });
    let rows: &[(&str, &[&str])] = &[
        ("gather-elements d.npy [[0,0,2]]", &["INDICES", "2 at [0, 2]", "[-2, 1]", "axis 0", "[2, 3]"]),
        ("gather-elements d.npy [[-3]]", &["INDICES", "-3 at [0, 0]", "[-2, 1]"]),
        ("gather-elements d.npy [[0],[3]] --axis 1", &["INDICES", "3 at [1, 0]", "[-3, 2]", "axis 1"]),
        ("gather-elements d.npy last.npy", &["INDICES", "last.npy", "2 at [2999, 0]"]),
        ("gather-elements d.npy i-huge.npy", &["INDICES", "i-huge.npy", "9223372036854775808 at [0, 0]"]),
        ("gather-elements d.npy i-least.npy", &["INDICES", "i-least.npy", "-9223372036854775808 at [0, 0]"]),
        ("gather-elements none.npy [[0],[0]] --axis 1", &["INDICES", "0 at [0, 0]", "no place"]),
        ("gather-elements d.npy [0,1]", &["INDICES", "rank 1", "expected 2", "[2, 3]"]),
        ("gather-elements d.npy [[0,0,0,0]]", &["INDICES", "[1, 4]", "at most 3 on axis 1"]),
        ("gather-elements zero.npy 0", &["DATA", "zero.npy", "rank 0"]),
        ("gather-elements d.npy [[0]] --axis 2", &["--axis", "2", "[-2, 1]"]),
        ("gather-elements d.npy [[0]] --axis x", &["--axis", "x"]),
        ("gather-elements d.npy [[0]] [[1]]", &["[[1]]"]),
        ("gather-elements d.npy", &["INDICES"]),
        ("gather-elements d.npy [[0]] --opset 13", &["--opset"]),
    ];
    refusals(&folder, rows);
}
