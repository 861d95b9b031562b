//! Has the program linked so that a tiny call starts in less time; nothing that it does depends on this.
//!
//! - The functions that every run calls lie beside one another. They are a tenth of the program, spread between kernels and formats
//!   that the run does not need, and the system maps sixteen pages wherever one is touched: most of the program, for a tiny
//!   call. `start.ld` lists the functions; `benches/starting.py` makes the list, and measures.
//! - What unwinds a panic is linked from the compiler's archive. To load and relocate `libgcc_s.so` for it took as long as to read
//!   and to write a tiny file.
//!
//! The program stays independent of its place in memory. At a fixed one it would have no addresses to fill in, which is as much
//! time again, but it reads files of strangers, and where it lies is what an exploit has to guess.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=start.ld");
    let of = |key: &str| env::var(key).unwrap_or_default();
    let is_target =
        ["OS", "ENV", "ARCH"].map(|key| of(&format!("CARGO_CFG_TARGET_{key}"))) == ["linux", "gnu", "x86_64"];
    let is_static = of("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    // Only what rustc takes by itself is sure to know such scripts: lld and GNU ld do, mold does not.
    let is_chosen = env::var_os("RUSTC_LINKER").is_some() || of("CARGO_ENCODED_RUSTFLAGS").contains("link");
    let is_program = of("PROFILE") == "release" && env::var_os("CARGO_FEATURE_CLI").is_some();
    if !is_program || !is_target || is_chosen || of("HOST") != of("TARGET") {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bin=tensorop=-Wl,-T,{}/start.ld", of("CARGO_MANIFEST_DIR"));
    if !is_static && has_archive("libgcc_eh.a") {
        // the linker finds this file when it is told -lgcc_s
        let folder = PathBuf::from(of("OUT_DIR"));
        fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n")?;
        println!("cargo::rustc-link-arg-bin=tensorop=-L{}", folder.display());
    }
    Ok(())
}

/// Returns whether the compiler that links has that archive: it prints where, or the bare name if it has none.
fn has_archive(name: &str) -> bool {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output();
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}
