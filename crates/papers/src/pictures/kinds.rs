//! What a processor's time goes to has the same name and colour in every picture.

use loggp::ActivityKind;
use loggp_draw::palette::{
    BLUE, GREEN, GREY, Kind, MIST, ORANGE, PAPER, PEACH, POWDER, PURPLE, SAND, SILVER, SLATE, STRONG,
    VERMILLION, YELLOW,
};
use loggp_study::analysis::accounts::Account;

/// What an activity is, if it is shown. A processor that is idle shows nothing.
pub fn of_activity(what: &ActivityKind) -> Option<Kind> {
    let account = match what {
        ActivityKind::Work(_) => Account::Computation,
        ActivityKind::Send(_) => Account::Send,
        ActivityKind::Receive(_) => Account::Receive,
        ActivityKind::Gap => Account::Gap,
        ActivityKind::Stall => Account::Stall,
        ActivityKind::Port => Account::Port,
        ActivityKind::Barrier => Account::Barrier,
        ActivityKind::Post(_) => return Some(Kind { name: "call for a request", ink: POWDER }),
        ActivityKind::Wait(_) => return Some(Kind { name: "wait for a request", ink: PEACH }),
        _ => return None,
    };
    Some(of_account(account))
}

/// The detours of the host, which lie within what a processor does.
pub const NOISE: Kind = Kind { name: "noise", ink: GREY };

/// What is on an account.
pub fn of_account(account: Account) -> Kind {
    let ink = match account {
        Account::Computation => GREEN,
        Account::Send => BLUE,
        Account::Receive => ORANGE,
        Account::SenderSync => PURPLE,
        Account::ReceiverSync => YELLOW,
        Account::Handshake => STRONG,
        Account::Stall => VERMILLION,
        Account::Gap => SILVER,
        Account::Port => MIST,
        Account::Barrier => SLATE,
        Account::Idle => SAND,
        Account::End => PAPER,
    };
    Kind { name: account.name(), ink }
}
