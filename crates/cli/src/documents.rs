//! The commands that the documents show, and what they say that each prints: for tests alone.

#![allow(dead_code)] // each set of tests uses a part of this file

use std::fs;

/// A document: what its reader would do, from its beginning to its end.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    /// The options in the first column of its tables.
    pub(crate) listed: Vec<String>,
}

pub(crate) enum Step {
    /// A file is shown: a block of code whose language is followed by the file's name.
    File {
        name: String,
        text: String,
    },
    Command(Shown),
}

/// A command, in a block of code.
pub(crate) struct Shown {
    /// The command line, without the comment behind it.
    pub(crate) line: String,
    /// The file that gets the output.
    pub(crate) file: Option<String>,
    /// What it prints. The document shows this below a command that begins with a `$`.
    pub(crate) printed: Option<String>,
}

impl Document {
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Shown> {
        self.steps.iter().filter_map(|step| match step {
            Step::Command(shown) => Some(shown),
            Step::File { .. } => None,
        })
    }

    fn read(root: &str, name: String) -> Self {
        let text = fs::read_to_string(format!("{root}/{name}")).unwrap().replace("\\\n", " ");
        let steps = text.split("```").skip(1).step_by(2).flat_map(|block| {
            let (head, lines) = block.split_once('\n').unwrap_or_default();
            match head.split_once(' ') {
                Some((_, name)) => vec![Step::File { name: name.into(), text: lines.into() }],
                None => commands(lines).into_iter().map(Step::Command).collect(),
            }
        });
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let words = rows.flat_map(|(cell, _)| cell.split_whitespace());
        let listed = words.filter(|word| word.starts_with("--")).map(String::from).collect();
        let steps = steps.collect();
        Document { name, steps, listed }
    }
}

/// The commands of a block of code. A line that names a PROGRAM is a form, and no command.
fn commands(block: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for line in block.lines() {
        let shows_output = line.starts_with("$ ");
        let typed = line.trim_start_matches("$ ");
        if typed.starts_with("loggp ") && !typed.contains("PROGRAM") {
            let words = typed.split(" #").next().unwrap();
            let (line, file) = words.split_once(" > ").unwrap_or((words, ""));
            commands.push(Shown {
                line: line.trim().into(),
                file: (!file.is_empty()).then(|| file.trim().into()),
                printed: shows_output.then(String::new),
            });
        } else if let Some(Shown { printed: Some(printed), .. }) = commands.last_mut() {
            *printed += line;
            *printed += "\n";
        }
    }
    commands
}

/// The documents of the project.
pub(crate) fn documents() -> Vec<Document> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut names = vec!["README.md".to_string(), "crates/cli/README.md".to_string()];
    for group in ["start", "reference", "results"] {
        let files = fs::read_dir(format!("{root}/docs/{group}")).unwrap();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.extend(files.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{group}/{name}")));
    }
    names.into_iter().map(|name| Document::read(root, name)).collect()
}
