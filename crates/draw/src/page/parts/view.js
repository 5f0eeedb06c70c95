// ---- Moving the view.
function moveTo(from, until, top = view.top, rows = view.rows) {
  const span = Math.min(end, Math.max(0.5, end * 1e-9, until - from));
  view.from = Math.max(0, Math.min(end - span, from + (until - from - span) / 2));
  view.until = view.from + span;
  view.rows = Math.max(1, Math.min(P, rows));
  view.top = Math.max(0, Math.min(P - view.rows, top));
  drawWindow();
  draw();
}

function zoom(by, x = (place.left + place.width) / 2, at = momentAt(Math.max(place.left, x))) {
  moveTo(at - (at - view.from) * by, at + (view.until - at) * by);
}

function zoomRows(by, panel = place.panels[0], y = panel.top + panel.height / 2) {
  const part = (y - panel.top) / panel.height, rows = Math.max(1, Math.min(P, view.rows * by));
  moveTo(view.from, view.until, view.top + part * (view.rows - rows), rows);
}

const move = (by, rows = 0) => moveTo(view.from + by, view.until + by, view.top + rows);
const shift = (part) => move(part * (view.until - view.from)), scroll = (rows) => move(0, rows);
const showAll = () => moveTo(0, end, 0, P);

// Moves a moment of a processor into the view, and zooms in far enough to show a length.
function show(run, id, at, length = 0) {
  const q = ratio(run), span = Math.min(view.until - view.from, Math.max(length * q * 12, end / 4000, 2)), row = rowOf[id];
  const seen = at * q > view.from && at * q < view.until && length * q / (view.until - view.from) > 0.002;
  const top = row < view.top || row >= view.top + view.rows ? row - view.rows / 2 : view.top;
  moveTo(...(seen ? [view.from, view.until] : [at * q - span / 2, at * q + span / 2]), top);
}

