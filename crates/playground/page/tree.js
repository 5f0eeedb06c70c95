// ---- The tree by which a datum spreads: who has it from whom, and when. Further down is later.
const SVG = "http://www.w3.org/2000/svg";
const drawn = (name, fields = {}) => { const part = document.createElementNS(SVG, name); for (const field in fields) part.setAttribute(field, fields[field]); return part; };
const tree = { nodes: [], svg: null, edges: null, title: null, width: 0 };

function makeTree() {
  tree.title = element("h2", "");
  tree.svg = drawn("svg", { role: "img" });
  tree.edges = tree.svg.appendChild(drawn("path", { class: "edges" }));
  $("tree").append(tree.title, element("p", "A line is a message; further down is later. The numbers beside the nodes are the times at which they have the datum."), tree.svg);
}

function showTree() {
  const id = chosen().find((id) => algorithmOf(id)?.tree), one = id && !isCovered() ? answer({ do: "tree", ...requestFor(id) }) : null;
  if ($("tree").hidden !== (!one || !!one.error)) tree.width = 0;
  $("tree").hidden = !one || !!one.error;
  if ($("tree").hidden) return;
  const { parent, time } = one, n = parent.length, children = Array.from({ length: n }, () => []), root = parent.indexOf(-1);
  parent.forEach((from, i) => from >= 0 && children[from].push(i));
  for (const list of children) list.sort((a, b) => time[a] - time[b]);
  // Leaves stand side by side, and each node above the middle of its children.
  const x = new Float64Array(n);
  let leaves = 0, deepest = 0;
  const visit = (i, depth) => {
    deepest = Math.max(deepest, depth);
    for (const child of children[i]) visit(child, depth + 1);
    x[i] = children[i].length ? (x[children[i][0]] + x[children[i].at(-1)]) / 2 : leaves++;
  };
  visit(root, 0);
  const width = tree.width ||= tree.svg.clientWidth || 400, height = 300, last = Math.max(...time, 1), times = n <= 32;
  const wide = Math.min(64, (width - 50) / Math.max(1, leaves - (leaves > 1 ? 1 : 0))), left = (width - wide * (leaves - 1)) / 2, radius = Math.max(3, Math.min(12, wide * 0.42));
  const at = (i) => [left + x[i] * wide, 20 + time[i] / last * (height - 40)], named = radius >= 8;
  while (tree.nodes.length < n) tree.nodes.push(makeNode());
  for (const [i, { group, circle, id, when }] of tree.nodes.entries()) {
    if (i >= n) { group.remove(); continue; }
    if (!group.isConnected) tree.svg.append(group);
    const [left, top] = at(i);
    group.setAttribute("transform", `translate(${left.toFixed(1)} ${top.toFixed(1)})`);
    circle.setAttribute("r", radius);
    id.textContent = named ? i : "";
    when.textContent = times && wide > 28 ? spelled(time[i] / unitOfSetting().length) : "";
    when.setAttribute("x", radius + 3);
  }
  tree.edges.setAttribute("d", [...parent].map((from, i) => from < 0 ? "" : `M${at(from).map((n) => n.toFixed(1))}L${at(i).map((n) => n.toFixed(1))}`).join(""));
  tree.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  tree.svg.style.height = height + "px";
  const text = `The tree of ${nameOfAlgorithm(answers.find((one) => one.id === id).id)}`, most = Math.max(...children.map((list) => list.length));
  tree.title.textContent = text;
  tree.svg.setAttribute("aria-label", `${text}: ${many(deepest, "level")} below the root, which sends to ${children[root].length}; no node sends to more than ${most}. The last has the datum at ${spoken(last)}.`);
}

function makeNode() {
  const group = drawn("g"), circle = drawn("circle"), id = drawn("text", { class: "id" }), when = drawn("text", { class: "when" });
  group.append(circle, id, when);
  return { group, circle, id, when };
}
