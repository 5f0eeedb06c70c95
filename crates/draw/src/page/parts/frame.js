// ---- Drawing a frame.

// PRINTED: width and greatest height on paper, in pixels. MOST_ARROWS: the most messages that are drawn for
// each pixel of the width.
const PRINTED = [1000, 600];
// WORDY: the height of a row whose bars can have words.
const CAPTION = 19, AXIS = 24, MOST_ARROWS = 0.5, WORDY = 22, FONT = "px system-ui, sans-serif";

function resize() {
  const holder = $("plot"), narrow = innerWidth < 600 && !state.print;
  // Two marks have a line each, so that each name stands at its own.
  const caption = narrow || runs.some((run) => run.marks.length > 1) ? 2 * CAPTION - 3 : CAPTION, beside = caption + (state.flight ? FLIGHT : 0);
  const most = state.print ? PRINTED[1] : freeHeight(), lane = laneFor((most - AXIS) / runs.length - beside, state.print ? PRINTED[0] : holder.clientWidth);
  const height = Math.max(200, Math.min(runs.length * (beside + lane + P * place.highest) + AXIS, most)), each = (height - AXIS) / runs.length;
  // On paper it is as wide as the paper, and keeps its shape.
  Object.assign(holder.style, { height: height + "px", aspectRatio: state.print ? `${PRINTED[0]} / ${height}` : "" });
  const width = state.print ? PRINTED[0] : holder.clientWidth, flight = state.flight && each - beside - lane > 60 ? FLIGHT : 0;
  Object.assign(place, { width, height, caption, lane, scale: state.print ? 3 : state.coarse ? 1 : Math.min(3, (devicePixelRatio || 1) * place.zoom), left: Math.min(narrow ? 46 : 64, 16 + 8 * `P${P - 1}`.length) });
  for (const [context, wide, high] of [[over, width, height], [base, width, height], [map, $("map").clientWidth, $("map").clientHeight]])
    Object.assign(context.canvas, { width: Math.round(wide * place.scale), height: Math.round(high * place.scale) });
  place.panels = runs.map((_, i) => ({ top: i * each + caption + lane, height: each - caption - lane - flight, flight }));
  drawMap();
  // At once, because a canvas whose size changes is cleared. The one above is cleared then too.
  frame();
}

const xOf = (moment) => place.left + (moment - view.from) / (view.until - view.from) * (place.width - place.left);
const momentAt = (x) => view.from + (x - place.left) / (place.width - place.left) * (view.until - view.from);
const highOf = (run) => place.panels[run.index].height / view.rows;
// Half of the height of a bar.
const halfOf = (run) => highOf(run) / 2 - Math.min(highOf(run) * 0.2, 10);
const yOf = (run, id) => place.panels[run.index].top + (rowOf[id] + 0.5 - view.top) * highOf(run);

// Requests a frame. The thing pointed at will be elsewhere in it, so the pointer is dropped.
function draw() {
  if (!$("tip").hidden || state.hover) point(null);
  noteView();
  dirty = dirty || requestAnimationFrame(frame);
}

function frame() {
  dirty = 0;
  const { scale } = place;
  runs.forEach(paintPanel);
  base.setTransform(1, 0, 0, 1, 0, 0);
  base.clearRect(0, 0, base.canvas.width, base.canvas.height);
  base.setTransform(scale, 0, 0, scale, 0, 0);
  base.textBaseline = "middle";
  drawAll(drawPixels);
  document.documentElement.dataset.ready ??= Math.round(performance.now());
}

// The place of a run's rows on the screen, in pixels.
function pixelsOf(run) {
  const { scale, width, left } = place, { top, height } = place.panels[run.index];
  return [left * scale, top * scale, ...[(width - left) * scale, height * scale].map((length) => Math.max(1, length))].map(Math.round);
}

// Paints the rows of a run on a canvas of their own, which lies above the messages: to draw these below what is there takes a
// browser without a graphics card three times as long. The playground has some painted beside the page, maybe in fewer pixels.
function paintPanel(run) {
  const panel = place.panels[run.index], [, , columns, lines] = pixelsOf(run);
  if (run.painted) return void (panel.exact = false);
  panel.rows ??= Object.assign(document.createElement("canvas"), { width: columns, height: lines }).getContext("2d");
  panel.image ??= panel.rows.createImageData(columns, lines);
  const pixels = new Uint32Array(panel.image.data.buffer).fill(colours.paperPixel);
  panel.exact = paint(run, pixels, columns, lines, view.top, view.rows, view.from, view.until);
  panel.rows.putImageData(panel.image, 0, 0);
}

function drawPixels(run) {
  const { scale } = place;
  base.setTransform(1, 0, 0, 1, 0, 0);
  base.drawImage(run.painted ?? place.panels[run.index].rows.canvas, ...pixelsOf(run));
  base.setTransform(scale, 0, 0, scale, 0, 0);
}

// Draws all, what lies under the rows first. `drawBars` draws these.
function drawAll(drawBars) {
  const exact = runs.filter((run) => place.panels[run.index].exact), details = new Map(exact.map((run) => [run, detailsOf(run)]));
  state.drawn = [];
  base.fillStyle = colours.css[IDLE];
  base.fillRect(0, 0, place.width, place.height);
  drawGrid();
  runs.forEach(drawGuides);
  for (const run of exact) within(base, run, () => drawArrows(run, details.get(run)));
  runs.forEach(drawBars);
  drawAxis();
  runs.forEach(drawRows);
  runs.forEach(drawLetters);
  runs.forEach(drawFlight);
  for (const run of exact) within(base, run, () => drawWords(run, details.get(run)));
  tellArrows(details);
  drawOver();
}

// Draws with the rows of a run as the clip.
function within(context, run, draw) {
  const panel = place.panels[run.index];
  context.save();
  context.beginPath();
  context.rect(place.left, panel.top, place.width - place.left, panel.height);
  context.clip();
  draw();
  context.restore();
}

function write(text, x, y, colour, align = "left", font = "12") {
  Object.assign(base, { font: font + FONT, fillStyle: colour, textAlign: align });
  base.fillText(text, x, y);
  return base.measureText(text).width;
}

// Writes as much of a text as fits.
function writeWithin(text, x, y, most, colour, font = "12") {
  base.font = font + FONT;
  if (base.measureText(text).width > most) {
    const fits = lower(0, text.length, (n) => base.measureText(text.slice(0, n) + "\u2026").width > most);
    text = fits > 4 ? text.slice(0, fits - 1).trimEnd() + "\u2026" : "";
  }
  return x + write(text, x, y, colour, "left", font);
}

function trace(context, places) {
  context.beginPath();
  places.forEach(([x, y]) => context.lineTo(x, y));
}

function stroke(context, colour, ...places) {
  trace(context, places);
  context.strokeStyle = colour;
  context.stroke();
}

// Round moments, about 110 pixels apart, or 70 where there is little room: their numbers of units, and the digits behind the point.
function ticksOf() {
  const { width, left } = place, [name, length] = unitOf(view.until), per = runs[0].quantum / length;
  const raw = (view.until - view.from) * per * (width < 600 ? 70 : 110) / (width - left), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= raw), ticks = [];
  for (let n = Math.ceil(view.from * per / step); n * step <= view.until * per; n++) ticks.push(n * step);
  return { name, ticks, places: ticks.map((tick) => xOf(tick / per)), digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function drawGrid() {
  base.lineWidth = 1;
  for (const x of ticksOf().places) stroke(base, colours.pale, [x, CAPTION], [x, place.height - AXIS + 3]);
}

function drawAxis() {
  const { width, height, left } = place, { name, ticks, places, digits } = ticksOf();
  const free = width - 22 - write(name, width - 2, height - AXIS / 2 + 2, colours.grey, "right");
  places.forEach((x, i) => x > left + 14 && x < free && write(spelled(ticks[i], digits, digits), x, height - AXIS / 2 + 2, colours.grey, "center"));
}

function drawRows(run) {
  const panel = place.panels[run.index], high = highOf(run), { left, width } = place, low = panel.top + panel.height;
  drawCaption(run);
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(13 / high))), last = Math.min(run.P, Math.ceil(view.top + view.rows));
  const edge = (row) => panel.top + (row - view.top) * high, fits = (y) => y > panel.top + 5 && y < low - 4;
  for (let row = Math.floor(view.top / step) * step; row < last; row += step)
    if (fits(edge(row + 0.5))) write("P" + order[row], left - 6, edge(row + 0.5), colours.grey, "right");
  for (let row = Math.max(1, Math.ceil(view.top)), apart; row < last; row++) {
    // Groups of only a few pixels have no lines between them.
    if (!(apart = breakAt(run, row)) || high * (state.order === "level" ? run.levels.at(-apart)[0] : 8) < 4) continue;
    base.lineWidth = apart;
    stroke(base, colours.text, [left - 4 * apart, edge(row)], [width, edge(row)]);
  }
  base.lineWidth = 1;
}

// The caption above a run's rows: its end, its marks and its description.
function drawCaption(run) {
  const panel = place.panels[run.index], { left, width, caption, lane } = place, top = panel.top - lane - caption, y = top + CAPTION / 2, low = panel.top + panel.height;
  base.fillStyle = colours.css[IDLE];
  base.fillRect(0, top, width, caption);
  const first = runs[0].finish * runs[0].quantum, part = run.finish * run.quantum / first - 1;
  const change = run.index && first ? `, ${part < 0 ? "\u2212" : "+"}${(Math.abs(part) * 100).toFixed(2)}%` : "";
  const wide = writeWithin(`${run.name ? run.name + ": " : ""}${titled(run.finish * run.quantum)}${change}`, 2, y, width * 0.6, colours.text, "600 12");
  // The end of the run and its marks. A name ends at its line, or else begins there, in the first line of the caption or in the
  // second one, if there is one. Marks beyond the window are named at its edge.
  const begin = [wide + 14, 2], free = [width - 2, width - 2], isTwo = caption > CAPTION;
  base.setLineDash([5, 3]);
  for (const [nth, [name, at]] of [["", run.finish * run.quantum], ...run.marks.toSorted((a, b) => a[1] - b[1])].entries()) {
    const x = xOf(at / runs[0].quantum), inside = x >= left && x <= width, when = told(runs[0], at / runs[0].quantum);
    const text = inside ? name : x < left ? `\u2190 ${name} ${when}` : `${name} ${when} \u2192`;
    base.font = "12" + FONT;
    const own = base.measureText(text).width, lines = isTwo ? [(nth + 1) % 2, nth % 2] : [0], places = lines.flatMap((line) => [[line, inside ? Math.min(width, x + 2) - own : free[line] - own], ...inside ? [[line, x - 2]] : []]);
    const [line, from] = places.find(([line, from]) => from >= begin[line] && from + own <= free[line] + 2) ?? [-1];
    if (inside) stroke(base, name ? colours.path : colours.grey, [x, name && isTwo && line >= 0 ? y + line * (CAPTION - 3) + 8 : top + caption], [x, low]);
    if (!name || line < 0) continue;
    write(text, from, y + line * (CAPTION - 3), colours.path);
    if (inside && from + own / 2 > x) begin[line] = from + own + 12;
    else free[line] = from - 12;
  }
  base.setLineDash([]);
  const last = isTwo ? 1 : 0, [from, until, line] = [begin[last], free[last], y + last * (CAPTION - 3)];
  if (state.path) writeWithin("critical path: " + (run.parts ??= summary(run, pathOf(run))), from, line, until - from, colours.path);
  else writeWithin(run.about, from, line, until - from, colours.grey);
}

// Whether an event is pale, because a search found others.
function isDim(run, event) {
  const hits = state.hits?.of[run.index];
  return !!hits && hits[lower(0, hits.length, (i) => hits[i] >= event)] !== event;
}

// What is drawn only if events are few: their names, and messages, unless they are too many.
function detailsOf(run) {
  const high = highOf(run), { left, width } = place, q = ratio(run), messages = new Set(), words = [];
  const last = Math.min(run.P, Math.ceil(view.top + view.rows)), most = (width - left) * MOST_ARROWS, details = { words, messages, most };
  let seen = 0;
  for (let row = Math.floor(view.top); row < last && last - view.top < 2000; row++) {
    if (high < WORDY && messages.size > most) return details;
    const own = trackOf(run, row);
    for (const track of own < 0 ? [] : [own, ...(run.beside.get(order[row]) || []).slice(0, 500)]) {
      const until = Math.min(run.first[track + 1], firstFrom(run, track, view.until / q) + 1);
      for (let i = Math.max(run.first[track], firstAfter(run, track, view.from / q) - 1); i < until && seen < 12000; i++, seen++) {
        const kind = run.kind[i];
        if ((kind === SEND || kind === RECEIVE) && run.of[i] >= 0) messages.add(run.of[i]);
        const x = Math.max(left, xOf(run.start[i] * q)), right = Math.min(width, xOf(run.end[i] * q));
        if (high >= WORDY && right - x >= 22 && kind !== IDLE && track === own) words.push([i, row, x, right]);
      }
    }
  }
  if (seen >= 12000) details.most = -1;
  return details;
}

function drawWords(run, { words }) {
  const { top } = place.panels[run.index], high = highOf(run);
  base.font = "13" + FONT;
  for (const [i, row, x, right] of words) {
    const text = short(run, i);
    if (base.measureText(text).width > right - x - 4) continue;
    write(text, (x + right) / 2, top + (row + 0.5 - view.top) * high + 0.5, (isDim(run, i) ? colours.onDim : colours.on)[run.shown[i]], "center", "13");
  }
}

function drawArrows(run, { messages, most }) {
  if (!state.arrows || messages.size > most) return;
  const high = highOf(run), { left, width } = place, q = ratio(run);
  base.fillStyle = colours.bytes;
  for (const m of messages) {
    // The bytes of a long message in the ports of both ends.
    const stream = (run.arrival[m] - run.out[m]) * q / (view.until - view.from) * (width - left);
    for (const [id, at] of stream > 0 ? [[run.from[m], run.enter[m]], [run.to[m], run.out[m]]] : [])
      base.fillRect(xOf(at * q), yOf(run, id) + Math.min(high * 0.3, high / 2 - 10), Math.max(1, stream), Math.max(2, Math.min(6, high * 0.12)));
  }
  base.globalAlpha = messages.size > most / 2 ? 0.4 : messages.size > 80 ? 0.6 : 0.85;
  base.fillStyle = colours.letters.L;
  base.lineWidth = 1;
  const ways = [];
  for (const message of messages) for (const [a, b] of waysOf(run, message)) {
    ways.push([a, b]);
    state.drawn.push({ run, message, a, b });
  }
  drawWays(base, colours.letters.L, ways);
}

// Says where messages are wanted and too many to be drawn.
function tellArrows(details) {
  const isFull = (run) => run.messages > 0 && (!details.has(run) || details.get(run).messages.size > details.get(run).most);
  $("arrows").toggleAttribute("data-many", state.arrows && runs.some(isFull));
}

// The ways of a message's first word and, if it differs, of its last.
function waysOf(run, message) {
  const q = ratio(run), from = yOf(run, run.from[message]), to = yOf(run, run.to[message]), stream = Math.max(0, run.arrival[message] - run.out[message]);
  const half = halfOf(run) * Math.sign(to - from), way = (enter, out) => [[xOf(enter * q), from + half], [xOf(out * q), to - half]];
  return [...stream ? [way(run.enter[message] + stream, run.arrival[message])] : [], way(run.enter[message], run.out[message])];
}

// Draws ways as arrows, all lines as one path and all heads as another: a browser takes half the time that it takes with a path
// for each.
function drawWays(context, colour, ways) {
  context.beginPath();
  for (const [a, b] of ways) {
    context.moveTo(...a);
    context.lineTo(...b);
  }
  context.strokeStyle = colour;
  context.stroke();
  context.beginPath();
  for (const [a, b] of ways) {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]), dx = (b[0] - a[0]) / length * 6, dy = (b[1] - a[1]) / length * 6;
    if (length < 8) continue;
    context.moveTo(...b);
    context.lineTo(b[0] - dx + 0.4 * dy, b[1] - dy - 0.4 * dx);
    context.lineTo(b[0] - dx - 0.4 * dy, b[1] - dy + 0.4 * dx);
  }
  context.fill();
}

const arrow = (context, colour, run, message) => drawWays(context, colour, waysOf(run, message));

// Draws the chosen thing and the one pointed at, above the rest. The canvas above stays as it is while it is empty.
let isOverEmpty = false;
function drawOver() {
  const isEmpty = !state.path && !state.chosen && !state.hover && !state.interval;
  if (isEmpty && isOverEmpty && over !== base) return;
  isOverEmpty = isEmpty && over !== base;
  over.setTransform(place.scale, 0, 0, place.scale, 0, 0);
  if (over !== base) over.clearRect(0, 0, place.width, place.height);
  for (const run of runs) within(over, run, () => {
    if (state.path) drawChain(run, pathOf(run), 2.5);
    if (state.chosen?.run === run) drawChain(run, state.chosen.chain, 3.5);
    for (const thing of [state.chosen, state.hover]) if (thing?.run === run) outline(run, thing);
    if (state.interval?.index === run.index) drawInterval(run, state.interval);
  });
}

function outline(run, { event, message }) {
  Object.assign(over, { strokeStyle: colours.text, fillStyle: colours.text, lineWidth: 1.8 });
  if (event !== undefined) {
    const q = ratio(run), high = highOf(run), half = Math.max(2, high / 2 - Math.min(high * 0.2, 10) + 1);
    const x = Math.max(-5, xOf(run.start[event] * q)), right = Math.min(place.width + 5, xOf(run.end[event] * q));
    over.strokeRect(x - 1, yOf(run, run.id[run.track[event]]) - half, Math.max(2, right - x + 2), 2 * half);
    message = run.kind[event] === SEND || run.kind[event] === RECEIVE ? run.of[event] : awaited(run, event);
  }
  if (message >= 0) arrow(over, colours.text, run, message);
}
