//! Links the program with the static unwinder of the C compiler, so that `libgcc_s.so` is not loaded.
//!
//! A small run spends most of its time in the dynamic loader, and a tenth on this library alone, because it queries the
//! processor's features. lld, the default linker since Rust 1.90, drops the library; other linkers keep it, and the program
//! runs either way.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_gnu = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if !is_gnu || is_static || variable("HOST") != variable("TARGET") {
        return;
    }
    let Ok(found) = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output() else { return };
    let Ok(path) = String::from_utf8(found.stdout) else { return };
    let path = path.trim_end();
    // without the archive, the compiler prints its bare name
    if Path::new(path).is_absolute() && Path::new(path).is_file() {
        for arg in ["-Wl,--whole-archive", path, "-Wl,--no-whole-archive"] {
            println!("cargo::rustc-link-arg-bin=tensorop={arg}");
        }
    }
}
