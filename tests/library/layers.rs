//! Imports between files: no cycle in any crate, and no folder of `src/` imports a later one.
//!
//! So the library can be read folder by folder in this order, and each folder has a file that can be read
//! first. A `mod.rs` imports the files that it declares. These import shared items from a separate file, not
//! from the `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The folders and files of `src/`, in the order in which they may import each other. Those of one row are
/// equal.
const ORDER: [&[&str]; 16] = [
    &["time", "text"],
    &["params"],
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

/// The path of a module in the crate: `crate::time::parse` is `["time", "parse"]`, and the crate itself is
/// empty.
type Place = Vec<String>;

/// A file of the library.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    children: Vec<String>,
    imports: Vec<Import>,
}

/// One name that a `use` item brings into a file.
#[derive(Debug, PartialEq)]
struct Import {
    /// The segments of the path as written.
    path: Vec<String>,
    /// The name in the file.
    name: String,
}

/// Says whether a file's imports from the modules that it declares count. In the library they do: a file
/// takes nothing from the file that declares it.
#[derive(Clone, Copy, PartialEq)]
enum Parents {
    Counted,
    Ignored,
}

/// The modules of a crate, by path.
#[derive(Debug, Default)]
struct Crate(BTreeMap<Place, Module>);

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
    /// Reads a crate from its root file, and the files that each file declares.
    fn read(src: PathBuf) -> Crate {
        let mut modules = BTreeMap::new();
        let root = ["lib.rs", "main.rs"].map(|root| src.join(root)).into_iter().find(|root| root.exists());
        let mut open = vec![(Place::new(), root.expect("a crate has a root file"))];
        while let Some((place, file)) = open.pop() {
            let text = read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let mut module = Module::parse(&text);
            module.children.extend(modules_of_macros(&file, &text));
            for child in &module.children {
                let place: Place = place.iter().chain([child]).cloned().collect();
                let folder = place.iter().fold(src.clone(), |folder, name| folder.join(name));
                let own = folder.with_extension("rs");
                open.push((place, if own.exists() { own } else { folder.join("mod.rs") }));
            }
            let package = src.parent().expect("`src` is in a package");
            module.file = file.strip_prefix(package).expect("files are in `src`").into();
            modules.insert(place, module);
        }
        Crate(modules)
    }

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

    fn file(&self, place: &Place) -> String {
        self.0[place].file.display().to_string()
    }

    /// Returns the modules from which a module imports, and those that it declares.
    fn imports_of(&self, place: &Place) -> BTreeSet<Place> {
        let module = &self.0[place];
        let children = module.children.iter().map(|child| place.iter().chain([child]).cloned().collect());
        let imports = module.imports.iter().filter_map(|import| self.definition(place, &import.path, 0));
        children.chain(imports).filter(|imported| imported != place).collect()
    }

    /// Returns the module that defines the item of a path in the module at `place`, or `None` if it is in
    /// another crate. Re-exports are followed to their source.
    fn definition(&self, place: &Place, path: &[String], depth: usize) -> Option<Place> {
        assert!(depth < 20, "{place:?} passes {path:?} on in a circle");
        let (first, rest) = path.split_first()?;
        let is_child = |at: &Place, name: &String| self.0[at].children.contains(name);
        let (mut at, rest) = match first.as_str() {
            "crate" => (Place::new(), rest),
            "self" => (place.clone(), rest),
            "super" => {
                let up = path.iter().take_while(|segment| *segment == "super").count();
                (place[..place.len() - up].to_vec(), &path[up..])
            }
            _ if is_child(place, first) => (place.clone(), path),
            _ => return None,
        };
        for (done, segment) in rest.iter().enumerate() {
            if is_child(&at, segment) {
                at.push(segment.clone());
                continue;
            }
            let passed_on = self.0[&at].imports.iter().find(|import| import.name == *segment);
            return match passed_on {
                Some(import) if &at != place || done > 0 => {
                    let path: Vec<String> = import.path.iter().chain(&rest[done + 1..]).cloned().collect();
                    self.definition(&at, &path, depth + 1)
                }
                _ => Some(at),
            };
        }
        Some(at)
    }
}

/// Returns the modules that a macro declares: files beside a root file or `mod.rs` without a `mod` line in it.
fn modules_of_macros(file: &Path, text: &str) -> Vec<String> {
    let is_root = |name: &str| ["lib", "main", "mod"].contains(&name);
    let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    if !is_root(&stem(file)) {
        return Vec::new();
    }
    let beside = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_module = |path: &PathBuf| match path.is_dir() {
        true => path.join("mod.rs").exists(),
        false => path.extension().is_some_and(|ending| ending == "rs"),
    };
    let names = beside.filter(is_module).map(|path| stem(&path));
    names
        .filter(|name| !is_root(name) && !name.ends_with("tests") && !text.contains(&format!("mod {name};")))
        .collect()
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

impl Module {
    /// Reads a file's imports and module declarations. Modules of tests are left out; an inline one is the
    /// file's last item.
    fn parse(text: &str) -> Module {
        let mut module = Module::default();
        let mut is_of_tests = false;
        let mut lines = text.lines();
        while let Some(whole) = lines.next() {
            let line = whole.trim();
            if line.starts_with("use super::") && line.len() < whole.len() {
                continue; // in an inline module, which imports from the file itself
            }
            if line.starts_with("#[") {
                is_of_tests |= line.starts_with("#[cfg(") && line.contains("test");
                continue;
            }
            let item = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
                Some(scope) => scope.split_once(')').map_or(line, |(_, item)| item.trim_start()),
                None => rest.trim_start(),
            });
            if let Some(declared) = item.strip_prefix("mod ") {
                match declared.strip_suffix(';') {
                    Some(child) if !is_of_tests => module.children.push(child.into()),
                    None if is_of_tests => break,
                    _ => (),
                }
            } else if let Some(first) = item.strip_prefix("use ") {
                let mut tree = first.to_string();
                while !tree.contains(';') {
                    tree += lines.next().expect("a `use` item ends");
                }
                if !is_of_tests {
                    expand(&[], tree.split(';').next().unwrap_or_default(), &mut module.imports);
                }
            }
            is_of_tests = false;
        }
        module
    }
}

/// Expands a `use` tree: `a::{b, c as d}` is `a::b`, and `a::c` with the name `d`.
fn expand(before: &[String], tree: &str, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    let (path, group) = tree.split_once('{').map_or((tree, None), |(path, group)| (path, Some(group)));
    let (path, name) = path.split_once(" as ").map_or((path, None), |(path, name)| (path, Some(name.trim())));
    let segments = path.split("::").map(str::trim).filter(|segment| !segment.is_empty());
    let mut path: Vec<String> = before.iter().cloned().chain(segments.map(String::from)).collect();
    let Some(group) = group else {
        if path.len() > 1 && path.ends_with(&["self".into()]) {
            path.pop();
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or(last).to_string();
            imports.push(Import { path, name });
        }
        return;
    };
    let group = group.strip_suffix('}').expect("a group is closed");
    let (mut depth, mut begin) = (0, 0);
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&path, &group[begin..place], imports);
                begin = place + 1;
            }
            _ => (),
        }
    }
    if !group[begin..].trim().is_empty() {
        expand(&path, &group[begin..], imports);
    }
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
fn grouped_imports_are_expanded() {
    let module = Module::parse(
        "#[cfg(test)]\nmod of_tests;\nmod child;\npub(crate) use child::{A, deep::{self, B as C}};\nuse std::\n\
         fmt;\n#[cfg(test)]\nuse super::X;\nfn f() {}\n#[cfg(all(test, loom))]\nmod tests {\nuse super::*;\n}",
    );
    let imports = [("child::A", "A"), ("child::deep", "deep"), ("child::deep::B", "C"), ("std::fmt", "fmt")];
    let imports = imports
        .map(|(path, name)| Import { path: path.split("::").map(String::from).collect(), name: name.into() });
    assert_eq!(module.children, ["child"]);
    assert_eq!(module.imports, imports);
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
