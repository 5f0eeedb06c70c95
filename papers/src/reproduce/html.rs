//! Documents as self-contained HTML pages, for any width, for light and dark screens, and for paper.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use loggp_document::{CellFormat, Document, DocumentBlock, Span, Table};

/// Name of the generator in a page, which tells it from other pages.
pub(super) const GENERATOR: &str = "loggp reproduce";
/// The style of a page.
const STYLE: &str = include_str!("page.css");
/// The script of a page: Escape closes an enlarged figure, and following a link folds the contents.
const SCRIPT: &str = include_str!("page.js");
/// The policy of a page: it runs the script with this hash, and fetches and sends nothing. A test of the
/// command compares the hash.
const POLICY: &str = "default-src 'none'; script-src 'sha256-4sYGgYzXcJRxcXyTcAOLFaz74X0nmaDiybiuLiabEvw='; \
                      style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
/// Tables with more columns than this become lists on narrow screens.
const NARROW: usize = 4;
/// In such a list, texts with more characters than this get a line of their own.
const LONG: usize = 40;

/// Returns a document as a page.
pub(super) fn page(document: &Document) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(GENERATOR);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body id="top" {
                h1 { (document.title) }
                @for block in &document.blocks { (self::block(block)) "\n" }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

fn block(block: &DocumentBlock) -> Markup {
    html! {
        @match block {
            DocumentBlock::Heading(2, text) => h2 { (spans(text)) },
            DocumentBlock::Heading(3, text) => h3 { (spans(text)) },
            DocumentBlock::Heading(_, text) => h4 { (spans(text)) },
            DocumentBlock::Paragraph(text) => p { (spans(text)) },
            DocumentBlock::Note(text) => p.note { (spans(text)) },
            DocumentBlock::List(items) => ul { @for item in items { li { (spans(item)) } } },
            DocumentBlock::Table(table) => (self::table(table)),
            DocumentBlock::Picture { svg, narrow, caption, .. } => (picture(svg, narrow.as_deref(), caption)),
            DocumentBlock::Code(lines) => pre { @for line in lines { (line) "\n" } },
            DocumentBlock::Article { id, classes, heading, blocks } => article id=(id) class=(classes.join(" ")) {
                h3 { (spans(heading)) " " a.id href={ "#" (id) } { (id) } " " a.id href="#top" { "to the top" } }
                @for one in blocks { (self::block(one)) "\n" }
            },
            DocumentBlock::Cards(cards) => div.cards {
                @for card in cards {
                    a class={ "card " (card.classes.join(" ")) } href=(card.link) {
                        strong { (card.title) }
                        span { (spans(&card.line)) }
                        @if card.has_picture { svg aria-hidden="true" { use href={ "#picture-" (card.id) } width="100%" height="100%" {} } }
                    }
                }
            },
            DocumentBlock::Folded(title, blocks) => details {
                summary { (title) }
                @for one in blocks { (self::block(one)) "\n" }
            },
            DocumentBlock::Contents(parts) => nav.contents {
                a href="#top" { "To the top" }
                details {
                    summary { "Contents" }
                    // Of those with one name, one is open at a time.
                    @for (index, (heading, ways)) in parts.iter().enumerate() {
                        details name="part" open[index == 0] {
                            summary { (heading) }
                            ul { @for way in ways { li class=(way.classes.join(" ")) { a href={ "#" (way.id) } title=(way.id) { (way.title) } } } }
                        }
                    }
                }
            },
            DocumentBlock::Choice(classes) => (choice(classes)),
        }
    }
}

/// Returns a picture, which a click enlarges to the window, and which has another form on narrow screens.
fn picture(svg: &str, narrow: Option<&str>, caption: &str) -> Markup {
    html! {
        figure {
            label {
                input.large type="checkbox" aria-label="show the picture large";
                span class=(if narrow.is_some() { "broad" } else { "" }) { (PreEscaped(svg)) }
                @if let Some(narrow) = narrow { span.narrow { (PreEscaped(narrow)) } }
            }
            figcaption { (caption) }
        }
    }
}

/// Returns buttons that show all articles, or only those of a class, with the links to them. A style for each
/// button does that, without a script.
fn choice(classes: &[(&str, &str)]) -> Markup {
    let hide = |(class, _): &(&str, &str)| {
        format!(
            "body:has(#only-{class}:checked) :is(article, .card, .contents li):not(.{class}){{display:none}}\n"
        )
    };
    html! {
        style { (PreEscaped(classes.iter().map(hide).collect::<String>())) }
        fieldset.choice {
            legend { "Show" }
            label { input type="radio" name="only" checked; " all" }
            @for (class, name) in classes {
                label { input type="radio" name="only" id={ "only-" (class) }; " " (name) }
            }
        }
    }
}

fn spans(text: &[Span]) -> Markup {
    html! {
        @for span in text {
            @match span {
                Span::Plain(text) => (text),
                Span::Code(code) => code { (code) },
                Span::Mark(text, colour) => span class=(colour) { (text) },
                Span::Link(text, to) => a href=(to) { (text) },
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = |show: CellFormat| if show.is_right() { "n" } else { "" };
    // On narrow screens each cell of a wide table shows its heading.
    let is_wide = table.columns.len() > NARROW;
    html! {
        div.table {
            table.wide[is_wide] {
                thead {
                    tr { @for column in &table.columns { th class=(class(column.show)) { (column.heading()) } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (column, cell) in table.columns.iter().zip(row) {
                                @let text = column.cell_text(cell);
                                @let class = match text.chars().count() {
                                    0 => "none",
                                    length if length > LONG => "long",
                                    _ => class(column.show),
                                };
                                td class=(class) data-of=[is_wide.then(|| column.heading())] {
                                    @match column.show {
                                        CellFormat::Mark => span class=(text) { (text) },
                                        CellFormat::Name => a href={ "#" (text) } { (text) },
                                        _ => (text),
                                    }
                                }
                            }
                        }
                        "\n"
                    }
                }
            }
        }
    }
}
