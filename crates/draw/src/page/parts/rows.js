// ---- The order of rows: that of the first run for all runs, so that they can be compared.
function sortRows() {
  const run = runs[0], last = (id) => run.own[id] >= 0 ? run.end[run.first[run.own[id] + 1] - 1] : 0;
  const by = { finish: (a, b) => last(a) - last(b) || a - b, group: (a, b) => run.group[a] - run.group[b] || a - b }[state.order];
  order = Int32Array.from({ length: P }, (_, id) => id);
  rowOf = order.slice();
  if (by) order.sort(by).forEach((id, row) => rowOf[id] = row);
}

// Sets the view to all of the runs.
function viewAll() {
  P = Math.max(1, ...runs.map((run) => run.P));
  end = Math.max(1, ...runs.map((run) => run.finish * run.quantum)) / runs[0].quantum * 1.005;
  Object.assign(view, { from: 0, until: end, top: 0, rows: P });
}

// Whether rows are in the order of processors.
const isByNumber = () => state.order === "number" || state.order === "level";

// The width of the line between a row and the one before it: 0 for none, and wider for outer groups.
function breakAt(run, row) {
  const [a, b] = [order[row - 1], order[row]];
  if (state.order === "group") return run.group[a] === run.group[b] ? 0 : 1;
  const level = state.order === "level" ? run.levels.findIndex(([P]) => Math.floor(a / P) !== Math.floor(b / P)) : -1;
  return level < 0 ? 0 : run.levels.length - level;
}

// Offers the orders that make a difference for these runs.
function offerOrders() {
  const { group } = runs[0], offer = { group: group.some((one) => one !== group[0]), level: runs.some((run) => run.levels.length) };
  for (const [name, has] of Object.entries(offer)) $("order").querySelector(`[value=${name}]`).hidden = $("order").querySelector(`[value=${name}]`).disabled = !has;
}

