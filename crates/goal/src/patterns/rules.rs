//! Writes a rank's part in a collective, by the algorithm that a table chooses.

use loggp_model::time::Time;
use loggp_schedule::{ScheduleBuilder, ScheduleError};

use super::WriteResult;
use super::algorithm::{CollectiveAlgorithm, Method};
use super::call::{CollectiveCall, CollectiveKind, Member};
use super::member::{Lengths, MemberWriter};
use super::table::CollectiveTable;

/// How collectives become messages.
pub struct CollectiveRules<'a> {
    /// Which algorithm is taken when.
    pub table: &'a CollectiveTable,
    /// Returns the time to combine this many bytes of two ranks.
    pub combine: &'a dyn Fn(u64) -> Time,
}

impl CollectiveRules<'_> {
    /// Writes a rank's part in a collective. Returns the operation that ends the part.
    pub fn write(
        &self,
        builder: &mut ScheduleBuilder,
        member: Member,
        call: &CollectiveCall,
    ) -> Result<u32, ScheduleError> {
        write_chosen(builder, member, call, self.combine, &|call, P| self.choose(call, P), |writer| {
            writer.end()
        })
    }

    /// Returns the algorithm for a call of this many ranks.
    fn choose(&self, call: &CollectiveCall, ranks: usize) -> Result<CollectiveAlgorithm, ScheduleError> {
        self.table.choose(call, ranks).ok_or_else(|| {
            let name = call.kind.name();
            ScheduleError::new(format!("no line of the table is for this {name}; give one"))
        })
    }

    /// Returns the name of the algorithm that runs where another one is asked for: the one that the table chooses, or
    /// what stands in for an algorithm that cannot do it.
    pub(crate) fn what_runs(&self, ranks: usize, call: &CollectiveCall) -> Result<String, ScheduleError> {
        let algorithm = self.choose(call, ranks)?;
        let mut builder = ScheduleBuilder::new(ranks)?;
        builder.begin_rank(0)?;
        let members: Vec<u32> = (0..ranks as u32).collect();
        let member = Member { members: &members, id: 0, tag: 0, before: &[] };
        let choose = |call: &CollectiveCall, P: usize| self.choose(call, P);
        let stand_in =
            write_chosen(&mut builder, member, call, self.combine, &choose, |writer| Ok(writer.stand_in))?;
        Ok(stand_in.map_or_else(|| algorithm.to_string(), String::from))
    }
}

/// Writes a rank's part in a collective by an algorithm in which no other collective is a part. Returns the
/// operation that ends the rank's part.
pub(crate) fn write_by(
    algorithm: CollectiveAlgorithm,
    builder: &mut ScheduleBuilder,
    member: Member,
    call: &CollectiveCall,
) -> Result<u32, ScheduleError> {
    write_chosen(builder, member, call, &|_| Time::ZERO, &|_, _| Ok(algorithm), |writer| writer.end())
}

/// Writes a rank's part in a [pattern](super::PATTERNS). No single operation ends the part.
pub fn write_pattern(
    pattern: &'static Method,
    builder: &mut ScheduleBuilder,
    member: Member,
    call: &CollectiveCall,
) -> WriteResult {
    let algorithm = CollectiveAlgorithm { sends_empty: true, ..CollectiveAlgorithm::new(pattern) };
    write_chosen(builder, member, call, &|_| Time::ZERO, &|_, _| Ok(algorithm), |_| Ok(()))
}

/// Returns the algorithm for a call of this many ranks.
type Choose<'a> = &'a dyn Fn(&CollectiveCall, usize) -> Result<CollectiveAlgorithm, ScheduleError>;

fn write_chosen<T>(
    builder: &mut ScheduleBuilder,
    member: Member,
    call: &CollectiveCall,
    combine: &dyn Fn(u64) -> Time,
    choose: Choose,
    end: fn(&mut MemberWriter) -> Result<T, ScheduleError>,
) -> Result<T, ScheduleError> {
    call.check(member.members.len())?;
    let write_part = |writer: &mut MemberWriter, call: &CollectiveCall| write_part(writer, call, choose);
    let mut writer = MemberWriter::new(builder, member, combine, &write_part);
    write_part(&mut writer, call)?;
    end(&mut writer)
}

/// Writes a collective, by the algorithm that is chosen.
fn write_part(writer: &mut MemberWriter, call: &CollectiveCall, choose: Choose) -> WriteResult {
    let call = &CollectiveCall { root: if call.kind.has_root() { call.root } else { 0 }, ..*call };
    let algorithm = &choose(call, writer.P)?;
    writer.waits_for_data = algorithm.method.waits_for_data;
    let is_alone = writer.P < 2 && !call.kind.is_of_neighbors() && !writer.waits_for_data;
    if is_alone || sends_nothing(writer, call, algorithm) {
        return Ok(());
    }
    check_segments(algorithm, call, writer.P)?;
    let before = (writer.unit, writer.swaps_root);
    let counts_elements = call.kind.is_reduction() || call.kind == CollectiveKind::Bcast;
    writer.swaps_root = algorithm.method.swaps_root;
    writer.unit = match algorithm.method.divides_bytes {
        false if counts_elements => call.element_size(writer.P),
        _ => 1,
    };
    let written = (algorithm.method.write)(writer, &Lengths { call, unit: writer.unit }, algorithm);
    (writer.unit, writer.swaps_root) = before;
    written
}

/// Returns whether there is nothing to send, and the library returns at once then.
fn sends_nothing(writer: &MemberWriter, call: &CollectiveCall, algorithm: &CollectiveAlgorithm) -> bool {
    use CollectiveKind::*;
    // These look at what each rank gives each other one.
    let is_list = matches!(call.kind, Gatherv | Scatterv | Alltoallv | Alltoallw);
    let is_asked = call.kind != Barrier && !is_list && !call.kind.is_of_neighbors();
    is_asked && !algorithm.sends_empty && call.measure(writer.P).1 == 0
}

/// Returns an error if messages have so many segments that their list would take much memory.
fn check_segments(algorithm: &CollectiveAlgorithm, call: &CollectiveCall, P: usize) -> WriteResult {
    const MOST: u64 = 1 << 24;
    let (segment, bytes) = (algorithm.segment, call.measure(P).1);
    if segment == 0 || bytes / segment <= MOST {
        return Ok(());
    }
    let name = call.kind.name();
    Err(ScheduleError::new(format!(
        "{name} has {bytes} bytes in segments of {segment}, and there are at most {MOST} segments; give longer ones"
    )))
}
