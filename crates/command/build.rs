//! Finds the commit that the command is built from, for `loggp --version`.
//!
//! A build for development names none: to name the right one, the command and its tests would have to be built
//! again after every commit.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The files and folders that the command is made of, in the root of the repository.
const SOURCES: [&str; 7] = ["Cargo.lock", "Cargo.toml", "crates", "mpi", "papers", "programs", "src"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=LOGGP_COMMIT={}", commit());
}

/// Returns the commit, or the reason why it is not known.
fn commit() -> String {
    let package = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let package = Path::new(&package);
    if let Ok(packed) = fs::read_to_string(package.join(".cargo_vcs_info.json")) {
        return packed_commit(&packed).unwrap_or_else(unknown);
    }
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return "unknown, as in every build for development".into();
    }
    commit_of_repository(package).unwrap_or_else(unknown)
}

fn unknown() -> String {
    "unknown".into()
}

/// Reads the commit that `cargo package` wrote into a packed crate.
fn packed_commit(text: &str) -> Option<String> {
    let (_, after) = text.split_once("\"sha1\"")?;
    let commit = after.split('"').nth(1)?;
    let is_changed = text.split_once("\"dirty\"").is_some_and(|(_, after)| after.contains("true"));
    described(commit, is_changed)
}

/// Asks git for the commit, if the package lies in the project's own repository and in no other that holds it.
fn commit_of_repository(package: &Path) -> Option<String> {
    let root = package.join("../..").canonicalize().ok()?;
    let git = |arguments: &[&str]| {
        let run = Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        run.status.success().then(|| String::from_utf8_lossy(&run.stdout).trim().to_string())
    };
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != root {
        return None;
    }
    // The log of HEAD changes with every commit and every checkout.
    for file in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(&["rev-parse", "--git-path", file])?);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", root.join(source).display());
    }
    let status = [&["status", "--porcelain", "--"][..], &SOURCES].concat();
    described(&git(&["rev-parse", "HEAD"])?, !git(&status)?.is_empty())
}

fn described(commit: &str, is_changed: bool) -> Option<String> {
    let short = commit.get(..12).filter(|short| short.chars().all(|c| c.is_ascii_hexdigit()))?;
    Some(format!("{short}{}", if is_changed { " with changes" } else { "" }))
}
