//! Faults as SARIF 2.1.0, which shows them at their lines in a review.

use std::path::Path;

use loggp_emulate::{Fault, FaultKind};
use loggp_schedule::program::Place;
use serde_json::{Value, json};

/// A fault, the program that has it, and how it is shown.
pub(super) struct FoundFault<'a> {
    pub(super) program: &'a str,
    pub(super) fault: &'a Fault,
    pub(super) level: Level,
}

/// The level at which a review shows a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    /// As an error that a list of suppressions leaves out.
    Suppressed,
}

/// Returns a file with these faults. Sources below `root` have their paths from there.
pub(super) fn write(faults: &[FoundFault], root: &Path) -> Value {
    let mut kinds: Vec<FaultKind> = faults.iter().map(|found| found.fault.kind).collect();
    kinds.sort();
    kinds.dedup();
    let rules = kinds.iter().map(
        |kind| json!({"id": id_of(*kind), "name": kind.name(), "shortDescription": {"text": kind.meaning()}}),
    );
    let results = faults.iter().map(|found| {
        let rule = kinds.iter().position(|kind| *kind == found.fault.kind);
        result(found, rule.unwrap_or_default(), root)
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "loggp check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<Value>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<Value>>(),
        }],
    })
}

fn id_of(kind: FaultKind) -> String {
    kind.name().replace(' ', "-")
}

fn result(found: &FoundFault, rule: usize, root: &Path) -> Value {
    let FoundFault { program, fault, level } = found;
    // The first place with a line is where the fault is shown.
    let first = fault.places.iter().find(|place| place.source.is_some());
    let location = first.map_or_else(
        || {
            let executable = program.split(' ').next().unwrap_or_default();
            json!({"physicalLocation": {"artifactLocation": {"uri": uri(executable, root)}}})
        },
        |place| location(place, root),
    );
    let others = fault.places.iter().filter(|place| first != Some(place) && place.source.is_some());
    let is_suppressed = *level == Level::Suppressed;
    let suppressions = if is_suppressed { vec![json!({"kind": "external"})] } else { Vec::new() };
    json!({
        "ruleId": id_of(fault.kind),
        "ruleIndex": rule,
        "level": if *level == Level::Warning { "warning" } else { "error" },
        "message": {"text": format!("{program}: {fault}")},
        "locations": [location],
        "relatedLocations": others.map(|place| location_of_other(place, root)).collect::<Vec<Value>>(),
        "suppressions": suppressions,
    })
}

fn location(place: &Place, root: &Path) -> Value {
    let (file, line) = place.source.as_ref().map_or(("", 0), |(file, line)| (file, *line));
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(file, root)},
            "region": {"startLine": line.max(1)},
        },
        "logicalLocations": [{"name": place.function, "kind": "function"}],
    })
}

fn location_of_other(place: &Place, root: &Path) -> Value {
    let mut other = location(place, root);
    other["message"] = json!({"text": place.function});
    other
}

/// Returns a path as a URI: from the root if it is below, else as a whole one.
fn uri(path: &str, root: &Path) -> String {
    // What a compiler was given may have `..` in it.
    let whole = std::fs::canonicalize(path).map(|path| path.to_string_lossy().into_owned());
    let path = &*whole.unwrap_or_else(|_| path.into());
    let (begin, path) = match Path::new(path).strip_prefix(root) {
        Ok(rest) => ("", rest.to_string_lossy().into_owned()),
        Err(_) if path.starts_with('/') => ("file://", path.to_owned()),
        Err(_) => ("", path.strip_prefix("./").unwrap_or(path).to_owned()),
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/+".contains(byte);
    let encoded = path.bytes().map(|byte| match is_plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("{begin}{}", encoded.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        let root = Path::new("/home/me/code");
        assert_eq!(uri("/home/me/code/src/a b.c", root), "src/a%20b.c");
        assert_eq!(uri("/usr/src/a.c", root), "file:///usr/src/a.c");
        assert_eq!(uri("./app", root), "app");
    }
}
