// ---- Descriptions in words.
const UNITS = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]];

// The unit for a time in ps: that of the page, or a larger or smaller one if it is a part of a second. A page that keeps to its
// unit has a larger one for what would have six digits.
function unitFor(ps) {
  const isTime = UNITS.some(([name]) => name === meta.unit[0]);
  if (!isTime || meta.keepsUnit && Math.abs(ps) < 1e5 * meta.unit[1]) return meta.unit;
  return UNITS.find(([, length]) => Math.abs(ps) >= length * 0.9999999) || meta.unit;
}
const unitOf = (quanta) => unitFor(quanta * runs[0].quantum);

// A time for a title: in another unit than the page's, its first four digits.
function titled(ps) {
  const [name, length] = unitFor(ps);
  return `${spelled(length === meta.unit[1] ? ps / length : +(ps / length).toPrecision(4))} ${name}`;
}

// A browser takes milliseconds to make its first format, and most numbers are whole.
const formats = new Map();
function spelled(number, most = 6, least = 0) {
  if (!least && Number.isSafeInteger(number)) return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const key = `${least} ${most}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most }));
  return formats.get(key).format(number);
}

function told(run, quanta) {
  const [name, length] = unitOf(quanta * ratio(run));
  return `${spelled(quanta * run.quantum / length)} ${name}`;
}

const length = (run, i) => told(run, run.end[i] - run.start[i]);
const percent = (part) => part > 0 && part < 0.0005 ? "<0.1%" : (part * 100).toFixed(part < 0.0995 ? 1 : 0) + "%";
const many = (n, thing) => `${spelled(n)} ${thing}${n === 1 ? "" : "s"}`;
const ways = (run, m) => `P${run.from[m]} to P${run.to[m]}`;
// The name of an event's kind; within a rendezvous also its direction.
const kindOf = (run, i) => run.shown[i] === RENDEZVOUS ? `${KINDS[run.kind[i]][0]} of a rendezvous' request or reply` : KINDS[run.kind[i]][0];
const nameOf = (run, i) => run.kind[i] === WORK ? run.names[run.of[i]] : "";

// The text on an event that is wide enough.
function short(run, i) {
  const kind = run.kind[i], of = run.of[i];
  if (run.shown[i] === RENDEZVOUS) return `${kind === SEND ? "\u2192" : "\u2190"} ${run.from[of] === run.id[run.track[i]] ? "P" + run.to[of] : "P" + run.from[of]} ?`;
  if (kind === SEND || kind === RECEIVE) return of < 0 ? KINDS[kind][0] : kind === SEND ? `\u2192 P${run.to[of]}` : `\u2190 P${run.from[of]}`;
  return nameOf(run, i) || { [WORK]: "work", [GAP]: "waits", [POST]: "request", [WAIT]: "wait" }[kind] || KINDS[kind][0];
}

function tell(run, { event: i, message }) {
  if (i === undefined) return "message " + tellMessage(run, message);
  const kind = run.kind[i], track = run.track[i], request = run.request[track], name = nameOf(run, i) || (kind === POST || kind === WAIT ? `request ${run.of[i]}` : "");
  const what = `P${run.id[track]}${request >= 0 ? `, request ${request}` : ""}: ${kindOf(run, i)}${name ? ` (${name})` : ""}, ${length(run, i)}`;
  const lines = [what, `from ${told(run, run.start[i])} to ${told(run, run.end[i])}`], noise = takenOf(run, i);
  if (noise > 0) lines.push(`of that, noise takes ${told(run, noise)}`);
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
  const lines = [`${ways(run, m)}, ${run.asks[m] ? "a request or a reply before a long message" : many(run.words[m], "word")}${run.bytes[m] >= 0 ? ` (${many(run.bytes[m], "byte")})` : ""}${run.tag[m] >= 0 ? ", " + run.tags[run.tag[m]] : ""}`];
  if (send >= 0) {
    const gap = send > run.first[run.track[send]] && run.kind[send - 1] === GAP ? `waits ${length(run, send - 1)} for its gap, then ` : "";
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

// The part of a chain's time to which a step from a node to its cause belongs.
function partOf(run, [what, i], [next]) {
  if (what > ARRIVAL) return what & ROOM ? "stall" : "port";
  return [KINDS[run.kind[i]]?.[0], KINDS[next === START ? GAP : IDLE][0], KINDS[next === ENTRY ? GAP : SEND][0], "L and G"][what];
}

function tellStep(run, [what, i], [next, where], id, time) {
  const name = KINDS[run.kind[i]]?.[0], left = `until the message ${ways(run, where)} leaves ${next & ROOM ? "room" : "the port"}`;
  if (what >= ARRIVAL) return `under way ${ways(run, i)}: ${time}`;
  if (what === START) return next === START ? `P${id} waits for its gap: ${time}` : "";
  if (what === ENTRY) return `P${id} ${next > ARRIVAL ? `waits to send to P${run.to[i]} ${left}` : `sends to P${run.to[i]}${next === ENTRY ? " after the gap: g" : ": o"} ${time}`}`;
  if (next === ENTRY) return "";
  if (run.kind[i] === RECEIVE && run.of[i] >= 0) return `P${id} receives from P${run.from[run.of[i]]}: o ${time}`;
  return `P${id}: ${name}${nameOf(run, i) ? ` (${nameOf(run, i)})` : ""}, ${time}`;
}

// What the critical path waits for at a moment.
function tellPath(run, at) {
  const { nodes, ids, times } = pathOf(run), i = lower(0, times.length, (i) => times[i] * ratio(run) <= at);
  const step = i && i < times.length ? tellStep(run, nodes[i - 1], nodes[i], ids[i - 1], told(run, times[i - 1] - times[i])) : "";
  return step && `critical path: ${step}`;
}

// The parts of a chain's time, the longest first.
function summary(run, { nodes, times }) {
  const parts = new Map(), all = times[0] - times.at(-1) || 1;
  for (let i = 0; i + 1 < nodes.length; i++) {
    const part = partOf(run, nodes[i], nodes[i + 1]);
    parts.set(part, (parts.get(part) || 0) + times[i] - times[i + 1]);
  }
  const long = [...parts].filter(([, time]) => time > all / 1000).sort((a, b) => b[1] - a[1]);
  return long.map(([part, time]) => `${part} ${Math.round(time / all * 100)}%`).join(", ");
}
