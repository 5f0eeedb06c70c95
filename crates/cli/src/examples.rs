//! The examples at the end of the help of the command and of every subcommand. The tests run them all, in
//! this order and in one folder, so that one may read a file that another wrote.

use clap::Command;

const COMMAND_EXAMPLES: [&str; 2] = ["loggp run broadcast", "loggp compare scatter -P 8 --clock virtual"];

/// The subcommands with two examples each. The help of a program's own subcommand has others.
const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("run", ["loggp run fft", "loggp run lu --help"]),
    (
        "compare",
        [
            "loggp compare remap",
            "loggp compare scatter optimal binomial -P 16 --clock virtual -o scatter.csv",
        ],
    ),
    (
        "sweep",
        [
            "loggp sweep broadcast --over P=2,4,8 --shard 1/2 -o part1.csv",
            "loggp sweep scatter --over L=1us..100us:10 -P 8 -o scatter.svg",
        ],
    ),
    (
        "merge",
        [
            "loggp sweep broadcast --over P=2,4,8 --shard 2/2 -o part2.csv",
            "loggp merge part1.csv part2.csv -o all.csv",
        ],
    ),
    (
        "check",
        [
            "loggp check radix-sort -P 4 --size 64 --runs 200",
            "loggp check broadcast -P 3 --strategy systematic --params L=6,o=2,g=4",
        ],
    ),
    ("new", ["loggp new ring", "loggp new ./stencil"]),
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
    (
        "timeline",
        [
            "loggp timeline broadcast --params L=6,o=2,g=4 -o broadcast.html",
            "loggp timeline gauss.loggp --what-if S=65536 -o gauss.html",
        ],
    ),
    ("audit", ["loggp run scatter -P 8 --trace scatter.json", "loggp audit scatter.json"]),
    ("trace2goal", ["loggp trace2goal scatter.json", "loggp trace2goal scatter.json -o scatter.goal"]),
    // The files are in the project's folder examples/mpi.
    (
        "mpi2goal",
        [
            "loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt",
            "loggp mpi2goal jacobi-0.txt jacobi-1.txt jacobi-2.txt jacobi-3.txt -o jacobi.goal",
        ],
    ),
    (
        "reproduce",
        ["loggp reproduce --list", "loggp reproduce logp-fig3 --clock virtual -o figures -o figure-3.md"],
    ),
    ("completions", ["loggp completions bash", "loggp completions fish"]),
    ("man", ["loggp man", "loggp man -o ."]),
];

/// Adds examples to the help of the command and of its subcommands.
pub fn with_examples(command: Command) -> Command {
    let of_subcommand = |command: Command, (name, lines): &(&str, [&str; 2])| {
        command.mut_subcommand(name, |subcommand| add_examples(subcommand, *lines))
    };
    add_examples(EXAMPLES.iter().fold(command, of_subcommand), COMMAND_EXAMPLES)
}

fn add_examples(command: Command, lines: [&str; 2]) -> Command {
    let before = command.get_after_help().map(|help| format!("{}\n\n", help.ansi())).unwrap_or_default();
    command.after_help(format!("{before}Examples:\n  {}\n  {}", lines[0], lines[1]))
}
