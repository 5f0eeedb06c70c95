// ---- The tree by which a datum spreads: who has it from whom, and when. Further down is later.
// `shape`: what was drawn last: the parent, the children and the time of each node, and its place. `most`: the end of an axis that
// stays while a tree is changed. `ghost`: the lines of the tree before.
const tree = { canvas: null, title: null, words: null, width: 0, label: "", id: "", shape: null, most: 0, ghost: [] };
const TREE_HEIGHT = 300;

function makeTree() {
  tree.title = element("h2", "");
  tree.canvas = element("canvas", "", { id: "branches" });
  tree.words = element("p", "", { className: "own" });
  // Its width is known when it is shown, and changes with what stands beside it.
  new ResizeObserver(() => { if (tree.canvas.clientWidth !== tree.width) showTree(); }).observe(tree.canvas);
  $("tree").append(tree.title, element("p", "A line is a message; further down is later. The numbers beside the nodes are the times at which they have the datum."), tree.words, tree.canvas);
  listenToTree();
}

// A schedule is a tree if it has one root, and whoever is in it has the datum from there.
const isTree = (parent) => parent.filter((from) => from < 0).length === 1 && parent.every((_, i) => { for (let left = parent.length; left-- && i >= 0;) i = parent[i]; return i < 0; });

function showTree() {
  const id = chosen().find((id) => id === "file" || algorithmOf(id)?.tree), one = id && !isCovered() ? answer({ do: "tree", ...requestFor(id) }) : null, none = !one || !!one.error || !isTree(one.parent);
  $("tree").hidden = none;
  if (none) return void (tree.shape = null);
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
  const last = Math.max(...time, 1), before = tree.shape, isOther = before?.at && parent.some((from, i) => from !== before.parent[i]);
  tree.most = screenOf()?.tree ? Math.max(tree.most, last) : 0;
  if (isOther) tree.ghost = id === "file" ? [...before.parent].flatMap((from, i) => from < 0 ? [] : [[before.at(from), before.at(i)]]) : [];
  Object.assign(tree, { id, shape: { parent, children, x, time, leaves, last, at: null } });
  if (own.at >= n) letGo(own.at = root);
  drawTree();
  const text = id === "file" ? "Your tree" : `The tree of ${nameOfAlgorithm(id)}`, words = treeWords(id), most = Math.max(...children.map((list) => list.length));
  for (const [part, said] of [[tree.title, text], [tree.words, words]]) if (part.textContent !== said) part.textContent = said;
  tree.canvas.setAttribute("role", isOwnable() ? "application" : "img");
  tree.canvas.tabIndex = isOwnable() ? 0 : -1;
  tree.label = `${text}: ${many(deepest, "level")} below the root, which sends to ${children[root].length}; no node sends to more than ${most}. The last has the datum at ${spoken(last)}.${isOwnable() ? " Arrows choose a node, Enter picks it up." : ""}`;
}

function drawTree() {
  const { canvas } = tree, { parent, x, time, leaves, last } = tree.shape, n = parent.length, scale = Math.min(3, devicePixelRatio || 1);
  if (tree.width !== canvas.clientWidth) {
    tree.width = canvas.clientWidth;
    Object.assign(canvas, { width: Math.round(tree.width * scale), height: TREE_HEIGHT * scale });
  }
  const { width } = tree, context = canvas.getContext("2d");
  const wide = Math.min(64, (width - 76) / Math.max(1, leaves - 1)), left = (width - wide * (leaves - 1)) / 2 - 10, radius = Math.max(2, Math.min(12, wide * 0.42));
  const high = (time) => 18 + time / (tree.most || last) * (TREE_HEIGHT - 36), goal = screenOf()?.tree && screenOf().goal, at = tree.shape.at = (i) => [left + x[i] * wide, high(time[i])];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, TREE_HEIGHT);
  Object.assign(context, { lineWidth: 1.5, textBaseline: "middle", font: "600 13" + FONT, fillStyle: colours.path, textAlign: "right" });
  context.setLineDash([5, 4]);
  for (const [a, b] of tree.ghost) stroke(context, colours.pale, a, b);
  if (goal) {
    stroke(context, colours.path, [0, high(goal)], [width, high(goal)]);
    context.fillText(`goal ${spelled(goal / unitOfSetting().length)}`, width - 2, high(goal) - 9);
  }
  context.setLineDash([]);
  context.strokeStyle = colours.grey;
  context.beginPath();
  for (let i = 0; i < n; i++) if (parent[i] >= 0) { context.moveTo(...at(parent[i])); context.lineTo(...at(i)); }
  context.stroke();
  // At a moment those who have not the datum yet are hollow.
  const now = moment.at ?? last;
  for (let i = 0; i < n; i++) {
    context.beginPath();
    context.arc(...at(i), radius, 0, 7);
    context.fillStyle = time[i] > now ? colours.css[IDLE] : colours.text;
    context.fill();
    if (time[i] > now) context.stroke();
  }
  if (radius >= 8) nameNodes(context, at, radius, wide);
  drawMoment(context, at, radius, high);
  drawHeld(context, at, radius);
}

function nameNodes(context, at, radius, wide) {
  const { time, last } = tree.shape, { length } = unitOfSetting();
  for (let i = 0; i < time.length; i++) {
    const [left, top] = at(i);
    Object.assign(context, { font: "600 12" + FONT, fillStyle: time[i] > (moment.at ?? last) ? colours.text : colours.css[IDLE], textAlign: "center" });
    context.fillText(i, left, top + 0.5);
    if (wide <= 34) continue;
    Object.assign(context, { font: "12" + FONT, fillStyle: colours.text, textAlign: "left" });
    context.fillText(spelled(time[i] / length), left + radius + 4, top + 0.5);
  }
}
