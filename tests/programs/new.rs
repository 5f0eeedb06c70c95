//! `loggp new`: the package that it makes, and the requests that it refuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program of the package. Its tests run with these.
#[allow(dead_code)] // its `main` is not called here
#[path = "../../crates/cli/src/commands/about/new/template.rs"]
mod template;

/// Returns an empty folder outside of the repository.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn new_package(beside: &Path, name: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loggp")).args(["new", name]).current_dir(beside).output().unwrap()
}

/// Returns all files and folders below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { [files(&path), vec![path]].concat() } else { vec![path] })
        .collect();
    files.sort();
    files
}

#[test]
fn a_package_has_a_program_and_finds_its_crates() {
    let beside = folder();
    let Output { status, stdout, stderr } = new_package(beside.path(), "my-ring");
    assert_eq!((status.code(), String::from_utf8(stderr).unwrap().as_str()), (Some(0), ""));
    assert!(String::from_utf8(stdout).unwrap().ends_with("\n\n  cd my-ring\n  cargo test\n  cargo run\n"));
    let package = beside.path().join("my-ring");
    let named = [".gitignore", "Cargo.toml", "src", "src/main.rs"].map(|name| package.join(name));
    assert_eq!(files(beside.path()), [vec![package.clone()], named.to_vec()].concat());

    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    assert!(manifest.starts_with("[package]\nname = \"my-ring\"\n"), "{manifest}");
    let crates: Vec<PathBuf> = manifest
        .lines()
        .filter_map(|line| Some(line.split_once("path = \"")?.1.strip_suffix("\" }")?.into()))
        .collect();
    assert_eq!(crates.len(), 3, "{manifest}");
    assert!(crates.iter().all(|path| path.join("src/lib.rs").is_file()), "{manifest}");
}

#[test]
fn a_wrong_package_is_refused() {
    let beside = folder();
    fs::create_dir(beside.path().join("there")).unwrap();
    fs::write(beside.path().join("file"), "").unwrap();
    let before = files(beside.path());
    for (name, why) in [
        ("there", "no package can be made in there: it is there already; give another name"),
        ("file", "no package can be made in file: it is there already; give another name"),
        ("no/ring", "no package can be made in no/ring: the folder for it is not there; give one that is"),
        (
            "file/ring",
            "no package can be made in file/ring: the folder for it is not there; give one that is",
        ),
        (
            "2d",
            "2d cannot be the name of a package: it must begin with a letter, and have only letters a to z, digits, - and _; \
             ring would do",
        ),
        (
            "a b",
            "a b cannot be the name of a package: it must begin with a letter, and have only letters a to z, digits, - and _; \
             ring would do",
        ),
        (
            "deps",
            "deps cannot be the name of a package: Cargo has a folder of that name; give another, such as ring",
        ),
        (
            "loggp-study",
            "loggp-study cannot be the name of a package: loggp's own crates are called so; give another, such as ring",
        ),
        ("..", "the folder has no name that a package can have; give one, such as ring"),
    ] {
        let Output { status, stdout, stderr } = new_package(beside.path(), name);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!((status.code(), stdout.len(), stderr), (Some(2), 0, format!("error: {why}\n")), "{name}");
        assert_eq!(files(beside.path()), before, "{name}");
    }
}

/// Builds and runs the package as a user would. Cargo may download dependencies.
#[test]
#[ignore = "builds from nothing for a minute"]
fn a_new_package_passes_its_tests_and_draws_its_picture() {
    let beside = folder();
    assert!(new_package(beside.path(), "my-ring").status.success());
    let package = beside.path().join("my-ring");
    for verb in ["test", "run"] {
        let output = Command::new(env!("CARGO"))
            .arg(verb)
            .current_dir(&package)
            .env("CARGO_TARGET_DIR", package.join("target"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verb}: {stderr}");
        assert!(!stderr.contains("warning"), "{verb}: {stderr}");
    }
    for line in ["audit ring.json", "analyze ring.json", "timeline ring.json -o ring.svg"] {
        let mut of_trace = Command::new(env!("CARGO_BIN_EXE_loggp"));
        let of_trace = of_trace.args(line.split(' ')).current_dir(&package).output().unwrap();
        assert!(of_trace.status.success(), "{line}: {}", String::from_utf8_lossy(&of_trace.stderr));
    }
    let page = fs::read_to_string(package.join("ring.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("A ring all-gather"));
}
