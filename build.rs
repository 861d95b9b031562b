//! Has the program linked so that a tiny call starts in less time; nothing that it does depends on this.
//!
//! - The functions that every run calls lie beside one another. They are a tenth of the program, spread between kernels and formats
//!   that the run does not need, and the system maps sixteen pages wherever one is touched: most of the program, for a tiny
//!   call. `start.ld` lists the functions; `benches/starting.py` makes the list, and measures.
//! - What walks the stack for the message of a panic is linked from the compiler's archive. To load and relocate `libgcc_s.so` for
//!   it took as long as to read and to write a tiny file.
//! - So is the C library, where its archives are installed and not too old, which spares the system to look for it, map and
//!   relocate it. Not with the feature `remote`: to look up the address of a host, the C library of GNU loads modules that the
//!   system's administrator chooses, and these fit only the shared library of the very same version.
//! - The addresses that are filled in before the program starts are listed as bits and not as 24 bytes each.
//!
//! The program stays independent of its place in memory. At a fixed one it would have no addresses to fill in, which is as much
//! time again, but it reads files of strangers, and where it lies is what an exploit has to guess.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

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
    if is_static || !has_archive("libgcc_eh.a") {
        return Ok(());
    }
    let folder = PathBuf::from(of("OUT_DIR"));
    let is_remote = env::var_os("CARGO_FEATURE_REMOTE").is_some();
    if !is_remote && links_statically(&folder).unwrap_or(false) {
        let libc = "GROUP ( -l:libc.a -lgcc_eh -lgcc )\n";
        pass_scripts(
            &folder.join("static"),
            &[("libgcc_s.so", UNWINDER), ("libm.so", "GROUP ( -l:libm.a )\n"), ("libc.so", libc)],
        )?;
        for argument in ["-static-pie", "-Wl,-z,pack-relative-relocs"] {
            println!("cargo::rustc-link-arg-bin=tensorop={argument}");
        }
    } else {
        pass_scripts(&folder.join("dynamic"), &[("libgcc_s.so", UNWINDER)])?;
    }
    Ok(())
}

/// What the linker takes for `libgcc_s.so`, which walks the stack.
const UNWINDER: &str = "GROUP ( -lgcc_eh -lgcc )\n";

/// Writes linker scripts that the linker finds instead of the shared libraries of their names.
fn pass_scripts(folder: &Path, scripts: &[(&str, &str)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, script) in scripts {
        fs::write(folder.join(name), script)?;
    }
    println!("cargo::rustc-link-arg-bin=tensorop=-L{}", folder.display());
    Ok(())
}

/// A program that is compiled only with a C library whose archive has all that the program needs: whose start code knows
/// addresses listed as bits, and which has threads in `libc.a` itself.
const PROBE: &str = "\
#include <features.h>
#if !defined __GLIBC__ || !__GLIBC_PREREQ(2, 36)
#error too old
#endif
int main(void) { return 0; }
";

/// Returns whether the compiler that links can make programs of archives alone that lie anywhere in memory, and whether
/// they run: it makes one in the folder.
fn links_statically(folder: &Path) -> io::Result<bool> {
    let program = folder.join("probe");
    let mut compiler = Command::new("cc")
        .args(["-static-pie", "-x", "c", "-", "-lm", "-o"])
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    compiler.stdin.take().expect("it is piped").write_all(PROBE.as_bytes())?;
    Ok(compiler.wait()?.success() && Command::new(&program).status()?.success())
}

/// Returns whether the compiler that links has that archive: it prints where, or the bare name if it has none.
fn has_archive(name: &str) -> bool {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output();
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}
