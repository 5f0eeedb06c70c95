//! The machine and the size for which a program is predicted.

use loggp_model::params::{Level, Params, Ports};
use loggp_model::time::Time;

/// A machine and a size.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Parameters of the machine.
    pub params: &'a Params,
    /// Levels within the machine.
    pub levels: &'a [Level],
    /// Ports of the machine.
    pub ports: Ports,
    /// Cost of the hardware barrier; `None` if the machine has none.
    pub barrier: Option<Time>,
    /// Size, with the meaning that the program gives it.
    pub size: usize,
}

/// The reason why a case cannot be run, in one sentence that says what could be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl Setting<'_> {
    /// Refuses a size of 0, and one that needs too much memory at `each` bytes per unit of size.
    pub fn check_room(&self, each: usize) -> Result<(), Refusal> {
        const MOST: u128 = 1 << 32;
        let bytes = self.size as u128 * each as u128;
        match MOST / each as u128 {
            _ if self.size == 0 => refuse!("a size of 0 leaves nothing to do; give at least 1"),
            0 => {
                refuse!("{} processors would hold more than {MOST} bytes of data; give fewer", self.params.P)
            }
            most if bytes > MOST => refuse!(
                "the processors would hold {bytes} bytes of data, which is too much; give a size of at most {most}"
            ),
            _ => Ok(()),
        }
    }

    /// Refuses a machine on which even a message of one word waits for its receiver. Processors that all send
    /// first would wait for each other forever.
    pub fn check_eager(&self) -> Result<(), Refusal> {
        if self.params.is_synchronous(1) && self.params.P > 1 {
            refuse!(
                "all processors send at once, and with S = 0 each would wait for the others to receive; \
                 give S of at least 1"
            );
        }
        Ok(())
    }
}

impl<S: Into<String>> From<S> for Refusal {
    fn from(why: S) -> Refusal {
        Refusal(why.into().replace(char::is_control, " ")) // it may quote what was read
    }
}
