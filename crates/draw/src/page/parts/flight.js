// ---- Messages in transit: their number over time, next to the capacity.

// The height of the chart in pixels, and the number of changes in a block, whose maximum is precomputed.
const FLIGHT = 46, BLOCK = 128;

// The moments at which the number of messages in transit changes, the number from then on, and the part of
// its capacity that the fullest end of a processor uses. A message takes room at both its ends, at the level
// that they share.
function flightOf(run) {
  if (run.flight) return run.flight;
  const enters = new Uint32Array(run.messages).map((_, m) => m).filter((m) => run.arrival[m] > run.enter[m]), leaves = enters.slice();
  enters.sort((a, b) => run.enter[a] - run.enter[b]);
  leaves.sort((a, b) => run.arrival[a] - run.arrival[b]);
  const limits = [run.capacity, ...run.levels.map(([, capacity]) => capacity)], n = enters.length;
  const level = (a, b) => run.levels.findLastIndex(([P]) => Math.floor(a / P) === Math.floor(b / P)) + 1;
  const ends = limits.map(() => new Int32Array(2 * run.P)), having = limits.map(() => [2 * run.P]), most = limits.map(() => 0);
  const times = [], totals = [], fulls = [];
  const change = (m, by) => {
    const at = run.levels.length ? level(run.from[m], run.to[m]) : 0;
    if (limits[at] === null) return;
    for (const place of [run.from[m], run.P + run.to[m]]) {
      having[at][ends[at][place]]--;
      const now = ends[at][place] += by;
      having[at][now] = (having[at][now] || 0) + 1;
      if (now > most[at]) most[at] = now;
      while (!having[at][most[at]]) most[at]--;
    }
  };
  for (let i = 0, j = 0; j < n;) {
    const now = i < n ? Math.min(run.enter[enters[i]], run.arrival[leaves[j]]) : run.arrival[leaves[j]];
    // A message that arrives leaves its room to those that enter at the same moment.
    for (; j < n && run.arrival[leaves[j]] === now; j++) change(leaves[j], -1);
    for (; i < n && run.enter[enters[i]] === now; i++) change(enters[i], 1);
    times.push(now);
    totals.push(i - j);
    fulls.push(most.reduce((full, most, at) => limits[at] ? Math.max(full, most / limits[at]) : full, 0));
  }
  const blocks = (all) => Float64Array.from({ length: Math.ceil(all.length / BLOCK) }, (_, b) => all.slice(b * BLOCK, (b + 1) * BLOCK).reduce((a, b) => Math.max(a, b), 0));
  const part = (all) => ({ all: Float64Array.from(all), blocks: blocks(all) });
  return run.flight = { times: Float64Array.from(times), total: part(totals), full: part(fulls), limited: limits.some((limit) => limit !== null),
    most: totals.reduce((a, b) => Math.max(a, b), 0) };
}

// The maximum from one change until before another.
function mostOf({ all, blocks }, from, until) {
  let most = 0;
  for (let i = from; i < until;) {
    const whole = i % BLOCK === 0 && i + BLOCK <= until;
    most = Math.max(most, whole ? blocks[i / BLOCK] : all[i]);
    i += whole ? BLOCK : 1;
  }
  return most;
}

// The most messages in transit from one moment until before another, and how full the fullest end was.
function flightIn(run, from, until) {
  const { times, total, full } = flightOf(run), q = ratio(run), n = times.length;
  const first = Math.max(0, lower(0, n, (i) => times[i] * q > from) - 1), last = Math.max(first + 1, lower(first, n, (i) => times[i] * q >= until));
  return n && times[first] * q < until ? [mostOf(total, first, last), mostOf(full, first, last)] : [0, 0];
}

const tellFull = (run, full) => !flightOf(run).limited ? "no capacity"
  : `from or to one processor: ${run.levels.length ? `${Math.round(full * 100)}% of its capacity` : `${Math.round(full * run.capacity)} of ${run.capacity}`}`;

function drawFlight(run) {
  const panel = place.panels[run.index], { left, width } = place, top = panel.top + panel.height, low = top + FLIGHT - 4;
  if (!panel.flight) return;
  base.fillStyle = colours.css[IDLE];
  base.fillRect(0, top, width, FLIGHT);
  if (!run.flight) {
    // The counting is deferred until after the first frame.
    run.counted ??= setTimeout(() => { flightOf(run); draw(); }, 50);
    return;
  }
  const { most, limited } = run.flight, high = low - top - 16, step = (view.until - view.from) / (width - left), full = [];
  base.fillStyle = colours.bytes;
  for (let x = left; x < width; x++) {
    const [total, end] = flightIn(run, momentAt(x), momentAt(x) + step), y = total / (most || 1) * high;
    if (total) base.fillRect(x, low - y, 1, y);
    full.push([x, low - end * high], [x + 1, low - end * high]);
  }
  stroke(base, colours.grey, [left, low - high], [left, low], [width, low]);
  if (limited) {
    base.setLineDash([2, 3]);
    stroke(base, colours.text, [left, low - high], [width, low - high]);
    base.setLineDash([]);
    base.lineWidth = 1.5;
    stroke(base, colours.css[STALL], ...full);
    base.lineWidth = 2;
    stroke(base, colours.css[STALL], [width - 1, low - high], [width - 1, low]);
    base.lineWidth = 1;
  }
  // Two scales: that of the area at the left, and that of the line at the right.
  write(spelled(most), left - 6, low - high + 3, colours.grey, "right", "11");
  write("0", left - 6, low - 4, colours.grey, "right", "11");
  const [total, end] = flightIn(run, view.from, view.until), narrow = width < 600;
  const right = limited ? write(`${tellFull(run, end)}${narrow ? "" : " (line, right; dots: the capacity)"}`, width - 2, top + 8, colours.grey, "right", "11") : 0;
  writeWithin(`in transit: ${spelled(total)}${narrow ? "" : " at most (area, left)"}${limited ? "" : "; no capacity"}`, left, top + 8, width - left - right - 12, colours.grey, "11");
}

// The description at a place of the chart.
function tellFlight(x, y) {
  const run = runs.find((run) => { const { top, height, flight } = place.panels[run.index]; return flight && y > top + height && y < top + height + flight; });
  if (!run?.flight || x < place.left) return "";
  const at = momentAt(x), [total, full] = flightIn(run, at, at + (view.until - view.from) / (place.width - place.left));
  return `at ${told(runs[0], at)}: ${many(total, "message")} in transit\n${tellFull(run, full)}`;
}

