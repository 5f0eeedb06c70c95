"use strict";
// Opens the pages of a folder in Chromium, does what a user does, and says what is wrong. `docs/results/make/timeline` runs it.

const fs = require("fs"), path = require("path"), assert = require("assert");
const { execFileSync } = require("child_process");
const { chromium } = require("playwright-core");
const [folder, option, pictures] = process.argv.slice(2);
const keep = option === "--pictures" ? pictures : null;

// What the page says of itself: its script's own variables.
const seen = (page) => page.evaluate(() => ({
  from: view.from, until: view.until, top: view.top, rows: view.rows, end, hits: state.hits && state.hits.all.length,
  why: document.querySelectorAll("#why li").length, tip: document.getElementById("tip").textContent,
  wide: document.documentElement.scrollWidth, P, runs: runs.length,
  colours: place.panels[0].image ? new Set(new Uint32Array(place.panels[0].image.data.buffer)).size : 0,
}));

// A page that is open, in a window of this size; whatever it complains of is a mistake.
async function opened(browser, name, width, height, more = {}) {
  const context = await browser.newContext({ viewport: { width, height }, ...more }), page = await context.newPage();
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") throw new Error(`${name}: ${message.text()}`); });
  page.on("pageerror", (error) => { throw new Error(`${name}: ${error.stack}`); });
  page.on("request", (request) => assert(request.url().startsWith("file:"), `${name} asks for ${request.url()}`));
  await page.goto("file://" + path.join(folder, name + ".html"));
  await becomes(page, () => document.documentElement.dataset.ready, 60000);
  await page.waitForTimeout(200);
  return page;
}

// Waits until something holds, which it does at once unless this computer is busy. It asks from outside, since the page's policy
// lets it evaluate nothing.
async function becomes(page, what, timeout = 20000) {
  for (const until = Date.now() + timeout; !(await page.evaluate(what)); await page.waitForTimeout(20)) {
    assert(Date.now() < until, `it never holds: ${what}`);
  }
}

async function picture(page, name) {
  if (keep) await page.screenshot({ path: path.join(keep, name + ".png") });
}

// What the page has read is what the trace says.
async function holds(page, name) {
  const events = JSON.parse(fs.readFileSync(path.join(folder, name + ".json"), "utf8")).traceEvents.filter((event) => event.args);
  const own = events.filter((event) => event.ph === "X" && event.pid === 1 << 24), sent = events.filter((event) => event.cat === "transit" && event.args.enter !== undefined);
  const sum = (all, of) => all.reduce((sum, one) => (sum + of(one)) % (2 ** 40), 0);
  const read = await page.evaluate(() => {
    const [run] = runs, q = run.quantum, sum = (all) => all.reduce((sum, one) => (sum + one * q) % (2 ** 40), 0);
    const own = [...run.kind.keys()].filter((i) => run.request[run.track[i]] < 0);
    return [own.length, sum(own.map((i) => run.start[i])), sum(own.map((i) => run.end[i])), run.messages, sum([...run.enter]), sum([...run.arrival]), [...run.to].reduce((a, b) => a + b, 0)];
  });
  const said = [own.length, sum(own, (event) => event.args.start), sum(own, (event) => event.args.end), sent.length,
    sum(sent, (event) => event.args.enter), sum(sent, (event) => event.args.arrival), sent.reduce((all, event) => all + event.args.to, 0)];
  assert.deepStrictEqual(read, said, name);
}

// What a user does with a mouse and keys.
async function used(page, name, width) {
  const first = await seen(page), box = await page.locator("#plot").boundingBox(), [x, y] = [box.x + box.width * 0.4, box.y + box.height / 2];
  assert(first.wide <= width, `${name} is ${first.wide} wide at ${width}`);
  assert(first.colours > 4, `${name} shows ${first.colours} colours`);
  assert.deepStrictEqual([first.from, first.until, first.rows], [0, first.end, first.P]);
  await page.mouse.move(x, y);
  for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -120);
  await becomes(page, "view.until - view.from < 0.3 * end");
  const near = await seen(page);
  await page.mouse.down();
  await page.mouse.move(x - 60, y, { steps: 4 });
  await page.mouse.up();
  assert((await seen(page)).from > near.from, `${name} does not move`);
  await page.locator("#plot").focus();
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "[", "]", "+", "-", "p", "m", "m", "?", "?", "Home", "End", "0"]) await page.keyboard.press(key);
  await page.keyboard.press("p");
  assert.strictEqual((await seen(page)).until, first.end, `${name} does not show all again`);
  // The hand that is not at the mouse moves too.
  const spans = [];
  for (const key of ["w", "d", "a", "s"]) {
    await page.keyboard.press(key);
    const { from, until } = await seen(page);
    spans.push([from, until - from]);
  }
  assert(spans[0][1] < first.end && spans[1][0] > spans[0][0] && Math.abs(spans[2][0] - spans[0][0]) < 1e-6 * first.end && spans[3][1] > spans[2][1], JSON.stringify(spans));
  await page.keyboard.press("0");
  await page.keyboard.press("/");
  await page.keyboard.type("overhead");
  await becomes(page, "state.hits && state.hits.all.length > 0");
  await page.keyboard.press("Enter");
  const chosen = await seen(page);
  assert(chosen.why > 0, `${name} says not why`);
  await page.locator("#why li").first().click();
  await picture(page, `${name}-${width}-found`);
  await page.keyboard.press("Escape");
  assert.deepStrictEqual([(await seen(page)).hits, (await seen(page)).why], [null, 0]);
  await page.fill("#search", "p1");
  await becomes(page, "view.rows <= 8");
  await page.fill("#search", "no such thing");
  await becomes(page, "$('found').textContent === 'nothing'");
  await page.keyboard.press("Escape");
  await page.click("#all");
  for (const order of ["finish", "number"]) await page.selectOption("#order", order);
  const map = await page.locator("#map").boundingBox();
  await page.click("#in");
  await page.mouse.click(map.x + map.width * 0.9, map.y + map.height / 2);
  assert((await seen(page)).from > 0.35 * first.end, `${name}: the overview does not move the window`);
  await page.click("#all");
  await page.click("#path");
  await page.waitForTimeout(150);
  await picture(page, `${name}-${width}`);
  await page.click("#path");
}

// How well two colours are told apart (WCAG 2, contrast ratio).
function contrast(one, other) {
  const bright = (colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16) / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const [a, b] = [bright(one), bright(other)].sort((a, b) => b - a);
  return (a + 0.05) / (b + 0.05);
}

// Every text can be read on what is behind it, and the critical path is seen on everything; as the page draws them.
async function legible(browser) {
  for (const [colorScheme, found] of [["light", ""], ["light", "overhead"], ["dark", ""], ["dark", "overhead"]]) {
    const page = await opened(browser, "lu", 1280, 800, { colorScheme });
    const texts = await page.evaluate((found) => {
      search(found);
      const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim(), said = [];
            // What stands on the activities themselves.
      const seen = new Map(), { fillText } = base;
      base.fillText = function (text, x, y) { seen.set(text + base.fillStyle, [text, base.fillStyle, x, y]); return fillText.call(this, text, x, y); };
      state.arrows = false;
      zoom(0.02);
      frame();
      delete base.fillText;
      for (const [text, colour, x, y] of seen.values()) {
        const inside = x > place.left + 20 && x < place.width - 20 && y > place.panels[0].top && y < place.panels[0].top + place.panels[0].height;
        // A pixel of the same activity beside its middle line, on which the text is.
        const rows = place.panels[0].image, at = ((y - place.panels[0].top + highOf(runs[0]) / 4 | 0) * place.scale * rows.width + ((x - place.left) * place.scale | 0)) * 4;
        if (inside) said.push([text, colour, "#" + [...rows.data.slice(at, at + 3)].map((part) => part.toString(16).padStart(2, "0")).join("")]);
      }
      for (const text of ["ink", "grey", "path"]) for (const behind of ["paper", "card"]) said.push([text + " on " + behind, of(text), of(behind)]);
      return said;
    }, found);
    assert(texts.length > 12, `${texts.length} texts`);
    for (const [what, text, behind] of texts) assert(contrast(text, behind) >= 4.5, `${colorScheme}: ${what}, ${text} on ${behind}: ${contrast(text, behind).toFixed(2)}`);
    // The critical path: which colours the upper canvas has.
    const drawn = await page.evaluate(() => {
      showAll();
      state.path = true;
      frame();
      const pixels = new Uint32Array(over.getImageData(0, 0, over.canvas.width, over.canvas.height).data.buffer), counts = new Map();
      for (const pixel of pixels) if (pixel >>> 24 === 255) counts.set(pixel, (counts.get(pixel) || 0) + 1);
      const hex = (pixel) => "#" + [0, 8, 16].map((shift) => (pixel >>> shift & 255).toString(16).padStart(2, "0")).join("");
      return [[...counts].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([pixel]) => hex(pixel)), colours.css.map((colour, i) => [KINDS[i][0], colour])];
    });
    for (const [kind, colour] of drawn[1])
      assert(Math.max(...drawn[0].map((path) => contrast(path, colour))) >= 3, `${colorScheme}: the critical path, ${drawn[0]}, on ${kind} ${colour}`);
    await page.context().close();
  }
}

// The colours of a page on paper, and how many pixels have each.
async function printed(browser, name) {
  const page = await opened(browser, name, 1280, 800, { colorScheme: "dark" });
  await page.click("#path");
  const colours = await page.evaluate(() => {
    document.documentElement.classList.add("print");
    const style = getComputedStyle(document.documentElement), of = (name) => parseInt(style.getPropertyValue("--" + name).trim().slice(1), 16);
    const all = Object.fromEntries(["send", "receive", "stall", "path"].map((name) => [name, of(name)]));
    document.documentElement.classList.remove("print");
    return all;
  });
  const file = path.join(folder, "print");
  await page.pdf({ path: file + ".pdf", format: "A4" });
  // What was printed leaves the page as it was.
  assert((await seen(page)).colours > 4 && (await seen(page)).wide <= 1280, `${name} is another after it was printed`);
  await page.context().close();
  execFileSync("pdftoppm", ["-r", "100", "-png", "-singlefile", file + ".pdf", file]);
  if (keep) fs.copyFileSync(file + ".png", path.join(keep, `${name}-print.png`));
  const shown = await browser.newPage();
  await shown.setContent(`<img src="data:image/png;base64,${fs.readFileSync(file + ".png").toString("base64")}">`);
  const found = await shown.evaluate((colours) => {
    const image = document.querySelector("img"), { naturalWidth: width, naturalHeight: height } = image, canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, width, height).data, plot = {}, legend = {};
    for (let i = 0; i < data.length; i += 4)
      for (const [name, colour] of Object.entries(colours)) {
        const near = [16, 8, 0].every((shift, part) => Math.abs(data[i + part] - (colour >> shift & 255)) < 24);
        if (near) (i / 4 / width < 62 ? legend : plot)[name] = ((i / 4 / width < 62 ? legend : plot)[name] || 0) + 1;
      }
    return { plot, legend };
  }, colours);
  await shown.close();
  for (const kind of ["send", "receive", "stall", "path"]) assert(found.plot[kind] > 200, `${name}: on paper the plot has ${JSON.stringify(found.plot)}`);
  for (const kind of ["send", "receive", "stall"]) assert(found.legend[kind] > 30, `${name}: on paper the legend has ${JSON.stringify(found.legend)}`);
}

// Nothing is written over another thing above the rows, and what a formula foretells does not narrow the run.
async function captioned(browser) {
  for (const name of ["remap", "lu", "beside", "levels"]) {
    const page = await opened(browser, name, 400, 800);
    for (const path of [false, true]) {
      const texts = await page.evaluate((path) => {
        const seen = [], { fillText } = base;
        base.fillText = function (text, x, y) {
          const wide = base.measureText(text).width, left = base.textAlign === "right" ? x - wide : base.textAlign === "center" ? x - wide / 2 : x;
          if (text) seen.push([text, left, left + wide, y]);
          return fillText.call(this, text, x, y);
        };
        state.path = path;
        state.arrows = false;
        frame();
        delete base.fillText;
        const inRows = (y) => place.panels.some(({ top, height }) => y > top && y < top + height);
        return seen.filter(([, , , y]) => !inRows(y));
      }, path);
      assert(texts.length > 3);
      texts.forEach(([one, a, b, y], i) => texts.slice(i + 1).forEach(([other, c, d, z]) =>
        assert(Math.abs(y - z) >= 11 || b <= c || d <= a, `${name} at 400: "${one}" is written over "${other}"`)));
      for (const [text, a, b] of texts) assert(a >= 0 && b <= 400, `${name} at 400: "${text}" goes from ${a} to ${b}`);
    }
    await page.context().close();
  }
  const page = await opened(browser, "remap", 1280, 800);
  const [until, finish, mark, words] = await page.evaluate(() => {
    const { quantum, finish, marks } = runs[0], words = [], { fillText } = base;
    base.fillText = function (text) { words.push(text); };
    frame();
    base.fillText = fillText;
    return [view.until, finish, marks[0][1] / quantum, words];
  });
  assert(mark > 2 * finish && until < 1.01 * finish, `a run of ${finish} is shown until ${until}, with a formula at ${mark}`);
  assert(words.some((text) => text.startsWith("formula") && text.endsWith("\u2192")), `the formula is said nowhere: ${words}`);
  await page.context().close();
}

// Letters stand above the rows at the times that they name, and arrows lie under what processors do.
async function lettered(browser) {
  const page = await opened(browser, "broadcast", 1280, 800);
  const letters = () => page.evaluate(() => placeLetters(runs[0]).map(({ text, x, right, y }) => [text, Math.round(momentAt(x) * runs[0].quantum / 1e6), Math.round(momentAt(right) * runs[0].quantum / 1e6), y > place.panels[0].top - place.lane && y < place.panels[0].top]));
  assert.deepStrictEqual(await letters(), [["o", 0, 2, true], ["L", 2, 8, true], ["o", 8, 10, true], ["g", 0, 4, true]]);
  const svg = await page.evaluate(() => sheetOf());
  for (const letter of ["o", "L", "g"]) assert(svg.includes(`>${letter}</text>`), `the saved picture has no ${letter}`);
  assert(svg.lastIndexOf("<polygon") < svg.indexOf('fill="#0072b2"'), "arrows are saved above what processors do");
  // P5's reception lies on the arrow from P0 to P7.
  const mixed = await page.evaluate(() => {
    const { scale } = place, send = xOf(10.2e6 / runs[0].quantum), width = (xOf(11.8e6 / runs[0].quantum) - send) * scale, y = yOf(runs[0], 1) + highOf(runs[0]) * 0.22;
    return new Set(new Uint32Array(base.getImageData(send * scale, y * scale, width, 1).data.buffer)).size;
  });
  assert.strictEqual(mixed, 1, "an arrow is drawn over a send");
  await page.evaluate(() => moveTo(0.5 * end, 0.7 * end));
  assert.deepStrictEqual(await letters(), []);
  await page.context().close();
  const many = await opened(browser, "lu", 1280, 800);
  assert(await many.evaluate(() => $("arrows").hasAttribute("data-many")), "messages that are not drawn are not told");
  await many.evaluate(() => { moveTo(0, 0.02 * end); });
  await becomes(many, "!$('arrows').hasAttribute('data-many')");
  await many.fill("#search", "stall");
  await becomes(many, "/^[\\d,]+ found, .* in all$/.test($('found').textContent)");
  await many.click("#help");
  assert((await many.locator("#keys th").allTextContents()).length > 12);
  await many.context().close();
}

// An activity that is thinner than a pixel is seen; a path of many turns is no fence, and a part of it follows what is pointed at.
async function thin(browser) {
  const page = await opened(browser, "remap", 1280, 800), box = await page.locator("#plot").boundingBox();
  const [idle, seen] = await page.evaluate(() => {
    // A processor that sends once in a long time.
    const width = 400, at = 200.37, run = { ...runs[0], P: 1, shown: [SEND], start: [at], end: [at + 0.01], first: [0, 1], own: [0], beside: new Map(), grids: [], taken: { first: [0, 0], start: [], end: [], of: [] } };
    const pixels = new Uint32Array(width * 20).fill(colours.paperPixel);
    paint(run, pixels, width, 20, 0, 1, 0, width);
    const [r, g, b] = new Uint8Array(pixels.buffer, (8 * width + 200) * 4, 3), far = (rgb) => Math.abs(r - rgb[0]) + Math.abs(g - rgb[1]) + Math.abs(b - rgb[2]);
    return [far(colours.paper), far(colours.rgb[SEND])];
  });
  assert(seen <= idle + 3, `a thin send is ${seen} from its colour, and ${idle} from that of paper`);
  await page.click("#path");
  const inked = () => page.evaluate(() => {
    const { width, height } = over.canvas, copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(over.canvas, 0, 0);
    const pixels = new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer), path = parts(colours.path), ink = (255 << 24 | path[2] << 16 | path[1] << 8 | path[0]) >>> 0;
    return pixels.reduce((sum, pixel) => sum + (pixel === ink), 0) / pixels.length;
  });
  const before = await inked();
  assert(before > 0.0005 && before < 0.01, `the path covers ${before} of the rows`);
  await page.mouse.move(box.x + 500, box.y + 200);
  await page.mouse.move(box.x + 510, box.y + 200);
  assert(await inked() > before + 0.001, "the path does not follow what is pointed at");
  assert((await page.evaluate(() => $("tip").textContent)).includes("critical path: "), "the path is not told");
  await page.context().close();
}

// A critical path of many hops does not hold up a frame: what is drawn of it is as much as the window has pixels for.
async function quick(browser) {
  const page = await opened(browser, "hops", 1280, 800);
  const [hops, time] = await page.evaluate(() => {
    // Reading a pixel waits until all is drawn.
    const times = [], hops = pathOf(runs[0]).nodes.length, pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    state.path = true;
    frame();
    for (let i = 0; i < 15; i++) {
      const began = performance.now();
      drawOver();
      pixel.drawImage(over.canvas, 0, 0, 1, 1);
      pixel.getImageData(0, 0, 1, 1);
      times.push(performance.now() - began);
    }
    return [hops, times.sort((a, b) => a - b)[7]];
  });
  assert(hops > 10000 && time < 100, `a critical path of ${hops} hops takes ${time.toFixed(0)} ms`);
  await page.context().close();
}

// Where many ranks share a line of pixels, few events in a window are drawn from themselves: an edge is where it is.
async function exact(browser) {
  const page = await opened(browser, "ranks", 1280, 800);
  const wrong = await page.evaluate(() => {
    moveTo(0.1 * end, 0.16 * end);
    frame();
    const [run] = runs, { image } = place.panels[0], line = new Uint32Array(image.data.buffer).slice(image.width * 100, image.width * 101);
    const edges = [], scale = image.width / (view.until - view.from), wrong = [];
    for (let i = run.first[0]; i < run.first[1]; i++) if (run.kind[i] !== IDLE) edges.push((run.start[i] - view.from) * scale, (run.end[i] - view.from) * scale);
    for (let x = 1; x < image.width - 1; x++) {
      if (line[x] === line[x - 1] || line[x] === line[x + 1]) continue;
      if (!edges.some((edge) => Math.abs(edge - x) < 2)) wrong.push(x);
    }
    const seen = edges.filter((edge) => edge > 2 && edge < image.width - 2);
    const kept = seen.filter((edge) => line[Math.round(edge) - 2] !== line[Math.round(edge) + 2]);
    return { exact: place.panels[0].exact, edges: seen.length, kept: kept.length, wrong };
  });
  assert(wrong.edges > 1 && wrong.exact && wrong.kept === wrong.edges && !wrong.wrong.length, `ranks: ${JSON.stringify(wrong)}`);
  await page.context().close();
}

// What is pointed at is told only while it is there; the keys point too.
async function pointed(browser) {
  const page = await opened(browser, "remap", 1280, 800), box = await page.locator("#plot").boundingBox();
  const at = [box.x + 300, box.y + box.height / 2], told = () => page.evaluate(() => document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent);
  const point = async () => {
    await page.mouse.move(at[0] - 5, at[1]);
    await page.mouse.move(...at);
    for (let x = 0; x < 40 && !await told(); x++) await page.mouse.move(at[0] + 3 * x, at[1]);
    assert(await told(), "nothing is told");
  };
  await page.evaluate(() => { state.arrows = false; });
  const ways = {
    "a key zoomed": () => page.keyboard.press("+"), "a key moved": () => page.keyboard.press("ArrowRight"), "all is shown": () => page.keyboard.press("0"),
    "the order changed": () => page.selectOption("#order", "finish"), "the wheel zoomed": () => page.mouse.wheel(0, -200), "the mouse left": () => page.mouse.move(5, 5),
  };
  for (const [what, act] of Object.entries(ways)) {
    await point();
    await act();
    await page.waitForTimeout(60);
    assert.strictEqual(await told(), "", `something is told after ${what}`);
  }
  await page.evaluate(() => { choose(null); showAll(); });
  await page.mouse.move(5, 5);
  await page.locator("#plot").focus();
  await page.keyboard.press(".");
  const first = await page.evaluate(() => state.hover.event);
  await page.keyboard.press(".");
  await page.keyboard.press(".");
  const third = await page.evaluate(() => state.hover.event);
  assert(third > first, "the next event is not found by key");
  assert(await told(), "an event that was found by key is not told");
  await page.keyboard.press(",");
  assert((await page.evaluate(() => state.hover.event)) < third, "the event before is not found by key");
  const row = await page.evaluate(() => rowOf[state.hover.run.id[state.hover.run.track[state.hover.event]]]);
  await page.keyboard.press(">");
  assert.strictEqual(await page.evaluate(() => rowOf[state.hover.run.id[state.hover.run.track[state.hover.event]]]), row + 1, "the row below is not found by key");
  const pointedAt = await page.evaluate(() => state.hover.event);
  await page.keyboard.press("Enter");
  assert.strictEqual(await page.evaluate(() => state.chosen && state.chosen.event), pointedAt, "Enter chooses nothing");
  assert((await seen(page)).why > 0, "Enter lists no causes");
  // A long way back goes on: none of it is left out without a word.
  const steps = await page.evaluate(() => { choose({ run: runs[0], event: runs[0].last }); return state.chosen.chain.nodes.length - 1; });
  assert(steps > 150);
  const last = () => page.evaluate(() => [...document.querySelectorAll("#why li")].at(-1).textContent);
  assert.match(await last(), /and [\d,]+ steps? further back/);
  await page.locator("#why li").last().click();
  await page.locator("#why li").last().click({ timeout: 2000 }).catch(() => {});
  assert((await seen(page)).why > 150, "the list of causes does not go on");
  await page.context().close();
}

// An interval that is dragged tells what was done in it, who sent to whom, and who waited; as the trace has it.
async function marked(browser) {
  for (const name of ["remap", "noise", "rendezvous"]) {
    const page = await opened(browser, name, 1280, 800), box = await page.locator("#plot").boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 300, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const { interval, text, table, said, quantum, from } = await page.evaluate(() => ({
      interval: state.interval, text: $("why").textContent, table: [...document.querySelectorAll("#why table:not(.each) td")].map((cell) => +cell.textContent.replace(/,/g, "")),
      said: sharesIn(runs[0], state.interval), quantum: runs[0].quantum, from: view.from,
    }));
    assert(interval && interval.last - interval.first > 2 && interval.last - interval.first < 12 && from === 0, `${name}: ${JSON.stringify(interval)}`);
    const [a, b] = [interval.from * quantum, interval.until * quantum], inside = (id) => id >= interval.first && id < interval.last;
    const events = JSON.parse(fs.readFileSync(path.join(folder, name + ".json"), "utf8")).traceEvents.filter((event) => event.args);
    const sent = events.filter((event) => event.cat === "transit" && event.args.enter !== undefined && event.args.enter >= a && event.args.enter < b && (inside(event.args.from) || inside(event.args.to)));
    assert(sent.length > 3 && text.includes(`${sent.length.toLocaleString("en")} messages`), `${name}: ${sent.length} messages, and it says ${text.slice(0, 400)}`);
    assert.strictEqual(table.reduce((sum, count) => sum + count, 0), sent.length);
    // Who stands out has as many messages as the trace has.
    const heads = await page.locator("#why .each tr:first-child th").allTextContents(), rows = await page.locator("#why .each tr:not(:first-child):not(:last-child)").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepStrictEqual([heads[0], ...heads.slice(-2), rows.length], ["", "sent", "received", Math.min(8, interval.last - interval.first)]);
    for (const [id, ...cells] of rows) {
      const transits = events.filter((event) => event.cat === "transit" && event.args.enter !== undefined), of = (end, at) => transits.filter(({ args }) => `P${args[end]}` === id && args[at] >= a && args[at] < b).length;
      assert.deepStrictEqual(cells.slice(-2), [of("from", "enter"), of("to", "arrival")].map(String), `${name}: ${id}`);
    }
    const own = events.filter((event) => event.ph === "X" && event.pid === 1 << 24 && inside(event.tid) && event.args.start < b && event.args.end > a);
    const length = (event) => Math.min(b, event.args.end) - Math.max(a, event.args.start), of = (name) => own.filter((event) => event.name === name).reduce((sum, event) => sum + length(event), 0);
    const near = (kind, ps) => assert(Math.abs(said.shares[kind] * quantum - ps) < 1e-6 * (b - a), `${name}: kind ${kind} is ${said.shares[kind] * quantum}, and not ${ps}`);
    near(3, of("gap"));
    near(4, of("stall"));
    const overheads = of("send") + of("receive"), shown = (said.shares[1] + said.shares[2] + said.shares[10]) * quantum;
    const noise = said.shares[11] * quantum;
    assert(Math.abs(shown + (name === "noise" ? noise : 0) - overheads) < 1e-6 * (b - a), `${name}: overheads ${shown} and ${overheads}`);
    assert.strictEqual(noise > 0, name === "noise");
    assert.strictEqual(said.shares[10] > 0, name === "rendezvous");
    const waits = own.filter((event) => ["idle", "stall", "port"].includes(event.name)).map(length).sort((a, b) => b - a);
    assert(Math.abs(said.waits[0].length * quantum - waits[0]) < 1, `${name}: the longest wait`);
    await picture(page, `${name}-interval`);
    await page.keyboard.press("Escape");
    assert.strictEqual(await page.evaluate(() => state.interval), null);
    await page.context().close();
  }
}

// How many messages are in transit, against the trace.
async function inTransit(browser) {
  for (const name of ["remap", "lu", "levels"]) {
    const page = await opened(browser, name, 1280, 800);
    await becomes(page, "runs[0].flight");
    const messages = JSON.parse(fs.readFileSync(path.join(folder, name + ".json"), "utf8")).traceEvents.filter((event) => event.cat === "transit" && event.args && event.args.enter !== undefined).map((event) => event.args);
    const { quantum, finish, capacity, levels } = await page.evaluate(() => runs[0]);
    for (let i = 0; i < 40; i++) {
      const at = Math.floor(finish * (i + 0.5) / 40) + 0.5, here = messages.filter((message) => message.enter < at * quantum && message.arrival > at * quantum), ends = new Map();
      let full = 0;
      for (const { from, to } of here) {
        const level = levels.findLastIndex(([P]) => Math.floor(from / P) === Math.floor(to / P)), most = level < 0 ? capacity : levels[level][1];
        for (const end of [`${level} from ${from}`, `${level} to ${to}`]) {
          ends.set(end, (ends.get(end) || 0) + 1);
          full = Math.max(full, ends.get(end) / most);
        }
      }
      assert.deepStrictEqual(await page.evaluate((at) => flightIn(runs[0], at, at + 0.1), at), [here.length, full], `${name} at ${at}`);
    }
    await page.context().close();
  }
}

// An address opens the same view again, and what is saved is what is seen.
async function kept(browser) {
  const page = await opened(browser, "remap", 1280, 800);
  await page.selectOption("#order", "finish");
  await page.click("#path");
  await page.evaluate(() => { moveTo(0.2 * end, 0.4 * end, 3, 8); choose({ run: runs[0], event: 77 }); });
  await page.waitForTimeout(600);
  const of = (page) => page.evaluate(() => [Math.round(view.from * runs[0].quantum), Math.round(view.until * runs[0].quantum), view.top, view.rows, state.order, $("order").value, state.path, state.chosen && state.chosen.event, state.interval && state.interval.first]);
  const address = page.url(), was = await of(page);
  assert(address.includes("#"), "the address says nothing");
  const again = await page.context().newPage();
  await again.goto(address);
  await becomes(again, () => document.documentElement.dataset.ready);
  await again.waitForTimeout(300);
  assert.deepStrictEqual(await of(again), was);
  await again.evaluate(() => { location.hash = "#find=%&from=nonsense&order=none&chosen=9.e9&interval=7.1&rows=3"; });
  await again.waitForTimeout(300);
  assert.deepStrictEqual((await of(again)).slice(3), [3, "number", "number", false, null, null]);
  // Saved: boxes for what is in the window, and a picture where that is too much.
  const download = page.waitForEvent("download");
  await page.click("#save");
  const file = path.join(folder, "saved.svg");
  await (await download).saveAs(file);
  const svg = fs.readFileSync(file, "utf8");
  assert(svg.startsWith("<svg") && svg.includes("remap on cm5") && svg.includes(">stall<"), svg.slice(0, 300));
  assert(!/undefined|NaN/.test(svg), "the picture has holes");
  const shown = await browser.newPage();
  const mistakes = [];
  shown.on("pageerror", (error) => mistakes.push(error));
  await shown.goto("file://" + file);
  const [boxes, width] = await shown.evaluate(() => [document.querySelectorAll("svg svg rect").length, document.documentElement.getBoundingClientRect().width]);
  assert(boxes > 100 && width > 1000 && !mistakes.length, `${boxes} boxes`);
  if (keep) await shown.screenshot({ path: path.join(keep, "saved.png") });
  await shown.close();
  await page.context().close();
  const many = await opened(browser, "ranks", 1280, 800);
  assert((await many.evaluate(() => sheetOf())).includes("data:image/png"));
  await many.context().close();
}

// Kinds, levels, and what is said of a run that was recorded.
async function known(browser) {
  const legend = async (name) => {
    const page = await opened(browser, name, 1280, 800), text = await page.locator("#legend").textContent();
    await page.context().close();
    return text;
  };
  assert.match(await legend("noise"), /noise [\d.]+%/);
  assert.match(await legend("rendezvous"), /rendezvous overhead [\d.]+%/);
  assert.match(await legend("remap"), /idle \d+%/);
  const noise = await opened(browser, "noise", 1280, 800), before = await noise.evaluate(() => runs[0].shares[NOISE] * runs[0].quantum);
  await noise.click("text=/^noise /");
  await becomes(noise, "state.hits && state.hits.all.length > 0");
  assert(before > 0);
  await noise.context().close();
  const levels = await opened(browser, "levels", 1280, 800);
  await levels.selectOption("#order", "level");
  const parted = await levels.evaluate(() => [...Array(63).keys()].map((row) => row + 1).filter((row) => breakAt(runs[0], row)));
  assert.deepStrictEqual(parted, [16, 32, 48]);
  await levels.context().close();
  const recorded = await opened(browser, "recorded", 1280, 800), run = await opened(browser, "remap", 1280, 800);
  const said = (page) => page.evaluate(() => [document.title, meta.title, runs[0].about, runs[0].marks]);
  assert.deepStrictEqual(await said(recorded), await said(run));
  assert.match((await said(recorded))[0], /remap on cm5, short-naive/);
  await recorded.context().close();
  await run.context().close();
}

// No black box stands before the first frame, nor while the window changes its size.
async function neverBlack(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } }), page = await context.newPage();
  await page.addInitScript(() => {
    const { DecompressionStream: real } = window;
    window.DecompressionStream = class { constructor(...kind) { return window.held ? new real(...kind) : new TransformStream({ transform: () => new Promise(() => {}) }); } };
  });
  await page.goto("file://" + path.join(folder, "remap.html"));
  await page.waitForTimeout(300);
  const dark = (png) => page.evaluate(async (text) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))])), canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const data = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    return data.filter((pixel) => pixel === 0xff000000).length / data.length;
  }, png.toString("base64"));
  assert((await dark(await page.screenshot())) < 0.01, "a black box stands until the first frame");
  await context.close();
}

async function touched(browser, name) {
  const page = await opened(browser, name, 400, 800, { hasTouch: true, isMobile: true }), first = await seen(page);
  const touch = await page.context().newCDPSession(page), box = await page.locator("#plot").boundingBox(), y = box.y + 60;
  const send = (type, ...xs) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x, y, id })) });
  await send("touchStart", 180, 220);
  for (let step = 1; step <= 10; step++) await send("touchMove", 180 - 10 * step, 220 + 10 * step);
  await send("touchEnd");
  const near = await seen(page);
  assert(near.until - near.from < 0.5 * first.end, "two fingers do not zoom");
  await send("touchStart", 300);
  for (let step = 1; step <= 10; step++) await send("touchMove", 300 - 15 * step);
  await send("touchEnd");
  assert((await seen(page)).from > near.from, "a finger does not move");
  // What a tap asks for opens beside it, and the rows stay where they are.
  await page.click("#all");
  for (const part of [0.1, 0.8]) {
    const { top, height } = await page.evaluate(() => place.panels[0]), tap = box.y + top + part * height;
    await page.touchscreen.tap(box.x + 100, tap);
    const why = await page.locator("#why").boundingBox();
    assert(why && why.y >= 0 && why.y + why.height <= 800 && Math.min(Math.abs(why.y - tap), Math.abs(why.y + why.height - tap)) < 40, `a tap at ${tap} opens ${JSON.stringify(why)}`);
    assert.strictEqual((await page.evaluate(() => place.panels[0])).height, height);
    await page.click("#why button");
    assert.strictEqual((await seen(page)).why, 0);
  }
  await page.context().close();
}

// Points at all parts of a page until the texts of these kinds have been seen.
async function told(page, texts) {
  const box = await page.locator("#plot").boundingBox(), left = new Set(texts);
  for (let y = 30; y < box.height - 30 && left.size; y += 7)
    for (let x = 60; x < box.width && left.size; x += 23) {
      await page.mouse.move(box.x + x, box.y + y);
      const { tip } = await seen(page);
      for (const text of left) if (tip.includes(text)) left.delete(text);
    }
  assert.deepStrictEqual([...left], [], "nobody is told");
}

// How long a page takes to open, and a frame while it is zoomed and the critical path is shown.
async function measured(browser, name) {
  const page = await opened(browser, name, 1280, 800);
  const frames = await page.evaluate(() => {
    const times = [];
    state.path = true;
    frame();
    for (let i = 0; i < 120; i++) {
      const began = performance.now();
      zoom(i < 60 ? 0.93 : 1 / 0.93, 700);
      frame();
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b);
  });
  const ready = await page.evaluate(() => document.documentElement.dataset.ready), events = await page.evaluate(() => runs[0].events);
  const bytes = fs.statSync(path.join(folder, name + ".html")).size;
  console.log(`${name}: ${events.toLocaleString("en")} activities, ${(bytes / 1e6).toFixed(1)} MB, opens in ${(ready / 1000).toFixed(2)} s, ` +
    `a frame takes ${frames[60].toFixed(1)} ms, 95 of 100 at most ${frames[114].toFixed(1)} ms, the longest ${frames[119].toFixed(1)} ms`);
  await page.context().close();
}

(async () => {
  const args = ["--headless", "--no-sandbox", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args });
  for (const [width, height] of [[1280, 800], [400, 800]]) {
    for (const name of ["broadcast", "remap", "lu", "gauss", "schedule", "beside", "noise", "rendezvous", "levels"]) {
      const page = await opened(browser, name, width, height, { colorScheme: width === 400 ? "dark" : "light" });
      if (name !== "beside") await holds(page, name);
      await used(page, name, width);
      await page.context().close();
    }
  }
  const window = await opened(browser, "window", 1280, 800);
  assert.deepStrictEqual(await window.evaluate(() => [view.from, view.until].map((moment) => Math.round(moment * runs[0].quantum))), [100e6, 300e6]);
  const remap = await opened(browser, "remap", 1280, 800);
  await remap.click("#arrows");
  await told(remap, ["stall", "waits until the message P", "lies there for", "L 6 us", "o 2 us at P"]);
  const beside = await opened(browser, "beside", 1280, 800);
  assert.strictEqual((await seen(beside)).runs, 3);
  // Each run is painted until its end, whatever the quantum of its times.
  const [quanta, ...ends] = await beside.evaluate(() => [runs.map((run) => run.quantum), ...runs.map((run) => {
    const { image } = place.panels[run.index], pixels = new Uint32Array(image.data.buffer), blank = [colours.paperPixel, colours.palePixel];
    let last = 0;
    pixels.forEach((pixel, i) => { if (!blank.includes(pixel)) last = Math.max(last, i % image.width + 1); });
    return place.left + last / place.scale - xOf(run.finish * ratio(run));
  })]);
  assert(new Set(quanta).size > 1, `all runs have the quantum ${quanta[0]}`);
  assert(ends.every((off) => Math.abs(off) <= 1), `runs are painted ${ends} pixels beyond their ends`);
  await touched(browser, "remap");
  const wrong = [];
  for (const check of [lettered, thin, legible, (browser) => printed(browser, "remap"), captioned, quick, exact, pointed, marked, inTransit, kept, known, neverBlack])
    await check(browser).catch((error) => wrong.push(error));
  for (const name of ["broadcast", "remap", "lu", "gauss", "schedule", "ranks"]) await measured(browser, name);
  if (fs.existsSync(path.join(folder, "large.html"))) await measured(browser, "large");
  await browser.close();
  for (const error of wrong) console.error(error);
  if (wrong.length) process.exit(1);
  console.log("every page does what it should");
})().catch((error) => { console.error(error); process.exit(1); });
