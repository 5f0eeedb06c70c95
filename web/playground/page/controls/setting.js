// ---- The setting: what the controls say. It is kept in the page's address, so that a link opens it again.

// The parameters in the order of their sliders, each in half a sentence.
const PARAMETERS = [
  ["P", "processors", "how many take part"],
  ["L", "latency", "how long a message is under way"],
  ["o", "overhead", "how long a message keeps its sender busy, and then its receiver"],
  ["g", "gap", "the least time between two sends of a processor, and between two receives"],
  ["G", "Gap per word", "how much longer a message takes for each further word"],
  ["size", "size", ""],
];
const TIMES = ["L", "o", "g", "G"];
// Whether a parameter is a whole number, and no time.
const isNumber = (name) => !TIMES.includes(name);

// `values` are texts, as typed: "6" counts cycles, "6us" is a time. Without G, long messages are trains of
// short ones.
const START_VALUES = { L: "6", o: "2", g: "4", G: "", P: "8", size: "" };
// With these an operation begins: algorithms that differ, and sizes at which each message can be seen.
const BEGINNINGS = { remap: ["short-naive", "short-staggered", "16"], scatter: ["optimal", "binomial", "4"], "all-to-all-broadcast": ["", "", "1"], summation: ["", "", "100"], "all-reduce": ["", "", "64"] };
const setting = { operation: "", first: "", second: "", machine: "", values: { ...START_VALUES }, x: "", y: "", paper: "", exercise: "", lesson: 0, strange: "" };
let catalog = null;

const operationOf = (name = setting.operation) => catalog.operations.find((one) => one.name === name);
const algorithmOf = (id) => catalog.operations.flatMap((one) => one.algorithms).find((one) => one.id === id);
const machineOf = () => catalog.machines.find((one) => one.name === setting.machine);
// The algorithms that run: one or two.
const chosen = () => [...new Set([setting.first, setting.second])].filter(Boolean);
// What the page wrote is the student's: "your tree".
const nameOfFile = () => (opened?.name ?? "file").replace(/^your-(\w+)\.goal$/, "your $1");
const nameOfAlgorithm = (id) => id === "file" ? nameOfFile() : algorithmOf(id)?.name ?? id;

// The unit in which times are shown: its name, what is written after a number, and its length in ps.
function unitOfSetting() {
  const machine = machineOf(), isFile = setting.first === "file";
  const own = isFile && [...UNITS, ["cycles", opened?.cycle]].find(([name]) => name === opened?.unit);
  if (own) return { name: own[0], suffix: own[0] === "cycles" ? "" : own[0], length: own[1] };
  if (!machine) return { name: "cycles", suffix: "", length: 1e6 };
  const suffix = /[a-z]+$/.exec(ownTime("L"))?.[0] ?? "us";
  return { name: suffix, suffix, length: UNITS.find(([name]) => name === suffix)[1] };
}

// The request for an algorithm under the setting.
function requestFor(algorithm, more = {}) {
  const values = setting.values, machine = machineOf();
  const params = Object.entries(values).filter(([name, value]) => name !== "size" && value !== "").map(([name, value]) => `${name}=${value}`);
  const request = { algorithm, params: params.join(",") };
  if (machine) request.machine = machine.name;
  if (values.size !== "") request.size = Number(values.size);
  return { ...request, ...more };
}

// A time of the machine, or nothing where it has none. A G that follows from other parameters is that of LogP.
const ownTime = (name) => /^-?[\d.]+ ?[a-z]*$/.exec(machineOf()?.params[name] ?? "")?.[0].replace(" ", "") ?? "";

// Chooses a machine: its parameters become those of the sliders.
function takeMachine(name) {
  setting.machine = catalog.machines.some((one) => one.name === name) ? name : "";
  for (const name of TIMES) setting.values[name] = machineOf() ? ownTime(name) : START_VALUES[name];
  // What a paper leaves open must be given.
  for (const name of machineOf()?.open ?? []) if (TIMES.includes(name)) setting.values[name] ||= ownTime("o") || "1us";
}

// Chooses an operation, with two of its algorithms unless others are named.
function takeOperation(name, first, second) {
  const operation = operationOf(name) ?? catalog.operations[0], ids = operation.algorithms.map((one) => one.id), [a, b, size] = BEGINNINGS[operation.name] ?? [];
  const id = (wanted) => ids.find((id) => id === wanted || id === `${operation.name}/${wanted}`);
  setting.operation = operation.name;
  setting.first = id(first) ?? id(a) ?? ids[0];
  setting.second = second === "" ? "" : id(second) ?? [id(b), ...ids].find((id) => id && id !== setting.first) ?? "";
  setting.values.size = size ?? "";
  setting.values.P ||= START_VALUES.P;
}

const limitsOfP = () => chosen().map((id) => algorithmOf(id)?.P).filter(Boolean);

// Keeps P to what both algorithms can run on.
function fitProcessors() {
  const limits = limitsOfP(), fixed = limits.find((limit) => limit.fixed)?.fixed;
  const now = Number(setting.values.P), allowed = processorsFor(limits);
  if (fixed) setting.values.P = String(fixed);
  else if (allowed.length && !fits(now, limits)) setting.values.P = String(allowed.reduce((best, one) => Math.abs(one - now) < Math.abs(best - now) ? one : best));
}

const isPower = (n) => n > 0 && Number.isInteger(Math.log2(n));
const fits = (n, limits) => limits.every((limit) => Number.isInteger(n) && n >= limit.least && n <= limit.most && (!limit.power_of_two || isPower(n)));

// ---- The address.
function addressOf() {
  // The race has no number, and the screens after it count from 1.
  if (setting.lesson) return setting.lesson > 1 ? `#start=${setting.lesson - 1}` : "#start";
  const address = settingAddress();
  // A figure has its short name until something is changed.
  if (setting.paper && address === ofPaper) return `#${setting.paper}`;
  // What is changed after an exercise has shown its run is no longer that exercise.
  return setting.exercise && !(guessed.address && guessed.address !== address) ? exerciseAddress() : address;
}

function settingAddress() {
  const [of, b = ""] = setting.second.split("/"), isFile = setting.first === "file";
  const fields = isFile ? { ...(own.packed ? { goal: own.packed } : { file: opened.name }), of: of || setting.operation, b } : { of: setting.operation, a: setting.first.split("/").pop(), b };
  if (setting.machine) fields.machine = setting.machine;
  for (const [name, value] of Object.entries(setting.values)) if (value !== "" || name === "G" && ownTime("G")) fields[name] = value;
  for (const name of ["x", "y", "paper"]) if (setting[name]) fields[name] = setting[name];
  return "#" + joined(fields);
}

const joined = (fields) => Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
// What Back goes back to: an exercise, a screen of the start, an operation, a figure.
const stepOf = (address) => /^#exercise/.test(address) ? setting.exercise : setting.lesson || [setting.operation, setting.paper, setting.first === "file" && opened?.name].join();

// `written`: the address as the page read or wrote it last. `ofPaper`: that of the figure as it was opened.
let noting = 0, noted = "", written = "", ofPaper = "";
// The timeline's script calls this too, when it draws.
function noteView() {
  clearTimeout(noting);
  noting = setTimeout(note, 300);
}

// A link that is being followed stays, and what is being packed comes later.
function note() {
  if (location.hash !== written || own.packed === null) return;
  const address = addressOf(), step = stepOf(address);
  if (location.hash !== address) writeAddress(address, noted !== step);
  noted = step;
}

function writeAddress(address, isStep) {
  history[isStep ? "pushState" : "replaceState"](null, "", address);
  written = location.hash;
}

// What a link says and has no part in the page, in a few words, whatever its length.
function listOf(said) {
  const most = 6, short = said.slice(0, most).map((text) => text.length > 40 ? `${text.slice(0, 39)}\u2026` : text);
  return short.join(", ") + (said.length > most ? ` and ${said.length - most} more` : "");
}

// A link sets the whole setting: what it does not name is as on a page that is opened without one.
function readAddress() {
  const decoded = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  const hash = location.hash.slice(1), given = fieldsOf(PAPERS[hash] ? `paper=${hash}` : hash, decoded), paper = PAPERS[given.find(([name]) => name === "paper")?.[1]];
  const fields = new Map([...fieldsOf(paper?.[1] ?? ""), ...given]), strange = [], outside = [];
  // The value of a field, if it is one that there is.
  const known = (name, isThere) => {
    const value = fields.get(name)?.slice(0, 40);
    fields.delete(name);
    if (!value || isThere(value)) return value;
    strange.push(`${name}=${value}`);
  };
  const file = fields.get("file");
  goal.link = fields.get("goal") ?? "";
  written = location.hash;
  setting.values = { ...START_VALUES };
  for (const name of ["goal", "file"]) fields.delete(name);
  const P = fields.get("P"), isAlgorithm = (name) => operationOf().algorithms.some(({ id }) => id === name || id === `${setting.operation}/${name}`);
  takeMachine(known("machine", (name) => catalog.machines.some((one) => one.name === name)) ?? "");
  takeOperation(known("of", operationOf) ?? "broadcast");
  const [a, b] = [known("a", isAlgorithm), known("b", isAlgorithm)];
  takeOperation(setting.operation, a, b);
  const { least = 1, most = 1 } = operationOf().size ?? {}, usual = { size: setting.values.size, P: new Map(fieldsOf(paper?.[1] ?? "")).get("P") || START_VALUES.P };
  for (const name of Object.keys(setting.values)) if (fields.has(name)) setting.values[name] = known(name, (value) => !isNumber(name) || /^\d+$/.test(value)) ?? setting.values[name];
  const { size } = setting.values;
  if (size && size !== usual.size && !(size >= least && size <= most)) {
    outside.push(`size=${size}`);
    setting.values.size = usual.size;
  }
  for (const name of ["x", "y"]) setting[name] = known(name, (value) => PARAMETERS.some(([one]) => one === value)) ?? "";
  setting.paper = known("paper", () => paper) ?? "";
  const isRace = fields.has("start") && !fields.get("start"), screen = known("start", (n) => n > 0 && LESSON[n]);
  setting.lesson = screen ? Number(screen) + 1 : isRace ? 1 : given.length || kept.seen ? 0 : LESSON[kept.screen - 1] ? kept.screen : 1;
  setting.exercise = known("exercise", (id) => id === "own" || EXERCISES.some((one) => one.id === id)) ?? "";
  if (!setting.values.P || !fits(Number(setting.values.P), limitsOfP())) setting.values.P = usual.P;
  fitProcessors();
  if (setting.exercise === "own") readOwn(fields);
  const isOpen = !!file && file === opened?.name;
  if (isOpen) {
    setting.first = "file";
    setting.values.P = String(opened.ranks);
  }
  if (/^\d+$/.test(P ?? "") && setting.values.P !== P) outside.push(`P=${P}`);
  strange.push(...[...fields].map((field) => field.join("=")));
  guessed.address = "";
  ofPaper = settingAddress();
  noted = stepOf(addressOf());
  const says = [[strange, "not known"], [outside, "out of range"]].filter(([said]) => said.length).map(([said, why]) => `${listOf(said)}, which is ${why} here`);
  setting.strange = says.length ? `The link says ${says.join(", and ")}: this is shown without.`
    : file && !isOpen ? `The file ${listOf([file])} is in no link, since it stays in the browser: drop it here once more.` : "";
}
