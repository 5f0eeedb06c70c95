//! Imports between files: no cycle in any crate, and no folder of `src/` imports a later one.
//!
//! So the library can be read folder by folder in this order, and each folder has a file that can be read
//! first. A `mod.rs` imports the files that it declares. These import shared items from a separate file, not
//! from the `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::{Crate, Module, Place};

/// The folders and files of `src/`, in the order in which they may import each other. Those of one row are
/// equal.
const ORDER: [&[&str]; 16] = [
    &["time", "text", "prefetch", "rounds", "panics"],
    &["params", "agenda"],
    &["message"],
    &["error", "link"],
    &["trace"],
    &["path"],
    &["rules"],
    &["clock"],
    &["proc"],
    &["collectives"],
    &["machine"],
    &["timeline"],
    &["replay"],
    &["schedule"],
    &["audit"],
    &["check"],
];

/// Says whether a file's imports from the modules that it declares count. In the library they do: a file
/// takes nothing from the file that declares it.
#[derive(Clone, Copy, PartialEq)]
enum Parents {
    Counted,
    Ignored,
}

#[test]
fn files_import_each_other_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = Crate::read(root.join("src"));
    let mut violations = library.upward_imports();
    violations.extend(library.cycles(Parents::Counted));
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|folder| folder.unwrap().path());
    for folder in crates.chain([root.join("programs")]) {
        violations.extend(Crate::read(folder.join("src")).cycles(Parents::Ignored));
    }
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

impl Crate {
    /// Returns a sentence for each import of a later folder.
    fn upward_imports(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for importer in self.0.keys() {
            for imported in self.imports_of(importer) {
                if let Some((lower, upper)) = upward(importer, &imported) {
                    let (from, to) = (self.file(importer), self.file(&imported));
                    sentences.push(format!(
                        "{from} imports {to}, but {upper} stands after {lower}; move what {lower} needs down"
                    ));
                }
            }
        }
        sentences
    }

    /// Returns a sentence for each set of files that import each other, directly or through others.
    fn cycles(&self, parents: Parents) -> Vec<String> {
        let counts = |from: &Place, to: &Place| parents == Parents::Counted || !to.starts_with(from);
        let imports =
            |from: &Place| self.imports_of(from).into_iter().filter(|to| counts(from, to)).collect();
        let imports: BTreeMap<&Place, BTreeSet<Place>> =
            self.0.keys().map(|place| (place, imports(place))).collect();
        let reachable = |from: &Place| {
            let mut seen = BTreeSet::new();
            let mut open = vec![from.clone()];
            while let Some(place) = open.pop() {
                open.extend(imports[&place].iter().filter(|next| seen.insert((*next).clone())).cloned());
            }
            seen
        };
        let reachable: BTreeMap<&Place, BTreeSet<Place>> =
            self.0.keys().map(|place| (place, reachable(place))).collect();
        let cycle = |place: &Place| -> Vec<Place> {
            reachable[place].iter().filter(|other| reachable[other].contains(place)).cloned().collect()
        };
        let cycles: BTreeSet<Vec<Place>> = self.0.keys().map(cycle).filter(|cycle| cycle.len() > 1).collect();
        let sentence = |cycle: &Vec<Place>| {
            let files: Vec<String> = cycle.iter().map(|place| self.file(place)).collect();
            format!("{} import each other; move what they share to a file of its own", files.join(" and "))
        };
        cycles.iter().map(sentence).collect()
    }
}

/// Returns the folders of two files if that of the importing file is before that of the imported one, else
/// `None`.
fn upward<'a>(importer: &'a Place, imported: &'a Place) -> Option<(&'a str, &'a str)> {
    let (from, to) = (importer.first()?, imported.first()?);
    let row = |folder: &String| {
        let row = ORDER.iter().position(|row| row.contains(&folder.as_str()));
        row.unwrap_or_else(|| panic!("{folder} has no place in this test's order of folders; give it one"))
    };
    (row(from) < row(to)).then_some((from, to))
}

/// Returns the violations in a crate of these files, given as paths and texts.
fn example(files: &[(&str, &str)]) -> Vec<String> {
    let modules = files.iter().map(|(place, text)| {
        let module = Module { file: format!("{place}.rs").into(), ..Module::parse(text) };
        (place.split('/').map(String::from).filter(|name| name != "lib").collect(), module)
    });
    let files = Crate(modules.collect());
    [files.cycles(Parents::Counted), files.upward_imports()].concat()
}

#[test]
fn violations_of_the_layers_are_reported() {
    let lib = ("lib", "mod time;\nmod params;");
    let parent =
        ("time", "mod parse;\nmod units;\npub use parse::Text;\npub use units::Time;\npub struct Own;");
    let units = ("time/units", "pub struct Time;");
    let told =
        |parse, params| example(&[lib, parent, units, ("time/parse", parse), ("params", params)]).join("\n");
    assert_eq!(told("use super::units::Time;", "use crate::time::{Text, Time};"), "");
    // An item that the parent re-exports is the sibling's, and one that it defines is its own.
    assert_eq!(told("use super::Time;", ""), "");
    assert_eq!(
        told("use super::Own;", ""),
        "time.rs and time/parse.rs import each other; move what they share to a file of its own"
    );
    assert_eq!(
        told("use crate::params::Params;", "pub struct Params;"),
        "time/parse.rs imports params.rs, but params stands after time; move what time needs down"
    );
}
