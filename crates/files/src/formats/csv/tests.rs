use super::*;
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{WholeTensor, WriteWhole, Writer};
use crate::formats::text::TextOptions;
use tensorop_kernels::error::Advice;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::{DType, Tensor};

fn read(text: &[u8], dtype: Option<&str>, skip_rows: usize) -> Result<Tensor> {
    let reader = CsvReader {
        text: text.to_vec(),
        dialect: Dialect::CSV,
        table: TableOptions { skip_rows, ..TableOptions::default() },
    };
    let values = reader.values(Subject::Data)?;
    dtype.map_or_else(|| values.infer(), |dtype| values.read(&DType::parse(dtype)?))
}

fn written(tensor: &Tensor, dialect: Dialect) -> Result<String> {
    let mut out = Vec::new();
    let whole = WholeTensor { name: "", shape: tensor.shape(), items: tensor };
    CsvWriter(dialect).write_whole(&mut out, whole, &TextOptions::default())?;
    Ok(String::from_utf8(out).expect("UTF-8"))
}

fn said(read: Result<Tensor>) -> String {
    match read {
        Ok(tensor) => {
            let mut out = Vec::new();
            crate::formats::json::write(&mut out, &tensor).expect("an object");
            String::from_utf8_lossy(&out).trim_end().replace("{\"dtype\": ", "").replace("\"shape\": ", "")
        }
        Err(error) => match error.advice() {
            Some(Advice::SkipRows(rows) | Advice::ReadStrings { skip: rows @ 1.. }) => {
                format!("{} (skip {rows})", error.message())
            }
            _ => error.message().to_owned(),
        },
    }
}

#[test]
fn texts() {
    let rows: &[(&str, Option<&str>, usize, &str)] = &[
        ("1,2\n3,4\n", None, 0, r#""int64", [2, 2], "data": [[1, 2], [3, 4]]}"#),
        ("1,2\r\n3,4", None, 0, r#""int64", [2, 2], "data": [[1, 2], [3, 4]]}"#),
        ("1\r2\r", None, 0, r#""int64", [2], "data": [1, 2]}"#),
        ("1,2", None, 0, r#""int64", [1, 2], "data": [[1, 2]]}"#),
        ("1\n2\n", None, 0, r#""int64", [2], "data": [1, 2]}"#),
        ("5", None, 0, r#""int64", [1], "data": [5]}"#),
        ("\u{feff}1\n\n\n2\n\n", None, 0, r#""int64", [2], "data": [1, 2]}"#),
        (" 1 ,\t2", None, 0, r#""int64", [1, 2], "data": [[1, 2]]}"#),
        ("\"1\",\"2.5\"", None, 0, r#""float64", [1, 2], "data": [[1.0, 2.5]]}"#),
        (".5,5.,+5,-0,1e3", None, 0, r#""float64", [1, 5], "data": [[0.5, 5.0, 5.0, -0.0, 1000.0]]}"#),
        ("nan\nINF\n-Infinity", None, 0, r#""float64", [3], "data": ["NaN", "Infinity", "-Infinity"]}"#),
        ("1\nnan", None, 0, r#""float64", [2], "data": [1.0, "NaN"]}"#),
        ("true,False", None, 0, r#""bool", [1, 2], "data": [[true, false]]}"#),
        ("18446744073709551615", None, 0, r#""uint64", [1], "data": [18446744073709551615]}"#),
        ("a, b\n\"\",\"x\"\"y,\nz\"", None, 0, r#""<U6", [2, 2], "data": [["a", " b"], ["", "x\"y,\nz"]]}"#),
        ("\"\"", None, 0, r#""<U1", [1], "data": [""]}"#),
        ("1,02", Some("str"), 0, r#""<U2", [1, 2], "data": [["1", "02"]]}"#),
        ("2.0\n1e2", Some("uint8"), 0, r#""uint8", [2], "data": [2, 100]}"#),
        ("2024\n+2024\nNaT", Some("<M8[Y]"), 0, r#""<M8[Y]", [3], "data": ["2024", "3994", "NaT"]}"#),
        ("2024-02-29", Some("<M8[D]"), 0, r#""<M8[D]", [1], "data": ["2024-02-29"]}"#),
        ("2024", Some("<M8"), 0, r#""<M8", [1], "data": [2024]}"#),
        ("x,y\n1,2", None, 1, r#""int64", [1, 2], "data": [[1, 2]]}"#),
        ("# a \"title\nx\n\n1", None, 2, r#""int64", [1], "data": [1]}"#),
        // Errors.
        ("x,y\n1,2", None, 0, "line 1 column 1: x is a string, among numbers (skip 1)"),
        ("x,y\n1,2", Some("float32"), 0, "line 1 column 1: x is a string, among numbers (skip 1)"),
        ("1,y\n1,2", None, 0, "line 1 column 2: y is a string, among numbers (skip 1)"),
        ("x,y\n1,b", None, 0, "line 1 column 1: x is a string, among numbers"),
        ("title\nx,y\n1,2", None, 0, "line 2 column 2: a row of 2 cells, line 1 has 1 (skip 1)"),
        ("t\n\nx,y\n1,2", None, 2, "line 3 column 1: x is a string, among numbers (skip 3)"),
        ("1,2\n\n3,", None, 0, "line 3 column 2: an empty cell, among numbers"),
        (",2", None, 0, "line 1 column 1: an empty cell, among numbers"),
        ("1,2\n3", None, 0, "line 2 column 2: a row of 1 cell, line 1 has 2"),
        ("1\n\"2\n\n\"\n3,4", None, 0, "line 5 column 2: a row of 2 cells, line 1 has 1"),
        ("1,true", None, 0, "line 1 column 2: true is a bool, among integers"),
        ("true\n1", None, 0, "line 2 column 1: 1 is a number, among bools"),
        ("true\nnan", None, 0, "line 2 column 1: NaN is a float, among bools"),
        ("300", Some("uint8"), 0, "line 1 column 1: 300 is out of range for uint8"),
        ("1\n1.5", Some("int32"), 0, "line 2 column 1: 1.5 is not an integer (int32)"),
        ("nan", Some("int32"), 0, "line 1 column 1: NaN is a number, which int32 does not hold"),
        ("1", Some("complex64"), 0, "CSV cannot hold items of dtype complex64"),
        ("18446744073709551616,1", None, 0, "line 1 column 1: 18446744073709551616 is beyond int64 and uint64"),
        ("1\n\"2", None, 0, "line 2: a quote is not closed"),
        ("\"", None, 0, "line 1: a quote is not closed"),
        ("", None, 0, "holds no cells"),
        ("\n\r\n", None, 0, "holds no cells"),
        ("1\n2", None, 9, "holds no cells after the lines left out"),
        ("1\n\0", None, 0, "a NUL byte in line 2"),
    ];
    let mut failures = Vec::new();
    for (text, dtype, skip, expected) in rows {
        let found = said(read(text.as_bytes(), *dtype, *skip));
        if found.trim_end_matches('\n') != *expected {
            failures.push(format!("{text:?} as {dtype:?}: {found}, expected {expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(said(read(b"1\r\n\xff", None, 0)), "invalid UTF-8 in line 2");
}

#[test]
fn what_is_written_reads_back() {
    let rows: &[(&str, &str, &str)] = &[
        ("float64", "[[1, 0.1, \"NaN\"], [\"Infinity\", \"-Infinity\", -0.0]]", "1.0,0.1,nan\ninf,-inf,-0.0\n"),
        ("float32", "[0.1, 16777216]", "0.1\n16777216.0\n"),
        ("uint64", "[18446744073709551615]", "18446744073709551615\n"),
        ("bool", "[[true, false]]", "true,false\n"),
        ("str", r#"["", "a,b", "\"", "\r\n", " x "]"#, "\"\"\n\"a,b\"\n\"\"\"\"\n\"\r\n\"\n x \n"),
        ("str", r#"[["", ""]]"#, ",\n"),
        ("str", r#"["\ufeffa", "\ufeffb"]"#, "\u{feff}\u{feff}a\n\u{feff}b\n"),
        ("S3", r#"["a\u00ff"]"#, "a\u{ff}\n"),
        ("<M8[Y]", "[\"2024\", 8500, -9000]", "2024\n+8500\n-9000\n"),
        ("<m8[s]", "[\"NaT\", 5]", "NaT\n5\n"),
        ("int4", "[[-8, 7]]", "-8,7\n"),
        ("bfloat16", "[0.5]", "0.5\n"),
    ];
    let mut failures = Vec::new();
    for (dtype, items, expected) in rows {
        for order in ["", ">"] {
            let dtype = DType::parse(dtype).expect("a dtype");
            let dtype = if order.is_empty() { dtype } else { dtype.big_endian() };
            let values = crate::formats::json::open(items.as_bytes(), Subject::Data, Default::default()).expect("JSON");
            let tensor = values.read(&dtype).expect("a tensor");
            let csv = written(&tensor, Dialect::CSV).expect("CSV");
            let reader =
                CsvReader { text: csv.clone().into_bytes(), dialect: Dialect::CSV, table: TableOptions::default() };
            let back = reader.values(Subject::Data).and_then(|values| values.read(tensor.dtype()));
            if csv != *expected || back.as_ref() != Ok(&tensor) {
                failures.push(format!("{items} as {dtype}: {csv:?}, read as {back:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let scalar = Tensor::new(DType::parse("int8").expect("a dtype"), vec![], vec![7]).expect("a tensor");
    assert_eq!(written(&scalar, Dialect::TSV).as_deref(), Ok("7\n"));
}

#[test]
fn what_is_refused() {
    let dtype = |name: &str| DType::parse(name).expect("a dtype");
    for name in ["complex64", "V3", "float128"] {
        let refused = CsvWriter(Dialect::TSV).check(&dtype(name)).unwrap_err();
        assert_eq!(refused.message(), format!("TSV cannot hold items of dtype {}", dtype(name).name()));
        assert_eq!(refused.advice(), Some(Advice::WriteNpy));
    }
    for (shape, what) in
        [(vec![2, 0], "a tensor without items: shape [2, 0]"), (vec![1, 1, 1], "more than 2 axes: shape [1, 1, 1]")]
    {
        let meta = Meta::c_order(dtype("int8"), shape);
        let (options, inherited, chunks) = Default::default();
        let request = LayoutRequest { options: &options, inherited: &inherited, chunks: &chunks };
        let refused = CsvWriter(Dialect::CSV).layout(&[("", &meta)], &request).unwrap_err();
        assert_eq!(
            (refused.message(), refused.advice()),
            (&*format!("CSV cannot hold {what}"), Some(Advice::WriteNpy))
        );
    }
    for points in [[0, 0x61], [0xd800, 0x61]] {
        let bytes = points.iter().flat_map(|point: &u32| point.to_le_bytes()).collect();
        let tensor = Tensor::new(dtype("<U2"), vec![1], bytes).expect("a tensor");
        let refused = written(&tensor, Dialect::CSV).unwrap_err();
        assert_eq!(refused.message(), format!("CSV cannot hold U+{:04X}", points[0]));
    }
}
