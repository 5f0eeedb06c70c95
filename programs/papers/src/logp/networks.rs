//! Sections 5.1 and 5.2: how far apart processors are in a network, and how long a message takes through it.

use loggp::{Params, Time, preset};

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use crate::topology::{Distances, TOPOLOGIES, Topology};
use crate::unloaded::{M, TABLE_1 as ROWS, Unloaded};
use loggp_draw::plot::{Line, Look, Plot, Scale};
use loggp_programs::Case;
use loggp_programs::broadcast::BROADCAST;
use loggp_study::Failed;

/// Section 5.1.
pub const DISTANCES: Exhibit = Exhibit {
    id: "logp-distances",
    place: "section 5.1",
    title: "the average distance between processors, in seven networks",
    says: &[
        "What the average distance tends to, and its value for 1,024 processors: hypercube 5, butterfly 10, 4-ary fat tree \
         9.33, 3d torus 7.5, 3d mesh 10, 2d torus 16, 2d mesh 21.",
        "The text at hand has 4 log4 P - 2/3 for the fat tree, which would be 19.33; its 9.33 is that of 2 log4 P - 2/3.",
        "In practice networks differ by a factor of two, and primitive ones such as a 2d mesh by four only.",
        "That is a small part of a message's time (section 5.2).",
    ],
    formulas: &[
        "log2 P / 2, log2 P, 2 log4 P - 2/3, 3/4 P^(1/3), P^(1/3), 1/2 P^(1/2), 2/3 P^(1/2) (section 5.1)",
        "with all terms kept: a ring of k has k/4, less 1/(4k) if k is odd; a row (k - 1/k)/3; a fat tree 2/(3 P) more",
    ],
    commands: &[
        "loggp machines --topology -P 1024",
        "loggp machines --topology -P 64,256,1024,4096 --format csv",
    ],
    seconds: Seconds { quick: 1.0, full: 10.0 },
    make: distances,
};

/// Table 1.
pub const TABLE_1: Exhibit = Exhibit {
    id: "logp-table1",
    place: "table 1",
    title: "how long a message of 160 bits takes through a network without load",
    says: &[
        "T(M, H) = Tsnd + ceil(M/w) + H r + Trcv, for seven machines of 1,024 processors; the last two are those with Active \
         Messages, which show the overhead that the hardware makes necessary.",
        "The time of a message is dominated by the overheads of sender and receiver, and hardly depends on the network; of \
         the three research machines it says that the overhead is still a significant fraction.",
        "So o = (Tsnd + Trcv)/2, L = H r + ceil(M/w) with the largest H, and g = M / the bisection bandwidth per processor. \
         The table has an average H, and no bandwidth.",
        "The vendor's protocol on the CM-5 is 3(L + 2o) + ng: a pair of messages goes before the data.",
    ],
    formulas: &["T(M, H) = Tsnd + ceil(M/w) + H r + Trcv (section 5.2)", "L + 2o (section 5)"],
    commands: &[
        "loggp machines",
        "loggp compare broadcast flat --machine dash --params g=0,P=2 --clock virtual",
    ],
    seconds: Seconds { quick: 1.0, full: 6.0 },
    make: table_1,
};

/// What section 5.1 prints, in the order of the networks.
const PRINTED: [&str; 7] = ["5", "10", "9.33", "7.5", "10", "16", "21"];
/// The number of processors of both tables.
const P: usize = 1024;

/// A number with as many digits as the paper prints, and those after them cut off: it prints Dash's 53.6 cycles as 53, and
/// three quarters of 10.08 as 7.5.
fn cut(number: f64, like: &str) -> f64 {
    let decimals = like.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 10_f64.powi(decimals as i32);
    // A little more, for what floats round.
    (number * unit + 1e-9).floor() / unit
}

fn distances(lab: &Lab) -> Result<Finding, Failed> {
    let title =
        "Average distances of 1,024 processors, in links: over all pairs, and over pairs of two processors";
    let table = Table::new("distances", title).text("network").text("formula").exact("paper", "");
    let table = table.exact("formula at 1,024", "").text("built").exact("processors", "").exact("nodes", "");
    let mut table =
        table.exact("with all terms", "").exact("counted", "").exact("of two", "").exact("farthest", "");
    let mut checks = Vec::new();
    let mut counts = Vec::new();
    for (topology, printed) in TOPOLOGIES.iter().zip(PRINTED) {
        let found = topology.distances(P);
        let Topology { name, formula, .. } = topology;
        let counted = found.counted.expect("a network of 1,024 is counted");
        table.push(vec![
            (*name).into(),
            (*formula).into(),
            printed.parse::<f64>().ok().into(),
            found.closed.into(),
            found.shape.clone().into(),
            found.P.into(),
            counted.nodes.into(),
            found.exact.into(),
            counted.average.into(),
            counted.of_two.into(),
            counted.farthest.into(),
        ]);
        let what = format!("{name}: {formula} at 1,024, digits cut off");
        checks.push(Check::equal(what, printed, cut(found.closed, printed)).by(Answer::Formula));
        let what = format!("{name}: counted over all pairs of {} processors", found.P);
        checks.push(Check::equal(what, printed, counted.average).by(Answer::Count));
        counts.push(counted.average);
        lab.done(0.5 * counts.len() as f64 / TOPOLOGIES.len() as f64);
    }
    let [hypercube, butterfly, .., mesh] = counts[..] else { unreachable!("there are seven") };
    checks.extend([
        Check::equal("the farthest of usual networks / the nearest", "2", butterfly / hypercube)
            .by(Answer::Count),
        Check::equal("2d mesh / the nearest", "4", mesh / hypercube).by(Answer::Count),
    ]);
    Ok(Finding::new(
        "All seven are the paper's: by its formulas, of which it cuts digits off, and by a count over all pairs of networks \
         that are built link by link. 1,024 is no cube, so the 3d networks are built of 1,000, 10 on a side: there the formulas \
         have no rest. A processor counts as 0 from itself; without such pairs averages are larger by 1/(P-1).",
    )
    .table(table)
    .picture(
        "",
        "Formulas as lines, and what is counted in the nearest network that can be built as marks.",
        over_P(lab).svg(),
    )
    .checks(checks))
}

/// The average distance over the number of processors.
fn over_P(lab: &Lab) -> Plot {
    let most = lab.pick(10, 12);
    let lines = TOPOLOGIES.iter().enumerate().flat_map(|(number, topology)| {
        let all: Vec<Distances> = (2..=most).map(|log| topology.distances(1 << log)).collect();
        lab.done(0.5 + 0.5 * (number + 1) as f64 / TOPOLOGIES.len() as f64);
        let formula = all.iter().map(|one| (one.asked as f64, one.closed)).collect();
        let mut counted: Vec<(f64, f64)> = all
            .iter()
            .filter(|one| one.P > 1)
            .filter_map(|one| Some((one.P as f64, one.counted?.average)))
            .collect();
        counted.dedup();
        [
            Line::new(topology.name, number, Look::Line, formula),
            Line::new("counted", number, Look::Marks, counted),
        ]
    });
    let lines: Vec<Line> = lines.collect();
    Plot::new("Average distance between two processors", "in links, over all pairs")
        .x("processors", Scale::Log)
        .y("average distance [links]", Scale::Log)
        .lines(lines)
}

/// A machine that is made of a row: two of its processors are enough for a message. What the table leaves open, g, no single
/// message waits for.
fn machine(row: &Unloaded) -> Params {
    let preset = preset(row.preset).expect("it is one of the papers' machines");
    preset.builder().P(2).g(Time::ZERO).build().expect("a paper's machine can be")
}

fn table_1(lab: &Lab) -> Result<Finding, Failed> {
    let title = "A message of 160 bits, in cycles of each machine's hardware";
    let table = Table::new("machines", title).text("machine").text("network").exact("Tsnd+Trcv", "");
    let table =
        table.exact("M/w", "").exact("H", "").exact("r", "").exact("T, paper", "").exact("T(M, H)", "");
    let mut table = table
        .exact("L + 2o, model", "")
        .exact("measured", "")
        .percent("overheads")
        .percent("2d mesh instead");
    let title = "The same message sent on the machine that `loggp machines` makes of the row";
    let mut runs = Runs::new("runs", title, &["machine"], ("ns", loggp::NS));
    let (mut checks, mut parts) = (Vec::new(), Vec::new());
    let far = TOPOLOGIES.iter().find(|topology| topology.name == "2d mesh").expect("it is one of them");
    let far = (far.average)(P as f64);
    for (done, row) in ROWS.iter().enumerate() {
        let Unloaded { name, printed, .. } = *row;
        let params = machine(row);
        let answers = lab.measured(Case::new(&BROADCAST, "flat", params))?;
        let cycles = |time: Option<Time>| time.map(|time| time.in_units(params.cycle));
        let model = cycles(answers.prediction.model).unwrap_or(f64::NAN);
        let T = row.time(M, row.hops);
        let part = row.overheads / T;
        table.push(vec![
            name.into(),
            row.network.into(),
            row.overheads.into(),
            f64::from(M.div_ceil(row.width)).into(),
            row.hops.into(),
            row.delay.into(),
            printed.parse::<f64>().ok().into(),
            T.into(),
            model.into(),
            cycles(answers.prediction.measured.map(|times| times.median)).into(),
            part.into(),
            (row.time(M, far) / T - 1.0).into(),
        ]);
        runs.push(&[name], None, &answers);
        let what = format!("T(M = 160) of {name}, whole cycles");
        checks.push(Check::equal(what.clone(), printed, cut(T, printed)).by(Answer::Formula));
        checks.push(Check::equal(what, printed, cut(model, printed)));
        parts.push((name, part));
        lab.done((done + 1) as f64 / ROWS.len() as f64);
    }
    let said = |parts: &[(&str, f64)]| {
        let each: Vec<String> =
            parts.iter().map(|(name, part)| format!("{name} {:.0}%", 100.0 * part)).collect();
        each.join(", ")
    };
    let (sold, research): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|(name, _)| !["Dash", "J-Machine", "Monsoon"].contains(name));
    checks.extend([
        Check::claim(
            "the overheads' part of T, machines that are sold",
            "dominated by the send and receive overheads",
            said(&sold),
            sold.iter().all(|(_, part)| *part > 0.5),
        )
        .by(Answer::Formula),
        Check::claim(
            "the overheads' part of T, research machines",
            "still a significant fraction",
            format!("{}; a quarter or more", said(&research)),
            research.iter().all(|(_, part)| *part >= 0.25),
        )
        .by(Answer::Formula),
    ]);
    Ok(Finding::new(
        "T(M, H) of every row is the paper's, and so is a message on the machine made of it; the paper cuts off what is behind \
         whole cycles, as of Dash's 53.6. The overheads make up most of the time on the machines that are sold, and not on \
         J-Machine and Monsoon. H is the paper's: 5 for a butterfly, 6.8 for a torus and 12.1 for a 3d mesh are not section \
         5.1's averages, and the text does not say where they come from.",
    )
    .table(table)
    .table(runs.table())
    .picture("", "T(M, H) over the distance H; the marks are the table's own H. The networks do little.", over_H().svg())
    .checks(checks))
}

/// T(M, H) over H.
fn over_H() -> Plot {
    let lines = ROWS.iter().enumerate().flat_map(|(number, row)| {
        let over: Vec<(f64, f64)> = (1..=24).map(f64::from).map(|H| (H, row.time(M, H))).collect();
        let own = vec![(row.hops, row.time(M, row.hops))];
        [Line::new(row.name, number, Look::Line, over), Line::new("its H", number, Look::Marks, own)]
    });
    Plot::new("A message of 160 bits over the distance that it goes", "T(M, H) of LogP's table 1")
        .x("distance H [links]", Scale::Linear)
        .y("time [cycles]", Scale::Log)
        .lines(lines)
}
