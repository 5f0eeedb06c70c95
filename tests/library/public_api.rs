//! The library's public names, which change on purpose only: `public_api.txt` lists them, an item a line.
//!
//! `LOGGP_PUBLIC_API=new cargo test -p loggp-command --test library public_api` writes the file, and the
//! change shows in the diff. The reader relies on rustfmt's form: items begin at the left margin, and what is
//! in them four columns on.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/library/public_api.txt");
const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src");

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
    let names = exports(&read_to_string(Path::new(SRC).join("lib.rs")).unwrap());
    assert!((30..=50).contains(&names.len()), "{} names at the root: {names:?}", names.len());
}

/// Returns all public names, with the signatures of functions and the types of fields.
fn public_names() -> BTreeSet<String> {
    let src = Path::new(SRC);
    let lib = read_to_string(src.join("lib.rs")).unwrap();
    let mut names = describe("", &exports(&lib), &files_below(src));
    for module in lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
        let folder = src.join(module);
        let (root, files) = match folder.is_dir() {
            true => (folder.join("mod.rs"), files_below(&folder)),
            false => (folder.with_extension("rs"), vec![folder.with_extension("rs")]),
        };
        let text = read_to_string(root).unwrap();
        let own = items(&text).into_iter().filter_map(|item| item.name());
        let exported: BTreeSet<String> = exports(&text).into_iter().chain(own).collect();
        names.extend(describe(&format!("{module}::"), &exported, &files));
    }
    names
}

/// Returns the names that `pub use` brings into a file, without what is hidden from the documentation.
fn exports(text: &str) -> BTreeSet<String> {
    let uses = text.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    let lists = uses.map(|path| path.rsplit_once("::").map_or(path, |(_, last)| last));
    let whole = text.split("\npub use ").skip(1).filter_map(|rest| {
        let path = rest.split(';').next()?;
        Some(path.split_once("::{")?.1)
    });
    let names = lists.filter(|list| !list.contains('}')).chain(whole).flat_map(|list| list.split(','));
    let names = names.map(|name| name.trim().trim_end_matches('}').trim().to_string());
    names.filter(|name| !name.is_empty()).collect()
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
        while !whole.ends_with(['{', ';', ',', '}']) {
            match lines.next() {
                Some(line) => whole = format!("{whole} {}", line.trim()),
                None => break,
            }
            // The list of arguments is broken over lines: commas end no member before it is closed.
            while whole.matches('(').count() > whole.matches(')').count() {
                match lines.next() {
                    Some(line) => whole = format!("{whole} {}", line.trim()),
                    None => break,
                }
            }
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
    let end = whole.find(" {").or_else(|| whole.find(';')).unwrap_or(whole.len());
    whole[..end].trim_end_matches(',').replace("( ", "(").replace(", )", ")")
}

/// Describes the exported items that these files define: a line for each, and for each public member.
fn describe(module: &str, exported: &BTreeSet<String>, files: &[PathBuf]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for file in files {
        let text = read_to_string(file).unwrap();
        for item in items(&text) {
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

/// Returns all files of a folder and the folders in it, without tests.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false if path.extension().is_some_and(|ending| ending == "rs") => files.push(path),
            false => (),
        }
    }
    files
}
