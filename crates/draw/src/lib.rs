//! Pictures as SVG: plots, timelines, stacked bars, heat maps and trees, with one kind of canvas and one
//! palette.
//!
//! A picture stands alone in a file, or with others in a page: it has no ids that could clash, no scripts and
//! no external resources. It follows the light or dark mode of a screen, and is light on paper.

#![allow(non_snake_case)] // P is the papers' name

mod axis;
pub mod bars;
pub mod canvas;
pub mod digits;
pub mod heat_map;
mod legend;
pub mod letters;
pub mod page;
pub mod palette;
pub mod plot;
pub mod regions;
pub mod timeline;
pub mod tree;
pub mod zones;
