//! `loggp new`: makes a package outside the repository, with a complete program in it.

use std::fs;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::json;

use crate::error::CliError;
use crate::host::interrupt;

/// The program of the package. The tests of the command build it and run its tests.
const PROGRAM: &str = include_str!("template.rs");

/// The crates that the package uses, and their folders in the repository.
const CRATES: [(&str, &str); 3] =
    [("loggp", "."), ("loggp-programs", "programs"), ("loggp-study", "crates/study")];

/// Names that Cargo refuses for a program, because its own folders have them.
const FOLDERS: [&str; 4] = ["build", "deps", "examples", "incremental"];

/// Make a package of your own, with a program, its formula, its verification and its tests
#[derive(Args)]
#[command(after_help = "Examples:
  loggp new ring
  loggp new ./stencil")]
pub(crate) struct NewCommand {
    /// The folder that is made; its last part is the name of the package
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

impl NewCommand {
    /// Makes the package, completely or not at all.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let folder = &self.folder;
        let name = package_name(folder)?;
        let refuse =
            |why: &str| CliError::Request(format!("no package can be made in {}: {why}", folder.display()));
        if folder.symlink_metadata().is_ok() {
            return Err(refuse("it is there already; give another name"));
        }
        let beside =
            folder.parent().filter(|beside| !beside.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !beside.is_dir() {
            return Err(refuse("the folder for it is not there; give one that is"));
        }
        {
            // While the lock is held, the command is not interrupted.
            let _drafts = interrupt::drafts();
            write_package(folder, beside, name).map_err(|error| refuse(&error.to_string()))?;
        }
        Ok(writeln!(
            out,
            "{0} has a program, its formula, its verification and its tests: src/main.rs explains them\n\n  \
             cd {0}\n  cargo test\n  cargo run",
            folder.display()
        )?)
    }
}

/// Returns the name of the package. Refuses a name that Cargo does not accept.
fn package_name(folder: &Path) -> Result<&str, CliError> {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
        return Err(CliError::request(
            "the folder has no name that a package can have; give one, such as ring",
        ));
    };
    let refuse = |why: &str| Err(CliError::Request(format!("{name} cannot be the name of a package: {why}")));
    let is_of_letters = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !is_of_letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        refuse("it must begin with a letter, and have only letters a to z, digits, - and _; ring would do")
    } else if FOLDERS.contains(&name) {
        refuse("Cargo has a folder of that name; give another, such as ring")
    } else if name == "loggp" || name.starts_with("loggp-") {
        refuse("loggp's own crates are called so; give another, such as ring")
    } else {
        Ok(name)
    }
}

/// Writes the files into a temporary folder in `beside`, and renames it to `folder`.
fn write_package(folder: &Path, beside: &Path, name: &str) -> io::Result<()> {
    let mut draft = tempfile::Builder::new();
    draft.prefix(".loggp-new");
    #[cfg(unix)]
    draft.permissions(fs::Permissions::from_mode(0o777)); // the umask applies
    let draft = draft.tempdir_in(beside)?;
    let path = draft.path();
    fs::write(path.join("Cargo.toml"), manifest(name, repository()))?;
    fs::write(path.join(".gitignore"), "/target\n/ring.html\n/ring.json\n/ring.svg\n")?;
    fs::create_dir(path.join("src"))?;
    fs::write(path.join("src/main.rs"), PROGRAM)?;
    fs::rename(path, folder) // so that dropping the draft removes nothing
}

/// Returns the package's `Cargo.toml`, with the crates of the repository if there is one.
fn manifest(name: &str, repository: Option<PathBuf>) -> String {
    const REGISTRY: &str = "# From the registry. Where it has none of this version, clone the repository and write for each { path = \"its \
                            folder there\" }.";
    let (from, crates) = match repository {
        Some(root) => {
            // A JSON string is a TOML string too.
            let path = |place: &str| json!(root.join(place).components().collect::<PathBuf>());
            let line = |(name, place): (&str, &str)| format!("{name} = {{ path = {} }}\n", path(place));
            ("# From the repository from which the command loggp was built.", CRATES.map(line))
        }
        None => (REGISTRY, CRATES.map(|(name, _)| format!("{name} = \"{}\"\n", env!("CARGO_PKG_VERSION")))),
    };
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"{}\"\n\n\
         {from}\n[dependencies]\n{}\n\
         # A workspace of its own, so that it can also lie in the folder of another.\n[workspace]\n\n\
         # Built in less time than as Cargo would: the crates without what a debugger needs.\n\
         [profile.dev]\ndebug = \"line-tables-only\"\nincremental = false\n\n\
         [profile.dev.package.\"*\"]\ndebug = false\n",
        env!("CARGO_PKG_RUST_VERSION"),
        crates.concat()
    )
}

/// Returns the repository from which this command was built, if it is still there.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    let has = |(name, place): &(&str, &str)| {
        let manifest = fs::read_to_string(root.join(place).join("Cargo.toml"));
        manifest.is_ok_and(|manifest| manifest.contains(&format!("name = \"{name}\"\n")))
    };
    (root.to_str().is_some() && CRATES.iter().all(has)).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_without_a_repository_names_the_registry() {
        let written = manifest("ring", None);
        let version = env!("CARGO_PKG_VERSION");
        for (name, _) in CRATES {
            assert!(written.contains(&format!("\n{name} = \"{version}\"\n")), "{written}");
        }
        assert!(written.contains("\n# From the registry. ") && !written.contains("path = \"/"), "{written}");
    }
}
