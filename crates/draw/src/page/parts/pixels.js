// ---- Painting pixels.

// The most activities that are painted one by one in a frame, and the most rows of which they are counted.
const MOST_EXACT = 250000, MOST_ROWS = 20000;

// The colours of the style, as numbers. Paper is transparent, so that what is drawn under the rows is seen.
const parts = (text) => [1, 3, 5].map((from) => parseInt(text.slice(from, from + 2), 16));

// The brightness of a colour, and the one of black and white that is readable on it (WCAG 2, contrast ratio).
const brightness = (rgb) => rgb.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
const inkOn = (rgb) => (brightness(rgb) + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";

function readColours() {
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim();
  const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  const css = KINDS.map(([, , ink]) => of(ink)), rgb = css.map(parts), paper = parts(of("paper"));
  const mixed = (rgb, other, share) => rgb.map((part, i) => Math.round(part * share + other[i] * (1 - share)));
  const dimRgb = rgb.map((rgb) => mixed(rgb, paper, 0.22)), black = [0, 0, 0];
  colours = {
    css, rgb, paper, ink: Float32Array.from(rgb.flat()), dimInk: Float32Array.from(dimRgb.flat()), pixels: rgb.map(pixel), dim: dimRgb.map(pixel), edge: rgb.map((rgb) => pixel(mixed(rgb, black, 0.72))),
    text: of("ink"), grey: of("grey"), pale: of("pale"), path: of("path"), halo: of("halo"), letters: { L: of("L"), o: of("o"), g: of("g"), G: of("G") }, bytes: of("bytes"), on: rgb.map(inkOn), onDim: dimRgb.map(inkOn), paperPixel: 0, palePixel: pixel(parts(of("pale"))),
  };
  // Idle time is not drawn, but a search can find it.
  colours.hits = colours.pixels.with(IDLE, pixel(parts(of("grey"))));
}

// On paper colours are light, and all is drawn on one canvas, because cleared parts of one above it would be white.
function listenToPrints(recolour) {
  const screen = over;
  for (const when of ["before", "after"]) addEventListener(when + "print", () => {
    document.documentElement.classList.toggle("print", state.print = when === "before");
    over = state.print ? base : screen;
    recolour();
  });
}

// A line of pixels: for each kind its share of each column, and where whole columns begin and end. `turns`: the columns that may
// differ from the one before.
const covered = [];
let sums = new Float32Array(0), rises = new Float32Array(0), busy = new Float32Array(0), edges = new Uint8Array(0), mixed = new Uint8Array(0), turns = new Uint8Array(0), line = new Uint32Array(0);

// Adds a share of a kind to the columns of pixels from one place to another.
function cover(kind, x, right, width, share) {
  if (x < 0) x = 0;
  if (right > width) right = width;
  if (!covered.includes(kind)) covered.push(kind);
  const row = kind * (width + 1), a = x | 0, b = right | 0;
  if (a === b) sums[row + a] += (right - x) * share;
  else {
    sums[row + a] += (a + 1 - x) * share;
    sums[row + b] += (right - b) * share;
    // The columns between are whole, so their beginning and end are enough.
    rises[row + a + 1] += share;
    rises[row + b] -= share;
  }
  turns[a] = turns[a + 1] = turns[b] = turns[b + 1] = 1;
}

// Clears the line.
function clear(width) {
  for (const kind of covered) for (const all of [sums, rises]) all.fill(0, kind * (width + 1), (kind + 1) * (width + 1));
  for (const all of [edges, turns]) all.fill(0);
  covered.length = 0;
}

// Adds the events of a track, `weight` times.
function addExact(run, track, from, scale, width, weight, boxes) {
  const until = from + width / scale, last = run.first[track + 1];
  for (let i = firstAfter(run, track, from); i < last && run.start[i] < until; i++) {
    const kind = run.shown[i], x = (run.start[i] - from) * scale, right = (run.end[i] - from) * scale;
    if (kind === IDLE || right <= x) continue;
    if (boxes && right - x >= 3 && x > 0) edges[x | 0] = 1 + kind;
    cover(kind, x, right, width, weight);
  }
  const { taken } = run, [first, after] = takenIn(run, track, from, until);
  for (let i = first; i < after; i++) {
    const x = (taken.start[i] - from) * scale, right = (taken.end[i] - from) * scale;
    cover(run.shown[taken.of[i]], x, right, width, -weight);
    cover(NOISE, x, right, width, weight);
  }
}

// Adds a row of a grid, `weight` times.
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

// Turns the sums into a line of pixels. Large shares are emphasized, so that many kinds do not become
// grey; in a row of its own, an activity that is thinner than a pixel has half of it. Notes the columns with several kinds, and
// returns whether there are any.
function mix(width, isRow = false) {
  const ink = state.hits ? colours.dimInk : colours.ink, pixels = state.hits ? colours.dim : colours.pixels, [red, green, blue] = colours.paper;
  const rows = Int32Array.from(covered, (kind) => kind * (width + 1)), n = rows.length, whole = new Float64Array(n), { paperPixel } = colours;
  // Local names, because these are looked up a million times in a frame.
  const [parts, steps, all, several, out, isTurn] = [sums, rises, busy, mixed, line, turns];
  let any = false;
  for (let x = 0; x < width; x++) {
    if (x > 0 && isTurn[x] === 0) {
      out[x] = out[x - 1];
      if ((several[x] = several[x - 1]) === 0) continue;
      all[x] = all[x - 1];
      for (let i = 0; i < n; i++) parts[rows[i] + x] = parts[rows[i] + x - 1];
      continue;
    }
    several[x] = all[x] = 0;
    out[x] = paperPixel;
    for (let i = 0; i < n; i++) all[x] += parts[rows[i] + x] += whole[i] += steps[rows[i] + x];
    if (all[x] < (isRow ? 2e-6 : 2e-4)) continue;
    let which = 0, most = parts[rows[0] + x];
    for (let i = 1; i < n; i++) {
      const share = parts[rows[i] + x];
      if (share > most) {
        most = share;
        which = i;
      }
    }
    out[x] = pixels[covered[which]];
    if (most > 0.97) continue;
    const idle = all[x] < 1 ? (1 - all[x]) * (1 - all[x]) : 0;
    let sum = 0, r = 0, g = 0, b = 0;
    for (let i = 0; i < n; i++) {
      const k = covered[i], share = parts[rows[i] + x], weight = share * share;
      sum += weight;
      r += ink[3 * k] * weight;
      g += ink[3 * k + 1] * weight;
      b += ink[3 * k + 2] * weight;
    }
    // What is rare among many rows stays visible.
    const paper = Math.min(idle, isRow ? sum : sum * (Math.SQRT2 / Math.sqrt(Math.min(1, all[x])) - 1));
    sum += paper;
    r += red * paper;
    g += green * paper;
    b += blue * paper;
    any = !!(several[x] = 1);
    out[x] = (255 << 24 | (b / sum) << 16 | (g / sum) << 8 | (r / sum)) >>> 0;
  }
  return any;
}

// Draws the hits of a search among a track's events into the line.
function addHits(run, track, from, scale, width) {
  const hits = state.hits.of[run.index], first = firstAfter(run, track, from);
  for (let i = lower(0, hits.length, (i) => hits[i] >= first); i < hits.length; i++) {
    const event = hits[i], x = Math.max(0, (run.start[event] - from) * scale | 0);
    if (event >= run.first[track + 1] || x >= width) return;
    line.fill(colours.hits[run.shown[event]], x, Math.max(x + 1, Math.round((run.end[event] - from) * scale)));
  }
}

// The grid from which rows are painted, or undefined if their events are few enough to be painted one by one.
function gridFor(run, top, last, from, until, perPixel) {
  const fits = (grid) => grid.group === 1 || isByNumber() && grid.group <= 1.2 * perPixel;
  const best = run.grids.filter(fits).pop();
  if (!best || last - top > MOST_ROWS) return best;
  let events = 0;
  for (let row = Math.floor(top), track = 0; row < last && events <= MOST_EXACT; row++)
    if ((track = trackOf(run, row)) >= 0) events += firstFrom(run, track, until) - firstAfter(run, track, from);
  return events > MOST_EXACT ? best : undefined;
}

// Paints rows of a run into pixels, from a moment of the view to another one. Returns whether all events were painted one by
// one.
function paint(run, pixels, width, height, top, rows, from, until) {
  from /= ratio(run);
  until /= ratio(run);
  if (line.length !== width) {
    [sums, rises] = [sums, rises].map(() => new Float32Array((width + 1) * K));
    [busy, line] = [new Float32Array(width), new Uint32Array(width)];
    covered.length = 0;
    [edges, mixed, turns] = [0, 0, 2].map((more) => new Uint8Array(width + more));
  }
  const scale = width / (until - from), high = height / rows, last = Math.min(run.P, Math.ceil(top + rows));
  const grid = gridFor(run, top, last, from, until, 1 / high), boxes = high >= 10 && !state.hits;
  const add = (row, weight, track = trackOf(run, row)) => track < 0 || (grid ? addGrid(run, grid, order[row], from, scale, width, weight) : addExact(run, track, from, scale, width, weight, boxes));
  const hits = (row, track = trackOf(run, row)) => state.hits && track >= 0 && addHits(run, track, from, scale, width);
  if (high < 3) {
    // Lines of pixels show the rows that they cover, each by its part of the line: rows of whole pixels would have beats, which
    // are not in the run. Of many rows some stand for all.
    for (let y = 0, alone = -1; y < height; y++) {
      const first = top + y / high, after = Math.min(run.P, top + (y + 1) / high), a = Math.floor(first + 1e-9), b = Math.max(a + 1, Math.ceil(after - 1e-9));
      if (a >= run.P) break;
      if (b - a > 1 || a !== alone) {
        clear(width);
        if (grid && grid.group > 1) {
          const first = Math.floor(a / grid.group), last = Math.min(grid.rows, Math.max(first + 1, Math.round(b / grid.group)));
          for (let row = first; row < last; row++) addGrid(run, grid, row, from, scale, width, 1 / (last - first));
        } else {
          const step = grid ? Math.ceil((b - a) / 2) : 1, parts = [];
          for (let row = a; row < b; row += step) parts.push([row, Math.min(after, row + step) - Math.max(first, row)]);
          const whole = parts.reduce((sum, [, part]) => sum + part, 0);
          for (const [row, part] of parts) add(row, part / whole);
        }
        mix(width, b - a === 1);
        for (let row = a; row < b && row < a + 64; row++) hits(row);
        alone = b - a === 1 ? a : -1;
      }
      pixels.set(line, y * width);
    }
    return !grid;
  }
  const pad = high >= 14 ? Math.min(high * 0.2, 10 * place.scale) : high >= 5 ? 1 : 0;
  for (let row = Math.floor(top); row < last; row++) {
    const y = (row - top) * high, y0 = Math.max(0, Math.round(y + pad)), y1 = Math.min(height, Math.round(y + high - pad));
    clear(width);
    add(row, 1);
    const several = mix(width, true);
    if (boxes) for (let x = 0; x < width; x++) if (edges[x]) line[x] = colours.edge[edges[x] - 1];
    hits(row);
    for (let y = y0; y < y1; y++) pixels.set(line, y * width);
    if (several && high >= 9 && !state.hits) stack(pixels, width, y0, y1);
    const requests = high >= 14 && !grid && run.beside.get(order[row]) || [], quarter = (y1 - y0) >> 2;
    if (requests.length && requests.length < 3000) {
      // The progress of requests is drawn in the middle of their processor's row.
      clear(width);
      for (const track of requests) addExact(run, track, from, scale, width, 1, false);
      mix(width, true);
      for (let y = y0 + quarter; y < y1 - quarter; y++)
        for (let x = 0, at = y * width; x < width; x++) if (line[x] !== colours.paperPixel) pixels[at + x] = line[x];
    }
    if (high < 14 || state.hits) continue;
    for (let x = 0, at = ((y0 + y1) >> 1) * width; x < width; x++) if (pixels[at + x] === colours.paperPixel) pixels[at + x] = colours.palePixel;
  }
  return !grid;
}

// Columns with several kinds show their shares from the bottom of the row on. A single such column is where
// two events meet.
function stack(pixels, width, y0, y1) {
  for (let x = 0; x < width; x++) {
    if (!mixed[x] || !(mixed[x - 1] || mixed[x + 1])) continue;
    let y = y1, up = 0;
    for (const kind of STACK) {
      const share = sums[kind * (width + 1) + x];
      up += share / Math.max(1, busy[x]);
      const until = Math.max(y0, Math.min(y - (share > 2e-6), Math.round(y1 - up * (y1 - y0))));
      for (; y > until; y--) pixels[(y - 1) * width + x] = colours.pixels[kind];
    }
    for (; y > y0; y--) pixels[(y - 1) * width + x] = colours.paperPixel;
  }
}
