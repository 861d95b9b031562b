//! Addresses as users of the library name them, in builds that ask servers and in those that do not.

use tensorop::error::ErrorKind;
use tensorop::{describe, open, read, read_all};

/// The message and the kind of the error of reading an address in each way.
fn refused(address: &str) -> Vec<(String, ErrorKind)> {
    let errors = [read(address).err(), read_all(address).err(), describe(address).err(), open(address).err()];
    errors.into_iter().map(|error| error.expect(address)).map(|error| (error.to_string(), error.kind())).collect()
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_a_network_says_so() {
    const NONE: &str = "this build has no network: the feature remote is off";
    for address in ["https://host/x.npy", "http://host/x.npz:a", "S3://bucket/x.zarr", "hf://org/repo/m.safetensors"] {
        for refusal in refused(address) {
            assert_eq!(refusal, (format!("{address}: {NONE}"), ErrorKind::Unsupported));
        }
    }
}

#[cfg(feature = "remote")]
mod asked {
    use std::io::ErrorKind::{NotFound, PermissionDenied};
    use std::process::Command;

    use super::*;
    use crate::common::server::{Behaviour, Fault, Server};
    use crate::common::tensor;
    use tensorop::SliceArgs;

    fn file() -> Vec<u8> {
        tensor::<i32>(&[2, 3], &[1, 2, 3, 4, 5, 6]).npy()
    }

    #[test]
    fn by_a_url() {
        let server = Server::of([("/a/x.npy", file())]);
        let url = server.url("/a/x.npy").replace("//", "//me:secret@") + "?key=secret";
        let wanted = ndarray::array![[1, 2, 3], [4, 5, 6]].into_dyn();
        assert_eq!(read(&url).expect("read").to_array::<i32>().expect("int32"), wanted);
        let opened = open(&url).expect("opened");
        assert_eq!(opened.info(None).expect("described").shape, [2, 3]);
        let column = opened.read_slice(None, &":, 1:2".parse::<SliceArgs>().expect("slices")).expect("a slice");
        assert_eq!(column.to_array::<i32>().expect("int32"), ndarray::array![[2], [5]].into_dyn());
        assert!(!format!("{opened:?} {:?}", describe(&url).expect("described")).contains("secret"));
        // an error names the address without what is secret in it
        let shown = server.url("/a/x.npy");
        server.fail(std::iter::repeat_n(Some(Fault::Status(403, None)), 4));
        for (message, kind) in refused(&url) {
            assert_eq!((message, kind), (format!("{shown}: 403 Forbidden"), ErrorKind::Io(PermissionDenied)));
        }
        let patched = tensorop::patch(&url, &":1".parse().expect("slices"), &column).expect_err("not in place");
        assert!(!patched.to_string().contains("secret"), "{patched}");
    }

    /// The variables of a process cannot be set while its other threads read them: the test runs again in a process of its own.
    #[test]
    fn in_a_bucket() {
        const VARIABLE: &str = "AWS_ENDPOINT_URL_S3";
        const CHILD: &str = "TENSOROP_TEST_IN_A_BUCKET";
        if std::env::var_os(CHILD).is_some() {
            let wanted = ndarray::array![[1, 2, 3], [4, 5, 6]].into_dyn();
            assert_eq!(read("s3://bucket/a b/x.npy").expect("read").to_array::<i32>().expect("int32"), wanted);
            let error = read("s3://bucket/none.npy").expect_err("nothing is there");
            assert_eq!(error.to_string(), "s3://bucket/none.npy: 404 Not Found");
            assert_eq!(error.kind(), ErrorKind::Io(NotFound));
            return;
        }
        let server = Server::of([("/bucket/a%20b/x.npy", file())]);
        let program = std::env::current_exe().expect("a test program");
        let mut command = Command::new(program);
        command.args(["--exact", "remote::asked::in_a_bucket"]).env(CHILD, "1").env(VARIABLE, server.url(""));
        for name in ["AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
            command.env_remove(name);
        }
        command.env("AWS_ACCESS_KEY_ID", "AKIA").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_REGION", "eu-west-1");
        let output = command.output().expect("run");
        let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
        assert!(server.seen().iter().all(|seen| seen.query.contains("X-Amz-Signature=")));
    }

    #[cfg(feature = "zarr")]
    #[test]
    fn chunks_that_are_read_again_are_of_one_version() {
        const KEY: &str = "/x.zarr/c/0";
        let folder = tempfile::tempdir().expect("a folder");
        let data = tensorop::Tensor::from(&ndarray::array![1.5_f32, 2.5]);
        tensorop::write(folder.path().join("x.zarr"), &data).expect("written");
        let get = |key: &str| std::fs::read(folder.path().join(&key[1..])).expect("there");
        let (metadata, bytes) = (get("/x.zarr/zarr.json"), get(KEY));
        let other: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
        // what a chunk is first, and what it is then
        for (first, then) in [(Some(&bytes), Some(&other)), (Some(&bytes), None), (None, Some(&bytes))] {
            let server = Server::start(Behaviour::default());
            server.set("/x.zarr/zarr.json", Some(&metadata));
            server.set(KEY, first.map(Vec::as_slice));
            let opened = open(server.url("/x.zarr")).expect("opened");
            let read = || opened.read(None);
            assert_eq!(read().expect("the first time"), read().expect("and again"));
            server.set(KEY, then.map(Vec::as_slice));
            let error = read().expect_err("another version");
            assert_eq!(error.kind(), ErrorKind::Changed);
            assert!(error.to_string().ends_with("changed while it was read"), "{error}");
            // what is opened anew is what is there now
            if then == Some(&bytes) {
                assert_eq!(open(server.url("/x.zarr")).and_then(|opened| opened.read(None)), Ok(data.clone()));
            }
        }
    }
}
