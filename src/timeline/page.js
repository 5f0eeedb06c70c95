"use strict";
// What the page of a timeline does. In order: the runs are read, rows are ordered, pixels are painted, a frame is put
// together, causes are followed, things are told in words, and the user is listened to. Nothing is fetched.

// The kinds of activities by their numbers: what they are called here, what else finds them, and their colour in the style.
const KINDS = [
  ["computation", "work", "work"], ["send overhead", "send o", "send"], ["receive overhead", "receive o", "receive"],
  ["gap", "g", "gap"], ["stall", "capacity", "stall"], ["port", "", "port"], ["idle", "", "paper"], ["barrier", "", "barrier"],
  ["call for a request", "post", "post"], ["wait for a request", "", "wait"],
];
const [WORK, SEND, RECEIVE, GAP, STALL, PORT, IDLE, BARRIER, POST, WAIT] = KINDS.keys();
// From the bottom of a row that is high enough to show shares.
const K = KINDS.length, STACK = [WORK, SEND, RECEIVE, POST, BARRIER, WAIT, PORT, GAP, STALL];
// So many activities are painted one by one in a frame, so many rows are looked at for that, so many messages are drawn for each
// pixel of the width, and so many hits of a search are gone through.
const MOST_EXACT = 250000, MOST_ROWS = 20000, MOST_ARROWS = 0.5, MOST_HITS = 100000;

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("meta").textContent), runs = [];
const base = $("base").getContext("2d", { alpha: false }), over = $("over").getContext("2d"), map = $("map").getContext("2d");
// What is shown: from when until when, from which row on, how many rows.
const view = { from: 0, until: 1, top: 0, rows: 1 };
// Where, in pixels of the style, of which each is so many of the screen.
const place = { width: 0, height: 0, left: 0, scale: 1, panels: [] };
const state = { order: "number", path: false, arrows: true, hits: null, chosen: null, hover: null, drawn: [] };
let P = 1, end = 1, order = null, rowOf = null, dirty = 0, waiting = 0, colours = null;

// ---- The runs are read: `form.rs` says how they are written.
async function bytesOf(text) {
  const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A number that may be negative, from its code.
const unsigned = (code) => code < 2 ** 31 ? code >>> 1 ^ -(code & 1) : code % 2 ? -(code + 1) / 2 : code / 2;

function decode(head, bytes) {
  let at = 0;
  const number = () => {
    let byte = bytes[at++], value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) value += ((byte = bytes[at++]) & 127) * unit;
    return value;
  };
  const signed = () => unsigned(number());
  const running = (now = 0) => () => now += signed();
  const column = (Type, count, read, all = new Type(count)) => {
    for (let i = 0; i < count; i++) all[i] = read(i);
    return all;
  };
  const { tracks, events, messages } = head;
  const run = { ...head, data: bytes, request: new Int32Array(tracks), first: new Int32Array(tracks + 1), track: new Int32Array(events) };
  let id = 0;
  run.id = column(Int32Array, tracks, (track) => {
    id += number();
    run.request[track] = number() - 1;
    run.first[track + 1] = run.first[track] + number();
    run.track.fill(track, run.first[track], run.first[track + 1]);
    return id;
  });
  run.kind = bytes.subarray(at, at += events);
  // The starts, each as the time since the end before it, come before the lengths.
  run.start = column(Float64Array, events, signed);
  let now = 0, from = 0, nth = -1, enter = 0;
  run.end = column(Float64Array, events, (i) => {
    if (i > run.first[run.track[i]]) run.start[i] += now;
    return now = run.start[i] + signed();
  });
  const last = [-1, -1, -1], request = running();
  [run.sent, run.got] = [0, 1].map(() => new Int32Array(messages).fill(-1));
  run.of = column(Int32Array, events, (i) => {
    const kind = run.kind[i];
    if (kind === WORK || kind === POST || kind === WAIT) return kind ? request() : number();
    const code = kind === SEND || kind === RECEIVE ? number() : 0;
    if (!code) return -1;
    last[kind] += 1 + unsigned(code - 1);
    (kind === SEND ? run.sent : run.got)[last[kind]] = i;
    return last[kind];
  });
  run.number = new Int32Array(messages);
  run.from = column(Int32Array, messages, (i) => {
    const step = signed();
    run.number[i] = nth = signed() + (step ? 0 : nth + 1);
    return from += step;
  });
  run.to = column(Int32Array, messages, running());
  run.words = column(Float64Array, messages, running());
  run.bytes = column(Float64Array, messages, () => number() - 1);
  run.tag = column(Int32Array, messages, () => number() - 1);
  run.enter = column(Float64Array, messages, (i) => enter = (i && run.from[i] === run.from[i - 1] ? enter : 0) + signed());
  run.latency = column(Float64Array, messages, () => head.L + signed());
  run.out = column(Float64Array, messages, (i) => run.enter[i] + run.latency[i] + signed());
  run.arrival = column(Float64Array, messages, (i) => run.out[i] + signed());
  const causes = (count, only) => column(Float64Array, count, (i) => only && run.kind[i] !== only ? 0 : number());
  run.causes = [causes(events), causes(events, RECEIVE), causes(messages), causes(messages)];
  Object.assign(run, { own: new Int32Array(head.P).fill(-1), group: new Int32Array(head.P), beside: new Map(), shares: new Float64Array(K) });
  for (let track = 0; track < tracks; track++) {
    const id = run.id[track];
    if (run.request[track] >= 0) run.beside.get(id)?.push(track) ?? run.beside.set(id, [track]);
    else [run.own[id], run.group[id]] = [track, number()];
    for (let i = run.first[track]; run.own[id] === track && i < run.first[track + 1]; i++) run.shares[run.kind[i]] += run.end[i] - run.start[i];
  }
  run.used = STACK.filter((kind) => run.shares[kind] > 0 || run.beside.size);
  for (const grid of run.grids) grid.starts = grid.columns.map((columns) => (at += columns * grid.kinds.length * grid.rows) - columns * grid.kinds.length * grid.rows);
  return run;
}

// The first number from `low` to `high` for which something holds that then holds for all.
function lower(low, high, holds) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The first events of a track that end after a moment, and that start from it on.
const firstAfter = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.end[i] > moment);
const firstFrom = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.start[i] >= moment);
// The track of the processor in a row, if it did anything.
const trackOf = (run, row) => run.own[order[row]] ?? -1;

// ---- Rows are ordered: as the first run says, so that runs beside each other can be compared.
function sortRows() {
  const run = runs[0], last = (id) => run.own[id] >= 0 ? run.end[run.first[run.own[id] + 1] - 1] : 0;
  const by = { finish: (a, b) => last(a) - last(b) || a - b, group: (a, b) => run.group[a] - run.group[b] || a - b }[state.order];
  order = Int32Array.from({ length: P }, (_, id) => id);
  rowOf = order.slice();
  if (by) order.sort(by).forEach((id, row) => rowOf[id] = row);
}

// ---- Pixels are painted.
// The colours of the style, as numbers.
function readColours() {
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim();
  const parts = (text) => [1, 3, 5].map((from) => parseInt(text.slice(from, from + 2), 16));
  const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const css = KINDS.map(([, , ink]) => of(ink)), rgb = css.map(parts), paper = parts(of("paper"));
  const mixed = (rgb, other, share) => rgb.map((part, i) => Math.round(part * share + other[i] * (1 - share)));
  const dimRgb = rgb.map((rgb) => mixed(rgb, paper, 0.22)), black = [0, 0, 0];
  colours = {
    css, rgb, paper, ink: Float32Array.from(rgb.flat()), dimInk: Float32Array.from(dimRgb.flat()), pixels: rgb.map(pixel), dim: dimRgb.map(pixel), edge: rgb.map((rgb) => pixel(mixed(rgb, black, 0.72))),
    text: of("ink"), grey: of("grey"), pale: of("pale"), path: of("path"), bytes: of("bytes"), paperPixel: pixel(paper), palePixel: pixel(parts(of("pale"))),
  };
  // Who is idle shows nothing, and yet is found.
  colours.hits = colours.pixels.with(IDLE, pixel(parts(of("grey"))));
}

let sums = new Float32Array(0), busy = new Float32Array(0), edges = new Uint8Array(0), mixed = new Uint8Array(0), line = new Uint32Array(0);

// Adds a kind to the columns of pixels from one place to another, so much of it.
function cover(kind, x, right, width, share) {
  if (x < 0) x = 0;
  if (right > width) right = width;
  const a = x | 0, b = right | 0;
  for (let c = a; c <= b && c < width; c++) {
    const part = ((c < b ? c + 1 : right) - (c > a ? c : x)) * share;
    sums[c * K + kind] += part;
    busy[c] += part;
  }
}

// Adds to each column what a track did in it.
function addExact(run, track, from, scale, width, boxes) {
  const until = from + width / scale, last = run.first[track + 1];
  for (let i = firstAfter(run, track, from); i < last && run.start[i] < until; i++) {
    const kind = run.kind[i], x = (run.start[i] - from) * scale, right = (run.end[i] - from) * scale;
    if (kind === IDLE || right <= x) continue;
    if (boxes && right - x >= 3 && x > 0) edges[x | 0] = 1 + kind;
    cover(kind, x, right, width, 1);
  }
}

// The same from a row of a grid, `weight` times.
function addGrid(run, grid, row, from, scale, width, weight) {
  let level = 0;
  while (level + 1 < grid.columns.length && grid.width * 2 ** (level + 1) * scale <= 1) level++;
  const columns = grid.columns[level], step = grid.width * 2 ** level;
  const first = Math.max(0, Math.floor(from / step)), last = Math.min(columns, Math.ceil((from + width / scale) / step));
  grid.kinds.forEach((kind, number) => {
    const start = grid.starts[level] + (number * grid.rows + row) * columns;
    for (let column = first; column < last; column++) {
      const share = run.data[start + column];
      if (share) cover(kind, (column * step - from) * scale, ((column + 1) * step - from) * scale, width, share * weight / 255);
    }
  });
}

// Turns the sums into a line of pixels. What is most is seen most, so that many kinds do not become a grey; a stall counts
// double. Columns with several kinds are noted, and whether there are any.
function mix(run, width) {
  const ink = state.hits ? colours.dimInk : colours.ink, pixels = state.hits ? colours.dim : colours.pixels, paper = colours.paper, { used } = run;
  let several = false;
  for (let x = 0; x < width; x++) {
    mixed[x] = 0;
    line[x] = colours.paperPixel;
    if (busy[x] < 0.004) continue;
    const idle = busy[x] < 1 ? (1 - busy[x]) * (1 - busy[x]) : 0;
    let most = 0, which = 0, all = idle, r = paper[0] * idle, g = paper[1] * idle, b = paper[2] * idle;
    for (let n = 0, at = x * K; n < used.length; n++) {
      const k = used[n], share = sums[at + k], weight = k === STALL ? 2 * share * share : share * share;
      if (share > most) most = sums[at + (which = k)];
      all += weight;
      r += ink[3 * k] * weight;
      g += ink[3 * k + 1] * weight;
      b += ink[3 * k + 2] * weight;
    }
    line[x] = pixels[which];
    if (most > 0.97) continue;
    several = !!(mixed[x] = 1);
    line[x] = (255 << 24 | (b / all) << 16 | (g / all) << 8 | (r / all)) >>> 0;
  }
  return several;
}

// Puts the hits of a search among a track's events into the line.
function addHits(run, track, from, scale, width) {
  const hits = state.hits.of[run.index], first = firstAfter(run, track, from);
  for (let i = lower(0, hits.length, (i) => hits[i] >= first); i < hits.length; i++) {
    const event = hits[i], x = Math.max(0, (run.start[event] - from) * scale | 0);
    if (event >= run.first[track + 1] || x >= width) return;
    line.fill(colours.hits[run.kind[event]], x, Math.max(x + 1, Math.round((run.end[event] - from) * scale)));
  }
}

// Whether rows are painted from a grid, and from which: where their events are too many.
function gridFor(run, top, last, from, until, perPixel) {
  const fits = (grid) => grid.group === 1 || state.order === "number" && grid.group <= 1.2 * perPixel;
  const best = run.grids.filter(fits).pop();
  if (!best || best.group > 1 || last - top > MOST_ROWS) return best;
  let events = 0;
  for (let row = Math.floor(top), track = 0; row < last && events <= MOST_EXACT; row++)
    if ((track = trackOf(run, row)) >= 0) events += firstFrom(run, track, until) - firstAfter(run, track, from);
  return events > MOST_EXACT ? best : undefined;
}

// Paints rows of a run into pixels. Returns whether all events were looked at.
function paint(run, pixels, width, height, top, rows, from, until) {
  if (line.length !== width) {
    [sums, busy, line] = [new Float32Array(width * K), new Float32Array(width), new Uint32Array(width)];
    [edges, mixed] = [new Uint8Array(width), new Uint8Array(width)];
  }
  const scale = width / (until - from), high = height / rows, last = Math.min(run.P, Math.ceil(top + rows));
  const grid = gridFor(run, top, last, from, until, 1 / high), boxes = high >= 10 && !state.hits;
  const clear = () => [sums, busy, edges].forEach((all) => all.fill(0));
  const add = (row, track = trackOf(run, row)) => track < 0 || (grid ? addGrid(run, grid, order[row], from, scale, width, 1) : addExact(run, track, from, scale, width, boxes));
  const hits = (row, track = trackOf(run, row)) => state.hits && track >= 0 && addHits(run, track, from, scale, width);
  if (high < 1) {
    // Several rows are one line of pixels: their mean, or that of a few of them.
    for (let y = 0; y < height; y++) {
      const a = Math.floor(top + y / high), b = Math.min(run.P, Math.max(a + 1, Math.floor(top + (y + 1) / high)));
      if (a >= run.P) break;
      clear();
      let count = 1;
      if (grid && grid.group > 1) {
        const first = Math.floor(a / grid.group), last = Math.min(grid.rows, Math.max(first + 1, Math.round(b / grid.group)));
        for (let row = first; row < last; row++) addGrid(run, grid, row, from, scale, width, 1 / (last - first));
      } else {
        const step = Math.ceil((b - a) / 2);
        count = Math.ceil((b - a) / step);
        for (let row = a; row < b; row += step) add(row);
      }
      if (count > 1) [sums, busy].forEach((all) => all.forEach((sum, i) => all[i] = sum / count));
      mix(run, width);
      for (let row = a; row < b && row < a + 64; row++) hits(row);
      pixels.set(line, y * width);
    }
    return !grid;
  }
  const pad = high >= 14 ? Math.min(high * 0.2, 10 * place.scale) : high >= 5 ? 1 : 0;
  for (let row = Math.floor(top); row < last; row++) {
    const y = (row - top) * high, y0 = Math.max(0, Math.round(y + pad)), y1 = Math.min(height, Math.round(y + high - pad));
    clear();
    add(row);
    const several = mix(run, width);
    if (boxes) for (let x = 0; x < width; x++) if (edges[x]) line[x] = colours.edge[edges[x] - 1];
    hits(row);
    for (let y = y0; y < y1; y++) pixels.set(line, y * width);
    if (several && high >= 9 && !state.hits) stack(pixels, width, y0, y1);
    const requests = high >= 14 && !grid && run.beside.get(order[row]) || [], quarter = (y1 - y0) >> 2;
    if (requests.length && requests.length < 3000) {
      // What requests do beside their processor stands in the middle of its row.
      clear();
      for (const track of requests) addExact(run, track, from, scale, width, false);
      mix(run, width);
      for (let y = y0 + quarter; y < y1 - quarter; y++)
        for (let x = 0, at = y * width; x < width; x++) if (line[x] !== colours.paperPixel) pixels[at + x] = line[x];
    }
    if (high < 14 || state.hits) continue;
    for (let x = 0, at = ((y0 + y1) >> 1) * width; x < width; x++) if (pixels[at + x] === colours.paperPixel) pixels[at + x] = colours.palePixel;
  }
  return !grid;
}

// Columns with several kinds show their shares from the bottom of the row on; one that stands alone is where two events meet.
function stack(pixels, width, y0, y1) {
  for (let x = 0; x < width; x++) {
    if (!mixed[x] || !(mixed[x - 1] || mixed[x + 1])) continue;
    let y = y1, up = 0;
    for (const kind of STACK) {
      up += sums[x * K + kind] / Math.max(1, busy[x]);
      const until = Math.max(y0, Math.round(y1 - up * (y1 - y0)));
      for (; y > until; y--) pixels[(y - 1) * width + x] = colours.pixels[kind];
    }
    for (; y > y0; y--) pixels[(y - 1) * width + x] = colours.paperPixel;
  }
}

// ---- A frame is put together.
const CAPTION = 19, AXIS = 24, HIGHEST = 46, FONT = "px system-ui, sans-serif";

function resize() {
  const holder = $("plot"), why = $("why").hidden ? 0 : $("why").offsetHeight + 6;
  const free = innerHeight - holder.getBoundingClientRect().top - scrollY - $("map").offsetHeight - why - 18;
  holder.style.height = Math.max(200, Math.min(runs.length * (CAPTION + P * HIGHEST) + AXIS, free)) + "px";
  const { width, height } = holder.getBoundingClientRect(), each = (height - AXIS) / runs.length;
  Object.assign(place, { width, height, scale: Math.min(3, devicePixelRatio || 1), left: Math.min(innerWidth < 600 ? 46 : 64, 16 + 8 * `P${P - 1}`.length) });
  for (const [context, wide, high] of [[base, width, height], [over, width, height], [map, $("map").clientWidth, $("map").clientHeight]])
    Object.assign(context.canvas, { width: Math.round(wide * place.scale), height: Math.round(high * place.scale) });
  place.panels = runs.map((_, i) => ({ top: i * each + CAPTION, height: each - CAPTION }));
  drawMap();
  draw();
}

const xOf = (moment) => place.left + (moment - view.from) / (view.until - view.from) * (place.width - place.left);
const momentAt = (x) => view.from + (x - place.left) / (place.width - place.left) * (view.until - view.from);
const highOf = (run) => place.panels[run.index].height / view.rows;
const yOf = (run, id) => place.panels[run.index].top + (rowOf[id] + 0.5 - view.top) * highOf(run);

const draw = () => dirty = dirty || requestAnimationFrame(frame);

function frame() {
  dirty = 0;
  const { scale, width, left } = place, columns = Math.max(1, Math.round((width - left) * scale));
  base.setTransform(1, 0, 0, 1, 0, 0);
  base.fillStyle = colours.css[IDLE];
  base.fillRect(0, 0, base.canvas.width, base.canvas.height);
  state.drawn = [];
  for (const run of runs) {
    const panel = place.panels[run.index], lines = Math.max(1, Math.round(panel.height * scale));
    if (panel.image?.width !== columns || panel.image.height !== lines) panel.image = base.createImageData(columns, lines);
    const pixels = new Uint32Array(panel.image.data.buffer).fill(colours.paperPixel);
    panel.exact = paint(run, pixels, columns, lines, view.top, view.rows, view.from, view.until);
    base.putImageData(panel.image, Math.round(left * scale), Math.round(panel.top * scale));
  }
  base.setTransform(scale, 0, 0, scale, 0, 0);
  base.textBaseline = "middle";
  drawAxis();
  runs.forEach(drawRows);
  for (const run of runs) if (place.panels[run.index].exact) within(base, run, () => drawDetails(run));
  drawOver();
}

// Draws in the rows of a run alone.
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

function trace(context, places) {
  context.beginPath();
  places.forEach(([x, y]) => context.lineTo(x, y));
}

function stroke(context, colour, ...places) {
  trace(context, places);
  context.strokeStyle = colour;
  context.stroke();
}

// A line at every round moment, about 110 pixels apart.
function drawAxis() {
  const { width, height, left } = place, [name, length] = unitOf(view.until), per = runs[0].quantum / length;
  const raw = (view.until - view.from) * per * 110 / (width - left), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= raw), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // The lines are behind what is darker, or in the dark what is lighter.
  base.globalCompositeOperation = colours.paper[0] > 127 ? "darken" : "lighten";
  base.lineWidth = 1;
  const ticks = [];
  for (let n = Math.ceil(view.from * per / step); n * step <= view.until * per; n++) ticks.push(n * step);
  for (const tick of ticks) stroke(base, colours.pale, [xOf(tick / per), CAPTION], [xOf(tick / per), height - AXIS + 3]);
  base.globalCompositeOperation = "source-over";
  for (const tick of ticks) {
    const x = xOf(tick / per), text = spelled(tick, digits, digits);
    if (x > left + 14 && x < width - 24) write(text, x, height - AXIS / 2 + 2, colours.grey, "center");
  }
  write(name, 2, height - AXIS / 2 + 2, colours.grey);
}

function drawRows(run) {
  const panel = place.panels[run.index], high = highOf(run), { left, width } = place, y = panel.top - CAPTION / 2, low = panel.top + panel.height;
  base.fillStyle = colours.css[IDLE];
  base.fillRect(0, panel.top - CAPTION, width, CAPTION);
  const first = runs[0].finish * runs[0].quantum, part = run.finish * run.quantum / first - 1;
  const change = run.index && first ? `, ${part < 0 ? "\u2212" : "+"}${(Math.abs(part) * 100).toFixed(2)}%` : "";
  const wide = write(`${run.name ? run.name + ": " : ""}${told(run, run.finish)}${change}`, 2, y, colours.text, "left", "600 12");
  if (state.path) write("critical path: " + (run.parts ??= summary(run, pathOf(run))), wide + 14, y, colours.path);
  else write(run.about, wide + 14, y, colours.grey);
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(13 / high))), last = Math.min(run.P, Math.ceil(view.top + view.rows));
  const edge = (row) => panel.top + (row - view.top) * high, fits = (y) => y > panel.top + 5 && y < low - 4;
  for (let row = Math.floor(view.top / step) * step; row < last; row += step)
    if (fits(edge(row + 0.5))) write("P" + order[row], left - 6, edge(row + 0.5), colours.grey, "right");
  for (let row = Math.max(1, Math.ceil(view.top)); state.order === "group" && high > 2 && row < last; row++)
    if (run.group[order[row]] !== run.group[order[row - 1]]) stroke(base, colours.grey, [left, edge(row)], [width, edge(row)]);
  // The end of the run, and what is marked in it.
  base.setLineDash([5, 3]);
  for (const [name, at] of [["", run.finish * run.quantum], ...run.marks]) {
    const x = xOf(at / runs[0].quantum);
    if (x < left || x > width) continue;
    stroke(base, name ? colours.path : colours.grey, [x, panel.top], [x, low]);
    const edge = Math.min(x, width - 2), own = name ? base.measureText(name).width + 6 : 0;
    base.fillStyle = colours.css[IDLE];
    if (edge - own > wide) base.fillRect(edge - own, panel.top - CAPTION, own, CAPTION);
    if (edge - own > wide) write(name, edge, y, colours.path, "right");
  }
  base.setLineDash([]);
}

// What can be seen only where events are few: their names, and the messages.
function drawDetails(run) {
  const high = highOf(run), { left, width, panels } = place, q = ratio(run), messages = new Set();
  const last = Math.min(run.P, Math.ceil(view.top + view.rows)), most = (width - left) * MOST_ARROWS;
  let seen = 0;
  for (let row = Math.floor(view.top); row < last && last - view.top < 2000; row++) {
    const own = trackOf(run, row);
    for (const track of own < 0 ? [] : [own, ...(run.beside.get(order[row]) || []).slice(0, 500)]) {
      const until = Math.min(run.first[track + 1], firstFrom(run, track, view.until / q) + 1);
      for (let i = Math.max(run.first[track], firstAfter(run, track, view.from / q) - 1); i < until && seen < 12000; i++, seen++) {
        const kind = run.kind[i];
        if ((kind === SEND || kind === RECEIVE) && run.of[i] >= 0) messages.add(run.of[i]);
        const x = Math.max(left, xOf(run.start[i] * q)), right = Math.min(width, xOf(run.end[i] * q));
        if (high < 17 || right - x < 22 || kind === IDLE || track !== own) continue;
        const text = short(run, i), [r, g, b] = colours.rgb[kind];
        base.font = "11" + FONT;
        if (base.measureText(text).width > right - x - 4) continue;
        write(text, (x + right) / 2, panels[run.index].top + (row + 0.5 - view.top) * high + 0.5, r * 0.3 + g * 0.59 + b * 0.11 > 140 ? "#111" : "#fff", "center", "11");
      }
    }
  }
  if (!state.arrows || messages.size > most || seen >= 12000) return;
  base.fillStyle = colours.bytes;
  for (const m of messages) {
    // The bytes of a long message in the ports of both ends.
    const stream = (run.arrival[m] - run.out[m]) * q / (view.until - view.from) * (width - left);
    for (const [id, at] of stream > 0 ? [[run.from[m], run.enter[m]], [run.to[m], run.out[m]]] : [])
      base.fillRect(xOf(at * q), yOf(run, id) + Math.min(high * 0.3, high / 2 - 10), Math.max(1, stream), Math.max(2, Math.min(6, high * 0.12)));
  }
  base.globalAlpha = messages.size > most / 2 ? 0.4 : messages.size > 80 ? 0.6 : 0.85;
  base.fillStyle = colours.grey;
  base.lineWidth = 1;
  for (const message of messages) arrow(base, colours.grey, run, message);
}

// Draws the way of a message, of its first word and, if that is another, its last.
function arrow(context, colour, run, message) {
  const q = ratio(run), from = yOf(run, run.from[message]), to = yOf(run, run.to[message]), stream = Math.max(0, run.arrival[message] - run.out[message]);
  const half = Math.min(12, highOf(run) * 0.3) * Math.sign(to - from);
  for (const [enter, out] of [[run.enter[message] + stream, run.arrival[message]], [run.enter[message], run.out[message]]].slice(0, stream ? 2 : 1)) {
    const a = [xOf(enter * q), from + half], b = [xOf(out * q), to - half], length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    stroke(context, colour, a, b);
    if (context === base) state.drawn.push({ run, message, a, b });
    if (length < 8) continue;
    const dx = (b[0] - a[0]) / length * 6, dy = (b[1] - a[1]) / length * 6;
    trace(context, [b, [b[0] - dx + 0.4 * dy, b[1] - dy - 0.4 * dx], [b[0] - dx - 0.4 * dy, b[1] - dy + 0.4 * dx]]);
    context.fill();
  }
}

// What is chosen and pointed at, above the rest.
function drawOver() {
  over.setTransform(place.scale, 0, 0, place.scale, 0, 0);
  over.clearRect(0, 0, place.width, place.height);
  for (const run of runs) within(over, run, () => {
    if (state.path) drawChain(run, pathOf(run), 2.5);
    if (state.chosen?.run === run) drawChain(run, state.chosen.chain, 3.5);
    for (const thing of [state.chosen, state.hover]) if (thing?.run === run) outline(run, thing);
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

// A way back: its nodes follow one another in time, so those in the window do. Of many only some are looked at.
function drawChain(run, { ids, times }, thick) {
  const q = ratio(run), find = (x, from) => lower(from, times.length, (i) => xOf(times[i] * q) <= x), places = [];
  const first = Math.max(0, find(place.width, 0) - 1), last = Math.min(times.length - 1, find(place.left, first) + 1), many = last - first > 20000;
  for (let i = first; i <= last; i = many ? Math.max(i + 1, find(xOf(times[i] * q) - 0.5, i)) : i + 1) places.push([xOf(times[i] * q), yOf(run, ids[i])]);
  Object.assign(over, { lineWidth: thick, lineJoin: "round" });
  stroke(over, colours.path, ...places);
}

// All of all runs, above each other, and what of it the window shows.
function drawMap() {
  const { width, height } = map.canvas, each = Math.floor(height / runs.length);
  if (!width || !each) return;
  place.maps = runs.map((run) => {
    const image = map.createImageData(width, each);
    paint(run, new Uint32Array(image.data.buffer).fill(colours.paperPixel), width, each - (runs.length > 1 ? 2 : 0), 0, P, 0, end);
    return image;
  });
  drawWindow();
}

function drawWindow() {
  const { width, height } = map.canvas, x = view.from / end * width, right = view.until / end * width, one = runs.length === 1;
  const y = one ? view.top / P * height : 0, low = one ? (view.top + view.rows) / P * height : height;
  (place.maps || []).forEach((image, i) => map.putImageData(image, 0, i * image.height));
  Object.assign(map, { fillStyle: colours.text + "30", strokeStyle: colours.path, lineWidth: 2 * place.scale });
  map.fillRect(0, 0, x, height);
  map.fillRect(right, 0, width - right, height);
  map.strokeRect(x, y, Math.max(3, right - x), low - y);
}

// ---- Causes are followed. A node is the end of an event, the start of a reception, the entry of a message, or its arrival;
// the last, if another waited for that, with for what.
const END = 0, START = 1, ENTRY = 2, ARRIVAL = 3, ROOM = 4, DOOR = 8;

const position = (run, what, i) => what < ENTRY ? [run.id[run.track[i]], (what ? run.start : run.end)[i]]
  : what === ENTRY ? [run.from[i], run.enter[i]] : [run.to[i], run.arrival[i]];

// What a node waited for.
function cause(run, [what, i]) {
  const code = run.causes[what & 3][i], where = i + unsigned(Math.floor(code / 8));
  if (code === 1) return [END, (what === ENTRY ? run.sent[i] : i) - 1];
  return code ? [[, , END, START, ENTRY, ARRIVAL, ARRIVAL | ROOM, ARRIVAL | DOOR][code % 8], where] : null;
}

// All nodes from one back to the start, and where and when they are.
function chain(run, node) {
  const nodes = [], add = (node) => nodes.push(node);
  for (let left = 2 * (run.events + run.messages); node && left > 0; left--, node = cause(run, node)) add(node);
  // Before its first event a processor had nothing to wait for.
  const [what, i] = nodes.at(-1) || [], first = what === ENTRY ? run.sent[i] : i;
  if (nodes.length && (what === END || what === ENTRY) && first >= 0) add([START, first]);
  const places = nodes.map((node) => position(run, ...node));
  return { nodes, ids: Int32Array.from(places, ([id]) => id), times: Float64Array.from(places, ([, at]) => at) };
}

const pathOf = (run) => run.path ??= chain(run, run.last === null ? null : [END, run.last]);

// The message for which a processor waited: the one that it takes when the wait ends.
function awaited(run, event) {
  const last = run.first[run.track[event] + 1];
  let next = event + 1;
  while (next < last && run.kind[next] === GAP) next++;
  const waits = run.kind[event] === IDLE || run.kind[event] === GAP;
  if (!waits || next >= last || run.kind[next] !== RECEIVE) return -1;
  return run.kind[event] === IDLE && run.arrival[run.of[next]] !== run.end[event] ? -1 : run.of[next];
}

// ---- Things are told in words. The view is counted in quanta of the first run.
const ratio = (run) => run.quantum / runs[0].quantum;
const UNITS = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]];

// The unit for so many quanta of the first run: that of the page, or a larger or smaller one if it is a part of a second.
function unitOf(quanta) {
  const fits = ([, length]) => Math.abs(quanta) * runs[0].quantum >= length * 0.9999999;
  return UNITS.some(([name]) => name === meta.unit[0]) && UNITS.find(fits) || meta.unit;
}

const formats = new Map();
function spelled(number, most = 6, least = 0) {
  const key = `${least} ${most}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most }));
  return formats.get(key).format(number);
}

function told(run, quanta) {
  const [name, length] = unitOf(quanta * ratio(run));
  return `${spelled(quanta * run.quantum / length)} ${name}`;
}

const length = (run, i) => told(run, run.end[i] - run.start[i]);
const many = (n, thing) => `${spelled(n)} ${thing}${n === 1 ? "" : "s"}`;
const ways = (run, m) => `P${run.from[m]} to P${run.to[m]}`;
const nameOf = (run, i) => run.kind[i] === WORK ? run.names[run.of[i]] : "";

// What stands on an event where it is wide enough.
function short(run, i) {
  const kind = run.kind[i], of = run.of[i];
  if (kind === SEND || kind === RECEIVE) return of < 0 ? KINDS[kind][0] : kind === SEND ? `\u2192 P${run.to[of]}` : `\u2190 P${run.from[of]}`;
  return nameOf(run, i) || { [WORK]: "work", [POST]: "request", [WAIT]: "wait" }[kind] || KINDS[kind][0];
}

function tell(run, { event: i, message }) {
  if (i === undefined) return "message " + tellMessage(run, message);
  const kind = run.kind[i], track = run.track[i], request = run.request[track], name = nameOf(run, i) || (kind === POST || kind === WAIT ? `request ${run.of[i]}` : "");
  const what = `P${run.id[track]}${request >= 0 ? `, request ${request}` : ""}: ${KINDS[kind][0]}${name ? ` (${name})` : ""}, ${length(run, i)}`;
  const lines = [what, `from ${told(run, run.start[i])} to ${told(run, run.end[i])}`];
  let send = i;
  while ((run.kind[send] === STALL || run.kind[send] === PORT) && send > run.first[track]) send--;
  const own = run.kind[send] === SEND || kind === RECEIVE ? run.of[send] : -1, next = awaited(run, i);
  if (own >= 0) lines.push(tellMessage(run, own));
  else if (kind === SEND || kind === RECEIVE) lines.push("of a message that never entered");
  if (next >= 0) lines.push(`${kind === IDLE ? "waits for" : "then takes"} the message ${tellMessage(run, next)}`);
  return lines.join("\n");
}

function tellMessage(run, m) {
  const send = run.sent[m], got = run.got[m], why = cause(run, [ENTRY, m]), held = run.out[m] - run.enter[m] - run.latency[m];
  const lines = [`${ways(run, m)}, ${many(run.words[m], "word")}${run.bytes[m] >= 0 ? ` (${many(run.bytes[m], "byte")})` : ""}${run.tag[m] >= 0 ? ", " + run.tags[run.tag[m]] : ""}`];
  if (send >= 0) {
    const gap = send > run.first[run.track[send]] && run.kind[send - 1] === GAP ? `g ${length(run, send - 1)}, then ` : "";
    lines.push(`${gap}o ${length(run, send)} at P${run.from[m]}`);
    for (let i = send + 1; i < run.first[run.track[send] + 1] && (run.kind[i] === STALL || run.kind[i] === PORT); i++) lines.push(`${KINDS[run.kind[i]][0]} ${length(run, i)}`);
  }
  if (why && why[0] > ARRIVAL) lines.push(`waits until the message ${ways(run, why[1])} leaves ${why[0] & ROOM ? "room" : "the port"}`);
  else if (why && why[0] === ENTRY) lines.push(`waits for the gap after the message ${ways(run, why[1])}`);
  const port = held > 0 ? `, ${told(run, held)} before the receiver's port` : "", stream = run.arrival[m] - run.out[m];
  lines.push(`enters at ${told(run, run.enter[m])}, L ${told(run, run.latency[m])}${port}${stream ? `, G ${told(run, stream)}` : ""}, arrives at ${told(run, run.arrival[m])}`);
  const lies = got >= 0 ? run.start[got] - run.arrival[m] : 0;
  lines.push(got < 0 ? "is received without an overhead of its own" : `${lies > 0 ? `lies there for ${told(run, lies)}, then ` : ""}o ${length(run, got)} at P${run.to[m]}`);
  return lines.join("\n");
}

// What a step from a node to its cause belongs to, and the sentence that tells it; none, if it says nothing.
function partOf(run, [what, i], [next]) {
  if (what > ARRIVAL) return what & ROOM ? "stall" : "port";
  return [KINDS[run.kind[i]]?.[0], next === START ? "gap" : "idle", next === ENTRY ? "gap" : "send overhead", "L and G"][what];
}

function tellStep(run, [what, i], [next, where], id, time) {
  const name = KINDS[run.kind[i]]?.[0], left = `until the message ${ways(run, where)} leaves ${next & ROOM ? "room" : "the port"}`;
  if (what >= ARRIVAL) return `under way ${ways(run, i)}: ${time}`;
  if (what === START) return next === START ? `P${id} waits for its gap: g ${time}` : "";
  if (what === ENTRY) return `P${id} ${next > ARRIVAL ? `waits to send to P${run.to[i]} ${left}` : `sends to P${run.to[i]}${next === ENTRY ? " after the gap: g" : ": o"} ${time}`}`;
  if (next === ENTRY) return "";
  if (run.kind[i] === RECEIVE && run.of[i] >= 0) return `P${id} receives from P${run.from[run.of[i]]}: o ${time}`;
  return `P${id}: ${name}${nameOf(run, i) ? ` (${nameOf(run, i)})` : ""}, ${time}`;
}

// The parts of a chain, from the longest.
function summary(run, { nodes, times }) {
  const parts = new Map(), all = times[0] - times.at(-1) || 1;
  for (let i = 0; i + 1 < nodes.length; i++) {
    const part = partOf(run, nodes[i], nodes[i + 1]);
    parts.set(part, (parts.get(part) || 0) + times[i] - times[i + 1]);
  }
  const long = [...parts].filter(([, time]) => time > all / 1000).sort((a, b) => b[1] - a[1]);
  return long.map(([part, time]) => `${part} ${Math.round(time / all * 100)}%`).join(", ");
}

// ---- The user is listened to.
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

// Moves a moment of a processor into the window, which becomes narrow enough for a length.
function show(run, id, at, length = 0) {
  const q = ratio(run), span = Math.min(view.until - view.from, Math.max(length * q * 12, end / 4000, 2)), row = rowOf[id];
  const seen = at * q > view.from && at * q < view.until && length * q / (view.until - view.from) > 0.002;
  const top = row < view.top || row >= view.top + view.rows ? row - view.rows / 2 : view.top;
  moveTo(...(seen ? [view.from, view.until] : [at * q - span / 2, at * q + span / 2]), top);
}

// What is at a place: a message if one passes there, or else what its processor does.
function pick(x, y) {
  let near = null, least = 5;
  for (const { run, message, a, b } of state.drawn) {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]], part = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1);
    const far = Math.hypot(x - a[0] - part * dx, y - a[1] - part * dy);
    if (far < least && part > 0.04 && part < 0.96) [least, near] = [far, { run, message }];
  }
  const index = place.panels.findIndex((panel) => y >= panel.top && y < panel.top + panel.height), run = runs[index];
  if (near || !run || x < place.left) return near;
  const row = Math.floor(view.top + (y - place.panels[index].top) / highOf(run)), own = trackOf(run, row), at = momentAt(x) / ratio(run);
  const middle = highOf(run) >= 14 && Math.abs(y - yOf(run, order[row])) < highOf(run) * 0.17;
  for (const track of own < 0 ? [] : [...(middle && run.beside.get(order[row]) || []), own]) {
    const event = firstAfter(run, track, at);
    if (event < run.first[track + 1] && run.start[event] <= at) return { run, event };
  }
  return null;
}

// Chooses a thing, and lists what it waited for.
function choose(thing) {
  const box = $("why"), was = box.hidden, list = document.createElement("ol"), words = document.createElement("p");
  box.hidden = !thing;
  state.chosen = thing;
  if (thing) {
    const { run, event, message } = thing, { nodes, ids, times } = thing.chain = chain(run, event !== undefined ? [END, event] : [ARRIVAL, message]);
    words.textContent = `${tell(run, thing)}\nback to the start: ${summary(run, thing.chain)}`;
    for (let i = 0; i + 1 < nodes.length && list.children.length < 100; i++) {
      const text = tellStep(run, nodes[i], nodes[i + 1], ids[i], told(run, times[i] - times[i + 1])), go = () => show(run, ids[i], times[i]);
      if (!text) continue;
      const item = list.appendChild(document.createElement("li"));
      Object.assign(item, { textContent: `${told(run, times[i])}  ${text}`, tabIndex: 0, onclick: go, onkeydown: ({ key }) => key === "Enter" && go() });
    }
  }
  box.replaceChildren(words, list);
  if (was !== box.hidden) resize();
  else drawOver();
}

function hover(x, y, left, top) {
  const thing = x === undefined ? null : pick(x, y), tip = $("tip");
  state.hover = thing;
  tip.hidden = !thing;
  if (thing) {
    tip.textContent = tell(thing.run, thing);
    const { offsetWidth: width, offsetHeight: height } = tip, y = top + height + 20 < innerHeight ? top + 16 : Math.max(4, top - height - 12);
    tip.style.translate = `${Math.max(4, Math.min(innerWidth - width - 4, left + 14))}px ${y}px`;
  }
  drawOver();
}

// All events that a text finds: by the name of their kind, of their work, or of their message's tag.
function search(text) {
  const wanted = text.trim().toLowerCase(), processor = /^p(\d+)$/.exec(wanted), has = (name) => name.toLowerCase().includes(wanted);
  state.hits = null;
  $("found").textContent = "";
  if (processor) {
    const id = +processor[1], rows = Math.min(8, view.rows);
    if (id < P) moveTo(view.from, view.until, rowOf[id] + 0.5 - rows / 2, rows);
    else $("found").textContent = `there are ${P}`;
  } else if (wanted) {
    const kinds = KINDS.map(([name, other]) => has(name) || other === wanted), of = [], all = [];
    let count = 0, time = 0;
    for (const run of runs) {
      const names = run.names.map(has), tags = run.tags.map(has), hits = [];
      for (let i = 0; i < run.events; i++) {
        const kind = run.kind[i], of = run.of[i], message = (kind === SEND || kind === RECEIVE) && of >= 0;
        if (run.end[i] === run.start[i] || !(kinds[kind] || kind === WORK && names[of] || message && tags[run.tag[of]])) continue;
        hits.push(i);
        time += (run.end[i] - run.start[i]) * ratio(run);
      }
      count += of[of.push(hits) - 1].length;
      for (const event of hits.slice(0, MOST_HITS)) all.push({ run, event });
    }
    all.sort((a, b) => a.run.start[a.event] * a.run.quantum - b.run.start[b.event] * b.run.quantum);
    if (count) state.hits = { of, all, at: -1 };
    $("found").textContent = count ? `${spelled(count)}, ${told(runs[0], time)}` : "nothing";
  }
  drawMap();
  draw();
}

// Goes to the next hit, or to the one before.
function step(by) {
  const { hits } = state;
  if (!hits) return;
  hits.at = (Math.max(hits.at, by < 0 ? 0 : -1) + by + hits.all.length) % hits.all.length;
  const { run, event } = hits.all[hits.at];
  choose({ run, event });
  show(run, run.id[run.track[event]], (run.start[event] + run.end[event]) / 2, run.end[event] - run.start[event]);
}

const toggle = (name) => draw($(name).setAttribute("aria-pressed", state[name] = !state[name]));

function listenToPointers() {
  const plot = $("plot"), overview = $("map"), pointers = new Map();
  let moved = 0;
  const inside = ({ clientX, clientY }, box = plot.getBoundingClientRect()) => [clientX - box.left, clientY - box.top];
  const turn = (event) => Math.exp(Math.max(-200, Math.min(200, (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 20 : 1))) * 0.002);
  const on = (element, acts) => Object.entries(acts).forEach(([name, act]) => element.addEventListener(name, act, { passive: false }));
  const up = (event) => pointers.delete(event.pointerId) && event.type === "pointerup" && !pointers.size && moved <= 4 && choose(pick(...inside(event)));
  on(plot, {
    wheel: (event) => {
      event.preventDefault();
      const [x, y] = inside(event);
      if (event.shiftKey) zoomRows(turn(event), place.panels.find((panel) => y < panel.top + panel.height), y);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) shift(event.deltaX / place.width);
      else zoom(turn(event), x);
      hover();
    },
    pointerdown: (event) => {
      pointers.set(event.pointerId, inside(event));
      plot.setPointerCapture(event.pointerId);
      moved = pointers.size > 1 ? 99 : 0;
    },
    pointermove: (event) => {
      const [x, y] = inside(event), before = pointers.get(event.pointerId), panel = place.panels[0];
      if (!before) return event.pointerType === "mouse" && hover(x, y, event.clientX, event.clientY);
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (moved <= 4) return;
      pointers.set(event.pointerId, [x, y]);
      if (pointers.size === 1) {
        move(momentAt(before[0]) - momentAt(x), (before[1] - y) * view.rows / panel.height);
        hover();
      } else {
        // Two fingers zoom along the line between them.
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1], far = (a, i) => Math.max(20, Math.abs(a[i] - other[i]));
        if (far([x, y], 0) >= far([x, y], 1)) zoom(far(before, 0) / far([x, y], 0), (x + other[0]) / 2);
        else zoomRows(far(before, 1) / far([x, y], 1), panel, (y + other[1]) / 2);
      }
    },
    pointerup: up,
    pointercancel: up,
    pointerleave: () => hover(),
  });
  const go = (event) => {
    const [x, y] = inside(event, overview.getBoundingClientRect()), half = (view.until - view.from) / 2, at = x / overview.clientWidth * end;
    moveTo(at - half, at + half, runs.length > 1 ? view.top : y / overview.clientHeight * P - view.rows / 2);
  };
  on(overview, {
    pointerdown: (event) => go(event, overview.setPointerCapture(event.pointerId)),
    pointermove: (event) => event.buttons && go(event),
    wheel: (event) => zoom(turn(event), undefined, event.preventDefault()),
  });
}

function listen() {
  listenToPointers();
  const help = () => resize($("help").setAttribute("aria-expanded", $("keys").toggleAttribute("hidden") === false));
  const clicks = { back: () => step(-1), next: () => step(1), path: () => toggle("path"), arrows: () => toggle("arrows"), in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: showAll, help };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  const keys = {
    ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), Home: () => shift(-1e12), End: () => shift(1e12),
    ArrowUp: () => scroll(-Math.max(1, view.rows / 8)), ArrowDown: () => scroll(Math.max(1, view.rows / 8)),
    "+": clicks.in, "=": clicks.in, "-": clicks.out, "[": () => zoomRows(0.6), "]": () => zoomRows(1 / 0.6), 0: showAll,
    "/": () => $("search").focus(), n: clicks.next, N: clicks.back, p: clicks.path, m: clicks.arrows, "?": help,
    Escape: () => { choose(null); search($("search").value = ""); $("plot").focus(); },
  };
  addEventListener("keydown", (event) => {
    const typing = event.target === $("search") || event.target === $("order");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === $("search") && event.key === "Enter") return step(event.shiftKey ? -1 : 1);
    if (typing && event.key !== "Escape" || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => search($("search").value), 120); });
  $("order").addEventListener("change", () => { state.order = $("order").value; sortRows(); drawMap(); draw(); });
  new ResizeObserver(resize).observe(document.body);
  const recolour = () => { readColours(); legend(); drawMap(); frame(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  for (const when of ["before", "after"]) addEventListener(when + "print", () => recolour(document.documentElement.classList.toggle("print", when === "before")));
}

// The kinds that occur, with their parts of all processors' time; each is a search for itself.
function legend() {
  $("legend").replaceChildren();
  KINDS.forEach(([name], kind) => {
    const parts = runs.map((run) => run.shares[kind] / (run.finish * run.P || 1));
    if (kind === IDLE || !parts.some((part) => part > 0)) return;
    const button = $("legend").appendChild(document.createElement("button")), chip = button.appendChild(document.createElement("i"));
    const percent = (part) => part && part < 0.0005 ? "<0.1%" : (part * 100).toFixed(part < 0.0995 ? 1 : 0) + "%";
    chip.style.background = colours.css[kind];
    button.append(`${name} ${parts.map(percent).join(", ")}`);
    button.title = "of all processors' time; a click finds it";
    button.onclick = () => search($("search").value = name);
  });
}

async function open() {
  $("title").textContent = meta.title;
  for (const [index, text] of [...document.querySelectorAll("script.run")].entries()) {
    runs.push(Object.assign(decode(meta.runs[index], await bytesOf(text.textContent.trim())), { index }));
    text.remove();
  }
  const { quantum, group } = runs[0];
  P = Math.max(1, ...runs.map((run) => run.P));
  end = Math.max(1, ...runs.flatMap((run) => [run.finish * run.quantum, ...run.marks.map(([, at]) => at)])) / quantum * 1.005;
  $("order").querySelector("[value=group]").disabled = group.every((one) => one === group[0]);
  Object.assign(view, { from: 0, until: end, top: 0, rows: P });
  for (const act of [readColours, sortRows, legend, listen, resize]) act();
  if (meta.window) moveTo(meta.window[0] / quantum, Math.min(end, meta.window[1] / quantum));
  document.documentElement.dataset.ready = Math.round(performance.now());
}

open().catch((error) => { $("title").textContent = "This page cannot be shown: " + error.message; throw error; });
