//! Functions, files and lines of places in a program, as its own files say.

use addr2line::Loader;

use super::written::NamedPlace;
use crate::call::Place;

/// Names places, which are in the order of their modules. What a program's files do not say stays as it is in the
/// recording.
pub(super) fn name(places: &mut [NamedPlace]) {
    for module in places.chunk_by_mut(|(one, _), (other, _)| one.0 == other.0) {
        let Ok(loader) = Loader::new(&module[0].0.0) else { continue };
        for ((_, address), place) in module {
            // What is recorded is where the call returns to, which may be the next line's.
            if let Some(found) = find(&loader, address.saturating_sub(1)) {
                *place = found;
            }
        }
    }
}

/// Returns the place in a module from which a call returns to this address, or `None` if the module does not say it.
pub fn find_in(module: &str, address: u64) -> Option<Place> {
    find(&Loader::new(module).ok()?, address.saturating_sub(1))
}

/// Returns the innermost function at the address, inlined or not, that has a name.
fn find(loader: &Loader, address: u64) -> Option<Place> {
    let mut frames = loader.find_frames(address).ok();
    while let Some(frame) = frames.as_mut().and_then(|frames| frames.next().ok().flatten()) {
        let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
        let source = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line.unwrap_or(0))));
        if let Some(name) = name {
            return Some(Place { function: short(&name), source });
        }
    }
    let symbol = loader.find_symbol(address)?;
    Some(Place { function: short(&addr2line::demangle_auto(symbol.into(), None)), source: None })
}

/// Returns a function's name without its arguments.
fn short(name: &str) -> String {
    name.split_once('(').map_or(name, |(name, _)| name).to_owned()
}
