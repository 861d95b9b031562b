//! What holds of every operator, whatever it computes. An operator is described by a [`Spec`], and has all the tests of this
//! file. What only one operator does is tested in the file of its name.

use tensorop::format::npy::write_header;
use tensorop::item::meta::Meta;

use crate::common::{Folder, each, header, npy, npy_with_header, tensor, to_fortran, words};

/// An operator that moves items as they are, with what its dry run says.
struct Spec {
    operator: &'static str,
    /// The specifications that a dry run names.
    title: &'static str,
    /// The operands with items: how messages call each, and its shape. In rows they are called A, B, C and so on.
    operands: &'static [(&'static str, &'static [usize])],
    /// The first row is also tested with every form of its operands and of its output.
    rows: &'static [Row],
    /// Whether the first row can change A in place.
    in_place: bool,
}

/// What an operator makes of operands.
struct Row {
    /// The arguments, with a space between two of them: a letter for an operand with items, a list for INDICES, options.
    args: &'static str,
    /// The lines of a dry run between the operands and the output.
    report: &'static str,
    /// The dims of the output.
    dims: &'static [usize],
    /// The items of the output in C order. The items of A are called 0, 1, 2 and so on, and those of B go on from there.
    items: &'static [usize],
}

/// An item of the output whose bytes are zero.
const ZERO: usize = usize::MAX;

/// An item of the output that has the value of a new item of its dtype: of dates NaT, otherwise bytes that are zero.
const DEFAULT: usize = usize::MAX - 1;

/// The items of a tensor of 24 in their order.
const IN_ORDER: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

const fn row(args: &'static str, report: &'static str, dims: &'static [usize], items: &'static [usize]) -> Row {
    Row { args, report, dims, items }
}

const SLICE: Spec = Spec {
    operator: "slice",
    title: "OpenVINO Slice-8",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row(
            "A --at ::-1,1:",
            "axis 0 of 2: 2 from 1 to 0 by -1\n  axis 1 of 3: 2 from 1 to 2 by 1\n  axis 2 of 2: all 2",
            &[2, 2, 2],
            &[8, 9, 10, 11, 2, 3, 4, 5],
        ),
        row(
            "A --start 0 --stop 3 --step 2 --axes 1",
            "axis 0 of 2: all 2\n  axis 1 of 3: 2 from 0 to 2 by 2\n  axis 2 of 2: all 2",
            &[2, 2, 2],
            &[0, 1, 4, 5, 6, 7, 10, 11],
        ),
        row(
            "A --at 1:,:,::-1",
            "axis 0 of 2: 1\n  axis 1 of 3: all 3\n  axis 2 of 2: 2 from 1 to 0 by -1",
            &[1, 3, 2],
            &[7, 6, 9, 8, 11, 10],
        ),
    ],
    in_place: false,
};

const SLICE_SCATTER: Spec = Spec {
    operator: "slice-scatter",
    title: "OpenVINO SliceScatter-15",
    operands: &[("DATA", &[2, 3, 2]), ("UPDATES", &[1, 2, 2]), ("UPDATES", &[2, 3, 1])],
    rows: &[
        row(
            "A B --at 1:,::-2",
            "axis 0 of 2: 1\n  axis 1 of 3: 2 from 2 to 0 by -2\n  axis 2 of 2: all 2",
            &[2, 3, 2],
            &[0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 12, 13],
        ),
        row(
            "A C --start 0 --stop 1 --axes -1",
            "axis 0 of 2: all 2\n  axis 1 of 3: all 3\n  axis 2 of 2: 0",
            &[2, 3, 2],
            &[16, 1, 17, 3, 18, 5, 19, 7, 20, 9, 21, 11],
        ),
    ],
    in_place: true,
};

const SCATTER_UPDATE: Spec = Spec {
    operator: "scatter-update",
    title: "OpenVINO ScatterUpdate-3",
    operands: &[("DATA", &[2, 3, 2]), ("UPDATES", &[2, 2, 2]), ("UPDATES", &[2, 3, 2])],
    rows: &[
        row("A [2,0] B --axis 1", "axis 1: 2 indices", &[2, 3, 2], &[14, 15, 2, 3, 12, 13, 18, 19, 8, 9, 16, 17]),
        row("A [1,1] C --axis -3", "axis -3: 2 indices", &[2, 3, 2], &[0, 1, 2, 3, 4, 5, 26, 27, 28, 29, 30, 31]),
    ],
    in_place: true,
};

const SCATTER_ND: Spec = Spec {
    operator: "scatter-nd",
    title: "ONNX ScatterND-18",
    operands: &[("DATA", &[2, 3, 2]), ("UPDATES", &[2, 2]), ("UPDATES", &[3])],
    rows: &[
        row(
            "A [[1,0],[0,-1]] B",
            "reduction none: 2 index tuples",
            &[2, 3, 2],
            &[0, 1, 2, 3, 14, 15, 12, 13, 8, 9, 10, 11],
        ),
        row(
            "A [[1,2,0],[0,0,1],[1,2,0]] C",
            "reduction none: 3 index tuples",
            &[2, 3, 2],
            &[0, 17, 2, 3, 4, 5, 6, 7, 8, 9, 18, 11],
        ),
    ],
    in_place: true,
};

const SCATTER_ELEMENTS: Spec = Spec {
    operator: "scatter-elements",
    title: "ONNX ScatterElements-18, OpenVINO ScatterElementsUpdate-12",
    operands: &[("DATA", &[2, 3, 2]), ("UPDATES", &[1, 2, 1]), ("UPDATES", &[1, 3, 2])],
    rows: &[
        row(
            "A [[[2],[-3]]] B --axis 1",
            "axis 1, reduction none: 2 indices",
            &[2, 3, 2],
            &[13, 1, 2, 3, 12, 5, 6, 7, 8, 9, 10, 11],
        ),
        row(
            "A [[[1,0],[1,0],[0,1]]] C",
            "axis 0, reduction none: 6 indices",
            &[2, 3, 2],
            &[0, 15, 2, 17, 18, 5, 14, 7, 16, 9, 10, 19],
        ),
    ],
    in_place: true,
};

const GATHER: Spec = Spec {
    operator: "gather",
    title: "OpenVINO Gather-8, ONNX Gather-13",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row(
            "A [[2,0],[-1,1]] --axis 1",
            "axis 1, batch dims 0: 4 indices",
            &[2, 2, 2, 2],
            &[4, 5, 0, 1, 4, 5, 2, 3, 10, 11, 6, 7, 10, 11, 8, 9],
        ),
        row("A [1,-2]", "axis 0, batch dims 0: 2 indices", &[2, 3, 2], &[6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]),
        row(
            "A [[1],[-2]] --axis 2 --batch-dims 1",
            "axis 2, batch dims 1: 2 indices",
            &[2, 3, 1],
            &[1, 3, 5, 6, 8, 10],
        ),
        row(
            "A [1,3] --axis 1 --out-of-range zero",
            "axis 1, batch dims 0: 2 indices",
            &[2, 2, 2],
            &[2, 3, ZERO, ZERO, 8, 9, ZERO, ZERO],
        ),
    ],
    in_place: false,
};

const GATHER_ND: Spec = Spec {
    operator: "gather-nd",
    title: "ONNX GatherND-13, OpenVINO GatherND-8",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row("A [[1,-1],[0,0]]", "batch dims 0: 2 index tuples", &[2, 2], &[10, 11, 0, 1]),
        row(
            "A [[[1],[-3]],[[0],[2]]] --batch-dims 1",
            "batch dims 1: 4 index tuples",
            &[2, 2, 2],
            &[2, 3, 0, 1, 6, 7, 10, 11],
        ),
        row("A [[1,2,0],[0,0,1],[1,2,0]]", "batch dims 0: 3 index tuples", &[3], &[10, 1, 10]),
    ],
    in_place: false,
};

const GATHER_ELEMENTS: Spec = Spec {
    operator: "gather-elements",
    title: "ONNX GatherElements-13, OpenVINO GatherElements-6",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row("A [[[2,-3],[1,1]],[[0,-1],[2,0]]] --axis 1", "axis 1: 8 indices", &[2, 2, 2], &[4, 1, 2, 3, 6, 11, 10, 7]),
        row("A [[[1,-2],[0,0]]]", "axis 0: 4 indices", &[1, 2, 2], &[6, 1, 2, 3]),
        row("A [[[1],[0],[1]],[[1],[1],[0]]] --axis -1", "axis -1: 6 indices", &[2, 3, 1], &[1, 2, 5, 7, 9, 10]),
    ],
    in_place: false,
};

const CONCAT: Spec = Spec {
    operator: "concat",
    title: "ONNX Concat-13, OpenVINO Concat-1",
    operands: &[("DATA", &[2, 3, 2]), ("DATA", &[1, 3, 2]), ("DATA", &[2, 1, 2]), ("DATA", &[2, 3, 1])],
    rows: &[
        row("A B", "axis 0: 3 places", &[3, 3, 2], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]),
        row("A C --axis 1", "axis 1: 4 places", &[2, 4, 2], &[0, 1, 2, 3, 4, 5, 18, 19, 6, 7, 8, 9, 10, 11, 20, 21]),
        row(
            "A D --axis -1",
            "axis 2: 3 places",
            &[2, 3, 3],
            &[0, 1, 22, 2, 3, 23, 4, 5, 24, 6, 7, 25, 8, 9, 26, 10, 11, 27],
        ),
    ],
    in_place: true,
};

const TRANSPOSE: Spec = Spec {
    operator: "transpose",
    title: "ONNX Transpose, OpenVINO Transpose-1",
    operands: &[("DATA", &[2, 3, 4])],
    rows: &[
        row(
            "A",
            "axes [2, 1, 0]",
            &[4, 3, 2],
            &[0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23],
        ),
        row(
            "A --axes 2,0,1",
            "axes [2, 0, 1]",
            &[4, 2, 3],
            &[0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23],
        ),
        row(
            "A --axes 0,2,1",
            "axes [0, 2, 1]",
            &[2, 4, 3],
            &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23],
        ),
    ],
    in_place: false,
};

const RESHAPE: Spec = Spec {
    operator: "reshape",
    title: "ONNX Reshape, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0",
    operands: &[("DATA", &[2, 1, 3, 4])],
    rows: &[
        row("A --shape 4,-1", "shape [4, 6]", &[4, 6], IN_ORDER),
        row("A --shape -1", "shape [24]", &[24], IN_ORDER),
        row("A --squeeze", "shape [2, 3, 4]", &[2, 3, 4], IN_ORDER),
        row("A --unsqueeze 0,-1", "shape [1, 2, 1, 3, 4, 1]", &[1, 2, 1, 3, 4, 1], IN_ORDER),
    ],
    in_place: true,
};

const PAD: Spec = Spec {
    operator: "pad",
    title: "ONNX Pad, OpenVINO Pad-12",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row(
            "A --before 1,0,0 --after 0,1,0",
            "shape [3, 4, 2]",
            &[3, 4, 2],
            &[
                DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, DEFAULT, 0, 1, 2, 3, 4, 5, DEFAULT,
                DEFAULT, 6, 7, 8, 9, 10, 11, DEFAULT, DEFAULT,
            ],
        ),
        row(
            "A --before 1,-1 --after 1,2 --axes 0,1 --mode reflect",
            "shape [4, 4, 2]",
            &[4, 4, 2],
            &[8, 9, 10, 11, 8, 9, 10, 11, 2, 3, 4, 5, 2, 3, 4, 5, 8, 9, 10, 11, 8, 9, 10, 11, 2, 3, 4, 5, 2, 3, 4, 5],
        ),
        row(
            "A --before 1,0 --after 0,2 --axes -1,0 --mode edge",
            "shape [4, 3, 3]",
            &[4, 3, 3],
            &[
                0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11, 6, 6, 7, 8, 8, 9, 10, 10, 11, 6, 6, 7, 8, 8,
                9, 10, 10, 11,
            ],
        ),
        row(
            "A --before 0,2,0 --after 0,0,1 --mode symmetric",
            "shape [2, 5, 3]",
            &[2, 5, 3],
            &[2, 3, 3, 0, 1, 1, 0, 1, 1, 2, 3, 3, 4, 5, 5, 8, 9, 9, 6, 7, 7, 6, 7, 7, 8, 9, 9, 10, 11, 11],
        ),
        row(
            "A --before 0,0,3 --after 0,0,-1 --mode wrap",
            "shape [2, 3, 4]",
            &[2, 3, 4],
            &[0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 8, 8, 8, 8, 10, 10, 10, 10],
        ),
    ],
    in_place: false,
};

const TILE: Spec = Spec {
    operator: "tile",
    title: "ONNX Tile, OpenVINO Tile-1",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row(
            "A --repeats 2,1,3",
            "shape [4, 3, 6]",
            &[4, 3, 6],
            &[
                0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 8, 9, 8, 9, 8, 9, 10, 11, 10,
                11, 10, 11, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 8, 9, 8, 9, 8, 9,
                10, 11, 10, 11, 10, 11,
            ],
        ),
        row(
            "A --repeats 2",
            "shape [2, 3, 4]",
            &[2, 3, 4],
            &[0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9, 8, 9, 10, 11, 10, 11],
        ),
        row(
            "A --repeats 2,1,1,1",
            "shape [2, 2, 3, 2]",
            &[2, 2, 3, 2],
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        ),
    ],
    in_place: false,
};

const ROLL: Spec = Spec {
    operator: "roll",
    title: "OpenVINO Roll-7",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row("A --shift 1,-1 --axes 0,1", "shape [2, 3, 2]", &[2, 3, 2], &[8, 9, 10, 11, 6, 7, 2, 3, 4, 5, 0, 1]),
        row("A --shift 5", "shape [2, 3, 2]", &[2, 3, 2], &[7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6]),
        row("A --shift 1 --axes -1,1", "shape [2, 3, 2]", &[2, 3, 2], &[5, 4, 1, 0, 3, 2, 11, 10, 7, 6, 9, 8]),
    ],
    in_place: false,
};

const BROADCAST: Spec = Spec {
    operator: "broadcast",
    title: "ONNX Expand, OpenVINO Broadcast-3",
    operands: &[("DATA", &[2, 1, 2])],
    rows: &[
        row("A --shape 2,3,2", "shape [2, 3, 2]", &[2, 3, 2], &[0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
        row("A --shape 2,2,1,1", "shape [2, 2, 1, 2]", &[2, 2, 1, 2], &[0, 1, 2, 3, 0, 1, 2, 3]),
        row("A --shape 3,1", "shape [2, 3, 2]", &[2, 3, 2], &[0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    ],
    in_place: false,
};

/// Gives an operator its tests, in a module of its name.
macro_rules! tests {
    ($($module:ident $spec:ident;)+) => {
        $(mod $module {
            #[test]
            fn every_dtype_in_every_order() {
                super::every_dtype_in_every_order(&super::$spec);
            }

            #[test]
            fn every_form_of_operands() {
                super::every_form_of_operands(&super::$spec);
            }

            #[test]
            fn every_form_of_the_output() {
                super::every_form_of_the_output(&super::$spec);
            }

            #[test]
            fn dry_runs() {
                super::dry_runs(&super::$spec);
            }

            #[test]
            fn refused() {
                super::refused(&super::$spec);
            }
        })+

        const SPECS: &[&Spec] = &[$(&$spec),+];
    };
}

tests! {
    slice SLICE;
    slice_scatter SLICE_SCATTER;
    scatter_update SCATTER_UPDATE;
    scatter_nd SCATTER_ND;
    scatter_elements SCATTER_ELEMENTS;
    gather GATHER;
    gather_nd GATHER_ND;
    gather_elements GATHER_ELEMENTS;
    concat CONCAT;
    transpose TRANSPOSE;
    reshape RESHAPE;
    pad PAD;
    tile TILE;
    roll ROLL;
    broadcast BROADCAST;
}

#[test]
fn every_operator_is_here() {
    let help = Folder::new().run(["-h"]).printed().expect("help");
    let (_, list) = help.split_once("\nOperators:\n").expect("a list of operators");
    let (list, _) = list.split_once("\n\n").expect("an end of the list");
    let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
    let listed: Vec<_> = lines.filter_map(|line| line.split(' ').next().filter(|name| !name.is_empty())).collect();
    // an operator with several outputs is tested in the file of its name
    assert_eq!(listed, SPECS.iter().map(|spec| spec.operator).chain(["split"]).collect::<Vec<_>>());
}

/// The classes of dtypes: each as a header of `.npy` names it, the bytes of an item, and those of a number in it.
pub(crate) const DTYPES: [(&str, usize, usize); 22] = [
    ("'|b1'", 1, 1),
    ("'|i1'", 1, 1),
    ("'<i2'", 2, 2),
    ("'<u2'", 2, 2),
    ("'<f2'", 2, 2),
    ("'<V2'", 2, 1),
    ("'<i4'", 4, 4),
    ("'<f4'", 4, 4),
    ("'<u8'", 8, 8),
    ("'<f8'", 8, 8),
    ("'<c8'", 8, 4),
    ("'<c16'", 16, 8),
    ("'<f16'", 16, 16),
    ("'|S3'", 3, 1),
    ("'|S17'", 17, 1),
    ("'<U2'", 8, 4),
    ("'<M8[ns]'", 8, 8),
    ("'<m8[25s]'", 8, 8),
    ("'|V3'", 3, 1),
    ("'|V0'", 0, 1),
    ("[('a', '<i4'), ('b', '|S2')]", 6, 1),
    ("[('x', '>f8', (2,)), ('y', '|u1')]", 17, 1),
];

/// The bytes of an item. A bool has no others than 0 and 1.
fn item(number: usize, (descr, size, _): (&str, usize, usize)) -> Vec<u8> {
    match number {
        DEFAULT if descr.contains("M8") || descr.contains("m8") => i64::MIN.to_le_bytes().to_vec(),
        ZERO | DEFAULT => vec![0; size],
        _ if descr == "'|b1'" => vec![(number % 2) as u8],
        _ => (0..size).map(|byte| ((number * size + byte) * 7 + number + 1) as u8).collect(),
    }
}

impl Spec {
    /// The name and the shape of an operand, and the number of its first item.
    fn operand(&self, letter: &str) -> (&'static str, &'static [usize], usize) {
        let at = usize::from(letter.as_bytes()[0] - b'A');
        let (name, shape) = self.operands[at];
        (name, shape, self.operands[..at].iter().map(|(_, shape)| shape.iter().product::<usize>()).sum())
    }

    /// How messages call an operand of a row.
    fn name_of(&self, operand: &str) -> &'static str {
        if operand.starts_with('[') { "INDICES" } else { self.operand(operand).0 }
    }

    /// The command line of a row, with other names for some of its operands than their files.
    fn args(&self, row: &Row, named: &[(&str, &str)]) -> Vec<String> {
        let name = |word: &str| match named.iter().find(|(operand, _)| *operand == word) {
            Some((_, name)) => (*name).to_owned(),
            None if is_letter(word) => format!("{}.npy", word.to_lowercase()),
            None => word.to_owned(),
        };
        std::iter::once(self.operator.to_owned()).chain(row.args.split(' ').map(name)).collect()
    }

    /// Puts the operands of a row in a folder as float32: `a.npy` and so on.
    fn put(&self, row: &Row, folder: &Folder) {
        for letter in row.operands().filter(|operand| is_letter(operand)) {
            folder.put(format!("{}.npy", letter.to_lowercase()), self.floats(letter).npy());
        }
    }

    fn floats(&self, letter: &str) -> crate::common::Tensor<f32> {
        let (_, shape, first) = self.operand(letter);
        let items: Vec<f32> = (first..first + shape.iter().product::<usize>()).map(|item| item as f32).collect();
        tensor(shape, &items)
    }
}

impl Row {
    /// The operands among the arguments, without options.
    fn operands(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.args.split(' ').take_while(|word| is_letter(word) || word.starts_with('['))
    }

    /// The output, as `.npy`, of operands as [`Spec::put`] puts them.
    fn output(&self) -> Vec<u8> {
        let float = |&item: &usize| if [ZERO, DEFAULT].contains(&item) { 0.0 } else { item as f32 };
        let items: Vec<f32> = self.items.iter().map(float).collect();
        tensor(self.dims, &items).npy()
    }
}

fn is_letter(word: &str) -> bool {
    matches!(word.as_bytes(), [b'A'..=b'Z'])
}

/// Runs a command that prints nothing, or only what it wrote.
fn run(folder: &Folder, args: &[String], more: &str) -> Result<String, String> {
    folder.run(args.iter().cloned().chain(words(more))).printed().map_err(|why| format!("{args:?} {more}: {why}"))
}

/// Every class of dtype, in every mixture of byte orders and of orders of storage, from files and from standard input: no bit
/// changes, and the output has the dtype and the byte order of A. Standard input is another operand, or none, from one
/// mixture and row to the next.
#[track_caller]
fn every_dtype_in_every_order(spec: &Spec) {
    let folder = Folder::new();
    each(
        DTYPES
            .iter()
            .enumerate()
            .flat_map(|(n, dtype)| spec.rows.iter().enumerate().map(move |(at, row)| (n + at, *dtype, row))),
        |(_, (descr, ..), row)| format!("`{}` of {descr}", row.args),
        |&(at, dtype @ (descr, size, word), row)| {
            let letters: Vec<&str> = row.operands().filter(|operand| is_letter(operand)).collect();
            let swapped = |bytes: Vec<u8>| bytes.chunks(word).flat_map(|number| number.iter().rev().copied()).collect();
            let ordered = |items: Vec<u8>, is_big: bool| if is_big { swapped(items) } else { items };
            for mixture in 0..1 << (2 * letters.len()) {
                let is_big = |n: usize| mixture >> (2 * n) & 1 == 1;
                if word == 1 && (0..letters.len()).any(is_big) {
                    continue;
                }
                let head = |is_big: bool, fortran: bool, shape: &[usize]| {
                    let descr = if is_big { descr.replace('<', ">") } else { descr.to_owned() };
                    header("DESCR", fortran, shape).replace("'DESCR'", &descr)
                };
                for (n, letter) in letters.iter().enumerate() {
                    let (_, shape, first) = spec.operand(letter);
                    let fortran = mixture >> (2 * n + 1) & 1 == 1;
                    let count = shape.iter().product::<usize>();
                    let items =
                        ordered((first..first + count).flat_map(|number| item(number, dtype)).collect(), is_big(n));
                    let stored = if fortran { to_fortran(&items, shape, size) } else { items };
                    let file = npy_with_header(&head(is_big(n), fortran, shape), &stored);
                    folder.put(format!("{}.npy", letter.to_lowercase()), file);
                }
                let items = row.items.iter().flat_map(|&number| item(number, dtype)).collect();
                // the header is byte for byte NumPy's
                let plain = npy_with_header(&head(is_big(0), false, &[0]), &[]);
                let meta = Meta::new(tensorop::read_bytes(&plain).expect("a dtype").dtype().clone(), row.dims.to_vec());
                let expected = [write_header(&meta), ordered(items, is_big(0))].concat();
                let piped = match (at + mixture + (mixture >> 1)) % (letters.len() + 1) {
                    0 => None,
                    n => Some(letters[n - 1]),
                };
                let stdin = piped.map(|letter| folder.get(format!("{}.npy", letter.to_lowercase())));
                let named: Vec<_> = piped.iter().map(|letter| (*letter, "-")).collect();
                let args = spec.args(row, &named);
                let why = |why| format!("{args:?}, mixture {mixture}: {why}");
                folder.gives(&args, stdin.as_deref(), &expected).map_err(why)?;
            }
            Ok(())
        },
    );
}

/// A name of an operand, and standard input if that is its name.
pub(crate) type Form = (String, Option<Vec<u8>>);

/// The forms that a tensor of a row can have, other than a `.npy` file in C order, which is `x.npy`.
pub(crate) fn forms(folder: &Folder, dims: &[usize]) -> Vec<Form> {
    let chunks = vec!["2"; dims.len()].join(",");
    let store = format!("x.zarr --chunks {chunks}");
    for output in ["x.npz", "x.safetensors", "x.pb", "x.json", &store, "f.npy --order F"] {
        // a member has a name
        let input = if matches!(output, "x.npz" | "x.safetensors") { "x=x.npy" } else { "x.npy" };
        run(folder, &words(&format!("convert {input} -o {output}")), "").expect("a file");
    }
    let json = folder.get("x.json");
    let files = ["x.npz", "x.npz:x", "x.safetensors:x", "x.pb", "x.json", "x.zarr", "f.npy"];
    let piped = [folder.get("x.npy"), folder.get("f.npy"), json.clone()];
    let files = files.map(|name| (name.to_owned(), None)).into_iter();
    let inline = String::from_utf8(json).expect("JSON").trim_end().to_owned();
    files.chain(piped.map(|stdin| ("-".to_owned(), Some(stdin)))).chain([(inline, None)]).collect()
}

/// Each operand of the first row in every form, and INDICES of every row in every dtype that can hold them.
#[track_caller]
fn every_form_of_operands(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.put(row, &folder);
    let expected = row.output();
    for operand in row.operands() {
        let mut rows: Vec<(String, Option<Vec<u8>>, &str)> = Vec::new();
        if is_letter(operand) {
            let floats = spec.floats(operand);
            folder.put("x.npy", floats.npy());
            rows.extend(forms(&folder, &floats.shape).into_iter().map(|(name, stdin)| (name, stdin, "")));
            let raw = format!("x.npy:float32{:?}@128", floats.shape).replace(' ', "");
            rows.push((raw, None, ""));
            rows.push((floats.json(), None, "--dtype float32"));
            rows.push(("-".to_owned(), Some(floats.json().into_bytes()), "--dtype float32"));
        } else {
            run(&folder, &words(&format!("convert {operand} -o x.npy")), "").expect("integers");
            let shape = tensorop::read(folder.path("x.npy")).expect("indices").shape().to_vec();
            rows.extend(forms(&folder, &shape).into_iter().map(|(name, stdin)| (name, stdin, "")));
            rows.push(("-".to_owned(), Some(operand.as_bytes().to_vec()), ""));
        }
        each(
            rows,
            |(name, stdin, _)| format!("{operand} is `{name}`, {} bytes piped", stdin.as_ref().map_or(0, Vec::len)),
            |(name, stdin, more)| {
                let args: Vec<_> = spec.args(row, &[(operand, name)]).into_iter().chain(words(more)).collect();
                folder.gives(&args, stdin.as_deref(), &expected)
            },
        );
    }
    let mut is_unsigned = false;
    for (row, operand) in spec.rows.iter().flat_map(|row| row.operands().map(move |operand| (row, operand))) {
        if is_letter(operand) {
            continue;
        }
        spec.put(row, &folder);
        for dtype in ["int8", ">i2", "int32", ">i8", "uint8", "<u2", ">u4", "uint64"] {
            let has_sign = !dtype.contains('u');
            if has_sign || !operand.contains('-') {
                run(&folder, &words(&format!("convert {operand} -o x.npy --cast {dtype}")), "").expect("integers");
                let why = folder.gives(&spec.args(row, &[(operand, "x.npy")]), None, &row.output());
                assert_eq!(why, Ok(()), "`{}` with indices of {dtype}", row.args);
                is_unsigned |= !has_sign;
            }
        }
    }
    let has_indices = row.operands().any(|operand| !is_letter(operand));
    assert!(is_unsigned || !has_indices, "no row has INDICES without a sign");
}

/// The output of the first row in every format, to a file and to standard output, over an operand, in place and in parts.
#[track_caller]
fn every_form_of_the_output(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.put(row, &folder);
    let (args, expected) = (spec.args(row, &[]), row.output());
    folder.put("expected.npy", &expected);
    let piped = folder.get("a.npy");
    for (args, stdin) in [(args.clone(), None), (spec.args(row, &[("A", "-")]), Some(piped.as_slice()))] {
        each(
            ["npy", "npz", "safetensors", "pb", "json", "text"],
            |format| format!("{args:?} to {format}"),
            |format| {
                let args: Vec<_> = args.iter().cloned().chain(words(&format!("--to {format} -o -"))).collect();
                let run = folder.always(&args, stdin)?;
                run.printed()?;
                if *format != "npy" || run.stdout == expected { Ok(()) } else { Err("another tensor".to_owned()) }
            },
        );
    }
    let raw = format!("o.bin:float32{:?}", row.dims).replace(' ', "");
    each(
        ["o.npy", "o.npz", "o.safetensors", "o.pb", "o.json", "o.zarr", &raw],
        |name| (*name).to_owned(),
        |name| {
            let (file, _) = name.split_once(':').unwrap_or((name, ""));
            run(&folder, &args, &format!("-o {file}"))?;
            run(&folder, &words(&format!("diff expected.npy {name} -q")), "").map(drop)
        },
    );
    for operand in row.operands().filter(|operand| is_letter(operand)) {
        folder.put("over.npy", spec.floats(operand).npy());
        run(&folder, &spec.args(row, &[(operand, "over.npy")]), "-o over.npy").expect("replaced");
        assert!(folder.get("over.npy") == expected, "over {operand}");
    }
    if spec.in_place {
        folder.put("edited.npy", spec.floats("A").npy());
        let args = spec.args(row, &[("A", "edited.npy")]);
        run(&folder, &args, "-i --dry-run").expect("a report");
        assert!(folder.get("edited.npy") == spec.floats("A").npy(), "a dry run changes nothing");
        run(&folder, &args, "-i").expect("edited");
        assert!(folder.get("edited.npy") == expected, "in place");
    }
    let (chunks, shape) = (vec!["2"; row.dims.len()].join(","), spec.floats("A").shape);
    folder.put("f.npy", spec.floats("A").npy_fortran());
    run(&folder, &words("convert a.npy -o a.zarr --chunks"), &vec!["2"; shape.len()].join(",")).expect("a store");
    for (n, data) in ["a.npy", "f.npy", "a.zarr"].into_iter().enumerate() {
        let args = spec.args(row, &[("A", data)]);
        for (one, parts, more) in
            [("o.npy", "parts", ".npy"), ("one.zarr", "parts", &*format!(".zarr --chunks {chunks}"))]
        {
            let parts = format!("{parts}{n}{more}");
            run(&folder, &args, &format!("-o {one} {}", more.trim_start_matches(".npy").trim_start_matches(".zarr")))
                .expect("whole");
            for part in 1..=3 {
                run(&folder, &args, &format!("-o {parts} --part {part}/3")).expect("a part");
            }
            run(&folder, &args, &format!("-o {parts} --finish 3")).expect("finished");
            let file = parts.split(' ').next().expect("a name");
            assert!(folder.tree(file) == folder.tree(one), "{data} in parts to {file}");
        }
    }
    #[cfg(unix)]
    {
        let args = spec.args(row, &[("A", "-")]).join("' '");
        let run = folder.script(&format!("cat a.npy | $T '{args}' --to npy | $T diff expected.npy - -q"));
        assert!(run.printed().is_ok_and(|verdict| verdict.starts_with("equal: ")), "through pipes");
    }
}

/// A dry run says what would be done, and does nothing.
#[track_caller]
fn dry_runs(spec: &Spec) {
    each(
        spec.rows,
        |row| format!("`{}`", row.args),
        |row| {
            let folder = Folder::new();
            spec.put(row, &folder);
            let before = folder.content();
            let operand = |operand: &str| {
                let file = if is_letter(operand) { operand.to_lowercase() + ".npy" } else { operand.to_owned() };
                let (dtype, shape) = if is_letter(operand) {
                    ("float32", spec.operand(operand).1.to_vec())
                } else {
                    ("int64", tensorop::read_bytes(operand.as_bytes()).expect("indices").shape().to_vec())
                };
                format!("  {} {file}: {dtype} {shape:?}\n", spec.name_of(operand))
            };
            let expected = format!(
                "{} ({})\n{}  {}\n  output o.npy: npy of float32 {:?}, {} bytes of data\n",
                spec.operator,
                spec.title,
                row.operands().map(operand).collect::<String>(),
                row.report,
                row.dims,
                4 * row.items.len()
            );
            let said = run(&folder, &spec.args(row, &[]), "-o o.npy --dry-run")?;
            if said != expected {
                return Err(format!("{said}expected {expected}"));
            }
            if folder.content() == before { Ok(()) } else { Err("wrote something".to_owned()) }
        },
    );
}

/// Operands that no operator takes, and options that not every operator has: with and without `--dry-run` the same is said.
#[track_caller]
fn refused(spec: &Spec) {
    let (folder, row) = (Folder::new(), &spec.rows[0]);
    spec.put(row, &folder);
    let operands: Vec<&str> = row.operands().collect();
    let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for (n, operand) in operands.iter().enumerate() {
        let mut refused = |file: &str, fragments: &[&str]| {
            let fragments = [spec.name_of(operand)].into_iter().chain(fragments.iter().copied()).map(str::to_owned);
            rows.push((spec.args(row, &[(operand, file)]), fragments.collect()));
        };
        refused("missing.npy", &["missing.npy", "(os error 2)"]);
        refused("-", &["standard input", "empty"]);
        let whole = if is_letter(operand) {
            spec.floats(operand).npy()
        } else {
            run(&folder, &words(&format!("convert {operand} -o i.npy")), "").expect("indices");
            let shape = tensorop::read(folder.path("i.npy")).expect("indices").shape().to_vec();
            let count = shape.iter().product::<usize>();
            folder.put("floats.npy", npy("<f4", &shape, &vec![0; 4 * count]));
            folder.put("bools.npy", npy("|b1", &shape, &vec![0; count]));
            refused("floats.npy", &["floats.npy", "float32", "integers"]);
            refused("bools.npy", &["bools.npy", "bool", "integers"]);
            let digit = operand.find(|c: char| c.is_ascii_digit()).expect("a number");
            refused(&format!("{}0.5{}", &operand[..digit], &operand[digit + 1..]), &["0.5"]);
            folder.get("i.npy")
        };
        let (cut, length) = (format!("cut-{n}.npy"), whole.len() - 128);
        folder.put(&cut, &whole[..whole.len() - 1]);
        refused(&cut, &[&cut, &format!("{} bytes", length - 1), &format!("expected {length}")]);
    }
    if let [first, second, ..] = operands[..] {
        let fragments = [spec.name_of(second), "standard input", "one operand"].map(str::to_owned);
        rows.push((spec.args(row, &[(first, "-"), (second, "-")]), fragments.into()));
    }
    let with = |more: &str| spec.args(row, &[]).into_iter().chain(words(more)).collect::<Vec<_>>();
    if !spec.in_place {
        rows.push((with("--in-place"), vec!["--in-place".to_owned()]));
    }
    rows.push((with("--no-such-option"), vec!["--no-such-option".to_owned()]));
    rows.push((vec![spec.operator.to_owned()], vec![spec.name_of(operands[0]).to_owned()]));
    each(
        rows,
        |(args, _)| format!("{args:?}"),
        |(args, fragments)| {
            let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
            folder.put("o.npy", "what was there before");
            for more in ["-o o.npy", "-o o.npy --dry-run"] {
                folder.refuses(args.iter().cloned().chain(words(more)), &fragments)?;
            }
            Ok(())
        },
    );
    // what a format cannot hold is said before anything is written
    let void = |letter: &&'static str| (*letter, format!("void-{}.npy", letter.to_lowercase()));
    let named: Vec<_> = operands.iter().filter(|operand| is_letter(operand)).map(void).collect();
    for (letter, file) in &named {
        let (_, shape, _) = spec.operand(letter);
        folder.put(file, npy("|V3", shape, &vec![7; 3 * shape.iter().product::<usize>()]));
    }
    let named: Vec<_> = named.iter().map(|(letter, file)| (*letter, file.as_str())).collect();
    folder.put("o.json", "what was there before");
    let args = spec.args(row, &named).into_iter().chain(words("-o o.json"));
    folder.refuses(args, &["V3"]).expect("a refusal");
}
