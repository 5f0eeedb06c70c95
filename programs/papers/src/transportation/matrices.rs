//! Figures 1, 2 and 3: communication matrices.

use loggp::US;

use super::super::{Agreement, Answer, Check, Exhibit, Finding, Lab, Runs, Seconds, Table};
use super::{case, list, named};
use crate::pictures::timeline::timeline;
use loggp_draw::heat_map::heat_map;
use loggp_programs::transportation::{MATRIX, Matrix, TRANSPORTATION};
use loggp_study::Failed;

/// How what a figure's margins say is computed.
const MARGINS: &[&str] = &[
    "r_i = sum over j of m_ij, c_j = sum over i of m_ij, r = max r_i, c = max c_j, t = max(r, c) (section 2)",
];
/// How long each takes.
const SECONDS: Seconds = Seconds { quick: 1.0, full: 3.0 };

/// Figure 1.
pub const FIGURE_1: Exhibit = Exhibit {
    id: "transport-fig1",
    place: "figure 1",
    title: "all-to-many communication with equal traffic",
    says: &[
        "The matrix of 8 processors, each of which sends 10 elements and receives 10: the margins.",
        "If f_i > 0 for all i, the communication is all-to-many (section 2).",
        "It illustrates the case in which the incoming and the outgoing traffic of each processor equal the overall bound \
         (section 3).",
    ],
    formulas: MARGINS,
    commands: &[
        "loggp matrix figure-1 -o figure-1.svg",
        "loggp compare transportation --matrix figure-1 --machine cm5 -P 8 --barrier 5us",
    ],
    seconds: SECONDS,
    make: |lab| {
        let figure = Figure {
            name: "figure-1",
            P: 8,
            out: "10 10 10 10 10 10 10 10",
            into: "10 10 10 10 10 10 10 10",
        };
        figure.find(lab, |matrix| {
            vec![
                Check::same("kind", "all-to-many", matrix.kind().to_string()),
                Check::equal("t, to which all traffic is equal", "10", equal_traffic(matrix)),
            ]
        })
    },
};

/// Figure 2.
pub const FIGURE_2: Exhibit = Exhibit {
    id: "transport-fig2",
    place: "figure 2",
    title: "many-to-many communication with bounded traffic",
    says: &[
        "The matrix of 8 processors; they send 6, 7, 7, 5, 6, 7, 0, 7 elements and receive 7, 6, 5, 10, 0, 10, 3, 4: the margins.",
        "Many-to-many communication is the general case (section 2). Incoming and outgoing traffic of a processor differ, and \
         so do their bounds (section 3).",
    ],
    formulas: MARGINS,
    commands: &[
        "loggp matrix figure-2 -o figure-2.svg",
        "loggp compare transportation --matrix figure-2 --machine cm5 -P 8 --barrier 5us",
    ],
    seconds: SECONDS,
    make: |lab| {
        let figure = Figure { name: "figure-2", P: 8, out: "6 7 7 5 6 7 0 7", into: "7 6 5 10 0 10 3 4" };
        figure.find(lab, |matrix| {
            let (r, c) = (matrix.r(), matrix.c());
            let differ = (0..8).filter(|i| matrix.r_i(*i) != matrix.c_j(*i)).count();
            vec![
                Check::same("kind", "many-to-many", matrix.kind().to_string()),
                Check::claim("bounds", "r and c are different", format!("r = {r}, c = {c}"), r != c),
                Check::claim(
                    "traffic",
                    "outgoing and incoming traffic at each processor are not equal",
                    format!("they differ at {differ} of 8"),
                    differ == 8,
                ),
            ]
        })
    },
};

/// Figure 3.
pub const FIGURE_3: Exhibit = Exhibit {
    id: "transport-fig3",
    place: "figure 3",
    title: "the bounded transportation problem",
    says: &[
        "The matrix of 4 processors, each of which sends 9 elements and receives 9: the margins.",
        "Transportation with an overall traffic bound t cannot be done in less than O(t) (section 3).",
    ],
    formulas: MARGINS,
    commands: &[
        "loggp matrix figure-3 -o figure-3.svg",
        "loggp compare transportation --matrix figure-3 --machine cm5 -P 4 --barrier 5us",
        "loggp run transportation linear --matrix figure-3 --machine cm5 -P 4 --barrier 5us --timeline linear.svg",
    ],
    seconds: SECONDS,
    make: |lab| {
        let figure = Figure { name: "figure-3", P: 4, out: "9 9 9 9", into: "9 9 9 9" };
        let found = figure.find(lab, |matrix| {
            vec![Check::equal("t, to which all traffic is equal", "9", equal_traffic(matrix))]
        })?;
        let (_, trace) = lab.traced(case("linear", 4).with(&MATRIX, "figure-3".into()))?;
        let picture = timeline(&trace, "Figure 3 by linear permutation, P = 4, CM-5", ("us", US));
        let caption = "The linear permutation of figure 4: first the exchange of the vectors, then three steps with a barrier \
                       after each.";
        Ok(found.picture("timeline", caption, picture.expect("it is small")))
    },
};

/// A figure that shows a matrix.
struct Figure {
    /// The matrix.
    name: &'static str,
    /// Its processors.
    P: usize,
    /// What stands to the right of its rows.
    out: &'static str,
    /// What stands below its columns.
    into: &'static str,
}

impl Figure {
    /// The matrix, its margins, what else the text says of it, and its transportation by every algorithm.
    fn find(&self, lab: &Lab, text: impl Fn(&Matrix) -> Vec<Check>) -> Result<Finding, Failed> {
        let &Figure { name, P, out, into } = self;
        let matrix = named(name, P)?;
        let mut checks = vec![
            Check::same("outgoing traffic r_i, beside the rows", out, list((0..P).map(|i| matrix.r_i(i)))),
            Check::same("incoming traffic c_j, below the columns", into, list((0..P).map(|j| matrix.c_j(j)))),
        ];
        checks.extend(text(&matrix));
        let checks: Vec<Check> = checks.into_iter().map(|check| check.by(Answer::Count)).collect();

        let mut table =
            Table::new("matrix", "What section 2 defines").text("processor").exact("r_i", "elements");
        table =
            table.exact("c_i", "elements").exact("fan-out f_i", "messages").exact("fan-in g_i", "messages");
        for i in 0..P {
            table.push(vec![
                format!("P{i}").into(),
                matrix.r_i(i).into(),
                matrix.c_j(i).into(),
                matrix.f_i(i).into(),
                matrix.g_j(i).into(),
            ]);
        }
        table.push(vec![
            "bound: r, c, f, g".into(),
            matrix.r().into(),
            matrix.c().into(),
            matrix.f().into(),
            matrix.g().into(),
        ]);

        let mut runs = Runs::new("runs", "The matrix transported on the CM-5", &["algorithm"], ("us", US));
        for (n, algorithm) in TRANSPORTATION.algorithms.iter().enumerate() {
            let case = case(algorithm.name, P).with(&MATRIX, name.into());
            // One of each kind is enough to see that the wall clock keeps up.
            let is_measured = ["two-stage", "linear", "random-improved"].contains(&algorithm.name);
            let answers = if is_measured { lab.measured(case)? } else { lab.model(case)? };
            runs.push(&[algorithm.name], None, &answers);
            lab.done((n + 1) as f64 / TRANSPORTATION.algorithms.len() as f64);
        }
        let title = format!("{name}: t = {}, {}", matrix.t(), matrix.kind());
        let picture = heat_map(matrix.P(), matrix.entries(), &title).expect("it is small");
        let agree = checks.iter().all(|check| check.agreement < Agreement::Differs);
        let verdict = format!(
            "{} The text has no times of it. In those here elements hardly count: nearly all is what each message and each barrier \
             costs.",
            if agree {
                "The matrix adds up to its margins, and is what the text calls it."
            } else {
                "The text does not hold of the matrix as it is printed in all."
            },
        );
        Ok(Finding::new(verdict)
            .table(runs.table())
            .table(table)
            .picture("", "The matrix, with its margins.", picture)
            .checks(checks))
    }
}

/// The traffic bound, if all processors send and receive as much.
fn equal_traffic(matrix: &Matrix) -> f64 {
    if matrix.is_equal() { matrix.t() as f64 } else { f64::NAN }
}
