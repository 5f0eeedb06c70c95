//! `loggp new`: the package that it makes, and the requests that it refuses.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

use loggp::{RunError, Time, US, Work};
use loggp_command::annex::Annex;
use loggp_programs::option::WholeNumber;
use loggp_programs::{
    Algorithm, Case, ClosedForm, Emulation, FormKind, Opt, Outcome, Plan, PlanResult, Predict, Program, Size,
    refuse,
};

use crate::documents::{ShownCommand, commands_of};
use crate::requests::answer_of;

/// The program of the package. Its tests run with these.
#[allow(dead_code, unreachable_pub)] // it is the main file of a package
#[path = "../../crates/command/src/commands/about/new/template.rs"]
mod template;

/// Returns an empty folder outside of the repository.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn new_package(beside: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loggp")).arg("new").args(words).current_dir(beside).output().unwrap()
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    for path in [&["--path", root.to_str().unwrap()][..], &[]] {
        let beside = folder();
        let Output { status, stdout, stderr } = new_package(beside.path(), &[&["stencil"], path].concat());
        assert_eq!((status.code(), String::from_utf8(stderr).unwrap().as_str()), (Some(0), ""));
        let next = "\n\n  cd stencil\n  cargo test\n  cargo run -- compare stencil P=8 L=6us o=2us g=4us\n";
        assert!(String::from_utf8(stdout).unwrap().ends_with(next));
        let package = beside.path().join("stencil");
        let named = [".gitignore", "Cargo.toml", "src", "src/main.rs"].map(|name| package.join(name));
        assert_eq!(files(beside.path()), [vec![package.clone()], named.to_vec()].concat());
        let program = fs::read_to_string(package.join("src/main.rs")).unwrap();
        assert!(program.contains("    name: \"stencil\",\n") && !program.contains("my-sum"), "{program}");

        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        assert!(manifest.starts_with("[package]\nname = \"stencil\"\n"), "{manifest}");
        let crates: Vec<PathBuf> = manifest
            .lines()
            .filter_map(|line| Some(line.split_once("path = \"")?.1.strip_suffix("\" }")?.into()))
            .collect();
        assert!(crates.len() == 4 && crates.contains(&root.join("crates/command")), "{manifest}");
        assert!(crates.iter().all(|path| path.join("src/lib.rs").is_file()), "{manifest}");
    }
}

#[test]
fn a_wrong_package_is_refused() {
    let beside = folder();
    fs::create_dir(beside.path().join("there")).unwrap();
    fs::write(beside.path().join("file"), "").unwrap();
    let before = files(beside.path());
    let is_there = "no package can be made in there: it is there already; give another name";
    for (words, why) in [
        (&["there"][..], is_there),
        (&["file"], "no package can be made in file: it is there already; give another name"),
        (&["no/a"], "no package can be made in no/a: the folder for it is not there; give one that is"),
        (&["file/a"], "no package can be made in file/a: the folder for it is not there; give one that is"),
        (&[".."], "the folder has no name that a package can have; give one, such as my-sum"),
        (
            &["a", "--path", "there"],
            "--path there: no clone of loggp is there; give the folder with its README.md",
        ),
    ] {
        let Output { status, stdout, stderr } = new_package(beside.path(), words);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(
            (status.code(), stdout.len(), stderr),
            (Some(2), 0, format!("error: {why}\n")),
            "{words:?}"
        );
    }
    let letters = "it must begin with a letter, and have only letters a to z, digits, - and _";
    for (name, why) in [
        ("2d", letters),
        ("a b", letters),
        ("deps", "Cargo has a folder of that name"),
        ("test", "a crate of Rust's own is called so"),
        ("fn", "it is a keyword of Rust"),
        ("loggp-study", "loggp's own crates are called so"),
        ("scatter", "the command has a program of that name"),
        ("collective", "the command has a program of that name"),
    ] {
        let Output { status, stderr, .. } = new_package(beside.path(), &[name]);
        let said = format!("error: {name} cannot be the name of a package: {why}; my-sum would do\n");
        assert_eq!((status.code(), String::from_utf8(stderr).unwrap()), (Some(2), said));
    }
    assert_eq!(files(beside.path()), before);
}

static OWN: Annex = Annex { programs: &[&template::SUM, &WRONG_SUM, &WITH_SEED, &FLIP], ..Annex::EMPTY };

/// The words of a command with the package's program, for a process of its own: it ends with the command.
const WORDS: &str = "LOGGP_TEST_WORDS";

#[test]
fn own_command() {
    if let Ok(words) = env::var(WORDS) {
        println!("{WORDS}");
        let words = ["my-sum"].into_iter().chain(words.split_whitespace());
        process::exit(loggp_command::main_with(&[OWN], words).into());
    }
}

/// Runs the command with the package's program, and returns its exit status, stdout and stderr.
fn own_answer(line: &str, folder: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["new::own_command", "--exact", "--nocapture"]).current_dir(folder);
    command.env(WORDS, line).env("CARGO", "cargo").env("COLUMNS", "100");
    let (status, stdout, stderr) = answer_of(command);
    (status, stdout.split_once(&format!("{WORDS}\n")).unwrap().1.into(), stderr)
}

/// The template's path, as the compiler gets it here.
const TEMPLATE: &str =
    "crates/cli/../../tests/command/../../crates/command/src/commands/about/new/template.rs";

/// The page about one's own program shows the program as it is, and what the command prints of it.
#[test]
fn page_shows_the_package_and_its_command() {
    let page = include_str!("../../docs/start/programs.md");
    let program = include_str!("../../crates/command/src/commands/about/new/template.rs");
    assert!(page.contains(&format!("```rust,no_run\n{program}```\n")), "the page has another program");
    let folder = folder();
    let mut verbs = Vec::new();
    for ShownCommand { line, printed, .. } in commands_of(page, "cargo run -- ") {
        let (status, stdout, stderr) = own_answer(&line["cargo run -- ".len()..], folder.path());
        let said = if status == Some(0) { [stderr, stdout] } else { [stdout, stderr] };
        let said = said.concat().replace(TEMPLATE, "src/main.rs");
        assert!(status == Some(0) || line.contains(" check "), "{line}: {said}");
        if let Some(printed) = printed {
            assert_eq!(said.trim_end(), printed.trim_end(), "{line}");
        }
        verbs.push(line.split_whitespace().nth(3).unwrap().to_string());
    }
    for verb in ["run", "compare", "sweep", "tune", "check", "help", "programs"] {
        assert!(verbs.iter().any(|shown| shown == verb), "{verb} is not shown");
    }
}

#[test]
fn own_program_is_everywhere_among_the_papers() {
    let folder = folder();
    let answer = |line: &str| {
        let (status, stdout, stderr) = own_answer(line, folder.path());
        assert_eq!(status, Some(0), "{line}: {stderr}");
        stdout
    };
    assert!(answer("programs").starts_with("my-sum: processor 0 gets the sum of n numbers\n"));
    assert!(answer("programs").contains("\n\nscatter: "));
    assert!(answer("completions bash").contains(" my-sum\n"));
    let help = answer("help my-sum");
    assert!(help.contains("\nUsage: cargo run -- run my-sum "), "{help}");
    assert!(help.contains("\n  cargo run -- run my-sum tree --machine myrinet"), "{help}");
    assert!(answer("sweep --help").contains("\n  cargo run -- sweep broadcast --over P=2,4,8"));
    assert!(answer("timeline my-sum P=4 -o a.html").contains("a.html"));
    let (status, _, stderr) = own_answer("run my-smu", folder.path());
    assert_eq!(status, Some(2));
    assert!(stderr.contains("the nearest name is my-sum; `cargo run -- programs` lists all"), "{stderr}");
}

/// A map leaves out what the program refuses, and is drawn of the rest.
#[test]
fn map_leaves_out_what_the_program_refuses() {
    let folder = folder();
    let line = "sweep my-sum --over P=2..5:4 --over L=1us..100us:3 o=2us g=4us --size 16 -o map.svg";
    let (status, stdout, stderr) = own_answer(line, folder.path());
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("flat") && stdout.contains("tree"), "{stdout}");
    let refused = "left out: my-sum tree, flat: 16 numbers cannot be shared equally by P = ";
    assert!(stderr.contains(&format!("{refused}3")) && stderr.contains(&format!("{refused}5")), "{stderr}");
    assert!(fs::read_to_string(folder.path().join("map.svg")).unwrap().starts_with("<svg"));
}

/// The package's program with a formula that says to be exact, and is not.
static WRONG_SUM: Program = Program {
    name: "wrong-sum",
    about: "as my-sum",
    algorithms: &[Algorithm {
        name: "flat",
        about: "as that of my-sum",
        formula: ClosedForm::Ours("a microsecond"),
        plan: |case| Ok(Box::new(WrongSum((template::SUM.algorithms[1].plan)(case)?))),
    }],
    size: Size { meaning: "n", default: 16 },
    options: &[],
    work: Work::Charged,
};

struct WrongSum<'a>(Box<dyn Plan + 'a>);

impl Predict for WrongSum<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        Some((FormKind::Exact, US))
    }
}

impl Plan for WrongSum<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        self.0.run(emulation)
    }
}

/// A program whose algorithms take turns in being the fastest. The third is the first again.
static FLIP: Program = Program {
    name: "flip",
    about: "",
    algorithms: &[flip("even"), flip("odd"), flip("even-again")],
    size: Size { meaning: "n", default: 1 },
    options: &[],
    work: Work::Charged,
};

const fn flip(name: &'static str) -> Algorithm {
    let plan: fn(&Case) -> PlanResult = |case| match (case.params.P, case.algorithm.name) {
        (5, "even" | "even-again") => refuse!("it is no number for this"),
        _ => Ok(Box::new(Flip(case))),
    };
    Algorithm { name, about: "", formula: ClosedForm::None("it is none"), plan }
}

struct Flip<'a>(&'a Case);

impl Predict for Flip<'_> {
    fn form(&self) -> Option<(FormKind, Time)> {
        None
    }
}

impl Plan for Flip<'_> {
    fn run(&self, emulation: &Emulation) -> Result<Outcome, RunError> {
        let (P, name) = (self.0.params.P, self.0.algorithm.name);
        let cycles = match (P, name == "odd") {
            (6, _) => 1,
            (9, _) => 3,
            (P, is_odd) if P.is_multiple_of(2) == is_odd => 3,
            _ => 1,
        };
        let run = self.0.machine(emulation).measure(|p| p.work("wait", cycles, || ()))?;
        Ok(Outcome::new(run, Ok(())))
    }
}

/// The sentences below a sweep say of each point what its table says, also where the winner changes at each, several are
/// equal, or some cannot run.
#[test]
fn sentences_of_a_sweep_are_those_of_its_table() {
    let said = |over: &str| {
        let line = format!("sweep flip --over {over} L=6us o=2us g=4us");
        let (status, stdout, stderr) = own_answer(&line, folder().path());
        assert_eq!(status, Some(0), "{stderr}");
        stdout
            .rsplit("no formula for even, odd, even-again: it is none\n")
            .next()
            .unwrap()
            .trim_start()
            .to_string()
    };
    let left_out = "even-again takes the same time as even at every point: even stands for both\n";
    assert_eq!(
        said("P=2..9:8"),
        format!(
            "\
even is the fastest at P = 2
odd is the fastest at P = 3
even is the fastest at P = 4
odd is the fastest at P = 5; not compared is even: it is no number for this
even and odd are equally fast at P = 6
odd is the fastest at P = 7
even is the fastest at P = 8
even and odd are equally fast at P = 9
{left_out}"
        )
    );
    // Of the values between 4 and 6 nothing is known, and those between 6 and 8 are found.
    let expected = "\
even is the fastest up to P = 4
even and odd are equally fast at P = 6
odd is the fastest at P = 7
even is the fastest at P = 8
";
    assert_eq!(said("P=2,4,6,8"), format!("{expected}{left_out}"));
    assert_eq!(said("P=2,4,8"), left_out);
}

/// An algorithm that takes the same time as another everywhere has no part in a map.
#[test]
fn map_leaves_out_what_is_the_same_as_another() {
    let folder = folder();
    let line = "sweep flip --over P=2,3,4 --over L=1us,2us o=2us g=4us -o map.svg";
    let (status, stdout, stderr) = own_answer(line, folder.path());
    assert_eq!(status, Some(0), "{stderr}");
    let svg = fs::read_to_string(folder.path().join("map.svg")).unwrap();
    let left_out = "even-again takes the same time as even at every point: even stands for both";
    assert!(stdout.contains("\na  even       4 of 6 points\nb  odd        2 of 6 points\n\n"), "{stdout}");
    assert!(stdout.contains(left_out) && svg.contains(left_out) && !stdout.contains("a=c"), "{stdout}");
}

/// An option that the command has too, and so the program cannot.
static SEED: Opt<usize> = Opt::new("seed", "N", "a seed of its own", 1, &WholeNumber(1..=9));

static WITH_SEED: Program = Program {
    name: "with-seed",
    about: "",
    algorithms: WRONG_SUM.algorithms,
    size: Size { meaning: "n", default: 16 },
    options: &[&SEED],
    work: Work::Charged,
};

#[test]
fn option_that_the_command_has_is_refused() {
    let (status, _, stderr) = own_answer("run with-seed P=2", folder().path());
    assert_eq!(status, Some(2), "{stderr}");
    let why =
        "error: the program with-seed has an option --seed, and so has the command; give it another name";
    assert!(stderr.starts_with(why), "{stderr}");
}

/// A check whose machine is given in cycles tells its failure in cycles too.
#[test]
fn failure_is_told_in_the_unit_of_the_heading() {
    let folder = folder();
    for (times, waited) in [("L=60 o=2 g=4", "at 266 waited"), ("L=60us o=2us g=4us", "at 266 us waited")] {
        let line = format!("check my-sum flat P=4 {times} --losses 1");
        let (status, stdout, _) = own_answer(&line, folder.path());
        assert_eq!(status, Some(1), "{stdout}");
        assert!(stdout.contains(&format!("\n  processor 0 {waited} for a message")), "{stdout}");
        let again = stdout.trim_end().rsplit("\n  cargo run -- ").next().unwrap();
        let (_, _, stderr) = own_answer(again, folder.path());
        assert!(stderr.contains(&format!("\n  processor 0 {waited} for a message")), "{again}: {stderr}");
    }
}

/// A package can have what this build leaves out, by a word of its user.
#[test]
#[cfg(not(feature = "pictures"))]
fn package_is_told_how_it_gets_pictures() {
    let (status, _, stderr) = own_answer("run my-sum P=2 -o sum.pdf", folder().path());
    let advice = "build your package with them: `cargo run --features loggp-command/pictures -- ...`, or write sum.svg";
    assert!(status == Some(2) && stderr.contains(advice), "{stderr}");
}

/// The run that a check finds is kept, whatever the next check finds.
#[test]
fn checks_do_not_replace_each_others_runs() {
    let folder = folder();
    let kept = |P: usize| {
        let line = format!("check my-sum flat P={P} L=60us o=2us g=4us --losses 1");
        let (status, stdout, _) = own_answer(&line, folder.path());
        assert_eq!(status, Some(1), "{stdout}");
        stdout.trim_end().rsplit(' ').next().unwrap().to_string()
    };
    assert_eq!([4, 8, 4].map(kept), ["", "-2", ""].map(|n| format!("my-sum-flat-failed{n}.json")));
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn formula_that_is_not_exact_is_told() {
    let line = "compare wrong-sum P=2 L=6us o=2us g=4us --clock virtual";
    let (_, stdout, stderr) = own_answer(line, folder().path());
    let note = "formula of flat: exact (ours); but the model takes +1,800.00%, so the formula or the program has a mistake";
    assert!(stdout.contains(note), "{stdout}{stderr}");
    let (_, stdout, stderr) = own_answer("tune wrong-sum P=2 L=6us o=2us g=4us", folder().path());
    assert!(stdout.contains(note), "{stdout}{stderr}");
}

#[test]
fn of_many_refusals_some_are_told() {
    let line = "sweep my-sum --over P=4 --over size=1..40:40 L=6us o=2us g=4us";
    let (status, _, stderr) = own_answer(line, folder().path());
    assert_eq!((status, stderr.lines().count()), (Some(0), 9), "{stderr}");
    assert!(stderr.ends_with("left out: 22 more cases\n"), "{stderr}");
}

/// A program that cannot be in the command is refused with a sentence.
#[test]
fn wrong_programs_are_refused() {
    const SUM: Program = Program {
        name: "sum",
        about: "",
        algorithms: &[],
        size: Size { meaning: "", default: 1 },
        options: &[],
        work: Work::Charged,
    };
    static NAMESAKE: Program = Program { name: "lu", ..SUM };
    static EMPTY: Program = SUM;
    static NAMESAKES: Annex = Annex { programs: &[&NAMESAKE], ..Annex::EMPTY };
    static EMPTIES: Annex = Annex { programs: &[&EMPTY], ..Annex::EMPTY };
    for annex in [NAMESAKES, EMPTIES] {
        assert_eq!(loggp_command::main_with(&[annex], ["own"]), 2);
    }
}

/// Builds and runs the package as a user would. Cargo may download dependencies.
#[test]
#[ignore = "builds from nothing for two minutes"]
fn a_new_package_passes_its_tests_and_has_the_command() {
    let beside = folder();
    assert!(new_package(beside.path(), &["stencil"]).status.success());
    let package = beside.path().join("stencil");
    for line in ["test", "run -- compare stencil P=8 L=6us o=2us g=4us --clock virtual"] {
        let output = Command::new(env!("CARGO"))
            .args(line.split(' '))
            .current_dir(&package)
            .env("CARGO_TARGET_DIR", package.join("target"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
        assert!(!stderr.contains("warning"), "{line}: {stderr}");
    }
}
