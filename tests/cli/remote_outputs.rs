//! Stores that are put into buckets, whole and in parts: object for object what a folder would have.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::server::{Behaviour, Fault, Object, Server};
use crate::common::{Folder, each, npy, rounds, words};

/// Where all stores of these tests lie.
const ROOT: &str = "/bucket/deep";

fn operands() -> Folder {
    let folder = Folder::new();
    let items: Vec<u8> = (0..7500_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    folder.put("d.npy", npy("<u4", &[100, 75], &items));
    folder.put("zeros.npy", npy("<u4", &[100, 75], &[0; 30_000]));
    folder.run(words("convert d.npy -o d.zarr --chunks 10,30")).printed().expect("written");
    folder.run(words("convert a=d.npy text=d.zarr -o unread.zarr")).printed().expect("written");
    let text = String::from_utf8(folder.get("unread.zarr/text/zarr.json")).expect("a text");
    folder.put("unread.zarr/text/zarr.json", text.replace(r#""data_type": "uint32""#, r#""data_type": "string""#));
    let text = String::from_utf8(folder.get("unread.zarr/zarr.json")).expect("a text");
    let list = r#""consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "attributes""#;
    folder.put("unread.zarr/zarr.json", text.replace(r#""attributes""#, list));
    folder.run(words("convert unread.zarr -o unread.zarr")).printed().expect("with a list of all metadata");
    folder
}

/// The program, with what it needs to ask the server for a bucket, and nothing else of the environment.
fn command(folder: &Folder, server: &Server, args: &str) -> Command {
    let mut command = Command::new(crate::common::binary());
    command.current_dir(folder.path(""));
    command.env("AWS_ENDPOINT_URL_S3", server.url("")).env("HOME", folder.path("home")).env("AWS_REGION", "eu-west-1");
    command.env_remove("AWS_PROFILE").env("AWS_SESSION_TOKEN", "secret-token");
    command.env("AWS_ACCESS_KEY_ID", "AKIA").env("AWS_SECRET_ACCESS_KEY", "secret-key");
    command.args(words(args));
    command
}

/// Runs the program, and returns its status and what it prints.
fn run(folder: &Folder, server: &Server, args: &str) -> (Option<i32>, String) {
    let output = command(folder, server, args).output().expect("run");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!text.contains("secret"), "{args}: {text}");
    (output.status.code(), text)
}

#[track_caller]
fn gives(folder: &Folder, server: &Server, args: &str, status: i32, text: &str) {
    assert_eq!(run(folder, server, args), (Some(status), text.to_owned()), "{args}");
}

fn spawn(folder: &Folder, server: &Server, args: &str) -> Child {
    let mut command = command(folder, server, args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// What a folder has after the same command.
fn expected(folder: &Folder, args: &str) -> BTreeMap<String, Vec<u8>> {
    folder.run(words(&args.replace("OUT", "expected.zarr"))).printed().expect(args);
    folder.tree("expected.zarr")
}

const COMMANDS: [&str; 10] = [
    "convert d.npy -o OUT --chunks 10,30",
    "convert d.npy -o OUT --chunks 10,30 --codec none",
    "convert d.npy -o OUT --chunks 10,15 --shards 50,30",
    "slice d.zarr --at ::-1,3:70:2 -o OUT",
    "scatter-update d.zarr [3,99] --fill 7 --axis 0 -o OUT",
    "transpose d.zarr -o OUT",
    "pad d.zarr --before 3,0 --after 0,9 --mode wrap -o OUT",
    "roll d.npy --shift 1234 -o OUT --chunks 10,30",
    "convert a=d.npy g/b=d.zarr -o OUT --chunks 50,50",
    "convert zeros.npy -o OUT --chunks 10,30",
];

#[test]
fn what_is_not_read_is_copied_from_where_names_are_listed() {
    let folder = operands();
    let server = Server::start(Behaviour::default());
    gives(&folder, &server, "convert unread.zarr -o s3://bucket/deep/x.zarr", 0, "");
    let all = folder.tree("unread.zarr");
    assert!(server.tree(&format!("{ROOT}/x.zarr")) == all);
    // the metadata that the group lists stand there in other columns
    gives(&folder, &server, "convert s3://bucket/deep/x.zarr -o back.zarr", 0, "");
    let metadata = |name: &str, bytes: &[u8]| match name.ends_with("zarr.json") {
        true => serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON").to_string().into_bytes(),
        false => bytes.to_vec(),
    };
    let compact = |tree: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        tree.iter().map(|(name, bytes)| (name.clone(), metadata(name, bytes))).collect()
    };
    let (back, own) = (compact(&folder.tree("back.zarr")), compact(&all));
    assert_eq!(back.keys().collect::<Vec<_>>(), own.keys().collect::<Vec<_>>());
    own.iter()
        .for_each(|(name, bytes)| assert!(back[name] == *bytes, "{name}: {}", String::from_utf8_lossy(&back[name])));
    // in parts, of which the first has it, and is made again when a value of it is lost
    for part in 1..=3 {
        gives(&folder, &server, &format!("convert unread.zarr -o s3://bucket/deep/p.zarr --part {part}/3"), 0, "");
    }
    server.set(&format!("{ROOT}/p.zarr/text/c/1/1"), None);
    gives(&folder, &server, "convert unread.zarr -o s3://bucket/deep/p.zarr --finish 3", 1, "1\n");
    gives(&folder, &server, "convert unread.zarr -o s3://bucket/deep/p.zarr --part 1/3", 0, "");
    gives(&folder, &server, "convert unread.zarr -o s3://bucket/deep/p.zarr --finish 3", 0, "");
    assert!(server.tree(&format!("{ROOT}/p.zarr")) == all);
    // other servers do not say which files there are
    let url = server.url("/bucket/deep/x.zarr");
    let (status, said) = run(&folder, &server, &format!("convert {url} -o no.zarr"));
    let begins = format!(
        "error: IN {url}:text: zarr.json: data_type \"string\" is not known, and it cannot be copied as stored: "
    );
    assert!(status == Some(2) && said.starts_with(&begins), "{said}");
    assert!(said.ends_with("; --exclude text leaves it out\n") && !folder.path("no.zarr").exists(), "{said}");
    gives(&folder, &server, &format!("convert {url} --exclude text -o some.zarr"), 0, "");
}

#[test]
fn whole_stores() {
    each(
        COMMANDS,
        |args| (*args).to_owned(),
        |args| {
            let folder = operands();
            let server = Server::start(Behaviour::default());
            let expected = expected(&folder, args);
            let args = args.replace("OUT", "s3://bucket/deep/x.zarr");
            let dry = run(&folder, &server, &format!("{args} --dry-run"));
            if dry.0 != Some(0) || !server.names().is_empty() || server.seen().iter().any(|seen| seen.method == "PUT") {
                return Err(format!("a dry run: {dry:?}, {:?}", server.names()));
            }
            // a second time in the place of the first, with one thread and with many
            for options in ["--threads 1", "--threads 8"] {
                gives(&folder, &server, &format!("{args} {options}"), 0, "");
                if server.tree(&format!("{ROOT}/")).keys().any(|name| !name.starts_with("x.zarr/")) {
                    return Err(format!("left beside: {:?}", server.names()));
                }
                if server.tree(&format!("{ROOT}/x.zarr")) != expected {
                    return Err(format!("other objects: {:?}", server.names()));
                }
                let puts: Vec<_> = server.seen().into_iter().filter(|seen| seen.method == "PUT").collect();
                let own: Vec<_> = puts.iter().filter(|seen| seen.path.starts_with("/bucket/deep/x.zarr/")).collect();
                let last = own.last().expect("a request");
                let is_sealed = last.path.ends_with("x.zarr/zarr.json") && last.header("if-none-match") == Some("*");
                if own.len() != expected.len() || !is_sealed {
                    return Err(format!("{} objects put by {} requests, the last {last:?}", expected.len(), own.len()));
                }
            }
            // and it is a store
            let (status, _) = run(&folder, &server, "diff s3://bucket/deep/x.zarr expected.zarr");
            if status == Some(0) { Ok(()) } else { Err(format!("diff ends with {status:?}")) }
        },
    );
}

#[test]
fn parts_make_what_one_process_makes() {
    each(
        COMMANDS,
        |args| (*args).to_owned(),
        |args| {
            let folder = operands();
            let server = Server::start(Behaviour::default());
            let expected = expected(&folder, args);
            let args = args.replace("OUT", "s3://bucket/deep/x.zarr");
            gives(&folder, &server, &format!("{args} --finish 3"), 1, "1-3\n");
            for part in [3, 1, 3] {
                gives(&folder, &server, &format!("{args} --part {part}/3"), 0, "");
            }
            gives(&folder, &server, &format!("{args} --finish 3"), 1, "2\n");
            let (status, text) = run(&folder, &server, &format!("{args} --part 1/3 --store-empty"));
            assert!(status == Some(2) && text.contains("--restart begins anew"), "{text}");
            let (status, text) = run(&folder, &server, &args);
            assert!(status == Some(2) && text.contains("is being made in parts"), "{text}");
            assert!(!server.tree(ROOT).contains_key("x.zarr/zarr.json"), "no store before all is there");
            gives(&folder, &server, &format!("{args} --part 2/3"), 0, "");
            server.seen();
            gives(&folder, &server, &format!("{args} --part 2/3"), 0, "");
            assert!(server.seen().iter().all(|seen| seen.method != "PUT"), "a part that is done is not made again");
            gives(&folder, &server, &format!("{args} --finish 3"), 0, "");
            for late in ["--finish 3", "--part 1/3", "--part 3/3", "--finish 3"] {
                gives(&folder, &server, &format!("{args} {late}"), 0, "");
            }
            if server.tree(ROOT)
                != expected.iter().map(|(name, bytes)| (format!("x.zarr/{name}"), bytes.clone())).collect()
            {
                return Err(format!("other objects: {:?}", server.names()));
            }
            // a chunk that is lost later is told, and the next run begins anew
            let lost = expected.keys().find(|name| name.contains('/')).map(|name| format!("{ROOT}/x.zarr/{name}"));
            if let Some(lost) = lost {
                server.set(&lost, None);
                let (status, text) = run(&folder, &server, &format!("{args} --finish 3"));
                assert!(status == Some(2) && text.contains("was finished, and has lost"), "{text}");
            }
            let other = format!("{args} --store-empty --dims x,y");
            let (status, text) = run(&folder, &server, &format!("{other} --part 1/2"));
            assert!(status == Some(2) && text.contains("exists, and a bucket cannot keep it beside"), "{text}");
            gives(&folder, &server, &format!("{args} --part 1/3 --restart"), 0, "");
            assert!(!server.tree(ROOT).contains_key("x.zarr/zarr.json"));
            for rest in ["--part 2/3", "--part 3/3", "--finish 3"] {
                gives(&folder, &server, &format!("{args} {rest}"), 0, "");
            }
            if server.tree(&format!("{ROOT}/x.zarr")) == expected { Ok(()) } else { Err("after --restart".to_owned()) }
        },
    );
}

#[test]
fn parts_that_are_killed_doubled_and_at_once() {
    let folder = operands();
    let args = "convert d.zarr -o s3://bucket/deep/x.zarr --chunks 5,15 --codec none";
    let expected = expected(&folder, "convert d.zarr -o OUT --chunks 5,15 --codec none");
    for round in 0..rounds(3) as u64 {
        let server = Server::start(Behaviour { delay: Duration::from_millis(2), ..Behaviour::default() });
        let mut children: Vec<_> =
            (1..=16).map(|part| spawn(&folder, &server, &format!("{args} --part {part}/16"))).collect();
        children.extend((1..=16).step_by(5).map(|part| spawn(&folder, &server, &format!("{args} --part {part}/16"))));
        std::thread::sleep(Duration::from_millis(20 + 60 * (round % 3)));
        for child in children.iter_mut().step_by(3) {
            child.kill().expect("it can be killed");
        }
        for (number, child) in children.into_iter().enumerate() {
            let output = child.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(number % 3 == 0 || output.status.success(), "part {number}: {text}");
        }
        let (status, missing) = run(&folder, &server, &format!("{args} --finish 16"));
        assert!(status == Some(0) || status == Some(1) && !missing.is_empty(), "{missing}");
        for part in 1..=16 {
            gives(&folder, &server, &format!("{args} --part {part}/16"), 0, "");
        }
        // two at once put it in its place
        let both = [0, 1].map(|_| spawn(&folder, &server, &format!("{args} --finish 16")));
        for child in both {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        gives(&folder, &server, &format!("{args} --finish 16"), 0, "");
        let found = server.tree(ROOT);
        let expected = expected.iter().map(|(name, bytes)| (format!("x.zarr/{name}"), bytes.clone())).collect();
        assert!(found == expected, "{:?}", found.keys().collect::<Vec<_>>());
    }
}

#[test]
fn a_whole_store_that_is_killed_is_none_and_is_made_again() {
    let folder = operands();
    let args = "convert d.npy -o s3://bucket/deep/x.zarr --chunks 5,15 --codec none --threads 1";
    let expected = expected(&folder, "convert d.npy -o OUT --chunks 5,15 --codec none");
    let server = Server::start(Behaviour { delay: Duration::from_millis(2), ..Behaviour::default() });
    let old = BTreeMap::from([("c/77/0".to_owned(), b"old".to_vec()), ("zarr.json".to_owned(), b"{}".to_vec())]);
    for round in 0..8_u64 {
        if round == 3 {
            old.iter().for_each(|(name, bytes)| server.set(&format!("{ROOT}/x.zarr/{name}"), Some(bytes)));
        }
        let mut child = spawn(&folder, &server, args);
        std::thread::sleep(Duration::from_millis(10 + 40 * round));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let found = server.tree(&format!("{ROOT}/x.zarr"));
        let is_old = old.iter().all(|(name, bytes)| found.get(name) == Some(bytes));
        assert!(!found.contains_key("zarr.json") || is_old || found == expected, "{:?}", found.keys());
    }
    gives(&folder, &server, args, 0, "");
    assert!(server.tree(&format!("{ROOT}/x.zarr")) == expected);
    assert_eq!(server.tree(ROOT).len(), expected.len(), "{:?}", server.names());
}

#[test]
fn what_is_refused_puts_nothing() {
    let folder = operands();
    let objects = [
        ("/bucket/other.zarr/notes.txt", "x"),
        ("/bucket/old.zarr/zarr.json", "{}"),
        ("/bucket/v2.zarr/.zarray", "{}"),
    ];
    let objects = objects.map(|(name, text)| (name.to_owned(), Object::Bytes(text.into())));
    let server = Server::start(Behaviour { objects: objects.into(), ..Behaviour::default() });
    let before = server.names();
    let pipe = "only .zarr can go into a bucket; -o - writes to a pipe, as in -o - --to";
    let elsewhere = "an output is a file, or a store in a bucket (s3://BUCKET/NAME.zarr); \
                     -o - writes to a pipe, as in -o - --to npy | COMMAND";
    let rows = [
        (
            "convert d.npy -o s3://bucket/x.npy",
            format!("output s3://bucket/x.npy: {pipe} npy | aws s3 cp - s3://bucket/x.npy"),
        ),
        (
            "convert d.npy -o s3://bucket/x.zarr --to npz",
            format!("output s3://bucket/x.zarr: {pipe} npz | aws s3 cp - s3://bucket/x.zarr"),
        ),
        ("convert d.npy -o https://h/x.zarr", format!("output https://h/x.zarr: {elsewhere}")),
        ("convert d.npy -o hf://o/r/x.npy", format!("output hf://o/r/x.npy: {elsewhere}")),
        (
            "convert d.npy -o s3://bucket/x.zarr:a",
            "output s3://bucket/x.zarr:a: a tensor in a store is not an output: name a store".to_owned(),
        ),
        (
            "convert d.npy -o s3://bucket/other.zarr",
            "output s3://bucket/other.zarr: has objects but is not a Zarr store, and is not replaced".to_owned(),
        ),
        (
            "convert d.npy -o s3://bucket/old.zarr --no-clobber",
            "output s3://bucket/old.zarr: exists, and --no-clobber keeps it".to_owned(),
        ),
        (
            "convert d.npy -o s3://bucket/v2.zarr --no-clobber",
            "output s3://bucket/v2.zarr: exists, and --no-clobber keeps it".to_owned(),
        ),
        (
            "convert d.npy -o s3://bucket/v2.zarr --part 1/2",
            "output s3://bucket/v2.zarr: exists, and a bucket cannot keep it beside its parts: --restart removes it"
                .to_owned(),
        ),
        ("convert d.npy --to zarr -o s3://bucket", "output s3://bucket: expected s3://BUCKET/NAME.zarr".to_owned()),
    ];
    for (args, message) in rows {
        gives(&folder, &server, args, 2, &format!("error: {message}\n"));
    }
    assert!(server.seen().iter().all(|seen| seen.method != "PUT" && seen.method != "DELETE"));
    assert_eq!(server.names(), before);
    // an error at any request leaves no store, and of what is new nothing at all
    let args = "convert d.npy -o s3://bucket/new.zarr --chunks 50,75 --threads 1";
    gives(&folder, &server, args, 0, "");
    let count = server.seen().len();
    let clear = || {
        for name in server.names().iter().filter(|name| name.starts_with("/bucket/new.zarr/")) {
            server.set(name, None);
        }
    };
    clear();
    for failing in 0..count {
        // 416 and 412 tell something of a part and of a version, none of which a change asks for
        for status in [403, 416, 412] {
            server.fail((0..count).map(|number| (number == failing).then_some(Fault::Status(status, None))));
            let (ended, text) = run(&folder, &server, args);
            server.mend();
            let is_lost = status == 412 && text.ends_with("another process has made it meanwhile\n");
            let is_told = text.contains(&status.to_string()) || is_lost;
            assert!(ended == Some(2) && is_told && text.lines().count() == 1, "{failing}: {ended:?} {text}");
            let is_sealed = server.names().iter().any(|name| name == "/bucket/new.zarr/zarr.json");
            if !is_sealed && !is_lost {
                assert_eq!(server.names(), before, "request {failing} failed: {text}");
            }
            gives(&folder, &server, args, 0, "");
            clear();
        }
    }
    let wanted = expected(&folder, "convert d.npy -o OUT --chunks 50,75");
    // what is done without an answer, and refused when it is asked for again, is done: a seal stays with what it seals
    for failing in 0..count {
        server.fail((0..count + 1).map(|number| match number.checked_sub(failing) {
            Some(0) => Some(Fault::Unanswered),
            Some(1) => Some(Fault::Status(403, None)),
            _ => None,
        }));
        let (status, text) = run(&folder, &server, args);
        server.mend();
        assert!(status == Some(2) && text.contains("403") && text.lines().count() == 1, "{failing}: {status:?} {text}");
        let found = server.tree("/bucket/new.zarr");
        assert!(!found.contains_key("zarr.json") || found == wanted, "request {failing}: {:?}", found.keys());
        gives(&folder, &server, args, 0, "");
        assert!(server.tree("/bucket/new.zarr") == wanted, "after request {failing}");
        clear();
    }
    // what passes is asked for again
    let faults = (0..count).map(|number| (number % 3 == 0).then_some(Fault::Status(503, Some("0"))));
    server.fail(faults);
    gives(&folder, &server, args, 0, "");
    assert_eq!(server.tree("/bucket/new.zarr"), wanted);
}

#[test]
fn an_operand_is_not_the_output() {
    let folder = operands();
    let server = Server::start(Behaviour::default());
    gives(&folder, &server, "convert d.npy -o s3://bucket/deep/x.zarr --chunks 50,75", 0, "");
    gives(&folder, &server, "convert a=d.npy -o s3://bucket/deep/g.zarr --chunks 50,75", 0, "");
    let before = server.tree("");
    for args in [
        "convert s3://bucket/deep/x.zarr -o s3://bucket/deep/x.zarr",
        "convert s3://bucket/deep/g.zarr:a -o s3://bucket/deep/g.zarr",
        "convert s3://bucket/deep/x.zarr -o s3://bucket/deep/x.zarr --part 1/2",
        "slice-scatter d.npy s3://bucket/deep/x.zarr --at : -o s3://bucket/deep/x.zarr",
    ] {
        let (status, text) = run(&folder, &server, args);
        let is_told =
            ["is both an operand and the output", "overlaps output s3://"].iter().any(|told| text.contains(told));
        assert!(status == Some(2) && is_told, "{args}: {text}");
    }
    assert!(server.tree("") == before);
}
