//! What containers hold is listed by content: arrays whatever their files are called, and content that is not a tensor, which
//! is compared, named and never lost.

use crate::common::{Folder, Run, Zipped, deflated, each, npy, words, zip};

fn stored(name: &str, bytes: &[u8]) -> Zipped {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    Zipped { name: name.to_owned(), method: 0, size: bytes.len() as u32, crc: crc.sum(), bytes: bytes.to_vec() }
}

fn array(items: &[u8]) -> Vec<u8> {
    npy("uint8", &[items.len()], items)
}

fn text(run: &Run) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// Archives with arrays in files without the ending, and with other files.
fn archives() -> Folder {
    let folder = Folder::new();
    let members = |meta: &str| {
        vec![
            stored("a.npy", &array(&[1, 2])),
            stored("folder/", b""),
            deflated("raw", &array(&[3, 4])),
            stored("raw.npy", &array(&[5])),
            deflated("meta.json", meta.as_bytes()),
        ]
    };
    let more = |name: &str, content: &[u8]| [members("{}"), vec![stored(name, content)]].concat();
    folder.put("m.npz", zip(&members("{}")));
    folder.put("same.npz", zip(&members("{}").into_iter().rev().collect::<Vec<_>>()));
    folder.put("other.npz", zip(&members("{\"x\": 1}")));
    folder.put("more.npz", zip(&more("notes.txt", b"text")));
    folder.put(
        "locked.npz",
        zip(&[&more("x", b"")[..], &[Zipped { method: 12, ..stored("secret", b"abcdefgh") }]].concat()),
    );
    folder.put("plain.npz", zip(&[stored("a.npy", &array(&[1, 2])), stored("raw.npy", &array(&[3, 4]))]));
    folder.put("changed.npz", zip(&[stored("a.npy", &array(&[7, 7]))]));
    folder.put("new.npy", array(&[9, 9]));
    folder
}

#[test]
fn arrays_are_found_by_content() {
    let folder = archives();
    let rows = [
        ("info m.npz --members", "a\nraw\nraw.npy\n"),
        ("show m.npz:raw", "m.npz:raw: uint8 [2]\n[3 4]\n"),
        ("show m.npz:raw.npy", "m.npz:raw.npy: uint8 [1]\n[5]\n"),
        ("slice m.npz:raw --at :1 --to text", "[3]\n"),
        ("diff m.npz:raw plain.npz:raw", "equal: 2 items of uint8 [2]\n  content differs: meta.json\n"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    let converted = folder.run(words("convert m.npz -o all.safetensors"));
    assert_eq!(converted.status, Some(0), "{converted:?}");
    assert_eq!(folder.run(words("info all.safetensors --members")).printed().as_deref(), Ok("a\nraw\nraw.npy\n"));
}

#[test]
fn other_content_is_named() {
    let folder = archives();
    let info = folder.run(words("info m.npz plain.npz")).printed().expect("a table");
    assert!(info.contains("\nm.npz: holds meta.json, which is not a tensor\n"), "{info}");
    assert!(!info.contains("plain.npz: holds"), "{info}");
    let info = folder.run(words("info more.npz")).printed().expect("a table");
    assert!(info.ends_with("\nmore.npz: holds meta.json, notes.txt, which are not tensors\n"), "{info}");
    let json = folder.run(words("info more.npz --json")).printed().expect("an array");
    assert_eq!(json.matches(", \"content\": [\"meta.json\", \"notes.txt\"]}").count(), 3, "{json}");
    // what asks for a tensor asks for nothing else
    let named = folder.run(words("info m.npz:a")).printed().expect("a table");
    assert!(!named.contains("meta.json"), "{named}");
    let quiet = folder.run(words("convert m.npz:a -o a.npy"));
    assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(0), ""));
    for (args, line) in [
        ("convert m.npz -o copy.npz", "IN m.npz: \"meta.json\" is not a tensor, and is not copied\n"),
        (
            "convert more.npz -o copy.npz",
            "IN more.npz: \"meta.json\", \"notes.txt\" are not tensors, and are not copied\n",
        ),
        ("convert plain.npz -o copy.npz", ""),
        ("convert m.npz -q -o copy.npz", ""),
    ] {
        let Run { status, stderr, .. } = folder.run(words(args));
        assert_eq!((status, stderr.as_str()), (Some(0), line), "{args}");
    }
}

#[test]
fn other_content_is_compared() {
    let folder = archives();
    let same = "3 same, 0 within, 0 different, 0 missing, 0 extra";
    let rows = [
        ("m.npz same.npz --metadata", 0, format!("equal: {same}\n")),
        ("m.npz other.npz", 0, format!("equal: {same}\n  content differs: meta.json\n")),
        ("m.npz other.npz --metadata", 1, format!("different: {same}\n  content differs: meta.json\n")),
        ("m.npz more.npz --metadata", 1, format!("different: {same}\n  content differs: notes.txt\n")),
        ("more.npz m.npz -q", 0, format!("equal: {same}; content differs: notes.txt\n")),
        ("m.npz:a other.npz:a", 0, "equal: 2 items of uint8 [2]\n  content differs: meta.json\n".to_owned()),
        (
            "m.npz:a other.npz:a --metadata",
            1,
            "different: content meta.json\n  content differs: meta.json\n".to_owned(),
        ),
        ("m.npz:a other.npz:a --metadata -q", 1, "different: content meta.json\n".to_owned()),
        ("m.npz:a new.npy --metadata --atol 9 -q", 0, "equal within the tolerance: ".to_owned()),
        // nobody knows what is in there
        ("locked.npz locked.npz --metadata", 1, format!("different: {same}\n  content differs: secret\n")),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, expected)| {
            let run = folder.run(words(&format!("diff {args}")));
            match run.status == Some(*status) && text(&run).starts_with(expected) {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
    let json = folder.run(words("diff m.npz more.npz --json")).printed().expect("an object");
    assert!(json.ends_with("\"metadata\": [], \"content\": [\"notes.txt\"]}\n"), "{json}");
    let json = text(&folder.run(words("diff m.npz:a more.npz:a --json --metadata")));
    assert!(json.contains("\"reason\": \"metadata\"") && json.ends_with("\"content\": [\"notes.txt\"]}\n"), "{json}");
}

#[test]
fn other_content_is_never_lost() {
    let folder = archives();
    let before = folder.content();
    let one = "holds \"meta.json\", not a tensor, which would be lost: choose another file";
    let more = |tensors: &str| format!("holds {tensors} and \"meta.json\", not a tensor, which would be lost");
    let rows = [
        ("convert m.npz -o m.npz", one.to_owned()),
        ("convert m.npz --compress -o m.npz", one.to_owned()),
        ("convert m.npz --only a -o m.npz", one.to_owned()),
        ("convert m.npz --exclude meta.json -o m.npz", "meta.json".to_owned()),
        ("convert m.npz a=new.npy -o m.npz", one.to_owned()),
        ("slice m.npz:a --at :1 -o m.npz", more("2 more tensors")),
        ("slice-scatter m.npz:a --fill 0 --at : -o m.npz", more("2 more tensors")),
        ("scatter-update new.npy [0] m.npz:raw.npy --axis 0 -o m.npz", more("3 more tensors")),
        ("split m.npz:a --parts 2 -o m.npz", more("2 more tensors")),
        ("concat m.npz:* -o m.npz", more("2 more tensors")),
        ("diff m.npz:a new.npy --accept", one.to_owned()),
        ("diff m.npz changed.npz --accept", one.to_owned()),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            match run.status == Some(2) && run.stderr.contains(expected) && folder.content() == before {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
    // a container that is not read is replaced by whoever names it
    assert_eq!(folder.run(words("convert new.npy -o m.npz")).status, Some(0));
}
