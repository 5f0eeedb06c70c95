//! Compiles the shim with `mpicc`, and links the libraries that it links. `MPICC` names another compiler
//! wrapper. With `MPICC=none`, on docs.rs, and where there is no `mpicc` and none is named, nothing is compiled: the
//! package can be checked and documented then, and no program can be linked with it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn output(command: &mut Command) -> String {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|why| {
        panic!("{name} cannot be run ({why}); install an MPI with its headers, or name its compiler in MPICC")
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn main() {
    println!("cargo:rerun-if-changed=shim.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    let named = env::var("MPICC");
    let mpicc = named.clone().unwrap_or_else(|_| "mpicc".into());
    if named.is_err() && Command::new(&mpicc).arg("--version").output().is_err() {
        println!(
            "cargo:warning=there is no mpicc, so nothing can be linked with loggp-mpi-link; install an MPI with its headers, or name \
             its compiler in MPICC"
        );
        return;
    }
    if mpicc == "none" || env::var_os("DOCS_RS").is_some() {
        return;
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let (object, archive) = (out.join("shim.o"), out.join("libloggp_shim.a"));
    output(Command::new(&mpicc).args(["-O2", "-fPIC", "-Wall", "-c", "shim.c", "-o"]).arg(&object));
    output(Command::new("ar").arg("crs").arg(&archive).arg(&object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=loggp_shim");
    // Open MPI and MPICH have different options that print the libraries.
    let links = ["--showme:link", "-link_info"].map(|show| Command::new(&mpicc).arg(show).output());
    let shown = links.into_iter().flatten().find(|output| output.status.success());
    let shown = shown.unwrap_or_else(|| panic!("{mpicc} does not show what it links"));
    for word in String::from_utf8_lossy(&shown.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}
