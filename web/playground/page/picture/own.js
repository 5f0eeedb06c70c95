// ---- A tree of one's own: a node is dragged to another parent, and the page writes the schedule of that tree in GOAL.

// `text`: the GOAL that is open. `at`: the node that is chosen. `held`: the node that is carried. `over`: its parent if it is
// dropped. `spot`: where the pointer has it. `would`: when it would know then.
const own = { text: "", packed: "", at: 0, held: -1, over: -1, spot: null, would: "" };
const MOST_NODES = 64;

// The GOAL of a tree: each node sends to its children in their order, once it has the datum.
function goalOfTree(parent, children, bytes) {
  const rank = (i) => {
    let before = parent[i] < 0 ? "" : "r";
    const lines = [`rank ${i} {`, ...(before ? [`r: recv ${bytes}b from ${parent[i]}`] : [])];
    for (const [k, to] of children[i].entries()) {
      lines.push(`s${k + 1}: send ${bytes}b to ${to}`, ...(before ? [`s${k + 1} requires ${before}`] : []));
      before = `s${k + 1}`;
    }
    return [...lines, "}"];
  };
  return [`num_ranks ${parent.length}`, ...[...parent].flatMap((_, i) => rank(i)), ""].join("\n");
}

// The children of each node, of its parent's number.
const childrenOf = (parent) => [...parent].map((_, i) => [...parent.keys()].filter((child) => parent[child] === i));

// Shows a tree of one's own, given by the parent of each node (-1: the root) and the children of each in the order in which it
// sends to them, beside the best one.
function takeTree(parent, children = childrenOf(parent), bytes = bytesOfDatum()) {
  const { values: { size }, exercise, lesson } = setting;
  takeText(goalOfTree(parent, children, bytes), "your-tree.goal", () => {
    setting.values.size = size;
    if (!exercise && !lesson) setting.second = "broadcast/optimal";
  });
}

// Opens a schedule as a text. `more` changes the setting further, and `tell` says what is wrong.
const takeText = (text, name, more, tell) => openBytes(name, new TextEncoder().encode(text), more, tell);

const bytesOfWord = () => answers.find((one) => one.params)?.params.word ?? 8;
const bytesOfDatum = () => bytesOfWord() * Number(setting.values.size || 1);
const bytesOfTree = () => own.text.match(/send (\d+)b/)?.[1];

// Whether nodes can be dragged: the tree of an algorithm, or one that the page has written.
function isOwnable() {
  const { shape, id } = tree;
  if (!shape || shape.parent.length > MOST_NODES || isCovered()) return false;
  return id !== "file" || own.text === goalOfTree(shape.parent, shape.children, bytesOfTree());
}

// Whether a node is within the tree below another one, or is that.
const isBelow = (i, top) => i >= 0 && (i === top || isBelow(tree.shape.parent[i], top));

// The tree with the held node as the last child of another one.
function changedTree() {
  const { held, over } = own, { parent, children } = tree.shape, lists = children.map((list) => list.filter((child) => child !== held));
  lists[over].push(held);
  return [parent.map((from, i) => i === held ? over : from), lists, tree.id === "file" ? bytesOfTree() : bytesOfDatum()];
}

function drop() {
  const { held, over } = own, changed = held >= 0 && over >= 0 && changedTree();
  letGo();
  if (changed) takeTree(...changed);
  else drawTree();
}

function letGo() {
  Object.assign(own, { held: -1, over: -1, spot: null, would: "" });
}

// Chooses who would be the parent, and asks the machine when the held node would know. Its file is the tree that would be, and then
// again what it was.
function hold(over) {
  if (over === own.over) return;
  Object.assign(own, { over, would: "" });
  if (over < 0 || opened && !own.text) return;
  const tried = answerOf(() => { ask(openRequest("would.goal"), new TextEncoder().encode(goalOfTree(...changedTree()))); return ask({ do: "tree", ...requestFor("file") }); });
  if (opened) ask(openRequest(opened.name), new TextEncoder().encode(own.text));
  if (tried) own.would = `P${own.held} would know at ${spoken(tried.time[own.held])}`;
}

function answerOf(act) {
  try {
    return act();
  } catch {}
}

function listenToTree() {
  const { canvas } = tree, inside = ({ clientX, clientY }, box = canvas.getBoundingClientRect()) => [clientX - box.left, clientY - box.top];
  // The nearest node that is near enough; while one is held, nearest of those that can be its parent.
  const nearest = ([x, y], most) => {
    let best = -1, least = most;
    for (let i = 0; i < tree.shape.parent.length; i++) {
      const [left, top] = tree.shape.at(i), away = Math.hypot(left - x, top - y);
      if (away <= least && !(own.held >= 0 && isBelow(i, own.held))) [best, least] = [i, away];
    }
    return best;
  };
  const grip = (event) => isOwnable() ? nearest(inside(event), 20) : -1;
  // A finger on a node drags it, and elsewhere it scrolls; a pointer is told before.
  canvas.addEventListener("touchstart", (event) => own.held >= 0 && event.preventDefault(), { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    const i = grip(event);
    if (i < 0) return;
    own.at = i;
    if (tree.shape.parent[i] >= 0) {
      Object.assign(own, { held: i, over: -1, spot: null });
      canvas.setPointerCapture(event.pointerId);
    }
    drawTree();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (own.held < 0 || !event.buttons) return void (canvas.style.cursor = grip(event) >= 0 ? "grab" : "");
    own.spot = inside(event);
    hold(nearest(own.spot, 60));
    drawTree();
  });
  canvas.addEventListener("pointerup", () => own.spot ? drop() : (letGo(), drawTree()));
  canvas.addEventListener("pointercancel", () => { letGo(); drawTree(); });
  canvas.addEventListener("keydown", (event) => {
    const { key } = event;
    if (!isOwnable()) return;
    const isEnter = key === "Enter" || key === " ", from = tree.shape.parent[own.at];
    // What it becomes is said once the run is there.
    if (isEnter && own.held >= 0) return event.preventDefault(drop());
    if (isEnter) from >= 0 && Object.assign(own, { held: own.at, over: from });
    else if (key === "Escape" && own.held >= 0) letGo();
    else if (key.startsWith("Arrow")) walkTree(key.slice(5));
    else return;
    event.preventDefault();
    drawTree();
    tellNode();
  });
  for (const when of ["focus", "blur"]) canvas.addEventListener(when, () => { if (when === "blur") letGo(); if (tree.shape) drawTree(); });
}

// Goes from the chosen node, or from the parent that is chosen for the held one, to the nearest in a direction.
function walkTree(way) {
  const { shape } = tree, from = own.held >= 0 ? own.over : own.at, [x, y] = shape.at(from);
  const across = way === "Left" || way === "Right", sign = way === "Left" || way === "Up" ? -1 : 1;
  let best = -1, least = Infinity;
  for (let i = 0; i < shape.parent.length; i++) {
    if (i === from || own.held >= 0 && isBelow(i, own.held)) continue;
    const [left, top] = shape.at(i), [along, off] = across ? [left - x, top - y] : [top - y, left - x], away = along * sign + 2 * Math.abs(off);
    if (along * sign > 1 && away < least) [best, least] = [i, away];
  }
  if (best < 0) return;
  if (own.held >= 0) hold(best);
  else own.at = best;
}

function tellNode() {
  const { held, over, at } = own, { parent, time } = tree.shape;
  $("said").textContent = held >= 0 ? `P${held} is held; Enter makes it a child of P${over}, Escape leaves it.${own.would && ` ${own.would}.`}`
    : `P${at}, ${parent[at] < 0 ? "the root" : `child of P${parent[at]}, has the datum at ${spoken(time[at])}; Enter picks it up`}.`;
}

// Marks the chosen node, and where the held one goes.
function drawHeld(context, at, radius) {
  const { held, over, spot } = own, ring = (i, more) => { context.beginPath(); context.arc(...at(i), radius + more, 0, 7); context.stroke(); };
  Object.assign(context, { strokeStyle: colours.path, lineWidth: 3 });
  if (document.activeElement === tree.canvas && own.at < tree.shape.parent.length) ring(own.at, 3);
  if (held < 0) return;
  context.setLineDash([5, 4]);
  const place = spot ?? at(held);
  if (over >= 0) {
    context.beginPath();
    context.moveTo(...at(over));
    context.lineTo(...place);
    context.stroke();
    ring(over, 5);
  }
  context.setLineDash([]);
  context.fillStyle = colours.path;
  context.beginPath();
  context.arc(...place, radius, 0, 7);
  context.fill();
  if (own.would) {
    const isLeft = place[0] < tree.width / 2;
    Object.assign(context, { font: "600 14" + FONT, textAlign: isLeft ? "left" : "right" });
    context.fillText(own.would, place[0] + (isLeft ? radius + 8 : -radius - 8), place[1] - 4);
  }
  if (radius < 8) return;
  Object.assign(context, { font: "600 12" + FONT, fillStyle: colours.halo, textAlign: "center" });
  context.fillText(held, place[0], place[1] + 0.5);
}

// How a tree of one's own stands to the best one.
function treeWords(id) {
  const can = isOwnable(), { length } = tree.shape.parent;
  if (id !== "file") return can ? "Drag a node to another parent: the run follows." : length > MOST_NODES ? `With at most ${MOST_NODES} processors its nodes can be dragged.` : "";
  // The best one of as many nodes and as large a datum, whatever the sliders say.
  const mine = answers.find((one) => one.id === id), { params, ...request } = requestFor("broadcast/optimal", { columns: false, size: Math.ceil(bytesOfTree() / bytesOfWord()) });
  const best = answer({ do: "run", ...request, params: params.replace(/P=\d+/, `P=${length}`) });
  const off = best.error || !mine?.time ? NaN : mine.time - best.time;
  const says = Number.isNaN(off) ? "" : off > 0 ? `${spoken(off)} more than the best` : off < 0 ? `${spoken(-off)} less than \u201coptimal\u201d` : "as fast as the best";
  return `${mine?.time ? `T = ${spoken(mine.time)}` : ""}${says && `: ${says}`}. ${can ? "Drag a node to another parent; it becomes its last child." : ""}`;
}
