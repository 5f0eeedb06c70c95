//! `loggp sweep` over two quantities, and where another algorithm becomes the fastest.

use std::collections::BTreeSet;
use std::fs;

use loggp::params::Parameter;
use loggp::{Params, ParamsBuilder, US, preset};
use loggp_programs::scatter::SCATTER;
use loggp_programs::{Algorithm, Case};
use loggp_study::Study;
use loggp_study::fastest::FastestMap;
use loggp_study::range::{Range, SweepPoint};
use loggp_study::sweep::Sweep;
use serde_json::Value;

use crate::requests::{answer, assert_refused, folder, rows, stdout_of};

/// Returns the sweep of scatter over these ranges.
fn scatter<'a>(machine: &'a ParamsBuilder, over: &[&str]) -> Sweep<'a> {
    let range = |over: &&str| Range::read(over, Some(&SCATTER), machine).unwrap();
    Sweep::new(over.iter().map(range).collect(), machine, |params: Params| {
        Ok(Study::new(Case { size: 3, ..Case::new(&SCATTER, "long", params) }))
    })
}

/// Returns the map of a sweep, and the numbers of the fastest algorithms at any place.
fn map_of<'a>(
    sweep: &'a Sweep,
    algorithms: &'a [&'static Algorithm],
) -> (FastestMap, impl Fn(&[SweepPoint]) -> Vec<usize> + 'a) {
    let studies = sweep.studies(algorithms).studies;
    let runs = studies.iter().map(|(place, study)| {
        let numbers = place.iter().map(|point| point.number).collect();
        (numbers, study.case.algorithm, study.run().unwrap().right_time())
    });
    let map = FastestMap::new(sweep, algorithms, runs);
    let algorithms = map.algorithms.clone();
    let fastest = move |place: &[SweepPoint]| {
        let time = |algorithm: &&'static Algorithm| {
            let study = sweep.study_at(place, algorithm).unwrap();
            study.run().unwrap().prediction.model.unwrap()
        };
        let times: Vec<_> = algorithms.iter().map(time).collect();
        let least = times.iter().min().unwrap();
        (0..algorithms.len()).filter(|number| times[*number] == *least).collect()
    };
    (map, fastest)
}

/// All values of a small grid are run: stretches begin and end where the fastest algorithms change, and there is one for
/// each change between cells with other fastest algorithms.
#[test]
fn stretches_are_those_of_brute_force() {
    let picoseconds = Params::builder(5).L(US).set("L=40ps,o=7ps,g=11ps,G=1ps,word=8").unwrap();
    // Of these none is the fastest everywhere. Ties are won by others than usual.
    let algorithms = ["short", "long", "fixed", "binomial"].map(|name| SCATTER.algorithm(name).unwrap());
    let (mut count, mut ties) = (0, 0);
    for over in [
        ["L=0ps..80ps:5", "size=1,2,5"],
        ["o=0ps..60ps:4", "size=1,4"],
        ["g=1ps..90ps:4", "P=3,6"],
        ["size=1..33:3", "G=0ps,9ps"],
    ] {
        let sweep = scatter(&picoseconds, &over);
        let (map, fastest) = map_of(&sweep, &algorithms);
        let stretches = map.stretches(&sweep, 2, || ());
        let quantity = sweep.ranges[0].quantity;
        for (row, cells) in map.rows().enumerate() {
            let rest = &map.axes[1][row];
            let (low, high) = sweep.ranges[0].ends();
            let point = |number: u64| {
                let value = if quantity.is_time() { format!("{number}ps") } else { number.to_string() };
                SweepPoint { value, number: number as f64 }
            };
            let all: Vec<Vec<usize>> =
                (low as u64..=high as u64).map(|number| fastest(&[point(number), rest.clone()])).collect();
            let at = |point: &SweepPoint| &all[(point.number - low) as usize];
            let here: Vec<_> = stretches.iter().filter(|stretch| stretch.row == row).collect();
            for (cell, point) in cells.iter().zip(&map.axes[0]) {
                assert_eq!(&cell.all_fastest(), at(point), "{over:?}");
                let within = here.iter().filter(|stretch| {
                    (stretch.first.number..=stretch.last.number).contains(&point.number)
                        && stretch.fastest == cell.all_fastest()
                });
                assert_eq!(within.count(), 1, "{over:?}: {point:?} in {here:?}");
            }
            assert_eq!((here[0].first.number, here[here.len() - 1].last.number), (low, high));
            for stretch in &here {
                assert_eq!(at(&stretch.first), &stretch.fastest, "{over:?}");
                assert_eq!(at(&stretch.last), &stretch.fastest, "{over:?}");
                ties += usize::from(stretch.fastest.len() > 1);
            }
            for pair in here.windows(2) {
                assert!(pair[1].is_adjacent && pair[1].first.number == pair[0].last.number + 1.0, "{pair:?}");
                count += 1;
            }
        }
    }
    assert!(count > 8 && ties > 2, "{count} {ties}");
}

/// Where two become equal is found to the picosecond, and told by the value with fewer digits.
#[test]
fn a_tie_that_lasts_is_told() {
    let line = "sweep broadcast optimal flat P=8 o=2us g=4us --over";
    let swept = stdout_of(&format!("{line} L=1us..40us:3"));
    let told =
        "\noptimal is the fastest below L = 20 us\noptimal and flat are equally fast from L = 20 us on\n";
    assert!(swept.ends_with(told), "{swept}");
    let swept = stdout_of("sweep broadcast optimal binomial flat P=8 o=2us g=4us --over L=2us,22us");
    let told = "\noptimal and binomial are equally fast at L = 2 us\n\
                optimal is the fastest between L = 2 us and 20 us\n\
                optimal and flat are equally fast from L = 20 us on\n";
    assert!(swept.ends_with(told), "{swept}");
    let map =
        stdout_of("sweep broadcast optimal binomial flat P=8 o=2us g=4us --over L=2us,22us --over P=4,8");
    assert!(map.contains("optimal = binomial  optimal         above 2 us\n"), "{map}");
    let swept = stdout_of(&format!("{line} L=30us..40us:3"));
    assert!(
        swept.ends_with("\nflat takes the same time as optimal at every point: optimal stands for both\n"),
        "{swept}"
    );
}

/// Ties are said, and the one that comes first wins them.
#[test]
fn equal_times_are_ties() {
    let machine = preset("cs2-elan").unwrap().builder();
    let sweep = scatter(&machine, &["P=2,16"]);
    let algorithms: Vec<_> = SCATTER.algorithms.iter().collect();
    let (map, _) = map_of(&sweep, &algorithms);
    let cell = &map.rows().next().unwrap()[0];
    // To one receiver there is one way, but for word by word.
    let fastest = cell.all_fastest();
    let like = map.left_out.iter().filter(|(_, stand_in)| fastest.contains(stand_in));
    let own = fastest.iter().map(|number| map.algorithms[*number].name);
    let names: BTreeSet<&str> = own.chain(like.map(|(algorithm, _)| algorithm.name)).collect();
    assert_eq!(names, BTreeSet::from(["optimal", "binomial", "long", "fixed", "split"]));
    assert_eq!((cell.fastest(), cell.lead()), (Some(0), Some(0.0)));
    let table = stdout_of("sweep scatter optimal long short --over P=2,16 --over size=3,4");
    assert!(table.contains(" 4  a=b "), "{table}");
}

/// A map has the rows of comparisons at all its points, then its crossings, which are those of its rows
/// alone.
#[test]
fn a_map_is_made_of_sweeps() {
    let line = "sweep scatter binomial long short -P 16";
    let all = rows(&format!("{line} --over L=1us..100us:3 --over size=1,64"));
    let (cells, crossings) = all.split_at(2 * 3 * 3);
    let mut expected = Vec::new();
    for size in [1, 64] {
        expected.extend(rows(&format!("{line} --over L=1us..100us:3 --size {size}")));
    }
    assert_eq!(cells, expected);
    assert!(!crossings.is_empty());
    for row in crossings {
        let crossing = &row["crossing"];
        assert!(crossing["over"] == "L" && crossing["adjacent"] == true, "{row}");
        let size = crossing["at"]["size"].as_i64().unwrap();
        let at = |number: &Value| {
            let line = format!("compare scatter binomial long short -P 16 --size {size} --clock virtual");
            let rows = rows(&format!("{line} --machine cs2-elan --params L={number}ps"));
            let time = |row: &Value| row["model_ns"].as_f64().unwrap();
            let least = rows.iter().map(time).fold(f64::INFINITY, f64::min);
            let fastest = rows.into_iter().filter(|row| time(row) == least);
            fastest.map(|row| row["algorithm"].clone()).collect::<Vec<_>>()
        };
        let [before, behind] = [at(&crossing["before"]), at(&crossing["behind"])];
        assert!(
            before != behind && before.contains(&crossing["from"]) && behind.contains(&crossing["to"]),
            "{crossing}"
        );
        // The sweep over one quantity says the same in a sentence.
        let one = stdout_of(&format!("{line} --over L=1us..100us:3 --size {size}"));
        let value = crossing["behind"].as_f64().unwrap() / 1e6;
        let names: Vec<&str> = behind.iter().map(|name| name.as_str().unwrap()).collect();
        let is_told = one.lines().any(|line| {
            names.iter().any(|name| line.contains(name)) && line.contains(&format!(" L = {value} us"))
        });
        assert!(is_told, "{crossing}: {one}");
    }
}

#[test]
fn a_map_is_shown_as_a_table_and_a_picture() {
    let path = folder("map").join("map.svg");
    let line = "sweep remap --over L=1us..100us:log:3 --over size=4,512 -P 4";
    let table = stdout_of(&format!("{line} -o {}", path.display()));
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].contains("L from 1 us to 100 us") && lines[1].contains("size from 4 to 512"), "{table}");
    let head: Vec<&str> = lines[3].split_whitespace().collect();
    assert_eq!(head, ["size", "\\", "L", "[us]", "1", "10", "100"]);
    // The greatest value is at the top, and a cell has the letter of the fastest and its lead.
    assert!(
        lines[4].trim_start().starts_with("512  a ") && lines[5].trim_start().starts_with("4  "),
        "{table}"
    );
    assert!(table.contains("a  long-staggered"), "{table}");
    let svg = fs::read_to_string(&path).unwrap();
    for shown in ["L [us]", "size [bytes from each processor to each other]", "a: long-staggered", "a"] {
        assert!(svg.contains(&format!(">{shown}</text>")), "{shown}");
    }
    assert!(svg.contains("L = 10 us, size = 512: long-staggered "));
}

/// Points that are no machine are left out with a reason, and marked; so are values between two that cannot
/// be run.
#[test]
fn impossible_points_are_marked() {
    let (status, table, stderr) = answer("sweep broadcast flat optimal --over P=0,4 --over L=1us,2us");
    assert_eq!(status, Some(0));
    assert!(stderr.starts_with("left out: P = 0 is not a number of processors"), "{stderr}");
    assert!(table.contains("2  -  b "), "{table}");
    // The FFT runs at powers of two alone.
    let line = "sweep fft blocked long-staggered short-naive --size 4k --work charged --over P=1,2,4,8";
    let crossings: Vec<Value> = rows(&format!("{line} --over L=1us,900us"));
    let crossings: Vec<&Value> =
        crossings.iter().map(|row| &row["crossing"]).filter(|crossing| crossing.is_object()).collect();
    assert!(!crossings.is_empty());
    for crossing in crossings {
        let [before, behind] = ["before", "behind"].map(|end| crossing[end].as_u64().unwrap());
        assert_eq!(crossing["adjacent"], behind == before + 1, "{crossing}");
        assert!(behind == 2 * before, "{crossing}");
    }
}

/// A parameter that the machine leaves open may be the other quantity.
#[test]
fn open_parameters_are_swept_together() {
    let open = loggp::params::presets().iter().find(|preset| preset.builder().open_names().len() > 1);
    let Some(preset) = open else { return };
    let builder = preset.builder();
    let [one, other, rest @ ..] = builder.open_names() else { panic!("two are open") };
    assert!(Parameter::by_name(one).is_some());
    let given: Vec<String> = rest.iter().map(|name| format!("{name}=1us")).collect();
    let params = if given.is_empty() { String::new() } else { format!("--params {}", given.join(",")) };
    let line = format!("sweep broadcast flat --machine {} -P 3 {params}", preset.name);
    assert_eq!(rows(&format!("{line} --over {one}=1us,2us --over {other}=1us,2us")).len(), 4);
}

#[test]
fn a_measured_map_has_no_crossings() {
    let line = "sweep broadcast --over P=2,3 --over size=1,2 --clock wall --dilation 1000 --format json";
    let (status, stdout, stderr) = answer(line);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("\"measured_ns\":") && !stdout.contains("crossing"), "{stdout}");
}

#[test]
fn wrong_maps_are_refused() {
    let scatter = "sweep scatter -P 4 --over L=1us,2us --over";
    assert_refused(&[
        (
            format!("{scatter} g=1us,2us --over o=1us,2us"),
            "--over o=1us,2us: a sweep is over one quantity or two",
        ),
        (format!("{scatter} L=3us,4us"), "--over L=3us,4us: L is swept over already; give another quantity"),
        (format!("{scatter} g=2us..1us:3"), "the range does not go up; give the smaller value first"),
        (format!("{scatter} g=1us..1us:3"), "the range does not go up"),
        (format!("{scatter} g="), "a value is missing"),
        (
            "sweep scatter --over L=1us..2us:200 --over size=1..200:200".into(),
            "makes 40,000 points; give fewer",
        ),
        ("sweep scatter --over P=0 --over size=0,1".into(), "0"),
    ]);
}
