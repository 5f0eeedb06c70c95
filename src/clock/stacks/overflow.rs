//! Names the processor whose stack has overflowed.
//!
//! Below each stack lies a guard page, which may not be touched. A program that outgrows its stack touches the guard first,
//! and the host answers with a signal. The address that was touched tells which processor it was, so nothing has to be
//! noted when a processor is resumed: each run lists the lowest address of each of its stacks, and the signal's
//! handler looks it up. Other faults go to the handler that was installed before.
//!
//! The handler may interrupt anything, so it takes no lock and allocates nothing. It counts itself in
//! [`READERS`] while it reads the lists, and a run that ends takes its list out and then waits until nobody reads.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::mem::{transmute, zeroed};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};

use corosensei::stack::Stack;

/// The stacks of a run's processors. The handler knows them until this is dropped.
pub(in crate::clock) struct Stacks {
    /// Where the handler finds the list.
    slot: &'static Slot,
    /// Where the stacks lie.
    list: Arc<List>,
}

/// What the handler knows of a run.
struct List {
    /// The lowest address of each processor's stack, above its guard; 0 while the processor has no stack.
    bottoms: Box<[AtomicUsize]>,
    /// The size of each stack, in bytes.
    size: usize,
}

/// A place for a run's list. Slots are never given back, but used again.
struct Slot {
    /// The list, or null.
    list: AtomicPtr<List>,
    /// The slot that was made before this one.
    next: *const Slot,
}

// SAFETY: `next` is set before others see the slot, never changed, and points to a slot that lives for ever.
unsafe impl Sync for Slot {}

/// The newest slot.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(null_mut());

/// How many handlers read the lists now.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// The signals of memory that may not be touched.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The action for each of [`SIGNALS`] before [`install`].
static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

impl Stacks {
    /// The list for a run of `P` processors with stacks of `size` bytes; it is still empty.
    pub(crate) fn new(P: usize, size: usize) -> Stacks {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let size = size.div_ceil(page_size()).max(1).saturating_mul(page_size());
        let list = Arc::new(List { bottoms: (0..P).map(|_| AtomicUsize::new(0)).collect(), size });
        let slot = Slot::take(Arc::as_ptr(&list).cast_mut());
        Stacks { slot, list }
    }

    /// Notes the stack of processor `id`.
    pub(crate) fn coroutine(&self, id: usize, stack: &impl Stack) {
        self.list.bottoms[id].store(stack.limit().get() + page_size(), Ordering::Relaxed);
    }

    /// Notes this thread's stack as that of processor `id`, until the returned value is dropped.
    pub(crate) fn thread(&self, id: usize) -> impl Drop {
        struct WhileItRuns<'a>(&'a AtomicUsize, #[expect(unused)] AlternateStack);
        impl Drop for WhileItRuns<'_> {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Relaxed);
            }
        }
        let bottom = &self.list.bottoms[id];
        bottom.store(this_thread_bottom().unwrap_or(0), Ordering::Relaxed);
        WhileItRuns(bottom, AlternateStack::provide())
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        self.slot.list.store(null_mut(), Ordering::SeqCst);
        while READERS.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now(); // a handler may have found the list before it was taken out
        }
    }
}

impl Slot {
    /// A slot that has this list.
    fn take(list: *mut List) -> &'static Slot {
        for slot in Slot::all() {
            if slot.list.compare_exchange(null_mut(), list, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return slot;
            }
        }
        let slot = Box::leak(Box::new(Slot { list: AtomicPtr::new(list), next: null() }));
        let mut next = SLOTS.load(Ordering::SeqCst);
        loop {
            slot.next = next;
            match SLOTS.compare_exchange(next, slot, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return slot,
                Err(newer) => next = newer,
            }
        }
    }

    fn all() -> impl Iterator<Item = &'static Slot> {
        // SAFETY: a pointer to a slot is null or points to one that lives for ever and is not written to any more.
        let at = |slot: *const Slot| unsafe { slot.as_ref() };
        std::iter::successors(at(SLOTS.load(Ordering::SeqCst)), move |slot| at(slot.next))
    }
}

/// The processor in whose guard the address lies, and the size of its stack.
fn whose(address: usize) -> Option<(usize, usize)> {
    READERS.fetch_add(1, Ordering::SeqCst);
    let page = page_size();
    let found = Slot::all().find_map(|slot| {
        // SAFETY: `Stacks::drop` takes the list out first, and drops it only when nobody reads.
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

/// Says whose stack has overflowed, and ends the process: what lies beyond the stack was overwritten. It allocates
/// nothing and takes no lock.
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

/// Handles a signal: says whose stack has overflowed and ends the process, or hands the signal on.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the host passes what the signal is about, and there is always an address to read, though it means
    // something only if the host itself sent the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let is_fault = code > 0;
    if is_fault && let Some((id, size)) = whose(address) {
        end_process(id, size);
    }
    hand_on(signal, info, context, is_fault);
}

/// Lets whoever handled the signal before handle it.
fn hand_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_fault: bool) {
    let index = usize::from(signal != SIGNALS[0]);
    let Some(before) = BEFORE.get().map(|all| &all[index]) else { return };
    match before.sa_sigaction {
        // A fault repeats as soon as this returns, and then ends the process. A signal from a process does not.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: both calls may be made in a handler. The action is what was there before.
            unsafe {
                libc::sigaction(signal, before, null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag, the handler is such a function.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, the handler is such a function.
            let handler: extern "C" fn(c_int) = unsafe { transmute(handler) };
            handler(signal);
        }
    }
}

/// Makes [`handle`] the handler of [`SIGNALS`].
fn install() {
    // SAFETY: an action of zeros is valid, and the calls write only to `before`. `handle` does only what a handler may do,
    // and the actions before it are noted before it can be called.
    unsafe {
        let before = SIGNALS.map(|signal| {
            let mut before: libc::sigaction = zeroed();
            libc::sigaction(signal, null(), &mut before);
            before
        });
        BEFORE.get_or_init(|| before);
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

/// A stack for the handler, because a stack that has overflowed has no room for it. Rust's own threads have one already;
/// this is for other threads. It serves the thread that made it until that thread drops it.
pub(in crate::clock) struct AlternateStack {
    /// Where the stack lies, if the thread needed one.
    made: Option<*mut c_void>,
}

/// How large the handler's stack is, on threads that have none.
const ALTERNATE: usize = 64 << 10;

impl AlternateStack {
    /// Makes an alternate stack for this thread, if it has none.
    pub(crate) fn provide() -> AlternateStack {
        // SAFETY: the calls write to `now` alone. What is mapped here belongs to nobody else, and stays until the
        // thread no longer uses it.
        let made = unsafe {
            let mut now: libc::stack_t = zeroed();
            libc::sigaltstack(null(), &mut now);
            if now.ss_flags & libc::SS_DISABLE == 0 {
                return AlternateStack { made: None };
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            match libc::mmap(null_mut(), ALTERNATE, access, flags, -1, 0) {
                libc::MAP_FAILED => None, // an overflow will then end the process without a word
                memory => {
                    let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: ALTERNATE };
                    libc::sigaltstack(&stack, null_mut());
                    Some(memory)
                }
            }
        };
        AlternateStack { made }
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        let Some(memory) = self.made else { return };
        // SAFETY: this thread made it, and runs no handler now. Afterwards nobody uses the memory.
        unsafe {
            let none = libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: ALTERNATE };
            libc::sigaltstack(&none, null_mut());
            libc::munmap(memory, ALTERNATE);
        }
    }
}

/// The size of a page, and so of a guard.
fn page_size() -> usize {
    rustix::param::page_size()
}

/// The lowest address of this thread's stack, above its guard, if the host tells it.
fn this_thread_bottom() -> Option<usize> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the attributes are read only where the call has filled them in, and then destroyed.
    unsafe {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut bottom, mut size) = (null_mut(), 0);
        let told = libc::pthread_attr_getstack(attributes.as_ptr(), &mut bottom, &mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        told.then(|| bottom.addr())
    }
    #[cfg(target_os = "macos")]
    // SAFETY: both calls only tell about the calling thread.
    unsafe {
        let thread = libc::pthread_self();
        let top = libc::pthread_get_stackaddr_np(thread).addr();
        top.checked_sub(libc::pthread_get_stacksize_np(thread))
    }
}
