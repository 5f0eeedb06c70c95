//! Acting in a group: the group's number, and its collectives.

use loggp_model::message::RawTag;

use super::group::{Group, GroupMembership};
use super::processor::Proc;

impl Proc<'_> {
    /// Starts a collective of all processors, or of the group in which this one acts. Returns the number of
    /// those that it started before. All call them in the same order, so the number tells which one a message
    /// belongs to.
    pub(crate) fn begin_collective(&mut self) -> u32 {
        let begun = match &self.membership {
            None => &mut self.collective_count,
            Some(acting) => &mut self.groups.entry(acting.group.clone()).or_default().1,
        };
        let number = *begun;
        *begun = number.wrapping_add(1);
        number
    }

    /// Lets the processor act in a group from now on. Returns the group in which it acted before.
    #[track_caller]
    pub(crate) fn act_in(&mut self, group: &Group) -> Option<GroupMembership> {
        let number = match self.groups.get(group) {
            Some((number, _)) => *number,
            None => self.register_group(group),
        };
        let Some(rank) = group.rank(self.id()) else {
            self.fail_misused(format!("is not in {group}, and only members can act in it"))
        };
        self.membership.replace(GroupMembership { group: group.clone(), number, rank })
    }

    /// Checks a group in which the processor has not acted yet, and returns the group's number.
    #[track_caller]
    fn register_group(&mut self, group: &Group) -> u32 {
        if let Some((_, last)) = group.number_range() {
            self.check(last, 0);
        }
        if let Some(twice) = group.duplicate() {
            self.fail_misused(format!(
                "acts in {group}, in which processor {twice} is twice; give each once"
            ));
        }
        let number = self.setup.groups.number(group);
        if number > RawTag::LAST_GROUP {
            let most = RawTag::LAST_GROUP;
            self.fail_misused(format!("acts in a group more than a run can have; use at most {most} groups"));
        }
        self.groups.insert(group.clone(), (number, 0));
        number
    }
}
