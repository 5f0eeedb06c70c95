//! The page shows what the machine does: every algorithm under random settings, beside the program's own
//! run on the virtual clock.

#![allow(non_snake_case)] // G is the papers' name

use loggp::path::{Events, FormulaBuilder, Path};
use loggp::schedule::Player;
use loggp::trace::Trace;
use loggp::{Params, ParamsBuilder, Ports, Time};
use loggp_goal::patterns::pattern_schedule;
use loggp_playground::answer;
use loggp_programs::{Case, Emulation, PROGRAMS};
use serde_json::{Value, json};

/// Random settings of each algorithm.
const SETTINGS: usize = 200;

/// A random setting, as the page asks for it.
struct Drawn {
    params: String,
    size: usize,
    ports: &'static str,
}

fn draw(rng: &mut fastrand::Rng) -> Drawn {
    // Cycles, so that much happens at the same time; or any picoseconds.
    let unit = if rng.u8(..4) > 0 { "us" } else { "ps" };
    let mut time =
        |most: u32| format!("{}{unit}", rng.u32(0..=if unit == "ps" { most * 1000 } else { most }));
    let mut params = format!("L={},o={},g={}", time(40), time(6), time(12));
    let G = time(5);
    if rng.bool() {
        params += &format!(",G={G}");
    }
    if rng.u8(..4) == 0 {
        params += &format!(",C={}", rng.u32(1..6));
    }
    if rng.u8(..4) == 0 {
        params += &format!(",word={}", rng.u32(1..20));
    }
    params += &format!(",P={}", rng.u32(1..24));
    Drawn { params, size: rng.usize(1..40), ports: if rng.bool() { "single" } else { "dual" } }
}

fn ask(request: &Value) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let lines = request.as_object().unwrap().iter().map(|(name, value)| format!("{name} {}\n", text(value)));
    serde_json::from_str(&answer(lines.collect::<String>().as_bytes()).json()).unwrap()
}

/// Returns the algorithms that are not recorded.
fn catalog() -> Vec<String> {
    let catalog = ask(&json!({ "do": "catalog" }));
    let operations = catalog["operations"].as_array().unwrap();
    let algorithms = operations.iter().flat_map(|operation| operation["algorithms"].as_array().unwrap());
    let algorithms = algorithms.filter(|algorithm| algorithm["recorded"].is_null());
    algorithms.map(|algorithm| algorithm["id"].as_str().unwrap().to_string()).collect()
}

fn path_text(trace: &Trace, params: &Params) -> String {
    let path = Path::from_events(&Events::new(trace));
    FormulaBuilder::new(&(*params).into()).formula(&path.hops).to_string()
}

/// Returns what the machine says: T, the stalls, their time, the messages, the formula and the critical path.
fn machine(id: &str, drawn: &Drawn) -> Option<Result<Value, String>> {
    let (operation, name) = id.split_once('/').unwrap();
    let builder = ParamsBuilder::from(Params::builder(8).build().unwrap());
    let params = builder.set(&drawn.params).unwrap().build().unwrap();
    let ports: Ports = drawn.ports.parse().unwrap();
    let all = |time: Time, stalls: u64, stall_time: Time, messages, formula: Option<Time>, trace: &Trace| {
        json!({
            "time": time.as_ps(), "stalls": stalls, "stall_time": stall_time.as_ps(), "messages": messages,
            "formula": formula.map(Time::as_ps), "path": path_text(trace, &params),
        })
    };
    if let Some(program) = PROGRAMS.iter().find(|program| program.name == operation) {
        program.algorithm(name)?;
        let case = Case { ports, size: drawn.size, ..Case::new(program, name, params) };
        let plan = match case.plan() {
            Ok(plan) => plan,
            Err(why) => return Some(Err(why.to_string())),
        };
        let outcome = plan.run(&Emulation::with_trace()).unwrap();
        outcome.verified.unwrap();
        let run = outcome.run;
        let stall_time = run.processors.iter().map(|stats| stats.stall).sum();
        let trace = run.trace.as_ref().unwrap();
        return Some(Ok(all(
            run.time,
            run.stalls(),
            stall_time,
            trace.messages.len(),
            plan.formula(),
            trace,
        )));
    }
    let schedule = pattern_schedule(
        &id.replace("all-reduce", "allreduce").replace("hot-spot", "gather").replace('/', ":"),
        params.P,
        if operation == "hot-spot" { 1 } else { drawn.size as u64 }, // it has no size
        &[],
    )?;
    let report = Player::new(params).ports(ports).trace(true).run(&schedule.unwrap()).unwrap();
    let trace = report.trace.as_ref().unwrap();
    Some(Ok(all(report.time, report.stalls, report.stall_time, report.messages as usize, None, trace)))
}

#[test]
fn page_shows_what_the_machine_does() {
    let mut rng = fastrand::Rng::with_seed(50);
    let mut compared = 0;
    for id in catalog() {
        for _ in 0..SETTINGS {
            let drawn = draw(&mut rng);
            let Drawn { params, size, ports } = &drawn;
            let Some(expected) = machine(&id, &drawn) else { break };
            let request =
                json!({ "do": "run", "algorithm": id, "params": params, "size": size, "ports": ports });
            let shown = ask(&request);
            match expected {
                Err(why) => assert_eq!(shown["error"], why, "{request}"),
                Ok(expected) => {
                    let fields = ["time", "stalls", "stall_time", "messages", "path"];
                    let mut found: Value =
                        fields.iter().map(|field| (field.to_string(), shown[field].clone())).collect();
                    found["formula"] = shown["formula"]["time"].clone();
                    assert_eq!(found, expected, "{request} {}", shown["error"]);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 20 * SETTINGS, "{compared} runs are compared");
}

/// A trace that is opened says in which unit its times were given.
#[test]
fn a_trace_has_its_unit() {
    let lines = "trace\nmachine L 6000000 o 2000000 g 4000000 P 2\nports single\nunit cycles\nactivity 0 0 2000000 gap\n";
    let said = answer(format!("do open\nname run.json\n\n{lines}").as_bytes()).json();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["file"]["unit"], &said["file"]["cycle"]),
        (&json!("cycles"), &json!(1_000_000)),
        "{said}"
    );
}

/// A schedule as a text takes as long as the algorithm. A remap's program receives first where it could also send, which GOAL does
/// not say, and the all-to-all broadcast waits for moments.
#[test]
fn a_text_takes_as_long_as_its_algorithm() {
    let mut rng = fastrand::Rng::with_seed(63);
    let mut compared = 0;
    for id in catalog().iter().filter(|id| !id.starts_with("remap") && !id.starts_with("all-to-all")) {
        for _ in 0..20 {
            let Drawn { params, size, ports } = draw(&mut rng);
            let lines = format!("params {params}\nsize {size}\nports {ports}\n");
            let shown =
                ask(&json!({ "do": "run", "algorithm": id, "params": params, "size": size, "ports": ports }));
            let words = answer(format!("do goal\nalgorithm {id}\n{lines}").as_bytes()).to_words();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let [json, all] =
                [0, 4].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize);
            let said: Value = serde_json::from_slice(&bytes[8..8 + json]).unwrap();
            // A computation may be no whole number of cycles.
            let Some(length) = said["goal"]["length"].as_u64() else { continue };
            let begin = (8 + json).next_multiple_of(8);
            let mut open = format!("do open\nname x.goal\n{lines}\n").into_bytes();
            open.extend(&bytes[begin..begin + length as usize]);
            assert!(begin + length as usize <= all);
            let opened: Value = serde_json::from_str(&answer(&open).json()).unwrap();
            assert_eq!(opened["time"], shown["time"], "{id} {lines} {}", opened["error"]);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} texts are compared");
}

/// What is wrong is said in JSON, whatever text is in it.
#[test]
fn any_text_is_said() {
    let name = "a \"file\", \\ and \u{1} \u{e9}";
    let request = format!("do open\nname {name}\n\nno schedule");
    let said: Value = serde_json::from_str(&answer(request.as_bytes()).json()).unwrap();
    let error = said["error"].as_str().unwrap();
    assert!(error.starts_with(&format!("{name}: ")), "{error}");
    for wrong in ["size many", "columns perhaps", "rows 1", "x.nothing 1", "nothing 1"] {
        let said: Value =
            serde_json::from_str(&answer(format!("do run\n{wrong}\n\n").as_bytes()).json()).unwrap();
        assert!(
            said["error"].as_str().is_some_and(|error| error.contains("give") || error.contains("no ")),
            "{said}"
        );
    }
}

/// A recorded run takes as long where it is played as it took.
#[test]
fn recorded_runs_take_as_long_as_their_programs() {
    let catalog = ask(&json!({ "do": "catalog" }));
    let mut compared = 0;
    for operation in catalog["operations"].as_array().unwrap() {
        for algorithm in operation["algorithms"].as_array().unwrap() {
            let Some(recorded) = algorithm["recorded"].as_str() else { continue };
            let words: Vec<&str> = recorded.split(' ').collect();
            let program = PROGRAMS.iter().find(|program| program.name == words[0]).unwrap();
            assert_eq!(operation["about"], program.about);
            assert_eq!(algorithm["about"], program.algorithm(words[1]).unwrap().about);
            let options: Vec<(&str, &str)> = words[2..].chunks(2).map(|pair| (pair[0], pair[1])).collect();
            let (_, params) = options.iter().find(|(name, _)| *name == "--params").unwrap();
            let machine = Params::builder(8).set(params).unwrap().build().unwrap();
            let mut case = Case::new(program, words[1], machine);
            for (name, value) in &options {
                match *name {
                    "--params" => (),
                    "--size" => case.size = value.parse().unwrap(),
                    option => case = case.with_text(option.trim_start_matches('-'), value).unwrap(),
                }
            }
            let run = case.plan().unwrap().run(&Emulation::default()).unwrap().run;
            let shown = ask(&json!({ "do": "run", "algorithm": algorithm["id"], "params": params }));
            let expected = (json!(run.time.as_ps()), json!(run.stalls()));
            assert_eq!(
                (shown["time"].clone(), shown["stalls"].clone()),
                expected,
                "{recorded} {}",
                shown["error"]
            );
            compared += 1;
        }
    }
    assert!(compared > 0);
}

/// Who cannot run on one side of a change is named, so that the other does not pass for the faster one.
#[test]
fn a_change_names_who_cannot_run() {
    let params =
        "L=640ns,o=7820ns,g=0,O_s=7.63ns,O_r=12.77ns,G_s=0.57ns,G_l=-12.74ns,P=4,word=1,s=1028,S=1028";
    let ids = ["remap/long-staggered", "remap/short-staggered"];
    let answer = ask(&json!({
        "do": "crossover", "params": params, "size": 1, "ports": "single", "algorithms": ids.join(","),
        "over": "size", "from": "4000", "to": "5000", "points": 2, "log": false,
    }));
    let change = json!([{
        "value": 4334, "text": "4334", "before": ids[0], "after": ids[1], "without": [ids[0]],
    }]);
    assert_eq!(answer["changes"], change, "{answer}");
}
