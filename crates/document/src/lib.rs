//! Tables, and documents of text, tables and pictures. Documents are written as [text](Document::to_text)
//! and [Markdown](Document::to_markdown), and tables also as [CSV](Table::to_csv).

mod csv;
mod markdown;
mod printable;
mod table;
mod text;

pub use printable::{printable, printable_line};
pub use table::{Cell, CellFormat, Table, TableColumn};
pub use text::Width;

/// A document with a title.
#[derive(Debug)]
pub struct Document {
    /// Title.
    pub title: String,
    /// Contents from top to bottom.
    pub blocks: Vec<DocumentBlock>,
}

/// A part of a document.
#[derive(Debug)]
pub enum DocumentBlock {
    /// A heading; the title has level 1.
    Heading(u8, RichText),
    /// A paragraph.
    Paragraph(RichText),
    /// A paragraph in small letters, on how something was made.
    Note(RichText),
    /// A list.
    List(Vec<RichText>),
    /// A table.
    Table(Table),
    /// A picture: its SVG, one for narrow screens if there is one, the name of its file, and its caption.
    Picture { svg: String, narrow: Option<String>, file: String, caption: String },
    /// Commands.
    Code(Vec<String>),
    /// An article with a heading, to whose id links lead. On a page it can be chosen by its classes.
    Article { id: String, classes: Vec<&'static str>, heading: RichText, blocks: Vec<DocumentBlock> },
    /// Small pictures of articles, each with a line.
    Cards(Vec<ArticleCard>),
    /// Blocks that are folded under a title; text leaves them out.
    Folded(String, Vec<DocumentBlock>),
    /// Links to articles, under headings, which stay beside a page; other formats leave them out.
    Contents(Vec<(String, Vec<ArticleLink>)>),
    /// A choice among the articles by classes, each with a label; other formats leave it out.
    Choice(Vec<(&'static str, &'static str)>),
}

/// A link to an article in the table of contents.
#[derive(Debug)]
pub struct ArticleLink {
    /// Id of the article.
    pub id: String,
    /// Classes of the article.
    pub classes: Vec<&'static str>,
    /// Its title.
    pub title: String,
}

/// A small picture of an article.
#[derive(Debug)]
pub struct ArticleCard {
    /// Id of the article.
    pub id: String,
    /// Link to the article, on the same page or on another.
    pub link: String,
    /// Classes of the article.
    pub classes: Vec<&'static str>,
    /// Its title.
    pub title: String,
    /// True if it has a picture, whose id is that of the article after `picture-`.
    pub has_picture: bool,
    /// Line about the outcome.
    pub line: RichText,
}

/// Running text.
pub type RichText = Vec<Span>;

/// A piece of running text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Plain words.
    Plain(String),
    /// A command, or a part of one.
    Code(String),
    /// A word for an outcome, and the class that gives it its colour.
    Mark(String, String),
    /// A link: its text and its target.
    Link(String, String),
}

/// Returns text without formatting.
pub fn plain(text: impl Into<String>) -> RichText {
    vec![Span::Plain(text.into())]
}
