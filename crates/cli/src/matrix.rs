//! `loggp matrix`: a communication matrix of the transportation primitive, and what the paper says of it.

use std::io::Write;
use std::mem::take;

use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use loggp::Params;
use loggp_document::{Block, Cell, Document, Show, Table, Width, plain};
use loggp_draw::heat_map::heat_map;
use loggp_programs::transportation;
use loggp_programs::transportation::{Matrix, TRANSPORTATION, source};
use loggp_programs::{Case, Value};
use serde_json::json;

use super::failure::Failure;
use super::known::Known;
use super::number::thousands;
use super::options::{Format, count, seed};
use super::output::Outputs;
use super::stdout::{self, width_of_files};

/// The arguments.
#[derive(Args)]
#[command(after_help = names())]
pub struct MatrixCommand {
    /// The matrix: one of the names below, or a file whose name ends in .csv, with a line for each processor
    #[arg(value_name = "NAME|FILE.csv", default_value = "skewed", value_parser = matrix(), hide_possible_values = true)]
    matrix: Value,
    /// Number of processors [default: the figure's or the file's, or 32]
    #[arg(short = 'P', long = "processors", value_name = "N", value_parser = count, allow_negative_numbers = true)]
    P: Option<usize>,
    /// The traffic t [default: 4096]
    #[arg(long, value_name = "WORDS", value_parser = option("traffic"), allow_hyphen_values = true)]
    traffic: Option<Value>,
    /// Of skewed: how many processors each sends to, or any [default: 8 or P]
    #[arg(long, value_name = "K|any", value_parser = option("fan-out"), allow_hyphen_values = true)]
    fan_out: Option<Value>,
    /// Of skewed: lK receivers share the fraction 1-l of the traffic [default: 1/K]
    #[arg(long, value_name = "L|any", value_parser = option("skew"), allow_hyphen_values = true)]
    skew: Option<Value>,
    /// Of random: the most that a processor sends [default: the traffic]
    #[arg(long, value_name = "R", value_parser = option("outgoing"), allow_hyphen_values = true)]
    outgoing: Option<Value>,
    /// Of random: the most that a processor receives [default: the traffic]
    #[arg(long, value_name = "C", value_parser = option("incoming"), allow_hyphen_values = true)]
    incoming: Option<Value>,
    /// Draws what is random [default: 1]
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Where else it goes.
    #[command(flatten)]
    outputs: Outputs,
    /// How it is written: for people, as a JSON object, or as lines that a file can have
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// What a table shows of a matrix. With more processors nobody reads its parts, each as long as there are processors.
const MOST_SHOWN: usize = 128;
/// What draws a matrix unless told.
const SEED: u64 = 1;
/// More than this is no matrix to look at.
const MOST_PROCESSORS: usize = 2048;

/// Reads an option as the program does.
fn option(name: &'static str) -> impl TypedValueParser<Value = Value> {
    let option = TRANSPORTATION.option(name).expect("the program has it");
    StringValueParser::new().try_map(move |text| option.read(&text))
}

/// Reads the name of a matrix or of a file.
fn matrix() -> impl TypedValueParser<Value = Value> {
    Known::new(option("matrix"), source::NAMED.iter().map(|named| (named.name, named.about.into())))
}

/// All matrices that have names.
fn names() -> String {
    let width = source::NAMED.iter().map(|named| named.name.len()).max().unwrap_or(0);
    let lines = source::NAMED.iter().map(|named| format!("  {:width$}  {}", named.name, named.about));
    format!("Matrices:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

impl MatrixCommand {
    /// Prints it, and draws it.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let P = self.processors()?;
        let params = Params::builder(P).build().map_err(Failure::request)?;
        let mut case = Case { seed: self.seed()?, ..Case::new(&TRANSPORTATION, "linear", params) };
        let given = [&self.traffic, &self.fan_out, &self.skew, &self.outgoing, &self.incoming];
        for value in given.into_iter().flatten().chain([&self.matrix]) {
            case = case.set(value.clone());
        }
        let matrix = transportation::matrix(&case).map_err(Failure::request)?;
        let mut files = self.outputs.open()?;
        for (format, draft) in take(&mut files.rows) {
            draft.write(|mut file| file.write_all(&self.written(&matrix, format, width_of_files())))?;
        }
        files.draw_svg(|| {
            heat_map(matrix.P(), matrix.entries(), &self.title(&matrix)).map_err(Failure::Request)
        })?;
        out.write_all(&self.written(&matrix, self.format, stdout::width()))?;
        Ok(out.flush()?)
    }

    /// The matrix in this form. CSV has titles, the receivers; a file of a matrix may have them or not.
    fn written(&self, matrix: &Matrix, format: Format, width: Width) -> Vec<u8> {
        match format {
            Format::Table => self.text(matrix, width).into(),
            Format::Json => self.json(matrix).into(),
            Format::Csv => {
                let row = |i| matrix.row(i).iter().map(|elements| Cell::from(*elements)).collect();
                let rows = (0..matrix.P()).map(row).collect();
                Table { rows, ..processors(Table::new("", ""), matrix.P()) }.to_csv()
            }
        }
    }

    /// The matrix's name, or its file's.
    fn name(&self) -> String {
        self.matrix.text()
    }

    /// What draws it. Refuses a seed of a matrix that is as it is.
    fn seed(&self) -> Result<u64, Failure> {
        let name = self.name();
        let made = source::NAMED.iter().any(|named| named.name == name && named.P.is_none());
        match self.seed {
            Some(_) if !made => Err(Failure::Request(format!(
                "--seed is for matrices that are made, and {name} is as it is; leave it out"
            ))),
            seed => Ok(seed.unwrap_or(SEED)),
        }
    }

    /// How many processors there are.
    fn processors(&self) -> Result<usize, Failure> {
        /// As many as in the paper's measurements (section 9).
        const USUAL: usize = 32;
        let named = source::NAMED.iter().find(|named| named.name == self.name());
        let P = match (self.P, named) {
            (Some(P), _) => P,
            (None, Some(named)) => named.P.unwrap_or(USUAL),
            (None, None) => source::read(&self.name()).map_err(Failure::Request)?.P(),
        };
        match P {
            1..=MOST_PROCESSORS => Ok(P),
            _ => Err(Failure::Request(format!(
                "P = {P} is no number of processors for a matrix; give one from 1 to {MOST_PROCESSORS}"
            ))),
        }
    }

    /// What it is, in a line.
    fn title(&self, matrix: &Matrix) -> String {
        let bounds = [("r", matrix.r()), ("c", matrix.c()), ("t", matrix.t())];
        let fans = [("f", matrix.f()), ("g", matrix.g()), ("h", matrix.h())];
        let said =
            bounds.into_iter().chain(fans).map(|(name, value)| format!("{name} = {}", thousands(value)));
        format!("{}: P = {}, {}", self.name(), matrix.P(), said.collect::<Vec<_>>().join(", "))
    }

    /// The kind of communication, in a line.
    fn kind(matrix: &Matrix) -> String {
        let uniform = if matrix.is_uniform() { "uniform" } else { "not uniform" };
        let equal = if matrix.is_equal() { ", equal traffic" } else { "" };
        format!("{}, {uniform}{equal}", matrix.kind())
    }

    /// For people.
    fn text(&self, matrix: &Matrix, width: Width) -> String {
        let P = matrix.P();
        let title = format!("{}\n{}", self.title(matrix), Self::kind(matrix));
        let shown = match P > MOST_SHOWN {
            true => Block::Paragraph(plain(format!(
                "a table of {P} rows and columns is too large to be read here; --format csv and -o FILE.svg have them"
            ))),
            false => Block::Table(Self::table(matrix)),
        };
        Document { title, blocks: vec![shown] }.to_text(width)
    }

    /// Its elements, and the sums of its rows and columns.
    fn table(matrix: &Matrix) -> Table {
        let P = matrix.P();
        let some = |elements: usize| if elements == 0 { Cell::Nothing } else { elements.to_string().into() };
        let mut table = processors(Table::new("", "").column("", "", Show::Right), P);
        table = table.column("r_i", "", Show::Right).column("f_i", "", Show::Right);
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

    /// For programs.
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

/// A column for each processor.
fn processors(table: Table, P: usize) -> Table {
    (0..P).fold(table, |table, j| table.column(&format!("P{j}"), "", Show::Right))
}
