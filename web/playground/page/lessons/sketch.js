// ---- A sketch of the run that is to be guessed: rows with ticks, and bars that are drawn in them.

// `bars`: each of a row, from a moment until another, in ps. `drawn`: the one that the pointer draws. `row`, `from`: the row that
// keys chose, and where they began a bar.
const sketch = { bars: [], drawn: null, row: 0, from: null };
// Of two runs the first is asked for. Where rows are thin nobody sketches.
const hasRows = () => guessed.exercise?.asks === "time" && runs.length > 0 && highOf(runs[0]) >= 12;
const psAt = (x) => { const { length } = unitOfSetting(); return Math.max(0, Math.round(momentAt(Math.max(place.left, x)) * runs[0].quantum / length) * length); };
const xOfPs = (ps) => xOf(ps / runs[0].quantum);

// Begins a bar where there is a row, and not at the line of the guess; tells whether it did.
function beginBar(x, y) {
  const { top, height } = place.panels[0];
  if (!hasRows() || y < top || y >= top + height || guessed.at !== null && Math.abs(x - xOfPs(guessed.at)) < 7) return false;
  const row = order[Math.floor(view.top + (y - top) / highOf(runs[0]))], at = psAt(x);
  sketch.drawn = { row, from: at, until: at, begun: at };
  return true;
}

function moveBar(x) {
  const { drawn } = sketch;
  if (!drawn) return false;
  const at = psAt(x);
  Object.assign(drawn, { from: Math.min(drawn.begun, at), until: Math.max(drawn.begun, at) });
  drawSketch();
  return true;
}

// A click on a bar takes it away.
function endBar() {
  const { drawn, bars } = sketch;
  sketch.drawn = null;
  if (!drawn) return;
  const hit = bars.findIndex(({ row, from, until }) => row === drawn.row && from <= drawn.begun && drawn.begun <= until);
  if (drawn.from < drawn.until) addBar(drawn);
  else if (hit >= 0) bars.splice(hit, 1);
  drawSketch();
}

function addBar({ row, from, until }) {
  sketch.bars.push({ row, from, until });
  guess(Math.max(...sketch.bars.map((one) => one.until)) / runs[0].quantum);
}

// Up and down choose a row, Space begins and ends a bar at the line, Delete takes the last one away.
function keyOfSketch(key) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[key], at = guessed.at ?? 0, { row, from } = sketch;
  if (step) sketch.row = Math.max(0, Math.min(P - 1, row + step));
  else if (key === "Delete" || key === "Backspace") sketch.bars.pop();
  else if (key !== " ") return false;
  else if (from === null) sketch.from = at;
  else {
    sketch.from = null;
    if (from !== at) addBar({ row, from: Math.min(from, at), until: Math.max(from, at) });
  }
  placeGuess();
  return true;
}

function drawSketch() {
  const canvas = $("sketch"), { width, scale } = place, high = place.height - AXIS, context = canvas.getContext("2d"), covered = isCovered();
  canvas.hidden = !hasRows();
  if (canvas.hidden) return;
  Object.assign(canvas, { width: width * scale, height: high * scale });
  Object.assign(canvas.style, { width: `${width}px`, height: `${high}px` });
  context.scale(scale, scale);
  if (covered) drawRuled(context, width, high);
  const tall = Math.max(6, highOf(runs[0]) * 0.55);
  for (const { row, from, until } of [...sketch.bars, sketch.drawn].filter(Boolean)) {
    const box = [xOfPs(from), yOf(runs[0], row) - tall / 2, Math.max(2, xOfPs(until) - xOfPs(from)), tall];
    Object.assign(context, { fillStyle: colours.path, strokeStyle: colours.path, lineWidth: 2, globalAlpha: 0.35 });
    if (covered) context.fillRect(...box);
    context.globalAlpha = 1;
    context.strokeRect(...box);
  }
}

// Rows with their names, and a tick for each unit, or for so many that there is room.
function drawRuled(context, width, high) {
  const { length } = unitOfSetting(), run = runs[0], until = end * run.quantum / length, least = until * 14 / (width - place.left), power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least), keys = document.activeElement === $("guess");
  Object.assign(context, { lineWidth: 1, textBaseline: "middle" });
  for (let n = 0; n * step <= until; n++) {
    context.globalAlpha = n % 5 ? 0.5 : 1;
    stroke(context, colours.pale, [xOfPs(n * step * length), place.caption], [xOfPs(n * step * length), high]);
  }
  context.globalAlpha = 1;
  for (let row = 0; row < P; row++) {
    const y = yOf(run, row), isHere = keys && row === sketch.row;
    stroke(context, colours.pale, [place.left, y], [width, y]);
    Object.assign(context, { font: `${isHere ? 700 : 400} 12${FONT}`, fillStyle: isHere ? colours.path : colours.text, textAlign: "right" });
    context.fillText(`P${row}`, place.left - 6, y);
    if (isHere && sketch.from !== null) stroke(context, colours.path, [xOfPs(sketch.from), y - 8], [xOfPs(sketch.from), y + 8]);
  }
}
