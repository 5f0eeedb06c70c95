// ---- Following causes. A node is the end of an event, the start of a reception, the entry of a message, or
// its arrival. An arrival may have a flag: another message waited for it because of the capacity (ROOM) or
// the port (DOOR).
const END = 0, START = 1, ENTRY = 2, ARRIVAL = 3, ROOM = 4, DOOR = 8;

const position = (run, what, i) => what < ENTRY ? [run.id[run.track[i]], (what ? run.start : run.end)[i]]
  : what === ENTRY ? [run.from[i], run.enter[i]] : [run.to[i], run.arrival[i]];

// The cause of a node: the node for which it waited, or null.
function cause(run, [what, i]) {
  const code = run.causes[what & 3][i], where = i + unsigned(Math.floor(code / 8));
  if (code === 1) return [END, (what === ENTRY ? run.sent[i] : i) - 1];
  return code ? [[, , END, START, ENTRY, ARRIVAL, ARRIVAL | ROOM, ARRIVAL | DOOR][code % 8], where] : null;
}

// All nodes from one back to the start, with their processors and times.
function chain(run, node) {
  const nodes = [], add = (node) => nodes.push(node);
  for (let left = 2 * (run.events + run.messages); node && left > 0; left--, node = cause(run, node)) add(node);
  // The first event of a processor has no cause, so the chain ends with its start.
  const [what, i] = nodes.at(-1) || [], first = what === ENTRY ? run.sent[i] : i;
  if (nodes.length && (what === END || what === ENTRY) && first >= 0) add([START, first]);
  const places = nodes.map((node) => position(run, ...node));
  return { nodes, ids: Int32Array.from(places, ([id]) => id), times: Float64Array.from(places, ([, at]) => at) };
}

const pathOf = (run) => run.path ??= chain(run, run.last === null ? null : [END, run.last]);

// The message for which a processor waited: the one that it receives at the end of the wait. -1 if there is
// none.
function awaited(run, event) {
  const last = run.first[run.track[event] + 1];
  let next = event + 1;
  while (next < last && run.kind[next] === GAP) next++;
  const waits = run.kind[event] === IDLE || run.kind[event] === GAP;
  if (!waits || next >= last || run.kind[next] !== RECEIVE) return -1;
  return run.kind[event] === IDLE && run.arrival[run.of[next]] !== run.end[event] ? -1 : run.of[next];
}
