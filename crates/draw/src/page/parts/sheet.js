// ---- Saving the view as SVG: the functions that draw on the screen draw on a sheet, which has the methods
// of a canvas context and collects elements.

// The most events that are drawn as boxes; if there are more, the rows are an image.
const MOST_BOXES = 20000;

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const rounded = (number) => +number.toFixed(3);

class Sheet {
  parts = [];
  ways = [];
  dash = [];
  kept = [];
  clips = 0;
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  lineJoin = "miter";
  globalAlpha = 1;
  font = "12" + FONT;
  textAlign = "left";
  textBaseline = "middle";

  add(name, fields, text) {
    if (this.globalAlpha < 1) fields.opacity = this.globalAlpha;
    const words = Object.entries(fields).map(([name, value]) => ` ${name}="${escaped(typeof value === "number" ? rounded(value) : value)}"`).join("");
    this.parts.push(text === undefined ? `<${name}${words}/>` : `<${name}${words}>${escaped(text)}</${name}>`);
  }

  setTransform() {}
  clearRect() {}

  save() {
    this.kept.push({ ...this });
    this.clips = 0;
  }
  restore() {
    this.parts.push("</svg>".repeat(this.clips));
    Object.assign(this, this.kept.pop());
  }

  beginPath() { this.ways = []; }
  rect(...box) { this.box = box; }
  clip() {
    const [x, y, width, height] = this.box.map(rounded);
    this.parts.push(`<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">`);
    this.clips++;
  }
  moveTo(x, y) { this.ways.push([[x, y]]); }
  lineTo(x, y) {
    if (this.ways.length) this.ways.at(-1).push([x, y]);
    else this.moveTo(x, y);
  }
  addWays(name, fields) {
    for (const way of this.ways) this.add(name, { points: way.map((place) => place.map(rounded).join(",")).join(" "), ...fields });
  }
  stroke() {
    const dash = this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {};
    this.addWays("polyline", { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, ...dash });
  }
  fill() { this.addWays("polygon", { fill: this.fillStyle }); }
  setLineDash(dash) { this.dash = dash; }
  fillRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: this.fillStyle }); }
  strokeRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
  measureText(text) {
    map.font = this.font;
    return map.measureText(text);
  }
  fillText(text, x, y) {
    const [, weight, size, family] = /^(600 )?([\d.]+)px (.*)$/.exec(this.font), anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.add("text", { x, y, "text-anchor": anchor, "dominant-baseline": "central", "font-size": size, "font-family": family, "font-weight": weight ? 600 : 400, fill: this.fillStyle }, text);
  }
}

// Draws the rows of a run as boxes if there are few events, or else as the image of the screen.
function drawBoxes(sheet, run) {
  const panel = place.panels[run.index], high = highOf(run), q = ratio(run), boxes = [], pad = high >= 14 ? Math.min(high * 0.2, 10) : high >= 5 ? 1 : 0;
  const last = Math.min(run.P, Math.ceil(view.top + view.rows));
  const box = (kind, start, end, y, tall) => boxes.push([kind, Math.max(place.left, xOf(start * q)), Math.min(place.width, xOf(end * q)), y, tall]);
  for (let row = Math.floor(view.top); panel.exact && !state.hits && row < last && boxes.length <= MOST_BOXES; row++) {
    const y = panel.top + (row - view.top) * high + pad, tall = high - 2 * pad, own = trackOf(run, row), { taken } = run;
    for (const track of own < 0 ? [] : [own, ...run.beside.get(order[row]) ?? []]) {
      const [top, tallness] = track === own ? [y, tall] : [y + tall / 4, tall / 2], until = view.until / q;
      for (let i = firstAfter(run, track, view.from / q); i < run.first[track + 1] && run.start[i] < until && boxes.length <= MOST_BOXES; i++)
        if (run.kind[i] !== IDLE && run.end[i] > run.start[i]) box(run.shown[i], run.start[i], run.end[i], top, tallness);
      const [first, after] = takenIn(run, track, view.from / q, until);
      for (let i = first; i < after; i++)
        box(NOISE, taken.start[i], taken.end[i], top, tallness);
    }
  }
  if (panel.exact && !state.hits && boxes.length <= MOST_BOXES) {
    for (const [kind, x, right, y, height] of boxes) sheet.add("rect", { x, y, width: right - x, height, fill: colours.css[kind] });
    return;
  }
  sheet.add("image", { x: place.left, y: panel.top, width: place.width - place.left, height: panel.height, href: panel.rows.canvas.toDataURL(), preserveAspectRatio: "none" });
}

// The kinds that occur.
const shownKinds = () => [...KINDS.keys()].filter((kind) => runs.some((run) => run.shares[kind] > 0));

// Returns the view as SVG, with its title above it and the colours below.
function sheetOf() {
  const [screen, above] = [base, over], sheet = new Sheet();
  const { width, height } = place, head = 26, foot = 26;
  [base, over] = [sheet, sheet];
  try {
    sheet.textBaseline = "middle";
    sheet.fillStyle = colours.css[IDLE];
    sheet.fillRect(0, -head, width, height + head + foot);
    writeWithin(meta.title, 2, 12 - head, width - 4, colours.text, "600 14");
    drawAll((run) => within(sheet, run, () => drawBoxes(sheet, run)));
    let x = 2;
    for (const kind of shownKinds()) {
      sheet.fillStyle = colours.css[kind];
      sheet.fillRect(x, height + 8, 12, 10);
      sheet.strokeStyle = colours.grey;
      sheet.strokeRect(x, height + 8, 12, 10);
      x += 30 + write(KINDS[kind][0], x + 17, height + 13, colours.text);
    }
  } finally {
    [base, over] = [screen, above];
  }
  const picture = $("sheet").cloneNode();
  for (const [name, value] of Object.entries({ width, height: height + head + foot, viewBox: `0 ${-head} ${width} ${height + head + foot}` })) picture.setAttribute(name, value);
  picture.removeAttribute("id");
  picture.removeAttribute("hidden");
  picture.innerHTML = sheet.parts.join("\n");
  return new XMLSerializer().serializeToString(picture);
}

function save() {
  const link = document.createElement("a");
  link.setAttribute("href", URL.createObjectURL(new Blob([sheetOf()], { type: "image/svg+xml" })));
  link.download = (meta.title.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "timeline") + ".svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.getAttribute("href")), 10000);
}

