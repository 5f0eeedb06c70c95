//! What the help of every subcommand ends with: two requests that can be made of it. The tests make them all, in this order
//! and in one folder, so that one may read what another wrote.

use clap::Command;

/// The subcommands but those that have one for each program, and two requests of each.
const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("programs", ["loggp programs", "loggp run lu --help"]),
    ("machines", ["loggp machines", "loggp machines --topology -P 64,1k"]),
    (
        "calibrate",
        [
            "loggp calibrate --machine cs2-elan --clock virtual",
            "loggp calibrate --machine myrinet --find loggps --clock virtual -o trips.svg",
        ],
    ),
    (
        "stress",
        [
            "loggp stress all-to-one --machine cm5 -P 8 --load 4 --clock virtual",
            "loggp stress steady --rate 0.5,0.9 -P 8 --load 16 --clock virtual -o latency.svg",
        ],
    ),
    (
        "matrix",
        ["loggp matrix figure-1", "loggp matrix skewed --fan-out 8 --skew 1/8 -o skewed.svg -o skewed.csv"],
    ),
    (
        "schedule",
        ["loggp schedule ring -P 8 --size 64", "loggp schedule dissemination -P 64 -o dissemination.goal"],
    ),
    (
        "replay",
        [
            "loggp replay dissemination.goal --machine cs2-elan",
            "loggp replay ring -P 1k --size 64 --params L=6us,o=2us,g=4us,G=0",
        ],
    ),
    (
        "analyze",
        [
            "loggp run gauss --machine myrinet -P 4 --size 64 --work charged --trace gauss.loggp",
            "loggp analyze gauss.loggp --what-if S=65536 -o where.svg",
        ],
    ),
    ("audit", ["loggp run scatter -P 8 --trace scatter.json", "loggp audit scatter.json"]),
    ("trace2goal", ["loggp trace2goal scatter.json", "loggp trace2goal scatter.json -o scatter.goal"]),
    (
        "reproduce",
        ["loggp reproduce --list", "loggp reproduce logp-fig3 --clock virtual -o figures -o figure-3.md"],
    ),
    ("completions", ["loggp completions bash", "loggp completions fish"]),
    ("man", ["loggp man", "loggp man -o ."]),
];

/// The command, whose subcommands' helps end with examples.
pub fn with_examples(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (name, lines)| {
        command.mut_subcommand(name, |subcommand| {
            let before = subcommand.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
            subcommand.after_help(format!("{before}Examples:\n  {}\n  {}", lines[0], lines[1]))
        })
    })
}
