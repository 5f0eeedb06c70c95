//! Pictures, as SVG: plots, timelines, stacked bars, heat maps and trees, all on one kind of canvas and in one palette.
//!
//! A picture stands alone in a file, or with others in a page: it has no names that could clash, no scripts, and nothing
//! to fetch. It knows light and dark, and is light on paper.

mod axis;
pub mod bars;
pub mod canvas;
pub mod heat_map;
mod legend;
pub mod palette;
pub mod plot;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod tree;
