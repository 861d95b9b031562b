//! Random lists of rules for `--rename` against a model, in `convert` and in `diff`.

use crate::common::Random;
use crate::common::{Folder, npy, npz, rounds};

/// Returns what each `*` of a pattern stands for, the first for as little as leads to a match.
fn stars<'n>(pattern: &str, name: &'n str) -> Option<Vec<&'n str>> {
    let Some((before, after)) = pattern.split_once('*') else { return (pattern == name).then(Vec::new) };
    let rest = name.strip_prefix(before)?;
    let ways = (0..=rest.len()).map(|end| rest.split_at(end));
    ways.into_iter().find_map(|(own, behind)| Some([vec![own], stars(after, behind)?].concat()))
}

/// Returns the names after all rules, or the number of the first rule that matches none when its turn comes.
fn renamed(names: &[String], rules: &[(String, String)]) -> Result<Vec<String>, usize> {
    let mut names = names.to_vec();
    for (number, (old, new)) in rules.iter().enumerate() {
        let found: Vec<_> = names.iter().map(|name| stars(old, name).map(|kept| kept.join("\0"))).collect();
        if found.iter().all(Option::is_none) {
            return Err(number);
        }
        let put = |kept: &String| kept.split('\0').fold(new.clone(), |name, own| name.replacen('*', own, 1));
        names = names.iter().zip(&found).map(|(name, kept)| kept.as_ref().map_or(name.clone(), put)).collect();
    }
    Ok(names)
}

#[test]
fn rules_are_applied_in_turn() {
    let mut random = Random(49);
    let folder = Folder::new();
    let (mut done, mut unused, mut twice) = (0, 0, 0);
    while done + unused + twice < rounds(300) {
        let text = |random: &mut Random, letters: &[&str], most| {
            (0..=random.below(most)).map(|_| *random.of(letters)).collect::<String>()
        };
        let mut names: Vec<_> = (0..=random.below(5)).map(|_| text(&mut random, &["a", "b", "x."], 4)).collect();
        names.sort();
        names.dedup();
        let rule = |random: &mut Random, made: &[(String, String)]| {
            // most patterns are those of a name that the rules before have made
            let names = renamed(&names, made).unwrap_or_else(|_| names.clone());
            let mut old: String = match random.chance(90) {
                true => random.of(&names).chars().map(|c| if random.chance(30) { '*' } else { c }).collect(),
                false => text(random, &["a", "b", "x.", "*"], 3),
            };
            if old.is_empty() {
                old.push('*');
            }
            let mut parts = old.matches('*').map(|_| text(random, &["", "a", "c", "y/"], 2)).collect::<Vec<_>>();
            parts.push(text(random, &["d", "a", "."], 2));
            (old, if random.chance(80) { parts.join("*") } else { parts.concat() })
        };
        let mut rules = Vec::new();
        for _ in 0..=random.below(4) {
            rules.push(rule(&mut random, &rules));
        }
        let expected = renamed(&names, &rules);
        let members: Vec<_> = names.iter().zip(0..).map(|(name, n)| (&**name, npy("|u1", &[1], &[n]))).collect();
        folder.put("old.npz", npz(&members));
        let typed: Vec<_> = rules.iter().map(|(old, new)| format!("{old}={new}")).collect();
        let options: Vec<_> = typed.iter().flat_map(|rule| ["--rename", rule]).collect();
        let convert = [&["convert", "old.npz", "-o", "new.npz"][..], &options].concat();
        let run = folder.run_with(&convert, None, None);
        let shown = format!("{names:?} {typed:?} {expected:?}: {run:?}");
        let pair = expected.as_ref().ok().and_then(|new| {
            let pairs = (0..new.len()).flat_map(|n| (0..n).map(move |m| (m, n)));
            pairs.into_iter().find(|(m, n)| new[*m] == new[*n])
        });
        match (&expected, pair) {
            (Err(number), _) => {
                unused += 1;
                let said = format!("error: --rename {}: matches no tensor", typed[*number]);
                assert!(run.status == Some(2) && run.stderr.starts_with(&said), "{shown}");
            }
            (Ok(_), Some(_)) => {
                twice += 1;
                let said = |run: &crate::common::Run| {
                    let after = run.stderr.split_once("two tensors are called ").map(|(_, after)| after.to_owned());
                    after.is_some_and(|after| {
                        let clashes = |new: &String| {
                            let olds: Vec<_> = names
                                .iter()
                                .zip(expected.as_ref().unwrap())
                                .filter(|(_, other)| *other == new)
                                .collect();
                            after.starts_with(&format!("{new:?}"))
                                && olds.iter().filter(|(old, _)| after.contains(&**old)).count() > 1
                        };
                        run.status == Some(2) && expected.as_ref().unwrap().iter().any(clashes)
                    })
                };
                assert!(said(&run), "{shown}");
                let run = folder.run_with([&["diff", "old.npz", "old.npz"][..], &options].concat(), None, None);
                assert!(said(&run), "diff {shown}: {run:?}");
            }
            (Ok(new), None) => {
                done += 1;
                assert_eq!(run.status, Some(0), "{shown}");
                let mut made: Vec<_> = new.iter().cloned().zip(0..).collect();
                made.sort();
                let mut read: Vec<_> = tensorop::read_all(folder.path("new.npz")).unwrap().into_iter().collect();
                read.sort_by(|a, b| a.0.cmp(&b.0));
                let read: Vec<_> = read.into_iter().map(|(name, tensor)| (name, tensor.bytes()[0])).collect();
                assert_eq!(read, made, "{shown}");
                let diff = [&["diff", "-q", "old.npz", "new.npz"][..], &options].concat();
                assert_eq!(folder.run_with(&diff, None, None).status, Some(0), "diff {shown}");
                std::fs::remove_file(folder.path("new.npz")).unwrap();
            }
        }
        assert!(!folder.path("new.npz").exists(), "{shown}");
    }
    assert!(done > rounds(150) && unused > rounds(30) && twice > rounds(15), "{done} {unused} {twice}");
}
