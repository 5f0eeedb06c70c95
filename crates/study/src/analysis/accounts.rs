//! The accounts of a processor's time.

use std::ops::{AddAssign, Index, IndexMut};

use loggp::Time;

/// A use of a processor's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// Computing.
    Computation,
    /// Overhead of sending, requests and replies included.
    Send,
    /// Overhead of receiving, requests and replies included.
    Receive,
    /// Wait of a sender that has announced a message until its receiver calls.
    SenderSync,
    /// Wait of a receiver for a message that is neither there nor announced.
    ReceiverSync,
    /// Rest of a rendezvous: request, reply and message are under way.
    Handshake,
    /// Wait until the capacity lets a message in.
    Stall,
    /// Gap after a send or a reception.
    Gap,
    /// Wait until the port has carried another message.
    Port,
    /// Wait in the machine's own barrier.
    Barrier,
    /// Wait for a time, or a search for a message in vain.
    Idle,
    /// Time from its end to the end of the run.
    End,
}

impl Account {
    /// All accounts with their names, in the order of reports.
    const NAMED: [(Account, &str); 12] = [
        (Account::Computation, "computation"),
        (Account::Send, "send overhead"),
        (Account::Receive, "receive overhead"),
        (Account::SenderSync, "sender sync"),
        (Account::ReceiverSync, "receiver sync"),
        (Account::Handshake, "handshake"),
        (Account::Stall, "stall"),
        (Account::Gap, "gap"),
        (Account::Port, "port"),
        (Account::Barrier, "barrier"),
        (Account::Idle, "idle"),
        (Account::End, "end"),
    ];

    /// Returns all accounts, in the order of reports.
    pub fn all() -> [Account; 12] {
        Account::NAMED.map(|(account, _)| account)
    }

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        Account::NAMED[self as usize].1
    }
}

/// The times of all accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounts([Time; Account::NAMED.len()]);

impl Accounts {
    /// Returns the sum of all accounts.
    pub fn total(&self) -> Time {
        self.0.iter().sum()
    }

    /// Returns LogGPS's synchronization costs (section 2).
    pub fn synchronization(&self) -> Time {
        self[Account::SenderSync] + self[Account::ReceiverSync]
    }

    /// Returns the overhead of sending and receiving.
    pub fn overhead(&self) -> Time {
        self[Account::Send] + self[Account::Receive]
    }
}

impl Index<Account> for Accounts {
    type Output = Time;
    fn index(&self, account: Account) -> &Time {
        &self.0[account as usize]
    }
}

impl IndexMut<Account> for Accounts {
    fn index_mut(&mut self, account: Account) -> &mut Time {
        &mut self.0[account as usize]
    }
}

impl AddAssign for Accounts {
    fn add_assign(&mut self, other: Accounts) {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
    }
}
