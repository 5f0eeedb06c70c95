//! RequestsByAddress: a trace has the address at which each lies.

use rustc_hash::FxHashMap;

use crate::call::{Completed, MpiCallKind, RequestId};

/// The requests of a rank, by their addresses.
#[derive(Debug, Default)]
pub(super) struct RequestsByAddress {
    at: FxHashMap<u64, TracedRequest>,
    /// The number of the next one.
    next: RequestId,
}

#[derive(Debug)]
struct TracedRequest {
    /// Its number, while it is under way.
    active: Option<RequestId>,
    /// What each start of a persistent one does; `None` if that is nothing, as for the null process.
    persistent: Option<Option<MpiCallKind>>,
}

impl RequestsByAddress {
    /// Adds a request that is under way, and returns its number.
    pub(super) fn start(&mut self, address: u64) -> RequestId {
        self.next += 1;
        self.at.insert(address, TracedRequest { active: Some(self.next), persistent: None });
        self.next
    }

    /// Notes that nothing is under way at an address.
    pub(super) fn clear(&mut self, address: u64) {
        self.at.remove(&address);
    }

    /// Adds a persistent request.
    pub(super) fn keep(&mut self, address: u64, kind: Option<MpiCallKind>) {
        self.at.insert(address, TracedRequest { active: None, persistent: Some(kind) });
    }

    /// Starts a persistent request, and returns what it does.
    pub(super) fn restart(&mut self, address: u64) -> Option<MpiCallKind> {
        let request = self.at.get_mut(&address)?;
        let mut kind = request.persistent.clone()??;
        if let MpiCallKind::Send { request: number, .. } | MpiCallKind::Recv { request: number, .. } =
            &mut kind
        {
            self.next += 1;
            *number = Some(self.next);
            request.active = *number;
        }
        Some(kind)
    }

    /// Starts the persistent requests in an array, and returns what they do.
    pub(super) fn restart_all(&mut self, first: u64, count: u64, size: u64) -> Vec<MpiCallKind> {
        let addresses = addresses(&self.at, (first, count, size), |request| request.persistent.is_some());
        addresses.into_iter().filter_map(|address| self.restart(address)).collect()
    }

    /// Completes the request at an address, and returns its number if it was under way.
    pub(super) fn complete(&mut self, address: u64) -> Option<RequestId> {
        let request = self.at.get_mut(&address)?;
        if request.persistent.is_some() {
            return request.active.take();
        }
        self.at.remove(&address)?.active
    }

    /// Gives up the request at an address.
    pub(super) fn forget(&mut self, address: u64) -> Option<RequestId> {
        self.at.remove(&address)?.active
    }

    /// Returns the addresses in an array at which requests are under way, and when each was started.
    pub(super) fn under_way(&self, first: u64, count: u64, size: u64) -> Vec<(u64, RequestId)> {
        let addresses = addresses(&self.at, (first, count, size), |request| request.active.is_some());
        addresses.into_iter().filter_map(|address| Some((address, self.at.get(&address)?.active?))).collect()
    }
}

/// Returns the addresses of an array at which there are such requests, in ascending order.
fn addresses(
    at: &FxHashMap<u64, TracedRequest>,
    (first, count, size): (u64, u64, u64),
    is_meant: impl Fn(&TracedRequest) -> bool,
) -> Vec<u64> {
    if count <= at.len() as u64 {
        let addresses = (0..count).map_while(|number| first.checked_add(number * size));
        return addresses.filter(|address| at.get(address).is_some_and(&is_meant)).collect();
    }
    // The count may be any number.
    let until = first.saturating_add(count.saturating_mul(size));
    let is_in = |address: u64| (first..until).contains(&address) && (address - first).is_multiple_of(size);
    let meant = at.iter().filter(|(address, request)| is_in(**address) && is_meant(request));
    let mut all: Vec<u64> = meant.map(|(address, _)| *address).collect();
    all.sort_unstable();
    all
}

/// Returns a request as it was completed: a trace says no more.
pub(super) fn completed(request: RequestId) -> Completed {
    Completed { request, taken: None, is_cancelled: false }
}
