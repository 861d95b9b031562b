use super::*;

#[test]
fn words_become_values_of_json() {
    let rows = [
        ("NaN", Some(r#""NaN""#)),
        (" [NaN,-Infinity , Infinity]", Some(r#" ["NaN","-Infinity" , "Infinity"]"#)),
        (r#"{"NaN": "NaN", "a\"Infinity": -1}"#, Some(r#"{"NaN": "NaN", "a\"Infinity": -1}"#)),
        (r#"{"a": "\\", "b": NaN}"#, Some(r#"{"a": "\\", "b": "NaN"}"#)),
        (r#"["\\\"", NaN]"#, Some(r#"["\\\"", "NaN"]"#)),
        ("1NaN", None),
        ("[NaN1]", None),
        ("NaNNaN", None),
        ("--Infinity", None),
        ("+Infinity", None),
        ("1.NaN", None),
        ("nan", None),
        ("-NaN", None),
        ("éNaN", None),
        ("[\"NaN", None),
        ("\"\\", None),
        ("", None),
    ];
    assert!(value("{NaN: 1}").is_err(), "a key is a string");
    for (text, expected) in rows {
        let parsed = value(text).ok();
        assert_eq!(parsed, expected.map(|_| text.trim()), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&quoted(text)).is_ok(), expected.is_some(), "{text}");
        if let Some(expected) = expected {
            assert_eq!(quoted(text), expected);
        }
    }
}

#[test]
fn texts_of_values_are_kept() {
    let text = r#"{"a": NaN, "b": [1e3, -Infinity], "é": {"x": "NaN"}, "a": 1.50}"#;
    let found = object(text).expect("an object");
    let values = [("a", "1.50"), ("b", "[1e3, -Infinity]"), ("é", r#"{"x": "NaN"}"#)];
    assert_eq!(found.iter().map(|(key, value)| (key.as_str(), *value)).collect::<Vec<_>>(), values);
    assert_eq!(list(found["b"]).expect("a list"), ["1e3", "-Infinity"]);
    assert_eq!(object_text(&found), r#"{"a":1.50,"b":[1e3, -Infinity],"é":{"x": "NaN"}}"#);
    assert_eq!(compact("{ \"a b\" :\n [ NaN , 1 ] }"), r#"{"a b":[NaN,1]}"#);
    let error = object("{\"a\": -Infinity,\n \"b\": Infinity Infinity}").expect_err("no object");
    assert_eq!((error.line(), error.column()), (2, 16));
}

#[test]
fn words_differ_from_strings_and_numbers() {
    let texts = ["NaN", "Infinity", "-Infinity", r#""NaN""#, "0.0", "null"];
    for (n, one) in texts.iter().enumerate() {
        for (m, other) in texts.iter().enumerate() {
            let [one, other] = [one, other].map(|text| serde_json::from_str::<serde_json::Value>(&comparable(text)));
            assert_eq!(one.expect("JSON") == other.expect("JSON"), n == m);
        }
    }
}
