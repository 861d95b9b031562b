//! The operators as the tests see them: a [`Spec`] for each, from which all tests that go through the operators take their rows.

use super::operators::{DEFAULT, IN_ORDER, Row, Spec, ZERO, listed, row};

/// Calls a macro with the module and the [`Spec`] of each operator that has one output, in the order of the help.
macro_rules! with_operators {
    ($macro:ident) => {
        $macro! {
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
    };
}
pub(crate) use with_operators;

macro_rules! specs {
    ($($module:ident $spec:ident;)+) => {
        /// All operators, in the order of the help.
        pub(crate) const SPECS: &[&Spec] = &[$(&$spec,)+ &SPLIT];
    };
}
with_operators!(specs);

pub(crate) const SLICE: Spec = Spec {
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
    commands: &["D --at ::-1,::2", "D --start 1 --stop INT_MAX --axes 1"],
    places: &["D --at ...", "D --start 0 --stop 1"],
    refused: &[
        "D --at :,:,:",
        "D --start 0 --stop 1 --step 0 --axes 0",
        "D --at ::0",
        "D --start 0 --stop 1 --axes -9223372036854775808",
    ],
    draw: |random, shape| Some(format!("--at {}", random.slices(shape))),
};

pub(crate) const SLICE_SCATTER: Spec = Spec {
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
    commands: &["D D --at ::-1", "D [[1,0]] --at -1:,1:3", "D --fill 1 --at ::-1,::2"],
    places: &["D [1,1,1,1] --at ...", "D --fill 1 --at ..."],
    refused: &["D [[1,0]] --at :", "D [[1]] --at 1:2,0:2", "D --fill x --at :", "D --fill 1 --at ::0"],
    draw: |random, shape| Some(format!("--fill 1 --at {}", random.slices(shape))),
};

pub(crate) const SCATTER_UPDATE: Spec = Spec {
    operator: "scatter-update",
    title: "OpenVINO ScatterUpdate-3",
    operands: &[("DATA", &[2, 3, 2]), ("UPDATES", &[2, 2, 2]), ("UPDATES", &[2, 3, 2])],
    rows: &[
        row("A [2,0] B --axis 1", "axis 1: 2 indices", &[2, 3, 2], &[14, 15, 2, 3, 12, 13, 18, 19, 8, 9, 16, 17]),
        row("A [1,1] C --axis -3", "axis -3: 2 indices", &[2, 3, 2], &[0, 1, 2, 3, 4, 5, 26, 27, 28, 29, 30, 31]),
    ],
    in_place: true,
    commands: &["D I U --axis 0", "D [2,0] --fill 1 --axis 1"],
    places: &["D 0 1 --axis 0"],
    refused: &[
        "D [0,99999999] --fill 1 --axis 0",
        "D [0,0] --fill 1 --axis 0 --on-duplicate error",
        "D [0] [1] --axis 0",
        "D 99999999 --fill 1 --axis 1",
        "D 0 --fill 1 --axis 9223372036854775807",
    ],
    draw: |random, shape| {
        let (axis, places) = random.places(shape)?;
        let places: Vec<i64> = places.iter().map(|&place| place.max(0)).collect();
        Some(format!("[{}] --fill 1 --axis {axis}", listed(&places)))
    },
};

pub(crate) const SCATTER_ND: Spec = Spec {
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
    commands: &["D T U", "D [[1,2],[0,-1]] [1,0]", "D T U --reduction add"],
    places: &["D [[0]] [1]", "D [[0]] --fill 1 --reduction add"],
    refused: &[
        "D [[0],[-99999999]] --fill 1",
        "D [[0],[0]] --fill 1 --on-duplicate error",
        "D [[0,1]] [1,1]",
        "D [[0],[1]] --fill 1 --reduction max --opset 16",
        "D [[9223372036854775807]] --fill 1",
        "D [[-9223372036854775808]] --fill 1",
        "D {\"dtype\":\"int64\",\"shape\":[1152921504606846976,0],\"data\":[]} --fill 1 --reduction add",
    ],
    draw: |random, shape| Some(format!("{} --fill 1", random.tuples(shape)?)),
};

pub(crate) const SCATTER_ELEMENTS: Spec = Spec {
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
    commands: &["D E V", "D E V --axis 1 --reduction mean", "D [[1],[0]] [[1],[0]] --axis 1"],
    places: &["D [0] [1]", "D [0] --fill 1 --no-initial --reduction mean"],
    refused: &[
        "D [[0,-99999999]] --fill 1",
        "D [[0,0],[0,0]] --fill 1 --on-duplicate error",
        "D [[0]] [[1,0]]",
        "D [[0]] [[1]] --reduction mean --opset 18",
        "D [[-9223372036854775808]] --fill 1",
        "N {\"dtype\":\"int64\",\"shape\":[4611686018427387904,0,2],\"data\":[]} --fill 1",
    ],
    draw: |random, shape| {
        let (axis, number) = random.nested(shape)?;
        Some(format!("{number} --fill 1 --axis {axis}"))
    },
};

pub(crate) const GATHER: Spec = Spec {
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
    commands: &["D I", "D [2,0,-1] --axis 1", "D [1,99999999] --out-of-range zero"],
    places: &["D 0 --out-of-range zero", "D [0]"],
    refused: &[
        "D [0,-99999999]",
        "D [0,1] --batch-dims 1 --axis 0",
        "D [9223372036854775807]",
        "D 0 --axis 9223372036854775807",
        "D 0 --axis -9223372036854775808",
        "D [0] --batch-dims 9223372036854775807",
        "D [0] --batch-dims -9223372036854775808",
        "D {\"dtype\":\"int64\",\"shape\":[4611686018427387904,0,2],\"data\":[]} --axis 1",
    ],
    draw: |random, shape| {
        let (axis, places) = random.places(shape)?;
        Some(format!("[{}] --axis {axis}", listed(&places)))
    },
};

pub(crate) const GATHER_ND: Spec = Spec {
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
    commands: &["D T", "D [[1,2],[0,-1],[1,2]]"],
    places: &["D [[0]]"],
    refused: &[
        "D [[0],[-99999999]]",
        "D [[0],[1],[0]] --batch-dims 2",
        "D [[9223372036854775807]]",
        "D [[0]] --batch-dims 9223372036854775807",
        "D {\"dtype\":\"int64\",\"shape\":[9223372036854775807,0],\"data\":[]}",
        "D {\"dtype\":\"int64\",\"shape\":[576460752303423488,0],\"data\":[]}",
    ],
    draw: |random, shape| random.tuples(shape),
};

pub(crate) const GATHER_ELEMENTS: Spec = Spec {
    operator: "gather-elements",
    title: "ONNX GatherElements-13, OpenVINO GatherElements-6",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row("A [[[2,-3],[1,1]],[[0,-1],[2,0]]] --axis 1", "axis 1: 8 indices", &[2, 2, 2], &[4, 1, 2, 3, 6, 11, 10, 7]),
        row("A [[[1,-2],[0,0]]]", "axis 0: 4 indices", &[1, 2, 2], &[6, 1, 2, 3]),
        row("A [[[1],[0],[1]],[[1],[1],[0]]] --axis -1", "axis -1: 6 indices", &[2, 3, 1], &[1, 2, 5, 7, 9, 10]),
    ],
    in_place: false,
    commands: &["D E", "D E --axis 1", "D [[0,-2,1]]"],
    places: &["D [0]"],
    refused: &[
        "D [[0,-99999999]]",
        "D [0]",
        "D [[9223372036854775807]]",
        "D [[0]] --axis -9223372036854775808",
        "N {\"dtype\":\"int64\",\"shape\":[1,4611686018427387904],\"data\":[]}",
    ],
    draw: |random, shape| {
        let (axis, number) = random.nested(shape)?;
        Some(format!("{number} --axis {axis}"))
    },
};

pub(crate) const CONCAT: Spec = Spec {
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
    commands: &["D D", "D D --axis 1", "D D --stack"],
    places: &["D D", "D D --stack"],
    refused: &["D [1]", "D [[1]] --stack", "D D --axis 2"],
    draw: |random, shape| match random.below(3) {
        0 => Some(" D  D --stack".to_owned()),
        _ => Some(format!(" D  D --axis {}", random.below(shape.len()))),
    },
};

pub(crate) const TRANSPOSE: Spec = Spec {
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
    commands: &["D"],
    places: &["D --axes 0"],
    refused: &["D --axes 2,0", "D --axes 0,0", "D --axes 9223372036854775807", "D --axes -9223372036854775808"],
    draw: |_, _| Some("--axes=".to_owned()),
};

pub(crate) const RESHAPE: Spec = Spec {
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
    commands: &["D --shape -1", "D --unsqueeze 0", "D --flatten 0"],
    places: &["D --shape -1", "D --unsqueeze 0"],
    refused: &[
        "D --shape 7,7,7,7,7",
        "D --shape 9223372036854775807,9223372036854775807",
        "D --shape 9223372036854775807,-1",
        "D --shape -9223372036854775808",
        "D --shape 0,4611686018427387904,4611686018427387904 --allow-zero",
        "D --unsqueeze 9223372036854775807",
        "D --squeeze=-9223372036854775808",
        "D --flatten -9223372036854775808",
    ],
    draw: |random, shape| {
        let any = ["--squeeze", "--unsqueeze 0", "--shape 0,-1", "--flatten 1", "--shape -1"];
        let has_items = !shape.contains(&0);
        Some((if has_items { *random.of(&any) } else { "--squeeze" }).to_owned())
    },
};

pub(crate) const PAD: Spec = Spec {
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
    commands: &[
        "D --before 1,-1 --after 0,2",
        "D --before 0,5 --after 1,0 --mode reflect",
        "D --before 2 --after 0 --axes -1 --fill 1",
    ],
    places: &["D --before 1 --after 2 --axes 0 --mode wrap"],
    refused: &[
        "D --before -99999999,0 --after 0,0",
        "D --before 1 --after 1",
        "D --before 1,0 --after 0,1 --fill x",
        "D --before 9223372036854775807,0 --after 0,0",
        "D --before 9223372036854775807,0 --after 9223372036854775807,0",
        "D --before -9223372036854775808,0 --after -9223372036854775808,0",
        "D --before 9223372036854775807,0 --after 0,0 --mode reflect",
        "D --before 2305843009213693952,0 --after 0,0 --mode wrap",
        "D --before 0 --after 0 --axes -9223372036854775808",
        "N --before 0,0 --after 0,9223372036854775807",
    ],
    draw: |random, shape| {
        // only a constant is added to an axis without places
        let modes = ["constant", "edge", "reflect", "symmetric", "wrap"];
        let mode = random.of(if shape.contains(&0) { &modes[..1] } else { &modes });
        let most = *random.of(&[2, 8]);
        let [before, after] = [most, 12].map(|most| random.numbers(shape.len(), 0..most));
        Some(format!("--before={before} --after={after} --mode={mode}"))
    },
};

pub(crate) const TILE: Spec = Spec {
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
    commands: &["D --repeats 1,2", "D --repeats 2,1,1"],
    places: &["D --repeats 2"],
    refused: &[
        "D --repeats -1",
        "D --repeats 9223372036854775807",
        "D --repeats -9223372036854775808",
        "D --repeats 576460752303423488",
        "D --repeats 4294967296,4294967296",
        "N --repeats 1,9223372036854775807",
    ],
    draw: |random, shape| Some(format!("--repeats={}", random.numbers(shape.len(), 0..4))),
};

pub(crate) const ROLL: Spec = Spec {
    operator: "roll",
    title: "OpenVINO Roll-7",
    operands: &[("DATA", &[2, 3, 2])],
    rows: &[
        row("A --shift 1,-1 --axes 0,1", "shape [2, 3, 2]", &[2, 3, 2], &[8, 9, 10, 11, 6, 7, 2, 3, 4, 5, 0, 1]),
        row("A --shift 5", "shape [2, 3, 2]", &[2, 3, 2], &[7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6]),
        row("A --shift 1 --axes -1,1", "shape [2, 3, 2]", &[2, 3, 2], &[5, 4, 1, 0, 3, 2, 11, 10, 7, 6, 9, 8]),
    ],
    in_place: false,
    commands: &["D --shift 1,-2 --axes 0,1", "D --shift 12345"],
    places: &["D --shift 1 --axes 0"],
    refused: &["D --shift 1,2", "D --shift 1 --axes 2", "D --shift 1 --axes 9223372036854775807"],
    draw: |random, shape| match random.below(2) {
        0 => Some(format!("--shift={}", random.within(-300..300))),
        _ => {
            let axes: Vec<i64> = (0..shape.len() as i64).collect();
            Some(format!("--shift={} --axes={}", random.numbers(shape.len(), -12..12), listed(&axes)))
        }
    },
};

pub(crate) const BROADCAST: Spec = Spec {
    operator: "broadcast",
    title: "ONNX Expand, OpenVINO Broadcast-3",
    operands: &[("DATA", &[2, 1, 2])],
    rows: &[
        row("A --shape 2,3,2", "shape [2, 3, 2]", &[2, 3, 2], &[0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
        row("A --shape 2,2,1,1", "shape [2, 2, 1, 2]", &[2, 2, 1, 2], &[0, 1, 2, 3, 0, 1, 2, 3]),
        row("A --shape 3,1", "shape [2, 3, 2]", &[2, 3, 2], &[0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    ],
    in_place: false,
    commands: &["D --shape 2,1,1"],
    places: &["D --shape 4"],
    refused: &[
        "D --shape 7,7",
        "D --shape 9223372036854775807,9223372036854775807,1,1",
        "D --shape -9223372036854775808",
        "D --shape 1152921504606846976,1,1",
    ],
    draw: |_, shape| Some(format!("--shape={}", listed(&[&[2][..], &vec![1; shape.len()]].concat()))),
};

pub(crate) const SPLIT: Spec = Spec {
    operator: "split",
    title: "ONNX Split, OpenVINO Split-1, VariadicSplit-1",
    operands: &[("DATA", &[2, 3, 2])],
    // what it makes is tested in the file of its name, since it has several outputs
    rows: &[],
    in_place: false,
    commands: &["D --parts 2", "D --lengths 1,-1 --axis 1"],
    places: &["D --parts 2", "D --lengths 1,-1 --axis 0"],
    refused: &[
        "D --lengths 1,2,99999999",
        "D --parts 9223372036854775807",
        "D --parts 65537",
        "D --lengths 9223372036854775807,9223372036854775807",
        "D --lengths -9223372036854775808",
        "D --parts 2 --axis -9223372036854775808",
    ],
    draw: |_, _| None,
};
