"use strict";
// Opens pages of a site in Chromium, wide and narrow, light and dark, and says what is wrong. `.ci/site` runs it.
//
//     node web/site/browse.js FOLDER [PICTURES]

const fs = require("fs"), path = require("path");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core"), "utf8");
const [folder, pictures] = process.argv.slice(2);
const HERE = "http://site.invalid";
const PAGES = [
  "index.html", "docs/index.html", "docs/about.html", "docs/start/comparison.html", "docs/start/exercises.html", "docs/start/timeline.html",
  "docs/reference/model.html", "docs/results/papers.html", "docs/results/papers/logp.html", "docs/results/report.html", "timelines/remap-naive.html", "timelines/gauss.html",
  "api/loggp/index.html",
];
const WIDTHS = [360, 800, 1600], SCHEMES = ["light", "dark"];
const OTHERS = /^api\//; // rustdoc's pages are not the project's to put right
const wrong = [];

// A page of the folder; every request to elsewhere is a mistake, and gets no answer.
async function opened(browser, name, colorScheme) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme }), page = await context.newPage();
  const say = (text) => wrong.push(`${name}, ${colorScheme}: ${text}`);
  page.on("console", (message) => { if (message.type() === "error") say(message.text()); });
  page.on("pageerror", (error) => say(String(error)));
  await context.route("**/*", (route) => {
    const url = new URL(route.request().url()), file = path.join(folder, decodeURIComponent(url.pathname));
    if (url.origin !== HERE) say(`asks for ${url.href}`);
    else if (fs.existsSync(file) && fs.statSync(file).isFile()) return route.fulfill({ path: file });
    else say(`asks for ${url.pathname}, which is not there`);
    return route.abort();
  });
  await page.goto(`${HERE}/${name}`, { waitUntil: "load" });
  await settled(page);
  return { page, say, close: () => context.close() };
}

// The playground and the timelines say when they are drawn. They are asked from outside, since a policy lets timelines evaluate nothing.
async function settled(page) {
  const drawn = () => page.evaluate(() => !document.getElementById("plot") || document.documentElement.dataset.ready);
  for (const until = Date.now() + 60000; !(await drawn()) && Date.now() < until; await page.waitForTimeout(20));
  await page.waitForTimeout(400);
}

// No page is wider than its window, and none has a serious or a critical finding of axe.
async function looked(browser, name, scheme) {
  const { page, say, close } = await opened(browser, name, scheme);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.reload({ waitUntil: "load" });
    await settled(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) say(`${wide} px are wide at ${width}`);
    if (pictures) await page.screenshot({ path: path.join(pictures, `${name.replace(/\.html$/, "").replaceAll("/", "-")}-${width}-${scheme}.png`) });
  }
  if (!OTHERS.test(name)) {
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    for (const { id, impact, nodes } of found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact)))
      say(`axe: ${impact}: ${id}, ${nodes.length} times, first ${nodes[0].target.join(" ")}: ${nodes[0].any.concat(nodes[0].all, nodes[0].none).map(({ message }) => message).join("; ")}`);
  }
  await close();
}

// A word that is searched for is found, and the hit leads to it.
async function searched(browser) {
  const { page, say, close } = await opened(browser, "docs/index.html", "light");
  await page.keyboard.press("s");
  await page.keyboard.type("rendezvous");
  const hit = page.locator("#mdbook-searchresults a, #searchresults a").first();
  await hit.waitFor({ timeout: 10000 }).catch(() => say("the search finds nothing"));
  if (await hit.count()) {
    await hit.click();
    await page.waitForTimeout(500);
    if (!(await page.locator("main").textContent()).toLowerCase().includes("rendezvous")) say("the first hit of a search leads elsewhere");
  }
  await close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  const pages = PAGES.filter((name) => !name.startsWith("api/") || fs.existsSync(path.join(folder, name)));
  for (const name of pages) for (const scheme of SCHEMES) await looked(browser, name, scheme).catch((error) => wrong.push(`${name}: ${error}`));
  await searched(browser).catch((error) => wrong.push(`search: ${error}`));
  await browser.close();
  for (const text of wrong) console.error(text);
  if (wrong.length) process.exit(1);
  console.log(`${pages.length} pages of ${WIDTHS.join(", ")} px, light and dark: no error, no request to another host, no serious finding of axe`);
})().catch((error) => { console.error(error); process.exit(1); });
