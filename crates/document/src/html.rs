//! A document as one page of HTML with everything in it, for any width, light and dark, and for paper.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Block, Document, Show, Span, Table};

/// How the page looks.
const STYLE: &str = include_str!("page.css");
/// The script: Escape closes an enlarged figure, and following a link folds the contents again.
const SCRIPT: &str = include_str!("page.js");
/// Tables with more columns than this become lists where there is no room for them.
const NARROW: usize = 4;
/// Longer texts have a line for themselves there.
const LONG: usize = 40;

impl Document {
    /// The document as a page that says which program wrote it.
    pub fn to_html(&self, generator: &str) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content=(generator);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body id="top" {
                    h1 { (self.title) }
                    @for block in &self.blocks { (self::block(block)) "\n" }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
            "\n"
        };
        page.into_string()
    }
}

/// A part of the document.
fn block(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Heading(2, text) => h2 { (spans(text)) },
            Block::Heading(3, text) => h3 { (spans(text)) },
            Block::Heading(_, text) => h4 { (spans(text)) },
            Block::Paragraph(text) => p { (spans(text)) },
            Block::Note(text) => p.note { (spans(text)) },
            Block::List(items) => ul { @for item in items { li { (spans(item)) } } },
            Block::Table(table) => (self::table(table)),
            Block::Picture { svg, narrow, caption, .. } => (picture(svg, narrow.as_deref(), caption)),
            Block::Code(lines) => pre { @for line in lines { (line) "\n" } },
            Block::Article { id, classes, heading, blocks } => article id=(id) class=(classes.join(" ")) {
                h3 { (spans(heading)) " " a.id href={ "#" (id) } { (id) } " " a.id href="#top" { "to the top" } }
                @for one in blocks { (self::block(one)) "\n" }
            },
            Block::Cards(cards) => div.cards {
                @for card in cards {
                    a class={ "card " (card.classes.join(" ")) } href=(card.link) {
                        strong { (card.title) }
                        span { (spans(&card.line)) }
                        @if card.picture.is_some() { svg aria-hidden="true" { use href={ "#picture-" (card.id) } width="100%" height="100%" {} } }
                    }
                }
            },
            Block::Folded(title, blocks) => details {
                summary { (title) }
                @for one in blocks { (self::block(one)) "\n" }
            },
            Block::Contents(parts) => nav.contents {
                a href="#top" { "To the top" }
                details {
                    summary { "Contents" }
                    @for (heading, ways) in parts {
                        p { strong { (heading) } }
                        ul { @for way in ways { li class=(way.classes.join(" ")) { a href={ "#" (way.id) } title=(way.title) { (way.id) } } } }
                    }
                }
            },
            Block::Choice(classes) => (choice(classes)),
        }
    }
}

/// A picture, which fills the window while it is held on, and is another one where there is little room.
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

/// Buttons that show all articles, or those of a class alone, and the ways to them: a style for each, and no script.
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

/// Running text.
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

/// A table. A cell knows what stands above it, for where there is no room for the table.
fn table(table: &Table) -> Markup {
    let class = |show| match show {
        Show::Text | Show::Mark | Show::Name => "",
        _ => "n",
    };
    // Where there is no room each cell says what stands above it.
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
                                @let text = column.shown(cell);
                                @let class = match text.chars().count() {
                                    0 => "none",
                                    length if length > LONG => "long",
                                    _ => class(column.show),
                                };
                                td class=(class) data-of=[is_wide.then(|| column.heading())] {
                                    @match column.show {
                                        Show::Mark => span class=(text) { (text) },
                                        Show::Name => a href={ "#" (text) } { (text) },
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
