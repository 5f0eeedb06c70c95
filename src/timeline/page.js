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
const K = KINDS.length;
// From the bottom of a row that is high enough to show shares.
const STACK = [WORK, SEND, RECEIVE, POST, BARRIER, WAIT, PORT, GAP, STALL];
// So many activities are painted one by one in a frame, so many rows are looked at for that, and so many messages drawn.
const MOST_EXACT = 250000, MOST_ROWS = 20000, MOST_ARROWS = 2500;

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("meta").textContent);
const base = $("base").getContext("2d", { alpha: false }), over = $("over").getContext("2d"), map = $("map").getContext("2d");
const runs = [];
// What is shown: from when until when, from which row on, how many rows.
const view = { from: 0, until: 1, top: 0, rows: 1 };
// Where it is shown, in pixels of the style and of the screen.
const place = { width: 0, height: 0, left: 0, scale: 1, panels: [] };
const state = { order: "number", path: false, arrows: true, hits: null, chosen: null, hover: null, drawn: [] };
let P = 1, end = 1, order = null, rowOf = null, dirty = false, colours = null;

// ---- The runs are read: `form.rs` says how they are written.

async function bytesOf(text) {
  const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function decode(head, bytes) {
  let at = 0;
  const number = () => {
    let byte = bytes[at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let unit = 128; ; unit *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  };
  const unsigned = (code) => code % 2 ? -(code + 1) / 2 : code / 2;
  const signed = () => unsigned(number());
  const { tracks, events, messages } = head;
  const run = { ...head, id: new Int32Array(tracks), request: new Int32Array(tracks), first: new Int32Array(tracks + 1) };
  for (let track = 0, id = 0; track < tracks; track++) {
    run.id[track] = id += number();
    run.request[track] = number() - 1;
    run.first[track + 1] = run.first[track] + number();
  }
  run.kind = bytes.subarray(at, at += events);
  run.start = new Float64Array(events);
  run.end = new Float64Array(events);
  run.of = new Int32Array(events).fill(-1);
  run.track = new Int32Array(events);
  const gaps = new Float64Array(events);
  for (let i = 0; i < events; i++) gaps[i] = signed();
  for (let track = 0; track < tracks; track++) {
    for (let i = run.first[track], now = 0; i < run.first[track + 1]; i++) {
      // The lengths come after all starts, which follow from each other's ends: so they are put together below.
      run.track[i] = track;
    }
  }
  for (let i = 0; i < events; i++) {
    const before = i > run.first[run.track[i]] ? run.end[i - 1] : 0;
    run.start[i] = before + gaps[i];
    run.end[i] = run.start[i] + signed();
  }
  const last = [-1, -1, -1];
  run.sent = new Int32Array(messages).fill(-1);
  run.got = new Int32Array(messages).fill(-1);
  for (let i = 0, request = 0; i < events; i++) {
    const kind = run.kind[i];
    if (kind === WORK) run.of[i] = number();
    else if (kind === SEND || kind === RECEIVE) {
      const code = number();
      if (!code) continue;
      const message = last[kind] + 1 + unsigned(code - 1);
      run.of[i] = last[kind] = message;
      (kind === SEND ? run.sent : run.got)[message] = i;
    } else if (kind === POST || kind === WAIT) run.of[i] = request += signed();
  }
  const column = (Type, read) => {
    const all = new Type(messages);
    for (let i = 0; i < messages; i++) all[i] = read(i);
    return all;
  };
  const running = () => {
    let now = 0;
    return () => now += signed();
  };
  run.number = new Int32Array(messages);
  run.from = column(Int32Array, (i) => {
    const step = signed(), from = (i ? run.from_ : 0) + step;
    run.number[i] = signed() + (step ? 0 : i ? run.number[i - 1] + 1 : 0);
    return run.from_ = from;
  });
  run.to = column(Int32Array, running());
  run.words = column(Float64Array, running());
  run.bytes = column(Float64Array, () => number() - 1);
  run.tag = column(Int32Array, () => number() - 1);
  let enter = 0;
  run.enter = column(Float64Array, (i) => enter = (i && run.from[i] === run.from[i - 1] ? enter : 0) + signed());
  run.latency = column(Float64Array, () => head.L + signed());
  run.firstOut = column(Float64Array, (i) => run.enter[i] + run.latency[i] + signed());
  run.arrival = column(Float64Array, (i) => run.firstOut[i] + signed());
  const causes = (count, if_) => {
    const all = { what: new Uint8Array(count), where: new Int32Array(count) };
    for (let i = 0; i < count; i++) {
      if (if_ && run.kind[i] !== if_) continue;
      const code = number();
      all.what[i] = code % 8;
      all.where[i] = i + unsigned(Math.floor(code / 8));
    }
    return all;
  };
  run.ends = causes(events);
  run.receptions = causes(events, RECEIVE);
  run.entries = causes(messages);
  run.arrivals = causes(messages);
  run.own = new Int32Array(head.P).fill(-1);
  run.group = new Int32Array(head.P);
  run.beside = new Map();
  run.shares = new Float64Array(K);
  for (let track = 0; track < tracks; track++) {
    const id = run.id[track];
    if (run.request[track] >= 0) {
      if (!run.beside.has(id)) run.beside.set(id, []);
      run.beside.get(id).push(track);
      continue;
    }
    run.own[id] = track;
    run.group[id] = number();
    for (let i = run.first[track]; i < run.first[track + 1]; i++) run.shares[run.kind[i]] += run.end[i] - run.start[i];
  }
  for (const grid of run.grids) {
    grid.starts = grid.columns.map((columns) => {
      const start = at;
      at += columns * grid.kinds.length * grid.rows;
      return start;
    });
  }
  run.data = bytes;
  return run;
}

// The first event of a track that ends after a moment.
function firstAfter(run, track, moment) {
  let low = run.first[track], high = run.first[track + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.end[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The same where starts count.
function firstFrom(run, track, moment) {
  let low = run.first[track], high = run.first[track + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.start[middle] >= moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ---- Rows are ordered: as the first run says, so that runs beside each other can be compared.

function sortRows() {
  const run = runs[0];
  const finish = (id) => run.own[id] < 0 || run.own[id] === undefined ? 0 : run.end[run.first[run.own[id] + 1] - 1];
  order = Int32Array.from({ length: P }, (_, id) => id);
  if (state.order === "finish") order.sort((a, b) => finish(a) - finish(b) || a - b);
  if (state.order === "group") order.sort((a, b) => run.group[a] - run.group[b] || a - b);
  rowOf = new Int32Array(P);
  order.forEach((id, row) => rowOf[id] = row);
}

// ---- Pixels are painted.

// The colours of the style, as numbers.
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  const parts = (text) => [1, 3, 5].map((from) => parseInt(text.slice(from, from + 2), 16));
  const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const paper = parts(of("paper"));
  const rgb = KINDS.map(([, , ink]) => parts(of(ink)));
  const mixed = (rgb, share) => rgb.map((c, i) => Math.round(c * share + paper[i] * (1 - share)));
  colours = {
    rgb, paper, text: of("ink"), grey: of("grey"), pale: of("pale"), paperText: of("paper"), path: of("path"), bytes: of("bytes"),
    css: KINDS.map(([, , ink]) => of(ink)), pixels: rgb.map(pixel), paperPixel: pixel(paper),
    dim: rgb.map((c) => pixel(mixed(c, 0.22))), dimRgb: rgb.map((c) => mixed(c, 0.22)),
    edge: rgb.map((c) => pixel(c.map((x) => Math.round(x * 0.72)))), pixel,
  };
}

let sums = new Float32Array(0), edges = new Uint8Array(0), line = new Uint32Array(0);

// Adds to each column of pixels what a track did in it.
function addExact(run, track, from, scale, width, boxes) {
  const until = from + width / scale, last = run.first[track + 1];
  for (let i = firstAfter(run, track, from); i < last && run.start[i] < until; i++) {
    const kind = run.kind[i];
    if (kind === IDLE) continue;
    let x = (run.start[i] - from) * scale, right = (run.end[i] - from) * scale;
    if (boxes && right - x >= 3 && x > 0) edges[x | 0] = 1 + kind;
    if (x < 0) x = 0;
    if (right > width) right = width;
    const a = x | 0, b = right | 0;
    if (a === b) sums[a * K + kind] += right - x;
    else {
      sums[a * K + kind] += a + 1 - x;
      for (let c = a + 1; c < b; c++) sums[c * K + kind] = 1;
      if (b < width) sums[b * K + kind] += right - b;
    }
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
      const share = run.data[start + column] * weight / 255;
      if (!share) continue;
      let x = (column * step - from) * scale, right = x + step * scale;
      if (x < 0) x = 0;
      if (right > width) right = width;
      const a = x | 0, b = right | 0;
      if (a === b) sums[a * K + kind] += (right - x) * share;
      else {
        sums[a * K + kind] += (a + 1 - x) * share;
        for (let c = a + 1; c < b; c++) sums[c * K + kind] += share;
        if (b < width) sums[b * K + kind] += (right - b) * share;
      }
    }
  });
}

// Turns the sums into a line of pixels. What is most is seen most, so that many kinds do not become a grey; a stall counts
// double. Returns whether a column has several kinds.
function mix(width, dim) {
  const rgb = dim ? colours.dimRgb : colours.rgb, pixels = dim ? colours.dim : colours.pixels, paper = colours.paper;
  let several = false;
  for (let x = 0; x < width; x++) {
    const at = x * K;
    let busy = 0, most = 0, which = 0;
    for (let k = 0; k < K; k++) {
      const share = sums[at + k];
      busy += share;
      if (share > most) { most = share; which = k; }
    }
    if (busy < 0.004) { line[x] = colours.paperPixel; continue; }
    if (most > 0.97) { line[x] = pixels[which]; continue; }
    several = true;
    const idle = Math.max(0, 1 - busy);
    let all = idle * idle, r = paper[0] * all, g = paper[1] * all, b = paper[2] * all;
    for (let k = 0; k < K; k++) {
      let share = sums[at + k];
      if (!share) continue;
      share = k === STALL ? 2 * share * share : share * share;
      all += share;
      r += rgb[k][0] * share; g += rgb[k][1] * share; b += rgb[k][2] * share;
    }
    line[x] = (255 << 24 | (b / all) << 16 | (g / all) << 8 | (r / all)) >>> 0;
  }
  return several;
}

// Paints the hits of a search among a track's events.
function paintHits(run, track, from, scale, width) {
  const hits = state.hits && state.hits.of[run.index];
  if (!hits) return;
  const until = from + width / scale;
  const lower = (value) => {
    let low = 0, high = hits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (hits[middle] >= value) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  for (let i = lower(firstAfter(run, track, from)); i < hits.length; i++) {
    const event = hits[i];
    if (event >= run.first[track + 1] || run.start[event] >= until) break;
    const x = Math.max(0, (run.start[event] - from) * scale | 0);
    const right = Math.min(width, Math.max(x + 1, Math.round((run.end[event] - from) * scale)));
    line.fill(colours.pixels[run.kind[event]] === colours.paperPixel ? colours.pixel(colours.dimRgb[WAIT]) : colours.pixels[run.kind[event]], x, right);
  }
}

// How the rows are found for a frame: one by one, or from a grid.
function plan(run, top, rows, from, until, perPixel) {
  const grids = run.grids;
  if (!grids.length) return null;
  const byNumber = state.order === "number";
  let best = null;
  for (const grid of grids) if (grid.group === 1 || byNumber && grid.group <= perPixel) best = grid;
  if (perPixel > 1 && best && best.group > 1) return best;
  let events = 0;
  const last = Math.min(run.P, Math.ceil(top + rows));
  if (last - top > MOST_ROWS) return best;
  for (let row = Math.floor(top); row < last && events <= MOST_EXACT; row++) {
    const track = run.own[order[row]];
    if (track >= 0) events += firstFrom(run, track, until) - firstAfter(run, track, from);
  }
  return events > MOST_EXACT ? best : null;
}

// Paints rows of a run into pixels.
function paint(run, pixels, width, height, top, rows, from, until) {
  if (sums.length < width * K) {
    sums = new Float32Array(width * K);
    edges = new Uint8Array(width);
    line = new Uint32Array(width);
  }
  const out = line.length === width ? line : (line = new Uint32Array(width));
  const scale = width / (until - from), high = height / rows;
  const grid = plan(run, top, rows, from, until, 1 / high), dim = !!state.hits;
  const add = (row) => {
    const track = run.own[order[row]];
    if (track === undefined || track < 0) return;
    if (grid && grid.group === 1) addGrid(run, grid, order[row], from, scale, width, 1);
    else addExact(run, track, from, scale, width, high >= 10);
  };
  const clear = () => { sums.fill(0, 0, width * K); edges.fill(0); };
  if (high < 1) {
    // Several rows are one line of pixels: their mean, or that of a few of them.
    for (let y = 0; y < height; y++) {
      const a = Math.floor(top + y / high), b = Math.min(run.P, Math.max(a + 1, Math.floor(top + (y + 1) / high)));
      clear();
      if (a >= run.P) break;
      let count = 0;
      if (grid && grid.group > 1) {
        const first = Math.floor(a / grid.group), last = Math.min(grid.rows, Math.max(first + 1, Math.round(b / grid.group)));
        for (let row = first; row < last; row++) addGrid(run, grid, row, from, scale, width, 1 / (last - first));
        count = 1;
      } else {
        const step = Math.max(1, Math.ceil((b - a) / 4));
        for (let row = a; row < b; row += step, count++) add(row);
      }
      if (count > 1) for (let i = 0; i < width * K; i++) sums[i] /= count;
      mix(width, dim);
      if (dim) for (let row = a; row < b && row < a + 64; row++) if (run.own[order[row]] >= 0) paintHits(run, run.own[order[row]], from, scale, width);
      pixels.set(out, y * width);
    }
    return grid;
  }
  const last = Math.min(run.P, Math.ceil(top + rows));
  const pad = high >= 14 ? Math.min(high * 0.2, 10 * place.scale) : high >= 5 ? 1 : 0;
  for (let row = Math.floor(top); row < last; row++) {
    const edgeTop = (row - top) * high;
    const y0 = Math.max(0, Math.round(edgeTop + pad)), y1 = Math.min(height, Math.round(edgeTop + high - pad));
    clear();
    add(row);
    const several = mix(width, dim), id = order[row];
    if (high >= 10) for (let x = 0; x < width; x++) if (edges[x] && !dim) out[x] = colours.edge[edges[x] - 1];
    if (dim && run.own[id] >= 0) paintHits(run, run.own[id], from, scale, width);
    for (let y = y0; y < y1; y++) pixels.set(out, y * width);
    if (several && high >= 9 && !dim) stack(pixels, width, y0, y1);
    const tracks = high >= 14 && !grid && run.beside.get(id);
    if (tracks && tracks.length < 3000) {
      // What requests do beside their processor stands in the middle of its row.
      clear();
      for (const track of tracks) addExact(run, track, from, scale, width, false);
      mix(width, dim);
      const half = (y1 - y0) >> 2;
      for (let y = y0 + half; y < y1 - half; y++)
        for (let x = 0, at = y * width; x < width; x++) if (out[x] !== colours.paperPixel) pixels[at + x] = out[x];
    }
  }
  return grid;
}

// Columns with several kinds show their shares from the bottom of the row on.
function stack(pixels, width, y0, y1) {
  const high = y1 - y0;
  for (let x = 0; x < width; x++) {
    const at = x * K;
    let busy = 0, most = 0;
    for (let k = 0; k < K; k++) { busy += sums[at + k]; if (sums[at + k] > most) most = sums[at + k]; }
    if (busy < 0.004 || most > 0.97) continue;
    let y = y1, up = 0;
    for (const kind of STACK) {
      const share = sums[at + kind];
      if (!share) continue;
      up += share / Math.max(1, busy);
      const until = Math.max(y0, Math.round(y1 - up * high));
      for (; y > until; y--) pixels[(y - 1) * width + x] = colours.pixels[kind];
    }
    for (; y > y0; y--) pixels[(y - 1) * width + x] = colours.paperPixel;
  }
}

// ---- A frame is put together.

const CAPTION = 19, AXIS = 24, HIGHEST = 46;

function resize() {
  const holder = $("plot"), narrow = innerWidth < 600;
  const free = innerHeight - holder.getBoundingClientRect().top - scrollY - $("map").offsetHeight - ($("why").hidden ? 0 : $("why").offsetHeight + 6) - 18;
  const wanted = runs.length * (CAPTION + P * HIGHEST) + AXIS;
  holder.style.height = Math.max(200, Math.min(wanted, free)) + "px";
  const box = holder.getBoundingClientRect();
  place.scale = Math.min(3, devicePixelRatio || 1);
  place.width = box.width;
  place.height = box.height;
  place.left = Math.min(narrow ? 46 : 64, 16 + 8 * ("P" + (P - 1)).length);
  for (const [context, width, height] of [[base, box.width, box.height], [over, box.width, box.height], [map, $("map").clientWidth, $("map").clientHeight]]) {
    context.canvas.width = Math.round(width * place.scale);
    context.canvas.height = Math.round(height * place.scale);
  }
  const each = (box.height - AXIS) / runs.length;
  place.panels = runs.map((_, i) => ({ top: i * each + CAPTION, height: each - CAPTION }));
  drawMap();
  draw();
}

const xOf = (moment) => place.left + (moment - view.from) / (view.until - view.from) * (place.width - place.left);
const momentAt = (x) => view.from + (x - place.left) / (place.width - place.left) * (view.until - view.from);
const yOf = (run, id) => place.panels[run.index].top + (rowOf[id] + 0.5 - view.top) * place.panels[run.index].height / view.rows;

function draw() {
  if (!dirty) requestAnimationFrame(frame);
  dirty = true;
}

function frame() {
  dirty = false;
  const began = performance.now(), { scale, width, height, left } = place;
  const columns = Math.max(1, Math.round((width - left) * scale));
  base.setTransform(1, 0, 0, 1, 0, 0);
  base.fillStyle = colours.paperText;
  base.fillRect(0, 0, base.canvas.width, base.canvas.height);
  state.drawn = [];
  let exact = true;
  for (const run of runs) {
    const panel = place.panels[run.index], lines = Math.max(1, Math.round(panel.height * scale));
    if (!panel.image || panel.image.width !== columns || panel.image.height !== lines) panel.image = base.createImageData(columns, lines);
    const pixels = new Uint32Array(panel.image.data.buffer);
    pixels.fill(colours.paperPixel);
    if (paint(run, pixels, columns, lines, view.top, view.rows, view.from, view.until)) exact = false;
    base.putImageData(panel.image, Math.round(left * scale), Math.round(panel.top * scale));
  }
  base.setTransform(scale, 0, 0, scale, 0, 0);
  drawAxis();
  for (const run of runs) {
    drawRows(run);
    if (exact) drawDetails(run);
  }
  drawOver();
  state.last = performance.now() - began;
}

// Round steps of time, about so many.
function steps(from, until, about) {
  const raw = (until - from) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= raw);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(until / step) - first + 1 }, (_, i) => (first + i) * step);
}

// Moments in the unit of the page, which all runs share.
const inUnits = (run, quanta) => quanta * run.quantum / meta.unit[1];

function drawAxis() {
  const { width, height, left } = place, per = unitScale();
  base.font = "12px system-ui, sans-serif";
  base.textBaseline = "middle";
  base.textAlign = "center";
  base.lineWidth = 1;
  const ticks = steps(view.from * per, view.until * per, (width - left) / 110);
  const digits = ticks.length > 1 ? Math.max(0, -Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9)) : 0;
  for (const tick of ticks) {
    const x = xOf(tick / per);
    base.strokeStyle = colours.pale;
    base.globalAlpha = 0.7;
    base.beginPath();
    base.moveTo(x, CAPTION);
    base.lineTo(x, height - AXIS + 3);
    base.stroke();
    base.globalAlpha = 1;
    base.fillStyle = colours.grey;
    if (x > left + 14 && x < width - 26) base.fillText(tick.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }), x, height - AXIS / 2 + 2);
  }
  base.textAlign = "left";
  base.fillText(meta.unit[0], 2, height - AXIS / 2 + 2);
}

function drawRows(run) {
  const panel = place.panels[run.index], high = panel.height / view.rows, { left, width } = place;
  base.fillStyle = colours.paperText;
  base.fillRect(0, panel.top - CAPTION, width, CAPTION);
  base.fillStyle = colours.text;
  base.textAlign = "left";
  base.font = "600 12px system-ui, sans-serif";
  const first = runs[0].finish * runs[0].quantum, own = run.finish * run.quantum;
  const change = run.index && first ? `, ${own >= first ? "+" : "\u2212"}${(Math.abs(own / first - 1) * 100).toFixed(2)}%` : "";
  const caption = `${run.name ? run.name + ": " : ""}${told(run, run.finish)}${change}`;
  base.fillText(caption, 2, panel.top - CAPTION / 2);
  const after = base.measureText(caption).width + 12;
  base.font = "12px system-ui, sans-serif";
  base.fillStyle = colours.grey;
  base.save();
  base.beginPath();
  base.rect(0, panel.top - CAPTION, width, CAPTION);
  base.clip();
  base.fillText(run.about, after, panel.top - CAPTION / 2);
  base.restore();
  base.textAlign = "right";
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(13 / high)));
  const last = Math.min(run.P, Math.ceil(view.top + view.rows));
  for (let row = Math.floor(view.top / step) * step; row < last; row += step) {
    const y = panel.top + (row + 0.5 - view.top) * high;
    if (y < panel.top + 5 || y > panel.top + panel.height - 4) continue;
    base.fillStyle = colours.grey;
    base.fillText("P" + order[row], left - 6, y);
  }
  base.strokeStyle = colours.grey;
  if (state.order === "group" && high > 2) {
    for (let row = Math.max(1, Math.ceil(view.top)); row < last; row++) {
      if (run.group[order[row]] === run.group[order[row - 1]]) continue;
      const y = panel.top + (row - view.top) * high;
      base.beginPath(); base.moveTo(left, y); base.lineTo(width, y); base.stroke();
    }
  }
  // The end of the run, and what is marked in it.
  for (const [name, at] of [["", run.finish * run.quantum], ...run.marks]) {
    const x = xOf(at / runs[0].quantum);
    if (x < left || x > width) continue;
    base.strokeStyle = name ? colours.path : colours.grey;
    base.setLineDash([5, 3]);
    base.beginPath(); base.moveTo(x, panel.top); base.lineTo(x, panel.top + panel.height); base.stroke();
    base.setLineDash([]);
    if (name) {
      base.textAlign = "right";
      base.fillStyle = colours.path;
      base.fillText(name, x - 4, panel.top + panel.height - 8);
    }
  }
}

// What can be seen only where events are few: their names, and the messages.
function drawDetails(run) {
  const panel = place.panels[run.index], high = panel.height / view.rows, { left, width } = place;
  const q = ratio(run), perMoment = (width - left) / (view.until - view.from), messages = new Set();
  const last = Math.min(run.P, Math.ceil(view.top + view.rows));
  let seen = 0;
  if (last - view.top > 2000) return;
  base.save();
  base.beginPath();
  base.rect(left, panel.top, width - left, panel.height);
  base.clip();
  base.font = "11px system-ui, sans-serif";
  base.textAlign = "center";
  for (let row = Math.floor(view.top); row < last && seen < 12000; row++) {
    const id = order[row], own = run.own[id];
    if (own === undefined || own < 0) continue;
    for (const track of [own, ...(run.beside.get(id) || []).slice(0, 500)]) {
      const until = Math.min(run.first[track + 1], firstFrom(run, track, view.until / q) + 1);
      for (let i = Math.max(run.first[track], firstAfter(run, track, view.from / q) - 1); i < until && seen < 12000; i++, seen++) {
        const kind = run.kind[i];
        if (kind === SEND || kind === RECEIVE) messages.add(run.of[i]);
        const x = Math.max(left, xOf(run.start[i] * q)), right = Math.min(width, xOf(run.end[i] * q));
        if (high < 17 || right - x < 22 || kind === IDLE || track !== own) continue;
        const text = short(run, i);
        if (base.measureText(text).width > right - x - 4) continue;
        const [r, g, b] = colours.rgb[kind];
        base.fillStyle = r * 0.3 + g * 0.59 + b * 0.11 > 140 ? "#111" : "#fff";
        base.fillText(text, (x + right) / 2, panel.top + (row + 0.5 - view.top) * high + 0.5);
      }
    }
  }
  messages.delete(-1);
  if (state.arrows && messages.size <= MOST_ARROWS && seen < 12000) {
    const faint = messages.size > 400 ? 0.3 : messages.size > 80 ? 0.5 : 0.8;
    for (const message of messages) {
      if (run.arrival[message] <= run.firstOut[message]) continue;
      const stream = run.arrival[message] - run.firstOut[message];
      // The bytes of a long message in the ports of both ends.
      base.fillStyle = colours.bytes;
      base.globalAlpha = 0.85;
      for (const [id, at] of [[run.from[message], run.enter[message]], [run.to[message], run.firstOut[message]]]) {
        const y = yOf(run, id) + high * 0.32;
        base.fillRect(xOf(at * q), y, Math.max(1, stream * q * perMoment), Math.max(2, Math.min(6, high * 0.12)));
      }
    }
    base.globalAlpha = faint;
    base.strokeStyle = base.fillStyle = colours.grey;
    for (const message of messages) arrow(base, run, message, messages.size <= 400);
  }
  base.restore();
}

// Draws the way of a message, of its first word and, if that is another, its last.
function arrow(context, run, message, head) {
  const q = ratio(run), from = yOf(run, run.from[message]), to = yOf(run, run.to[message]);
  const half = Math.min(12, place.panels[run.index].height / view.rows * 0.3) * Math.sign(to - from);
  const stream = Math.max(0, run.arrival[message] - run.firstOut[message]);
  const ways = [[run.enter[message] + stream, run.arrival[message]]];
  if (stream) ways.push([run.enter[message], run.firstOut[message]]);
  for (const [enter, out] of ways) {
    const a = { x: xOf(enter * q), y: from + half }, b = { x: xOf(out * q), y: to - half };
    context.beginPath();
    context.moveTo(a.x, a.y);
    context.lineTo(b.x, b.y);
    context.stroke();
    if (context === base) state.drawn.push({ run, message, a, b });
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (!head || length < 8) continue;
    const dx = (b.x - a.x) / length * 6, dy = (b.y - a.y) / length * 6;
    context.beginPath();
    context.moveTo(b.x, b.y);
    context.lineTo(b.x - dx + 0.4 * dy, b.y - dy - 0.4 * dx);
    context.lineTo(b.x - dx - 0.4 * dy, b.y - dy + 0.4 * dx);
    context.fill();
  }
}

// What is chosen and pointed at, above the rest.
function drawOver() {
  const { scale, width, height, left } = place;
  over.setTransform(scale, 0, 0, scale, 0, 0);
  over.clearRect(0, 0, width, height);
  for (const run of runs) {
    const panel = place.panels[run.index];
    over.save();
    over.beginPath();
    over.rect(left, panel.top, width - left, panel.height);
    over.clip();
    if (state.path) drawChain(run, run.path ??= chain(run, run.last === null ? null : [END, run.last]), 2.5);
    if (state.chosen && state.chosen.run === run) drawChain(run, state.chosen.chain, 4);
    for (const thing of [state.chosen, state.hover]) if (thing && thing.run === run) outline(run, thing);
    over.restore();
  }
}

function outline(run, thing) {
  over.strokeStyle = over.fillStyle = colours.text;
  over.lineWidth = 2;
  let message = thing.message;
  if (thing.event !== undefined) {
    const { event } = thing, q = ratio(run), high = place.panels[run.index].height / view.rows;
    const x = xOf(run.start[event] * q), right = xOf(run.end[event] * q), y = yOf(run, run.id[run.track[event]]);
    const half = Math.max(2, high / 2 - Math.min(high * 0.2, 10) + 1);
    over.strokeRect(Math.max(-5, x) - 1, y - half, Math.min(place.width + 9, Math.max(2, right - Math.max(-5, x) + 2)), 2 * half);
    message = run.kind[event] === SEND || run.kind[event] === RECEIVE ? run.of[event] : awaited(run, event);
  }
  over.lineWidth = 1.5;
  if (message >= 0 && message !== undefined) arrow(over, run, message, true);
}

function drawChain(run, nodes, thick) {
  const q = ratio(run);
  // Nodes go back in time: those in the window follow one another.
  let low = 0, high = nodes.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (position(run, nodes[2 * middle], nodes[2 * middle + 1])[1] * q <= view.until) high = middle;
    else low = middle + 1;
  }
  over.strokeStyle = colours.path;
  over.lineWidth = thick;
  over.lineJoin = "round";
  over.beginPath();
  let lastX = null, lastY = null;
  for (let i = Math.max(0, low - 1); 2 * i < nodes.length; i++) {
    const [id, at] = position(run, nodes[2 * i], nodes[2 * i + 1]), x = xOf(at * q), y = yOf(run, id);
    if (lastX === null) over.moveTo(x, y);
    else if (Math.abs(x - lastX) + Math.abs(y - lastY) < 0.6) continue;
    else over.lineTo(x, y);
    [lastX, lastY] = [x, y];
    if (x < place.left) break;
  }
  over.stroke();
}

// All of all runs, above each other.
function drawMap() {
  const { canvas } = map, each = Math.floor(canvas.height / runs.length);
  if (!canvas.width || !each) return;
  const hits = state.hits;
  for (const run of runs) {
    const image = map.createImageData(canvas.width, each), pixels = new Uint32Array(image.data.buffer);
    pixels.fill(colours.paperPixel);
    paint(run, pixels, canvas.width, each - (runs.length > 1 ? 2 : 0), 0, P, 0, end);
    map.putImageData(image, 0, run.index * each);
  }
  place.map = map.getImageData(0, 0, canvas.width, canvas.height);
  drawWindow();
}

function drawWindow() {
  if (!place.map) return;
  const { width, height } = map.canvas, x = view.from / end * width, right = view.until / end * width;
  const y = view.top / P * height, low = (view.top + view.rows) / P * height, one = runs.length === 1;
  map.putImageData(place.map, 0, 0);
  map.fillStyle = colours.text;
  map.globalAlpha = 0.18;
  map.fillRect(0, 0, x, height);
  map.fillRect(right, 0, width - right, height);
  map.globalAlpha = 1;
  map.strokeStyle = colours.path;
  map.lineWidth = 2 * place.scale;
  map.strokeRect(x, one ? y : 0, Math.max(3, right - x), one ? low - y : height);
}

// ---- Causes are followed. A node is the end of an event, the start of a reception, the entry of a message, or its arrival.

const END = 0, START = 1, ENTRY = 2, ARRIVAL = 3;

function position(run, what, i) {
  if (what === END) return [run.id[run.track[i]], run.end[i]];
  if (what === START) return [run.id[run.track[i]], run.start[i]];
  if (what === ENTRY) return [run.from[i], run.enter[i]];
  return [run.to[i], run.arrival[i]];
}

// What a node waited for; and whether for room or a port.
function cause(run, what, i) {
  const causes = [run.ends, run.receptions, run.entries, run.arrivals][what], where = causes.where[i];
  switch (causes.what[i]) {
    case 0: return null;
    case 1: return [END, (what === ENTRY ? run.sent[i] : i) - 1];
    case 2: return [END, where];
    case 3: return [START, where];
    case 4: return [ENTRY, where];
    case 5: return [ARRIVAL, where];
    case 6: return [ARRIVAL, where, "room"];
    default: return [ARRIVAL, where, "the port"];
  }
}

// All causes from a node back to the start, two numbers each.
function chain(run, node) {
  const nodes = [];
  for (let left = 2 * (run.events + run.messages); node && left > 0; left--) {
    nodes.push(node[0], node[1]);
    node = cause(run, node[0], node[1]);
  }
  if (nodes.length) {
    // Before the first event, if it did not begin at once, its processor had nothing to do.
    const what = nodes[nodes.length - 2], i = nodes[nodes.length - 1];
    const event = what === ENTRY ? run.sent[i] : what === ARRIVAL ? -1 : i;
    if (event >= 0 && what !== START) nodes.push(START, event);
  }
  return nodes;
}

// The message for which a processor waited: the one that it takes when the wait ends.
function awaited(run, event) {
  if (run.kind[event] !== IDLE && run.kind[event] !== GAP) return -1;
  let next = event + 1;
  const last = run.first[run.track[event] + 1];
  while (next < last && run.kind[next] === GAP) next++;
  if (next >= last || run.kind[next] !== RECEIVE) return -1;
  const message = run.of[next];
  return run.kind[event] === IDLE && run.arrival[message] !== run.end[event] ? -1 : message;
}

// ---- Things are told in words.

// How many quanta of the first run, in which the view is counted, one of this run has; and how many units those are.
const ratio = (run) => run.quantum / runs[0].quantum;
const unitScale = () => runs[0].quantum / meta.unit[1];

function told(run, quanta) {
  return inUnits(run, quanta).toLocaleString("en", { maximumFractionDigits: 6 }) + " " + meta.unit[0];
}

const span = (run, i) => `${told(run, run.start[i])} to ${told(run, run.end[i])}, for ${told(run, run.end[i] - run.start[i])}`;
const many = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
const ways = (run, m) => `P${run.from[m]} to P${run.to[m]}`;

// What stands on an event where it is wide enough.
function short(run, i) {
  const kind = run.kind[i];
  if (kind === WORK) return run.names[run.of[i]] || "work";
  if (kind === SEND) return run.of[i] < 0 ? "send" : "\u2192 P" + run.to[run.of[i]];
  if (kind === RECEIVE) return run.of[i] < 0 ? "receive" : "\u2190 P" + run.from[run.of[i]];
  return { [POST]: "request", [WAIT]: "wait" }[kind] || KINDS[kind][0];
}

function tellEvent(run, i) {
  const kind = run.kind[i], track = run.track[i], request = run.request[track];
  const name = kind === WORK && run.names[run.of[i]] ? ` (${run.names[run.of[i]]})` : kind === POST || kind === WAIT ? ` (request ${run.of[i]})` : "";
  const lines = [`P${run.id[track]}${request >= 0 ? `, request ${request}` : ""}: ${KINDS[kind][0]}${name}`, span(run, i)];
  if (kind === SEND || kind === RECEIVE) lines.push(run.of[i] < 0 ? "of a message that never entered" : tellMessage(run, run.of[i]));
  else if (kind === STALL || kind === PORT) {
    let send = i;
    while (send > run.first[track] && run.kind[send] !== SEND) send--;
    if (run.of[send] >= 0 && run.kind[send] === SEND) lines.push(tellMessage(run, run.of[send]));
  } else {
    const message = awaited(run, i);
    if (message >= 0) lines.push(`${kind === IDLE ? "waits for" : "then takes"} the message ${tellMessage(run, message)}`);
  }
  return lines.join("\n");
}

function tellMessage(run, m) {
  const send = run.sent[m], got = run.got[m], [lines, length] = [[], (i) => told(run, run.end[i] - run.start[i])];
  const size = run.bytes[m] >= 0 ? ` (${many(run.bytes[m], "byte")})` : "";
  lines.push(`${ways(run, m)}, ${many(run.words[m], "word")}${size}${run.tag[m] >= 0 ? ", " + run.tags[run.tag[m]] : ""}`);
  if (send >= 0) {
    const track = run.track[send];
    let gap = send - 1, text = `o ${length(send)} at P${run.from[m]}`;
    if (gap >= run.first[track] && run.kind[gap] === GAP) text = `g ${length(gap)}, then ` + text;
    lines.push(text);
    for (let i = send + 1; i < run.first[track + 1] && (run.kind[i] === STALL || run.kind[i] === PORT); i++)
      lines.push(`${KINDS[run.kind[i]][0]} ${length(i)}`);
    const why = cause(run, ENTRY, m);
    if (why && why[2]) lines.push(`waited for ${why[2]}, which the message ${ways(run, why[1])} left`);
    else if (why && why[0] === ENTRY) lines.push(`waited for the gap after the message ${ways(run, why[1])}`);
  }
  const parts = [`enters at ${told(run, run.enter[m])}`, `L ${told(run, run.latency[m])}`];
  const held = run.firstOut[m] - run.enter[m] - run.latency[m], stream = run.arrival[m] - run.firstOut[m];
  if (held > 0) parts.push(`held ${told(run, held)} at the receiver's port`);
  if (stream) parts.push(`G ${told(run, stream)}`);
  lines.push(parts.join(", ") + `, arrives at ${told(run, run.arrival[m])}`);
  if (got >= 0) {
    const wait = run.start[got] - run.arrival[m];
    lines.push(`${wait > 0 ? `lies there for ${told(run, wait)}, then ` : ""}o ${length(got)} at P${run.to[m]}`);
  } else lines.push("is not received by an overhead of its own");
  return lines.join("\n");
}

// A step from a node to its cause; nothing, if it takes no time and says nothing.
function tellStep(run, a, b) {
  const [id, at] = position(run, a[0], a[1]), before = b ? position(run, b[0], b[1])[1] : 0, time = told(run, at - before);
  if (a[0] === END) {
    const kind = run.kind[a[1]];
    if (kind === RECEIVE) return `P${id} receives from P${run.from[run.of[a[1]]] ?? "?"}: o ${time}`;
    if (b && b[0] === ENTRY || at === before) return null;
    return `P${id}: ${KINDS[kind][0]}${kind === WORK && run.names[run.of[a[1]]] ? ` (${run.names[run.of[a[1]]]})` : ""}, ${time}`;
  }
  if (a[0] === ARRIVAL) return b && b[0] === ENTRY && b[1] === a[1] ? `under way ${ways(run, a[1])}: ${time}` : `comes behind another message to P${id}: ${time}`;
  if (a[0] === START) return b && b[0] === START ? `P${id} waits for its gap: g ${time}` : null;
  if (b && b[2]) return `P${id} waits for ${b[2]} to P${run.to[a[1]]}, which the message ${ways(run, b[1])} leaves`;
  if (b && b[0] === ENTRY) return `P${id} sends to P${run.to[a[1]]} after the gap: g ${time}`;
  return `P${id} sends to P${run.to[a[1]]}: o ${time}`;
}

// The parts of a chain, in the order of their lengths.
function summary(run, nodes) {
  const parts = new Map();
  for (let i = 0; i + 3 < nodes.length; i += 2) {
    const [what, at, next, where] = [nodes[i], nodes[i + 1], nodes[i + 2], nodes[i + 3]];
    const time = position(run, what, at)[1] - position(run, next, where)[1];
    const part = what === END ? KINDS[run.kind[at]][0] : what === ARRIVAL ? "L and G" : what === ENTRY && next === END ? "send overhead" : "gap";
    if (time > 0) parts.set(part, (parts.get(part) || 0) + time);
  }
  const all = [...parts.values()].reduce((a, b) => a + b, 0) || 1;
  return [...parts].sort((a, b) => b[1] - a[1]).map(([part, time]) => `${part} ${Math.round(time / all * 100)}%`).join(", ");
}

// ---- The user is listened to.

function moveTo(from, until, top = view.top, rows = view.rows) {
  const least = Math.max(4, end * 1e-9), span = Math.min(end, Math.max(least, until - from));
  view.from = Math.max(0, Math.min(end - span, from + (until - from - span) / 2));
  view.until = view.from + span;
  view.rows = Math.max(Math.min(P, 1), Math.min(P, rows));
  view.top = Math.max(0, Math.min(P - view.rows, top));
  drawWindow();
  draw();
}

function zoom(by, x = (place.left + place.width) / 2) {
  const at = momentAt(Math.max(place.left, x));
  moveTo(at - (at - view.from) * by, at + (view.until - at) * by);
}

function zoomRows(by, panel = place.panels[0], y = panel.top + panel.height / 2) {
  const at = view.top + (y - panel.top) / panel.height * view.rows, rows = Math.max(Math.min(P, 1), Math.min(P, view.rows * by));
  moveTo(view.from, view.until, at - (at - view.top) * rows / view.rows, rows);
}

const shift = (part) => moveTo(view.from + part * (view.until - view.from), view.until + part * (view.until - view.from));
const showAll = () => moveTo(0, end, 0, P);

// Moves a node into the window.
function show(run, id, at, length = 0) {
  const q = ratio(run), span = Math.min(view.until - view.from, Math.max(length * q * 12, end / 4000, 4));
  const wide = at * q > view.from && at * q < view.until && length * q / (view.until - view.from) > 0.002;
  const row = rowOf[id], top = row < view.top || row >= view.top + view.rows ? row - view.rows / 2 : view.top;
  if (wide) moveTo(view.from, view.until, top);
  else moveTo(at * q - span / 2, at * q + span / 2, top);
}

// What is at a place: a message if one passes there, or else what its processor does.
function pick(x, y) {
  let near = null, least = 5;
  for (const one of state.drawn) {
    const { a, b } = one, length = (b.x - a.x) ** 2 + (b.y - a.y) ** 2 || 1;
    const part = Math.max(0, Math.min(1, ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / length));
    const far = Math.hypot(x - a.x - part * (b.x - a.x), y - a.y - part * (b.y - a.y));
    if (far < least && part > 0.04 && part < 0.96) [least, near] = [far, { run: one.run, message: one.message }];
  }
  if (near) return near;
  const index = place.panels.findIndex((panel) => y >= panel.top && y < panel.top + panel.height);
  if (index < 0 || x < place.left) return null;
  const run = runs[index], panel = place.panels[index];
  const id = order[Math.floor(view.top + (y - panel.top) / panel.height * view.rows)], track = run.own[id];
  if (track === undefined || track < 0) return null;
  const q = ratio(run), at = momentAt(x) / q, high = panel.height / view.rows, middle = Math.abs(y - yOf(run, id)) < high * 0.17;
  for (const own of [...(middle && high >= 14 ? run.beside.get(id) || [] : []), track]) {
    const i = firstAfter(run, own, at);
    if (i < run.first[own + 1] && run.start[i] <= at) return { run, event: i };
  }
  return null;
}

function choose(thing) {
  const box = $("why"), was = box.hidden;
  box.hidden = !thing;
  if (thing) {
    const { run, event, message } = thing;
    thing.chain = chain(run, event !== undefined ? [END, event] : [ARRIVAL, message]);
    box.replaceChildren();
    const words = box.appendChild(document.createElement("p"));
    words.textContent = `${event !== undefined ? tellEvent(run, event) : "message " + tellMessage(run, message)}\nback to the start: ${summary(run, thing.chain)}`;
    const list = box.appendChild(document.createElement("ol")), nodes = thing.chain;
    for (let i = 0; i < nodes.length && list.children.length < 100; i += 2) {
      const a = [nodes[i], nodes[i + 1]], text = tellStep(run, a, cause(run, a[0], a[1]));
      if (!text) continue;
      const item = list.appendChild(document.createElement("li")), [id, at] = position(run, a[0], a[1]);
      item.textContent = `${told(run, at)}  ${text}`;
      item.tabIndex = 0;
      item.onclick = () => show(run, id, at);
      item.onkeydown = (pressed) => { if (pressed.key === "Enter") show(run, id, at); };
    }
  }
  state.chosen = thing;
  if (was !== box.hidden) resize();
  else drawOver();
}

function hover(x, y, left, top) {
  const thing = x === undefined ? null : pick(x, y), tip = $("tip");
  state.hover = thing;
  tip.hidden = !thing;
  if (thing) {
    tip.textContent = thing.event !== undefined ? tellEvent(thing.run, thing.event) : "message " + tellMessage(thing.run, thing.message);
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 4, left + 14)) + "px";
    tip.style.top = (top + box.height + 20 < innerHeight ? top + 16 : Math.max(4, top - box.height - 12)) + "px";
  }
  drawOver();
}

// All events that a text finds: by the name of their kind, of their work, or of their message's tag.
function search(text) {
  const wanted = text.trim().toLowerCase(), found = $("found");
  state.hits = null;
  found.textContent = "";
  const processor = /^p(\d+)$/.exec(wanted);
  if (processor) {
    const id = +processor[1];
    found.textContent = id < P ? "" : `there are ${P}`;
    if (id < P) moveTo(view.from, view.until, rowOf[id] - Math.min(8, view.rows) / 2 + 0.5, Math.min(8, view.rows));
  } else if (wanted) {
    const has = (name) => name.toLowerCase().includes(wanted);
    const kinds = KINDS.map(([name, other]) => has(name) || other === wanted || wanted.length > 2 && has(other));
    state.hits = { of: [], all: [], at: -1 };
    let count = 0, time = 0;
    for (const run of runs) {
      const names = run.names.map(has), tags = run.tags.map(has), hits = [];
      for (let i = 0; i < run.events; i++) {
        const kind = run.kind[i], of = run.of[i];
        const is = kinds[kind] || kind === WORK && names[of] || (kind === SEND || kind === RECEIVE) && of >= 0 && run.tag[of] >= 0 && tags[run.tag[of]];
        if (is && run.end[i] > run.start[i]) { hits.push(i); time += inUnits(run, run.end[i] - run.start[i]); }
      }
      state.hits.of.push(hits);
      count += hits.length;
      state.hits.all.push(...hits.slice(0, 100000).map((event) => ({ run, event })));
    }
    state.hits.all.sort((a, b) => a.run.start[a.event] * a.run.quantum - b.run.start[b.event] * b.run.quantum);
    found.textContent = count ? `${count.toLocaleString("en")}: ${time.toLocaleString("en", { maximumFractionDigits: 3 })} ${meta.unit[0]}` : "nothing";
    if (!count) state.hits = null;
  }
  drawMap();
  draw();
}

function step(by) {
  const hits = state.hits;
  if (!hits) return;
  hits.at = (hits.at + by + hits.all.length + (hits.at < 0 && by < 0 ? 1 : 0)) % hits.all.length;
  const { run, event } = hits.all[hits.at];
  choose({ run, event });
  show(run, run.id[run.track[event]], (run.start[event] + run.end[event]) / 2, run.end[event] - run.start[event]);
}

function toggle(name) {
  state[name] = !state[name];
  $(name).setAttribute("aria-pressed", state[name]);
  if (name === "path") {
    const parts = state.path ? runs.map((run) => (run.name ? run.name + ": " : "") + summary(run, run.path ??= chain(run, run.last === null ? null : [END, run.last]))) : [];
    $("path").title = "p\n" + parts.join("\n");
    $("found").textContent = parts.join("; ");
  }
  draw();
}

function listen() {
  const plot = $("plot"), pointers = new Map();
  let moved = 0;
  const inside = (event) => {
    const box = plot.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  plot.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = inside(event), delta = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 20 : 1), by = Math.exp(Math.max(-200, Math.min(200, delta)) * 0.002);
    const panel = place.panels.find((panel) => y < panel.top + panel.height) || place.panels[0];
    if (event.shiftKey) zoomRows(by, panel, y);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) shift(event.deltaX / place.width);
    else zoom(by, x);
    hover();
  }, { passive: false });
  plot.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, inside(event));
    plot.setPointerCapture(event.pointerId);
    moved = pointers.size > 1 ? 99 : 0;
  });
  plot.addEventListener("pointermove", (event) => {
    const [x, y] = inside(event), before = pointers.get(event.pointerId);
    if (!before) return event.pointerType === "mouse" ? hover(x, y, event.clientX, event.clientY) : undefined;
    const perX = (view.until - view.from) / (place.width - place.left), panel = place.panels[0], perY = view.rows / panel.height;
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    if (pointers.size === 1 && moved > 4) {
      const dx = (before[0] - x) * perX;
      moveTo(view.from + dx, view.until + dx, view.top + (before[1] - y) * perY);
      hover();
    } else if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const spread = (a, b, least) => Math.max(least, Math.abs(a - b));
      const wide = spread(before[0], other[0], 20) / spread(x, other[0], 20), high = spread(before[1], other[1], 40) / spread(y, other[1], 40);
      zoom(wide, (x + other[0]) / 2);
      if (Math.abs(x - other[0]) < Math.abs(y - other[1])) zoomRows(high, panel, (y + other[1]) / 2);
    }
    if (pointers.size > 1 || moved > 4) pointers.set(event.pointerId, [x, y]);
  });
  const up = (event) => {
    const was = pointers.delete(event.pointerId);
    if (event.type === "pointerup" && was && !pointers.size && moved <= 4) {
      const [x, y] = inside(event);
      choose(pick(x, y));
    }
  };
  plot.addEventListener("pointerup", up);
  plot.addEventListener("pointercancel", up);
  plot.addEventListener("pointerleave", () => hover());
  plot.addEventListener("dblclick", (event) => zoom(0.3, inside(event)[0]));

  const overview = $("map");
  let grabbed = false;
  const toMap = (event) => {
    const box = overview.getBoundingClientRect(), half = (view.until - view.from) / 2, at = (event.clientX - box.left) / box.width * end;
    const top = runs.length > 1 ? view.top : (event.clientY - box.top) / box.height * P - view.rows / 2;
    moveTo(at - half, at + half, top);
  };
  overview.addEventListener("pointerdown", (event) => { grabbed = true; overview.setPointerCapture(event.pointerId); toMap(event); });
  overview.addEventListener("pointermove", (event) => { if (grabbed) toMap(event); });
  overview.addEventListener("pointerup", () => grabbed = false);
  overview.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(event.deltaY * 0.002)); }, { passive: false });

  const press = {
    ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), Home: () => shift(-1e12), End: () => shift(1e12),
    ArrowUp: () => moveTo(view.from, view.until, view.top - Math.max(1, view.rows / 8)),
    ArrowDown: () => moveTo(view.from, view.until, view.top + Math.max(1, view.rows / 8)),
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "[": () => zoomRows(0.6), "]": () => zoomRows(1 / 0.6),
    0: showAll, "/": () => $("search").focus(), n: () => step(1), N: () => step(-1), p: () => toggle("path"), m: () => toggle("arrows"),
    "?": () => $("help").click(), Escape: () => { choose(null); $("search").value = ""; search(""); },
  };
  addEventListener("keydown", (event) => {
    const { target } = event, typing = target === $("search") || target === $("order");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target === $("search") && event.key === "Enter") return step(event.shiftKey ? -1 : 1);
    if (typing && event.key !== "Escape" || !press[event.key]) return;
    event.preventDefault();
    press[event.key]();
    if (event.key === "Escape") plot.focus();
  });
  let waiting = 0;
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => search($("search").value), 120); });
  $("order").addEventListener("change", () => { state.order = $("order").value; sortRows(); drawMap(); draw(); });
  for (const [id, act] of Object.entries({ back: () => step(-1), next: () => step(1), path: () => toggle("path"), arrows: () => toggle("arrows"), in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: showAll }))
    $(id).addEventListener("click", act);
  $("help").addEventListener("click", () => {
    $("help").setAttribute("aria-expanded", $("keys").hidden);
    $("keys").hidden = !$("keys").hidden;
    resize();
  });
  new ResizeObserver(resize).observe(document.body);
  const recolour = () => { readColours(); legend(); drawMap(); frame(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  addEventListener("beforeprint", () => { document.documentElement.classList.add("print"); recolour(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("print"); recolour(); });
}

// The kinds that occur, with their parts of all processors' time; each is a search for itself.
function legend() {
  const shares = KINDS.map((_, kind) => runs.map((run) => run.shares[kind] / (run.finish * run.P || 1)));
  $("legend").replaceChildren();
  shares.forEach((share, kind) => {
    if (kind === IDLE || !share.some((part) => part > 0)) return;
    const button = document.createElement("button"), chip = button.appendChild(document.createElement("i"));
    chip.style.background = colours.css[kind];
    button.append(`${KINDS[kind][0]} ${share.map((part) => (part * 100).toFixed(part < 0.0995 ? 1 : 0) + "%").join(", ")}`);
    button.title = "of all processors' time; a click finds it";
    button.onclick = () => { $("search").value = KINDS[kind][0]; search(KINDS[kind][0]); };
    $("legend").append(button);
  });
}

async function open() {
  $("title").textContent = meta.title;
  const texts = [...document.querySelectorAll("script.run")];
  for (const [index, head] of meta.runs.entries()) {
    const run = decode(head, await bytesOf(texts[index].textContent.trim()));
    run.index = index;
    runs.push(run);
    texts[index].remove();
  }
  P = Math.max(1, ...runs.map((run) => run.P));
  end = Math.max(1, ...runs.flatMap((run) => [run.finish * run.quantum, ...run.marks.map(([, at]) => at)])) / runs[0].quantum * 1.005;
  if (!runs[0].group.some((group) => group !== runs[0].group[0])) $("order").querySelector("[value=group]").disabled = true;
  Object.assign(view, { from: 0, until: end, top: 0, rows: P });
  readColours();
  sortRows();
  legend();
  listen();
  resize();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

open().catch((error) => { $("title").textContent = "This page cannot be shown: " + error.message; throw error; });
