//! The formulas of the critical path of an analyzed run, and of its parts.

use loggp::path::HopKind;
use loggp_document::DocumentBlock;
use loggp_study::analysis::FormulaBuilder;

use super::analyzed_run::AnalyzedRun;
use super::column::{ReportColumn, json_key, table};
use super::field::Field;
use super::formula::{formula_columns, formula_text};
use super::formula_sweep::sweep_columns;
use super::number::Unit;
use super::row::MOST_DECIMALS;

/// Returns the columns of a run: its formula, those of the path's parts, and those along a parameter.
pub fn run_columns<'a>() -> Vec<ReportColumn<'a, AnalyzedRun>> {
    let mut columns = formula_columns(|row: &AnalyzedRun| &row.analysis.formula);
    columns.extend(HopKind::ALL.iter().map(|&part| {
        let words =
            move |row: &AnalyzedRun| part_formula(row, part).map_or(Field::Absent, |words| words.into());
        ReportColumn::new(format!("path_formulas.{}", json_key(part.name())), words).json_only()
    }));
    columns.extend(sweep_columns(|row: &AnalyzedRun| row.sweep.as_ref()));
    columns
}

/// Returns the formula of the hops of one kind, or `None` if the path has none.
pub fn part_formula(row: &AnalyzedRun, part: HopKind) -> Option<String> {
    let mut hops = row.analysis.path.iter().map(|step| &step.hop).filter(|hop| hop.kind == part).peekable();
    hops.peek()?;
    Some(formula_text(&FormulaBuilder::new(&row.analysis.params).formula(hops)))
}

/// Returns the table of the formulas of all runs.
pub fn formula_table(runs: &[AnalyzedRun], unit: Unit) -> Option<DocumentBlock> {
    let columns = [
        ReportColumn::table_only("critical path", |row: &AnalyzedRun| row.short_name().to_string()),
        ReportColumn::table_only("as a formula", |row: &AnalyzedRun| formula_text(&row.analysis.formula)),
    ];
    table(&columns, runs, unit, MOST_DECIMALS)
}
