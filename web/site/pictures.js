"use strict";
// Takes the pictures of the documents that a browser shows, or holds them against those in a folder. `docs/results/make/pictures`
// runs it.
//
//     node web/site/pictures.js FOLDER PLAYGROUND TIMELINE [KEPT]

const fs = require("fs"), path = require("path");
const { chromium } = require("playwright-core");
const [folder, playground, timeline, kept] = process.argv.slice(2);

// The playground, while both trees of a broadcast grow.
async function takePlayground(page) {
  await page.addInitScript(() => { localStorage["loggp-playground"] = '{"seen": true}'; });
  await page.goto(`file://${path.resolve(playground)}#of=broadcast&a=optimal&b=binomial&L=6&o=2&g=4&P=8`);
  await page.waitForSelector("html[data-ready]");
  await page.waitForTimeout(1000);
  await page.focus("#moment");
  for (let n = 0; n < 13; n++) await page.keyboard.press("ArrowRight");
}

// A timeline's page, which says what a stall waited for.
async function takeTimeline(page) {
  await page.goto(`file://${path.resolve(timeline)}`);
  await page.waitForSelector("html[data-ready]");
  await page.waitForTimeout(1000);
  const box = await page.locator("#plot").boundingBox(), [x, y] = await page.evaluate(() => [xOf(210e6 / runs[0].quantum), yOf(runs[0], 7)]);
  await page.mouse.click(box.x + x, box.y + y);
  await page.mouse.move(5, 5);
}

// Which share of a picture has another colour than in the other one. Browsers smooth letters differently, which a smaller picture
// does not show.
const differences = (page, pictures) => page.evaluate(async (pictures) => {
  const wide = 300, colours = await Promise.all(pictures.map(async (picture) => {
    const image = Object.assign(new Image(), { src: `data:image/png;base64,${picture}` });
    await image.decode();
    const high = Math.round(wide * image.naturalHeight / image.naturalWidth), context = Object.assign(document.createElement("canvas"), { width: wide, height: high }).getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, wide, high);
    return context.getImageData(0, 0, wide, high).data;
  })), [one, other] = colours;
  let parts = 0;
  for (let at = 0; at < one.length; at += 4) parts += [0, 1, 2].some((i) => Math.abs(one[at + i] - other[at + i]) > 32);
  return parts / one.length * 4;
}, pictures);

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  for (const [name, take, width, height] of [["playground.png", takePlayground, 1200, 930], ["timeline.png", takeTimeline, 1100, 720]]) {
    const page = await browser.newPage({ viewport: { width, height } });
    await take(page);
    await page.waitForTimeout(500);
    await page.evaluate(() => document.activeElement.blur());
    const taken = await page.screenshot({ path: path.join(folder, name) });
    await page.close();
    if (!kept) continue;
    const empty = await browser.newPage(), share = await differences(empty, [taken, fs.readFileSync(path.join(kept, name))].map((picture) => picture.toString("base64")));
    if (share > 0.005) throw new Error(`${(100 * share).toFixed(1)}% of ${name} are others; docs/results/make/pictures makes it anew`);
    await empty.close();
  }
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
