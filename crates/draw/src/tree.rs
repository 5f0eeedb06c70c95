//! Rooted trees with a label at each node: LogP's figures 3 and 4.

use super::canvas::{Anchor, Canvas, MARGIN, NORMAL, SMALL, WIDTH, lines_height, text_width, widest, wrap};
use super::palette::{GREY, PAPER, TEXT};

/// A picture of one or more rooted trees.
pub struct TreePicture {
    /// Title above the tree.
    pub title: String,
    /// One or more smaller lines below the title.
    pub subtitle: String,
    /// Nodes. A parent comes before its children, and children are drawn in this order from left to right.
    pub nodes: Vec<TreeNode>,
}

/// A node of a tree.
pub struct TreeNode {
    /// Index of the parent; `None` for a root.
    pub parent: Option<usize>,
    /// One or more lines in the node.
    pub label: String,
    /// Note at the line from its parent, or above a root.
    pub note: String,
}

/// Limit of the number of nodes; more would be a blur.
const MOST: usize = 256;
/// Space between a row of nodes and the next, and the space that notes add to it.
const DOWN: f64 = 34.0;
const NOTE: f64 = 14.0;
/// Greatest width of a label.
const LABEL: f64 = 150.0;

/// The size of nodes.
struct NodeSize {
    /// Size of the labels.
    size: f64,
    /// Space between a label and the rim around it.
    rim: f64,
    /// Space between nodes beside each other.
    between: f64,
}

/// The usual size, and a smaller one for wide trees.
const NODE_SIZES: [NodeSize; 2] =
    [NodeSize { size: NORMAL, rim: 7.0, between: 9.0 }, NodeSize { size: SMALL, rim: 3.0, between: 4.0 }];

/// The left and the right end of a tree at each depth, relative to its root.
type Outline = Vec<(f64, f64)>;

impl TreePicture {
    /// Returns the tree as SVG, or an error if it is too large or not a tree.
    pub fn svg(&self) -> Result<String, String> {
        if self.nodes.len() > MOST {
            return Err(format!("a tree shows at most {MOST} nodes, and there are {}", self.nodes.len()));
        }
        let is_above = |(id, node): (usize, &TreeNode)| node.parent.is_none_or(|parent| parent < id);
        if let Some(id) = self.nodes.iter().enumerate().position(|node| !is_above(node)) {
            return Err(format!("a parent comes before its children, and node {id} comes before its parent"));
        }
        let canvas = self.draw(&NODE_SIZES[0]);
        Ok(if canvas.0 > WIDTH { self.draw(&NODE_SIZES[1]) } else { canvas }.1)
    }

    /// Draws the tree with nodes of this size. Returns its width, and the tree as SVG.
    fn draw(&self, &NodeSize { size, rim, between }: &NodeSize) -> (f64, String) {
        let labels: Vec<Vec<String>> = self.nodes.iter().map(|node| wrap(&node.label, size, LABEL)).collect();
        let tall =
            labels.iter().map(|lines| lines_height(lines.len().max(1), size)).fold(0.0, f64::max) + 6.0;
        // A node is at least as wide as it is high, up to a limit.
        let wides: Vec<f64> =
            labels.iter().map(|lines| (widest(lines, size) + 2.0 * rim).max(tall.min(2.0 * size))).collect();
        let notes = self.nodes.iter().map(|node| text_width(&node.note, SMALL));
        let half: Vec<f64> = wides.iter().zip(notes).map(|(node, note)| node.max(note) / 2.0).collect();
        let has_notes = self.nodes.iter().any(|node| !node.note.is_empty());
        let note = if has_notes { NOTE } else { 0.0 };
        let (places, depths) = self.places(&half, between);

        let ends = places.iter().zip(&half);
        let left = ends.clone().map(|(x, half)| x - half).fold(0.0, f64::min);
        let right = ends.map(|(x, half)| x + half).fold(0.0, f64::max);
        let mut canvas = Canvas::new((right - left + 2.0 * MARGIN).max(WIDTH));
        let shift = (canvas.width - (right - left)) / 2.0 - left;
        let top = canvas.draw_head(&self.title, &self.subtitle);
        let down = note + tall + DOWN;
        // The top of a node with its note.
        let place = |id: usize| (places[id] + shift, top + depths[id] as f64 * down);
        for (id, node) in self.nodes.iter().enumerate() {
            let (x, y) = place(id);
            if let Some((from, above)) = node.parent.map(place) {
                canvas.draw_thin_line(GREY, &[(from, above + note + tall), (x, y)]);
                if node.note.is_empty() && has_notes {
                    canvas.draw_thin_line(GREY, &[(x, y), (x, y + note)]);
                }
            }
            canvas.draw_text(GREY, (x, y + note / 2.0), Anchor::Middle, SMALL, &node.note);
            let width = wides[id];
            canvas.draw_rounded_rectangle(PAPER, TEXT, (x - width / 2.0, y + note), (width, tall));
            let lines = &labels[id];
            let first = y + note + (tall - lines_height(lines.len(), size)) / 2.0;
            canvas.draw_lines(TEXT, (x, first), Anchor::Middle, size, lines);
        }
        let deepest = depths.iter().max().map_or(0.0, |depth| *depth as f64 * down + note + tall);
        (canvas.width, canvas.finish(top + deepest + MARGIN, &self.title))
    }

    /// Returns the horizontal position of each node, and its depth. Children are as close to each other as
    /// their subtrees allow, with their parent above the middle; several roots are placed in the same way.
    fn places(&self, half: &[f64], between: f64) -> (Vec<f64>, Vec<usize>) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            node.parent.map_or(&mut roots, |parent| &mut children[parent]).push(id);
        }
        // From the last node to the first, so that children are placed before their parent.
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

/// Puts trees beside each other, with 0 in the middle between the first root and the last. Returns their
/// common outline, and writes the horizontal position of each root to `shifts`.
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
