//! The locks and atomics of the wall clock. Under loom they are loom's, so that loom can try every order of
//! steps.

#[cfg(loom)]
pub(super) use self::loom_sync::*;
#[cfg(not(loom))]
pub(super) use self::std_sync::*;

/// Whether loom or Miri runs the code. Then nothing depends on the host's timing, and rare paths are taken at
/// once.
pub(super) const IS_MODEL_CHECKED: bool = cfg!(any(loom, miri));

#[cfg(not(loom))]
mod std_sync {
    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
    pub(crate) use parking_lot::{Mutex, MutexGuard};
    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};

    /// Called in each round of a spinning thread. Does nothing.
    #[inline]
    pub(crate) fn spin_once() {}

    /// The standard library's cell, with loom's interface.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> UnsafeCell<T> {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(loom)]
mod loom_sync {
    pub(crate) use loom::cell::UnsafeCell;
    use loom::sync::Condvar;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, MutexGuard};

    /// Called in each round of a spinning thread. Lets the other threads run.
    pub(crate) fn spin_once() {
        loom::thread::yield_now();
    }

    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Mutex<T> {
            Mutex::new(T::default())
        }
    }

    /// A parker like crossbeam's: `unpark` leaves a token, and `park` takes it.
    pub(crate) struct Parker(Unparker);

    #[derive(Clone)]
    pub(crate) struct Unparker(Arc<(loom::sync::Mutex<bool>, Condvar)>);

    impl Parker {
        pub(crate) fn new() -> Parker {
            Parker(Unparker(Arc::new((loom::sync::Mutex::new(false), Condvar::new()))))
        }

        pub(crate) fn unparker(&self) -> &Unparker {
            &self.0
        }

        pub(crate) fn park(&self) {
            let (token, left) = &*self.0.0;
            let mut token = token.lock().unwrap();
            while !*token {
                token = left.wait(token).unwrap();
            }
            *token = false;
        }
    }

    impl Unparker {
        pub(crate) fn unpark(&self) {
            let (token, left) = &*self.0;
            *token.lock().unwrap() = true;
            left.notify_one();
        }
    }
}
