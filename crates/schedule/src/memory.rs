//! The memory that this process can get.

use std::fs::read_to_string;
use std::path::Path;

use loggp_model::error::Cause;
#[cfg(unix)]
use rustix::process::{Resource, getrlimit};

/// The bytes that a run needs beside its processors.
pub const SLACK: u64 = 16 << 20;

/// Refuses a demand for more bytes than this process can get. `what` names the demand.
pub fn check_bytes(bytes: u64, what: impl FnOnce() -> String) -> Result<(), Cause> {
    let addresses = limited_addresses().map(|(most, used)| ("ulimit -v leaves", most.saturating_sub(used)));
    let free = free_memory().map(|bytes| ("there are", bytes));
    match addresses.into_iter().chain(free).min_by_key(|(_, left)| *left) {
        Some((says, left)) if bytes > left.saturating_sub(SLACK) => Err(Cause::Host(format!(
            "{} takes {} MiB at least, and {says} {} MiB",
            what(),
            bytes >> 20,
            left >> 20
        ))),
        _ => Ok(()),
    }
}

/// Returns the bytes of addresses that this process may have, if that is limited, and those that it has.
#[cfg(unix)]
pub fn limited_addresses() -> Option<(u64, u64)> {
    let most = getrlimit(Resource::As).current?;
    Some((most, first_number("/proc/self/statm")? * rustix::param::page_size() as u64))
}

/// Returns the limit on addresses where a process has none.
#[cfg(not(unix))]
fn limited_addresses() -> Option<(u64, u64)> {
    None
}

/// Returns the number at the beginning of a file.
pub fn first_number(path: impl AsRef<Path>) -> Option<u64> {
    read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}

/// Returns the free memory in bytes, if the host reports it.
pub fn free_memory() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::check_bytes;

    #[test]
    fn too_many_bytes_are_refused() {
        assert!(check_bytes(1, || "a byte".into()).is_ok());
        let refused = check_bytes(u64::MAX, || "it".into()).unwrap_err().to_string();
        assert!(refused.starts_with("it takes 17592186044415 MiB at least, and "), "{refused}");
    }
}
