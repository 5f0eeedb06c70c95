// ---- Reading the runs, which `columns.rs` writes.
async function bytesOf(text) {
  const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns the number that may be negative for a code.
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
  // The starts, each as the time since the end before it, precede the lengths.
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
  }
  // The kinds as which events are shown: requests and replies before long messages have their own kind.
  run.asks = new Uint8Array(messages);
  for (let left = number(), m = 0; left > 0; left--) run.asks[m += number()] = 1;
  run.shown = run.kind.map((kind, i) => (kind === SEND || kind === RECEIVE) && run.of[i] >= 0 && run.asks[run.of[i]] ? RENDEZVOUS : kind);
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

// The first events of a track that end after a moment, and that start from it on.
const firstAfter = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.end[i] > moment);
const firstFrom = (run, track, moment) => lower(run.first[track], run.first[track + 1], (i) => run.start[i] >= moment);
// The track of the processor in a row, if it did anything.
const trackOf = (run, row) => run.own[order[row]] ?? -1;
