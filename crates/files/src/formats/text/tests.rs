use half::{bf16, f16};

use super::*;
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::item::tensor::Tensor;

fn print(descr: &str, shape: &[usize], bytes: Vec<u8>, options: &TextOptions) -> String {
    let tensor = Tensor::new(DType::parse(descr).unwrap(), shape.to_vec(), bytes).unwrap();
    let mut out = Vec::new();
    write_shown(&mut out, &tensor, tensor.shape(), options).unwrap();
    String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
}

fn encode(descr: &str, numbers: &[f64]) -> Vec<u8> {
    let bytes = |number: f64| match descr {
        "<f2" => f16::from_f64(number).to_le_bytes().to_vec(),
        "bfloat16" => bf16::from_f64(number).to_le_bytes().to_vec(),
        "<f4" | "<c8" => (number as f32).to_le_bytes().to_vec(),
        ">f8" => number.to_be_bytes().to_vec(),
        "|b1" | "|u1" | "int4" | "uint2" => vec![number as u8],
        _ if descr.starts_with("float") => vec![number as u8],
        "<i2" => (number as i16).to_le_bytes().to_vec(),
        _ => number.to_le_bytes().to_vec(),
    };
    numbers.iter().flat_map(|&number| bytes(number)).collect()
}

#[test]
fn numbers() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let rows: &[(&str, &[usize], &[f64], &str)] = &[
        ("|b1", &[], &[1.0], "True"),
        ("|b1", &[3], &[0.0, 1.0, 2.0], "[False  True  True]"),
        ("<i2", &[], &[-5.0], "-5"),
        ("<i2", &[2, 2], &[1.0, -20.0, 3.0, 4.0], "[[  1 -20]\n [  3   4]]"),
        ("<f8", &[2, 0], &[], "[]"),
        ("<f8", &[], &[1e16], "1e+16"),
        ("<f8", &[], &[1e15], "1000000000000000.0"),
        ("<f8", &[3], &[1.0, 0.5, -0.25], "[ 1.    0.5  -0.25]"),
        (">f8", &[2], &[nan, -inf], "[ nan -inf]"),
        ("<f8", &[3], &[nan, inf, 1.0], "[nan inf  1.]"),
        ("<f8", &[2], &[-0.0, 99_999_999.0], "[      -0. 99999999.]"),
        ("<f8", &[2], &[1e-5, 0.1], "[1.e-05 1.e-01]"),
        ("<f8", &[2], &[1e100, 1.0], "[1.e+100 1.e+000]"),
        ("<f4", &[], &[1e-4], "1e-04"),
        ("<f4", &[2], &[3.25, 1e6], "[3.25e+00 1.00e+06]"),
        ("<f2", &[], &[1000.0], "1e+03"),
        ("<f2", &[1], &[999.5], "[999.5]"),
        // Padded with digits of the float, not with zeros.
        ("<f2", &[2], &[9832.0, 0.3333], "[9.832e+03 3.333e-01]"),
        ("bfloat16", &[], &[3.3], "3.296875"),
        ("bfloat16", &[2], &[0.1, 256.0], "[1.00097656e-01 2.56000000e+02]"),
        ("bfloat16", &[3], &[0.5, 100.0, nan], "[  0.5 100.    nan]"),
        // Raw bytes of float8 and int4.
        ("float8_e4m3fn", &[], &[1.0], "0.001953125"),
        ("float8_e4m3fn", &[4], &[56.0, 126.0, 255.0, 128.0], "[  1. 448.  nan  -0.]"),
        ("float8_e5m2", &[2], &[1.0, 124.0], "[1.5258789e-05           inf]"),
        ("float4_e2m1fn", &[2, 2], &[1.0, 2.0, 15.0, 8.0], "[[ 0.5  1. ]\n [-6.  -0. ]]"),
        ("float8_e8m0fnu", &[2], &[0.0, 127.0], "[5.877472e-39 1.000000e+00]"),
        ("int4", &[2, 2], &[1.0, 8.0, 15.0, 7.0], "[[1 -8]\n [-1 7]]"),
        ("uint2", &[], &[3.0], "3"),
        ("<c16", &[], &[0.0, -2.0], "-2j"),
        ("<c16", &[], &[-0.0, -1.0], "(-0-1j)"),
        ("<c16", &[], &[nan, inf], "(nan+infj)"),
        ("<c8", &[], &[0.5, 1e10], "(0.5+1e+10j)"),
        ("<c16", &[2], &[1.0, -2.5, nan, 0.0], "[ 1.-2.5j nan+0.j ]"),
    ];
    let mut failures = Vec::new();
    for (descr, shape, numbers, expected) in rows {
        let got = print(descr, shape, encode(descr, numbers), &TextOptions::default());
        if got != *expected {
            failures.push(format!("{descr} {shape:?} {numbers:?}:\n{got}\nexpected\n{expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn texts_and_times() {
    let ticks = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let codes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>();
    let rows: Vec<(&str, &[usize], Vec<u8>, &str)> = vec![
        ("|S3", &[], b"a'\0".to_vec(), r#"np.bytes_(b"a'")"#),
        ("|S3", &[2], b"\0b\0\xffcd".to_vec(), r"[b'\x00b' b'\xffcd']"),
        ("|S0", &[2], vec![], "[b'' b'']"),
        (">U2", &[], codes(&[0xd800, 0x0a]), "\\ud800\n"),
        (">U2", &[2], codes(&[0x27, 0, 0x11_0000, 0xe9]), r#"["'" '\U00110000é']"#),
        ("<M8[D]", &[], ticks(&[0]), "1970-01-01"),
        ("<M8[D]", &[2], ticks(&[0, i64::MIN]), "['1970-01-01'        'NaT']"),
        ("<M8", &[1], ticks(&[i64::MIN]), "['NaT']"),
        ("<m8[ns]", &[], ticks(&[3]), "3 nanoseconds"),
        ("<m8[7Y]", &[], ticks(&[-1]), "-7 years"),
        ("<m8", &[], ticks(&[i64::MIN]), "NaT"),
        ("<m8[7Y]", &[3], ticks(&[-1, i64::MIN, 100]), "[   -1 'NaT'   100]"),
    ];
    let mut failures = Vec::new();
    for (descr, shape, bytes, expected) in rows {
        let got = print(descr, shape, bytes, &TextOptions::default());
        if got != expected {
            failures.push(format!("{descr} {shape:?}:\n{got}\nexpected\n{expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn options() {
    let default = TextOptions::default;
    let elide = |edgeitems| TextOptions { threshold: Some(5), edgeitems, ..default() };
    let wide = |linewidth| TextOptions { linewidth, ..default() };
    let round = |precision| TextOptions { precision: Some(precision), ..default() };
    let count = |n: u32| (0..n).map(f64::from).collect::<Vec<_>>();
    type Row<'a> = (&'a str, &'a [usize], Vec<f64>, TextOptions, &'a str);
    let rows: Vec<Row<'_>> = vec![
        ("|u1", &[5], count(5), elide(1), "[0 1 2 3 4]"),
        ("|u1", &[200], count(200), elide(2), "[  0   1 ... 198 199]"),
        ("|u1", &[200], count(200), elide(0), "[... 199]"),
        (
            "|u1",
            &[2, 3, 3],
            count(18),
            elide(1),
            "[[[ 0 ...  2]\n  ...\n  [ 6 ...  8]]\n\n [[ 9 ... 11]\n  ...\n  [15 ... 17]]]",
        ),
        ("|u1", &[3, 2], count(6), elide(1), "[[0 1]\n ...\n [4 5]]"),
        ("|u1", &[2, 4], count(8), wide(9), "[[0 1 2\n  3]\n [4 5 6\n  7]]"),
        ("|u1", &[2], count(2), wide(0), "[0\n 1]"),
        ("<f8", &[2], vec![1.0, 2.5], wide(1), "[1.\n 2.5]"),
        ("<f8", &[3], vec![0.006, 0.1, 0.96], round(1), "[0.  0.1 1. ]"),
        ("<f8", &[3], vec![0.5, 1.5, 2.5], round(0), "[0. 2. 2.]"),
        ("<f8", &[2], vec![9.99e10, 1.5e-7], round(1), "[1.0e+11 1.5e-07]"),
        ("<f8", &[], vec![1.234567], round(1), "1.234567"),
        ("<f8", &[1], vec![1.234567], round(usize::MAX), "[1.234567]"),
    ];
    let mut failures = Vec::new();
    for (descr, shape, numbers, options, expected) in rows {
        let got = print(descr, shape, encode(descr, &numbers), &options);
        if got != expected {
            failures.push(format!("{descr} {shape:?} {options:?}:\n{got}\nexpected\n{expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn any_bytes() {
    let descrs = "|b1 |i1 >u2 <f2 bfloat16 <f4 >f8 <c8 >c16 |S3 <U1 >U2 <M8 <M8[7Y] >M8[W] <M8[2147483647as] <m8[ms] int4 \
         float8_e5m2 float8_e4m3b11fnuz float8_e8m0fnu float4_e2m1fn";
    for descr in descrs.split(' ') {
        let size = DType::parse(descr).unwrap().itemsize();
        for fill in [0, 0x7f, 0x80, 0xff] {
            for precision in [None, Some(0), Some(3)] {
                let options = TextOptions { precision, ..TextOptions::default() };
                print(descr, &[], vec![fill; size], &options);
                print(descr, &[1; 64], vec![fill; size], &options);
                let mixed = (0..9 * size).map(|i| fill ^ (i * i) as u8).collect();
                print(descr, &[3, 3], mixed, &options);
            }
        }
    }
}

#[test]
fn refused() {
    for name in ["V3", "float128", "complex256"] {
        let error = check(&DType::parse(name).unwrap()).unwrap_err();
        assert!(error.to_string().contains("cannot be printed as text"), "{error}");
    }
}

#[test]
fn blocks_are_joined() {
    // Several blocks with trailing spaces at line breaks.
    let numbers: Vec<f64> = (0..40_000).map(|i| f64::from(i % 8) / 8.0).collect();
    let text = print("<f8", &[40_000], encode("<f8", &numbers), &TextOptions::default());
    assert!(text.lines().all(|line| line.len() <= 75 && !line.ends_with(' ')));
    assert_eq!(text.split_ascii_whitespace().count(), 40_000);
}
