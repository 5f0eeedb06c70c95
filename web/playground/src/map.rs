//! The fastest algorithm over two parameters.

use super::answer::{NumberColumn, PageAnswer};
use super::crossover::{Rivals, fastest};
use super::request::PageRequest;

/// Stands for a cell in which no algorithm can run.
const NONE: u8 = u8::MAX;

/// Returns the answer to `map`.
pub(crate) fn answer(request: &PageRequest) -> Result<PageAnswer, String> {
    const MOST: usize = 1 << 16;
    let setting = request.setting()?;
    let rivals = Rivals::new(&request.algorithms)?;
    let (x, y) = (request.x.values(setting.params.cycle)?, request.y.values(setting.params.cycle)?);
    if request.x.over == request.y.over {
        return Err(format!("both axes are {}; give two parameters", request.x.over));
    }
    if x.len() * y.len() > MOST {
        return Err(format!("{} by {} cells are too many; give at most {MOST}", x.len(), y.len()));
    }
    let (from, to) = request.rows.unwrap_or((0, y.len()));
    let rows = y.get(from..to.min(y.len())).unwrap_or_default();
    let cell = |(y, x): (i64, i64)| {
        let setting = setting.with(&request.y.over, y).and_then(|setting| setting.with(&request.x.over, x));
        rivals.times(&setting)
    };
    let cells = rows.iter().flat_map(|y| x.iter().map(move |x| (*y, *x)));
    let times: Vec<Vec<Option<i64>>> = cells.map(cell).collect();
    let winner = times.iter().map(|times| fastest(times).map_or(NONE, |place| place as u8)).collect();
    let mut answer = PageAnswer::default();
    for (name, values) in [("x", &x), ("y", &y)] {
        answer.set_column(name, NumberColumn::F64(values.iter().map(|value| *value as f64).collect()));
    }
    answer.set_column("winner", NumberColumn::U8(winner));
    answer.set_columns("times", rivals.columns(&times));
    Ok(answer)
}
