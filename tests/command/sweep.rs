//! `loggp sweep` as a user meets it.

use std::fs;

use loggp::params::{LeveledParams, Parameter};
use loggp::{Level, Params, ParamsBuilder, US, preset};
use loggp_programs::Case;
use loggp_programs::scatter::SCATTER;
use loggp_study::Study;
use loggp_study::range::Range;
use loggp_study::sweep::Sweep;
use serde_json::Value;

use crate::requests::{answer, folder, rows, stdout_of};

/// Returns the integers at a path of the rows.
fn numbers(rows: &[Value], path: &str) -> Vec<i64> {
    rows.iter()
        .map(|row| row.pointer(path).and_then(Value::as_i64).unwrap_or_else(|| panic!("{row}")))
        .collect()
}

#[test]
fn a_table_has_a_row_for_each_point_and_algorithm() {
    let table = stdout_of("sweep broadcast optimal flat --over P=2,4,8 --params L=6,o=2,g=4");
    assert_eq!(
        table,
        "\
broadcast: L = 6, o = 2, g = 4, G = 4, P from 2 to 8, word = 8 bytes (a cycle is 1 us)
size 1 (words of the datum), virtual clock, times in cycles

P  algorithm  formula  model  vs formula  messages  stalls  in transit  verified
2  optimal         10     10      +0.00%         1       0      1 of 2  yes
2  flat            10     10      +0.00%         1       0      1 of 2  yes
4  optimal         18     18      +0.00%         3       0      2 of 2  yes
4  flat            18     18      +0.00%         3       0      2 of 2  yes
8  optimal         24     24      +0.00%         7       0      2 of 2  yes
8  flat            34     34      +0.00%         7       0      2 of 2  yes

formula of optimal: exact (Karp et al., theorem 3.2)
formula of flat: exact (ours)

optimal and flat are equally fast up to P = 4
optimal is the fastest from P = 5 on
"
    );
}

/// Of several points the note on a formula that is not exact has the greatest error. A run's picture has a note
/// too.
#[test]
fn a_note_says_what_a_formula_is_and_how_far_off() {
    let line = "remap short-staggered short-naive -P 16 --params L=6,o=1,g=4";
    let table = stdout_of(&format!("sweep {line} --over size=8,32"));
    let note = "
formula of short-staggered: exact (LogP, section 4.1.4, with all terms kept)
formula of short-naive: an estimate (ours), at most -75.21% off
";
    assert!(table.contains(note), "{table}");
    let kinds = rows(&format!("sweep {line} --over size=8,32"));
    let kinds: Vec<_> = kinds.iter().map(|row| row["formula_kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["exact", "estimate", "exact", "estimate"]);
    let path = folder("form").join("run.svg");
    stdout_of(&format!("run remap short-naive -P 3 -o {}", path.display()));
    assert!(fs::read_to_string(&path).unwrap().contains("formula: an estimate (ours)"));
}

#[test]
fn a_range_is_linear_or_by_ratio_and_whole_numbers_are_distinct() {
    let rows_over = |over: &str| rows(&format!("sweep broadcast optimal -P 4 --over {over}"));
    let microseconds = |over: &str| -> Vec<i64> {
        numbers(&rows_over(over), "/params/L").into_iter().map(|ps| ps / 1_000_000).collect()
    };
    assert_eq!(microseconds("L=1us..100us:4"), [1, 34, 67, 100]);
    assert_eq!(microseconds("L=1us..1ms:log:4"), [1, 10, 100, 1000]);
    assert_eq!(microseconds("L=7us,3us"), [7, 3]);
    assert_eq!(microseconds("L=5..6:2"), [5, 6]); // cycles
    assert_eq!(numbers(&rows_over("size=1..64:log:7"), "/size"), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(numbers(&rows_over("size=1..3:20"), "/size"), [1, 2, 3]);
    let rows = rows("sweep scatter fixed -P 8 --over alpha=0.1..0.4:4");
    let options: Vec<&str> = rows.iter().map(|row| row["options"].as_str().unwrap()).collect();
    assert_eq!(options, ["alpha=0.1", "alpha=0.2", "alpha=0.3", "alpha=0.4"]);
}

/// A sweep may begin at 0 of every parameter that may be 0, also of one that a machine has only where it is set.
#[test]
fn zero_is_a_point_of_every_parameter_that_may_be_0() {
    let mut swept = Vec::new();
    for parameter in Parameter::ALL {
        let on = if parameter.is_loggps() { "cenju4" } else { "cs2-splitc" };
        let machine = preset(on).unwrap().builder();
        let name = parameter.name;
        if machine.clone().set(&format!("{name}=0")).and_then(ParamsBuilder::build).is_err() {
            continue;
        }
        swept.push(name);
        let unit = if parameter.is_time() { "us" } else { "" };
        let range = format!("{name}=0{unit},4{unit}");
        let params = LeveledParams::from(machine.clone().build().unwrap());
        let leveled = LeveledParams::new(params.params, [Level::new(Params { P: 2, ..params.params })]);
        let read = Range::read(&range, None, &machine).unwrap();
        assert_eq!(read.ends(), (0.0, if parameter.is_time() { 4e6 } else { 4.0 }), "{name}");
        let of_level = Range::of_parameter(&range.replacen('=', "_1=", 1), &leveled).unwrap();
        assert_eq!((of_level.quantity.name(), of_level.ends()), (parameter.name_at(1), read.ends()));
        let rows = rows(&format!("sweep remap long-naive --machine {on} -P 4 --over {range}"));
        assert_eq!(rows.len(), 2, "{name}: {rows:?}");
    }
    assert_eq!(swept, ["L", "o", "g", "G", "O_s", "O_r", "G_s", "G_l", "R", "s", "S"]);
    let table = stdout_of("sweep remap long-naive --machine cenju4 -P 4 --over R=0us..2us:2");
    assert!(table.contains(", R from 0 ns to 2,000 ns"), "{table}");
}

/// A program's option is swept over by its type: integers may be written as 4k, and times have units or count
/// cycles. Options that are not numbers are refused.
#[test]
fn an_option_is_swept_by_its_type() {
    let options = |line: &str, name: &str| -> Vec<String> {
        let value = |row: &Value| {
            let options = row["options"].as_str().unwrap().split(',');
            options.filter_map(|option| option.strip_prefix(name)).collect::<String>()
        };
        rows(&format!("sweep {line}")).iter().map(value).collect()
    };
    let blocks = options("lu column-cyclic -P 2 --size 8 --over block=1..4:7", "block=");
    assert_eq!(blocks, ["1", "2", "3", "4"]);
    assert_eq!(options("transportation linear -P 2 --over traffic=1k,3k", "traffic="), ["1024", "3072"]);
    let imbalances =
        |range: &str| options(&format!("rtt --params L=6 --cycle 2us --over {range}"), "imbalance=");
    assert_eq!(imbalances("imbalance=0us..10us:3"), ["0us", "5us", "10us"]);
    assert_eq!(imbalances("imbalance=1,2"), ["2us", "4us"]);
}

#[test]
fn every_point_has_the_rows_of_compare() {
    let swept = rows("sweep scatter --over g=5us..25us:3 -P 8 --size 4");
    let mut compared = Vec::new();
    for g in [5, 15, 25] {
        compared.extend(rows(&format!(
            "compare scatter --machine cs2-elan --params g={g}us -P 8 --size 4 --clock virtual"
        )));
    }
    assert_eq!(swept, compared);
}

/// The points, the studies and their answers, without the command.
#[test]
fn a_sweep_is_made_of_studies() {
    let machine = preset("cs2-elan").unwrap().builder().P(8);
    let sweep = |over: &str| {
        let range = Range::read(over, Some(&SCATTER), &machine).unwrap();
        let study = |params| Ok(Study::new(Case { size: 4, ..Case::new(&SCATTER, "long", params) }));
        Sweep::new(vec![range], &machine, study)
    };
    let all: Vec<_> = SCATTER.algorithms.iter().collect();
    let gaps = sweep("g=5us..25us:3");
    let (range, gaps) = (&gaps.ranges[0], gaps.studies(&all));
    let algorithms = SCATTER.algorithms.len();
    let points: Vec<f64> = range.points.iter().map(|point| point.number).collect();
    assert_eq!((points, gaps.studies.len()), (vec![5e6, 15e6, 25e6], 3 * algorithms));
    for ((place, study), answers) in gaps.studies.iter().zip(gaps.run().unwrap()) {
        assert_eq!(study.case.params.g.in_units(US), place[0].number / 1e6);
        let prediction = answers.prediction;
        assert!(prediction.formula.is_none() || prediction.model == prediction.formula, "{study:?}");
    }
    let sizes = sweep("size=0,4").studies(&all);
    assert_eq!((sizes.studies.len(), sizes.refused.len()), (algorithms, algorithms));
    let (place, _, why) = &sizes.refused[0];
    assert_eq!(place[0].value, "0");
    assert!(why.to_string().starts_with("scatter optimal: a size of 0 leaves nothing to do"), "{why}");
}

#[test]
fn csv_has_the_titles_of_compare() {
    let titles = |line: &str| stdout_of(line).lines().next().unwrap().to_string();
    let swept = titles("sweep broadcast flat --over o=1us..2us:2 -P 3 --format csv");
    assert_eq!(swept, titles("compare broadcast flat -P 3 --clock virtual --format csv"));
}

#[test]
fn a_sweep_on_the_wall_clock_measures() {
    let (status, stdout, stderr) = answer("sweep broadcast flat --over P=2,3 --clock wall --format json");
    assert_eq!(status, Some(0), "{stderr}");
    for row in stdout.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        assert!(row["clock"] == "wall" && row["measured_ns"].is_number(), "{row}");
    }
}

#[test]
fn an_impossible_point_is_left_out_with_its_reason() {
    let (status, stdout, stderr) = answer("sweep broadcast flat --over size=0,1,2 -P 3");
    let reason = "left out: at size = 0, broadcast flat: a size of 0 leaves nothing to do; give at least 1\n";
    assert_eq!((status, &*stderr, stdout.lines().count()), (Some(0), reason, 8));
}

#[test]
fn a_plot_shows_formula_and_model_of_every_algorithm() {
    let path = folder("sweep-plot").join("plot.svg");
    stdout_of(&format!("sweep remap --over size=4..4096:log:6 -P 4 -o {}", path.display()));
    let svg = fs::read_to_string(&path).unwrap();
    for shown in [
        "size [bytes from each processor to each other]",
        "time [us]",
        "short-staggered, formula",
        "short-staggered, model",
        "long-naive, model",
        "1,000", // a tick of either axis
        "10,000",
    ] {
        assert!(svg.contains(&format!(">{shown}</text>")), "{shown}");
    }
    assert!(!svg.contains("long-naive, formula") && !svg.contains("measured"));
    // The marks of the second algorithm are triangles.
    assert!(svg.contains("<circle") && svg.contains("<polygon") && svg.contains("<polyline"));
}

#[test]
fn each_point_has_the_quartiles_of_its_seeds_and_a_box() {
    let line = "sweep remap short-naive -P 8 --size 16 --over L=10us..30us:3";
    let time = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let alone: Vec<Vec<Value>> =
        (7..12).map(|seed| rows(&format!("{line} --latency random:{seed}"))).collect();
    let path = folder("sweep-seeds").join("seeds.svg");
    let drawn = format!("{line} --latency random:7 --seeds 5");
    let all = rows(&format!("{drawn} -o {}", path.display()));
    let svg = fs::read_to_string(&path).unwrap();

    assert_eq!(all.len(), 3);
    for (place, row) in all.iter().enumerate() {
        let mut times: Vec<f64> = alone.iter().map(|rows| time(&rows[place], "model_ns")).collect();
        times.sort_by(f64::total_cmp);
        let names = ["model_min_ns", "model_lower_ns", "model_ns", "model_upper_ns", "model_max_ns"];
        // The lower quartile of five is the second, and the upper one the fourth.
        let quartiles = [0, 1, 2, 3, 4].map(|place: usize| times[place]);
        assert_eq!(names.map(|name| time(row, name)), quartiles);
        assert!(quartiles.windows(2).all(|two| two[0] < two[1]), "{quartiles:?}");

        let [least, lower, median, upper, most] = quartiles
            .map(|ns| format!("{:.3}", ns / 1e3).trim_end_matches('0').trim_end_matches('.').to_owned());
        let at = 10 * (place + 1);
        let expected =
            format!("{median} at {at}, from {least} to {most}, half of them from {lower} to {upper}");
        assert!(svg.contains(&expected), "{expected}");
    }
    let one = stdout_of(&format!("{line} --latency random:7 --seeds 1"));
    assert!(one.contains(", median of 1 seed\n"), "{one}");
}
