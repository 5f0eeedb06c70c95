//! The library's public names, which change on purpose only: `public_api.txt` lists them, an item a line.
//!
//! `LOGGP_PUBLIC_API=new cargo test -p loggp-command --test library public_api` writes the file, and the
//! change shows in the diff. The reader relies on rustfmt's form: items begin at the left margin, and what is
//! in them four columns on.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::Path;

use crate::source::{Crate, Module, Place};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/library/public_api.txt");

#[test]
fn public_names_are_as_listed() {
    let found = public_names();
    if std::env::var_os("LOGGP_PUBLIC_API").is_some() {
        std::fs::write(FILE, found.iter().map(|name| format!("{name}\n")).collect::<String>()).unwrap();
    }
    let listed: BTreeSet<String> = read_to_string(FILE).unwrap().lines().map(String::from).collect();
    let added: Vec<&String> = found.difference(&listed).collect();
    let removed: Vec<&String> = listed.difference(&found).collect();
    assert!(added.is_empty() && removed.is_empty(), "not listed: {added:#?}\nnot there: {removed:#?}");
}

#[test]
fn root_has_about_forty_names() {
    let names = &library().0[&Place::new()].exports;
    assert!((30..=50).contains(&names.len()), "{} names at the root: {names:?}", names.len());
}

fn library() -> Crate {
    Crate::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src"))
}

/// Returns all public names, with the signatures of functions and the types of fields.
fn public_names() -> BTreeSet<String> {
    let library = library();
    let root = &library.0[&Place::new()];
    let mut names = describe("", &root.exports.iter().cloned().collect(), library.0.values());
    for module in &root.public_children {
        let root = &library.0[&vec![module.clone()]];
        let own = items(&root.text).into_iter().filter_map(|item| item.name());
        let exported = root.exports.iter().cloned().chain(own).collect();
        let files = library.0.iter().filter(|(place, _)| place.first() == Some(module)).map(|(_, file)| file);
        names.extend(describe(&format!("{module}::"), &exported, files));
    }
    names
}

/// A public item at the left margin, or a block of inherent methods, with the lines in it.
struct Item<'t> {
    head: String,
    body: Vec<&'t str>,
}

impl Item<'_> {
    /// Returns the name of a public item, or `None` for an `impl` block.
    fn name(&self) -> Option<String> {
        let rest = self.head.strip_prefix("pub ")?;
        let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words
            .skip_while(|word| ["unsafe", "async"].contains(word))
            .skip(1)
            .find(|word| *word != "fn")
            .map(String::from)
    }

    /// Returns the type whose methods are in the block, or `None` for another item.
    fn type_of_methods(&self) -> Option<&str> {
        let rest = self.head.strip_prefix("impl")?;
        let rest = match rest.strip_prefix('<') {
            Some(generics) => {
                let mut depth = 1;
                let end = generics.find(|c| {
                    depth += i32::from(c == '<') - i32::from(c == '>');
                    depth == 0
                });
                &generics[end? + 1..]
            }
            None => rest,
        };
        let is_inherent = !rest.contains(" for ");
        is_inherent.then(|| rest.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next())?
    }
}

/// Reads the items of a file that can be public.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut lines = text.lines().peekable();
    let mut is_hidden = false;
    while let Some(line) = lines.next() {
        if line.starts_with("#[") {
            is_hidden |= line.contains("doc(hidden)");
            continue;
        }
        let kinds = ["struct", "enum", "trait", "fn", "const", "static", "type", "union"];
        let is_public =
            kinds.iter().any(|kind| line.strip_prefix("pub ").is_some_and(|item| item.starts_with(kind)));
        if !is_hidden && (is_public || line.starts_with("impl")) {
            let mut head = line.to_string();
            while !head.ends_with(['{', ';', '}']) && !head.contains(" = ") {
                match lines.next() {
                    Some(line) => head = format!("{head} {}", line.trim()),
                    None => break,
                }
            }
            let mut body = Vec::new();
            while head.ends_with('{') && lines.peek().is_some_and(|line| !line.starts_with('}')) {
                body.extend(lines.next());
            }
            items.push(Item { head, body });
        }
        is_hidden &= line.starts_with("//");
    }
    items
}

/// Returns the lines four columns into an item, each whole up to its `{`, `;` or `,`, without what is hidden.
fn members(item: &Item) -> Vec<String> {
    let mut members = Vec::new();
    let mut lines = item.body.iter();
    let mut is_hidden = false;
    while let Some(line) = lines.next() {
        let Some(member) = line.strip_prefix("    ").filter(|member| !member.starts_with([' ', '}', ')']))
        else {
            continue;
        };
        if member.starts_with("#[") {
            is_hidden |= member.contains("doc(hidden)");
            continue;
        }
        if member.starts_with("//") || member.is_empty() {
            continue;
        }
        let mut whole = member.to_string();
        // A comma within a list of arguments ends no member.
        let is_open = |whole: &str| whole.matches('(').count() > whole.matches(')').count();
        while is_open(&whole) || !whole.ends_with(['{', ';', ',', '}']) {
            let Some(line) = lines.next() else { break };
            whole = format!("{whole} {}", line.trim());
        }
        if !is_hidden {
            members.push(whole);
        }
        is_hidden = false;
    }
    members
}

/// Shortens a signature or a field to what callers see.
fn signature(whole: &str) -> String {
    let end = whole.find(" {").or_else(|| whole.find(" = [")).unwrap_or(whole.len());
    whole[..end].trim_end_matches([',', ';']).replace("( ", "(").replace(", )", ")")
}

/// Describes the exported items that these files define: a line for each, and for each public member.
fn describe<'c>(
    module: &str,
    exported: &BTreeSet<String>,
    files: impl IntoIterator<Item = &'c Module>,
) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for file in files {
        for item in items(&file.text) {
            if let Some(of) = item.type_of_methods().filter(|of| exported.contains(*of)) {
                for member in members(&item) {
                    if let Some(method) = member.strip_prefix("pub ") {
                        lines.insert(format!("{module}{of}: {}", signature(method)));
                    }
                }
            }
            let Some(name) = item.name().filter(|name| exported.contains(name)) else { continue };
            let head = signature(item.head.trim_start_matches("pub "));
            let head =
                if head.starts_with("struct") { head.split('(').next().unwrap_or_default() } else { &head };
            lines.insert(format!("{module}{name}: {head}"));
            for member in members(&item) {
                let is_field = item.head.starts_with("pub struct");
                match member.strip_prefix("pub ") {
                    Some(field) if is_field => lines.insert(format!("{module}{name}: {}", signature(field))),
                    None if !is_field && !item.head.starts_with("pub fn") => {
                        lines.insert(format!("{module}{name}: {}", signature(&member)))
                    }
                    _ => false,
                };
            }
        }
    }
    lines
}
