//! What the environment says of servers: proxies, certificates, time-outs, profiles and regions.

use std::time::{Duration, Instant};

use crate::common::server::{Behaviour, Fault, Server};
use crate::common::{Folder, each, stop_ignoring_signals, tensor};

/// Where the file of these tests lies.
const PATH: &str = "/bucket/x.npy";

fn server() -> Server {
    Server::of([(PATH, tensor::<i32>(&[3], &[1, 2, 3]).npy())])
}

/// Runs the program with these variables and none else that tells of servers, and returns its status and what it prints.
fn run(folder: &Folder, variables: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String) {
    let mut command = folder.command();
    for name in [
        "http_proxy",
        "all_proxy",
        "ALL_PROXY",
        "no_proxy",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "TENSOROP_TIMEOUT",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ] {
        command.env_remove(name);
    }
    command.env("HOME", folder.path("home"));
    let output = command.envs(variables.iter().copied()).args(args).output().expect("run");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!text.contains("secret"), "{args:?}: {text}");
    (output.status.code(), text)
}

#[test]
fn proxies_are_asked_unless_a_host_is_named_as_an_exception() {
    let (folder, server) = (Folder::new(), server());
    let proxy = server.url("").replace("//", "//me:secret@");
    // nobody has this name, so that only a proxy gives an answer
    let url = format!("http://tensors.invalid{PATH}");
    for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
        let (status, text) = run(&folder, &[(name, &proxy)], &["show", &url]);
        assert_eq!((status, text), (Some(0), format!("{url}: int32 [3]\n[1 2 3]\n")), "{name}");
        assert!(server.seen()[0].path.contains("tensors.invalid"), "{name}");
    }
    for exceptions in ["tensors.invalid", "a.b, invalid", ".invalid", "*"] {
        for name in ["no_proxy", "NO_PROXY"] {
            let (status, text) = run(&folder, &[("http_proxy", &proxy), (name, exceptions)], &["show", &url]);
            assert_eq!((status, server.seen().len()), (Some(2), 0), "{name}={exceptions}: {text}");
        }
    }
    // this machine is asked without, and a proxy that is no address is told by the name of its variable alone
    assert_eq!(run(&folder, &[("http_proxy", "http://tensors.invalid")], &["show", &server.url(PATH)]).0, Some(0));
    let (status, text) = run(&folder, &[("http_proxy", "secret://me:secret@host")], &["show", &url]);
    assert_eq!((status, text.contains("http_proxy: expected the address of a proxy")), (Some(2), true), "{text}");
}

#[test]
fn certificates_are_those_of_the_file_that_is_named() {
    let (folder, server) = (Folder::new(), server());
    folder.put("none.pem", "no certificate");
    let url = server.url(PATH).replace("http:", "https:");
    for (file, told) in [("missing.pem", "SSL_CERT_FILE missing.pem"), ("none.pem", "no certificate in them")] {
        let (status, text) = run(&folder, &[("SSL_CERT_FILE", file)], &["show", &url]);
        assert!(status == Some(2) && text.contains(told) && text.lines().count() == 1, "{text}");
    }
    // a connection without any needs none
    assert_eq!(run(&folder, &[("SSL_CERT_FILE", "missing.pem")], &["show", &server.url(PATH)]).0, Some(0));
}

#[test]
fn tokens_that_are_none_are_told_without_them() {
    let (folder, server) = (Folder::new(), server());
    let variables = [("HF_TOKEN", "secret\nsecret"), ("HF_ENDPOINT", &*server.url(""))];
    let (status, text) = run(&folder, &variables, &["show", "hf://org/repo/x.npy"]);
    let told = "error: FILE hf://org/repo/x.npy: HF_TOKEN: expected a token without spaces\n";
    assert_eq!((status, text.as_str(), server.seen().len()), (Some(2), told, 0));
}

#[test]
fn a_server_without_tls_is_told_so() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("https://{}/x.npy", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").expect("sent");
    });
    let (status, text) = run(&Folder::new(), &[], &["show", &url]);
    server.join().expect("the server ends");
    let told = "the server has no secure connection at this port; try http://";
    assert_eq!((status, text), (Some(2), format!("error: FILE {url}: {told}\n")));
}

#[test]
fn a_stall_ends_after_six_times_the_time_out() {
    let folder = Folder::new();
    let server = Server::start(Behaviour { always: Some(Fault::Stall(0)), ..Behaviour::default() });
    server.set(PATH, Some(b"x"));
    let url = server.url(PATH);
    let begun = Instant::now();
    let (status, text) = run(&folder, &[("TENSOROP_TIMEOUT", "0.2")], &["show", &url]);
    let told = "no data in 0.2 seconds (6 attempts)";
    assert!(status == Some(2) && text.contains(told) && text.lines().count() == 1, "{text}");
    // six waits, and pauses of 0.1 to 1.6 seconds
    let took = begun.elapsed().as_secs_f64();
    assert!((4.3..15.0).contains(&took) && server.seen().len() == 6, "{took} seconds");
}

#[test]
fn servers_say_when_to_ask_again_in_seconds_or_by_a_date() {
    let (folder, server) = (Folder::new(), server());
    let url = server.url(PATH);
    // what the server says, the least seconds that the run takes then, and the most; or that it ends with an error
    let rows: [(&str, Option<(f64, f64)>); 6] = [
        ("1", Some((1.0, 15.0))),
        ("Wed, 21 Oct 2015 07:28:00 GMT", Some((0.0, 15.0))),
        ("soon", Some((0.1, 15.0))),
        ("31", None),
        ("Wed, 21 Oct 2099 07:28:00 GMT", None),
        ("18446744073709551615", None),
    ];
    for (after, expected) in rows {
        server.fail([Some(Fault::Status(503, Some(after)))]);
        let begun = Instant::now();
        let (status, text) = run(&folder, &[], &["show", &url]);
        let (took, asked) = (begun.elapsed().as_secs_f64(), server.seen().len());
        match expected {
            Some((least, most)) => {
                assert_eq!((status, asked), (Some(0), 2), "{after}: {text}");
                assert!((least..most).contains(&took), "{after}: {took} seconds");
            }
            None => {
                assert_eq!((status, asked), (Some(2), 1), "{after}: {text}");
                assert!(text.starts_with(&format!("error: FILE {url}: 503 Service Unavailable (retry in ")));
                assert!(text.ends_with(" seconds)\n") && text.lines().count() == 1, "{text}");
            }
        }
    }
}

#[test]
fn times_that_are_none_are_refused_before_anything_is_asked() {
    let (folder, server) = (Folder::new(), server());
    let url = server.url(PATH);
    each(
        ["0", "-1", "nan", "inf", "1e9", "soon"],
        |text| (*text).to_owned(),
        |text| {
            let option = format!("--timeout={text}");
            let given = run(&folder, &[], &["show", &url, &option]);
            let set = run(&folder, &[("TENSOROP_TIMEOUT", text)], &["show", &url]);
            let is_told = |(status, message): &(Option<i32>, String)| {
                *status == Some(2) && message.contains("expected seconds, from 0.001 to 86400")
            };
            let is_named = set.1.contains("TENSOROP_TIMEOUT");
            let is_right = is_told(&given) && is_told(&set) && is_named && server.seen().is_empty();
            is_right.then_some(()).ok_or_else(|| format!("{given:?} {set:?}"))
        },
    );
    // what is given counts, whatever is set, and nothing counts as nothing
    assert_eq!(run(&folder, &[("TENSOROP_TIMEOUT", "soon")], &["show", &url, "--timeout", "5"]).0, Some(0));
    assert_eq!(run(&folder, &[("TENSOROP_TIMEOUT", "")], &["show", &url]).0, Some(0));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_stall_at_once() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    stop_ignoring_signals();
    let folder = Folder::new();
    let server = Server::start(Behaviour { always: Some(Fault::Stall(0)), ..Behaviour::default() });
    server.set(PATH, Some(b"x"));
    let mut command = Command::new(crate::common::binary());
    command.current_dir(folder.path("")).args(["convert", &server.url(PATH), "-o", "out.npy"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("run");
    while server.seen().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = Instant::now();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("signalled");
    let status = child.wait().expect("ended");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(status.signal() == Some(2) || status.code() == Some(130), "{status}");
    assert!(!folder.path("out.npy").exists());
}

#[test]
fn profiles_whose_keys_come_from_elsewhere() {
    let (folder, server) = (Folder::new(), server());
    std::fs::create_dir_all(folder.path("home/.aws")).expect("a folder");
    let config = "[profile sso]\nsso_session = corp\nsso_account_id = 1\n[profile old]\nsso_start_url = https://x\n\
                  [profile process]\ncredential_process = /bin/keys --secret\n\
                  [profile role]\nrole_arn = arn:aws:iam::1:role/secret\nsource_profile = keys\n\
                  [profile web]\nrole_arn = arn\nweb_identity_token_file = /secret\n\
                  [profile login]\nlogin_session = arn\n\
                  [profile keys]\nrole_arn = arn\naws_access_key_id = ONE\naws_secret_access_key = secret\n";
    let endpoint = server.url("");
    let show = |variables: &[(&str, &str)], more: &[&str]| {
        let variables = [&[("AWS_ENDPOINT_URL_S3", endpoint.as_str())], variables].concat();
        let (status, text) = run(&folder, &variables, &[&["show", "s3://bucket/x.npy"], more].concat());
        (status, text, server.seen().into_iter().map(|seen| seen.query).collect::<Vec<_>>())
    };
    let refused = |kind: &str, profile: &str| {
        let told = format!(
            "{kind}, which is not supported: get keys by eval \"$(aws configure export-credentials --format env"
        );
        format!("error: FILE s3://bucket/x.npy: {told}{profile})\"; --no-sign-request reads public objects\n")
    };
    folder.put("home/.aws/config", config);
    let rows = [
        ("sso", "sso_session"),
        ("old", "sso_start_url"),
        ("process", "credential_process"),
        ("role", "role_arn"),
        ("web", "web_identity_token_file"),
        ("login", "login_session"),
    ];
    for (name, key) in rows {
        let profile = ("AWS_PROFILE", name);
        let expected = refused(&format!("the profile {name:?} of AWS has {key}"), &format!(" --profile {name}"));
        assert_eq!(show(&[profile], &[]), (Some(2), expected, Vec::new()), "{name}");
        // what is public needs no key, and a key is preferred
        let (status, text, queries) = show(&[profile], &["--no-sign-request"]);
        assert!(status == Some(0) && queries[0].is_empty(), "{name}: {text} {queries:?}");
        let key = [("AWS_ACCESS_KEY_ID", "OWN"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        let (status, text, queries) = show(&[&[profile], &key[..]].concat(), &[]);
        assert!(status == Some(0) && queries[0].contains("OWN"), "{name}: {text} {queries:?}");
    }
    let (status, text, queries) = show(&[("AWS_PROFILE", "keys")], &[]);
    assert!(status == Some(0) && queries[0].contains("ONE"), "{text} {queries:?}");
    // a variable names a file in the place of any profile
    let variable = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/secret")];
    let expected = refused("AWS_WEB_IDENTITY_TOKEN_FILE is set", "");
    assert_eq!(show(&variable, &[]), (Some(2), expected, Vec::new()));
    assert_eq!(show(&variable, &["--no-sign-request"]).0, Some(0));
    folder.put("home/.aws/config", "[default]\nregion = eu-west-1\nsso_session = corp\n");
    let expected = refused("the profile \"default\" of AWS has sso_session", "");
    assert_eq!(show(&[], &[]), (Some(2), expected, Vec::new()));
}

#[test]
fn profiles_and_regions() {
    let (folder, server) = (Folder::new(), server());
    std::fs::create_dir_all(folder.path("home/.aws")).expect("a folder");
    let keys = "[default]\naws_access_key_id=ONE\naws_secret_access_key=secret-1\n\
                [b]\naws_access_key_id=TWO\naws_secret_access_key=secret-2\naws_session_token=secret-3\n";
    folder.put("home/.aws/credentials", keys);
    folder.put("home/.aws/config", "[default]\nregion=eu-north-1\n[profile b]\nregion=sa-east-1\n");
    let endpoint = ("AWS_ENDPOINT_URL_S3", server.url(""));
    let endpoint = (endpoint.0, endpoint.1.as_str());
    let asked = |variables: &[(&str, &str)]| {
        let (status, text) = run(&folder, &[&[endpoint], variables].concat(), &["show", "s3://bucket/x.npy"]);
        (status, text, server.seen().into_iter().map(|seen| seen.query).collect::<Vec<_>>())
    };
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let rows: [Row<'_>; 3] = [
        (&[], &["ONE", "eu-north-1"]),
        (&[("AWS_PROFILE", "b")], &["TWO", "sa-east-1", "X-Amz-Security-Token=secret-3"]),
        (&[("AWS_PROFILE", "b"), ("AWS_REGION", "us-west-2")], &["TWO", "us-west-2"]),
    ];
    for (variables, expected) in rows {
        let (status, text, queries) = asked(variables);
        assert_eq!(status, Some(0), "{text}");
        assert!(expected.iter().all(|part| queries[0].contains(part)), "{variables:?}: {queries:?}");
    }
    // a bucket that lies elsewhere is asked again with the signature of that region
    server.fail([Some(Fault::Region("ap-south-1"))]);
    let (status, text, queries) = asked(&[]);
    assert_eq!((status, queries.len()), (Some(0), 2), "{text}");
    assert!(queries[0].contains("eu-north-1") && queries[1].contains("ap-south-1"), "{queries:?}");
    // a profile that is nowhere has no keys, and a variable that names no region none of a server's
    for (variable, value, told) in [
        ("AWS_PROFILE", "c", "AWS_PROFILE: there is no profile \"c\""),
        ("AWS_REGION", "eu west", "AWS_REGION, or the profile: expected a region such as eu-west-1"),
        (
            "AWS_ENDPOINT_URL_S3",
            "me:secret@h",
            "AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL: expected an address that begins",
        ),
    ] {
        let (status, text, queries) = asked(&[(variable, value)]);
        let is_told = text.starts_with(&format!("error: FILE s3://bucket/x.npy: {told}"));
        assert!(status == Some(2) && is_told && queries.is_empty(), "{text}");
    }
    // who is asked is told where the address does not tell it
    let (status, text, _) = asked(&[("AWS_ENDPOINT_URL_S3", "http://me:secret@127.0.0.1:1")]);
    let told = "error: FILE s3://bucket/x.npy: 127.0.0.1:1: the connection was refused\n";
    assert_eq!((status, text.as_str()), (Some(2), told));
    // a region is part of the name of a host, so that a server that lies could have the next request, and its token
    server.fail([Some(Fault::Region("evil.example/"))]);
    let (status, text, queries) = asked(&[]);
    assert_eq!((status, queries.len()), (Some(2), 1), "{text}");
    assert!(text.contains("the server names an invalid region for the bucket"), "{text}");
}
