//! An algorithm for collectives.

use std::fmt;

use super::WriteResult;
use super::call::CollectiveKind;
use super::member::{Lengths, MemberWriter};

/// An algorithm, with what a table says about it.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveAlgorithm {
    pub method: &'static Method,
    /// The number of children, of chains, or of messages at once.
    pub fan_out: Option<usize>,
    /// The bytes of a segment; 0 if messages are not divided.
    pub segment: u64,
    /// True if messages of no bytes are sent where the algorithm could do without.
    pub sends_empty: bool,
}

/// Writes it as a table has it: `knomial:4/1024`.
impl fmt::Display for CollectiveAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.name)?;
        self.fan_out.map_or(Ok(()), |fan_out| write!(f, ":{fan_out}"))?;
        if self.segment > 0 { write!(f, "/{}", self.segment) } else { Ok(()) }
    }
}

impl CollectiveAlgorithm {
    /// Returns a method with its own fan-out, and without segments.
    pub fn new(method: &'static Method) -> CollectiveAlgorithm {
        CollectiveAlgorithm { method, fan_out: method.fan_out, segment: 0, sends_empty: false }
    }
}

/// An algorithm of some kinds of collectives.
#[derive(Debug)]
pub struct Method {
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The collectives that the algorithm can do.
    pub kinds: &'static [CollectiveKind],
    /// The fan-out if a table gives none; `None` if the algorithm has no fan-out.
    pub fan_out: Option<usize>,
    /// Whether messages can be divided into segments.
    pub has_segments: bool,
    /// True if its parts are collectives themselves, which are done as a table says.
    pub(crate) has_parts: bool,
    /// True if the algorithm divides messages anywhere, not only between elements.
    pub(crate) divides_bytes: bool,
    /// Whether the root has the place of rank 0, and rank 0 that of the root, and all others their own. Otherwise
    /// places count from the root.
    pub(crate) swaps_root: bool,
    /// True if some ranks get, with their part of a message scattered down a tree, all that is left of the
    /// message.
    pub(crate) gives_rest: bool,
    /// True if an operation waits only for the messages whose data it needs. Otherwise a rank is a program, which waits
    /// for each call before the next one.
    pub(crate) waits_for_data: bool,
    pub(crate) write: Write,
}

pub(crate) type Write = fn(&mut MemberWriter, &Lengths, &CollectiveAlgorithm) -> WriteResult;

pub(crate) const fn method(
    kinds: &'static [CollectiveKind],
    name: &'static str,
    write: Write,
    about: &'static str,
) -> Method {
    Method {
        name,
        about,
        kinds,
        fan_out: None,
        has_segments: false,
        has_parts: false,
        divides_bytes: false,
        swaps_root: false,
        gives_rest: false,
        waits_for_data: false,
        write,
    }
}

impl Method {
    pub(crate) const fn segments(self) -> Method {
        Method { has_segments: true, ..self }
    }

    pub(crate) const fn fan_out(self, fan_out: usize) -> Method {
        Method { fan_out: Some(fan_out), ..self }
    }

    pub(crate) const fn parts(self) -> Method {
        Method { has_parts: true, ..self }
    }

    pub(crate) const fn bytes(self) -> Method {
        Method { divides_bytes: true, ..self }
    }

    pub(crate) const fn swapped(self) -> Method {
        Method { swaps_root: true, ..self }
    }

    pub(crate) const fn rest(self) -> Method {
        Method { gives_rest: true, ..self }
    }
}

impl MemberWriter<'_> {
    /// Writes a collective by an algorithm with this name, in place of one that cannot do it here.
    pub(crate) fn write_instead(
        &mut self,
        (name, write): (&'static str, Write),
        of: &Lengths,
        algorithm: &CollectiveAlgorithm,
    ) -> WriteResult {
        self.stand_in = Some(name);
        write(self, of, algorithm)
    }
}
