//! The fastest algorithm along a parameter, and the values at which another one becomes the fastest.

use super::answer::{NumberColumn, PageAnswer};
use super::json::{JsonObject, Raw};
use super::play::PlaySubject;
use super::request::{PageRequest, PageSetting, ParameterRange};

/// The most changes that are found.
const MOST_CHANGES: usize = 64;

/// Algorithms that are compared.
pub(crate) struct Rivals<'a> {
    ids: &'a [String],
    subjects: Vec<PlaySubject>,
}

impl<'a> Rivals<'a> {
    pub(crate) fn new(ids: &'a [String]) -> Result<Rivals<'a>, String> {
        const MOST: usize = 16;
        if ids.is_empty() || ids.len() > MOST {
            return Err(format!("{} algorithms cannot be compared; give 1 to {MOST}", ids.len()));
        }
        let subjects = ids.iter().map(|id| PlaySubject::find(id)).collect::<Result<Vec<_>, _>>()?;
        Ok(Rivals { ids, subjects })
    }

    /// Returns the times of all in ps; those that cannot run have none, and so have all where there is no such setting.
    pub(crate) fn times(&self, setting: &Result<PageSetting, String>) -> Vec<Option<i64>> {
        let time = |subject: &PlaySubject| {
            let run = subject.play(setting.as_ref().ok()?, false).ok()?;
            Some(run.time.as_ps())
        };
        self.subjects.iter().map(time).collect()
    }

    /// Returns the columns of times, by the algorithms' ids.
    pub(crate) fn columns(&self, rows: &[Vec<Option<i64>>]) -> impl Iterator<Item = (&String, NumberColumn)> {
        self.ids.iter().enumerate().map(|(place, id)| {
            let times = rows.iter().map(|times| times[place].map_or(f64::NAN, |time| time as f64));
            (id, NumberColumn::F64(times.collect()))
        })
    }
}

/// Returns the place of the fastest; of equally fast ones the first.
pub(crate) fn fastest(times: &[Option<i64>]) -> Option<usize> {
    let known = times.iter().enumerate().filter_map(|(place, time)| Some(((*time)?, place)));
    known.min().map(|(_, place)| place)
}

/// Returns the answer to `crossover`.
pub(crate) fn answer(request: &PageRequest) -> Result<PageAnswer, String> {
    let (setting, range) = (request.setting()?, &request.along);
    let rivals = Rivals::new(&request.algorithms)?;
    let values = range.values(setting.params.cycle)?;
    let at = |value: i64| rivals.times(&setting.with(&range.over, value));
    let rows: Vec<Vec<Option<i64>>> = values.iter().map(|value| at(*value)).collect();
    let changes = changes(range, &rivals, &values, &rows, at);
    let mut answer = PageAnswer::default();
    answer.set_column("values", NumberColumn::F64(values.iter().map(|value| *value as f64).collect()));
    answer.set_columns("times", rivals.columns(&rows));
    answer.set("changes", Raw::list(changes.into_iter()));
    Ok(answer)
}

/// Finds by bisection where the fastest changes.
fn changes(
    range: &ParameterRange,
    rivals: &Rivals,
    values: &[i64],
    rows: &[Vec<Option<i64>>],
    times_at: impl Fn(i64) -> Vec<Option<i64>>,
) -> Vec<JsonObject> {
    let name = |place: Option<usize>| place.map(|place| &rivals.ids[place]);
    let mut changes = Vec::new();
    for (pair, rows) in values.windows(2).zip(rows.windows(2)) {
        let (mut from, last) = ((pair[0], rows[0].clone()), (pair[1], rows[1].clone()));
        while fastest(&from.1) != fastest(&last.1) && changes.len() < MOST_CHANGES {
            let (mut before, mut after) = (from.clone(), last.clone());
            while after.0 - before.0 > 1 {
                let middle = before.0 + (after.0 - before.0) / 2;
                let there = times_at(middle);
                let is_before = fastest(&there) == fastest(&from.1);
                *(if is_before { &mut before } else { &mut after }) = (middle, there);
            }
            let text = range.text(after.0);
            let change = JsonObject::default().with("value", after.0).with("text", text);
            let change = change.with("before", name(fastest(&from.1))).with("after", name(fastest(&after.1)));
            let is_without = |place: &usize| before.1[*place].is_none() || after.1[*place].is_none();
            let without = (0..rivals.ids.len()).filter(is_without).map(|place| &*rivals.ids[place]);
            changes.push(change.with("without", without.collect::<Vec<_>>()));
            from = after;
        }
    }
    changes
}
