//! Names and colours of activities and accounts, the same in every picture.

use crate::analysis::accounts::Account;
use loggp::trace::ActivityKind;
use loggp_draw::palette::{
    ActivityStyle, BLUE, GREEN, GREY, MIST, ORANGE, PAPER, PEACH, POWDER, PURPLE, SAND, SILVER, SLATE,
    STRONG, VERMILLION, YELLOW,
};

/// Returns the style of an activity, or `None` if it is not shown, such as idleness.
pub fn activity_style(what: &ActivityKind) -> Option<ActivityStyle> {
    let account = match what {
        ActivityKind::Work(_) => Account::Computation,
        ActivityKind::Send(_) => Account::Send,
        ActivityKind::Receive(_) => Account::Receive,
        ActivityKind::Gap => Account::Gap,
        ActivityKind::Stall => Account::Stall,
        ActivityKind::Port => Account::Port,
        ActivityKind::Barrier => Account::Barrier,
        ActivityKind::Post(_) => return Some(ActivityStyle { name: "call for a request", ink: POWDER }),
        ActivityKind::Wait(_) => return Some(ActivityStyle { name: "wait for a request", ink: PEACH }),
        _ => return None,
    };
    Some(account_style(account))
}

/// Detours of the host, which lie within other activities.
pub const NOISE: ActivityStyle = ActivityStyle { name: "noise", ink: GREY };

/// Returns the style of an account.
pub fn account_style(account: Account) -> ActivityStyle {
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
    // A bar beside the letter g would look as if it were as long as g.
    let name = if account == Account::Gap { "wait for the gap" } else { account.name() };
    ActivityStyle { name, ink }
}
