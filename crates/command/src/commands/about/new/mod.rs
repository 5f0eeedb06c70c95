//! `loggp new`: makes a package outside the repository, with a complete program in it.

use std::fs;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::json;

use crate::ask::lookup::is_program;
use crate::error::CliError;
use crate::host::interrupt;

/// The program of the package. The tests of the command run its tests, and call its `main`.
const PROGRAM: &str = include_str!("template.rs");

/// The name of the program in it.
const TEMPLATE_NAME: &str = "my-sum";

/// The crates that the package uses, and their folders in the repository; those of its tests alone come last.
const CRATES: [(&str, &str); 4] = [
    ("loggp", "."),
    ("loggp-command", "crates/command"),
    ("loggp-programs", "programs"),
    ("loggp-study", "crates/study"),
];

/// Folders of Cargo's own, among the files that it builds.
const FOLDERS: [&str; 4] = ["build", "deps", "examples", "incremental"];

/// Crates of Rust's own.
const RUST_CRATES: [&str; 6] = ["alloc", "core", "proc-macro", "proc_macro", "std", "test"];

/// Rust's keywords, those that it keeps for later too.
const KEYWORDS: &str = "Self abstract as async await become box break const continue crate do dyn else enum extern false final fn \
                        for gen if impl in let loop macro match mod move mut override priv pub ref return self static \
                        struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// Make a package of your own: a program that all subcommands know, with its formula, its verification and its tests
#[derive(Args)]
#[command(after_help = "Examples:
  loggp new my-sum
  loggp new ./stencil")]
pub(crate) struct NewCommand {
    /// The folder that is made; its last part is the name of the package and of its program
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// A clone of loggp, whose crates the package takes [default: the repository or the registry that this command is from]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    path: Option<PathBuf>,
}

impl NewCommand {
    /// Makes the package, completely or not at all.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let folder = &self.folder;
        let name = package_name(folder)?;
        let origin = self.origin()?;
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
            write_package(folder, beside, name, &origin).map_err(|error| refuse(&error.to_string()))?;
        }
        Ok(writeln!(
            out,
            "{0} has a program called {name}, with its formula, its verification and its tests; `cargo run --` takes the place of \
             `loggp` there\n\n  cd {0}\n  cargo test\n  cargo run -- compare {name} P=8 L=6us o=2us g=4us",
            folder.display()
        )?)
    }

    /// Returns where the package has its crates from.
    fn origin(&self) -> Result<CrateSource, CliError> {
        Ok(match (&self.path, clone(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")), REPOSITORY) {
            (Some(path), ..) => CrateSource::Clone(clone(path).ok_or_else(|| {
                CliError::Request(format!(
                    "--path {}: no clone of loggp is there; give the folder with its README.md",
                    path.display()
                ))
            })?),
            (None, None, _) => CrateSource::Registry,
            (None, Some(clone), "") => CrateSource::Clone(clone),
            (None, Some(_), repository) => CrateSource::Git(repository),
        })
    }
}

/// Returns the name of the package. Refuses a name that Cargo does not accept, and one that a program of the command has.
fn package_name(folder: &Path) -> Result<&str, CliError> {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
        return Err(CliError::request(
            "the folder has no name that a package can have; give one, such as my-sum",
        ));
    };
    let is_of_letters = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let why = if !is_of_letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        "it must begin with a letter, and have only letters a to z, digits, - and _"
    } else if FOLDERS.contains(&name) {
        "Cargo has a folder of that name"
    } else if RUST_CRATES.contains(&name) {
        "a crate of Rust's own is called so"
    } else if KEYWORDS.split_whitespace().any(|keyword| keyword == name) {
        "it is a keyword of Rust"
    } else if name == "loggp" || name.starts_with("loggp-") {
        "loggp's own crates are called so"
    } else if is_program(name) {
        "the command has a program of that name"
    } else {
        return Ok(name);
    };
    Err(CliError::Request(format!("{name} cannot be the name of a package: {why}; my-sum would do")))
}

/// Writes the files into a temporary folder in `beside`, and renames it to `folder`.
fn write_package(folder: &Path, beside: &Path, name: &str, origin: &CrateSource) -> io::Result<()> {
    let mut draft = tempfile::Builder::new();
    draft.prefix(".loggp-new");
    #[cfg(unix)]
    draft.permissions(fs::Permissions::from_mode(0o777)); // the umask applies
    let draft = draft.tempdir_in(beside)?;
    let path = draft.path();
    fs::write(path.join("Cargo.toml"), manifest(name, origin))?;
    fs::write(path.join(".gitignore"), "/target\n")?;
    fs::create_dir(path.join("src"))?;
    fs::write(path.join("src/main.rs"), PROGRAM.replace(TEMPLATE_NAME, name))?;
    fs::rename(path, folder) // so that dropping the draft removes nothing
}

/// Where a package has the crates from.
enum CrateSource {
    /// A clone of the repository.
    Clone(PathBuf),
    /// The repository at this address.
    Git(&'static str),
    Registry,
}

/// The address of the repository; empty while it has none.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

impl CrateSource {
    /// Returns what a package depends on for the crate in this folder of the repository, as TOML.
    fn dependency(&self, place: &str) -> String {
        // A JSON string is a TOML string too.
        match self {
            CrateSource::Clone(root) => {
                format!("{{ path = {} }}", json!(root.join(place).components().collect::<PathBuf>()))
            }
            CrateSource::Git(address) => format!("{{ git = {} }}", json!(address)),
            CrateSource::Registry => json!(env!("CARGO_PKG_VERSION")).to_string(),
        }
    }
}

/// Returns the package's `Cargo.toml`.
fn manifest(name: &str, origin: &CrateSource) -> String {
    let lines = CRATES.map(|(name, place)| format!("{name} = {}\n", origin.dependency(place)));
    let [crates @ .., of_tests] = &lines;
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"{}\"\n\n\
         [dependencies]\nfastrand = \"2\"\n{}\n[dev-dependencies]\n{of_tests}\n\
         # A workspace of its own, so that it can also lie in the folder of another.\n[workspace]\n\n\
         # Built in less time than as Cargo would: the crates without what a debugger needs.\n\
         [profile.dev]\ndebug = \"line-tables-only\"\nincremental = false\n\n\
         [profile.dev.package.\"*\"]\ndebug = false\n",
        env!("CARGO_PKG_RUST_VERSION"),
        crates.concat()
    )
}

/// Returns the path of a clone of the repository, if one is there.
fn clone(root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
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
    fn manifest_names_the_registry_or_the_repository() {
        let written = manifest("my-sum", &CrateSource::Registry);
        let version = env!("CARGO_PKG_VERSION");
        for (name, _) in CRATES {
            assert!(written.contains(&format!("\n{name} = \"{version}\"\n")), "{written}");
        }
        let of_git = manifest("my-sum", &CrateSource::Git("https://host/loggp"));
        assert!(of_git.contains("\nloggp-command = { git = \"https://host/loggp\" }\n"), "{of_git}");
        assert!(!of_git.contains("path = "), "{of_git}");
    }
}
