//! A report: the document of all records, for the page and for Markdown.

use loggp_document::{Block, Cell, Document, Show, Span, Table, Text, plain};
use loggp_draw::digits::rough;
use loggp_papers::{Agreement, Answer, Check, Held, PAPERS, Paper, Picture};

use super::super::number::count;
use super::record::Record;

/// What wrote a page, as the page says it, so that one is told from pages of others.
pub const GENERATOR: &str = "loggp reproduce";
/// How a number or a claim can agree, what that is called, and what it means.
const AGREEMENTS: [(Agreement, &str, &str); 3] = [
    (Agreement::Equal, "equal", "to the last digit that the paper has"),
    (
        Agreement::Within,
        "within",
        "as near to a number of the paper's hardware as the paper's own predictions are, or a claim that holds",
    ),
    (Agreement::Differs, "differs", "neither; the reason stands beside it"),
];

/// The report of these records.
pub fn document(records: &[Record]) -> Document {
    let of = |paper: &Paper| records.iter().filter(|record| record.paper == paper.name).collect::<Vec<_>>();
    let mut blocks = vec![
        Block::Paragraph(plain(
            "Every figure and table of five papers on the LogP family of models, made again on an emulated parallel machine. \
             For each: what the paper says, its formula, the model (the program on a clock that jumps), and the time measured \
             (the same program on a clock that passes).",
        )),
        Block::Table(summary(records)),
        Block::List(
            AGREEMENTS
                .map(|(_, name, meaning)| vec![mark(name), Span::Plain(format!(": {meaning}."))])
                .into(),
        ),
    ];
    blocks.extend(made_by(records).map(Block::Note));
    blocks.push(Block::Heading(2, plain("What differs, and why")));
    let differs = differing(records);
    blocks.push(match differs.rows.is_empty() {
        true => Block::Paragraph(plain("Nothing that was made differs.")),
        false => Block::Table(differs),
    });
    blocks.push(contents(records));
    for paper in PAPERS {
        let of = of(paper);
        if !of.is_empty() {
            blocks.push(Block::Heading(2, plain(paper.name)));
            blocks.push(Block::Note(plain(paper.source)));
            blocks.extend(of.into_iter().map(article));
        }
    }
    Document { title: "Five papers on LogP, reproduced".into(), blocks }
}

/// How many numbers and claims of each paper agree.
fn summary(records: &[Record]) -> Table {
    let table = Table::new("summary", "").text("paper").column("exhibits", "", Show::Right);
    let table = AGREEMENTS.iter().fold(table, |table, (_, name, _)| table.exact(name, ""));
    let mut table = table.column("runs in time", "", Show::Right);
    let mut row = |name: &str, exhibits: usize, of: &dyn Fn(&Record) -> bool| {
        let of: Vec<&Record> = records.iter().filter(|record| of(record)).collect();
        let runs: usize = of.iter().map(|record| record.finding.held.wall_runs).sum();
        let late: usize = of.iter().map(|record| record.finding.held.late).sum();
        let mut cells: Vec<Cell> = vec![name.into(), format!("{} of {exhibits}", of.len()).into()];
        cells.extend(AGREEMENTS.map(|(agreement, ..)| {
            Cell::from(of.iter().map(|record| record.finding.count(agreement)).sum::<usize>())
        }));
        cells.push(if runs == 0 { "-".into() } else { format!("{} of {runs}", runs - late).into() });
        table.push(cells);
    };
    for paper in PAPERS {
        row(paper.name, paper.exhibits.len(), &|record| record.paper == paper.name);
    }
    row("all", loggp_papers::exhibits().count(), &|_| true);
    table
}

/// What differs, and why.
fn differing(records: &[Record]) -> Table {
    let table = Table::new("differs", "").column("id", "", Show::Name);
    let mut table = table.text("what").text("paper").text("ours").text("why");
    for record in records {
        for check in record.finding.differing() {
            let reason = check.reason.as_deref().unwrap_or("no reason is known");
            table.push([&*record.id, &check.what, &check.paper, &check.ours, reason].map(Cell::from).into());
        }
        for wrong in &record.finding.held.wrong {
            table.push([&*record.id, "a result", "right", "wrong", wrong].map(Cell::from).into());
        }
    }
    table
}

/// Ways to all exhibits.
fn contents(records: &[Record]) -> Block {
    let mut blocks = vec![Block::Heading(2, plain("Contents"))];
    for paper in PAPERS {
        blocks.push(Block::Heading(3, plain(paper.name)));
        let item = |exhibit: &loggp_papers::Exhibit| {
            let text = sentence(&format!("{}: {}", exhibit.place, exhibit.title));
            match records.iter().any(|record| record.id == exhibit.id) {
                true => vec![Span::Link(text, format!("#{}", exhibit.id))],
                false => plain(format!("{text} (not made yet)")),
            }
        };
        blocks.push(Block::List(paper.exhibits.iter().map(item).collect()));
    }
    Block::Nav(blocks)
}

/// An exhibit.
fn article(record: &Record) -> Block {
    let Record { id, place, title, finding, .. } = record;
    let mut blocks = vec![Block::Paragraph(verdict(record))];
    for (heading, items) in [("The paper", &record.says), ("Formulas", &record.formulas)] {
        if !items.is_empty() {
            blocks.push(Block::Heading(4, plain(heading)));
            blocks.push(Block::List(items.iter().map(plain).collect()));
        }
    }
    for Picture { name, caption, svg } in &finding.pictures {
        let file = format!("{}.svg", record.stem(name));
        blocks.push(Block::Picture { svg: svg.clone(), file, caption: caption.clone() });
    }
    if !finding.checks.is_empty() {
        blocks.push(Block::Heading(4, plain("The paper's numbers and claims beside ours")));
        blocks.push(Block::Table(checks(&finding.checks)));
    }
    for table in &finding.tables {
        blocks.push(Block::Heading(4, plain(&table.title)));
        blocks.push(Block::Table(table.clone()));
    }
    blocks.extend(held(record).map(|sentence| Block::Note(plain(sentence))));
    let again = record.asked.command().replacen("reproduce", &format!("reproduce {id}"), 1);
    let commands = [format!("loggp {again}")].into_iter().chain(record.commands.iter().cloned()).collect();
    blocks.push(Block::Nav(vec![Block::Heading(4, plain("To repeat it")), Block::Code(commands)]));
    let made = Span::Plain(format!("{}: ", made(record)));
    blocks.push(Block::Note(vec![
        made,
        Span::Code(format!("loggp reproduce {id}")),
        Span::Plain(".".into()),
    ]));
    let files = [Record::file(id)].into_iter().chain(record.files());
    let links = files.flat_map(|file| [Span::Link(file.clone(), file), Span::Plain(" ".into())]);
    blocks.push(Block::Nav(vec![Block::Note(links.collect())]));
    Block::Article { id: id.clone(), heading: plain(format!("{}: {title}", sentence(place))), blocks }
}

/// The paper's numbers beside ours.
fn checks(checks: &[Check]) -> Table {
    let table = Table::new("checks", "").text("what").text("paper").text("ours").text("by");
    let mut table = table.column("agreement", "", Show::Mark).text("why");
    for Check { what, paper, ours, by, agreement, reason } in checks {
        let by = match by {
            Answer::Formula => "formula",
            Answer::Model => "model",
            Answer::Measured => "measured",
            Answer::Count => "count",
        };
        let name = AGREEMENTS.iter().find(|(one, ..)| one == agreement).map_or("", |(_, name, _)| name);
        table.push([what, paper, ours, by, name, reason.as_deref().unwrap_or("")].map(Cell::from).into());
    }
    table
}

/// A word for how something agrees.
fn mark(name: &str) -> Span {
    Span::Mark(name.into(), name.into())
}

/// How many numbers and claims agree how, and what came of an exhibit, in a sentence or a few.
fn verdict(record: &Record) -> Text {
    let counts = AGREEMENTS.iter().filter_map(|(agreement, name, _)| {
        let count = record.finding.count(*agreement);
        (count > 0).then(|| [Span::Mark(format!("{count} {name}"), (*name).into()), Span::Plain(". ".into())])
    });
    counts.flatten().chain(plain(&record.finding.verdict)).collect()
}

/// How this computer held the runs, in a sentence; nothing if nothing was measured.
fn held(record: &Record) -> Option<String> {
    let Held { wall_runs, late, dilation, latest_us, .. } = record.finding.held;
    let runs = count(wall_runs, "run");
    let of = match record.asked.repeat {
        0 | 1 => runs,
        repeat => format!("{runs}, each the median of {repeat}"),
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

/// When, on what and by which commands all was made.
fn made_by(records: &[Record]) -> Option<Text> {
    let first = records.iter().map(|record| &record.at).min()?;
    let last = records.iter().map(|record| &record.at).max()?;
    let mut hows: Vec<Text> = Vec::new();
    for Record { asked, computer, .. } in records {
        let on = format!(" (version {}) on {computer}", asked.version);
        let how = vec![Span::Code(format!("loggp {}", asked.command())), Span::Plain(on)];
        if !hows.contains(&how) {
            hows.push(how);
        }
    }
    let mut text = plain(format!("Made from {first} to {last} by "));
    text.extend(hows.join(&Span::Plain(", and by ".into())));
    text.push(Span::Plain(".".into()));
    Some(text)
}

/// When, how and on what an exhibit was made.
fn made(record: &Record) -> String {
    let Record { computer, at, took_s, asked, .. } = record;
    let sizes = if asked.full { "the papers' own sizes" } else { "the usual sizes" };
    let (took, version, seed) = (rough(*took_s), &asked.version, asked.seed);
    format!("Made {at} in {took} s with loggp {version}, at {sizes}, seed {seed}, on {computer}")
}

/// A text with a large letter first.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
