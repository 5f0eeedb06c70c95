"use strict";
// Opens the pages of a folder in Chromium, does what a user does, and says what is wrong. `.ci/timeline` runs it.

const fs = require("fs"), path = require("path"), assert = require("assert");
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
  await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60000 });
  await page.waitForTimeout(200);
  return page;
}

// Waits until something holds, which it does at once unless this computer is busy.
const becomes = (page, what) => page.waitForFunction(what, null, { timeout: 20000 });

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

// How long a page takes to open, and a frame while it is zoomed.
async function measured(browser, name) {
  const page = await opened(browser, name, 1280, 800);
  const frames = await page.evaluate(() => {
    const times = [];
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
    for (const name of ["broadcast", "remap", "lu", "gauss", "schedule", "beside"]) {
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
  await touched(browser, "remap");
  if (fs.existsSync(path.join(folder, "large.html"))) await measured(browser, "large");
  await browser.close();
  console.log("every page does what it should");
})().catch((error) => { console.error(error); process.exit(1); });
