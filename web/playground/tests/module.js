// Compares the module's answers with those of the native library, for random settings of every algorithm and for traces, byte
// for byte; with --command LOGGP runs the commands that the page names too, and compares what they print; and with --times says
// how long the module takes. `.ci/playground` runs it: node playground-module.js MODULE ANSWERS TRACES [--command LOGGP] [--times]
const { mkdtempSync, readFileSync, rmSync } = require("node:fs");
const { spawnSync } = require("node:child_process");
const { tmpdir } = require("node:os");
const { delimiter, dirname, join, resolve } = require("node:path");

const SETTINGS = 200;

const [path, native, traces, ...options] = process.argv.slice(2);
const wasm = new WebAssembly.Module(readFileSync(path));
let { memory, alloc, free, call } = new WebAssembly.Instance(wasm, {}).exports;
// What a file of the page's script defines.
const from = (file, name) => new Function(`${readFileSync(join(__dirname, "..", file), "utf8").replace(/^export /gm, "")}; return ${name};`)();
const linesOf = from("engine.js", "linesOf"), linesOfTrace = from("page/trace.js", "linesOfTrace");

// Returns the bytes of the answer to a request, which last until the next one.
function ask(lines) {
  const bytes = Buffer.from(lines), at = alloc(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const answer = call(at, bytes.length);
  free(at, bytes.length);
  return new Uint8Array(memory.buffer, answer, new DataView(memory.buffer).getUint32(answer + 4, true));
}

function json(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(Buffer.from(bytes.subarray(8, 8 + length)).toString());
}

// FNV-1a.
const hash = (bytes) => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);

let seed = 50;
// Returns a random whole number from 0 to `most`.
const random = (most) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0, Math.floor(seed / 2 ** 32 * (most + 1)));

function setting(algorithm) {
  const unit = random(3) ? "us" : "ps";
  const time = (most) => random(unit === "ps" ? 1000 * most : most) + unit;
  let params = `L=${time(40)},o=${time(6)},g=${time(12)},P=${1 + random(22)}`;
  if (random(1)) params += `,G=${time(5)}`;
  if (!random(3)) params += `,C=${1 + random(4)}`;
  if (!random(3)) params += `,word=${1 + random(18)}`;
  return { algorithm, params, size: 1 + random(38), ports: random(1) ? "single" : "dual" };
}

const catalog = json(ask(linesOf({ do: "catalog" })));
const algorithms = catalog.operations.flatMap((operation) => operation.algorithms.map((algorithm) => algorithm.id));
const requests = [{ do: "catalog" }];
for (const algorithm of algorithms) {
  for (let n = 0; n < SETTINGS; n++) requests.push({ do: "run", page: n % 50 === 0, ...setting(algorithm) });
  for (const what of ["timeline", "goal"]) requests.push({ do: what, ...setting(algorithm) });
}
for (const { algorithms } of catalog.operations) {
  const ids = algorithms.map((algorithm) => algorithm.id), one = { ...setting(ids[0]), algorithm: undefined };
  requests.push({ do: "crossover", algorithms: ids, ...one, over: "L", from: "0", to: "30us", points: 9 });
  const [x, y] = ["L", "g"].map((over) => ({ over, from: "1us", to: "30us", points: 4, log: true }));
  requests.push({ do: "map", algorithms: ids, ...one, x, y });
}
const lines = requests.map((request) => linesOf(request));
const run = spawnSync(native, { input: lines.join("\n") + "\n", maxBuffer: 1 << 28 });
if (run.status !== 0) throw new Error(`${native} failed: ${run.stderr}`);
const expected = run.stdout.toString().trim().split("\n");
if (expected.length !== lines.length) throw new Error(`${expected.length} answers to ${lines.length} requests`);
let errors = 0;
lines.forEach((line, n) => {
  const bytes = ask(line);
  if (`${bytes.length} ${hash(bytes)}` !== expected[n]) throw new Error(`the module answers otherwise to ${line}`);
  if (json(bytes).error) errors++;
});
// The program's limits refuse some settings.
if (errors > lines.length / 4) throw new Error(`${errors} of ${lines.length} answers are errors`);
console.log(`${lines.length} answers of the module are those of the library, ${errors} of them refusals`);

// The race, which is seen before the module has come, is its runs.
const { TAKES, WAYS } = from("page/lessons/race.js", "{ TAKES, WAYS }");
for (const [name, ways] of Object.entries(WAYS)) {
  const bytes = ask(linesOf({ do: "run", algorithm: `broadcast/${name}`, params: "L=6,o=2,g=4,P=8" })), { message } = json(bytes), begin = (8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) + 7) & ~7;
  const column = ({ at, length, type }) => new { f64: Float64Array, i32: Int32Array }[type](bytes.slice(begin + at, begin + at + length * (type === "f64" ? 8 : 4)).buffer);
  const [from, to, sent, received] = ["from", "to", "sent", "received"].map((field) => column(message[field]));
  const run = [...from].map((_, m) => [from[m], to[m], sent[m] / 1e6, received[m] / 1e6]), shown = ways.map((way) => [...way, way[2] + TAKES]), sorted = (all) => JSON.stringify(all.toSorted((a, b) => a[1] - b[1]));
  if (sorted(run) !== sorted(shown)) throw new Error(`the race shows ${sorted(shown)} for ${name}, and its run is ${sorted(run)}`);
}

// Traces of programs, as the page reads them; and damaged ones, of which it says in a sentence what is wrong, or which it shows.
const DAMAGED = 40, folder = mkdtempSync(join(tmpdir(), "loggp-"));
const known = spawnSync(traces, [folder]);
if (known.status !== 0) throw new Error(`${traces} failed: ${known.stderr}`);
const refusals = new Set();
for (const line of known.stdout.toString().trim().split("\n")) {
  const [name, length, hashed] = line.split(" "), text = readFileSync(join(folder, name), "utf8");
  const open = (text) => ask(`do open\nname ${name}\npage true\n\n${linesOfTrace(name, text)}`);
  const bytes = open(text);
  if (`${bytes.length} ${hash(bytes)}` !== `${length} ${hashed}`) throw new Error(`the page shows another trace than ${name}: ${json(bytes).error ?? ""}`);
  for (let n = 0; n < DAMAGED; n++) {
    const at = random(text.length - 1), until = at + random(30);
    const damaged = [text.slice(0, at), text.slice(0, at) + text.slice(until), text.slice(0, at) + random(9) + text.slice(at + 1), text.replaceAll(/"(end|to|P|number|message|name)":/g, (all) => random(99) ? all : '"other":')][n % 4];
    let said = null;
    try {
      said = json(open(damaged)).error;
    } catch (error) {
      said = error.message;
      // The page starts the module anew, and says so.
      if (error instanceof WebAssembly.RuntimeError) ({ memory, alloc, free, call } = new WebAssembly.Instance(wasm, {}).exports);
      else if (!said.startsWith(name)) throw error;
    }
    if (said && /\n|undefined is not|Cannot read/.test(said)) throw new Error(`${name}, damaged: ${said}`);
    if (said) refusals.add(said.replace(/\d+/g, "0").slice(0, 60));
  }
}
rmSync(folder, { recursive: true });
console.log(`traces are shown as the library reads them, and damaged ones refused in ${refusals.size} sentences`);
if (options.includes("--sentences")) console.log([...refusals].join("\n"));

// Returns the numbers that the last command of a line printed, by the titles of its columns, and their unit in ps.
function printed(text) {
  const lines = text.split("\n"), table = lines.findLastIndex((line) => /^(algorithm|ranks) .*messages/.test(line));
  const cells = (line) => line.trim().split(/ {2,}/), titles = cells(lines[table]), row = cells(lines[table + 1]);
  const unit = { ps: 1, ns: 1e3, us: 1e6, cycles: 1e6, ms: 1e9, s: 1e12 }[[...text.matchAll(/times in (\w+)/g)].at(-1)[1]];
  return { unit, row: Object.fromEntries(titles.map((title, i) => [title, row[i]])) };
}

const COMMANDS = 3;
if (options.includes("--command")) {
  const loggp = resolve(options[options.indexOf("--command") + 1]), folder = mkdtempSync(join(tmpdir(), "loggp-"));
  const env = { ...process.env, PATH: dirname(loggp) + delimiter + process.env.PATH };
  let compared = 0;
  for (const algorithm of algorithms) {
    for (let n = 0; n < COMMANDS;) {
      const page = json(ask(linesOf({ do: "run", columns: false, ...setting(algorithm) })));
      if (page.error) continue;
      const run = spawnSync("sh", ["-c", page.command], { cwd: folder, env });
      if (run.status !== 0) throw new Error(`${page.command}: ${run.stderr}`);
      const { unit, row } = printed(run.stdout.toString());
      const ps = (text) => Math.round(Number(text.replaceAll(",", "")) * unit);
      const found = { time: ps(row.model ?? row.time), stalls: Number(row.stalls.replaceAll(",", "")), messages: Number(row.messages.replaceAll(",", "")) };
      if (row.formula && row.formula !== "-") found.formula = ps(row.formula);
      for (const [name, number] of Object.entries(found)) {
        const shown = name === "formula" ? page.formula.time : page[name];
        if (shown !== number) throw new Error(`${page.command}: ${name} is ${number} there, and ${shown} on the page`);
      }
      if (!("formula" in found) && page.formula.time !== null) throw new Error(`${page.command}: there is no formula there, and one on the page`);
      n++;
      compared++;
    }
  }
  rmSync(folder, { recursive: true });
  console.log(`${compared} commands print what the page shows`);
}

if (options.includes("--times")) {
  for (const P of [16, 64]) {
    for (const algorithm of algorithms.filter((id) => !/fft|radix|lu|transp/.test(id))) {
      const request = { do: "run", algorithm, params: `L=6,o=2,g=4,G=1,P=${P}`, size: 16 };
      const bytes = [true, false].map((columns) => linesOf({ ...request, columns }));
      const [whole, alone] = bytes.map((line) => {
        const lasts = [];
        for (let n = 0; n < 40; n++) {
          const begin = performance.now();
          ask(line);
          lasts.push(performance.now() - begin);
        }
        return lasts.sort((a, b) => a - b)[10].toFixed(2);
      });
      console.log(`P = ${P} ${algorithm}: ${whole} ms, numbers alone ${alone} ms, ${json(ask(bytes[0])).messages} messages`);
    }
  }
}
