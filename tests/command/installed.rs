//! Shell completions and the manual of an installed command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use loggp_programs::PROGRAMS;

use crate::requests::{folder, refusal, stdout_of};

const LOGGP: &str = env!("CARGO_BIN_EXE_loggp");

/// Returns the subcommands that the help lists.
fn subcommands() -> BTreeSet<String> {
    let help = stdout_of("--help");
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = list.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names: BTreeSet<String> = names.filter(|name| *name != "help").map(String::from).collect();
    assert!(["run", "compare", "man"].iter().all(|name| names.contains(*name)), "{help}");
    names
}

/// Returns the names of the files in a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_manual_has_a_page_for_every_subcommand() {
    let folder = folder("manual");
    fs::write(folder.join("loggp.1"), "an old page").unwrap();
    assert_eq!(stdout_of(&format!("man -o {}", folder.display())), "");
    let mut expected: BTreeSet<String> =
        subcommands().into_iter().map(|name| format!("loggp-{name}.1")).collect();
    expected.insert("loggp.1".into());
    let of_programs = PROGRAMS.iter().flat_map(|program| {
        ["run", "compare", "sweep", "tune", "check", "timeline"].map(|verb| (verb, program.name))
    });
    expected.insert("loggp-tune-collective.1".into());
    if cfg!(feature = "mpi") {
        expected.insert("loggp-check-mpi.1".into());
    }
    expected.extend(of_programs.map(|(verb, program)| format!("loggp-{verb}-{program}.1")));
    assert_eq!(files(&folder), expected);

    let page = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    assert_eq!(page("loggp.1"), stdout_of("man"));
    for name in subcommands() {
        assert_eq!(page(&format!("loggp-{name}.1")), stdout_of(&format!("man {name}")));
        assert!(page("loggp.1").contains(&format!("loggp\\-{name}(1)")), "{name}");
        assert!(page(&format!("loggp-{name}.1")).contains(".SH SYNOPSIS"), "{name}");
    }
    assert_eq!(page("loggp-run-lu.1"), stdout_of("man run lu"));
    assert!(page("loggp-run-lu.1").contains("\\-\\-params"));
    assert!(!page("loggp-run-lu.1").contains("\\-\\-alpha"), "it is scatter's");
}

#[test]
fn pages_are_written_all_or_none() {
    let folder = folder("half-a-manual");
    fs::create_dir(folder.join("loggp-sweep.1")).unwrap();
    let why = refusal(&format!("man -o {}", folder.display()));
    assert!(why.contains("loggp-sweep.1: it is not a file; give the name of one"), "{why}");
    assert_eq!(files(&folder), BTreeSet::from(["loggp-sweep.1".into()]));

    let why = refusal(&format!("man -o {}", folder.join("not-there").display()));
    assert!(why.contains("its folder is not there; give one that is"), "{why}");
}

#[test]
fn every_shell_completes_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout_of(&format!("completions {shell}"));
        for name in subcommands() {
            let about = match shell {
                "bash" => format!("loggp,{name})"),
                "elvish" => format!("&'loggp;{name}'="),
                "fish" => format!("-a \"{name}\""),
                "powershell" => format!("'loggp;{name}'"),
                _ => format!("({name})"),
            };
            assert!(script.contains(&about), "{shell} does not know {name}");
        }
    }
}

/// Returns bash's completions of the last word of a line.
#[cfg(unix)]
fn bash_completions(line: &str) -> BTreeSet<String> {
    const SCRIPT: &str = r#"
        source <("$0" completions bash) || exit
        IFS=' ' read -ra COMP_WORDS <<< "$1"
        [[ "$1" == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _loggp loggp "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let Output { status, stdout, stderr } =
        Command::new("bash").args(["--norc", "-c", SCRIPT, LOGGP, line]).output().unwrap();
    assert!(status.success(), "{line}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().lines().map(String::from).collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_subcommands_options_and_the_names_of_things() {
    for (line, whole) in [
        ("loggp compl", "completions"),
        ("loggp run scat", "scatter"),
        ("loggp run scatter binom", "binomial"),
        ("loggp compare fft --mach", "--machine"),
        ("loggp compare fft --machine cs2-sp", "cs2-splitc"),
        ("loggp run scatter --clock v", "virtual"),
        ("loggp schedule dissem", "dissemination"),
        ("loggp matrix figure-11", "figure-11"),
        ("loggp stress burs", "bursts"),
        ("loggp completions powers", "powershell"),
        ("loggp man trace", "trace2goal"),
    ] {
        assert_eq!(bash_completions(line), BTreeSet::from([whole.into()]), "{line}");
    }
    assert!(subcommands().is_subset(&bash_completions("loggp ")));
    assert!(subcommands().is_subset(&bash_completions("loggp man ")));
    assert!(!stdout_of("run --help").contains("possible values: broadcast"));
}
