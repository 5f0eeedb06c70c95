//! The report of all records: a page with everything; and for Markdown a summary, and a page for each paper.

use crate::{AnswerSource, DifferenceCause, ExhibitRow, PAPERS, Paper, Picture, Verdict};
use loggp_document::{
    ArticleCard, ArticleLink, Cell, CellFormat, Document, DocumentBlock, RichText, Span, Table, plain,
};
use loggp_draw::digits::rough;

use super::record::ExhibitRecord;
use super::sums;
use loggp_command::ask::lookup::capitalized;
use loggp_command::number::count;

/// Limit of the rows of a table that are on the page; its file has all.
const MOST_ROWS: usize = 60;
const TITLE: &str = "Five papers on LogP, reproduced";

/// Returns the page of these records.
pub(super) fn page(records: &[ExhibitRecord]) -> Document {
    let mut blocks = opening(records);
    blocks.push(contents(records));
    blocks.push(DocumentBlock::Choice(vec![("differs", "what differs"), ("measured", "what was measured")]));
    let link = |record: &ExhibitRecord| format!("#{}", record.id);
    blocks.extend(strips(records, link));
    blocks.extend(differences(records, link));
    for (paper, records) in by_paper(records) {
        blocks.push(DocumentBlock::Heading(2, plain(paper.name)));
        blocks.extend(part(paper, records));
    }
    Document { title: TITLE.into(), blocks }
}

/// Returns the summary of these records, which links to the papers' pages in `folder`.
pub(super) fn summary(records: &[ExhibitRecord], folder: &str) -> Document {
    let link = |record: &ExhibitRecord| {
        let paper = PAPERS.iter().find(|paper| paper.name == record.paper).map_or("", |paper| paper.folder);
        format!("{folder}/{paper}.md#{}", record.id)
    };
    let mut blocks = opening(records);
    blocks.extend(differences(records, link));
    blocks.extend(strips(records, link));
    Document { title: TITLE.into(), blocks }
}

/// Returns the page of each paper that has records, with the paper's folder. It links to the file of the
/// summary.
pub(super) fn paper_pages(
    records: &[ExhibitRecord],
    summary: &str,
) -> impl Iterator<Item = (&'static str, Document)> {
    by_paper(records).map(move |(paper, records)| {
        let link = Span::Link("All papers, and what the words mean".into(), format!("../{summary}"));
        let blocks = [DocumentBlock::Paragraph(vec![link])].into_iter().chain(part(paper, records));
        (paper.folder, Document { title: format!("{}, reproduced", paper.name), blocks: blocks.collect() })
    })
}

/// Returns the part of the report on a paper: its exhibits, and all that it shows.
fn part(paper: &Paper, records: Vec<&ExhibitRecord>) -> Vec<DocumentBlock> {
    let mut blocks = vec![DocumentBlock::Note(plain(paper.source)), DocumentBlock::Note(plain(paper.text))];
    blocks.extend(records.into_iter().map(article));
    blocks.push(DocumentBlock::Folded(
        format!("All that is in {}, and what became of it", paper.name),
        vec![DocumentBlock::Table(inventory(paper))],
    ));
    blocks
}

/// Returns the beginning of page and summary: an introduction, the counts of the outcomes, and how it was
/// made.
fn opening(records: &[ExhibitRecord]) -> Vec<DocumentBlock> {
    let mut blocks = vec![DocumentBlock::Paragraph(plain(
        "The figures, tables and claims of five papers on the LogP family of models, made again on an emulated parallel \
             machine. Each number and each sentence of a paper stands beside a formula, the model (the program on a clock that \
             jumps) and, where it was measured, the same program on a clock that passes. Our texts of the papers were read from the \
             printed pages by a program (OCR), or taken out of a file, without the drawings: a misprint is one of the text that we have.",
    ))];
    blocks.extend(sums::blocks(records));
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

/// Returns the section on differences, by weight: a line for each, with the link to its exhibit.
fn differences(records: &[ExhibitRecord], link: impl Fn(&ExhibitRecord) -> String) -> Vec<DocumentBlock> {
    let mut blocks = vec![DocumentBlock::Heading(2, plain("What differs, and why"))];
    let rows = || records.iter().flat_map(|record| record.finding.rows.iter().map(move |row| (record, row)));
    for (cause, name, meaning) in DifferenceCause::ALL {
        let line = |(record, row): (&ExhibitRecord, &ExhibitRow)| {
            let (_, brief) = row.cause.as_ref().filter(|(of, _)| *of == cause)?;
            Some(difference(record, row, brief, link(record)))
        };
        let lines: Vec<RichText> = rows().filter_map(line).collect();
        if !lines.is_empty() {
            blocks.push(DocumentBlock::Heading(3, plain(format!("{}: {}", capitalized(name), lines.len()))));
            blocks.push(DocumentBlock::Paragraph(plain(format!("{}.", capitalized(meaning)))));
            blocks.push(DocumentBlock::List(lines));
        }
    }
    let is_unexplained =
        |row: &ExhibitRow| matches!(row.verdict, Verdict::Differs | Verdict::Wrong) && row.cause.is_none();
    let unexplained = rows().filter(|(_, row)| is_unexplained(row));
    let wrong = records.iter().flat_map(|record| {
        record.finding.summary.wrong.iter().map(|wrong| plain(format!("{}: {wrong}", record.id)))
    });
    let faults = unexplained.map(|(record, row)| difference(record, row, "no reason is known", link(record)));
    let faults: Vec<RichText> = faults.chain(wrong).collect();
    match (faults.is_empty(), blocks.len()) {
        (true, 1) => blocks.push(DocumentBlock::Paragraph(plain("Nothing that was made differs."))),
        (true, _) => {}
        (false, _) => {
            blocks.push(DocumentBlock::Heading(3, plain("Faults of ours")));
            blocks.push(DocumentBlock::List(faults));
        }
    }
    blocks
}

/// Returns the line of a difference.
fn difference(record: &ExhibitRecord, row: &ExhibitRow, why: &str, link: String) -> RichText {
    let place = format!("{}, {}", record.paper, row.section);
    // A claim's words stand in its article.
    let numbers = match row.numbers {
        0 => format!("{}: {}", row.what, row.ours),
        _ => format!("{}: {} in the paper, {} here", row.what, row.paper, row.ours),
    };
    vec![Span::Link(place, link), Span::Plain(format!(": {}. ({numbers})", capitalized(why)))]
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

/// Returns for each paper its exhibits as small pictures, which link to their articles.
fn strips(records: &[ExhibitRecord], link: impl Fn(&ExhibitRecord) -> String) -> Vec<DocumentBlock> {
    let card = |record: &ExhibitRecord| ArticleCard {
        id: record.id.clone(),
        link: link(record),
        classes: classes(record),
        title: record.heading(),
        has_picture: !record.finding.pictures.is_empty(),
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
    let ExhibitRecord { id, says, left_out, formulas, finding, .. } = record;
    let mut blocks = vec![DocumentBlock::Paragraph(marks(record))];
    blocks.extend(says.iter().map(|says| DocumentBlock::Paragraph(plain(says))));
    if !left_out.is_empty() {
        blocks.push(DocumentBlock::Paragraph(plain(format!("Not judged: {left_out}"))));
    }
    if !formulas.is_empty() {
        blocks.push(DocumentBlock::Paragraph(plain("Formulas:")));
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
            AnswerSource::Arithmetic => "arithmetic",
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
    let most = |value: fn(&crate::RunSummary) -> f64| rough(summaries().map(value).fold(0.0, f64::max));
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
