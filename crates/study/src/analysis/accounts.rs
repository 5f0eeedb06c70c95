//! What a processor's time goes to: the accounts, and what is on each of them.

use std::ops::{AddAssign, Index, IndexMut};

use loggp::Time;

/// What a processor's time can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// It computes.
    Computation,
    /// The overhead of sending, requests and replies included.
    Send,
    /// The overhead of receiving, requests and replies included.
    Receive,
    /// It has announced a message, and its receiver has not come to receive it yet.
    SenderSync,
    /// It has come to receive a message that is not there yet, nor announced.
    ReceiverSync,
    /// What else a rendezvous takes: request, reply and message are under way.
    Handshake,
    /// The capacity does not let its message in.
    Stall,
    /// The gap after a send or a reception runs.
    Gap,
    /// The port carries another message.
    Port,
    /// It waits in the machine's own barrier.
    Barrier,
    /// It waits for a moment, or looks for a message in vain.
    Idle,
    /// It has finished, and others have not.
    End,
}

impl Account {
    /// All of them, in the order in which reports have them.
    pub const ALL: [Account; 12] = [
        Account::Computation,
        Account::Send,
        Account::Receive,
        Account::SenderSync,
        Account::ReceiverSync,
        Account::Handshake,
        Account::Stall,
        Account::Gap,
        Account::Port,
        Account::Barrier,
        Account::Idle,
        Account::End,
    ];

    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Account::Computation => "computation",
            Account::Send => "send overhead",
            Account::Receive => "receive overhead",
            Account::SenderSync => "sender sync",
            Account::ReceiverSync => "receiver sync",
            Account::Handshake => "handshake",
            Account::Stall => "stall",
            Account::Gap => "gap",
            Account::Port => "port",
            Account::Barrier => "barrier",
            Account::Idle => "idle",
            Account::End => "end",
        }
    }
}

/// How much time is on each account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounts([Time; Account::ALL.len()]);

impl Accounts {
    /// All of it.
    pub fn total(&self) -> Time {
        self.0.iter().sum()
    }

    /// What LogGPS calls the synchronization costs (section 2).
    pub fn synchronization(&self) -> Time {
        self[Account::SenderSync] + self[Account::ReceiverSync]
    }

    /// The overhead of sending and of receiving.
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
