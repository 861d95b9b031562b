//! `--part`, `--finish`, `--restart`: any number of processes, killed, repeated and at once, make what one does.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Folder, SPECS, Spec, each, file_of, joined, member, named, npy, put_operands, safetensors, words};

fn hidden(folder: &Folder) -> usize {
    let names = fs::read_dir(folder.path("")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().starts_with('.')).count()
}

fn spawn(folder: &Folder, args: &str) -> Child {
    let mut command = Command::new(crate::common::binary());
    command.current_dir(folder.path("")).args(words(args)).stdin(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

fn succeeds(child: Child, what: &str) {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Operands of 3 MB or so.
fn operands() -> Folder {
    let folder = Folder::new();
    let item = |n: usize| (n as u32).wrapping_mul(2_654_435_761).to_le_bytes();
    put_operands(&folder, "<u4", [1000, 750], 40, item);
    folder.put("twelve.npy", npy("|V12", &[250_000], &joined((0..750_000).map(item))));
    folder.run(words("convert d.npy -o d.zarr --chunks 100,100")).printed().expect("written");
    folder
}

const CONVERT: &str = "convert d.npy --chunks 100,300 -o O.zarr";
const SCATTER: &str = "scatter-update d.npy i.npy u.npy --axis 0 -o O.npy";

/// Two commands of each operator, from and to stores and files.
fn lines() -> Vec<String> {
    let forms = [("d.zarr", "O.npy"), ("d.npy", "O.npy"), ("d.zarr", "O.zarr")];
    let of_spec = |spec: &&Spec| spec.lines(&spec.commands[..spec.commands.len().min(2)]);
    let lines =
        SPECS.iter().filter(|spec| !spec.has_several_outputs()).flat_map(of_spec).zip(forms.into_iter().cycle());
    let lines = lines.map(|(line, (data, output))| {
        let file = |letter: &str| if letter == "D" { data.to_owned() } else { file_of(letter) };
        format!("{} -o {output}", named(&line, file))
    });
    [CONVERT, "convert twelve.npy -o O.npy"].map(str::to_owned).into_iter().chain(lines).collect()
}

#[test]
fn parts_make_what_one_process_makes() {
    let folder = operands();
    each(
        lines().into_iter().enumerate(),
        |(_, command)| command.clone(),
        |(n, command)| {
            let name = |output: &str| command.replace("O.", &format!("{output}."));
            let path = |output: &str| folder.path(name(output).split(' ').next_back().expect("a name"));
            folder.run(words(&name("one"))).printed()?;
            let expected = folder.tree(path("one"));
            // of more parts than there are units some are empty
            for of in if command == CONVERT { vec![1, 40] } else { vec![[3, 5][n % 2]] } {
                let out = name("out");
                let finish = || folder.run(words(&format!("{out} --finish {of}")));
                let told = folder.run(words(&format!("{out} --part 1/{of} --dry-run"))).printed()?;
                let units = told.split_once("units 1 to ").and_then(|(_, text)| text.split_once(" of "));
                let units = units.and_then(|(_, text)| text.split_once(',')?.0.parse().ok());
                // those beyond the number of units are empty, and never missing
                let wanted = of.min(units.ok_or(told)?);
                let missing = finish();
                assert_eq!(missing.status, Some(1));
                let list = match wanted {
                    0 | 1 => "1".to_owned(),
                    2 => "1,2".to_owned(),
                    _ => format!("1-{wanted}"),
                };
                assert_eq!(String::from_utf8_lossy(&missing.stdout), list + "\n");
                // in any order, some of them twice at once
                let mut numbers: Vec<usize> = (1..=wanted).rev().collect();
                numbers.rotate_left(wanted / 2);
                let beyond = format!("{out} --part {of}/{of}");
                succeeds(spawn(&folder, &beyond), &beyond);
                for (n, number) in numbers.iter().enumerate() {
                    let part = format!("{out} --part {number}/{of}");
                    let both: Vec<Child> = (0..=usize::from(n == 1)).map(|_| spawn(&folder, &part)).collect();
                    both.into_iter().for_each(|child| succeeds(child, &part));
                }
                for _ in 0..2 {
                    assert_eq!(finish().printed()?, "");
                    assert_eq!(folder.tree(path("out")), expected, "{of} parts");
                    folder.run(words(&format!("{out} --part 1/{of}"))).printed()?;
                    assert_eq!(hidden(&folder), 0);
                }
                let found = path("out");
                if found.is_dir() { fs::remove_dir_all(found) } else { fs::remove_file(found) }.expect("removed");
            }
            Ok(())
        },
    );
}

#[test]
fn killed_parts_are_repeated() {
    let folder = operands();
    let mut random = 1_u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % n
    };
    for command in [CONVERT, SCATTER] {
        let name = |output: &str| command.replace("O.", &format!("{output}."));
        let path = |output: &str| folder.path(name(output).split(' ').next_back().expect("a name"));
        folder.run(words(&name("one"))).printed().expect("made");
        let out = name("out");
        for _ in 0..30 {
            let mut child = spawn(&folder, &format!("{out} --part {}/4", 1 + below(4)));
            std::thread::sleep(Duration::from_millis(below(40)));
            child.kill().expect("killed");
            child.wait().expect("it ended");
        }
        let all: Vec<Child> = (1..=4).map(|part| spawn(&folder, &format!("{out} --part {part}/4"))).collect();
        all.into_iter().for_each(|child| succeeds(child, &out));
        assert_eq!(folder.run(words(&format!("{out} --finish 4"))).printed(), Ok(String::new()));
        assert_eq!(folder.tree(path("out")), folder.tree(path("one")));
        assert_eq!(hidden(&folder), 0);
    }
}

#[test]
fn what_was_begun_is_what_is_finished() {
    let folder = operands();
    let run = |args: &str| folder.run(words(args));
    let refused = |args: &str, expected: &str| {
        let run = run(args);
        assert_eq!((run.status, run.stdout), (Some(2), vec![]), "{args}");
        assert_eq!(run.stderr, format!("error: output o.npy: begun with{expected}: --restart begins anew\n"), "{args}");
    };
    run("slice d.npy --at :900 -o o.npy --part 2/3").printed().expect("begun");
    let record = folder.get(".o.npy.tensorop/command");
    assert_eq!(run("slice d.npy --at :900 -o o.npy --finish 3").stdout, b"1,3\n");
    refused("slice d.npy --at :900 -o o.npy --part 1/4", " --part K/3, now K/4");
    refused("slice d.npy --at :901 -o o.npy --finish 3", " --at :900, now :901");
    refused(
        "slice d.npy --at :900 --byte-order big -o o.npy --finish 3",
        "out --byte-order, now with --byte-order big",
    );
    refused("slice d.npy --start 0 --stop 900 --axes 0 -o o.npy --finish 3", " --at :900, now without");
    refused("slice d.zarr --at :900 -o o.npy --dry-run --part 1/3", " DATA d.npy, now d.zarr");
    refused("convert d.npy -o o.npy --finish 3", " command slice, now convert");
    // threads, quiet and the name of the output say nothing of what is made, nor do defaults
    run("slice d.npy --at :900 -o ./o.npy --part 1/3 --threads 2 -q --no-clobber --skip-rows 0")
        .printed()
        .expect("made");
    // an operand that has changed
    folder.put("d.npy", folder.get("d.npy"));
    refused("slice d.npy --at :900 -o o.npy --part 3/3", " DATA d.npy, which has changed since then");
    assert_eq!(folder.get(".o.npy.tensorop/command"), record);
    run("slice d.npy --at :900 -o o.npy --part 3/3 --restart").printed().expect("begun anew");
    assert_eq!(run("slice d.npy --at :900 -o o.npy --finish 3").stdout, b"1,2\n");
    (1..=2).for_each(|part| {
        drop(run(&format!("slice d.npy --at :900 -o o.npy --part {part}/3")).printed().expect("made"))
    });
    run("slice d.npy --at :900 -o o.npy --finish 3").printed().expect("finished");
}

#[test]
fn the_chunks_of_the_begun() {
    let folder = operands();
    folder.run(words("convert d.npy -o o.zarr --chunks 20,50 --part 1/2")).printed().expect("begun");
    // the numbers count, not how they are typed
    let same = ["convert", "d.npy", "-o", "o.zarr", "--chunks", "[20, 50]", "--part", "1/2"];
    folder.run(same).printed().expect("the same numbers");
    let refused = folder.run(words("convert d.npy -o o.zarr --chunks 20,25 --part 2/2"));
    let expected = "error: output o.zarr: begun with --chunks 20,50, now 20,25: --restart begins anew\n";
    assert_eq!((refused.status, &*refused.stderr), (Some(2), expected));
}

/// Of a store each chunk counts, also one that is as old and as long as that which was there.
#[test]
fn a_store_that_has_changed() {
    let changes: [fn(&Folder); 4] = [
        |folder| _ = folder.put("d.zarr/c/3/3", folder.get("d.zarr/c/3/3")),
        |folder| fs::remove_file(folder.path("d.zarr/c/3/3")).expect("removed"),
        |folder| fs::rename(folder.path("d.zarr/c/3/3"), folder.path("d.zarr/c/3/9")).expect("renamed"),
        |folder| {
            for (from, to) in [("3/3", "x"), ("3/4", "3/3"), ("x", "3/4")] {
                let [from, to] = [from, to].map(|name| folder.path(format!("d.zarr/c/{name}")));
                fs::rename(from, to).expect("renamed");
            }
        },
    ];
    for change in changes {
        let folder = operands();
        let old = fs::File::options().write(true).open(folder.path("d.zarr/c/3/3")).expect("a chunk");
        old.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000)).expect("set");
        folder.run(words("convert d.zarr -o o.zarr --part 1/2")).printed().expect("begun");
        folder.run(words("convert d.zarr -o o.zarr --part 2/2")).printed().expect("the same store");
        change(&folder);
        let refused = folder.run(words("convert d.zarr -o o.zarr --part 2/2"));
        let expected =
            "error: output o.zarr: begun with IN d.zarr, which has changed since then: --restart begins anew\n";
        assert_eq!((refused.status, &*refused.stderr), (Some(2), expected));
    }
}

/// The data may lie in files that an operand only names: shards, the other parts of a GGUF, a file beside the model.
#[test]
fn named_files_that_have_changed() {
    let folder = Folder::new();
    let shard = |item: u8| safetensors(&[member("a", "uint8", &[1 << 21], vec![item; 1 << 21])]);
    let index = "{\"metadata\": {}, \"weight_map\": {\"a\": \"m-00001-of-00001.safetensors\"}}";
    folder.put("m.safetensors.index.json", index).put("m-00001-of-00001.safetensors", shard(1));
    let ir = "<net name=\"n\" version=\"11\"><layers><layer id=\"0\" name=\"a\" type=\"Const\"><data element_type=\"u8\" \
              shape=\"2097152\" offset=\"0\" size=\"2097152\"/></layer></layers></net>";
    folder.put("m.xml", ir).put("m.bin", vec![1; 1 << 21]);
    let rows = [
        ("m.safetensors.index.json:a", "m-00001-of-00001.safetensors", shard(2)),
        ("m.xml:a", "m.bin", vec![2; 1 << 21]),
    ];
    each(
        rows,
        |(operand, ..)| (*operand).to_owned(),
        |(operand, file, new)| {
            let part = |part: &str| folder.run(words(&format!("convert {operand} -o o.npy {part} --restart")));
            part("--part 1/2").printed()?;
            // another time, also where the clock is coarse
            std::thread::sleep(Duration::from_millis(20));
            folder.put(file, new);
            for part in ["--part 2/2", "--finish 2"] {
                let args = format!("convert {operand} -o o.npy {part}");
                folder.refuses(words(&args), &["begun with data in other files, which has changed since then"])?;
            }
            part("--part 1/2").printed()?;
            ["--part 2/2", "--finish 2"].iter().try_for_each(|part| {
                folder.run(words(&format!("convert {operand} -o o.npy {part}"))).printed().map(drop)
            })?;
            let is_new = folder.get("o.npy").ends_with(&[2; 1 << 10]);
            if is_new && hidden(&folder) == 0 { Ok(()) } else { Err("not the new data".to_owned()) }
        },
    );
}

/// An operand is what it is, by whatever path, link and folder.
#[cfg(unix)]
#[test]
fn operands_are_what_they_are() {
    let folder = operands();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).expect("a link");
    link("d.npy", "link.npy");
    link("d.zarr", "link.zarr");
    link(".", "here");
    fs::create_dir(folder.path("sub")).expect("a folder");
    folder.run(words("convert x=d.npy y=i.npy -o c.npz")).printed().expect("written");
    let whole = |path: &str| folder.path(path).to_str().expect("Unicode").to_owned();
    let rows: [(&str, &[String]); 5] = [
        ("d.npy", &["./d.npy".into(), "sub/../d.npy".into(), "here/d.npy".into(), "link.npy".into(), whole("d.npy")]),
        ("d.zarr", &["d.zarr/".into(), "./link.zarr".into(), whole("here/d.zarr")]),
        ("c.npz:x", &["./c.npz:x".into(), whole("c.npz:x")]),
        ("[[1,2],[3,4]]", &["[[1, 2], [3, 4]]".into(), " [[1,2],[3,4]]".trim().into()]),
        ("d.npy:uint8[3000128]", &["link.npy:uint8[3000128]".into()]),
    ];
    for (data, others) in rows {
        let command = |data: &str, more: &str| {
            ["slice", data, "--at", ":2", "-o", "o.npy"]
                .map(str::to_owned)
                .into_iter()
                .chain(words(more).into_iter().map(|word| word.to_string()))
                .collect::<Vec<_>>()
        };
        folder.run(command(data, "--part 2/2 --restart")).printed().expect("begun");
        for other in others {
            let found = folder.run(command(other, "--part 1/2"));
            assert_eq!((found.status, &*found.stderr), (Some(0), ""), "{other}");
            fs::remove_file(folder.path(".o.npy.tensorop/done/1")).expect("a part that was made");
        }
    }
    // another member, another view
    folder.run(words("slice c.npz:x --at :2 -o o.npy --part 1/2 --restart")).printed().expect("begun");
    let refused = folder.run(words("slice c.npz:y --at :2 -o o.npy --part 1/2"));
    assert_eq!(refused.stderr, "error: output o.npy: begun with DATA c.npz:x, now c.npz:y: --restart begins anew\n");
    // from another folder
    let mut command = folder.command();
    let args = words("slice ../c.npz:x --at :2 -o ../o.npy --part 1/2");
    let output = command.current_dir(folder.path("sub")).args(args).output().expect("it ran");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // a link that leads elsewhere now is another operand
    folder.run(words("slice link.npy --at :2 -o o.npy --part 1/2 --restart")).printed().expect("begun");
    fs::remove_file(folder.path("link.npy")).expect("removed");
    link("u.npy", "link.npy");
    let refused = folder.run(words("slice link.npy --at :2 -o o.npy --part 1/2"));
    assert_eq!(refused.stderr, "error: output o.npy: begun with DATA d.npy, now u.npy: --restart begins anew\n");
}

/// An output in an operand, or around one, by whatever link: parts would change what others read.
#[cfg(unix)]
#[test]
fn parts_of_an_operand_are_refused() {
    let folder = operands();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).expect("a link");
    link("d.npy", "link.npy");
    link("d.zarr", "link.zarr");
    fs::hard_link(folder.path("d.npy"), folder.path("hard.npy")).expect("a link");
    folder.run(words("convert a=d.npy b=i.npy -o g.zarr")).printed().expect("written");
    let same = |path: &str| {
        format!("error: --part: {path} is both an operand and the output: parts would read what other parts write\n")
    };
    let within = |output: &str, path: &str| {
        format!("error: --part: output {output} is inside the operand {path}, which parts would change\n")
    };
    let around = |path: &str, output: &str| {
        format!("error: --part: the operand {path} is inside output {output}, which is replaced\n")
    };
    let rows = [
        ("slice d.npy --at :3 -o d.npy", same("d.npy")),
        ("slice link.npy --at :3 -o d.npy", same("link.npy")),
        ("slice d.npy --at :3 -o ./link.npy", same("d.npy")),
        ("slice hard.npy --at :3 -o d.npy", same("hard.npy")),
        ("slice d.zarr --at :3 -o link.zarr", same("d.zarr")),
        ("convert g.zarr:a -o g.zarr/c.zarr", within("g.zarr/c.zarr", "g.zarr:a")),
        ("convert d.zarr -o link.zarr/c.zarr", within("link.zarr/c.zarr", "d.zarr")),
        ("convert link.zarr -o d.zarr/c.npy", within("d.zarr/c.npy", "link.zarr")),
        ("convert g.zarr/a -o g.zarr", around("g.zarr/a", "g.zarr")),
        ("scatter-update d.npy g.zarr/b u.npy --axis 0 -o g.zarr", around("g.zarr/b", "g.zarr")),
    ];
    let before = folder.tree("");
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            for more in ["--part 1/2", "--part 1/2 --restart", "--finish 2", "--part 2/2 --dry-run"] {
                let run = folder.run(words(&format!("{args} {more}")));
                assert_eq!((run.status, run.stderr), (Some(2), expected.clone()), "{more}");
                assert!(folder.tree("") == before, "{more}: something was written");
            }
            Ok(())
        },
    );
}

/// Several that finish at once, and parts that come late, whatever a process that was killed has left.
#[test]
fn who_finishes_is_one_of_many() {
    let folder = operands();
    for output in ["o.zarr", "o.npy"] {
        let made = format!("slice d.npy --at :3 -o {output}");
        let old = format!("slice d.npy --at 3: -o {output}");
        folder.run(words(&made)).printed().expect("made");
        let expected = folder.tree(output);
        for round in 0..4 {
            folder.run(words(&old)).printed().expect("made");
            for part in [2, 1] {
                folder.run(words(&format!("{made} --part {part}/2"))).printed().expect("made");
            }
            let args = ["--finish 2", "--finish 2", "--finish 2", "--part 1/2"].map(|args| format!("{made} {args}"));
            let all: Vec<Child> = args.iter().map(|args| spawn(&folder, args)).collect();
            all.into_iter().for_each(|child| succeeds(child, &made));
            assert!(folder.tree(output) == expected, "{made} {round}");
            assert_eq!(hidden(&folder), 0);
            // what is left of one that was killed goes with the next
            fs::create_dir_all(folder.path(format!(".{output}.tensorop/done"))).expect("a folder");
            fs::create_dir_all(folder.path(format!(".{output}.tensorop.gone/new"))).expect("a folder");
            let made = folder.run(words(&format!("{made} {}", ["--finish 2", "--part 2/2"][round % 2])));
            assert_eq!(made.printed(), Ok(String::new()));
            assert_eq!(hidden(&folder), 0);
        }
    }
}

#[test]
fn no_clobber_keeps_what_others_made() {
    let folder = operands();
    let run = |args: &str| folder.run(words(&format!("slice d.npy --at :3 -o o.npy --no-clobber {args}")));
    for args in ["--part 1/2", "--part 2/2", "--finish 2", "--finish 2", "--part 1/2", "--dry-run --finish 2"] {
        assert_eq!(run(args).printed(), Ok(String::new()), "{args}");
    }
    // of another N, and begun anew, it would be another
    for args in ["--part 1/3", "--finish 3", "--part 1/2 --restart", "--part 1/3 --dry-run"] {
        let refused = run(args);
        assert_eq!(refused.stderr, "error: output o.npy: exists, and --no-clobber keeps it\n", "{args}");
        assert_eq!((refused.status, hidden(&folder)), (Some(2), 0), "{args}");
    }
}

#[test]
fn parts_in_place() {
    let folder = operands();
    let run = |args: &str| folder.run(words(args)).printed().unwrap_or_else(|error| panic!("{args}: {error}"));
    run("scatter-update d.zarr i.npy u.npy --axis 0 -o expected.zarr");
    for part in [3, 1, 2, 1, 3, 40] {
        let of = if part == 40 { 40 } else { 3 };
        run(&format!("scatter-update d.zarr i.npy u.npy --axis 0 -i --part {part}/{of}"));
    }
    assert_eq!(folder.tree("d.zarr"), folder.tree("expected.zarr"));
    assert_eq!(hidden(&folder), 0);
}

#[test]
fn refusals() {
    let folder = operands();
    let usage = "For more information, try '--help'.";
    let zero = "invalid value '0/4' for '--part <K/N>': parts are counted from 1: if yours begin at 0, write $((JOB_COMPLETION_INDEX+1))";
    let rows: &[(&str, &str)] = &[
        ("convert d.npy -o o.npy --part 0/4", zero),
        ("convert d.npy -o o.npy --part 5/4", "invalid value '5/4' for '--part <K/N>': part 5 of 4"),
        ("convert d.npy -o o.npy --part 1", "invalid value '1' for '--part <K/N>': expected K/N, such as 3/16"),
        ("convert d.npy -o o.npz --part 1/2", "output o.npz: a npz cannot be made in parts"),
        ("convert d.npy -o o.json --finish 2", "output o.json: a json cannot be made in parts"),
        ("convert d.npy --part 1/2", "--part: needs -o to a .zarr or .npy"),
        ("convert - -o o.npy --part 1/2", "--part: standard input cannot be read by every part: name a file"),
        #[cfg(unix)]
        ("convert /dev/stdin -o o.npy --part 1/2", "--part: IN /dev/stdin cannot be read by every part: name a file"),
        (
            "slice d.npy --at :3 -o d.npy --part 1/2",
            "--part: d.npy is both an operand and the output: parts would read what other parts write",
        ),
        (
            "scatter-nd d.zarr [[1]] --fill 1 --reduction add -i --part 1/2",
            "--part: not with --in-place and --reduction add: a part that runs again would add again",
        ),
        (
            "slice-scatter d.npy --fill 1 --at :1 -i --part 1/2",
            "DATA d.npy: parts of it are changed in place only in a Zarr store",
        ),
    ];
    let stdin = folder.get("d.npy");
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let mut command = folder.command();
            let output = command.args(words(args)).write_stdin(stdin.clone()).output().expect("it ran");
            let said = String::from_utf8_lossy(&output.stderr).replace(&format!("{usage}\n"), "");
            assert_eq!((output.status.code(), said), (Some(2), format!("error: {expected}\n")));
            assert_eq!(hidden(&folder), 0);
            Ok(())
        },
    );
    let shown =
        folder.run(words("convert d.npy --chunks 100,750 -o o.zarr --part 2/4 --dry-run")).printed().expect("said");
    assert!(shown.contains("part 2 of 4: units 4 to 6 of 10, reads 900000 bytes of data, writes 900000\n"), "{shown}");
    // one is counted as one
    folder.put("one.npy", npy("|u1", &[1], &[7]));
    let said = |part| {
        let args = format!("convert one.npy -o one.zarr --part {part}/2 --dry-run");
        folder.run(words(&args)).printed().expect("said")
    };
    let shown = said(1) + &said(2);
    assert!(shown.contains("of 2: units 1 to 1 of 1, reads 1 byte of data, writes 1\n"), "{shown}");
    assert!(shown.contains("of 2: none of 1 unit\n"), "{shown}");
    assert_eq!(hidden(&folder), 0);
}

/// What was finished is looked at again by the next --finish: what it lost since then is not taken for zeros.
#[cfg(target_os = "linux")]
#[test]
fn damaged_after_the_end() {
    type Damage = fn(&Folder);
    let (store, file) = ("convert d.npy --chunks 100,300 -o o.zarr", "slice d.npy --at :900 -o o.npy");
    let rows: [(&str, Damage, &str); 6] = [
        (store, |folder| fs::remove_file(folder.path("o.zarr/c/2/2")).expect("removed"), "lost"),
        (store, |folder| _ = folder.put("o.zarr/c/9/2", b""), "emptied"),
        (store, |folder| _ = folder.put("o.zarr/c/9/3", b"x"), "more"),
        (store, |folder| fs::remove_file(folder.path("o.zarr/zarr.json")).expect("removed"), "no metadata"),
        (file, |folder| _ = folder.put("o.npy", [&folder.get("o.npy")[..], b"x"].concat()), "long"),
        (
            file,
            |folder| {
                fs::File::options()
                    .write(true)
                    .open(folder.path("o.npy"))
                    .and_then(|file| file.set_len(99))
                    .expect("cut")
            },
            "cut",
        ),
    ];
    each(
        &rows,
        |(command, _, what)| format!("{command}: {what}"),
        |(command, damage, what)| {
            let folder = operands();
            let output = command.split(' ').next_back().expect("a name");
            let run = |more: &str| folder.run(words(&format!("{command} {more}")));
            let make = |restart: &str| {
                run(&format!("--part 1/2{restart}")).printed()?;
                run("--part 2/2").printed()?;
                run("--finish 2").printed()
            };
            make("")?;
            if rustix::fs::getxattr(folder.path(output), "user.tensorop.parts", &mut [0; 16]).is_err() {
                crate::common::skip("the file system keeps no attributes of files");
                return Ok(());
            }
            let made = folder.tree(output);
            run("--finish 2").printed()?;
            damage(&folder);
            let damaged = folder.tree(output);
            if *what == "no metadata" {
                // what is no store is not replaced, either
                assert_eq!(run("--finish 2").status, Some(2));
                return Ok(());
            }
            for more in ["--finish 2", "--finish 2 --dry-run", "--finish 2 --no-clobber"] {
                let refused = run(more);
                let expected = format!(
                    "error: output {output}: was finished, and has lost, gained or resized files since then: --restart \
                     begins anew\n"
                );
                assert_eq!((refused.status, refused.stderr), (Some(2), expected));
                assert!(hidden(&folder) == 0 && folder.tree(output) == damaged, "{more}");
            }
            // a late part still does nothing
            run("--part 1/2").printed()?;
            assert!(hidden(&folder) == 0 && folder.tree(output) == damaged);
            make(" --restart")?;
            assert!(folder.tree(output) == made, "another output");
            Ok(())
        },
    );
}

/// What was lost, cut or lengthened after it was made is missing, and exactly the parts that --finish names mend it.
#[test]
fn damaged_files_are_missing() {
    type Damage = fn(&Folder, &str);
    let folder = operands();
    // the chunks are numbered in rows of three, so that part 2 of 4 has those from c/2/2 to c/5/0
    let (lost, cut, long, empty): (Damage, Damage, Damage, Damage) = (
        |folder, file| fs::remove_file(folder.path(file)).expect("removed"),
        |folder, file| _ = folder.put(file, folder.get(file).split_last().expect("bytes").1),
        |folder, file| _ = folder.put(file, [&folder.get(file)[..], b"x"].concat()),
        |folder, file| _ = folder.put(file, b""),
    );
    let file = ".o.npy.tensorop/file";
    let half: Damage = |folder, file| _ = folder.put(file, &folder.get(file)[..1_500_000]);
    let rows: [(&str, &str, Damage, &str); 10] = [
        (CONVERT, ".o.zarr.tensorop/store/c/2/2", lost, "2"),
        (CONVERT, ".o.zarr.tensorop/store/c/9/2", cut, "4"),
        (CONVERT, ".o.zarr.tensorop/store/c/0/0", long, "1"),
        (CONVERT, ".o.zarr.tensorop/store/c/5/1", empty, "3"),
        (CONVERT, ".o.zarr.tensorop/store/zarr.json", lost, "1"),
        (CONVERT, ".o.zarr.tensorop/done/3", lost, "3"),
        (SCATTER, file, half, "2,3"),
        (SCATTER, file, cut, "3"),
        (SCATTER, file, long, "3"),
        (SCATTER, file, lost, "1-3"),
    ];
    each(
        &rows,
        |(command, file, ..)| format!("{command}: {file}"),
        |(command, file, damage, expected)| {
            let of = if command.ends_with(".npy") { 3 } else { 4 };
            let (one, out) = (command.replace("O.", "one."), command.replace("O.", "o."));
            let name = |command: &str| command.split(' ').next_back().expect("a name").to_owned();
            folder.run(words(&one)).printed()?;
            let part = |number: &str| folder.run(words(&format!("{out} --part {number}/{of}"))).printed();
            let finish = || folder.run(words(&format!("{out} --finish {of}")));
            (1..=of).try_for_each(|number| part(&number.to_string()).map(drop))?;
            damage(&folder, file);
            for _ in 0..2 {
                let missing = finish();
                assert_eq!((missing.status, String::from_utf8_lossy(&missing.stdout).trim()), (Some(1), *expected));
            }
            let missing = if *expected == "1-3" { "1,2,3" } else { expected };
            // a part that is there mends nothing of the others, and hides nothing
            if let Some(other) = ["1", "2"].into_iter().find(|other| !missing.contains(other)) {
                part(other)?;
                assert_eq!(String::from_utf8_lossy(&finish().stdout).trim(), missing, "after part {other}");
            }
            let numbers: Vec<&str> = missing.split(',').collect();
            for (n, number) in numbers.iter().enumerate() {
                part(number)?;
                let rest = &numbers[n + 1..];
                assert_eq!(String::from_utf8_lossy(&finish().stdout).trim(), rest.join(","), "after part {number}");
            }
            assert_eq!(finish().printed()?, "");
            assert!(folder.tree(folder.path(name(&out))) == folder.tree(folder.path(name(&one))), "another output");
            let found = folder.path(name(&out));
            if found.is_dir() { fs::remove_dir_all(found) } else { fs::remove_file(found) }.expect("removed");
            Ok(())
        },
    );
}
