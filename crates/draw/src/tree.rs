//! Rooted trees, with a label at each node: LogP's figures 3 and 4.

use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, SMALL, Shape, WIDTH, high, wide, widest, wrap};
use super::palette::{GREY, PAPER, TEXT};

/// A tree.
pub struct Tree {
    /// The text above it.
    pub title: String,
    /// What stands below that, smaller: a line or several.
    pub subtitle: String,
    /// The nodes. A parent comes before its children, and children are drawn in this order from left to right.
    pub nodes: Vec<Node>,
}

/// A node of a tree.
pub struct Node {
    /// The node above; a root has none.
    pub parent: Option<usize>,
    /// What is written in it: a line or several.
    pub label: String,
    /// What is written at the line from its parent, or above a root.
    pub note: String,
}

/// More nodes than this would be a blur.
const MOST: usize = 256;
/// The room between a row of nodes and the next, and what notes add to that.
const DOWN: f64 = 34.0;
const NOTE: f64 = 14.0;
/// The width of a label, at most.
const LABEL: f64 = 150.0;

/// How large nodes are.
struct Scale {
    /// The size of the labels.
    size: f64,
    /// From a label to the rim around it.
    rim: f64,
    /// The room between nodes beside each other.
    between: f64,
}

/// Small nodes are for trees that are too wide else.
const SCALES: [Scale; 2] =
    [Scale { size: NORMAL, rim: 7.0, between: 9.0 }, Scale { size: SMALL, rim: 3.0, between: 4.0 }];

/// How far to the left and to the right a tree goes at each depth below its root, if that is at 0.
type Outline = Vec<(f64, f64)>;

impl Tree {
    /// The tree as SVG; or says why it cannot be drawn.
    pub fn svg(&self) -> Result<String, String> {
        if self.nodes.len() > MOST {
            return Err(format!("a tree shows at most {MOST} nodes, and there are {}", self.nodes.len()));
        }
        let is_above = |(id, node): (usize, &Node)| node.parent.is_none_or(|parent| parent < id);
        if let Some(id) = self.nodes.iter().enumerate().position(|node| !is_above(node)) {
            return Err(format!("a parent comes before its children, and node {id} comes before its parent"));
        }
        let canvas = self.drawn(&SCALES[0]);
        Ok(if canvas.0 > WIDTH { self.drawn(&SCALES[1]) } else { canvas }.1)
    }

    /// How wide the tree is at this scale, and the tree as SVG.
    fn drawn(&self, &Scale { size, rim, between }: &Scale) -> (f64, String) {
        let labels: Vec<Vec<String>> = self.nodes.iter().map(|node| wrap(&node.label, size, LABEL)).collect();
        let tall = labels.iter().map(|lines| high(lines.len().max(1), size)).fold(0.0, f64::max) + 6.0;
        // A node is no narrower than it is high, unless that is a lot.
        let wides: Vec<f64> =
            labels.iter().map(|lines| (widest(lines, size) + 2.0 * rim).max(tall.min(2.0 * size))).collect();
        let notes = self.nodes.iter().map(|node| wide(&node.note, SMALL));
        let half: Vec<f64> = wides.iter().zip(notes).map(|(node, note)| node.max(note) / 2.0).collect();
        let has_notes = self.nodes.iter().any(|node| !node.note.is_empty());
        let note = if has_notes { NOTE } else { 0.0 };
        let (places, depths) = self.places(&half, between);

        let ends = places.iter().zip(&half);
        let left = ends.clone().map(|(x, half)| x - half).fold(0.0, f64::min);
        let right = ends.map(|(x, half)| x + half).fold(0.0, f64::max);
        let mut canvas = Canvas::new((right - left + 2.0 * MARGIN).max(WIDTH));
        let shift = (canvas.width() - (right - left)) / 2.0 - left;
        let top = canvas.head(&self.title, &self.subtitle);
        let down = note + tall + DOWN;
        // Where a node begins, with its note.
        let place = |id: usize| (places[id] + shift, top + depths[id] as f64 * down);
        for (id, node) in self.nodes.iter().enumerate() {
            let (x, y) = place(id);
            if let Some((from, above)) = node.parent.map(place) {
                canvas.line(GREY, Shape::Thin, "", &[(from, above + note + tall), (x, y)]);
                if node.note.is_empty() && has_notes {
                    canvas.line(GREY, Shape::Thin, "", &[(x, y), (x, y + note)]);
                }
            }
            canvas.text(GREY, (x, y + note / 2.0), Anchor::Middle, SMALL, &node.note);
            let width = wides[id];
            canvas.round(PAPER, TEXT, (x - width / 2.0, y + note), (width, tall));
            let lines = &labels[id];
            let first = y + note + (tall - high(lines.len(), size)) / 2.0;
            canvas.lines(TEXT, (x, first), Anchor::Middle, size, lines);
        }
        let deepest = depths.iter().max().map_or(0.0, |depth| *depth as f64 * down + note + tall);
        (canvas.width(), canvas.finish(top + deepest + MARGIN, &self.title))
    }

    /// How far to the right each node is, and how deep. Below a node its children are as close to each other as what is
    /// below them allows, with the node above the middle of them; several roots are beside each other in the same way.
    fn places(&self, half: &[f64], between: f64) -> (Vec<f64>, Vec<usize>) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            node.parent.map_or(&mut roots, |parent| &mut children[parent]).push(id);
        }
        // From the last node to the first, so that what is below a node is there before it.
        let mut outlines: Vec<Outline> = vec![Vec::new(); self.nodes.len()];
        let mut shifts = vec![0.0; self.nodes.len()];
        for id in (0..self.nodes.len()).rev() {
            let mut outline = vec![(-half[id], half[id])];
            outline.extend(beside(&children[id], between, &mut outlines, &mut shifts));
            outlines[id] = outline;
        }
        beside(&roots, between, &mut outlines, &mut shifts);
        let (mut places, mut depths) = (shifts, vec![0; self.nodes.len()]);
        for (id, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                places[id] += places[parent];
                depths[id] = depths[parent] + 1;
            }
        }
        (places, depths)
    }
}

/// Puts trees beside each other, with 0 in the middle between the first root and the last. Says their common outline, and
/// leaves in `shifts` how far each root is to the right.
fn beside(roots: &[usize], between: f64, outlines: &mut [Outline], shifts: &mut [f64]) -> Outline {
    let mut all: Outline = Vec::new();
    for &root in roots {
        let outline = std::mem::take(&mut outlines[root]);
        let touching = all.iter().zip(&outline).map(|((_, right), (left, _))| right - left + between);
        let shift = touching.fold(f64::NEG_INFINITY, f64::max);
        let shift = if shift.is_finite() { shift } else { 0.0 };
        shifts[root] = shift;
        for (depth, (left, right)) in outline.into_iter().enumerate() {
            match all.get_mut(depth) {
                Some((_, end)) => *end = right + shift,
                None => all.push((left + shift, right + shift)),
            }
        }
    }
    let (Some(first), Some(last)) = (roots.first(), roots.last()) else { return all };
    let middle = (shifts[*first] + shifts[*last]) / 2.0;
    roots.iter().for_each(|root| shifts[*root] -= middle);
    all.iter_mut().for_each(|(left, right)| {
        *left -= middle;
        *right -= middle;
    });
    all
}
