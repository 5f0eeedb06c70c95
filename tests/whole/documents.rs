//! Commands in the project's documents, and the output that the documents show for them. Only tests use this.

#![allow(dead_code)] // each of the crates that include this file uses a part of it

use std::fs;

/// A document: the files and commands in it, in order.
pub(crate) struct ProjectDocument {
    pub(crate) name: String,
    pub(crate) steps: Vec<DocumentStep>,
    /// Options in the first column of its tables.
    pub(crate) listed_options: Vec<String>,
}

pub(crate) enum DocumentStep {
    /// A file: a block of code with the file's name behind the language.
    File {
        name: String,
        text: String,
    },
    Command(ShownCommand),
}

/// A command in a block of code.
pub(crate) struct ShownCommand {
    /// The command line, without the comment behind it.
    pub(crate) line: String,
    /// The file that the output is redirected to.
    pub(crate) file: Option<String>,
    /// The output, which a document shows below a command that begins with a `$`.
    pub(crate) printed: Option<String>,
}

impl ProjectDocument {
    pub(crate) fn commands(&self) -> impl Iterator<Item = &ShownCommand> {
        self.steps.iter().filter_map(|step| match step {
            DocumentStep::Command(shown) => Some(shown),
            DocumentStep::File { .. } => None,
        })
    }

    fn read(root: &str, name: String) -> Self {
        let text = fs::read_to_string(format!("{root}/{name}")).unwrap().replace("\\\n", " ");
        let steps = text.split("```").skip(1).step_by(2).flat_map(|block| {
            let (head, lines) = block.split_once('\n').unwrap_or_default();
            match head.split_once(' ') {
                Some((_, name)) => vec![DocumentStep::File { name: name.into(), text: lines.into() }],
                None => {
                    let commands = commands_of_block(lines, "loggp ");
                    commands.into_iter().map(DocumentStep::Command).collect()
                }
            }
        });
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let words = rows.flat_map(|(cell, _)| cell.split_whitespace());
        let listed = words.filter(|word| word.starts_with("--")).map(String::from).collect();
        let steps = steps.collect();
        ProjectDocument { name, steps, listed_options: listed }
    }
}

/// Returns the commands of a document that begin so.
pub(crate) fn commands_of(text: &str, begin: &str) -> Vec<ShownCommand> {
    text.split("```").skip(1).step_by(2).flat_map(|block| commands_of_block(block, begin)).collect()
}

/// Returns the commands of a block of code that begin so. A line with the placeholder PROGRAM is no command.
fn commands_of_block(block: &str, begin: &str) -> Vec<ShownCommand> {
    let mut commands: Vec<ShownCommand> = Vec::new();
    for line in block.lines() {
        let shows_output = line.starts_with("$ ");
        let typed = line.trim_start_matches("$ ");
        if typed.starts_with(begin) && !typed.contains("PROGRAM") {
            let words = typed.split(" #").next().unwrap();
            let (line, file) = words.split_once(" > ").unwrap_or((words, ""));
            commands.push(ShownCommand {
                line: line.trim().into(),
                file: (!file.is_empty()).then(|| file.trim().into()),
                printed: shows_output.then(String::new),
            });
        } else if let Some(ShownCommand { printed: Some(printed), .. }) = commands.last_mut() {
            *printed += line;
            *printed += "\n";
        }
    }
    commands
}

/// Reads the documents of the project.
pub(crate) fn documents() -> Vec<ProjectDocument> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut names =
        ["", "crates/cli/", "mpi/", "papers/"].map(|folder| format!("{folder}README.md")).to_vec();
    for group in ["start", "reference", "results"] {
        let files = fs::read_dir(format!("{root}/docs/{group}")).unwrap();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.extend(files.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{group}/{name}")));
    }
    names.into_iter().map(|name| ProjectDocument::read(root, name)).collect()
}
