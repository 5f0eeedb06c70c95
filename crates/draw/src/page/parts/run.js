// ---- Reading the runs, which `columns.rs` writes.
async function bytesOf(text) {
  const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns the number that may be negative for a code.
const unsigned = (code) => code < 2 ** 31 ? code >>> 1 ^ -(code & 1) : code % 2 ? -(code + 1) / 2 : code / 2;

// Without causes nothing has one.
function decode(head, bytes, hasCauses = true) {
  let at = 0;
  const number = () => {
    let byte = bytes[at++], value = byte & 127;
    if (byte < 128) return byte;
    for (let unit = 128; byte > 127; unit *= 128) value += ((byte = bytes[at++]) & 127) * unit;
    return value;
  };
  const signed = () => unsigned(number());
  const { tracks, events, messages } = head;
  const run = { ...head, data: bytes, request: new Int32Array(tracks), first: new Int32Array(tracks + 1), id: new Int32Array(tracks), track: new Int32Array(events) };
  for (let track = 0, id = 0; track < tracks; track++) {
    run.id[track] = id += number();
    run.request[track] = number() - 1;
    run.first[track + 1] = run.first[track] + number();
    run.track.fill(track, run.first[track], run.first[track + 1]);
  }
  const kinds = run.kind = bytes.subarray(at, at += events);
  // A browser makes a loop fast that calls nothing unknown, and such loops read most of the numbers.
  const signeds = (all) => { for (let i = 0; i < all.length; i++) all[i] = signed(); return all; };
  const running = (all) => { for (let i = 0, now = 0; i < all.length; i++) all[i] = now += signed(); return all; };
  const lessOne = (all) => { for (let i = 0; i < all.length; i++) all[i] = number() - 1; return all; };
  // The starts, each as the time since the end before it, precede the lengths.
  const starts = run.start = signeds(new Float64Array(events)), ends = run.end = new Float64Array(events);
  for (let track = 0; track < tracks; track++)
    for (let i = run.first[track], now = 0; i < run.first[track + 1]; i++) {
      starts[i] += now;
      ends[i] = now = starts[i] + signed();
    }
  const last = [-1, -1, -1], of = run.of = new Int32Array(events);
  [run.sent, run.got] = [0, 1].map(() => new Int32Array(messages).fill(-1));
  for (let i = 0, request = 0; i < events; i++) {
    const kind = kinds[i];
    if (kind === WORK) of[i] = number();
    else if (kind === POST || kind === WAIT) of[i] = request += signed();
    else {
      const code = kind === SEND || kind === RECEIVE ? number() : 0;
      of[i] = code ? last[kind] += 1 + unsigned(code - 1) : -1;
      if (code) (kind === SEND ? run.sent : run.got)[last[kind]] = i;
    }
  }
  const senders = run.from = new Int32Array(messages), numbers = run.number = new Int32Array(messages);
  for (let i = 0, from = 0, nth = -1; i < messages; i++) {
    const step = signed();
    numbers[i] = nth = signed() + (step ? 0 : nth + 1);
    senders[i] = from += step;
  }
  run.to = running(new Int32Array(messages));
  run.words = running(new Float64Array(messages));
  run.bytes = lessOne(new Float64Array(messages));
  run.tag = lessOne(new Int32Array(messages));
  const enters = run.enter = new Float64Array(messages);
  for (let i = 0, enter = 0; i < messages; i++) enters[i] = enter = (i && senders[i] === senders[i - 1] ? enter : 0) + signed();
  const latencies = run.latency = signeds(new Float64Array(messages)), outs = run.out = signeds(new Float64Array(messages)), arrivals = run.arrival = signeds(new Float64Array(messages));
  for (let i = 0; i < messages; i++) arrivals[i] += outs[i] += enters[i] + (latencies[i] += head.L);
  const causes = (count, only) => {
    const all = new Float64Array(count);
    if (!hasCauses) at += only ? kinds.reduce((sum, kind) => sum + (kind === only), 0) : count;
    else for (let i = 0; i < count; i++) if (!only || kinds[i] === only) all[i] = number();
    return all;
  };
  run.causes = [causes(events), causes(events, RECEIVE), causes(messages), causes(messages)];
  Object.assign(run, { own: new Int32Array(head.P).fill(-1), group: new Int32Array(head.P), beside: new Map(), shares: new Float64Array(K) });
  for (let track = 0; track < tracks; track++) {
    const id = run.id[track];
    if (run.request[track] >= 0) run.beside.get(id)?.push(track) ?? run.beside.set(id, [track]);
    else [run.own[id], run.group[id]] = [track, number()];
  }
  // The kinds as which events are shown: requests and replies before long messages have their own kind.
  run.asks = new Uint8Array(messages);
  const asks = number();
  for (let left = asks, m = 0; left > 0; left--) run.asks[m += number()] = 1;
  run.shown = asks ? run.kind.map((kind, i) => (kind === SEND || kind === RECEIVE) && run.of[i] >= 0 && run.asks[run.of[i]] ? RENDEZVOUS : kind) : run.kind;
  for (let i = 0; i < events; i++) if (run.request[run.track[i]] < 0) run.shares[run.shown[i]] += run.end[i] - run.start[i];
  readDetours(run, number, signed);
  run.shares[IDLE] = run.finish * run.P - STACK.reduce((sum, kind) => sum + run.shares[kind], 0);
  for (const grid of run.grids) grid.starts = grid.columns.map((columns) => (at += columns * grid.kinds.length * grid.rows) - columns * grid.kinds.length * grid.rows);
  return run;
}

// Reads the detours of each processor, which noise takes out of the events in which they lie.
function readDetours(run, number, signed) {
  const starts = [], ends = [], taken = run.taken = { first: new Int32Array(run.tracks + 1), of: [] };
  for (let track = 0, now = 0; track < run.tracks; now = 0, track++) {
    for (let left = run.request[track] < 0 ? number() : 0; left > 0; left--) {
      starts.push(now + signed());
      ends.push(now = starts.at(-1) + signed());
      const event = firstAfter(run, track, starts.at(-1)), length = now - starts.at(-1);
      taken.of.push(event);
      run.shares[run.shown[event]] -= length;
      run.shares[NOISE] += length;
    }
    taken.first[track + 1] = starts.length;
  }
  Object.assign(taken, { start: Float64Array.from(starts), end: Float64Array.from(ends) });
}

// The detours of a track between two moments: the index of the first, and the one after the last.
function takenIn({ taken }, track, from, until) {
  const last = taken.first[track + 1], first = lower(taken.first[track], last, (i) => taken.end[i] > from);
  return [first, lower(first, last, (i) => taken.start[i] >= until)];
}

// The time that noise took of an event.
function takenOf(run, event) {
  const { taken } = run, track = run.track[event];
  let length = 0;
  for (let i = lower(taken.first[track], taken.first[track + 1], (i) => taken.of[i] >= event); i < taken.first[track + 1] && taken.of[i] === event; i++)
    length += taken.end[i] - taken.start[i];
  return length;
}

// The first number from `low` to `high` for which a monotonic condition holds.
function lower(low, high, holds) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Times of the view are in quanta of the first run: how many of those are a quantum of this one.
const ratio = (run) => run.quantum / runs[0].quantum;

// The first events of a track that end after a moment, and that start from it on.
const firstAfter = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.end[i] > moment);
const firstFrom = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.start[i] >= moment);
// The track of the processor in a row, if it did anything.
const trackOf = (run, row) => run.own[order[row]] ?? -1;
