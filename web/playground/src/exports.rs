//! The module's exports to the page: room for a request, and answers. Nothing else knows of pointers.

use std::alloc::{Layout, alloc as allocate, dealloc};
use std::cell::RefCell;

thread_local! {
    /// The last answer, in words so that its columns lie where a typed array can begin.
    static ANSWER: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn layout(length: usize) -> Layout {
    Layout::array::<u8>(length.max(1)).expect("the page has no room for so many bytes")
}

/// Returns room for so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    // SAFETY: the layout is not empty.
    unsafe { allocate(layout(length)) }
}

/// Frees room that `alloc` gave for so many bytes.
///
/// # Safety
///
/// `pointer` is from `alloc(length)`, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(pointer: *mut u8, length: usize) {
    // SAFETY: it was allocated with this layout.
    unsafe { dealloc(pointer, layout(length)) }
}

/// Answers the request in these bytes. The answer stays until the next call.
///
/// # Safety
///
/// The bytes are initialized, and nothing changes them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call(pointer: *const u8, length: usize) -> *const u64 {
    // SAFETY: the caller promises it.
    let request = unsafe { std::slice::from_raw_parts(pointer, length) };
    let words = super::answer(request).to_words();
    ANSWER.with_borrow_mut(|answer| {
        *answer = words;
        answer.as_ptr()
    })
}
