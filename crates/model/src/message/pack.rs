//! Values as bytes, for a machine whose processors are processes: see `Link`.
//!
//! Between threads a value moves, and nothing here is used. To another process go its bytes, in this
//! computer's format: every process runs the same program on the same kind of processor. A long slice of
//! numbers is sent from its own memory, and received into the memory of the new vector. In this folder only
//! `parcel.rs` and this file have unsafe code.

use std::alloc::{Layout, alloc, dealloc};
use std::any::type_name;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, align_of, size_of, size_of_val};
use std::ptr::NonNull;

/// Proof that every bit pattern of the size of a `T` is a valid `T` without padding. Only this crate can make
/// one.
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
    /// `T` must have no padding, no pointer, and no invalid bit pattern.
    pub(super) const unsafe fn new_unchecked() -> Plain<T> {
        Plain(PhantomData)
    }
}

/// The bytes of a value that is sent to another process: see [`Payload::pack`](crate::message::Payload::pack).
#[derive(Debug, Default)]
pub struct Pack<'v> {
    /// All bytes but those of `slice`.
    #[doc(hidden)]
    pub bytes: Vec<u8>,
    /// A long slice of plain values, sent from its own memory.
    #[doc(hidden)]
    pub slice: Option<Slice<'v>>,
    #[doc(hidden)]
    pub copies_slices: bool,
    /// The type of a value that cannot be sent to another process.
    #[doc(hidden)]
    pub refused_type: Option<&'static str>,
}

/// A slice of plain values, as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'v> {
    /// The bytes; at least one.
    pub bytes: &'v [u8],
    /// The alignment of its items.
    pub align: usize,
}

/// Slices of at least this many bytes are not copied.
const UNCOPIED_BYTES: usize = 4096;
/// Marks the length of a slice that travels separately.
const SEPARATE: u64 = 1 << 63;

impl Slice<'_> {
    /// Writes the slice's length and alignment to the head of the machine's message before it.
    #[doc(hidden)]
    pub fn announce(&self, bytes: &mut [u8]) {
        let align = self.align.trailing_zeros() as u64;
        bytes[..8].copy_from_slice(&((self.bytes.len() as u64) << 16 | align << 8).to_le_bytes());
    }

    /// Returns the length and alignment of the slice that follows this message of the machine's, or `None` if
    /// none follows or no memory can be so.
    pub fn announced_layout(bytes: &[u8]) -> Option<(usize, usize)> {
        let head = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let (kind, align, length) = (head & 0xFF, head >> 8 & 0xFF, head >> 16);
        let layout = Layout::from_size_align(length as usize, 1_usize.checked_shl(align as u32)?).ok()?;
        (kind == 0 && length > 0).then_some((layout.size(), layout.align()))
    }
}

impl<'v> Pack<'v> {
    /// Creates a pack that copies long slices too.
    #[doc(hidden)]
    pub fn with_copied_slices() -> Pack<'v> {
        Pack { copies_slices: true, ..Pack::default() }
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Declares that a value of this type cannot be sent to another process.
    pub fn refuse<T: ?Sized>(&mut self) {
        self.refused_type.get_or_insert(type_name::<T>());
    }

    /// Adds a sequence of plain values, or only its length if it travels separately.
    pub(super) fn add_plain<T>(&mut self, items: &'v [T], _: Plain<T>) {
        let n = items.len() as u64;
        // SAFETY: the items are plain, so all their bytes are initialized.
        let bytes = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        if bytes.len() >= UNCOPIED_BYTES && self.slice.is_none() && !self.copies_slices {
            self.add(&(n | SEPARATE).to_ne_bytes());
            self.slice = Some(Slice { bytes, align: align_of::<T>() });
        } else {
            self.add(&n.to_ne_bytes());
            self.add(bytes);
        }
    }
}

/// The bytes of a received value: see [`Payload::unpack`](crate::message::Payload::unpack).
#[derive(Debug)]
pub struct Unpack<'b> {
    bytes: &'b [u8],
    slice: Option<Body>,
}

impl<'b> Unpack<'b> {
    #[doc(hidden)]
    pub fn new(bytes: &'b [u8], slice: Option<Body>) -> Unpack<'b> {
        Unpack { bytes, slice }
    }

    /// Returns whether everything was taken.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.slice.is_none()
    }

    /// Takes `n` bytes, or returns `None` if fewer remain.
    pub fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(taken)
    }

    fn take_number(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Takes the length of a sequence whose items are packed one by one. Returns `None` if the bytes cannot be
    /// so many items. Items without bytes are as many as they are said to be, up to a limit.
    pub(super) fn take_length(&mut self) -> Option<u64> {
        const MOST_WITHOUT_BYTES: u64 = 1 << 24;
        let n = self.take_number()?;
        (n <= self.bytes.len() as u64 + MOST_WITHOUT_BYTES).then_some(n)
    }

    /// Takes a sequence of plain values. `T` must not be zero-sized.
    pub(super) fn take_plain<T>(&mut self, _: Plain<T>) -> Option<Vec<T>> {
        let n = self.take_number()?;
        if n & SEPARATE != 0 {
            // SAFETY: the items are plain, and have a size.
            return unsafe { self.slice.take()?.into_items((n & !SEPARATE).try_into().ok()?) };
        }
        let bytes = self.take(usize::try_from(n).ok()?.checked_mul(size_of::<T>())?)?;
        // SAFETY: the items are plain, and have a size.
        Some(unsafe { items_of(bytes) })
    }
}

/// Returns a hash that is the same in all processes of one program.
pub fn stable_hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the values with these bytes.
///
/// # Safety
///
/// `T` must be plain, and have a size.
unsafe fn items_of<T>(bytes: &[u8]) -> Vec<T> {
    let n = bytes.len() / size_of::<T>();
    let mut items = Vec::<T>::with_capacity(n);
    // SAFETY: there is room for n items of this many bytes, and every bit pattern is valid.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), items.as_mut_ptr().cast::<u8>(), n * size_of::<T>());
        items.set_len(n);
    }
    items
}

/// Memory into which a long slice is received, and which then becomes the vector's.
#[derive(Debug)]
pub struct Body {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory, and no other pointer to that exists.
unsafe impl Send for Body {}

impl Body {
    /// Allocates `bytes` bytes with this alignment and has `fill` write them. Returns `None` if `bytes` is 0,
    /// the layout is invalid or there is no memory.
    ///
    /// # Safety
    ///
    /// `fill` gets a pointer to the memory, and must write all of it.
    pub unsafe fn from_fn(bytes: usize, align: usize, fill: impl FnOnce(*mut u8)) -> Option<Body> {
        let layout = Layout::from_size_align(bytes, align).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout is not empty.
        let at = unsafe { alloc(layout) };
        let body = Body { start: NonNull::new(at)?, layout };
        fill(at);
        Some(body)
    }

    /// Copies `bytes` into new memory with this alignment. Returns `None` if `bytes` is empty.
    pub fn from_bytes(bytes: &[u8], align: usize) -> Option<Body> {
        // SAFETY: all of the memory is written.
        unsafe {
            Body::from_fn(bytes.len(), align, |at| {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len())
            })
        }
    }

    #[doc(hidden)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the caller of `from_fn` promised that all of it is written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    /// Returns the memory as `n` items, without a copy if its alignment is theirs, or `None` if its length
    /// differs.
    ///
    /// # Safety
    ///
    /// `T` must be plain, and have a size.
    pub(super) unsafe fn into_items<T>(self, n: usize) -> Option<Vec<T>> {
        if n.checked_mul(size_of::<T>())? != self.layout.size() {
            return None;
        }
        if self.layout.align() != align_of::<T>() {
            // SAFETY: the caller has promised that.
            return Some(unsafe { items_of(self.bytes()) });
        }
        let body = ManuallyDrop::new(self);
        // SAFETY: the memory is from the global allocator, with the layout of a vector with capacity n; the
        // items are plain, and all are written. The body is not dropped, so only the vector frees the memory.
        Some(unsafe { Vec::from_raw_parts(body.start.as_ptr().cast::<T>(), n, n) })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // SAFETY: `from_fn` allocated it with this layout, and it is used no more.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
