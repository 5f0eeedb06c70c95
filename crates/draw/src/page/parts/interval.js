// ---- Marking an interval: of time, and of the rows over which it was dragged.

// LONGEST: the number of pairs and waits that are listed. MOST_TABLE: the most rows of a table of messages. MOST_PROCESSORS: those
// that a table compares with the middle one.
const LONGEST = 12, MOST_TABLE = 16, MOST_PROCESSORS = 8, WAITS = [IDLE, STALL, PORT, BARRIER, WAIT];

// The interval between two places; over all visible rows if the places are at about the same height.
function intervalOf(index, [x0, y0], [x1, y1]) {
  const { top, height } = place.panels[index], rowAt = (y) => view.top + (Math.max(top, Math.min(top + height - 1, y)) - top) * view.rows / height;
  // Moments are rounded to about a pixel.
  const step = 10 ** Math.floor(Math.log10((view.until - view.from) / (place.width - place.left) * runs[0].quantum)) / runs[0].quantum;
  const round = (moment) => Math.max(0, Math.min(end, Math.round(moment / step) * step));
  const moment = (x) => round(momentAt(Math.max(place.left, Math.min(place.width, x)))), flat = Math.abs(y1 - y0) < 8;
  const rows = flat ? [view.top, view.top + view.rows - 1e-6] : [rowAt(Math.min(y0, y1)), rowAt(Math.max(y0, y1))];
  return { index, from: moment(Math.min(x0, x1)), until: moment(Math.max(x0, x1)), first: Math.floor(rows[0]), last: Math.min(runs[index].P, Math.floor(rows[1]) + 1) };
}

// The view as an interval.
const wholeView = () => intervalOf(0, [place.left, 0], [place.width, 0]);

// Draws lines at both ends, and between them the times and the length.
function drawInterval(run, { from, until, first, last }) {
  const panel = place.panels[run.index], high = highOf(run), [x, right] = [xOf(from), xOf(until)];
  const edge = (row) => Math.max(panel.top, Math.min(panel.top + panel.height, panel.top + (row - view.top) * high)), [top, low] = [edge(first), edge(last)];
  Object.assign(over, { fillStyle: colours.text + "22", lineWidth: 1.5 });
  over.fillRect(x, top, right - x, low - top);
  for (const at of [x, right]) stroke(over, colours.text, [at, panel.top], [at, panel.top + panel.height]);
  const text = `${told(runs[0], from)} \u2013 ${told(runs[0], until)}: ${told(runs[0], until - from)}`, y = panel.top + 12;
  over.font = "600 12" + FONT;
  const wide = over.measureText(text).width + 12, middle = Math.max(place.left + wide / 2, Math.min(place.width - wide / 2 - 1, (x + right) / 2));
  stroke(over, colours.text, [x, y], [right, y]);
  Object.assign(over, { fillStyle: colours.css[IDLE], strokeStyle: colours.text, lineWidth: 1, textAlign: "center", textBaseline: "middle" });
  over.fillRect(middle - wide / 2, y - 10, wide, 20);
  over.strokeRect(middle - wide / 2, y - 10, wide, 20);
  over.fillStyle = colours.text;
  over.fillText(text, middle, y);
}

// The time of each kind within an interval, and the longest waits.
function sharesIn(run, { from, until, first, last }) {
  const q = ratio(run), [a, b] = [from / q, until / q], shares = new Float64Array(K), { taken } = run, waits = [];
  for (let row = first, track; row < last; row++) {
    if ((track = trackOf(run, row)) < 0) continue;
    for (let i = firstAfter(run, track, a); i < run.first[track + 1] && run.start[i] < b; i++) {
      const length = Math.min(b, run.end[i]) - Math.max(a, run.start[i]);
      shares[run.shown[i]] += length;
      if (length > 0 && WAITS.includes(run.kind[i])) waits.push({ event: i, length });
    }
    const [begin, after] = takenIn(run, track, a, b);
    for (let i = begin; i < after; i++) {
      const length = Math.min(b, taken.end[i]) - Math.max(a, taken.start[i]);
      shares[run.shown[taken.of[i]]] -= length;
      shares[NOISE] += length;
    }
    if (waits.length > 50000) keepLongest(waits);
  }
  shares[IDLE] = (last - first) * (b - a) - STACK.reduce((sum, kind) => sum + shares[kind], 0);
  return { shares, waits: keepLongest(waits) };
}

function keepLongest(waits) {
  waits.sort((a, b) => b.length - a.length);
  waits.length = Math.min(waits.length, LONGEST);
  return waits;
}

// The messages that enter during an interval, from or to its processors: for each pair their number and
// words, the most first.
function messagesIn(run, { from, until, first, last }) {
  const q = ratio(run), pairs = new Map(), inside = (id) => rowOf[id] >= first && rowOf[id] < last;
  for (let m = 0; m < run.messages; m++) {
    const at = run.enter[m] * q;
    if (at < from || at >= until || !inside(run.from[m]) && !inside(run.to[m])) continue;
    const key = run.from[m] * run.P + run.to[m], pair = pairs.get(key) || { from: run.from[m], to: run.to[m], count: 0, words: 0 };
    pair.count++;
    pair.words += run.words[m];
    pairs.set(key, pair);
  }
  return [...pairs.values()].sort((a, b) => b.count - a.count || b.words - a.words || a.from - b.from || a.to - b.to);
}

// A table of the numbers of messages by sender and receiver, or null if there are too many.
function tableOf(pairs) {
  const ids = (end) => [...new Set(pairs.map((pair) => pair[end]))].sort((a, b) => a - b), [senders, receivers] = [ids("from"), ids("to")];
  if (Math.max(senders.length, receivers.length) > MOST_TABLE) return null;
  const table = element("table", ""), row = (name) => { const row = table.insertRow(); row.append(element("th", name)); return row; };
  const head = row("from \\ to"), counts = new Map(pairs.map((pair) => [pair.from * P + pair.to, pair]));
  for (const to of receivers) head.append(element("th", `P${to}`));
  for (const from of senders) {
    const cells = row(`P${from}`);
    for (const to of receivers) {
      const pair = counts.get(from * P + to);
      cells.append(element("td", pair ? spelled(pair.count) : "", { title: pair ? many(pair.words, "word") : "" }));
    }
  }
  return table;
}

// What each processor of an interval does, and how many of its messages enter and arrive in it, as a table, those first that
// differ most from the middle one; null where there is nothing to compare.
function tableByProcessor(run, interval, kinds) {
  const { from, until, first, last } = interval, q = ratio(run), sent = new Int32Array(run.P), got = new Int32Array(run.P);
  if (last - first < 3 || last - first > MOST_ROWS) return null;
  for (let m = 0; m < run.messages; m++) {
    const [enter, arrival] = [run.enter[m] * q, run.arrival[m] * q];
    if (enter >= from && enter < until) sent[run.from[m]]++;
    if (arrival >= from && arrival < until) got[run.to[m]]++;
  }
  const all = Array.from({ length: last - first }, (_, i) => ({ row: first + i, id: order[first + i], ...sharesIn(run, { ...interval, first: first + i, last: first + i + 1 }) }));
  const middle = kinds.map((kind) => all.map(({ shares }) => shares[kind]).sort((a, b) => a - b)[all.length >> 1]), part = (length) => percent(length * q / (until - from || 1));
  for (const one of all) one.apart = kinds.reduce((sum, kind, i) => sum + Math.abs(one.shares[kind] - middle[i]), 0);
  all.sort((a, b) => b.apart - a.apart || a.row - b.row);
  const table = element("table", "", { className: "each" }), head = table.insertRow(), row = (cells) => { const row = table.insertRow(); cells.forEach((cell, i) => row.append(element(i ? "td" : "th", cell))); return row; };
  head.append(...["", ...kinds.map((kind) => KINDS[kind][0]), "sent", "received"].map((text) => element("th", text)));
  for (const { row: place, id, shares } of all.slice(0, MOST_PROCESSORS)) {
    const line = row(["", ...kinds.map((kind) => part(shares[kind])), spelled(sent[id]), spelled(got[id])]);
    line.firstChild.append(element("button", `P${id}`, { onclick: () => moveTo(view.from, view.until, place + 0.5 - view.rows / 2) }));
  }
  row(["the middle", ...middle.map(part), "", ""]);
  return table;
}

// Marks an interval, and describes it.
function mark(interval) {
  state.interval = interval;
  state.chosen = null;
  const run = runs[interval.index], { from, until, first, last } = interval, { shares, waits } = sharesIn(run, interval), pairs = messagesIn(run, interval);
  const all = shares.reduce((sum, share) => sum + Math.max(0, share), 0) || 1, [total, full] = flightIn(run, from, until);
  const rows = last - first === 1 ? `P${order[first]}` : last - first === run.P ? `all ${many(run.P, "processor")}` : `${many(last - first, "processor")} from P${order[first]} to P${order[last - 1]}`;
  const head = element("p", `${run.name ? run.name + ": " : ""}${told(runs[0], from)} to ${told(runs[0], until)}, ${told(runs[0], until - from)} of ${rows}\nin transit: at most ${spelled(total)}; ${tellFull(run, full)}`);
  const list = head.appendChild(element("ul", "")), parts = [...shares.keys()].filter((kind) => shares[kind] > all * 1e-6).sort((a, b) => shares[b] - shares[a]);
  for (const kind of parts) {
    const line = list.appendChild(element("li", "")), chip = line.appendChild(document.createElement("i"));
    chip.style.background = colours.css[kind];
    line.append(`${KINDS[kind][0]} ${percent(shares[kind] / all)}, ${told(run, shares[kind])}`);
  }
  head.append(element("button", "show only this", { onclick: () => moveTo(from, until, first, last - first) }));
  const each = tableByProcessor(run, interval, parts), apart = element("div", "");
  if (each) apart.append(element("p", "who stands out:"), each);
  const sent = element("div", ""), words = pairs.reduce((sum, pair) => sum + pair.words, 0), count = pairs.reduce((sum, pair) => sum + pair.count, 0);
  sent.append(element("p", pairs.length ? `${many(count, "message")} with ${many(words, "word")} enter, between ${many(pairs.length, "pair")}:` : "no message enters"));
  const table = pairs.length && tableOf(pairs);
  if (table) sent.append(table);
  else if (pairs.length) {
    const list = sent.appendChild(element("ul", ""));
    for (const { from, to, count, words } of pairs.slice(0, LONGEST)) list.append(element("li", `P${from} to P${to}: ${many(count, "message")}, ${many(words, "word")}`));
    if (pairs.length > LONGEST) list.append(element("li", `and ${many(pairs.length - LONGEST, "pair")} more`));
  }
  const longest = element("div", ""), waiting = element("ol", "");
  longest.append(element("p", waits.length ? "the longest waits:" : "nobody waits"), waiting);
  for (const { event, length } of waits)
    waiting.append(item(`P${run.id[run.track[event]]}: ${KINDS[run.shown[event]][0]} ${told(run, length)}, from ${told(run, run.start[event])}`, () => visit({ run, event })));
  showBeside(head, ...each ? [apart] : [], sent, longest);
  noteView();
}

