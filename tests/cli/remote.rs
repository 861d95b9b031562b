//! Operands by address: what is asked of a server, what comes of its answers, and what is never printed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tensorop::command::{Environment, Io};
use tensorop::internal::storage::targets::stream::{InputStream, OutputStream};

use crate::common::server::{BODY_CHUNK, Behaviour, Fault, Object, Seen, Server};
use crate::common::{Folder, commands, difference, each, file_of, has, named, put_operands, tensor, words};

/// The bytes that the answers to all requests had.
fn bytes(seen: &[Seen]) -> u64 {
    seen.iter().map(|seen| seen.sent).sum()
}

/// A folder with one tensor in every format that is read, and the names to read it by.
pub(super) fn files() -> (Folder, Vec<&'static str>) {
    let folder = Folder::new();
    let items: Vec<f32> = (0..6000).map(|n| n as f32).collect();
    folder.put("x.npy", tensor::<f32>(&[60, 100], &items).npy());
    for args in [
        "convert a=x.npy b=x.npy -o x.npz",
        "convert a=x.npy b=x.npy -o c.npz --compress",
        "convert a=x.npy b=x.npy -o x.safetensors",
        "convert a=x.npy b=x.npy -o m.safetensors.index.json --max-shard-size 30KB",
        "convert x.npy -o x.pb",
        "convert x.npy -o x.json",
        "convert x.npy -o x.csv",
        "convert x.npy -o x.bin",
        "convert x.npy -o f.npy --order F",
        "convert x.npy -o x.zarr --chunks 7,30",
        "convert x.npy -o s.zarr --chunks 6,10 --shards 30,50",
        "convert a=x.npy b=x.npy -o g.zarr --chunks 7,30",
    ] {
        folder.run(words(args)).printed().expect(args);
    }
    let names = vec![
        "x.npy",
        "x.npz:a",
        "c.npz:b",
        "x.safetensors:b",
        "m.safetensors.index.json:b",
        "x.pb",
        "x.json",
        "x.csv",
        "x.bin:<f4[60,-1]",
        "f.npy",
        "x.zarr",
        "s.zarr",
        "g.zarr:a",
    ];
    (folder, names)
}

/// A server of all files of a folder, below `root`.
pub(super) fn served(folder: &Folder, root: &str) -> Behaviour {
    let files = folder.tree(".").into_iter();
    let objects = files.map(|(name, bytes)| (format!("{root}/{name}"), Object::Bytes(bytes))).collect();
    Behaviour { objects, ..Behaviour::default() }
}

#[test]
fn every_format_reads_as_its_file() {
    let (folder, mut names) = files();
    for model in ["model.onnx", "model.gguf", "model.pt"] {
        folder.put(model, std::fs::read(format!("samples/models/{model}")).expect("a sample"));
    }
    names.extend(["model.onnx:up.weight", "model.gguf:blk.0.ffn_up.weight", "model.pt:model.up.weight"]);
    let server = Server::start(served(&folder, ""));
    // a store without a list of what it holds is asked for an array by its name
    each(
        names,
        |name| (*name).to_owned(),
        |name| {
            let url = server.url(&format!("/{name}"));
            for args in ["show --at 3:50:7,::-9", "slice --to npy --at 58:,:", "convert --to npy -o -", "info --stats"]
            {
                for threads in ["1", "8"] {
                    let run = |operand: &str| {
                        let args =
                            words(args).into_iter().chain([operand.to_owned(), "--threads".into(), threads.into()]);
                        let run = folder.run(args);
                        // of what it is called only the end is the same
                        let printed = String::from_utf8_lossy(&run.stdout).replace(&server.url("/"), "");
                        let lines: Vec<_> =
                            printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
                        (run.status, lines, run.stderr.replace(&server.url("/"), ""))
                    };
                    let (local, remote) = (run(name), run(&url));
                    if local != remote || local.0 != Some(0) {
                        return Err(format!("{args}: {remote:?}, expected {local:?}"));
                    }
                }
            }
            folder.run(["diff", name, &url]).printed().map(drop)
        },
    );
}

/// The configuration is asked for beside the tensors.
#[test]
fn quantised_weights_and_their_configuration() {
    let golden = |name: &str| std::fs::read(format!("tests/golden/quantized/{name}")).expect("a golden file");
    let paths = ["nvfp4/model.safetensors", "nvfp4/config.json"].map(|name| (format!("/{name}"), golden(name)));
    let server = Server::of(paths.iter().map(|(path, bytes)| (&**path, bytes.clone())));
    let folder = Folder::new();
    folder.put("numbers.safetensors", golden("nvfp4.safetensors"));
    let args = ["diff", "numbers.safetensors", &server.url("/nvfp4/model.safetensors"), "--dequantize"];
    let run = folder.run(args);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n");
    assert!(run.stderr.ends_with("/nvfp4/model.safetensors: 2 scales of activations left alone\n"), "{}", run.stderr);
    let listed = folder.run(["info", &server.url("/nvfp4/model.safetensors")]).printed();
    assert!(listed.as_ref().is_ok_and(|listed| listed.contains("6 tensors make up 2 nvfp4 weights")), "{listed:?}");
    // without the file beside it, the names do not tell
    server.set("/nvfp4/config.json", None);
    let url = server.url("/nvfp4/model.safetensors");
    folder.refuses(["info", &url, "--dequantize"], &["no config.json beside the tensors states"]).expect("refused");
}

#[test]
fn operands_of_operators_and_globs() {
    let (folder, _) = files();
    folder.put("i.npy", tensor::<i64>(&[2], &[5, 3]).npy());
    let server = Server::start(served(&folder, ""));
    let url = |name: &str| server.url(&format!("/{name}"));
    let run = |args: &[&str]| folder.run(args).printed().expect("run");
    let local = run(&["gather", "x.npy", "i.npy"]);
    assert_eq!(run(&["gather", &url("x.zarr"), &url("i.npy")]), local);
    assert_eq!(run(&["info", "--members", &url("x.safetensors:*")]), "a\nb\n");
    run(&["convert", &format!("n={}", url("x.npy")), "-o", "n.npz"]);
    assert_eq!(run(&["info", "--members", "n.npz"]), "n\n");
    // the names of an output are not those of the address
    run(&["convert", &url("x.npy"), &url("f.npy"), "-o", "two.npz"]);
    assert_eq!(run(&["info", "--members", "two.npz"]), "f\nx\n");
}

#[test]
fn what_is_not_there_and_what_is_refused() {
    let (folder, _) = files();
    let mut behaviour = served(&folder, "");
    behaviour.objects.retain(|name, _| !name.starts_with("/g.zarr/zarr.json"));
    let group = br#"{"zarr_format": 3, "node_type": "group"}"#.to_vec();
    behaviour.objects.insert("/g.zarr/zarr.json".to_owned(), Object::Bytes(group));
    let server = Server::start(behaviour);
    let url = |name: &str| server.url(&format!("/{name}"));
    let rows = [
        (format!("info {}", url("no.npy")), format!("error: FILE {}: 404 Not Found\n", url("no.npy"))),
        (
            format!("info {}", url("g.zarr")),
            format!(
                "error: FILE {}: the group has no consolidated metadata, and the server lists no names: name an array \
                 behind a colon\n",
                url("g.zarr")
            ),
        ),
        (
            format!("slice-scatter {} 5 --at :1 -i", url("x.npy")),
            format!(
                "error: DATA {}: --in-place changes a local file, not one behind an address\n",
                url("x.npy")
            ),
        ),
        (
            format!("convert {} -o http://127.0.0.1:1/out.npy?key=secret", url("x.npy")),
            "error: output http://127.0.0.1:1/out.npy: an output is a file, or a store in a bucket (s3://BUCKET/NAME.zarr); \
             -o - writes to a pipe, as in -o - --to npy | COMMAND\n"
                .to_owned(),
        ),
        (
            "info http://127.0.0.1:1/x.npy".to_owned(),
            "error: FILE http://127.0.0.1:1/x.npy: the connection was refused\n".to_owned(),
        ),
        (
            "slice x.npy --at :1 -o s3://b/x.npy".to_owned(),
            "error: output s3://b/x.npy: only .zarr can go into a bucket; -o - writes to a pipe, as in -o - --to npy | aws s3 cp - s3://b/x.npy\n".to_owned(),
        ),
        (
            "slice x.npy --at :1 -o https://user:secret@h/x.npy?key=secret --to npy".to_owned(),
            "error: output https://h/x.npy: an output is a file, or a store in a bucket (s3://BUCKET/NAME.zarr); -o - writes to a pipe, as in -o - --to npy | COMMAND\n".to_owned(),
        ),
        ("info hf://x".to_owned(), "error: FILE hf://x: expected hf://ORG/REPO[@REVISION]/PATH\n".to_owned()),
    ];
    each(
        rows,
        |(args, _)| args.clone(),
        |(args, expected)| {
            let run = folder.run(words(args));
            match run.status == Some(2) && run.stderr == *expected && run.stdout.is_empty() {
                true => Ok(()),
                false => Err(format!("{:?}: {}, expected {expected}", run.status, run.stderr)),
            }
        },
    );
    folder.put("other.npy", tensor::<f32>(&[60, 100], &[0.5; 6000]).npy());
    let run = folder.run(["diff", &url("x.npy"), "other.npy", "--accept"]);
    let refused = "--accept writes a local file, not one behind an address\n";
    assert_eq!((run.status, run.stderr), (Some(2), format!("error: EXPECTED {}: {refused}", url("x.npy"))));
    let run = folder.run(["show", &url("g.zarr:a"), "--at", ":1,:2"]);
    assert!(run.printed().expect("an array by its name").ends_with("[[0. 1.]]\n"));
}

/// A header of `count` tensors of 16 MiB each, as safetensors has it.
fn header(count: usize, bytes: usize) -> Vec<u8> {
    let entry = |n: usize| {
        let (begin, end, name) = (n * bytes, (n + 1) * bytes, format!("layers.{n}.{}", "x".repeat(2900)));
        format!("\"{name}\":{{\"dtype\":\"F32\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}", bytes / 4)
    };
    let text = format!("{{{}}}", (0..count).map(entry).collect::<Vec<_>>().join(","));
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

#[test]
fn a_header_costs_two_requests_and_a_tensor_its_bytes() {
    const EACH: usize = 1 << 24;
    let begin = header(1024, EACH);
    assert!(begin.len() > 3_000_000);
    let size = (begin.len() + 1024 * EACH) as u64;
    let object = Object::Virtual { size, cycle: &[0, 1, 2, 3, 4, 5, 6], begin: begin.clone() };
    let objects = BTreeMap::from([("/m.safetensors".to_owned(), object)]);
    let server = Server::start(Behaviour { objects, ..Behaviour::default() });
    let folder = Folder::new();
    let url = server.url("/m.safetensors");
    let printed = folder.run(["info", &url]).printed().expect("info");
    assert!(printed.contains("1024 tensors") && printed.contains("16.0 GiB"));
    let seen = server.seen();
    assert!(seen.len() <= 2 && bytes(&seen) <= begin.len() as u64 + (1 << 17), "{} of {}", seen.len(), bytes(&seen));
    let name = format!("layers.700.{}", "x".repeat(2900));
    folder.run(["convert", &format!("{url}:{name}"), "-o", "one.npy"]).printed().expect("one tensor");
    let seen = server.seen();
    let most = begin.len() as u64 + (EACH as u64) * 11 / 10 + (1 << 17);
    assert!(bytes(&seen) <= most, "{} bytes, at most {most}", bytes(&seen));
    let items = folder.get("one.npy");
    let first = (begin.len() + 700 * EACH) as u64;
    assert!(items[128..].iter().enumerate().all(|(n, byte)| u64::from(*byte) == (first + n as u64) % 7));
}

#[test]
fn a_row_of_a_store_costs_its_chunks() {
    let (folder, _) = files();
    let server = Server::start(served(&folder, ""));
    let asked = |name: &str| -> Vec<String> {
        let args = ["slice", &server.url(name), "--at", "8:9,:", "--to", "npy"];
        assert_eq!(folder.run(args).status, Some(0));
        let seen = server.seen().into_iter();
        let what =
            |seen: &Seen| if seen.method == "HEAD" { "head" } else { seen.header("range").unwrap_or("all") }.to_owned();
        let mut asked: Vec<_> = seen.map(|seen| format!("{} {}", seen.path, what(&seen))).collect();
        asked.sort();
        asked
    };
    let chunks = (0..4).map(|n| format!("/x.zarr/c/1/{n} all"));
    // the metadata, and their version before and after
    let metadata = ["all", "head", "head"].map(|what| format!("/x.zarr/zarr.json {what}"));
    assert_eq!(asked("/x.zarr"), chunks.chain(metadata).collect::<Vec<_>>());
    assert_eq!(asked("/g.zarr:b").len(), 8, "four chunks, the group's metadata, the array's and two versions");
    // of two shards the index, and of each the five chunks of the row
    let of_shards = asked("/s.zarr");
    let count = |what: &str| of_shards.iter().filter(|asked| asked.contains(what)).count();
    assert_eq!((of_shards.len(), count("bytes=-404"), count("/c/0/0 "), count("/c/0/1 ")), (15, 2, 6, 6));
}

#[test]
fn faults_are_survived_or_told() {
    let folder = Folder::new();
    let items: Vec<f32> = (0..50_000).map(|n| n as f32).collect();
    let file = tensor::<f32>(&[50_000], &items).npy();
    folder.put("x.npy", &file);
    let server = Server::of([("/x.npy", file)]);
    let url = server.url("/x.npy");
    let often = |fault: Fault| vec![Some(fault); 99];
    type Row = (Vec<Option<Fault>>, Option<&'static str>);
    // what goes wrong, and the error that it ends with, if it does
    let rows: Vec<Row> = vec![
        (vec![Some(Fault::Status(503, Some("0"))), None, Some(Fault::Status(429, None))], None),
        (vec![Some(Fault::Reset), Some(Fault::Reset)], None),
        (vec![Some(Fault::EndEarly(100)), None, Some(Fault::EndEarly(5000)), Some(Fault::EndEarly(0))], None),
        (vec![Some(Fault::Stall(0)), None, Some(Fault::Stall(70))], None),
        (vec![Some(Fault::Whole)], None),
        (vec![None, Some(Fault::Whole)], None),
        (often(Fault::Reset), Some("(6 attempts)")),
        (often(Fault::Status(500, Some("0"))), Some("500 Internal Server Error (6 attempts)")),
        (vec![Some(Fault::Status(503, Some("3600")))], Some("503 Service Unavailable (retry in 3600 seconds)")),
        (often(Fault::EndEarly(9)), Some("the answer broke off (6 attempts)")),
        (vec![Some(Fault::Status(403, None))], Some("403 Forbidden")),
        (vec![Some(Fault::Status(412, None))], Some("412 Precondition Failed")),
        (vec![None, Some(Fault::Status(412, None))], Some("changed while it was read")),
        (vec![Some(Fault::Status(416, None))], Some("has no part bytes=0-65535")),
        (vec![None, Some(Fault::Status(416, None))], Some("changed while it was read")),
        (vec![Some(Fault::Status(204, None))], Some("answers with the status 204")),
        (vec![None, Some(Fault::Status(204, None))], Some("answers with the status 204")),
        (vec![Some(Fault::Status(206, None))], Some("answers with a part, and does not say which")),
        (vec![Some(Fault::Encoded)], Some("encoded as \"gzip\"")),
        (vec![None, Some(Fault::Encoded)], Some("encoded as \"gzip\"")),
        (vec![Some(Fault::Part(1))], Some("requested bytes=0-65535, got the bytes 1-65536")),
        (vec![None, Some(Fault::Part(1))], Some("an invalid part")),
        (vec![None, Some(Fault::Change)], Some("changed while it was read")),
        (vec![None, Some(Fault::Size(300_000))], Some("changed while it was read")),
        (vec![Some(Fault::Size(1 << 63))], Some("9223372036854775680 bytes of data, expected 200000")),
        (vec![Some(Fault::Size(u64::MAX))], Some("18446744073709551487 bytes of data, expected 200000")),
        (vec![Some(Fault::Length(7))], Some("answers a part of")),
    ];
    each(
        rows,
        |(faults, _)| format!("{:?}", &faults[..faults.len().min(4)]),
        |(faults, expected)| {
            server.fail(faults.iter().cloned());
            let begun = Instant::now();
            let run = folder.run(["convert", &url, "-o", "out.npy", "--timeout", "0.4", "--threads", "1"]);
            server.fail([]);
            let took = begun.elapsed();
            let is_right = match expected {
                None => run.status == Some(0) && folder.get("out.npy") == folder.get("x.npy"),
                Some(message) => {
                    let one_line = run.stderr.lines().count() == 1 && run.stderr.starts_with("error: IN http://");
                    run.status == Some(2)
                        && one_line
                        && run.stderr.contains(message)
                        && !folder.path("out.npy").exists()
                }
            };
            let _ = std::fs::remove_file(folder.path("out.npy"));
            match is_right && took < Duration::from_secs(10) {
                true => Ok(()),
                false => Err(format!("{:?} {:?}: {}, expected {expected:?}", took, run.status, run.stderr)),
            }
        },
    );
}

#[test]
fn all_of_a_shard_is_of_one_version() {
    const KEY: &str = "/s.zarr/c/0/0";
    let (folder, _) = files();
    let items: Vec<f32> = (0..6000).map(|n| (6000 - n) as f32).collect();
    folder.put("y.npy", tensor::<f32>(&[60, 100], &items).npy());
    std::fs::create_dir(folder.path("other")).expect("a folder");
    folder.run(words("convert y.npy -o other/s.zarr --chunks 6,10 --shards 30,50")).printed().expect("written");
    // the index comes first, and then 25 chunks
    for (after, ignores_versions) in [(1, false), (1, true), (2, false), (2, true), (20, true)] {
        for threads in ["1", "8"] {
            let swaps = BTreeMap::from([(KEY.to_owned(), (after, folder.get(format!("other{KEY}"))))]);
            let server = Server::start(Behaviour { swaps, ignores_versions, ..served(&folder, "") });
            let url = server.url("/s.zarr");
            let run = folder.run(["convert", &url, "-o", "out.npy", "--threads", threads]);
            let told = run.stderr.starts_with(&format!("error: IN {url}: "))
                && run.stderr.ends_with("changed while it was read\n")
                && run.stderr.lines().count() == 1;
            let row = format!("after {after}, ignored: {ignores_versions}, {threads} threads");
            assert!(run.status == Some(2) && told && !folder.path("out.npy").exists(), "{row}: {run:?}");
        }
    }
}

#[test]
fn a_server_that_gives_whole_files_only() {
    let size = (1 << 28) + 1;
    let large = Object::Virtual { size, cycle: &[0], begin: Vec::new() };
    let file = tensor::<i32>(&[3], &[1, 2, 3]).npy();
    let objects = BTreeMap::from([("/x.npy".to_owned(), Object::Bytes(file)), ("/large.npy".to_owned(), large)]);
    let server = Server::start(Behaviour { objects, always: Some(Fault::Whole), ..Behaviour::default() });
    let folder = Folder::new();
    let run = folder.run(["show", &server.url("/x.npy")]);
    assert!(run.printed().expect("a small file").ends_with("[1 2 3]\n"));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn servers_that_tell_no_length_are_read() {
    let (folder, names) = files();
    for always in [None, Some(Fault::Whole)] {
        let server = Server::start(Behaviour { is_chunked: true, always: always.clone(), ..served(&folder, "") });
        each(
            &names,
            |name| format!("{name} {always:?}"),
            |name| {
                let url = server.url(&format!("/{name}"));
                for args in ["slice --to npy --at 3:50:7,::-9", "convert --to npy -o -", "info --stats"] {
                    let run = |operand: &str| {
                        let run = folder.run(words(args).into_iter().chain([operand.to_owned()]));
                        let printed = String::from_utf8_lossy(&run.stdout).replace(&server.url("/"), "");
                        let words = printed.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                        (run.status, words, run.stderr)
                    };
                    let (local, remote) = (run(name), run(&url));
                    if local.0 != Some(0) || remote != local {
                        return Err(format!("{args}: {remote:?}, expected {local:?}"));
                    }
                }
                folder.run(["diff", name, &url]).printed().map(drop)
            },
        );
    }
}

#[test]
fn an_answer_in_chunks_that_ends_early_is_asked_for_again_or_told() {
    let (folder, _) = files();
    // within a chunk, behind one, and behind several
    for count in [0, 10, BODY_CHUNK, BODY_CHUNK + 1, 3 * BODY_CHUNK] {
        let start = |always| Server::start(Behaviour { is_chunked: true, always, ..served(&folder, "") });
        let run = |server: &Server, name: &str| {
            let run = folder.run(["convert", &server.url(name), "-o", "out.npy", "--threads", "1"]);
            let out = folder.path("out.npy").exists().then(|| folder.get("out.npy"));
            let _ = std::fs::remove_file(folder.path("out.npy"));
            (run.status, run.stderr, out)
        };
        let server = start(None);
        server.fail([Some(Fault::EndEarly(count))]);
        assert_eq!(run(&server, "/x.npy"), (Some(0), String::new(), Some(folder.get("x.npy"))), "{count}");
        // parts of an object, and the metadata of a store, which is taken whole
        let server = start(Some(Fault::EndEarly(count)));
        for name in ["/x.npy", "/x.zarr"].iter().take(if count < 100 { 2 } else { 1 }) {
            let (status, stderr, out) = run(&server, name);
            assert_eq!((status, out), (Some(2), None), "{count}: {stderr}");
            assert!(stderr.contains("(6 attempts)"), "{count}: {stderr}");
        }
    }
    // what is taken whole has a bound, told or not
    let objects = BTreeMap::from([("/x.zarr/zarr.json".to_owned(), Object::Bytes(vec![b' '; (1 << 26) + 1]))]);
    let server = Server::start(Behaviour { is_chunked: true, objects, ..Behaviour::default() });
    folder.refuses(["info", &server.url("/x.zarr")], &["zarr.json", "expected at most 67108864"]).expect("refused");
}

/// Takes what is printed on a terminal.
#[derive(Clone, Default)]
struct Terminal(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no run panics").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_request_that_is_made_again_is_told_on_a_terminal() {
    let (folder, _) = files();
    let server = Server::start(served(&folder, ""));
    let url = server.url("/x.npy").replace("//", "//me:secret@") + "?token=secret";
    let host = server.url("").replace("http://", "");
    let lines = |is_terminal: bool, more: &[&str], plain: bool| {
        server.fail([Some(Fault::Status(503, None)), Some(Fault::EndEarly(3)), None]);
        let (stdout, stderr) = (Terminal::default(), Terminal::default());
        let io = Io {
            stdin: InputStream::new(std::io::empty()),
            stdout: OutputStream::new(stdout, false),
            stderr: OutputStream::new(stderr.clone(), is_terminal),
            terminal: None,
            environment: Environment { is_plain: plain, ..Environment::default() },
            arguments: Default::default(),
            containers: Default::default(),
        };
        let args = [&["tensorop", "slice", &url, "--at", ":1"], more].concat();
        assert_eq!(tensorop::command::run(args.into_iter().map(Into::into), &io), 0);
        let told = String::from_utf8(stderr.0.lock().expect("printed").clone()).expect("a text");
        // other tests of the same process may ask other servers again meanwhile
        told.split_inclusive('\n').filter(|line| line.contains(&host)).map(str::to_owned).collect::<Vec<_>>()
    };
    let told = |clear: &str| {
        let whys = [format!("503 Service Unavailable from {host}"), format!("the answer broke off ({host})")];
        let lines = whys.iter().zip(2..).map(|(why, n)| format!("\rasking again ({n} of 6): {why}{clear}\n"));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(true, &[], false), told("\x1b[K"));
    assert_eq!(lines(true, &[], true), told(""));
    assert_eq!(lines(true, &["-q"], false), [""; 0]);
    assert_eq!(lines(false, &[], false), [""; 0]);
}

#[test]
fn credentials_stay_with_their_host_and_are_never_printed() {
    let folder = Folder::new();
    let file = tensor::<i32>(&[3], &[1, 2, 3]).npy();
    let other = Server::of([("/signed", file)]);
    let hub = Server::start(Behaviour {
        always: Some(Fault::Redirect(other.url("/signed?X-Amz-Signature=secret-signature"))),
        ..Behaviour::default()
    });
    let run = |args: &[&str]| {
        let mut command = folder.command();
        command.env("HF_TOKEN", "secret-token").env("HF_ENDPOINT", hub.url("/secret@"));
        let output = command.args(args).output().expect("run");
        let printed = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&printed).into_owned();
        assert!(!text.contains("secret"), "{text}");
        (output.status.code(), text)
    };
    let address = "hf://datasets/org/repo@refs%2Fpr%2F1/a/x.npy";
    let (status, text) = run(&["show", address]);
    assert_eq!((status, text.as_str()), (Some(0), &*format!("{address}: int32 [3]\n[1 2 3]\n")));
    let asked = hub.seen();
    assert_eq!(asked[0].path, "/secret@/datasets/org/repo/resolve/refs%2Fpr%2F1/a/x.npy");
    assert_eq!(asked[0].header("authorization"), Some("Bearer secret-token"));
    for seen in other.seen() {
        assert_eq!((seen.header("authorization"), seen.query.as_str()), (None, "X-Amz-Signature=secret-signature"));
    }
    // a user and a password in a URL, a signature, and what the server says of them
    let port = other.url("");
    let url = |path: &str| format!("{}{path}", port.replace("//", "//me:secret-word@"));
    for args in [
        vec!["show".to_owned(), url("/signed?key=secret")],
        vec!["info".to_owned(), url("/nothing.npy?key=secret")],
        vec!["slice".to_owned(), url("/signed?key=secret"), "--at".to_owned(), "9:".to_owned(), "--dry-run".to_owned()],
        vec!["diff".to_owned(), url("/signed?key=secret"), url("/signed?key=secret"), "--json".to_owned()],
        vec!["info".to_owned(), "--json".to_owned(), url("/signed?key=secret")],
        vec!["convert".to_owned(), url("/signed?key=secret"), url("/signed:9?key=secret"), "-o".into(), "o.npz".into()],
    ] {
        run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert!(
        other.seen().iter().all(|seen| seen.header("authorization").is_some_and(|text| text.starts_with("Basic ")))
    );
}

#[test]
fn records_and_names_of_what_is_under_way_have_no_secrets() {
    let (folder, _) = files();
    let server = Server::start(served(&folder, ""));
    let query = "?X-Amz-Credential=secret&X-Amz-Signature=secret";
    for name in ["x.npy", "x.zarr", "m.safetensors.index.json:a", "x.bin:<f4[60,-1]"] {
        let own = Folder::new();
        let url = server.url(&format!("/{name}")).replace("//", "//me:secret@") + query;
        let mut has_record = false;
        for out in ["out.npy", "out.zarr", "out.npz"] {
            for rest in [&["--dry-run"][..], &["--part", "1/2"], &["--part", "1/2", "--dry-run"], &["--finish", "2"]] {
                let run = own.run([&["convert", &url, "-o", out][..], rest].concat());
                let printed = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
                assert!(!printed.contains("secret"), "{name} {out} {rest:?}: {printed}");
                for (file, bytes) in own.tree(".") {
                    let is_secret = file.contains("secret") || bytes.windows(6).any(|window| window == b"secret");
                    assert!(!is_secret, "{name}: {file}: {}", String::from_utf8_lossy(&bytes));
                    has_record |= bytes.windows(7).any(|window| window == b"http://");
                }
            }
        }
        assert!(has_record, "{name}: no record has the address");
    }
}

#[test]
fn buckets_are_asked_with_a_signature_or_without() {
    let (folder, _) = files();
    let mut behaviour = served(&folder, "/bucket/a b");
    // nothing of the group lists what it holds: the bucket does
    let group = br#"{"zarr_format": 3, "node_type": "group"}"#.to_vec();
    behaviour.objects.insert("/bucket/a%20b/g.zarr/zarr.json".to_owned(), Object::Bytes(group));
    let objects = behaviour.objects.into_iter().map(|(name, object)| (name.replace(' ', "%20"), object)).collect();
    let server = Server::start(Behaviour { objects, ..Behaviour::default() });
    let run = |args: &[&str], key: bool| {
        let mut command = folder.command();
        let home = folder.path("home");
        command.env("AWS_ENDPOINT_URL_S3", server.url("")).env("HOME", home).env("AWS_REGION", "eu-west-1");
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"] {
            command.env_remove(name);
        }
        if key {
            command.env("AWS_ACCESS_KEY_ID", "AKIA").env("AWS_SECRET_ACCESS_KEY", "secret-key");
            command.env("AWS_SESSION_TOKEN", "secret-token");
        }
        let output = command.args(args).output().expect("run");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.contains("secret"), "{text}");
        (output.status.code(), text)
    };
    let show = ["show", "s3://bucket/a b/x.npy", "--at", ":1,:3"];
    let (status, text) = run(&show, true);
    assert_eq!((status, text.lines().last()), (Some(0), Some("[[0. 1. 2.]]")), "{text}");
    let signed = server.seen();
    assert!(
        signed[0].query.contains("X-Amz-Signature=") && signed[0].query.contains("eu-west-1"),
        "{}",
        signed[0].query
    );
    for (args, key) in [(&show[..], false), (&[&show[..], &["--no-sign-request"]].concat()[..], true)] {
        assert_eq!(run(args, key).0, Some(0));
        assert!(server.seen().iter().all(|seen| seen.query.is_empty()));
    }
    // keys of the profile that is meant
    std::fs::create_dir_all(folder.path("home/.aws")).expect("a folder");
    folder.put("home/.aws/credentials", "[default]\naws_access_key_id = FROMFILE\naws_secret_access_key = secret\n");
    assert_eq!(run(&show, false).0, Some(0));
    assert!(server.seen()[0].query.contains("FROMFILE"));
    let (status, text) = run(&["info", "s3://bucket/a b/g.zarr", "--members"], true);
    assert_eq!((status, text.as_str()), (Some(0), "a\nb\n"));
    // a prefix of objects is neither an object nor a store
    for name in ["s3://bucket/a b", "s3://bucket/a b/"] {
        let (status, text) = run(&["info", name], true);
        let told = "is neither an object nor a Zarr store, but a prefix of objects such as \"c.npz\": a bucket gives \
                    objects and stores, not folders of files\n";
        assert_eq!((status, text), (Some(2), format!("error: FILE {name}: {told}")));
    }
    let (status, text) = run(&["info", "s3://bucket/none"], true);
    assert_eq!((status, text.as_str()), (Some(2), "error: FILE s3://bucket/none: 404 Not Found\n"));
    server.fail([Some(Fault::Status(403, None))]);
    let (_, text) = run(&show, true);
    let advice = "the credentials that were given do not allow it; --no-sign-request reads public objects";
    assert_eq!(text, format!("error: FILE s3://bucket/a b/x.npy: 403 Forbidden: {advice}\n"));
    std::fs::remove_dir_all(folder.path("home")).expect("removed");
    server.fail([Some(Fault::Status(403, None))]);
    let (_, text) = run(&show, false);
    let told = "403 Forbidden: no credentials were given; AWS_ACCESS_KEY_ID\n";
    assert_eq!(text, format!("error: FILE s3://bucket/a b/x.npy: {told}"));
}

/// A `.npy` file of so many rows of 1000 float32, whose items are made where they are asked for.
fn rows_of_1000(rows: u64) -> Object {
    let begin = tensor::<f32>(&[0], &[]).npy();
    let text = String::from_utf8_lossy(&begin[10..]).replace("(0,)", &format!("({rows}, 1000)"));
    let mut begin = [&begin[..10], text.trim_end().as_bytes()].concat();
    begin.resize(127, b' ');
    begin.push(b'\n');
    Object::Virtual { size: 128 + rows * 4000, cycle: &[0, 1, 2, 3, 4], begin }
}

/// Numbers that no packer makes shorter.
fn noise(count: usize) -> Vec<i32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(1), next).take(count).map(|state| (state ^ state >> 15) as i32).collect()
}

#[test]
fn eight_threads_wait_together() {
    let mut behaviour = Behaviour { delay: Duration::from_millis(20), ..Behaviour::default() };
    behaviour.objects.insert("/x.npy".to_owned(), rows_of_1000(500));
    let (folder, _) = files();
    // a store of one row of chunks
    folder.run(words("convert x.npy -o r.zarr --chunks 60,5")).printed().expect("convert");
    // what is read from front to back: a member of an archive, stored or deflated, and a text
    folder.put("noise.npy", tensor::<i32>(&[60_000], &noise(60_000)).npy());
    for args in ["-o p.npz", "-o d.npz --compress", "-o t.json"] {
        folder.run(words(&format!("convert noise.npy {args}"))).printed().expect("convert");
    }
    let is_served = |name: &str| ["zarr", "p.npz", "d.npz", "t.json"].iter().any(|part| name.contains(part));
    behaviour.objects.extend(served(&folder, "").objects.into_iter().filter(|(name, _)| is_served(name)));
    let server = Server::start(behaviour);
    let (array, store, shards) = (server.url("/x.npy"), server.url("/x.zarr"), server.url("/s.zarr"));
    let [row, stored, deflated, text] = ["/r.zarr", "/p.npz", "/d.npz", "/t.json"].map(|name| server.url(name));
    for args in [
        vec!["info", "--stats", &array],
        vec!["convert", &array, "-o", "x.npy"],
        vec!["diff", &array, "x.npy"],
        vec!["slice", &array, "--at", "::10,:1", "-o", "y.npy"],
        vec!["convert", &store, "-o", "z.npy"],
        vec!["convert", &store, "-o", "z.zarr"],
        vec!["convert", &shards, "-o", "z.npy"],
        // outputs that take everything in order
        vec!["slice", &array, "--at", "1:,:", "--to", "npy", "-o", "-"],
        vec!["slice", &array, "--at", "::10,:1", "--to", "npy", "-o", "-"],
        vec!["slice", &array, "--at", "::10,5:7", "--to", "json"],
        vec!["convert", &array, "-o", "x.npz", "--compress"],
        vec!["info", "--hash", &array],
        vec!["show", &array],
        vec!["show", &array, "--image", "-o", "x.png"],
        vec!["convert", &store, "--to", "npy", "-o", "-"],
        vec!["info", "--hash", &store],
        vec!["convert", &row, "--to", "npy", "-o", "-"],
        vec!["info", "--hash", &row],
        vec!["info", "--stats", &row],
        vec!["diff", &row, "r.zarr"],
        vec!["convert", &stored, "-o", "y.npy"],
        vec!["slice", &deflated, "--at", "::2", "--to", "npy", "-o", "-"],
        vec!["info", "--hash", &text],
    ] {
        for (threads, least) in [(1, 1), (8, 6)] {
            // on a busy machine a thread may come when another has its answer already
            let found = (0..5).map(|_| {
                let run = folder.run(args.iter().copied().chain(["--threads", &threads.to_string()]));
                assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
                server.most_at_once()
            });
            let found = found.inspect(|found| assert!(*found <= threads, "{args:?}: {found}"));
            let all: Vec<_> =
                found.scan(0, |most, found| (*most < least).then(|| *most = found).map(|()| found)).collect();
            assert!(all.last() >= Some(&least), "{args:?}: {all:?} of {threads} threads");
        }
    }
    // the corners of a store lie in four chunks
    folder.run(["show", &store, "--threads", "8"]).printed().expect("show");
    assert_eq!(server.most_at_once(), 4);
}

#[test]
fn more_threads_than_are_usual_wait_together_if_they_are_asked_for() {
    let mut behaviour = Behaviour { delay: Duration::from_millis(40), ..Behaviour::default() };
    behaviour.objects.insert("/x.npy".to_owned(), rows_of_1000(500));
    let (folder, server) = (Folder::new(), Server::start(behaviour));
    // on a busy machine a thread may come when another has its answer already
    let all: Vec<_> = (0..5)
        .map(|_| {
            let run = folder.run(["convert", &server.url("/x.npy"), "-o", "x.npy", "--threads", "24"]);
            assert_eq!(run.status, Some(0), "{}", run.stderr);
            server.most_at_once()
        })
        .collect();
    assert!(all.iter().all(|found| *found <= 24) && all.iter().any(|found| *found > 12), "{all:?}");
    let gathered = |threads: &str| {
        let run = folder.run(["gather", &server.url("/x.npy"), "[3,1]", "-o", "g.npy", "--threads", threads]);
        assert_eq!((run.status, run.stderr), (Some(0), String::new()), "{threads}");
        folder.get("g.npy")
    };
    assert!(gathered("1") == gathered("100000"));
    // no more threads are started than there are requests for
    for threads in ["1000", "100000"] {
        let run = folder.run(["convert", &server.url("/x.npy"), "-o", "y.npy", "--threads", threads]);
        assert_eq!(
            (run.status, run.stderr, folder.get("y.npy") == folder.get("x.npy")),
            (Some(0), String::new(), true)
        );
    }
}

/// On a terminal it is shown what comes while something is opened, once that takes longer than a second.
#[cfg(target_os = "linux")]
#[test]
fn what_comes_while_a_file_is_opened_is_shown() {
    if !has(&["script"]) {
        return;
    }
    let (folder, _) = files();
    folder.put("big.npy", tensor::<i32>(&[60_000], &noise(60_000)).npy());
    folder.run(words("convert big.npy -o big.json")).printed().expect("convert");
    let (quick, slow) = (served(&folder, ""), served(&folder, ""));
    let servers = [quick, Behaviour { delay: Duration::from_millis(600), ..slow }].map(Server::start);
    let rows =
        [(1, "x.npy", "", false), (1, "big.json", "", true), (0, "big.json", "", false), (1, "big.json", " -q", false)];
    each(
        rows,
        |row| format!("{row:?}"),
        |(server, name, option, is_shown)| {
            let url = servers[*server].url(&format!("/{name}"));
            let line = format!("{} slice {url} --at :1 -o o.npy{option}", crate::common::binary().display());
            let mut script = std::process::Command::new("script");
            let output = script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path("")).output();
            let text = String::from_utf8_lossy(&output.expect("script").stdout).into_owned();
            let is_right = text.contains("KiB/s") == *is_shown && folder.path("o.npy").exists();
            let _ = std::fs::remove_file(folder.path("o.npy"));
            if is_right { Ok(()) } else { Err(text) }
        },
    );
    // elsewhere nothing is
    let run = folder.run(["show", &servers[1].url("/big.json")]);
    assert_eq!((run.status, run.stderr), (Some(0), String::new()));
}

#[test]
fn nothing_is_read_in_vain() {
    let (folder, _) = files();
    let mut behaviour = Behaviour::default();
    behaviour.objects.insert("/x.npy".to_owned(), rows_of_1000(10_000));
    folder.put("big.npy", tensor::<f32>(&[100_000], &vec![1.5; 100_000]).npy());
    for args in
        ["convert a=big.npy b=big.npy c=big.npy -o b.npz", "convert a=big.npy b=big.npy c=big.npy -o b.safetensors"]
    {
        folder.run(words(args)).printed().expect(args);
    }
    for name in ["b.npz", "b.safetensors"] {
        behaviour.objects.insert(format!("/{name}"), Object::Bytes(folder.get(name)));
    }
    let narrow: Vec<f32> = (0..60_000).map(|n| n as f32).collect();
    behaviour.objects.insert("/n.npy".to_owned(), Object::Bytes(tensor::<f32>(&[1500, 40], &narrow).npy()));
    behaviour.objects.insert("/few.npy".to_owned(), Object::Bytes(tensor::<f32>(&[600, 40], &narrow[..24_000]).npy()));
    folder.put("n.npy", tensor::<f32>(&[1500, 40], &narrow).npy());
    folder.put("i.npy", tensor::<i64>(&[1500, 40], &(0..60_000).map(|n| n * 7 % 1500).collect::<Vec<_>>()).npy());
    folder.put("other.npy", tensor::<f32>(&[100_000], &(0..100_000).map(|n| n as f32).collect::<Vec<_>>()).npy());
    folder.run(words("convert n.npy --order F -o t.npy")).printed().expect("a file in Fortran order");
    for name in ["i.npy", "t.npy"] {
        behaviour.objects.insert(format!("/{name}"), Object::Bytes(folder.get(name)));
    }
    let server = Server::start(behaviour);
    let [indices, across] = ["/i.npy", "/t.npy"].map(|name| server.url(name));
    let [narrow, few] = ["/n.npy", "/few.npy"].map(|name| server.url(name));
    let [array, archive, model] = ["/x.npy", "/b.npz:b", "/b.safetensors:b"].map(|name| server.url(name));
    // a command, the bytes of the items that it needs, and the most requests for them
    let rows = [
        (vec!["show", &array], 36 * 4, 13),
        (vec!["slice", &array, "--at", "5000:5100,:", "-o", "o.npy"], 400_000, 5),
        (vec!["slice", &array, "--at", "::100,:200", "-o", "o.npy"], 80_000, 101),
        (vec!["slice", &array, "--at", "::200,7:8", "-o", "o.npy"], 200, 51),
        (vec!["slice", &array, "--at", "9000:,::-1", "-o", "o.npy"], 4_000_000, 5),
        // the beginning, the directory, and the header of the member
        (vec!["info", &archive], 0, 3),
        (vec!["convert", &archive, "-o", "o.npy"], 400_128, 6),
        (vec!["info", "--stats", &archive], 400_128, 6),
        (vec!["convert", &model, "-o", "o.npy"], 400_000, 5),
        (vec!["diff", &model, "big.npy"], 400_000, 5),
        // a column, whose gaps are few enough to come along, and one of which some are
        (vec!["slice", &few, "--at", ":,3:4", "-o", "o.npy"], 2400, 4),
        (vec!["slice", &narrow, "--at", ":,3:4", "-o", "o.npy"], 6000, 700),
        // what needs several passes, or pieces that are short, is asked for once, and as a whole
        (vec!["info", "--stats", &model], 400_000, 6),
        (vec!["info", "--stats", "--by-axis", "1", &narrow], 240_000, 6),
        (vec!["diff", &model, "other.npy", "--json"], 400_000, 6),
        (vec!["diff", &model, "other.npy", "--map"], 400_000, 6),
        (vec!["diff", "other.npy", &model, "--heatmap", "o.png"], 400_000, 6),
        (vec!["transpose", &narrow, "-o", "o.npy", "--dry-run"], 0, 2),
        (vec!["convert", &narrow, "--order", "F", "--cast", "float64", "-o", "o.npy"], 240_000, 6),
        (vec!["convert", &narrow, "--chunks", "500,5", "-o", "o.zarr"], 240_000, 12),
        (vec!["convert", &narrow, "--chunks", "500,5", "-o", "p.zarr", "--part", "1/3"], 80_000, 8),
        (vec!["concat", "t.npy", &narrow, "--axis", "1", "-o", "o.npy"], 240_000, 6),
        (vec!["slice-scatter", "n.npy", &across, "--at", ":", "-o", "o.npy"], 240_000, 6),
        (vec!["reshape", &across, "--shape", "40,1500", "-o", "o.npy"], 240_000, 6),
        (vec!["split", &narrow, "--parts", "3", "-o", "o-*.npy"], 240_000, 12),
        (vec!["gather", &narrow, "[3, 1200, 77]", "-o", "o.npy"], 480, 5),
        (vec!["gather", &across, "[3, 1200, 77]", "-o", "o.npy"], 240_000, 6),
        (vec!["gather-nd", &across, "[[3, 4], [1200, 30]]", "-o", "o.npy"], 8, 4),
        (vec!["gather-elements", "n.npy", &indices, "-o", "o.npy"], 480_000, 6),
    ];
    let asks = |args: &[String], needed: u64, requests: usize| {
        let run = folder.run(args.iter().map(String::as_str).chain(["--threads", "3"]));
        // of two that differ the status is 1
        match (&*args[0], run.status) {
            ("diff", Some(1)) if run.stderr.is_empty() => {}
            _ => drop(run.printed()?),
        }
        let seen = server.seen();
        let (found, most) = (bytes(&seen), needed * 11 / 10 + (1 << 17));
        match found <= most && seen.len() <= requests {
            true => Ok(()),
            false => Err(format!("{found} bytes, at most {most}, by {} requests", seen.len())),
        }
    };
    each(
        rows,
        |(args, _, _)| args.join(" "),
        |(args, needed, requests)| {
            asks(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), *needed, *requests)
        },
    );
    // what any operator takes of DATA comes once, in either order of storage
    put_operands(&folder, "<f4", [1500, 40], 40, |n| (n as f32).to_le_bytes().to_vec());
    each(
        // a slice is read in pieces
        commands().skip(2).flat_map(|line| [(line.clone(), &narrow), (line, &across)]),
        |(line, url)| format!("`{line}` of {url}"),
        |(line, url)| {
            let count = line.split(' ').filter(|word| *word == "D").count();
            let name = |letter: &str| if letter == "D" { (*url).clone() } else { file_of(letter) };
            let line =
                |name: &dyn Fn(&str) -> String, output: &str| words(&format!("{} -o {output}", named(line, name)));
            asks(&line(&name, "o.npy"), 240_000 * count as u64, 8 * count)?;
            folder.run(line(&file_of, "expected.npy")).printed()?;
            let (found, expected) = (folder.get("o.npy"), folder.get("expected.npy"));
            if found == expected { Ok(()) } else { Err(difference(&found, &expected)) }
        },
    );
}

/// A plan makes the requests of opening alone, and says how many more a run makes.
#[test]
fn plans_count_the_requests_of_a_run() {
    let (folder, _) = files();
    let mut behaviour = served(&folder, "");
    behaviour.objects.insert("/rows.npy".to_owned(), rows_of_1000(3000));
    let narrow: Vec<f32> = (0..60_000).map(|n| n as f32).collect();
    folder.put("narrow.npy", tensor::<f32>(&[1500, 40], &narrow).npy());
    folder.run(words("convert narrow.npy --order F -o across.npy")).printed().expect("a file in Fortran order");
    folder.run(words("convert a=narrow.npy b=narrow.npy c=narrow.npy -o m.safetensors")).printed().expect("a model");
    for name in ["narrow.npy", "across.npy", "m.safetensors"] {
        behaviour.objects.insert(format!("/{name}"), Object::Bytes(folder.get(name)));
    }
    let server = Server::start(behaviour);
    let rows = [
        ("convert @rows.npy -o o.npy", 1..40),
        ("convert @rows.npy -o o.npz", 1..40),
        ("convert @rows.npy -o - --to npy", 1..40),
        ("convert @rows.npy -o o.zarr --chunks 1000,1000", 1..40),
        ("slice @rows.npy --at ::100,:200 -o o.npy", 29..31),
        ("slice @rows.npy --at 2000:,::-1 -o o.npy", 1..10),
        ("slice @narrow.npy --at :,3:4 -o o.npy", 600..800),
        ("transpose @narrow.npy -o o.npy", 1..4),
        ("transpose @across.npy -o o.npy", 1..5),
        ("convert @across.npy -o o.npy", 1..4),
        ("concat @rows.npy @rows.npy -o o.npy", 2..80),
        ("concat narrow.npy @narrow.npy --axis 1 -o o.npy", 1..6),
        ("slice-scatter narrow.npy @across.npy --at : -o o.npy", 1..4),
        ("pad @rows.npy --before 3,2 --after 7,0 -o o.npy", 1..40),
        ("tile @narrow.npy --repeats 3,2 -o o.npy", 1..4),
        ("roll @rows.npy --shift 7 -o o.npy", 1..80),
        ("split @rows.npy --parts 4 -o o-*.npy", 1..40),
        ("gather @rows.npy [700,1200,2500] -o o.npy", 3..4),
        ("convert @x.zarr -o o.npy", 36..37),
        ("slice @x.zarr --at 8:9,: -o o.npy", 4..5),
        ("transpose @x.zarr -o o.npy", 36..37),
        ("convert @s.zarr -o o.npy", 101..121),
        ("diff @rows.npy @rows.npy", 2..80),
        ("diff @narrow.npy narrow.npy", 1..4),
        ("diff @x.zarr x.npy", 36..37),
        ("info --stats @rows.npy", 1..40),
        ("info --stats @x.zarr", 36..37),
        ("info --stats @m.safetensors", 3..4),
    ];
    let check = |(args, expected): &(&str, std::ops::Range<u64>)| {
        let args = args.replace('@', &server.url("/"));
        let gets = || server.seen().iter().filter(|seen| seen.method == "GET").count() as u64;
        // threads share the limit on gaps, and the last one may come before another or after it
        for (threads, most) in [(1, 0), (3, 2)] {
            let args = format!("{args} --threads {threads}");
            let said = folder.run(words(&format!("{args} --explain --json"))).printed()?;
            let opening = gets();
            let plans: serde_json::Value = serde_json::from_str(&said).map_err(|error| error.to_string())?;
            let of_plans = plans.as_array().into_iter().flatten();
            let requests: u64 = of_plans.filter_map(|plan| plan["cost"]["requests"].as_u64()).sum();
            drop(folder.run(words(&args)));
            let made = gets() - opening;
            if requests.abs_diff(made) > most || !expected.contains(&made) || opening > 4 {
                return Err(format!("{threads} threads: {requests} requests, made {made} after {opening}: {said}"));
            }
        }
        Ok(())
    };
    each(rows, |(args, _)| format!("`{args}`"), check);
    // other reads are told apart
    let rows = [
        (format!("convert {}", server.url("/rows.npy")), "calls: about 6 requests of 11.4 MiB in all, "),
        (format!("concat {} narrow.npy", server.url("/narrow.npy")), " (1 request), "),
    ];
    for (args, expected) in rows {
        let said = folder.run(words(&format!("{args} -o o.npy --explain --threads 1"))).printed().expect("a plan");
        assert!(said.contains(expected), "{said}");
    }
}
