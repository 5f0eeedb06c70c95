//! The report of all records: a page with everything in it, and a summary for Markdown.

use loggp_document::{Block, Card, Cell, Document, Show, Span, Table, Text, Way, plain};
use loggp_draw::digits::rough;
use loggp_papers::{Answer, Mark, PAPERS, Paper, Picture, Row};

use super::super::number::count;
use super::record::Record;

/// What wrote a page, as the page says it, so that one is told from pages of others.
pub const GENERATOR: &str = "loggp reproduce";
/// So many rows of a table are on the page, and all in its file.
const MOST_ROWS: usize = 60;
const TITLE: &str = "Five papers on LogP, reproduced";

/// The page of these records.
pub fn page(records: &[Record]) -> Document {
    let mut blocks = opening(records);
    blocks.push(contents(records));
    blocks.push(Block::Choice(vec![("differs", "what differs"), ("measured", "what was measured")]));
    blocks.extend(strips(records, ""));
    blocks.extend(differences(records));
    for (paper, of) in by_paper(records) {
        blocks.push(Block::Heading(2, plain(paper.name)));
        blocks.push(Block::Note(plain(paper.source)));
        blocks.extend(of.into_iter().map(article));
        blocks.push(Block::Folded(
            format!("All that is in {}, and what became of it", paper.name),
            vec![Block::Table(inventory(paper))],
        ));
    }
    Document { title: TITLE.into(), blocks }
}

/// The summary of these records, with pictures that lead to their articles on the page.
pub fn summary(records: &[Record], page: &str) -> Document {
    let mut blocks = opening(records);
    blocks.extend(differences(records));
    blocks.extend(strips(records, page));
    Document { title: TITLE.into(), blocks }
}

/// What both begin with: what this is, how many rows came out how, and how it was made.
fn opening(records: &[Record]) -> Vec<Block> {
    let meaning =
        |(mark, _, meaning): (Mark, &str, &str)| vec![self::mark(mark), Span::Plain(format!(": {meaning}."))];
    let mut blocks = vec![
        Block::Paragraph(plain(
            "Every figure and table of five papers on the LogP family of models, made again on an emulated parallel machine: \
             what the paper says, its formula, the model (the program on a clock that jumps), and the time measured (the same \
             program on a clock that passes). The column \u{201c}paper\u{201d} holds what stands in the paper, and nothing else.",
        )),
        Block::Table(counts(records)),
        Block::List(Mark::ALL.map(meaning).into()),
    ];
    blocks.extend(made_by(records).map(Block::Note));
    blocks.extend(held(records).map(|text| Block::Note(plain(text))));
    blocks
}

/// The papers of which there is a record, with their records.
fn by_paper(records: &[Record]) -> impl Iterator<Item = (&'static Paper, Vec<&Record>)> {
    let of = |paper: &Paper| records.iter().filter(|record| record.paper == paper.name).collect::<Vec<_>>();
    PAPERS.iter().map(move |paper| (*paper, of(paper))).filter(|(_, of)| !of.is_empty())
}

/// How many rows of each paper came out how.
fn counts(records: &[Record]) -> Table {
    let table = Table::new("summary", "").text("paper").column("exhibits", "", Show::Right);
    // What nothing came out as is left out if it is not to come out so.
    let is_wrong = records.iter().any(|record| record.finding.count(Mark::Wrong) > 0);
    let marks = || Mark::ALL.iter().filter(move |(mark, ..)| is_wrong || *mark != Mark::Wrong);
    let table = marks().fold(table, |table, (_, name, _)| table.exact(name, ""));
    let mut table = table.column("runs in time", "", Show::Right);
    let mut row = |name: &str, exhibits: usize, of: &dyn Fn(&Record) -> bool| {
        let of: Vec<&Record> = records.iter().filter(|record| of(record)).collect();
        let sum = |count: &dyn Fn(&Record) -> usize| of.iter().map(|record| count(record)).sum::<usize>();
        let (runs, late) =
            (sum(&|record| record.finding.held.wall_runs), sum(&|record| record.finding.held.late));
        let mut cells: Vec<Cell> = vec![name.into(), format!("{} of {exhibits}", of.len()).into()];
        cells.extend(marks().map(|(mark, ..)| Cell::from(sum(&|record| record.finding.count(*mark)))));
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
fn differences(records: &[Record]) -> [Block; 2] {
    let table = Table::new("differs", "").column("id", "", Show::Name);
    let mut table = table.text("what").text("paper").text("where").text("ours").text("why");
    for record in records {
        for row in record.finding.rows.iter().filter(|row| matches!(row.mark, Mark::Differs | Mark::Wrong)) {
            let why = row.reason.as_deref().unwrap_or("no reason is known");
            let cells = [&*record.id, &row.what, &row.paper, &row.section, &row.ours, why];
            table.push(cells.map(Cell::from).into());
        }
        for wrong in &record.finding.held.wrong {
            table.push([&*record.id, "a result", "right", "", "wrong", wrong].map(Cell::from).into());
        }
    }
    let differs = match table.rows.is_empty() {
        true => Block::Paragraph(plain("Nothing that was made differs.")),
        false => Block::Table(table),
    };
    [Block::Heading(2, plain("What differs, and why")), differs]
}

/// Ways to all exhibits that were made.
fn contents(records: &[Record]) -> Block {
    let of = |(paper, of): (&Paper, Vec<&Record>)| {
        let way = |record: &Record| Way {
            id: record.id.clone(),
            classes: classes(record),
            title: record.heading(),
        };
        (paper.name.to_string(), of.into_iter().map(way).collect())
    };
    Block::Contents(by_paper(records).map(of).collect())
}

/// For each paper its exhibits as small pictures, which lead to their articles on this page.
fn strips(records: &[Record], page: &str) -> Vec<Block> {
    let card = |record: &Record| Card {
        id: record.id.clone(),
        link: format!("{page}#{}", record.id),
        classes: classes(record),
        title: record.heading(),
        picture: record.finding.pictures.first().map(|picture| format!("{}.svg", record.stem(&picture.name))),
        line: marks(record),
    };
    let strip = |(paper, of): (&Paper, Vec<&Record>)| {
        [Block::Heading(2, plain(paper.name)), Block::Cards(of.into_iter().map(card).collect())]
    };
    by_paper(records).flat_map(strip).collect()
}

/// All that a paper shows, proves and counts.
fn inventory(paper: &Paper) -> Table {
    let mut table = Table::new("inventory", "").text("where").text("what").text("here");
    for place in paper.inventory() {
        table.push([place.place, place.what, place.here].map(Cell::from).into());
    }
    table
}

/// An exhibit.
fn article(record: &Record) -> Block {
    let Record { id, says, formulas, finding, .. } = record;
    let mut blocks = vec![Block::Paragraph(marks(record))];
    blocks.extend(says.iter().map(|says| Block::Paragraph(plain(says))));
    if !formulas.is_empty() {
        blocks.push(Block::List(formulas.iter().map(plain).collect()));
    }
    for (number, Picture { name, caption, svg, narrow }) in finding.pictures.iter().enumerate() {
        // The first is shown small at the top, too.
        let svg = match number {
            0 => svg.replacen("<svg", &format!("<svg id=\"picture-{id}\""), 1),
            _ => svg.clone(),
        };
        let file = format!("{}.svg", record.stem(name));
        blocks.push(Block::Picture { svg, narrow: narrow.clone(), file, caption: caption.clone() });
    }
    if !finding.rows.is_empty() {
        blocks.push(Block::Table(rows(&finding.rows)));
    }
    for table in &finding.tables {
        let file = format!("{}.csv", record.stem(&table.name));
        let rows = table.rows.iter().take(MOST_ROWS).cloned().collect();
        let mut folded = vec![Block::Table(Table { rows, ..table.clone() })];
        if let Some(more) = table.rows.len().checked_sub(MOST_ROWS + 1) {
            folded.push(Block::Note(plain(format!("{} are in {file} alone.", count(more + 1, "more row")))));
        }
        blocks.push(Block::Folded(format!("{} ({file})", table.title), folded));
    }
    let again = record.asked.command().replacen("reproduce", &format!("reproduce {id}"), 1);
    let commands = [format!("loggp {again}")].into_iter().chain(finding.commands.iter().cloned()).collect();
    blocks.push(Block::Folded("The commands that run this".into(), vec![Block::Code(commands)]));
    Block::Article { id: id.clone(), classes: classes(record), heading: plain(record.heading()), blocks }
}

/// What an exhibit can be chosen by.
fn classes(record: &Record) -> Vec<&'static str> {
    let finding = &record.finding;
    let differs = finding.count(Mark::Differs) + finding.count(Mark::Wrong) > 0;
    let classes = [("differs", differs), ("measured", finding.held.wall_runs > 0)];
    classes.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
}

/// What the paper says beside what came out here.
fn rows(rows: &[Row]) -> Table {
    let table = Table::new("rows", "").text("what").text("paper").text("where").text("ours").text("by");
    let mut table = table.column("", "", Show::Mark).text("by which rule, and why");
    for row in rows {
        let by = match row.by {
            _ if row.ours.is_empty() => "",
            Answer::Formula => "formula",
            Answer::Model => "model",
            Answer::Count => "count",
        };
        let parts = [Some(row.rule.as_str()), row.reason.as_deref()].into_iter().flatten();
        let why = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let cells = [&*row.what, &row.paper, &row.section, &row.ours, by, row.mark.name(), &why];
        table.push(cells.map(|text| if text.is_empty() { Cell::Nothing } else { text.into() }).into());
    }
    table.without_empty()
}

/// A mark, in its colour.
fn mark(mark: Mark) -> Span {
    Span::Mark(mark.name().into(), mark.name().into())
}

/// How many rows of an exhibit came out how.
fn marks(record: &Record) -> Text {
    let counts = Mark::ALL.iter().map(|(mark, name, _)| (record.finding.count(*mark), name));
    let counts = counts.filter(|(count, _)| *count > 0);
    let marks = counts.map(|(count, name)| vec![Span::Mark(format!("{count} {name}"), (*name).into())]);
    marks.collect::<Vec<_>>().join(&Span::Plain(", ".into()))
}

/// How this computer held all runs, in a sentence or two; nothing if nothing was measured.
fn held(records: &[Record]) -> Option<String> {
    let held = || records.iter().map(|record| &record.finding.held);
    let most = |of: fn(&loggp_papers::Held) -> f64| rough(held().map(of).fold(0.0, f64::max));
    let runs: usize = held().map(|held| held.wall_runs).sum();
    let late: usize = held().map(|held| held.late).sum();
    (runs > 0).then(|| {
        format!(
            "{} of {runs} measured runs ended in time; their times are the model's to within {}%, at dilations up to {}, and the \
             latest wait ended {} us late. Where work is charged a run waits out what the model says, so that both are the same \
             by design as long as this computer keeps up.",
            runs - late,
            most(|held| 100.0 * held.farthest),
            most(|held| held.dilation),
            most(|held| held.latest_us)
        )
    })
}

/// When, on what and by which commands all was made.
fn made_by(records: &[Record]) -> Option<Text> {
    let first = records.iter().map(|record| &record.at).min()?;
    let took: f64 = records.iter().map(|record| record.took_s).sum();
    let mut hows: Vec<Text> = Vec::new();
    for Record { asked, computer, .. } in records {
        let on = format!(" (version {}) on {computer}", asked.version);
        let how = vec![Span::Code(format!("loggp {}", asked.command())), Span::Plain(on)];
        if !hows.contains(&how) {
            hows.push(how);
        }
    }
    let mut text = plain(format!("Made on {} in {} s by ", &first[..first.len().min(10)], rough(took)));
    text.extend(hows.join(&Span::Plain(", and by ".into())));
    text.push(Span::Plain(".".into()));
    Some(text)
}
