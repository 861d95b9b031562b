//! Random faults of a server, at random requests of random commands: right bytes, or one line of error; never other bytes, never
//! a wait without an end, and never a secret.
//!
//! `TENSOROP_FAULTS=1000 cargo test --features remote --test cli remote_faults` makes so many runs of each kind. The number of a
//! run is where its random numbers begin: `TENSOROP_FAULTS_FROM=N` has the first run begin at another number than 0, so that
//! other faults come, or those of one run again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};

use super::remote::{files, served};
use crate::common::server::{Behaviour, Fault, Server};
use crate::common::{Folder, Run, npy, words};

/// The numbers of the runs.
fn runs() -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
    let first = number("TENSOROP_FAULTS_FROM").unwrap_or(0);
    first..first + number("TENSOROP_FAULTS").unwrap_or(48)
}

/// How many runs are made at once.
const THREADS: usize = 8;

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn fault(&mut self) -> Fault {
        match self.below(15) {
            0 => Fault::Status([429, 500, 502, 503][self.below(4)], Some("0")),
            1 => Fault::Status([400, 401, 403, 404, 416, 451][self.below(6)], None),
            2 | 3 => Fault::EndEarly(self.below(9000)),
            4 => Fault::Stall(self.below(3000)),
            5 => Fault::Reset,
            6 => Fault::Whole,
            7 => Fault::Encoded,
            8 => Fault::Length(1 + self.below(500) as u64),
            9 => Fault::Part(1 + self.below(500) as u64),
            10 => Fault::Size([0, 1, 1000, 1 << 40, 1 << 63, u64::MAX][self.below(6)]),
            11 => Fault::Change,
            12 => Fault::Unanswered,
            13 => Fault::Replace,
            _ => Fault::Redirect(format!("/nowhere{}?key=secret", self.below(9))),
        }
    }

    /// What goes wrong with the first requests of a run: most often little.
    fn faults(&mut self) -> Vec<Option<Fault>> {
        let one_of = [2, 4, 8, 16][self.below(4)];
        (0..24).map(|_| (self.below(one_of) == 0).then(|| self.fault())).collect()
    }
}

/// Does the runs, each with a number of its own, and fails with what all of them say.
fn each_run(run: impl Fn(u64) -> Result<(), String> + Sync) {
    let failures: Vec<String> = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..THREADS)
            .map(|first| {
                let numbers = runs().skip(first).step_by(THREADS);
                scope.spawn(move || numbers.filter_map(|number| run(number).err()).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(failures.is_empty(), "{} of {} runs:\n{}", failures.len(), runs().count(), failures.join("\n"));
}

#[test]
fn of_reading() {
    const COMMANDS: [&str; 6] = [
        "show --at 3:50:7,::-9",
        "slice --to npy --at 58:,:",
        "convert --to npy -o -",
        "info --stats --json",
        "convert -o out.npy",
        "slice --at ::3,::2 -o out.npz",
    ];
    let (folder, names) = files();
    each_run(|number| {
        let mut random = Random(number);
        let server = Server::start(served(&folder, ""));
        let own = Folder::new();
        let (name, args) = (names[random.below(names.len())], COMMANDS[random.below(COMMANDS.len())]);
        // the name of a member, or a view, stands before the query
        let url = server.url(&format!("/{name}")).replace("//", "//me:secret@") + "?key=secret";
        let threads = ["1", "8"][random.below(2)];
        let run = || {
            let all = words(args).into_iter().chain([url.clone()]);
            own.run(all.chain(["--threads".into(), threads.into(), "--timeout".into(), "0.3".into()]))
        };
        let wanted = run();
        let wanted_files = own.tree("");
        if wanted.status != Some(0) {
            return Err(format!("{args} {url}: without faults: {}", wanted.stderr));
        }
        wanted_files.keys().for_each(|name| std::fs::remove_file(own.path(name)).expect("removed"));
        let mut faults = random.faults();
        if name.contains(".zarr") {
            // a chunk that is not there is one of the fill value: nothing tells a lie about that from the truth
            let is_lie = |fault: &Fault| matches!(fault, Fault::Status(404, _) | Fault::Redirect(_));
            faults.iter_mut().filter(|fault| fault.as_ref().is_some_and(is_lie)).for_each(|fault| *fault = None);
        }
        if name.contains(".index.json") {
            // an index and what it names are objects of their own, each of which is of one version
            let is_replace = |fault: &Fault| matches!(fault, Fault::Replace);
            faults.iter_mut().filter(|fault| fault.as_ref().is_some_and(is_replace)).for_each(|fault| *fault = None);
        }
        server.fail(faults.iter().cloned());
        let begun = Instant::now();
        let found = run();
        let (took, files) = (begun.elapsed(), own.tree(""));
        let is_right = |wanted: &Run, wanted_files: &BTreeMap<String, Vec<u8>>| match found.status {
            Some(0) => found.stdout == wanted.stdout && files == *wanted_files,
            // what was printed before the fault is the beginning of what is right, or an array of nothing
            Some(2) => {
                let is_told = found.stderr.lines().count() == 1 && found.stderr.starts_with("error: ");
                let is_begun = wanted.stdout.starts_with(&found.stdout) || found.stdout == b"[]\n";
                is_told && files.is_empty() && is_begun
            }
            _ => false,
        };
        // where all that counts was asked for after the objects were others, what is right is what they are now
        let is_right = is_right(&wanted, &wanted_files) || {
            let is_replaced = faults.iter().flatten().any(|fault| matches!(fault, Fault::Replace));
            server.mend();
            is_replaced && is_right(&run(), &own.tree(""))
        };
        let printed = String::from_utf8_lossy(&found.stdout).into_owned() + &found.stderr;
        let is_secret = printed.contains("secret");
        if is_right && !is_secret && took < Duration::from_secs(40) {
            return Ok(());
        }
        Err(format!("run {number}: {args} {name}, {faults:?}: {took:?}, {:?}, {}", found.status, found.stderr))
    });
}

#[test]
fn of_writing() {
    let folder = Folder::new();
    let items: Vec<u8> = (0..7500_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    folder.put("d.npy", npy("<u4", &[100, 75], &items));
    folder.run(words("convert d.npy -o wanted.zarr --chunks 30,40")).printed().expect("written");
    let wanted = folder.tree("wanted.zarr");
    each_run(|number| {
        let mut random = Random(number);
        let server = Server::start(Behaviour::default());
        let run = |args: &str| {
            let mut command = Command::new(crate::common::binary());
            command.current_dir(folder.path("")).env("AWS_ENDPOINT_URL_S3", server.url("")).env("AWS_REGION", "x-1");
            command.env("HOME", folder.path("home")).env_remove("AWS_PROFILE").env("AWS_SESSION_TOKEN", "secret");
            command.env("AWS_ACCESS_KEY_ID", "AKIA").env("AWS_SECRET_ACCESS_KEY", "secret");
            command.args(words(&format!("convert d.npy -o s3://b/x.zarr --chunks 30,40 --timeout 0.3 {args}")));
            let output = command.output().expect("run");
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            (output.status.code(), text)
        };
        let lines: &[&str] = match number % 2 {
            0 => &["", ""],
            _ => &["--part 2/3", "--part 1/3", "--part 2/3", "--part 3/3", "--finish 3"],
        };
        let mut told = Vec::new();
        for line in lines {
            let mut faults = random.faults();
            // what was put is not for others to replace
            let is_replace = |fault: &Fault| matches!(fault, Fault::Replace);
            faults.iter_mut().filter(|fault| fault.as_ref().is_some_and(is_replace)).for_each(|fault| *fault = None);
            server.fail(faults.iter().cloned());
            let begun = Instant::now();
            let (status, text) = run(line);
            server.mend();
            let is_told = match status {
                Some(0) => text.is_empty(),
                Some(1) => *line == "--finish 3" && text.chars().all(|c| c.is_ascii_digit() || ",-\n".contains(c)),
                Some(2) => text.lines().count() == 1 && text.starts_with("error: "),
                _ => false,
            };
            let found = server.tree("/b/x.zarr");
            // whatever has gone wrong, a store is the store
            let is_whole = !found.contains_key("zarr.json") || found == wanted;
            let is_secret = server.tree("/b").values().any(|bytes| String::from_utf8_lossy(bytes).contains("secret"));
            if !is_told
                || !is_whole
                || is_secret
                || text.contains("secret")
                || begun.elapsed() > Duration::from_secs(60)
            {
                return Err(format!("run {number}: {line}: {faults:?}: {status:?} {text} {:?}", found.keys()));
            }
            told.push((faults, text));
        }
        // and without faults the same commands make it
        let rest = if number % 2 == 0 { &lines[..1] } else { lines };
        for line in rest {
            let (status, text) = run(line);
            if status != Some(0) {
                return Err(format!("run {number}: {line} at the end: {text}, after {told:?}"));
            }
        }
        let found = server.tree("/b");
        let is_it = found.len() == wanted.len() && server.tree("/b/x.zarr") == wanted;
        if is_it { Ok(()) } else { Err(format!("run {number}: {:?}, after {told:?}", found.keys())) }
    });
}
