//! What page and Markdown say alike: how much agrees, what differs, how a run was held.

use std::fmt::Write;

use loggp_draw::digits::rough;
use loggp_papers::{Answer, Cell, Held, Outcome, PAPERS, Table};

use super::super::number::count;
use super::page::{element, escaped};
use super::record::Record;

/// How many numbers and claims of each paper agree.
pub struct Summary {
    /// A row for each paper, and one for all.
    rows: Vec<Row>,
}

/// A paper.
struct Row {
    /// Its name.
    name: &'static str,
    /// How many of its exhibits are made, and how many there are.
    made: (usize, usize),
    /// How many of its checks came out equal, within, and differing.
    counts: [usize; 3],
    /// How many runs on the wall clock were in time, and how many there were.
    held: (usize, usize),
}

/// What stands above the columns.
const TITLES: [&str; 6] = ["paper", "exhibits", "equal", "within", "differs", "runs in time"];

impl Summary {
    /// Of these records.
    pub fn of(records: &[Record]) -> Summary {
        let row = |name, of: &[&Record], all| Row {
            name,
            made: (of.len(), all),
            counts: [Outcome::Equal, Outcome::Within, Outcome::Differs]
                .map(|outcome| of.iter().map(|record| record.finding.count(outcome)).sum()),
            held: of.iter().map(|record| &record.finding.held).fold((0, 0), |(in_time, all), held| {
                (in_time + held.wall_runs - held.late, all + held.wall_runs)
            }),
        };
        let mut rows: Vec<Row> = Vec::new();
        for paper in PAPERS {
            let of: Vec<&Record> = records.iter().filter(|record| record.paper == paper.name).collect();
            rows.push(row(paper.name, &of, paper.exhibits.len()));
        }
        let all: Vec<&Record> = records.iter().collect();
        rows.push(row("all", &all, PAPERS.iter().map(|paper| paper.exhibits.len()).sum()));
        Summary { rows }
    }

    /// As HTML.
    pub fn html(&self, out: &mut String) {
        *out += "<div class=\"table\"><table class=\"summary\">\n<thead><tr>";
        for title in TITLES {
            let _ = write!(out, "<th>{title}</th>");
        }
        *out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            let cells = row.cells().map(|cell| format!("<td>{}</td>", escaped(&cell)));
            element(out, "tr", cells.concat());
        }
        *out += "</tbody></table></div>\n";
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("| {} |\n|---|{}\n", TITLES.join(" | "), "---:|".repeat(TITLES.len() - 1));
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.cells().join(" | "));
        }
        text
    }
}

impl Row {
    /// What stands in the row.
    fn cells(&self) -> [String; 6] {
        let [equal, within, differs] = self.counts.map(|count| count.to_string());
        let of = |(part, all): (usize, usize)| format!("{part} of {all}");
        let held = if self.held.1 == 0 { "-".into() } else { of(self.held) };
        [self.name.into(), of(self.made), equal, within, differs, held]
    }
}

/// What differs, and why.
pub fn differing(records: &[Record]) -> Table {
    let mut table = Table::new("differs", "What differs, and why")
        .text("id")
        .text("what")
        .text("paper")
        .text("ours")
        .text("why");
    for record in records {
        for check in record.finding.differing() {
            let reason = check.reason.as_deref().unwrap_or("no reason is known");
            let texts = [&record.id, &check.what, &check.paper, &check.ours, reason];
            table.push(texts.into_iter().map(Cell::from).collect());
        }
        for wrong in &record.finding.held.wrong {
            let texts = [&record.id, "a result", "right", "wrong", wrong];
            table.push(texts.into_iter().map(Cell::from).collect());
        }
    }
    table
}

/// What an outcome is called, and what it means.
pub fn outcome(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Equal => ("equal", "to the last digit that the paper has"),
        Outcome::Within => (
            "within",
            "as near to a number of the paper's hardware as the paper's own predictions are, or a claim that holds",
        ),
        Outcome::Differs => ("differs", "neither; the reason stands beside it"),
    }
}

/// Who says something.
pub fn who(answer: Answer) -> &'static str {
    match answer {
        Answer::Formula => "formula",
        Answer::Model => "model",
        Answer::Measured => "measured",
        Answer::Count => "count",
    }
}

/// What came of an exhibit, in a sentence or a few.
pub fn verdict(record: &Record) -> String {
    let finding = &record.finding;
    let all = finding.checks.len();
    let differs = finding.count(Outcome::Differs);
    let agreed = match (all, differs) {
        (0, _) => String::new(),
        (1, 0) => "It agrees with the paper. ".into(),
        (_, 0) => format!("All {all} agree with the paper. "),
        (1, _) => "It differs from the paper. ".into(),
        (_, differs) => format!("{differs} of {all} differ from the paper. "),
    };
    format!("{agreed}{}", finding.verdict)
}

/// How this computer held the runs, in a sentence; nothing if nothing was measured.
pub fn held(record: &Record) -> Option<String> {
    let Held { wall_runs, late, dilation, latest_us, .. } = record.finding.held;
    let runs = count(wall_runs, "run");
    let of = if record.asked.repeat > 1 {
        format!("{runs}, each the median of {}", record.asked.repeat)
    } else {
        runs
    };
    let held = match late {
        0 => "all ended in time".into(),
        late => format!(
            "{late} ended late by more than a hundredth, so what they measured is no more than an upper bound"
        ),
    };
    (wall_runs > 0).then(|| {
        format!(
            "On the wall clock: {of}; {held}. The largest dilation was {}, and the latest wait of any ended {} us late.",
            rough(dilation),
            rough(latest_us)
        )
    })
}

/// When, on what and by which command all was made, in a sentence or two.
pub fn all_made(records: &[Record]) -> Option<String> {
    let (first, last) =
        (records.iter().map(|record| &record.at).min()?, records.iter().map(|record| &record.at).max()?);
    let mut how: Vec<String> = Vec::new();
    for Record { asked, computer, .. } in records {
        let one = format!(
            "`loggp {}` (version {}) on {} ({}, {})",
            asked.command(),
            asked.version,
            count(computer.cores, "core"),
            computer.processor,
            computer.system
        );
        if !how.contains(&one) {
            how.push(one);
        }
    }
    Some(format!("Made from {first} to {last} by {}.", how.join(", and by ")))
}

/// A text with a large letter first.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// When, how and on what it was made.
pub fn made(record: &Record) -> String {
    let Record { computer, at, took_s, asked, .. } = record;
    let sizes = if asked.full { "the papers' own sizes" } else { "the usual sizes" };
    format!(
        "Made {at} in {} s with loggp {}, at {sizes}, seed {}, on {} ({}, {})",
        rough(*took_s),
        asked.version,
        asked.seed,
        count(computer.cores, "core"),
        computer.processor,
        computer.system
    )
}
