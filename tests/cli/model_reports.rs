//! `tensorop diff` of many tensors: which is worst, how many lines there are, and with which numbers.

use std::process::Command;

use crate::common::{Folder, binary, each, has, npz, tensor, words};

/// A pair of models whose tensors differ in every way; their names say how.
fn models() -> Folder {
    let folder = Folder::new();
    let w: &[f32] = &[1., 2., 3., 4.];
    let nan = f32::NAN;
    let rows: &[(&str, &[f32], &[f32])] = &[
        ("close", w, &[1., 2., 3., 4.000_001]),
        ("far", w, &[0., 0., 0., 5.]),
        ("few", &[1., 2., 3., 400.], &[1., 2., 3., 500.]),
        ("gone", w, &[]),
        ("nan", w, &[1., 2., nan, 4.]),
        ("new", &[], w),
        ("same", w, w),
        ("shape", w, &[1., 2.]),
        ("zero", &[0., 0., 1e-9, 0.], &[0., 0., 1., 0.]),
        ("zeros", &[0.; 4], &[0., 1e-3, 0., 0.]),
    ];
    for (file, side) in [("e.npz", 1), ("a.npz", 2)] {
        let of =
            |row: &(&'static str, &[f32], &[f32])| (row.0, if side == 1 { row.1.to_vec() } else { row.2.to_vec() });
        let members: Vec<_> = rows.iter().map(of).filter(|(_, items)| !items.is_empty()).collect();
        let members: Vec<_> =
            members.iter().map(|(name, items)| (*name, tensor::<f32>(&[items.len()], items).npy())).collect();
        folder.put(file, npz(&members));
    }
    folder
}

/// Returns the names of the lines of a report, in their order, and what else it says.
fn printed(folder: &Folder, args: &str) -> (Vec<String>, String) {
    let run = folder.run(words(&format!("diff {args}")));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let is_line =
        |line: &&str| ["  different ", "  missing ", "  extra ", "  within "].iter().any(|v| line.starts_with(v));
    let name = |line: &str| {
        let rest = line.rsplit_once(": ").map_or(line, |(name, _)| name);
        rest.split_whitespace().last().unwrap_or_default().to_owned()
    };
    (text.lines().filter(is_line).map(name).collect(), text + &run.stderr)
}

#[test]
fn the_worst_comes_first() {
    let folder = models();
    let rows = [
        // NaN, then what has no number, then the lowest SNR, of which zeros have minus infinity
        ("", "nan shape zeros zero far few close gone new"),
        ("--sort snr", "nan shape zeros zero far few close gone new"),
        ("--sort cosine", "nan shape zeros far few close zero gone new"),
        ("--sort abs", "nan shape few far zero zeros close gone new"),
        ("--sort share", "shape far nan zeros zero few close gone new"),
        ("--sort name", "close far few gone nan new shape zero zeros"),
        // those within follow all that fail, and are sorted, too
        ("--atol 1.5 --exclude nan --exclude shape", "far few gone new zeros zero close"),
        ("--atol 5 --only z* --only c* --only n*", "nan new zeros zero close"),
        ("--allow 1 --only nan --only far --only z*", "far nan zeros zero"),
    ];
    each(
        rows,
        |(options, _)| format!("`{options}`"),
        |(options, names)| {
            let (found, text) = printed(&folder, &format!("e.npz a.npz {options}"));
            if found.join(" ") == *names { Ok(()) } else { Err(text) }
        },
    );
}

#[test]
fn json_tells_what_is_not_finite() {
    let run = models().run(words("diff e.npz a.npz --json"));
    let found: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let of = |tensor: &serde_json::Value| {
        let name = tensor["name"].as_str().expect("a name");
        format!("{name} {} {}", tensor["nonfinite_mismatches"], tensor["first_nonfinite"])
    };
    let told: Vec<_> = found["tensors"].as_array().expect("a list").iter().map(of).collect();
    let none = ["close", "far", "few"].map(|name| format!("{name} 0 null"));
    let rest = ["gone null null", "nan 1 [2]", "new null null", "same 0 null", "shape null null"].map(str::to_owned);
    let last = ["zero", "zeros"].map(|name| format!("{name} 0 null"));
    assert_eq!(told, [&none[..], &rest, &last].concat());
}

#[test]
fn as_many_lines_as_are_wanted() {
    let folder = models();
    let (all, _) = printed(&folder, "e.npz a.npz");
    for (limit, more) in
        [(0, "\n  and 9 more: --limit 9 lists all\n"), (3, "\n  and 6 more: --limit 9 lists all\n"), (9, ""), (99, "")]
    {
        let (found, text) = printed(&folder, &format!("e.npz a.npz --limit {limit}"));
        assert_eq!(found, all[..limit.min(9)], "{text}");
        assert!(text.ends_with(more) && text.contains(" more: ") != more.is_empty(), "{text}");
    }
    let json = folder.run(words("diff e.npz a.npz --json")).stdout;
    assert_eq!(folder.run(words("diff e.npz a.npz --json --limit 1 --sort abs")).stdout, json, "all, by name");
    folder.refuses(words("diff e.npz a.npz --limit x"), &["--limit", "whole number"]).unwrap();
    folder.refuses(words("diff e.npz a.npz --sort size"), &["--sort", "snr, cosine, abs, share, name"]).unwrap();
    // only a terminal gets 40 lines of more
    let members: Vec<_> = (0..60).map(|n| (format!("w{n}"), tensor::<u8>(&[1], &[n as u8]).npy())).collect();
    let named =
        |members: &[(String, Vec<u8>)]| npz(&members.iter().map(|(n, t)| (n.as_str(), t.clone())).collect::<Vec<_>>());
    folder.put("many.npz", named(&members));
    folder.put("other.npz", npz(&[("v", tensor::<u8>(&[1], &[1]).npy()), ("x", tensor::<u8>(&[1], &[1]).npy())]));
    assert_eq!(printed(&folder, "many.npz other.npz").0.len(), 62);
    if cfg!(target_os = "linux") && has(&["script"]) {
        let line = format!("{} diff many.npz other.npz", binary().display());
        let shown =
            Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(folder.path("")).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout);
        assert_eq!(text.matches("missing ").count(), 40, "{text}");
        assert!(text.contains("and 22 more: --limit 62 lists all"), "{text}");
    }
}

#[test]
fn the_worst_items_of_each_tensor() {
    let folder = models();
    let (_, text) = printed(&folder, "e.npz a.npz --worst 2 --only far --only gone --only nan");
    let expected = "\
different: 0 same, 0 within, 2 different, 1 missing, 0 extra

  verdict        mismatches      abs      rel   snr  cosine  tensor
  different   1 of 4 (25 %)  nan/inf  nan/inf     -       -  nan: axis 0 at 2
    index  expected  actual
    [2]         3.0     NaN
  different  4 of 4 (100 %)        3        1  3.01  0.7303  far
    index  expected  actual  abs  rel         ulp
    [2]         3.0     0.0    3    1  1077936128
    [1]         2.0     0.0    2    1  1073741824
  missing                                                    gone: float32 [4]
";
    assert_eq!(text, expected);
    // metrics of what is finite do not look like those of all items, in the report on one tensor either
    for (member, is_said) in [("nan", true), ("far", false)] {
        let (_, text) = printed(&folder, &format!("e.npz:{member} a.npz:{member}"));
        assert_eq!(text.contains("\n  (of the items that are finite on both sides)\n"), is_said, "{text}");
    }
    let (_, text) = printed(&folder, "e.npz a.npz --worst 1 --only far --json");
    assert_eq!(
        text.matches("\"worst\": [{\"index\": [2], \"flat\": 2, \"expected\": 3.0, \"actual\": 0.0").count(),
        1,
        "{text}"
    );
}

/// One line has the numbers, and names what failed as it is typed.
#[test]
fn one_line_has_the_numbers() {
    let folder = models();
    let far = "0.5, rmse 0.3536, cosine 0.9965";
    folder.put("e.txt.json", "[1.0, 2.0]").put("many.json", format!("[{}]", vec!["1.0"; 100_000].join(", ")));
    folder.put("more.json", format!("[{}, {}]", vec!["1.0"; 99_899].join(", "), vec!["2.0"; 101].join(", ")));
    let counts = |n: &str| format!("different: {n}");
    let two = |rest: &str| format!("different: 1 of 2 items (50 %) of float64 [2]; largest |a - e| {rest}");
    let rows = [
        ("[1.0,2.0] [1.0,2.5]", two(far)),
        ("[1.0,2.0] [1.0,2.5] --atol 0.49999", two(&format!("{far}, not within --atol 0.49999"))),
        ("[1.0,2.0] [1.0,2.50001] --atol 0.5", two("0.50001, rmse 0.3536, cosine 0.9965, not within --atol 0.5")),
        (
            "[1.0,2.0] [1.0,2.5] --rtol 1e-3 --atol 0.1 --ulp 3 --allow 0",
            two(&format!("{far}, not within --atol 0.1 --rtol 0.001 --ulp 3, more than --allow 0")),
        ),
        (
            "[1.0,2.0] [1.0,2.5] --min-cosine 0.997 --min-snr 5",
            "different: 1 of 2 items (50 %) of float64 [2]; largest |a - e| 0.5, rmse 0.3536, cosine 0.9965 (below --min-cosine 0.997)".to_owned()
        ),
        ("[1.0,2.0] [1.0,2.5] --atol 1", "equal within the tolerance: 1 of 2 items of float64 [2] differ in bits; largest |a - e| 0.5, rmse 0.3536, cosine 0.9965".to_owned()),
        ("[1.0,2.0] [1.0,\"NaN\"] --min-cosine 0", two("nan/inf, rmse -, cosine -, an item that is not finite passes no limit on a metric")),
        ("[\"a\"] [\"b\"]", "different: 1 of 1 item (100 %) of <U1 [1]".to_owned()),
        ("[1] [[1]]", "different: shape [1, 1], expected [1]".to_owned()),
        ("[1] [1]", "equal: 1 item of int64 [1]".to_owned()),
        // a number that fails does not look like its limit
        (
            "[1.0,2.0] [1.0,2.0032] --min-cosine 0.9999998",
            "different: 1 of 2 items (50 %) of float64 [2]; largest |a - e| 0.0032, rmse 0.002263, cosine 1-2.04e-7 (below --min-cosine 0.9999998)".to_owned(),
        ),
        (
            "many.json more.json --allow 0.1%",
            "different: 101 of 100000 items (0.101 %) of float64 [100000]; largest |a - e| 1, rmse 0.03178, cosine 0.9995, more than --allow 0.1%".to_owned(),
        ),
        // of several tensors the worst
        ("e.npz e.npz", "equal: 9 same, 0 within, 0 different, 0 missing, 0 extra".to_owned()),
        ("e.npz a.npz", counts("1 same, 0 within, 7 different, 1 missing, 1 extra; worst nan: 1 of 4 items (25 %) of float32 [4]; largest |a - e| nan/inf, rmse -, cosine -")),
        ("e.npz a.npz --only s*", counts("1 same, 0 within, 1 different, 0 missing, 0 extra; worst shape: shape [2], expected [4]")),
        ("e.npz a.npz --only same --only gone", counts("1 same, 0 within, 0 different, 1 missing, 0 extra; worst gone: missing")),
        ("e.npz a.npz --only f* --atol 3.5", counts("0 same, 1 within, 1 different, 0 missing, 0 extra; worst few: 1 of 4 items (25 %) of float32 [4]; largest |a - e| 100, rmse 50, cosine 1-1.7e-6, not within --atol 3.5")),
        ("e.npz a.npz --only f* --atol 300", "equal: 0 same, 2 within, 0 different, 0 missing, 0 extra; worst far: 4 of 4 items of float32 [4] differ in bits; largest |a - e| 3, rmse 1.936, cosine 0.7303".to_owned()),
    ];
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, line)| {
            let (_, text) = printed(&folder, &format!("{args} -q"));
            if text == format!("{line}\n") { Ok(()) } else { Err(text) }
        },
    );
}

/// In tables, too, as many digits as tell a number from the limit that it fails.
#[test]
fn digits_tell_failures() {
    let folder = Folder::new();
    folder.put("e.npz", npz(&[("a", tensor(&[2], &[1.0_f64, 2.0]).npy()), ("b", tensor(&[2], &[1_u8, 2]).npy())]));
    folder.put("a.npz", npz(&[("a", tensor(&[2], &[1.0_f64, 2.0032]).npy()), ("b", tensor(&[2], &[1_u8, 2]).npy())]));
    let rows: &[(&str, &[&str])] = &[
        ("e.npz a.npz --min-cosine 0.9999998", &[" 1-2.04e-7  a: cosine 1-2.04e-7\n"]),
        ("e.npz a.npz --min-snr 56.8874", &[" 56.8867  1-2e-7  a: snr_db 56.8867\n"]),
        (
            "e.npz a.npz --atol 0.003199 --rtol 0.001",
            &["equal: 1 same, 1 within", "  within   0.0032  0.0016  56.89  1-2e-7  a\n"],
        ),
        ("e.npz:a a.npz:a --min-cosine 0.9999998", &["different: 1 of 2 items", "  1-2.04e-7  56.89 "]),
        (
            "e.npz:a a.npz:a --atol 0.00319999",
            &["  [1]         2.0  2.0032  0.0032  0.0016 ", "absolute         0.0032  "],
        ),
        ("[1.0] [1.50001] --atol 0.5", &["  1.0  1.50001  0.50001  ", "absolute           0.50001  [0]"]),
        ("[1.0] [1.50001] --rtol 0.5", &["  1.0  1.50001  0.5  0.50001  ", "relative           0.50001  [0]"]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, found)| {
            let (_, text) = printed(&folder, args);
            if found.iter().all(|found| text.contains(found)) { Ok(()) } else { Err(text) }
        },
    );
}

/// Limits for the tensors whose names match, and patterns, limits and names that cannot be meant.
#[test]
fn patterns_and_names() {
    let folder = models();
    let rows = [
        ("--only z* --only f* --atol 1000 --min-cosine zero*=0.99", "zeros zero far few"),
        ("--only close --only few --only far --min-cosine 0.9 --min-cosine f*=0.999", "far few close"),
        ("--only far --only few --min-snr 10 --min-snr far=3 --max-rmse f?r=2 --max-mean-abs few=25", "far few"),
    ];
    let firsts = ["zeros: cosine 0", "far: cosine 0.7303", "within"];
    each(
        rows.iter().zip(firsts),
        |((options, _), _)| (*options).to_owned(),
        |((options, names), found)| {
            let (lines, text) = printed(&folder, &format!("e.npz a.npz {options}"));
            if lines.join(" ") == **names && text.contains(found) { Ok(()) } else { Err(text) }
        },
    );
    folder
        .put("p.npz", npz(&[("model.w", tensor::<u8>(&[1], &[1]).npy()), ("model.b", tensor::<u8>(&[1], &[1]).npy())]));
    folder.put("q.npz", npz(&[("w", tensor::<u8>(&[1], &[1]).npy()), ("b", tensor::<u8>(&[1], &[1]).npy())]));
    for args in ["p.npz q.npz --rename model.*=*", "q.npz p.npz --rename *=model.*"] {
        folder.run(words(&format!("diff {args}"))).printed().unwrap();
    }
    let rows = [
        ("e.npz a.npz --min-cosine 1.1", "--min-cosine <X>': expected a number from -1 to 1"),
        ("e.npz a.npz --min-cosine -1.5", "--min-cosine <X>': expected a number from -1 to 1"),
        ("e.npz a.npz --min-cosine f*=95", "--min-cosine <X>': expected a number from -1 to 1"),
        ("e.npz a.npz --max-rmse few=-1", "--max-rmse <X>': expected a number, 0 or more"),
        (
            "e.npz a.npz --min-snr zerox=3",
            "error: --min-snr zerox: matches no tensor; did you mean \"zero\" or \"zeros\"?",
        ),
        ("e.npz a.npz --atol 1 --ulp clos=3", "error: --ulp clos: matches no tensor; did you mean \"close\"?"),
        (
            "e.npz a.npz --only f* --max-rmse zero=3",
            "error: --max-rmse zero: matches no tensor: there are \"far\", \"few\"",
        ),
        ("[1] [2] --atol w=3", "error: --atol w: the compared tensors have no names: give the value alone"),
        ("e.npz:far a.npz:far --max-mean-abs few=3", "error: --max-mean-abs few: matches no tensor"),
        (
            "q.npz p.npz --rename model.*=*",
            "error: --rename model.*=*: matches tensors of ACTUAL only, and it changes the names of EXPECTED: use --rename '*=model.*'",
        ),
        (
            "q.npz p.npz --rename model.w=v",
            "error: --rename model.w=v: matches tensors of ACTUAL only, and it changes the names of EXPECTED; did you mean \"w\"?",
        ),
        (
            "p.npz q.npz --rename module.*=*",
            "error: --rename module.*=*: matches no tensor of EXPECTED, whose names it changes",
        ),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, message)| folder.refuses(words(&format!("diff {args}")), &[message]).map(drop),
    );
    // a tensor without a name has no other to offer
    let run = folder.run(words("diff [1] [2] --rename a=b"));
    assert_eq!(run.stderr, "error: --rename a=b: matches no tensor of EXPECTED, whose names it changes\n");
    let help = folder.run(words("diff --help")).printed().unwrap();
    assert!(help.contains("Give EXPECTED's tensors the names that they have in ACTUAL"), "{help}");
    assert!(
        folder.run(words("convert --help")).printed().unwrap().contains("Give tensors of whole containers other names")
    );
}

/// What would make an EXPECTED that is not there, where it can be made.
#[test]
fn a_missing_golden() {
    let folder = models();
    folder.put("w.npy", tensor::<u8>(&[1], &[1]).npy());
    std::fs::create_dir(folder.path("dir")).unwrap();
    folder.put("dir/w.npy", tensor::<u8>(&[1], &[1]).npy());
    let rows = [
        ("golden.npy w.npy", true),
        ("golden.npz e.npz", true),
        ("e.npz:golden w.npy", true),
        ("golden dir", true),
        ("golden w.npy", false),
        ("golden.bin:uint8[1] w.npy", false),
        ("w.npy none.npy", false),
        ("dir/w.npy:golden w.npy", false),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, is_offered)| {
            let run = folder.run(words(&format!("diff {args}")));
            let is_said = run.stderr.ends_with("; --accept makes it\n") && run.stderr.starts_with("error: EXPECTED ");
            let is_made = folder.run(words(&format!("diff {args} --accept"))).status == Some(0);
            let as_it_should = run.status == Some(2) && (is_said, is_made) == (*is_offered, *is_offered);
            if as_it_should { Ok(()) } else { Err(format!("made {is_made}: {run:?}")) }
        },
    );
}

/// EXPECTED keeps its dtype where the items fit, and nothing is written where they do not.
#[test]
fn accepted_in_the_dtype_of_expected() {
    let folder = Folder::new();
    let floats = |items: &[f64]| tensor::<f64>(&[items.len()], items).npy();
    let rows = [
        (
            "float rounded once",
            tensor(&[2], &[0.0_f32, 1.0]).npy(),
            floats(&[0.1, 2.0]),
            Ok(tensor(&[2], &[0.1_f32, 2.0]).npy()),
        ),
        (
            "integers exactly",
            tensor(&[2], &[0_i32, 1]).npy(),
            floats(&[-3.0, 2.0]),
            Ok(tensor(&[2], &[-3_i32, 2]).npy()),
        ),
        (
            "another shape",
            tensor(&[1], &[0_u8]).npy(),
            tensor(&[2], &[7_i64, 8]).npy(),
            Ok(tensor(&[2], &[7_u8, 8]).npy()),
        ),
        (
            "a fraction",
            tensor(&[2], &[0_i32, 1]).npy(),
            floats(&[1.0, 2.5]),
            Err("ACTUAL a.npy: 2.5 is not an integer (int32) at [1]; EXPECTED keeps its dtype, int32"),
        ),
        (
            "out of range",
            tensor(&[1], &[0_u8]).npy(),
            tensor(&[1], &[300_i64]).npy(),
            Err("300 is out of range for uint8 at [0]"),
        ),
        (
            "too large",
            tensor(&[2], &[0_f32, 1.0]).npy(),
            floats(&[1.0, 1e39]),
            Err("ACTUAL a.npy: 1e39 is too large at [1]; EXPECTED keeps its dtype, float32"),
        ),
        (
            "strings",
            tensor(&[1], &[0_u8]).npy(),
            crate::common::npy("<U1", &[1], &[97, 0, 0, 0]),
            Err("<U1 is not cast to uint8"),
        ),
    ];
    for (what, expected, actual, becomes) in rows {
        folder.put("e.npy", &expected).put("a.npy", &actual);
        folder.put("e.npz", npz(&[("x", expected.clone())])).put("a.npz", npz(&[("x", actual.clone())]));
        folder.put("es.npz", npz(&[("x", expected.clone()), ("y", floats(&[1.0]))]));
        folder.put("as.npz", npz(&[("x", actual.clone()), ("y", floats(&[1.0]))]));
        for args in ["e.npy a.npy", "es.npz as.npz"] {
            let before = folder.content();
            let run = folder.run(words(&format!("diff {args} --ignore-dtype --accept -q")));
            match &becomes {
                Ok(wanted) => {
                    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{what} {args}");
                    let found =
                        folder.run(words("slice es.npz:x --at : -o x.npy")).printed().map(|_| folder.get("x.npy"));
                    let found = if args.starts_with("es") { found.unwrap() } else { folder.get("e.npy") };
                    assert_eq!(found, *wanted, "{what} {args}");
                }
                Err(message) => {
                    let message = message.replace("a.npy", if args.starts_with("es") { "as.npz:x" } else { "a.npy" });
                    assert!(run.status == Some(2) && run.stdout.is_empty(), "{what} {args}: {run:?}");
                    assert!(run.stderr.contains(&message), "{what} {args}: {}", run.stderr);
                    assert_eq!(folder.content(), before, "{what} {args}");
                }
            }
        }
    }
    // items that are changed where they lie are cast, too
    folder.put("dump.bin", [0; 4]).put("a.npy", floats(&[0.5, 2.0]));
    folder.run(words("diff dump.bin:float16 a.npy --ignore-dtype --accept")).printed().unwrap();
    assert_eq!(folder.get("dump.bin"), [0x00, 0x38, 0x00, 0x40]);
}

/// A pattern behind a colon selects tensors of a side, in a folder as in a container.
#[test]
fn patterns_select_tensors_of_a_side() {
    let folder = Folder::new();
    let [one, two] = [tensor::<u8>(&[2], &[1, 2]).npy(), tensor::<u8>(&[2], &[1, 3]).npy()];
    for (side, z) in [("e", &one), ("a", &two)] {
        std::fs::create_dir_all(folder.path(format!("{side}/sub"))).expect("folders");
        folder.put(format!("{side}/x.npy"), one.clone()).put(format!("{side}/sub/y.npy"), two.clone());
        folder.put(format!("{side}/z.npy"), z.clone());
        folder.put(format!("{side}.npz"), npz(&[("x", one.clone()), ("sub/y", two.clone()), ("z", z.clone())]));
    }
    let rows = [
        ("e:* a:*", 1, "different: 2 same, 0 within, 1 different, 0 missing, 0 extra"),
        ("e:sub/* a", 1, "different: 1 same, 0 within, 0 different, 0 missing, 2 extra"),
        ("e a:[xz]", 1, "different: 1 same, 0 within, 1 different, 1 missing, 0 extra"),
        ("e.npz:* a:*", 1, "different: 2 same, 0 within, 1 different, 0 missing, 0 extra"),
        ("e.npz:[xz] e:[xz]", 0, "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra"),
        // what it alone matches is that tensor
        ("e:su* a/sub/y.npy", 0, "equal: "),
        ("e:z a:z*", 1, "different: 1 of 2 items"),
        ("e:* e.npz:* --only z", 0, "equal: 1 same"),
    ];
    for (args, status, first) in rows {
        let run = folder.run(words(&format!("diff {args}")));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status == Some(status) && text.starts_with(first), "{args}: {text}{}", run.stderr);
    }
    let refused = [
        ("e:* a/x.npy", "EXPECTED e:*: * matches 3 tensors, and ACTUAL a/x.npy is one: name"),
        ("e:q* a", "has no tensor that \"q*\" matches"),
        ("e.npz:q* a --accept", "has no tensor that \"q*\" matches"),
        ("e:* a --accept", "EXPECTED e:*: --accept: * is a pattern: name the whole, and give --only *"),
        ("e.npz:* a --accept", "EXPECTED e.npz:*: --accept: * is a pattern: name the whole, and give --only *"),
    ];
    for (args, message) in refused {
        let told = folder.refuses(words(&format!("diff {args}")), &[message]);
        told.unwrap_or_else(|error| panic!("{args}: {error}"));
    }
}

/// What is accepted is told shortly: the verdict, and a line a file; with -q only these.
#[test]
fn what_is_accepted_is_told_shortly() {
    let folder = Folder::new();
    let put = || {
        folder.put("g.npy", tensor::<f32>(&[2], &[1., 2.]).npy()).put("e.npz", npz(&[("g", folder.get("g.npy"))]));
    };
    folder.put("a.npy", tensor::<f32>(&[2], &[1., 2.5]).npy());
    put();
    folder.put("a.npz", npz(&[("g", folder.get("a.npy")), ("h", folder.get("g.npy"))]));
    let line = "different: 1 of 2 items (50 %) of float32 [2]; largest |a - e| 0.5, rmse 0.3536, cosine 0.9965\n";
    let counts = "different: 0 same, 0 within, 1 different, 0 missing, 1 extra\n";
    let rows = [
        ("g.npy a.npy", line, 2, "wrote g.npy: 1 tensor\n"),
        ("g.npy a.npy -q", "", 1, "wrote g.npy: 1 tensor\n"),
        (
            "g.npy a.npy --worst 1",
            "different: 1 of 2 items (50 %) of float32 [2]\n\n  index",
            15,
            "wrote g.npy: 1 tensor\n",
        ),
        ("e.npz a.npz", counts, 6, "wrote e.npz: 2 tensors\n"),
        ("e.npz a.npz -q", "", 1, "wrote e.npz: 2 tensors\n"),
        ("new.npy a.npy", "different: EXPECTED new.npy does not exist\n", 2, "wrote new.npy: 1 tensor\n"),
        ("more.npy a.npy -q", "", 1, "wrote more.npy: 1 tensor\n"),
        // where nothing is written, the verdict is the line
        ("a.npy a.npy -q", "equal: 2 items of float32 [2]\n", 1, ""),
    ];
    for (args, first, count, last) in rows {
        put();
        let text = folder.run(words(&format!("diff {args} --accept"))).printed().expect("accepted");
        assert!(text.starts_with(first) && text.ends_with(last), "{args}: {text}");
        assert_eq!(text.lines().count(), count, "{args}: {text}");
    }
}

/// A report of dtypes says once how their values are compared.
#[test]
fn other_dtypes() {
    let folder = Folder::new();
    let [one, two] = [tensor::<f32>(&[2], &[1., 2.]).npy(), tensor::<f64>(&[2], &[1., 2.]).npy()];
    folder.put("e.npz", npz(&[("a", one.clone()), ("b", one.clone()), ("c", one.clone())]));
    folder.put("a.npz", npz(&[("a", two.clone()), ("b", two), ("c", one)]));
    let report = |args: &str| String::from_utf8_lossy(&folder.run(words(args)).stdout).into_owned();
    let printed = report("diff e.npz a.npz");
    assert_eq!(printed.matches("--ignore-dtype").count(), 1, "{printed}");
    assert!(printed.ends_with("\n  --ignore-dtype compares the values\n"), "{printed}");
    assert!(!report("diff e.npz a.npz --ignore-dtype").contains("--ignore-dtype"));
    assert!(!report("diff e.npz e.npz").contains("--ignore-dtype"));
    let json: serde_json::Value = serde_json::from_str(&report("diff e.npz a.npz --json")).expect("JSON");
    assert_eq!((&json["tensors"][0]["name"], &json["tensors"][0]["member"]), (&"a".into(), &"a".into()));
}
