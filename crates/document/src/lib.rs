//! Tables, and documents of text, tables and pictures. Each way to write them is a file: [text](Document::to_text),
//! [HTML](Document::to_html) and [Markdown](Document::to_markdown) for documents, and [CSV](Table::to_csv) for tables.

mod csv;
mod html;
mod markdown;
mod table;
mod text;

pub use table::{Cell, Column, Show, Table};
pub use text::Width;

/// A document.
#[derive(Debug)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What is in it, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Debug)]
pub enum Block {
    /// A heading; the title has level 1.
    Heading(u8, Text),
    /// A paragraph.
    Paragraph(Text),
    /// A paragraph that says how something was made, in small letters.
    Note(Text),
    /// A list.
    List(Vec<Text>),
    /// A table.
    Table(Table),
    /// A picture in SVG, the same for a narrow screen if there is one, what its file is called, and what stands below it.
    Picture { svg: String, narrow: Option<String>, file: String, caption: String },
    /// Commands.
    Code(Vec<String>),
    /// A part that can be reached by its name, under a heading of level 3; the classes are what it can be chosen by.
    Article { id: String, classes: Vec<&'static str>, heading: Text, blocks: Vec<Block> },
    /// Articles as small pictures, each with a line.
    Cards(Vec<Card>),
    /// What lies folded on a page until it is wanted; only a page has it.
    Folded(String, Vec<Block>),
    /// Ways to articles, which stay beside a page: headings with ways below them; only a page has them.
    Contents(Vec<(String, Vec<Way>)>),
    /// A choice among the articles by their classes, each with what it is called; only a page has it.
    Choice(Vec<(&'static str, &'static str)>),
}

/// A way to an article.
#[derive(Debug)]
pub struct Way {
    /// The article's name.
    pub id: String,
    /// The article's classes, by which it can be chosen.
    pub classes: Vec<&'static str>,
    /// Its title.
    pub title: String,
}

/// An article as a small picture.
#[derive(Debug)]
pub struct Card {
    /// The article's name.
    pub id: String,
    /// Where it is, with its name: on the same page or on another.
    pub link: String,
    /// What it can be chosen by, as the article.
    pub classes: Vec<&'static str>,
    /// Its title.
    pub title: String,
    /// What the file of its first picture is called, if it has one.
    pub picture: Option<String>,
    /// What came of it, in a line.
    pub line: Text,
}

/// Running text.
pub type Text = Vec<Span>;

/// A piece of running text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Words.
    Plain(String),
    /// A command, or a part of one.
    Code(String),
    /// A word that says how something came out, and the word that gives it its colour.
    Mark(String, String),
    /// A link, and where it leads.
    Link(String, String),
}

/// Words without anything special.
pub fn plain(text: impl Into<String>) -> Text {
    vec![Span::Plain(text.into())]
}
