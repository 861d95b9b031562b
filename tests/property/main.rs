//! Properties of every reader and operator, on generated input: bounded, and the same in every run.

#[path = "../common/mod.rs"]
mod common;

mod checks;
mod containers;
#[cfg(feature = "cli")]
mod determinism;
mod files;
#[cfg(feature = "cli")]
mod forms;
mod kernels;
#[cfg(feature = "cli")]
mod lossless;
#[cfg(feature = "cli")]
mod metrics;
mod mutants;
#[cfg(feature = "cli")]
mod packed;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "cli")]
mod random;
#[cfg(feature = "cli")]
mod renames;
#[cfg(feature = "cli")]
mod replace;
#[cfg(all(feature = "cli", feature = "zarr"))]
mod stores;
mod values;
#[cfg(feature = "zarr")]
mod zarr;

use crate::common::rounds;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use tensorop::error::Subject;
use tensorop::internal::formats::json;
use tensorop::internal::formats::npy::{Begun, read_header};
use tensorop::internal::opening::input::OpenOptions;
use tensorop::internal::opening::table::Format;
use tensorop::parallel::Threads;

/// Checks so many generated values, or as many times more as [`rounds`] says, which are the same in every run; a failure names
/// the smallest that fails.
fn holds<S: Strategy>(cases: usize, strategy: S, check: impl Fn(S::Value)) {
    let cases = rounds(cases) as u32;
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 5000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&strategy, |value| {
        check(value);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, value)) => panic!("{why}\nof {value:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[test]
fn any_bytes() {
    holds(700, prop::collection::vec(any::<u8>(), 0..200), |bytes| {
        checks::npy_file(&[b"\x93NUMPY".as_slice(), &bytes].concat());
        checks::json(&bytes);
    });
}

#[test]
fn any_text() {
    holds(700, "[-+0-9eE.,:\\[\\]{}\" NaInfityT\\PC]{0,40}", |text| {
        checks::json(text.as_bytes());
        checks::fill(&text);
        checks::dtype(&text);
    });
}

#[test]
fn any_table() {
    holds(700, "(\u{feff}|#)?([-+0-9.eE]{0,4}|nan|inf|true|\"[^\"]{0,3}\"?|\\PC{0,2}|[,\t\r\n \"]){0,14}", |text| {
        checks::csv(text.as_bytes());
    });
    holds(400, prop::collection::vec(any::<u8>(), 0..60), |bytes| checks::csv(&bytes));
}

#[test]
fn any_view() {
    holds(1000, "([<>]?[iufUSVM][1248]|int4|[a-z]{1,4})?(\\[[-0-9, ]{0,12}\\]?)?(@(0x)?[-+0-9a-f]{0,20})?", |text| {
        checks::view(&text);
    });
    holds(400, "\\PC{0,30}", |text| checks::view(&text));
}

#[test]
fn names_of_dtypes() {
    holds(1000, "[<>|=]?[a-zA-Z?]{1,2}[0-9]{0,4}(\\[[0-9]{0,3}[a-zA-Z]{1,2}\\])?", |text| checks::dtype(&text));
}

#[test]
fn any_arguments() {
    holds(7000, prop::collection::vec(any::<u8>(), 0..120), |bytes| checks::operators(&bytes));
}

#[test]
fn mutants_of_npy() {
    holds(2000, (0..mutants::npy().len(), mutants::changes()), |(seed, changes)| {
        let mutant = mutants::npy_mutant(&mutants::npy()[seed], &changes);
        checks::npy_file(&mutant);
    });
}

#[test]
fn mutants_of_json() {
    holds(2000, (0..mutants::JSON.len(), mutants::changes()), |(seed, changes)| {
        checks::json(&mutants::mutant(mutants::JSON[seed].as_bytes(), &changes, mutants::JSON_TOKENS));
    });
}

#[test]
fn mutants_of_pytorch() {
    const PICKLE_TOKENS: &[&str] = &[
        "R",
        "Q",
        "t",
        "(",
        ")",
        "b",
        "u",
        "e",
        "]",
        "}",
        "N",
        "0",
        "1",
        "2",
        ".",
        "h\u{1}",
        "q\u{1}",
        "K\u{1}",
        "K\u{7f}",
        "J\u{7f}\u{7f}\u{7f}\u{7f}",
        "X\u{7f}\0\0\0",
    ];
    let seeds = files::pytorch();
    holds(700, (0..seeds.len(), mutants::changes()), |(seed, changes)| {
        containers::pytorch(&mutants::mutant(&seeds[seed], &changes, PICKLE_TOKENS));
    });
}

#[test]
fn mutants_of_npz() {
    holds(150, files::lying_npz(), |mutant| containers::npz(&mutant));
    holds(150, (0..files::npz().len(), mutants::changes()), |(seed, changes)| {
        containers::npz(&mutants::mutant(&files::npz()[seed], &changes, mutants::NPY_TOKENS));
    });
}

#[test]
fn mutants_of_safetensors() {
    holds(400, (0..files::safetensors().len(), mutants::changes(), any::<bool>()), |(seed, changes, whole)| {
        containers::safetensors(&files::safetensors_mutant(&files::safetensors()[seed], &changes, whole));
    });
}

#[test]
fn mutants_of_onnx() {
    holds(400, (0..files::onnx().len(), mutants::changes()), |(seed, changes)| {
        let mutant = mutants::mutant(&files::onnx()[seed], &changes, files::ONNX_TOKENS);
        containers::onnx(&mutant);
        containers::open(&mutant);
    });
}

#[test]
fn mutants_of_gguf() {
    holds(400, (0..files::gguf().len(), mutants::changes()), |(seed, changes)| {
        containers::gguf(&mutants::mutant(&files::gguf()[seed], &changes, files::GGUF_TOKENS));
    });
}

#[test]
fn mutants_of_onnx_models() {
    let seeds = files::onnx_models();
    assert_eq!(seeds.last().map(|seed| containers::beside_bin("m.onnx", seed).len()), Some(4));
    holds(400, (0..seeds.len(), mutants::changes()), |(seed, changes)| {
        containers::onnx_model(&mutants::mutant(&seeds[seed], &changes, files::MODEL_TOKENS));
    });
}

#[test]
fn mutants_of_openvino() {
    let seeds = files::openvino();
    assert!(seeds.iter().all(|seed| !containers::beside_bin("m.xml", seed).is_empty()));
    holds(400, (0..seeds.len(), mutants::changes()), |(seed, changes)| {
        containers::openvino(&mutants::mutant(&seeds[seed], &changes, files::XML_TOKENS));
    });
}

#[cfg(feature = "zarr")]
#[test]
fn mutants_of_zarr() {
    let seeds = zarr::seeds();
    assert!(seeds.len() > 30, "{}", seeds.len());
    holds(500, (0..seeds.len(), mutants::changes(), any::<bool>()), |(seed, changes, in_chunk)| {
        let seed = &seeds[seed];
        let end = seed.iter().position(|&byte| byte == 0).map_or(seed.len(), |end| end + 1);
        let (metadata, chunk) = seed.split_at(end);
        zarr::zarr(&match in_chunk {
            true => [metadata, &mutants::mutant(chunk, &changes, zarr::TOKENS)].concat(),
            false => [&mutants::mutant(metadata, &changes, zarr::TOKENS), chunk].concat(),
        });
    });
}

#[test]
fn any_values() {
    holds(700, prop::collection::vec(any::<u8>(), 0..120), |bytes| {
        values::cast(&bytes);
        values::narrow(&bytes);
        values::difference(&bytes);
    });
}

/// The seeds are what they should be, so that mutants of them reach what lies behind the first check.
#[test]
fn seeds_are_accepted() {
    for seed in mutants::npy() {
        checks::npy_file(&seed);
        let begun = read_header(&seed);
        assert!(matches!(begun, Ok(Begun::Header(_))), "{begun:?}");
    }
    for text in mutants::JSON {
        let value = json::open(text.as_bytes(), Subject::Data, Threads::default()).expect(text);
        match value.dtype() {
            Some(dtype) => value.read(dtype).map(drop),
            None => value.infer().map(drop),
        }
        .expect(text);
    }
    let containers = [
        (Format::NPZ, files::npz(), containers::npz as fn(&[u8])),
        (Format::SAFETENSORS, files::safetensors(), containers::safetensors),
        (Format::ONNX, files::onnx(), containers::onnx),
        (Format::named("gguf").expect("a format"), files::gguf(), containers::gguf),
    ];
    for (format, seeds, check) in containers {
        assert!(seeds.len() >= 4, "{format:?}");
        for (n, seed) in seeds.iter().enumerate() {
            check(seed);
            let input = OpenOptions::new("FILE").open_stream(Box::new(std::io::Cursor::new(seed.clone())));
            let input = input.unwrap_or_else(|error| panic!("{format:?} {n}: {error:#}"));
            assert_eq!(input.format(), format);
            let (members, read) = (input.names().map_or(1, |names| names.len()), containers::any(seed, None).len());
            // the last message says that its items are elsewhere
            assert_eq!(
                read,
                if format == Format::ONNX && n + 1 == seeds.len() { 0 } else { members },
                "{format:?} {n}"
            );
        }
    }
}

/// Inputs that once failed, by the target that found them.
#[test]
fn regressions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/property/regressions");
    type Check = fn(&[u8]);
    let checks: Vec<(&str, Check)> = vec![
        ("npy_header", checks::npy_header),
        ("npy_file", checks::npy_file),
        ("json", checks::json),
        ("operators", checks::operators),
        ("npz", containers::npz),
        ("safetensors", containers::safetensors),
        ("pytorch", containers::pytorch),
        ("onnx", containers::onnx),
        ("onnx_model", containers::onnx_model),
        ("openvino", containers::openvino),
        ("gguf", containers::gguf),
        ("open", containers::open),
        #[cfg(feature = "zarr")]
        ("zarr", zarr::zarr),
        ("cast", values::cast),
        ("narrow", values::narrow),
        ("diff", values::difference),
    ];
    for (target, check) in checks {
        let Ok(files) = std::fs::read_dir(folder.join(target)) else { continue };
        for file in files {
            let path = file.expect("an entry").path();
            eprintln!("{}", path.display());
            check(&std::fs::read(path).expect("a regression"));
        }
    }
}

/// Writes the seeds that the fuzz targets begin with.
#[test]
#[ignore = "writes into fuzz/corpus"]
fn seeds_for_fuzzing() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let seeds = vec![
        ("npy_header", mutants::npy()),
        ("npy_file", mutants::npy()),
        ("json", texts(mutants::JSON)),
        (
            "dtype",
            texts(&["float32", "<U5", "|S3", "<M8[25ns]", ">c16", "bfloat16", "float8_e4m3fn", "V3", "[1, -Infinity]"]),
        ),
        ("at", texts(&["1:8:2, ..., ::-1", ":, ::2", "-3:4", "5:INT_MIN:-1", ""])),
        ("npz", files::npz()),
        ("safetensors", files::safetensors()),
        ("pytorch", files::pytorch()),
        ("onnx", files::onnx()),
        ("onnx_model", files::onnx_models()),
        ("openvino", files::openvino()),
        ("gguf", files::gguf()),
        ("csv", texts(&["1,2\n3,4\n", "a\tb\n1\t2\n", "\"x\n\"\"y\",nan\n", "2024-01-01,true\n"])),
        ("view", texts(&["float32[2,5]@128", ">u2[4]@0x80", "int8", "f4[-1,3]", "int8[]"])),
        ("open", [files::npz(), files::safetensors(), files::onnx(), mutants::npy(), texts(mutants::JSON)].concat()),
        #[cfg(feature = "zarr")]
        ("zarr", zarr::seeds()),
        ("cast", (0..42).map(|from| (from..from + 60).collect()).collect()),
        ("narrow", (0..15).map(|narrow| (narrow..narrow + 12).collect()).collect()),
        ("diff", (0..12).map(|dtype| (dtype..dtype + 80).collect()).collect()),
        ("operators", (0..16).map(|operator| (operator..operator + 40).collect()).collect()),
    ];
    for (target, seeds) in seeds {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).expect("a seed");
        }
        let once = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/property/regressions").join(target);
        for file in std::fs::read_dir(once).into_iter().flatten().flatten() {
            std::fs::copy(file.path(), folder.join(file.file_name())).expect("a regression");
        }
    }
}
