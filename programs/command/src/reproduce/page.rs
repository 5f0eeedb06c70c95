//! The page of a report: one HTML file with everything in it, for any width, light and dark, and for paper.

use std::fmt::{Display, Write};

use loggp_papers::{Check, Finding, Outcome, PAPERS, Paper, Picture, Show, Table};

use super::record::Record;
use super::summary::{Summary, all_made, differing, held, made, outcome, sentence, verdict, who};

/// Stands in every page, so that one is told from pages of others.
pub const MARK: &str = r#"<meta name="generator" content="loggp reproduce">"#;
/// How the page looks.
const STYLE: &str = include_str!("page.css");
/// Tables with more columns than this become lists where there is no room for them.
const NARROW: usize = 4;

/// The page of these records.
pub fn html(records: &[Record]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Five papers on LogP, reproduced</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    let out = &mut page;
    head(out, records);
    for paper in PAPERS {
        section(out, paper, records);
    }
    *out += "</body>\n</html>\n";
    page
}

/// What the page is, how much agrees, and what is in it.
fn head(out: &mut String, records: &[Record]) {
    *out += "<header>\n<h1>Five papers on LogP, reproduced</h1>\n<p>Every figure and table of the five papers on the \
             LogP family of models, made again on an emulated parallel machine. For each: what the paper says, its \
             formula, the model (the program on a clock that jumps), and the time measured (the same program on a clock \
             that passes).</p>\n";
    Summary::of(records).html(out);
    *out += "<dl class=\"outcomes\">\n";
    for kind in [Outcome::Equal, Outcome::Within, Outcome::Differs] {
        let (name, meaning) = outcome(kind);
        element(out, "dt", format_args!("<span class=\"{name}\">{name}</span>"));
        element(out, "dd", escaped(meaning));
    }
    *out += "</dl>\n";
    if let Some(made) = all_made(records) {
        element(out, "p class=\"held\"", escaped(&made.replace('`', "")));
    }
    *out += "<h2 id=\"differs\">What differs, and why</h2>\n";
    let differs = differing(records);
    if differs.rows.is_empty() {
        element(out, "p", "Nothing that was made differs.");
    } else {
        table(out, &differs, true);
    }
    *out += "<nav>\n<h2>Contents</h2>\n";
    for paper in PAPERS {
        element(out, "h3", escaped(paper.name));
        *out += "<ul>\n";
        for exhibit in paper.exhibits {
            let text = sentence(&format!("{}: {}", exhibit.place, exhibit.title));
            match records.iter().any(|record| record.id == exhibit.id) {
                true => {
                    element(out, "li", format_args!("<a href=\"#{}\">{}</a>", exhibit.id, escaped(&text)))
                }
                false => element(out, "li", format_args!("{} (not made yet)", escaped(&text))),
            }
        }
        *out += "</ul>\n";
    }
    *out += "</nav>\n</header>\n";
}

/// A paper.
fn section(out: &mut String, paper: &Paper, records: &[Record]) {
    let made = |id| records.iter().find(|record| record.id == id);
    let records: Vec<&Record> = paper.exhibits.iter().filter_map(|exhibit| made(exhibit.id)).collect();
    if records.is_empty() {
        return;
    }
    *out += "<section>\n";
    element(out, "h2", escaped(paper.name));
    element(out, "p class=\"source\"", escaped(paper.source));
    for record in records {
        article(out, record);
    }
    *out += "</section>\n";
}

/// An exhibit.
fn article(out: &mut String, record: &Record) {
    let Record { id, place, title, finding, .. } = record;
    let _ = writeln!(out, "<article id=\"{id}\">");
    element(
        out,
        "h3",
        format_args!(
            "{}: {} <a class=\"id\" href=\"#{id}\">{id}</a>",
            escaped(&sentence(place)),
            escaped(title)
        ),
    );
    element(out, "p class=\"badges\"", badges(finding));
    element(out, "p", escaped(&verdict(record)));
    list(out, "The paper", &record.says);
    list(out, "Formulas", &record.formulas);
    for Picture { caption, svg, .. } in &finding.pictures {
        let _ = writeln!(out, "<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>", escaped(caption));
    }
    if !finding.checks.is_empty() {
        checks(out, &finding.checks);
    }
    for one in &finding.tables {
        element(out, "h4", escaped(&one.title));
        table(out, one, false);
    }
    held_so(out, record);
    repeated(out, record);
    *out += "</article>\n";
}

/// How many checks came out how.
fn badges(finding: &Finding) -> String {
    let badge = |kind| match (finding.count(kind), outcome(kind).0) {
        (0, _) => String::new(),
        (n, name) => format!("<span class=\"{name}\">{n} {name}</span> "),
    };
    [Outcome::Equal, Outcome::Within, Outcome::Differs].map(badge).concat()
}

/// The paper's numbers beside ours.
fn checks(out: &mut String, checks: &[Check]) {
    *out += "<h4>The paper's numbers and claims beside ours</h4>\n<div class=\"table\"><table class=\"wide checks\">\n\
             <thead><tr><th>what</th><th>paper</th><th>ours</th><th>by</th><th>outcome</th><th>why</th></tr></thead>\n\
             <tbody>\n";
    for Check { what, paper, ours, by, outcome: kind, reason } in checks {
        let name = outcome(*kind).0;
        *out += "<tr>";
        cell(out, "what", "", escaped(what));
        cell(out, "paper", "", escaped(paper));
        cell(out, "ours", "", escaped(ours));
        cell(out, "by", "", who(*by));
        cell(out, "outcome", "", format_args!("<span class=\"{name}\">{name}</span>"));
        cell(out, "why", "", escaped(reason.as_deref().unwrap_or("")));
        *out += "</tr>\n";
    }
    *out += "</tbody></table></div>\n";
}

/// A table.
fn table(out: &mut String, table: &Table, links: bool) {
    let wide = if table.columns.len() > NARROW { " class=\"wide\"" } else { "" };
    let _ = write!(out, "<div class=\"table\"><table{wide}>\n<thead><tr>");
    let class = |show| if show == Show::Text { "" } else { "n" };
    for column in &table.columns {
        let _ = write!(out, "<th class=\"{}\">{}</th>", class(column.show), escaped(&column.heading()));
    }
    *out += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        *out += "<tr>";
        for (number, (column, value)) in table.columns.iter().zip(row).enumerate() {
            let shown = escaped(&column.shown(value));
            let shown = match links && number == 0 {
                true => format!("<a href=\"#{shown}\">{shown}</a>"),
                false => shown,
            };
            cell(out, &column.heading(), class(column.show), shown);
        }
        *out += "</tr>\n";
    }
    *out += "</tbody></table></div>\n";
}

/// A cell. It knows what stands above it, for where there is no room for the table.
fn cell(out: &mut String, heading: &str, class: &str, text: impl Display) {
    let text = text.to_string();
    let class = if text.is_empty() { "none" } else { class };
    let _ = write!(out, "<td class=\"{class}\" data-of=\"{}\">{text}</td>", escaped(heading));
}

/// How the host held the runs.
fn held_so(out: &mut String, record: &Record) {
    if let Some(sentence) = held(record) {
        element(out, "p class=\"held\"", escaped(&sentence));
    }
}

/// What is needed to repeat it.
fn repeated(out: &mut String, record: &Record) {
    *out += "<h4>To repeat it</h4>\n<pre>";
    let _ = writeln!(
        out,
        "loggp {}",
        escaped(&record.asked.command().replacen("reproduce", &format!("reproduce {}", record.id), 1))
    );
    for command in &record.commands {
        let _ = writeln!(out, "{}", escaped(command));
    }
    *out += "</pre>\n";
    let files = record.files();
    let files = std::iter::once(Record::file(&record.id)).chain(files);
    let links: Vec<String> = files.map(|file| format!("<a href=\"{file}\">{file}</a>")).collect();
    element(out, "p class=\"files\"", format_args!("{}. {}.", links.join(", "), escaped(&made(record))));
}

/// A list under a heading, if there is anything in it.
fn list(out: &mut String, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    element(out, "h4", heading);
    *out += "<ul>\n";
    for item in items {
        element(out, "li", escaped(item));
    }
    *out += "</ul>\n";
}

/// An element, which may have attributes, on a line of its own.
pub fn element(out: &mut String, name: &str, content: impl Display) {
    let end = name.split(' ').next().unwrap_or(name);
    let _ = writeln!(out, "<{name}>{content}</{end}>");
}

/// Text as HTML has it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
