//! The table of all runs: the times of each case by formula, model and measurement.

use loggp::Time;
use loggp_document::{Cell, Table};
use loggp_draw::digits::percent;
use loggp_programs::FormKind;
use loggp_study::Prediction;

use super::series::SeriesResult;

/// Returns the table without empty columns, or `None` if nothing was run. Its title has the greatest errors of
/// formulas that are not exact.
pub(crate) fn runs_table(results: &[SeriesResult], (unit, length): (&str, Time)) -> Option<Table> {
    let mut along: Vec<&str> =
        results.iter().map(|series| series.along).filter(|along| !along.is_empty()).collect();
    along.dedup();
    let predictions = results.iter().flat_map(|series| series.points.iter().map(|result| result.prediction));
    let title = format!("What was run{}", greatest_errors(&predictions.collect::<Vec<_>>()));
    let table = Table::new("runs", title).text("run");
    let table = along.iter().fold(table, |table, along| table.exact(along, ""));
    let table = table.exact("formula", unit).text("formula is").text("whose");
    let table = table.exact("model", unit).percent("vs formula");
    let mut table = table.exact("measured", unit).percent("vs model").text("held").text("result");
    let time = |time: Option<Time>| Cell::from(time.map(|time| time.in_units(length)));
    for series in results {
        for result in &series.points {
            let prediction = result.prediction;
            let mut row = vec![series.name.as_str().into()];
            row.extend(along.iter().map(|along| match *along == series.along {
                true => result.x.into(),
                false => Cell::Nothing,
            }));
            let host = result.answers.as_ref().and_then(|answers| answers.outcome.run.host.as_ref());
            let wrong = result.answers.as_ref().map(|answers| answers.wrong.is_some());
            row.extend([
                time(prediction.formula),
                prediction.form.map(|form| form.kind.name()).into(),
                prediction.form.map(|form| form.source).into(),
                time(prediction.model),
                prediction.error_formula().into(),
                time(prediction.measured.map(|times| times.median)),
                prediction.error_model().into(),
                host.map(|host| if host.on_time { "in time" } else { "late" }).into(),
                wrong.map(|wrong| if wrong { "wrong" } else { "right" }).into(),
            ]);
            table.push(row);
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty())
}

/// Returns the greatest error of the formulas of each kind that is not exact, as the end of a title.
fn greatest_errors(predictions: &[Prediction]) -> String {
    let of_kind = |kind: FormKind| {
        let of_kind =
            predictions.iter().filter(|prediction| prediction.form.is_some_and(|form| form.kind == kind));
        let errors = of_kind.filter_map(Prediction::error_formula);
        let greatest = errors.max_by(|one, other| one.abs().total_cmp(&other.abs()))?;
        Some(format!("{kind} is at most {} off", percent(greatest)))
    };
    let kinds = [FormKind::Estimate, FormKind::UpperBound, FormKind::LowerBound];
    let all: Vec<String> = kinds.into_iter().filter_map(of_kind).collect();
    if all.is_empty() { String::new() } else { format!("; {}", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use loggp::US;
    use loggp_programs::FormTime;

    use super::*;
    use crate::series::CaseResult;

    #[test]
    fn the_table_says_what_its_formulas_are() {
        let result = |kind, formula: i64, model: i64| {
            let form = FormTime { time: formula * US, kind, source: "ours" };
            let prediction = Prediction { model: Some(model * US), ..Prediction::from_form(Some(form)) };
            CaseResult { x: 0.0, prediction, answers: None }
        };
        let points = vec![
            result(FormKind::Exact, 5, 5),
            result(FormKind::Estimate, 10, 12),
            result(FormKind::Estimate, 10, 3),
            result(FormKind::UpperBound, 10, 9),
        ];
        let series = SeriesResult { name: "naive".into(), along: "", points };
        let table = runs_table(&[series], ("us", US)).unwrap();
        assert_eq!(
            table.title,
            "What was run; an estimate is at most -70.00% off, an upper bound is at most -10.00% off"
        );
        let titles: Vec<&str> = table.columns.iter().map(|column| &*column.title).collect();
        assert_eq!(titles, ["run", "formula", "formula is", "whose", "model", "vs formula"]);
        let [kind, whose] = [2, 3].map(|index| table.columns[index].cell_text(&table.rows[1][index]));
        assert_eq!((&*kind, &*whose), ("estimate", "ours"));
    }
}
