//! Of which basic types data are.

use std::sync::Arc;

use super::bytes::{Cursor, Wrong};

/// The basic types of data in their order, which repeats until the data end. Each is a number that is the same on all ranks, or 0
/// if it is not known, and how many bytes are of it. There is none if nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature(Arc<[(u64, u64)]>);

/// No more changes of type are compared, so that long data of many types take no long time.
const MOST_COMPARED: usize = 1 << 16;

impl Signature {
    /// Reads one.
    pub(super) fn read(cursor: &mut Cursor) -> Result<Signature, Wrong> {
        let count = cursor.length()?;
        let runs = (0..count).map(|_| Ok((cursor.number()?, cursor.number()?)));
        let runs: Arc<[(u64, u64)]> = runs.collect::<Result<_, Wrong>>()?;
        if runs.iter().any(|(_, bytes)| *bytes == 0) {
            return cursor.wrong("a type has no bytes");
        }
        Ok(Signature(runs))
    }

    /// Returns whether anything is known.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns whether some of the first `bytes` of data are of another type than the other signature says. What is not
    /// known is the same as anything.
    pub fn differs(&self, other: &Signature, bytes: u64) -> bool {
        if self == other || !self.is_known() || !other.is_known() {
            return false;
        }
        let (mut ours, mut theirs) = (self.runs(), other.runs());
        let (mut own, mut their) = (ours.next(), theirs.next());
        let mut left = bytes;
        for _ in 0..MOST_COMPARED {
            let (Some((one, has)), Some((another, have))) = (own, their) else { return false };
            if left == 0 {
                return false;
            }
            if one != another && one != 0 && another != 0 {
                return true;
            }
            let both = has.min(have).min(left);
            left -= both;
            own = if has > both { Some((one, has - both)) } else { ours.next() };
            their = if have > both { Some((another, have - both)) } else { theirs.next() };
        }
        false
    }

    /// Returns the types again and again.
    fn runs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied().cycle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(runs: &[(u64, u64)]) -> Signature {
        Signature(runs.into())
    }

    #[test]
    fn types_are_compared_as_they_follow_each_other() {
        let (ints, doubles) = (signature(&[(7, 4)]), signature(&[(14, 8)]));
        let (pair, swapped) = (signature(&[(7, 4), (14, 8)]), signature(&[(14, 8), (7, 4)]));
        let two = signature(&[(7, 4), (14, 8), (7, 4), (14, 8)]);
        for (one, other, bytes, differs) in [
            (&ints, &ints, 400, false),
            (&ints, &signature(&[(7, 40)]), 400, false),
            (&ints, &doubles, 8, true),
            (&ints, &doubles, 0, false),
            (&pair, &two, 1200, false),
            (&pair, &swapped, 1200, true),
            (&pair, &ints, 4, false),
            (&pair, &ints, 5, true),
            (&signature(&[(0, 12)]), &pair, 1200, false),
            (&signature(&[(7, 4), (0, 8)]), &swapped, 12, true),
            (&Signature::default(), &pair, 12, false),
        ] {
            assert_eq!(one.differs(other, bytes), differs, "{one:?} {other:?} {bytes}");
            assert_eq!(other.differs(one, bytes), differs, "{other:?} {one:?} {bytes}");
        }
    }

    #[test]
    fn what_is_read_has_an_end() {
        let read = |bytes: &[u8]| Signature::read(&mut Cursor::new(bytes));
        assert_eq!(read(&[2, 7, 4, 14, 8]).unwrap(), signature(&[(7, 4), (14, 8)]));
        assert_eq!(read(&[1, 7, 0]).unwrap_err().what, "a type has no bytes");
        assert!(read(&[2, 7, 4]).is_err());
    }
}
