//! A signal handler that names the processor whose stack has overflowed.
//!
//! Below each stack lies a guard page, which may not be touched. A program that outgrows its stack touches
//! the guard first, and the host raises a signal. The address that was touched identifies the processor, so
//! nothing has to be noted when a processor is resumed: each run lists the lowest address of each of its
//! stacks, and the signal's handler looks it up. Other faults go to the handler that was installed before.
//!
//! The handler may interrupt anything, so it takes no lock and allocates nothing. It counts itself in
//! [`READERS`] while it reads the lists. A run that ends takes its list out, and then waits until there are
//! no readers.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::mem::{transmute, zeroed};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};

use corosensei::stack::Stack;

/// The registry of a run's stacks. The handler reads it until it is dropped.
pub(in crate::clock) struct StackRegistry {
    slot: &'static ListSlot,
    list: Arc<StackList>,
}

/// The addresses of a run's stacks, for the handler.
struct StackList {
    /// The lowest address of each processor's stack, above its guard; 0 while the processor has no stack.
    bottoms: Box<[AtomicUsize]>,
    /// The size of each stack, in bytes.
    size: usize,
}

/// A slot for a run's list. Slots are never freed, but used again.
struct ListSlot {
    /// The list, or null.
    list: AtomicPtr<StackList>,
    /// The slot that was made before this one, or null.
    next: *const ListSlot,
}

// SAFETY: `next` is set before other threads see the slot, never changed, and points to a slot that is never
// freed.
unsafe impl Sync for ListSlot {}

/// The newest slot.
static SLOTS: AtomicPtr<ListSlot> = AtomicPtr::new(null_mut());

/// The number of handlers that read the lists now.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// The signals that the host raises for memory that may not be touched.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The action for each of [`SIGNALS`] before [`install`].
static PREVIOUS_ACTIONS: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

impl StackRegistry {
    /// Registers an empty list for a run of `P` processors with stacks of `size` bytes.
    pub(crate) fn new(P: usize, size: usize) -> StackRegistry {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let size = size.div_ceil(page_size()).max(1).saturating_mul(page_size());
        let list = Arc::new(StackList { bottoms: (0..P).map(|_| AtomicUsize::new(0)).collect(), size });
        let slot = ListSlot::take(Arc::as_ptr(&list).cast_mut());
        StackRegistry { slot, list }
    }

    /// Adds the stack of processor `id`, which is a coroutine.
    pub(crate) fn add_coroutine(&self, id: usize, stack: &impl Stack) {
        self.list.bottoms[id].store(stack.limit().get() + page_size(), Ordering::Relaxed);
    }

    /// Adds this thread's stack as that of processor `id`, until the returned value is dropped.
    pub(crate) fn add_thread(&self, id: usize) -> impl Drop {
        struct ThreadEntry<'a>(&'a AtomicUsize, #[expect(unused)] AlternateStack);
        impl Drop for ThreadEntry<'_> {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Relaxed);
            }
        }
        let bottom = &self.list.bottoms[id];
        bottom.store(this_thread_bottom().unwrap_or(0), Ordering::Relaxed);
        ThreadEntry(bottom, AlternateStack::provide())
    }
}

impl Drop for StackRegistry {
    fn drop(&mut self) {
        self.slot.list.store(null_mut(), Ordering::SeqCst);
        while READERS.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now(); // a handler may have loaded the list before it was taken out
        }
    }
}

impl ListSlot {
    /// Puts a list into a free slot, or into a new one.
    fn take(list: *mut StackList) -> &'static ListSlot {
        for slot in ListSlot::all() {
            if slot.list.compare_exchange(null_mut(), list, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return slot;
            }
        }
        let slot = Box::leak(Box::new(ListSlot { list: AtomicPtr::new(list), next: null() }));
        let mut next = SLOTS.load(Ordering::SeqCst);
        loop {
            slot.next = next;
            match SLOTS.compare_exchange(next, slot, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return slot,
                Err(newer) => next = newer,
            }
        }
    }

    fn all() -> impl Iterator<Item = &'static ListSlot> {
        // SAFETY: a pointer to a slot is null, or the slot is never freed and not written to any more.
        let at = |slot: *const ListSlot| unsafe { slot.as_ref() };
        std::iter::successors(at(SLOTS.load(Ordering::SeqCst)), move |slot| at(slot.next))
    }
}

/// Returns the processor in whose guard the address lies, and the size of its stack.
fn find_overflowed(address: usize) -> Option<(usize, usize)> {
    READERS.fetch_add(1, Ordering::SeqCst);
    let page = page_size();
    let found = ListSlot::all().find_map(|slot| {
        // SAFETY: `StackRegistry::drop` takes the list out first, and drops it only when there are no
        // readers.
        let list = unsafe { slot.list.load(Ordering::SeqCst).as_ref() }?;
        let is_below = |bottom: &AtomicUsize| match bottom.load(Ordering::Relaxed) {
            0 => false,
            // Some hosts count a thread's guard as a part of its stack.
            bottom => address.wrapping_sub(bottom - page) < 2 * page,
        };
        Some((list.bottoms.iter().position(is_below)?, list.size))
    });
    READERS.fetch_sub(1, Ordering::SeqCst);
    found
}

/// Prints which processor's stack has overflowed, and ends the process, because memory beyond the stack may
/// be overwritten. Allocates nothing and takes no lock.
pub(in crate::clock) fn end_process(id: usize, size: usize) -> ! {
    let mut text = [0_u8; 128];
    let mut rest = &mut text[..];
    let kib = size / 1024;
    let _ = writeln!(
        rest,
        "processor {id} has overflowed its stack of {kib} KiB; give it more with Machine::stack"
    );
    let length = 128 - rest.len();
    // SAFETY: both calls may be made in a handler, and the text is there.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
        libc::abort();
    }
}

/// Handles a signal: ends the process if a processor's stack has overflowed, and else forwards the signal.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the host passes a valid `siginfo_t`. There is always an address to read, though it has a
    // meaning only if the host itself sent the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let is_fault = code > 0;
    if is_fault && let Some((id, size)) = find_overflowed(address) {
        end_process(id, size);
    }
    forward_signal(signal, info, context, is_fault);
}

/// Forwards a signal to the action that was there before [`install`].
fn forward_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_fault: bool) {
    let index = usize::from(signal != SIGNALS[0]);
    let Some(before) = PREVIOUS_ACTIONS.get().map(|all| &all[index]) else { return };
    match before.sa_sigaction {
        // A fault repeats as soon as this returns, and then ends the process. A signal from a process does
        // not.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: both calls may be made in a handler. The action is the one that was there before.
            unsafe {
                libc::sigaction(signal, before, null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag, the handler is a function of this type.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, the handler is a function of this type.
            let handler: extern "C" fn(c_int) = unsafe { transmute(handler) };
            handler(signal);
        }
    }
}

/// Makes [`handle`] the handler of [`SIGNALS`].
fn install() {
    // SAFETY: an action of zeros is valid, and the calls write only to `before`. `handle` does only what a
    // handler may do, and the previous actions are stored before it can be called.
    unsafe {
        let before = SIGNALS.map(|signal| {
            let mut before: libc::sigaction = zeroed();
            libc::sigaction(signal, null(), &mut before);
            before
        });
        PREVIOUS_ACTIONS.get_or_init(|| before);
        let mut action: libc::sigaction = zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        for signal in SIGNALS {
            libc::sigaction(signal, &action, null_mut());
        }
    }
}

/// A stack for the handler, because a stack that has overflowed has no room for it. Threads that Rust has
/// started have one already; this is for other threads. The thread that made it uses it until it drops it.
pub(in crate::clock) struct AlternateStack {
    /// The memory of the stack, if the thread needed one.
    memory: Option<*mut c_void>,
}

/// The size of the handler's stack on threads that have none, in bytes.
const ALTERNATE_SIZE: usize = 64 << 10;

impl AlternateStack {
    /// Makes an alternate stack for this thread if it has none.
    pub(crate) fn provide() -> AlternateStack {
        // SAFETY: the calls write only to `now`. The memory that is mapped here has no other owner, and stays
        // mapped until the thread no longer uses it.
        let memory = unsafe {
            let mut now: libc::stack_t = zeroed();
            libc::sigaltstack(null(), &mut now);
            if now.ss_flags & libc::SS_DISABLE == 0 {
                return AlternateStack { memory: None };
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            match libc::mmap(null_mut(), ALTERNATE_SIZE, access, flags, -1, 0) {
                libc::MAP_FAILED => None, // an overflow will then end the process without a message
                memory => {
                    let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: ALTERNATE_SIZE };
                    libc::sigaltstack(&stack, null_mut());
                    Some(memory)
                }
            }
        };
        AlternateStack { memory }
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        let Some(memory) = self.memory else { return };
        // SAFETY: this thread made the stack, and runs no handler now. The memory is not used afterwards.
        unsafe {
            let none =
                libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: ALTERNATE_SIZE };
            libc::sigaltstack(&none, null_mut());
            libc::munmap(memory, ALTERNATE_SIZE);
        }
    }
}

/// Returns the size of a page, and so of a guard, in bytes.
fn page_size() -> usize {
    rustix::param::page_size()
}

/// Returns the lowest address of this thread's stack, above its guard, if the host reports it.
fn this_thread_bottom() -> Option<usize> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the attributes are read only after the call has filled them in, and then destroyed.
    unsafe {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut bottom, mut size) = (null_mut(), 0);
        let is_known = libc::pthread_attr_getstack(attributes.as_ptr(), &mut bottom, &mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        is_known.then(|| bottom.addr())
    }
    #[cfg(target_os = "macos")]
    // SAFETY: both calls only return properties of the calling thread.
    unsafe {
        let thread = libc::pthread_self();
        let top = libc::pthread_get_stackaddr_np(thread).addr();
        top.checked_sub(libc::pthread_get_stacksize_np(thread))
    }
}
