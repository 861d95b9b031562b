//! Names that occur several times in a container.

use std::collections::{HashMap, HashSet};

/// Appends `#2`, `#3` to the second and third of equal names, except where another member has that name.
pub(super) fn numbered(mut names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    let repeated: Vec<usize> = (0..names.len()).filter(|n| !taken.insert(names[*n].clone())).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    for n in repeated {
        let number = next.entry(names[n].clone()).or_insert(2);
        let name = loop {
            let name = format!("{}#{number}", names[n]);
            *number += 1;
            if taken.insert(name.clone()) {
                break name;
            }
        };
        names[n] = name;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_occurs_once() {
        let rows: [(&str, &str); 4] =
            [("a b", "a b"), ("a a b a", "a a#2 b a#3"), ("a a#2 a a a#2", "a a#2 a#3 a#4 a#2#2"), ("", "")];
        for (given, expected) in rows {
            let given = given.split_whitespace().map(str::to_owned).collect();
            assert_eq!(numbered(given).join(" "), expected);
        }
    }
}
