//! Values as bytes, for a machine whose processors are processes: see [`Link`](crate::Link).
//!
//! Between threads a value moves, and nothing here is used. To another process go its bytes. They are those of this
//! computer: every process runs the same program on the same kind of processor. A long slice of numbers is sent from where it
//! lies, and received where it stays. No other module of the messages but `parcel.rs` has unsafe code.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::type_name;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, align_of, size_of, size_of_val};
use std::ptr::NonNull;

/// Says that every bit pattern of the size of a `T` is a `T`, and that all its bytes are its value. Only this crate can say so.
#[derive(Debug)]
pub struct Plain<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> Clone for Plain<T> {
    fn clone(&self) -> Plain<T> {
        *self
    }
}

impl<T: ?Sized> Copy for Plain<T> {}

impl<T: ?Sized> Plain<T> {
    /// # Safety
    ///
    /// It must be so: `T` has no padding, no pointer, and no value that is not allowed.
    pub(super) const unsafe fn promised() -> Plain<T> {
        Plain(PhantomData)
    }
}

/// The bytes of a value that is to travel: see [`Payload::pack`](crate::Payload::pack).
#[derive(Debug, Default)]
pub struct Pack<'v> {
    /// The bytes, but for those of the slice.
    pub(crate) bytes: Vec<u8>,
    /// A long slice of plain values, sent from where it lies.
    pub(crate) slice: Option<Slice<'v>>,
    /// Whether even long slices are copied.
    pub(crate) copies: bool,
    /// The type of a value that cannot travel.
    pub(crate) refused: Option<&'static str>,
}

/// A slice of plain values, as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'v> {
    /// The bytes; at least one.
    pub bytes: &'v [u8],
    /// The alignment of its items.
    pub align: usize,
}

/// A slice of at least so many bytes is not copied.
const LONG: usize = 4096;
/// Marks the length of the slice that is not copied.
const APART: u64 = 1 << 63;

impl Slice<'_> {
    /// Notes in a message of the machine's that the slice comes behind it.
    pub(crate) fn announce(&self, bytes: &mut [u8]) {
        let align = self.align.trailing_zeros() as u64;
        bytes[..8].copy_from_slice(&((self.bytes.len() as u64) << 16 | align << 8).to_le_bytes());
    }

    /// The length and the alignment of the slice that comes behind a message of the machine's, if one does.
    pub fn behind(bytes: &[u8]) -> Option<(usize, usize)> {
        let said = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let (kind, align, length) = (said & 0xFF, said >> 8 & 0xFF, said >> 16);
        (kind == 0 && length > 0).then_some((length as usize, 1 << align))
    }
}

impl<'v> Pack<'v> {
    /// A pack that copies long slices too.
    pub(crate) fn whole() -> Pack<'v> {
        Pack { copies: true, ..Pack::default() }
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Says that a value of this type cannot travel.
    pub fn refuse<T: ?Sized>(&mut self) {
        self.refused.get_or_insert(type_name::<T>());
    }

    /// Adds a sequence of plain values, or notes that it comes behind.
    pub(super) fn plain<T>(&mut self, items: &'v [T], _: Plain<T>) {
        let n = items.len() as u64;
        // SAFETY: the items are plain, so all their bytes are initialized.
        let bytes = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        if bytes.len() >= LONG && self.slice.is_none() && !self.copies {
            self.add(&(n | APART).to_ne_bytes());
            self.slice = Some(Slice { bytes, align: align_of::<T>() });
        } else {
            self.add(&n.to_ne_bytes());
            self.add(bytes);
        }
    }
}

/// The bytes of a value that has come: see [`Payload::unpack`](crate::Payload::unpack).
#[derive(Debug)]
pub struct Unpack<'b> {
    bytes: &'b [u8],
    slice: Option<Body>,
}

impl<'b> Unpack<'b> {
    pub(crate) fn new(bytes: &'b [u8], slice: Option<Body>) -> Unpack<'b> {
        Unpack { bytes, slice }
    }

    /// Whether everything was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.slice.is_none()
    }

    /// Takes so many bytes, if there are so many.
    pub fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Takes a length.
    pub(super) fn length(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Takes a sequence of plain values, which have a size.
    pub(super) fn plain<T>(&mut self, _: Plain<T>) -> Option<Vec<T>> {
        let n = self.length()?;
        if n & APART != 0 {
            // SAFETY: the items are plain, and have a size.
            return unsafe { self.slice.take()?.into_items((n & !APART).try_into().ok()?) };
        }
        let bytes = self.take(usize::try_from(n).ok()?.checked_mul(size_of::<T>())?)?;
        // SAFETY: the items are plain, and have a size.
        Some(unsafe { items_of(bytes) })
    }
}

/// Stands for a type, or for whatever else, in all processes of the same program.
pub(crate) fn number_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Values with these bytes.
///
/// # Safety
///
/// `T` must be plain, and have a size.
unsafe fn items_of<T>(bytes: &[u8]) -> Vec<T> {
    let n = bytes.len() / size_of::<T>();
    let mut items = Vec::<T>::with_capacity(n);
    // SAFETY: there is room for n items, which have so many bytes; and all bytes are allowed.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), items.as_mut_ptr().cast::<u8>(), n * size_of::<T>());
        items.set_len(n);
    }
    items
}

/// Memory into which a long slice is received, and that then is the vector's.
#[derive(Debug)]
pub struct Body {
    at: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory, and nobody else knows where that is.
unsafe impl Send for Body {}

impl Body {
    /// Memory of so many bytes, at least one, for items with this alignment, which `fill` fills; nothing if no memory can be
    /// like that.
    ///
    /// # Safety
    ///
    /// `fill` gets where the memory is, and must write all of it.
    pub unsafe fn filled(bytes: usize, align: usize, fill: impl FnOnce(*mut u8)) -> Option<Body> {
        let layout = Layout::from_size_align(bytes, align).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: it is not empty.
        let at = unsafe { alloc(layout) };
        let body = Body { at: NonNull::new(at).unwrap_or_else(|| handle_alloc_error(layout)), layout };
        fill(at);
        Some(body)
    }

    /// Memory with these bytes.
    pub fn copied(bytes: &[u8], align: usize) -> Option<Body> {
        // SAFETY: as many are written as there are.
        unsafe {
            Body::filled(bytes.len(), align, |at| {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len())
            })
        }
    }

    /// The bytes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: `filled` was promised that all of it is written.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.layout.size()) }
    }

    /// So many items, without a copy if the memory is what a vector of them would have.
    ///
    /// # Safety
    ///
    /// `T` must be plain, and have a size.
    pub(super) unsafe fn into_items<T>(self, n: usize) -> Option<Vec<T>> {
        if n.checked_mul(size_of::<T>())? != self.layout.size() {
            return None;
        }
        if self.layout.align() != align_of::<T>() {
            // SAFETY: the caller has promised it.
            return Some(unsafe { items_of(self.bytes()) });
        }
        let body = ManuallyDrop::new(self);
        // SAFETY: the memory is from the global allocator, with the layout that a vector with room for n items has; the items
        // are plain, and all are written. The body is not dropped, so the vector alone frees it.
        Some(unsafe { Vec::from_raw_parts(body.at.as_ptr().cast::<T>(), n, n) })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // SAFETY: `filled` has allocated it with this layout, and it is used no more.
        unsafe { dealloc(self.at.as_ptr(), self.layout) }
    }
}
