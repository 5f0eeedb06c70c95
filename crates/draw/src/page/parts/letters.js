// ---- The letters of the model above the rows: the lengths that o, L and g name, which `letters.rs` finds. Those of the first
// message stand in a line next to the rows, and the bracket of the gap above them.

// LANE: the height for them, which rows of a readable height must leave.
const LANE = 30, READABLE = 12;

// The height for letters, if rows in this height and width leave it and some letter is seen where all of the run is shown.
function laneFor(free, width) {
  const isSeen = (run) => run.letters.some(({ ends: [[from], [until]] }) => (until - from) * ratio(run) / end * width >= 20);
  return runs.some(isSeen) && free - LANE >= READABLE * P ? LANE : 0;
}

// The letters that fit into the view: each with its text, its ends in pixels, its height, and the heights of the rows.
function placeLetters(run) {
  const { top } = place.panels[run.index], q = ratio(run);
  base.font = "600 12" + FONT;
  return (place.lane ? run.letters : []).map(({ text, is_gap, ends }) => {
    const [x, right] = ends.map(([at]) => xOf(at * q)), rows = ends.map(([, id]) => yOf(run, id) - highOf(run) * 0.3);
    return { text, x, right, y: top - (is_gap ? 22 : 8), rows, wide: base.measureText(text).width };
  }).filter(({ x, right, wide }) => x >= place.left - 1 && right <= place.width + 1 && right - x >= wide + 3);
}

// The lines from the letters down to the rows; they are drawn under these.
function drawGuides(run) {
  const { top, height } = place.panels[run.index];
  base.setLineDash([2, 3]);
  for (const { x, right, y, rows } of placeLetters(run))
    [x, right].forEach((x, i) => stroke(base, colours.grey, [x, y], [x, Math.max(top, Math.min(top + height, rows[i]))]));
  base.setLineDash([]);
}

function drawLetters(run) {
  for (const { text, x, right, y, wide } of placeLetters(run)) {
    const ink = colours.letters[text.at(-1)], middle = (x + right) / 2, half = wide / 2 + 2;
    for (const at of [x, right]) stroke(base, ink, [at, y - 4], [at, y + 4]);
    for (const [from, until] of [[x, middle - half], [middle + half, right]]) if (from < until) stroke(base, ink, [from, y], [until, y]);
    base.fillStyle = colours.css[IDLE];
    base.fillRect(middle - half + 1, y - 6, 2 * half - 2, 12);
    write(text, middle, y, ink, "center", "600 12");
  }
}
