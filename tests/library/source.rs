//! The source of a crate as the tests of layers and of public names read it: files, imports and declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The path of a module in the crate: `crate::time::parse` is `["time", "parse"]`, and the crate itself is
/// empty.
pub type Place = Vec<String>;

/// A file of the library.
#[derive(Debug, Default)]
pub struct Module {
    pub file: PathBuf,
    pub text: String,
    pub children: Vec<String>,
    /// Those of the children that are public.
    pub public_children: Vec<String>,
    pub imports: Vec<Import>,
    /// The names that `pub use` brings into the file.
    pub exports: Vec<String>,
}

/// One name that a `use` item brings into a file.
#[derive(Debug, PartialEq)]
pub struct Import {
    /// The segments of the path as written.
    pub path: Vec<String>,
    /// The name in the file.
    pub name: String,
}

/// The modules of a crate, by path.
#[derive(Debug, Default)]
pub struct Crate(pub BTreeMap<Place, Module>);

impl Crate {
    /// Reads a crate from its root file, and the files that each file declares.
    pub fn read(src: PathBuf) -> Crate {
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

    pub fn file(&self, place: &Place) -> String {
        self.0[place].file.display().to_string()
    }

    /// Returns the modules from which a module imports, and those that it declares.
    pub fn imports_of(&self, place: &Place) -> BTreeSet<Place> {
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
    let beside = read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_module = |path: &PathBuf| match path.is_dir() {
        true => path.join("mod.rs").exists(),
        false => path.extension().is_some_and(|ending| ending == "rs"),
    };
    let names = beside.filter(is_module).map(|path| stem(&path));
    names
        .filter(|name| !is_root(name) && !name.ends_with("tests") && !text.contains(&format!("mod {name};")))
        .collect()
}

impl Module {
    /// Reads a file's imports and module declarations. Modules of tests are left out; an inline one is the
    /// file's last item.
    pub fn parse(text: &str) -> Module {
        let mut module = Module { text: text.into(), ..Module::default() };
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
            let is_public = whole.starts_with("pub ");
            let item = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
                Some(scope) => scope.split_once(')').map_or(line, |(_, item)| item.trim_start()),
                None => rest.trim_start(),
            });
            if let Some(declared) = item.strip_prefix("mod ") {
                match declared.strip_suffix(';') {
                    Some(child) if !is_of_tests => {
                        module.children.push(child.into());
                        module.public_children.extend(is_public.then(|| child.into()));
                    }
                    None if is_of_tests => break,
                    _ => (),
                }
            } else if let Some(first) = item.strip_prefix("use ") {
                let mut tree = first.to_string();
                while !tree.contains(';') {
                    tree += lines.next().expect("a `use` item ends");
                }
                if !is_of_tests {
                    let before = module.imports.len();
                    expand(&[], tree.split(';').next().unwrap_or_default(), &mut module.imports);
                    let names = module.imports[before..].iter().map(|import| import.name.clone());
                    module.exports.extend(names.filter(|_| is_public));
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
