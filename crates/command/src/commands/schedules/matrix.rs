//! `loggp matrix`: prints and draws a communication matrix of the transportation primitive.

use std::io::Write;
use std::mem::take;

use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use loggp::Params;
use loggp_document::{Cell, CellFormat, Document, DocumentBlock, Table, Width, plain};
use loggp_draw::heat_map::heat_map;
use loggp_programs::transportation;
use loggp_programs::transportation::generators::{self, NAMED};
use loggp_programs::transportation::{Matrix, TRANSPORTATION};
use loggp_programs::{Case, OptionValue};
use serde_json::json;

use crate::ask::completion_values::completed;
use crate::ask::format::Format;
use crate::ask::lookup::name_list;
use crate::ask::options::{parse_count, parse_seed};
use crate::ask::output::Outputs;
use crate::error::CliError;
use crate::host::stdout::{self, width_of_files};
use crate::number::thousands;

/// Print and draw a communication matrix of the transportation primitive
#[derive(Args)]
#[command(after_help = format!("{}

Examples:
  loggp matrix figure-1
  loggp matrix skewed --fan-out 8 --skew 1/8 -o skewed.svg -o skewed.csv",
    name_list("Matrices", NAMED.iter().map(|named| (named.name, named.about)))
))]
pub(crate) struct MatrixCommand {
    /// The matrix: one of the names below, or a file whose name ends in .csv, with a line for each processor
    #[arg(value_name = "NAME|FILE.csv", default_value = "skewed", value_parser = matrix_parser(), hide_possible_values = true)]
    matrix: OptionValue,
    /// Number of processors [default: the figure's or the file's, or 32]
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    P: Option<usize>,
    /// The traffic t [default: 4096]
    #[arg(long, value_name = "WORDS", value_parser = option_parser("traffic"), allow_hyphen_values = true)]
    traffic: Option<OptionValue>,
    /// Of skewed: how many processors each sends to, or any [default: 8 or P]
    #[arg(long, value_name = "K|any", value_parser = option_parser("fan-out"), allow_hyphen_values = true)]
    fan_out: Option<OptionValue>,
    /// Of skewed: lK receivers share the fraction 1-l of the traffic [default: 1/K]
    #[arg(long, value_name = "L|any", value_parser = option_parser("skew"), allow_hyphen_values = true)]
    skew: Option<OptionValue>,
    /// Of random: the most that a processor sends [default: the traffic]
    #[arg(long, value_name = "R", value_parser = option_parser("outgoing"), allow_hyphen_values = true)]
    outgoing: Option<OptionValue>,
    /// Of random: the most that a processor receives [default: the traffic]
    #[arg(long, value_name = "C", value_parser = option_parser("incoming"), allow_hyphen_values = true)]
    incoming: Option<OptionValue>,
    /// Draws what is random [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    outputs: Outputs,
    /// How it is written: for people, as a JSON object, or as lines that a file can have
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Limit of the processors of a matrix that is shown as a table. A larger one would fill many screens.
const MOST_SHOWN: usize = 128;
/// The default seed.
const SEED: u64 = 1;
/// Limit of the processors of a matrix.
const MOST_PROCESSORS: usize = 2048;

/// Returns a parser that reads a value as the program's own option does.
fn option_parser(name: &'static str) -> impl TypedValueParser<Value = OptionValue> {
    let option = TRANSPORTATION.option(name).expect("the program has it");
    StringValueParser::new().try_map(move |text| option.read(&text))
}

/// Returns a parser for the name of a matrix or of a file.
fn matrix_parser() -> impl TypedValueParser<Value = OptionValue> {
    completed(option_parser("matrix"), NAMED.iter().map(|named| (named.name, named.about)))
}

impl MatrixCommand {
    /// Prints the matrix, and writes its files.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let P = self.processor_count()?;
        let params = Params::builder(P).build().map_err(CliError::request)?;
        let mut case = Case { seed: self.seed()?, ..Case::new(&TRANSPORTATION, "linear", params) };
        let values = [&self.traffic, &self.fan_out, &self.skew, &self.outgoing, &self.incoming];
        for value in values.into_iter().flatten().chain([&self.matrix]) {
            case = case.with_value(value.clone());
        }
        let matrix = transportation::matrix(&case).map_err(CliError::request)?;
        let mut files = self.outputs.open()?;
        for (format, draft) in take(&mut files.rows) {
            draft.write(|mut file| file.write_all(&self.to_bytes(&matrix, format, width_of_files())))?;
        }
        files.draw(|| {
            heat_map(matrix.P(), matrix.entries(), &self.title(&matrix)).map_err(CliError::Request)
        })?;
        out.write_all(&self.to_bytes(&matrix, self.format, stdout::width()))?;
        Ok(out.flush()?)
    }

    /// Returns the matrix in this format. CSV has the receivers as titles, which a file that is read may
    /// leave out.
    fn to_bytes(&self, matrix: &Matrix, format: Format, width: Width) -> Vec<u8> {
        match format {
            Format::Table => self.text(matrix, width).into(),
            Format::Json => self.json(matrix).into(),
            Format::Csv => {
                let row = |i| matrix.row(i).iter().map(|elements| Cell::from(*elements)).collect();
                let rows = (0..matrix.P()).map(row).collect();
                Table { rows, ..add_processor_columns(Table::new("", ""), matrix.P()) }.to_csv()
            }
        }
    }

    /// Returns the matrix's name, or its file's.
    fn name(&self) -> String {
        self.matrix.text()
    }

    /// Returns the seed. Refuses one for a matrix that is not random.
    fn seed(&self) -> Result<u64, CliError> {
        let name = self.name();
        let is_random = NAMED.iter().any(|named| named.name == name && named.P.is_none());
        match self.seed {
            Some(_) if !is_random => Err(CliError::Request(format!(
                "--seed is for matrices that are made, and {name} is as it is; leave it out"
            ))),
            seed => Ok(seed.unwrap_or(SEED)),
        }
    }

    /// Returns the number of processors.
    fn processor_count(&self) -> Result<usize, CliError> {
        /// The number in the paper's measurements (section 9).
        const USUAL: usize = 32;
        let named = NAMED.iter().find(|named| named.name == self.name());
        let P = match (self.P, named) {
            (Some(P), _) => P,
            (None, Some(named)) => named.P.unwrap_or(USUAL),
            (None, None) => generators::read(&self.name()).map_err(CliError::Request)?.P(),
        };
        match P {
            1..=MOST_PROCESSORS => Ok(P),
            _ => Err(CliError::Request(format!(
                "P = {P} is no number of processors for a matrix; give one from 1 to {MOST_PROCESSORS}"
            ))),
        }
    }

    /// Returns a line with the name of the matrix and its bounds.
    fn title(&self, matrix: &Matrix) -> String {
        let [r, c, t] = [matrix.r(), matrix.c(), matrix.t()].map(thousands);
        let [f, g, h] = [matrix.f(), matrix.g(), matrix.h()].map(thousands);
        let (name, P) = (self.name(), matrix.P());
        format!("{name}: P = {P}, r = {r}, c = {c}, t = {t}, f = {f}, g = {g}, h = {h}")
    }

    /// Returns the matrix as text, with a table if it is small enough.
    fn text(&self, matrix: &Matrix, width: Width) -> String {
        let P = matrix.P();
        let uniform = if matrix.is_uniform() { "uniform" } else { "not uniform" };
        let equal = if matrix.is_equal() { ", equal traffic" } else { "" };
        let title = format!("{}\n{}, {uniform}{equal}", self.title(matrix), matrix.kind());
        let shown = match P > MOST_SHOWN {
            true => DocumentBlock::Paragraph(plain(format!(
                "a table of {P} rows and columns is too large to be read here; --format csv and -o FILE.svg have them"
            ))),
            false => DocumentBlock::Table(Self::table(matrix)),
        };
        Document { title, blocks: vec![shown] }.to_text(width)
    }

    /// Returns the table of the matrix's elements, and the sums of its rows and columns.
    fn table(matrix: &Matrix) -> Table {
        let P = matrix.P();
        let some = |elements: usize| if elements == 0 { Cell::Nothing } else { elements.to_string().into() };
        let mut table = add_processor_columns(Table::new("", "").column("", "", CellFormat::Right), P);
        table = table.column("r_i", "", CellFormat::Right).column("f_i", "", CellFormat::Right);
        for i in 0..P {
            let sums = [matrix.r_i(i), matrix.f_i(i)].map(|sum| sum.to_string().into());
            let row = matrix.row(i).iter().map(|elements| some(*elements));
            table.push([format!("P{i}").into()].into_iter().chain(row).chain(sums).collect());
        }
        for (name, of) in [("c_j", Matrix::c_j as fn(&Matrix, usize) -> usize), ("g_j", Matrix::g_j)] {
            let sums = (0..P).map(|j| of(matrix, j).to_string().into());
            let sums = [name.into()].into_iter().chain(sums);
            table.push(sums.chain([Cell::Nothing, Cell::Nothing]).collect());
        }
        table
    }

    /// Returns the matrix as a JSON object.
    fn json(&self, matrix: &Matrix) -> String {
        let P = matrix.P();
        let each = |of: fn(&Matrix, usize) -> usize| (0..P).map(|n| of(matrix, n)).collect::<Vec<_>>();
        let matrix = json!({
            "matrix": self.name(),
            "P": P,
            "seed": self.seed.unwrap_or(SEED),
            "kind": matrix.kind().to_string(),
            "uniform": matrix.is_uniform(),
            "equal_traffic": matrix.is_equal(),
            "r": matrix.r(),
            "c": matrix.c(),
            "t": matrix.t(),
            "f": matrix.f(),
            "g": matrix.g(),
            "h": matrix.h(),
            "r_i": each(Matrix::r_i),
            "c_j": each(Matrix::c_j),
            "f_i": each(Matrix::f_i),
            "g_j": each(Matrix::g_j),
            "rows": (0..P).map(|i| matrix.row(i)).collect::<Vec<_>>(),
        });
        format!("{matrix}\n")
    }
}

/// Adds a column for each processor.
fn add_processor_columns(table: Table, P: usize) -> Table {
    (0..P).fold(table, |table, j| table.column(&format!("P{j}"), "", CellFormat::Right))
}
