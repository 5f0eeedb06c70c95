//! A file for a plot.

use std::io::Write;
use std::path::Path;

use loggp_draw::plot::Plot;

use super::draft::Draft;
use super::failure::Failure;

/// A file for a plot. It is written whole, or stays as it was.
pub struct PlotFile(Draft);

impl PlotFile {
    /// Refuses a path to which no plot can be written: better before the runs than after.
    pub fn at(path: &Path) -> Result<PlotFile, Failure> {
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) {
            return Err(Failure::Request(format!(
                "no plot can be written to {}: plots are SVG; give a name that ends in .svg",
                path.display()
            )));
        }
        Draft::create(path, "plot").map(PlotFile)
    }

    /// Draws a plot into the file.
    pub fn write(self, plot: &Plot) -> Result<(), Failure> {
        self.write_svg(&plot.svg())
    }

    /// Puts a picture into the file that is drawn already.
    pub fn write_svg(self, svg: &str) -> Result<(), Failure> {
        self.0.write(|mut file| file.write_all(svg.as_bytes()))
    }
}
