//! The report of all records: a page with everything, and a summary for Markdown.

use loggp_document::{
    ArticleCard, ArticleLink, Cell, CellFormat, Document, DocumentBlock, RichText, Span, Table, plain,
};
use loggp_draw::digits::rough;
use loggp_papers::{AnswerSource, ExhibitRow, PAPERS, Paper, Picture, Verdict};

use super::super::number::count;
use super::record::ExhibitRecord;

/// Name of the generator in a page, which tells it from other pages.
pub const GENERATOR: &str = "loggp reproduce";
/// Limit of the rows of a table that are on the page; its file has all.
const MOST_ROWS: usize = 60;
const TITLE: &str = "Five papers on LogP, reproduced";

/// Returns the page of these records.
pub fn page(records: &[ExhibitRecord]) -> Document {
    let mut blocks = opening(records);
    blocks.push(contents(records));
    blocks.push(DocumentBlock::Choice(vec![("differs", "what differs"), ("measured", "what was measured")]));
    blocks.extend(strips(records, ""));
    blocks.extend(differences(records));
    for (paper, records) in by_paper(records) {
        blocks.push(DocumentBlock::Heading(2, plain(paper.name)));
        blocks.push(DocumentBlock::Note(plain(paper.source)));
        blocks.extend(records.into_iter().map(article));
        blocks.push(DocumentBlock::Folded(
            format!("All that is in {}, and what became of it", paper.name),
            vec![DocumentBlock::Table(inventory(paper))],
        ));
    }
    Document { title: TITLE.into(), blocks }
}

/// Returns the summary of these records, whose pictures link to their articles on `page`.
pub fn summary(records: &[ExhibitRecord], page: &str) -> Document {
    let mut blocks = opening(records);
    blocks.extend(differences(records));
    blocks.extend(strips(records, page));
    Document { title: TITLE.into(), blocks }
}

/// Returns the beginning of page and summary: an introduction, the counts of the outcomes, and how it was
/// made.
fn opening(records: &[ExhibitRecord]) -> Vec<DocumentBlock> {
    let meaning = |(mark, _, meaning): (Verdict, &str, &str)| {
        vec![self::mark(mark), Span::Plain(format!(": {meaning}."))]
    };
    let mut blocks = vec![
        DocumentBlock::Paragraph(plain(
            "Every figure and table of five papers on the LogP family of models, made again on an emulated parallel machine: \
             what the paper says, its formula, the model (the program on a clock that jumps), and the time measured (the same \
             program on a clock that passes). The column \u{201c}paper\u{201d} holds what stands in the paper, and nothing else.",
        )),
        DocumentBlock::Table(counts(records)),
        DocumentBlock::List(Verdict::ALL.map(meaning).into()),
    ];
    blocks.extend(made_by(records).map(DocumentBlock::Note));
    blocks.extend(timing_note(records).map(|text| DocumentBlock::Note(plain(text))));
    blocks
}

/// Returns the papers that have records, with these.
fn by_paper(records: &[ExhibitRecord]) -> impl Iterator<Item = (&'static Paper, Vec<&ExhibitRecord>)> {
    let of_paper =
        |paper: &Paper| records.iter().filter(|record| record.paper == paper.name).collect::<Vec<_>>();
    PAPERS.iter().map(move |paper| (*paper, of_paper(paper))).filter(|(_, records)| !records.is_empty())
}

/// Returns the table of the number of rows with each mark, by paper.
fn counts(records: &[ExhibitRecord]) -> Table {
    let table = Table::new("summary", "").text("paper").column("exhibits", "", CellFormat::Right);
    // The column of wrong results is left out if there are none.
    let is_wrong = records.iter().any(|record| record.finding.count(Verdict::Wrong) > 0);
    let marks = || Verdict::ALL.iter().filter(move |(mark, ..)| is_wrong || *mark != Verdict::Wrong);
    let table = marks().fold(table, |table, (_, name, _)| table.exact(name, ""));
    let mut table = table.column("runs in time", "", CellFormat::Right);
    let mut row = |name: &str, exhibits: usize, is_counted: &dyn Fn(&ExhibitRecord) -> bool| {
        let counted: Vec<&ExhibitRecord> = records.iter().filter(|record| is_counted(record)).collect();
        let sum = |count: &dyn Fn(&ExhibitRecord) -> usize| {
            counted.iter().map(|record| count(record)).sum::<usize>()
        };
        let (runs, late) =
            (sum(&|record| record.finding.summary.wall_runs), sum(&|record| record.finding.summary.late));
        let mut cells: Vec<Cell> = vec![name.into(), format!("{} of {exhibits}", counted.len()).into()];
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

/// Returns the section on differences and their reasons.
fn differences(records: &[ExhibitRecord]) -> [DocumentBlock; 2] {
    let table = Table::new("differs", "").column("id", "", CellFormat::Name);
    let mut table = table.text("what").text("paper").text("where").text("ours").text("why");
    for record in records {
        for row in
            record.finding.rows.iter().filter(|row| matches!(row.verdict, Verdict::Differs | Verdict::Wrong))
        {
            let why = row.reason.as_deref().unwrap_or("no reason is known");
            let cells = [&*record.id, &row.what, &row.paper, &row.section, &row.ours, why];
            table.push(cells.map(Cell::from).into());
        }
        for wrong in &record.finding.summary.wrong {
            table.push([&*record.id, "a result", "right", "", "wrong", wrong].map(Cell::from).into());
        }
    }
    let differs = match table.rows.is_empty() {
        true => DocumentBlock::Paragraph(plain("Nothing that was made differs.")),
        false => DocumentBlock::Table(table),
    };
    [DocumentBlock::Heading(2, plain("What differs, and why")), differs]
}

/// Returns links to all exhibits.
fn contents(records: &[ExhibitRecord]) -> DocumentBlock {
    let part = |(paper, records): (&Paper, Vec<&ExhibitRecord>)| {
        let link = |record: &ExhibitRecord| ArticleLink {
            id: record.id.clone(),
            classes: classes(record),
            title: record.heading(),
        };
        (paper.name.to_string(), records.into_iter().map(link).collect())
    };
    DocumentBlock::Contents(by_paper(records).map(part).collect())
}

/// Returns for each paper its exhibits as small pictures, which link to their articles on `page`.
fn strips(records: &[ExhibitRecord], page: &str) -> Vec<DocumentBlock> {
    let card = |record: &ExhibitRecord| ArticleCard {
        id: record.id.clone(),
        link: format!("{page}#{}", record.id),
        classes: classes(record),
        title: record.heading(),
        picture: record.finding.pictures.first().map(|picture| format!("{}.svg", record.stem(&picture.name))),
        line: marks(record),
    };
    let strip = |(paper, records): (&Paper, Vec<&ExhibitRecord>)| {
        [
            DocumentBlock::Heading(2, plain(paper.name)),
            DocumentBlock::Cards(records.into_iter().map(card).collect()),
        ]
    };
    by_paper(records).flat_map(strip).collect()
}

/// Returns the table of everything that a paper shows, proves and counts.
fn inventory(paper: &Paper) -> Table {
    let mut table = Table::new("inventory", "").text("where").text("what").text("here");
    for place in paper.inventory() {
        table.push([place.place, place.what, place.here].map(Cell::from).into());
    }
    table
}

/// Returns the article of an exhibit.
fn article(record: &ExhibitRecord) -> DocumentBlock {
    let ExhibitRecord { id, says, formulas, finding, .. } = record;
    let mut blocks = vec![DocumentBlock::Paragraph(marks(record))];
    blocks.extend(says.iter().map(|says| DocumentBlock::Paragraph(plain(says))));
    if !formulas.is_empty() {
        blocks.push(DocumentBlock::List(formulas.iter().map(plain).collect()));
    }
    for (number, Picture { name, caption, svg, narrow }) in finding.pictures.iter().enumerate() {
        // The first one is also shown small at the top, by reference to its id.
        let svg = match number {
            0 => svg.replacen("<svg", &format!("<svg id=\"picture-{id}\""), 1),
            _ => svg.clone(),
        };
        let file = format!("{}.svg", record.stem(name));
        blocks.push(DocumentBlock::Picture { svg, narrow: narrow.clone(), file, caption: caption.clone() });
    }
    if !finding.rows.is_empty() {
        blocks.push(DocumentBlock::Table(rows(&finding.rows)));
    }
    for table in &finding.tables {
        let file = format!("{}.csv", record.stem(&table.name));
        let rows = table.rows.iter().take(MOST_ROWS).cloned().collect();
        let mut folded = vec![DocumentBlock::Table(Table { rows, ..table.clone() })];
        if let Some(more) = table.rows.len().checked_sub(MOST_ROWS + 1) {
            folded.push(DocumentBlock::Note(plain(format!(
                "{} are in {file} alone.",
                count(more + 1, "more row")
            ))));
        }
        blocks.push(DocumentBlock::Folded(format!("{} ({file})", table.title), folded));
    }
    let again = record.asked.command().replacen("reproduce", &format!("reproduce {id}"), 1);
    let commands = [format!("loggp {again}")].into_iter().chain(finding.commands.iter().cloned()).collect();
    blocks.push(DocumentBlock::Folded(
        "The commands that run this".into(),
        vec![DocumentBlock::Code(commands)],
    ));
    DocumentBlock::Article {
        id: id.clone(),
        classes: classes(record),
        heading: plain(record.heading()),
        blocks,
    }
}

/// Returns the classes by which an exhibit can be chosen.
fn classes(record: &ExhibitRecord) -> Vec<&'static str> {
    let finding = &record.finding;
    let differs = finding.count(Verdict::Differs) + finding.count(Verdict::Wrong) > 0;
    let classes = [("differs", differs), ("measured", finding.summary.wall_runs > 0)];
    classes.into_iter().filter(|(_, applies)| *applies).map(|(name, _)| name).collect()
}

/// Returns the table of the paper's values beside ours.
fn rows(rows: &[ExhibitRow]) -> Table {
    let table = Table::new("rows", "").text("what").text("paper").text("where").text("ours").text("by");
    let mut table = table.column("", "", CellFormat::Mark).text("by which rule, and why");
    for row in rows {
        let by = match row.by {
            _ if row.ours.is_empty() => "",
            AnswerSource::Formula => "formula",
            AnswerSource::Model => "model",
            AnswerSource::Count => "count",
        };
        let parts = [Some(row.rule.as_str()), row.reason.as_deref()].into_iter().flatten();
        let why = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let cells = [&*row.what, &row.paper, &row.section, &row.ours, by, row.verdict.name(), &why];
        table.push(cells.map(|text| if text.is_empty() { Cell::Nothing } else { text.into() }).into());
    }
    table.without_empty()
}

fn mark(mark: Verdict) -> Span {
    Span::Mark(mark.name().into(), mark.name().into())
}

/// Returns the number of rows of an exhibit with each mark, as text.
fn marks(record: &ExhibitRecord) -> RichText {
    let counts = Verdict::ALL.iter().map(|(mark, name, _)| (record.finding.count(*mark), name));
    let counts = counts.filter(|(count, _)| *count > 0);
    let marks = counts.map(|(count, name)| vec![Span::Mark(format!("{count} {name}"), (*name).into())]);
    marks.collect::<Vec<_>>().join(&Span::Plain(", ".into()))
}

/// Returns a note on the timeliness of the measured runs, or `None` if there are none.
fn timing_note(records: &[ExhibitRecord]) -> Option<String> {
    let summaries = || records.iter().map(|record| &record.finding.summary);
    let most =
        |value: fn(&loggp_papers::RunSummary) -> f64| rough(summaries().map(value).fold(0.0, f64::max));
    let runs: usize = summaries().map(|summary| summary.wall_runs).sum();
    let late: usize = summaries().map(|summary| summary.late).sum();
    (runs > 0).then(|| {
        format!(
            "{} of {runs} measured runs ended in time; their times are the model's to within {}%, at dilations up to {}, and the \
             latest wait ended {} us late. Where work is charged a run waits out what the model says, so that both are the same \
             by design as long as this computer keeps up.",
            runs - late,
            most(|summary| 100.0 * summary.farthest),
            most(|summary| summary.dilation),
            most(|summary| summary.latest_us)
        )
    })
}

/// Returns a note on when, on which computers and by which commands the records were made; `None` without
/// any.
fn made_by(records: &[ExhibitRecord]) -> Option<RichText> {
    let first = records.iter().map(|record| &record.at).min()?;
    let took: f64 = records.iter().map(|record| record.took_s).sum();
    let mut hows: Vec<RichText> = Vec::new();
    for ExhibitRecord { asked, computer, .. } in records {
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
