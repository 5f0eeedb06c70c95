//! `loggp tune` as a user meets it.

use serde_json::Value;

use crate::requests::{answer, assert_refused, row, rows, stdout_of};

fn time(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"))
}

/// Returns the least time by the model that each algorithm takes in these comparisons, from the fastest.
fn least_times(lines: impl IntoIterator<Item = String>) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    for row in lines.into_iter().flat_map(|line| rows(&format!("compare {line} --clock virtual"))) {
        let (name, time) = (row["algorithm"].as_str().unwrap().to_string(), time(&row, "model_ns"));
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, least)) => *least = least.min(time),
            None => all.push((name, time)),
        }
    }
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all
}

/// The list equals the comparisons of all choices, and the command of each row takes as long as it says.
#[test]
fn the_fastest_comes_first_with_its_best_options() {
    let radices = (1..=16).map(|bits| format!(" --radix {bits}"));
    let ratios = (1..20).map(|part| format!(" fixed --alpha {}", f64::from(part) / 20.0));
    let grids = ["1x4", "2x2", "4x1"].iter().flat_map(|grid| {
        [1, 2, 4, 8].map(|block| format!(" grid-cyclic grid-blocked --grid {grid} --block {block}"))
    });
    for (line, choices) in [
        ("broadcast -P 8 --params L=6,o=2,g=4", vec![String::new()]),
        ("radix-sort -P 4 --size 64 --machine cm5", radices.collect()),
        (
            "scatter -P 9 --size 7 --params L=5us,o=1us,g=2us",
            [String::new()].into_iter().chain(ratios).collect(),
        ),
        ("lu grid-cyclic grid-blocked -P 4 --size 8", grids.collect()),
    ] {
        let tuned = rows(&format!("tune {line}"));
        let program = line.split(' ').next().unwrap();
        let options = line.strip_prefix(program).unwrap().replace("grid-cyclic grid-blocked ", "");
        let least = least_times(choices.iter().map(|choice| format!("{program}{choice}{options}")));
        let times: Vec<f64> = tuned.iter().map(|row| time(row, "time_ns")).collect();
        assert_eq!(times, least.iter().map(|(_, time)| *time).collect::<Vec<_>>(), "{line}");
        for tuned in &tuned {
            let name = tuned["algorithm"].as_str().unwrap();
            assert!(least.contains(&(name.into(), time(tuned, "time_ns"))), "{line}: {tuned}");
            let slower = time(tuned, "time_ns") / times[0] - 1.0;
            assert!((time(tuned, "slower") - slower).abs() < 1e-9, "{tuned}");
            let command = tuned["command"].as_str().unwrap().strip_prefix("loggp ").unwrap();
            assert_eq!(row(command)["model_ns"], tuned["time_ns"], "{command}");
        }
    }
}

/// With `--all` every choice is listed, and formulas stand for runs only where they are exact.
#[test]
fn every_choice_is_listed_if_asked_for() {
    let all = rows("tune scatter fixed -P 8 --all");
    assert_eq!(all.len(), 19);
    let (run, believed): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|row| row["model_ns"].is_number());
    assert_eq!((run.len(), believed.len()), (2, 17));
    for tuned in believed {
        let command = tuned["command"].as_str().unwrap().strip_prefix("loggp ").unwrap();
        assert_eq!(row(command)["model_ns"], tuned["time_ns"], "{command}");
    }
    let sort = rows("tune radix-sort -P 4 --size 64 --all");
    assert!(sort.len() == 32 && sort.iter().all(|row| row["model_ns"].is_number()));
}

#[test]
fn what_is_given_stays() {
    let tuned = rows("tune radix-sort short -P 4 --size 64 --radix 3 --all");
    assert_eq!((tuned.len(), &tuned[0]["choices"]), (1, &Value::Null));
    let command = tuned[0]["command"].as_str().unwrap();
    assert_eq!(command, "loggp run radix-sort short -P 4 --size 64 --radix 3");
    // An option of an algorithm that is not the fastest is no part of the fastest one's command.
    let best = stdout_of("tune scatter --alpha 0.3 -P 8");
    assert!(best.ends_with("\n  loggp run scatter optimal -P 8\n"), "{best}");
}

#[test]
fn a_table_says_who_is_the_fastest() {
    assert_eq!(
        stdout_of("tune broadcast -P 8 --params L=6,o=2,g=4"),
        "\
broadcast: L = 6, o = 2, g = 4, G = 4, P = 8, word = 8 bytes (a cycle is 1 us)
size 1 (words of the datum), virtual clock, times in cycles

algorithm  formula  model  slower by
optimal         24     24     +0.00%
levels          24     24     +0.00%
binomial        30     30    +25.00%
binary          30     30    +25.00%
flat            34     34    +41.67%

optimal and levels are equally fast; next comes binomial, which takes 25.00% longer

  loggp run broadcast optimal -P 8 --params L=6,o=2,g=4
"
    );
}

/// Each way to do a collective takes as long as `replay` says.
#[test]
fn collectives_are_tuned() {
    for line in [
        "bcast -P 9 --size 5000 --params L=6us,o=2us,g=4us,G=0.1us",
        "allreduce -P 8 --size 4k --machine myrinet --ports dual",
        "barrier -P 6",
    ] {
        let best = rows(&format!("tune collective {line}"));
        let all = rows(&format!("tune collective {line} --all"));
        let times: Vec<f64> = all.iter().map(|row| time(row, "time_ns")).collect();
        assert!(times.is_sorted() && all.len() >= best.len() && all[0] == best[0], "{line}");
        for tuned in &all {
            let command = tuned["command"].as_str().unwrap().strip_prefix("loggp ").unwrap();
            assert_eq!(row(command)["time_ns"], tuned["time_ns"], "{command}");
        }
        // Each algorithm is listed with the options that are best for it.
        let algorithm =
            |row: &Value| row["schedule"].as_str().unwrap().split([':', '/']).nth(1).unwrap().to_string();
        let mut seen: Vec<String> = Vec::new();
        for row in &all {
            if !seen.contains(&algorithm(row)) {
                assert!(best.contains(row), "{line}: {row}");
                seen.push(algorithm(row));
            }
        }
        assert_eq!(seen.len(), best.len());
    }
    // Segments make a pipeline fast.
    let best = rows("tune collective bcast -P 9 --size 5000 --params L=6us,o=2us,g=4us,G=0.1us --all");
    let place = |name: &str| best.iter().position(|row| row["schedule"] == name).unwrap();
    assert!(place("bcast:pipeline/1024") < place("bcast:pipeline"));
}

/// Where another algorithm stood in for one that cannot do it, it is named.
#[test]
fn what_ran_instead_is_said() {
    let tuned = rows("tune collective allreduce -P 16 --machine cm5");
    let ran = |name: &str| &tuned.iter().find(|row| row["schedule"] == name).unwrap()["ran"];
    for name in ["ring", "segmented-ring"] {
        assert_eq!(ran(&format!("allreduce:{name}")), "recursive-doubling", "{name}");
    }
    assert_eq!(ran("allreduce:rabenseifner"), "linear");
    assert_eq!(ran("allreduce:recursive-doubling"), &Value::Null);
    let table = stdout_of("tune collective allreduce -P 16 --machine cm5");
    assert!(table.contains("\nallreduce:recursive-doubling is the fastest; next comes"), "{table}");
    let enough = rows("tune collective allreduce -P 16 --size 64k --machine cm5");
    let ring = enough.iter().find(|row| row["schedule"] == "allreduce:ring").unwrap();
    assert_eq!(ring["ran"], Value::Null);
}

/// Who has no time is named with the reason where another one is said to be the fastest.
#[test]
fn a_verdict_names_who_has_no_time() {
    let why = "sent 8192 words at once, and a message on this machine has at most 4333, \
               because a longer one would arrive before it is sent, by G_l";
    let without = [("long-staggered", 0), ("long-naive", 1)]
        .map(|(name, processor)| format!("; not compared is {name}: processor {processor} {why}"))
        .concat();
    let (_, tuned, _) = answer("tune remap --machine cenju4 -P 4 --size 8k");
    assert!(tuned.contains("short-staggered is the fastest; next comes"), "{tuned}");
    assert!(tuned.contains(&format!("{without}\n\n  loggp run remap short-staggered")), "{tuned}");
    let (_, swept, _) = answer("sweep remap --machine cenju4 -P 4 --over size=1k,8k");
    let sentences =
        "long-staggered is the fastest at size = 1,024\nshort-staggered is the fastest at size = 8,192";
    assert!(swept.ends_with(&format!("{sentences}{without}\n")), "{swept}");

    let line = "sweep remap --machine cenju4 -P 4 --over size=1k,8k --over L=1us,2us";
    let map = answer(line).1;
    assert!(map.contains("  2,000  a 37%  c* 0.028%\n"), "{map}");
    assert!(map.contains("*: of those that can run, which are not all\n"), "{map}");
    assert!(map.contains("; cannot run at 2 points, the first because processor 1 sent 8192 words"), "{map}");
    let (_, rows, _) = answer(&format!("{line} --format json"));
    let last: Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    assert_eq!(last["crossing"]["without"], "long-staggered,long-naive");

    // What is refused before it is run is named too.
    let (_, refused, _) = answer("tune transportation --machine cenju4 -P 4");
    assert!(
        refused.contains("; not compared is linear, random, random-improved: a message may"),
        "{refused}"
    );
}

#[test]
fn wrong_requests_are_refused() {
    assert_refused(&[
        ("tune scatter nothing", "scatter has no algorithm nothing"),
        ("tune scatter --work measured", "measured work takes another time in each run; leave out --work"),
        ("tune scatter -P 0", "P"),
        ("tune scatter --size 0", "a size of 0 leaves nothing to do"),
        ("tune scatter long --alpha 0.5", "--alpha is for the algorithm fixed"),
        ("tune scatter -o x.svg", "tune draws nothing"),
        ("tune scatter --clock wall", "unexpected argument '--clock' found"),
        ("tune collective bcst", "there is no collective bcst; the nearest name is bcast"),
        ("tune collective bcast -P 0", "give"),
        ("tune collective bcast --machine nowhere", "nowhere"),
    ]);
}
