// ---- The values at which sliders can stand. A slider moves along a list, so that each step of it is another
// value, and small values have as much room as large ones.
const rising = (all) => [...new Set(all)].sort((a, b) => a - b);
const range = (from, until, step) => Array.from({ length: Math.floor((until - from) / step) + 1 }, (_, i) => from + i * step);

const COUNTS = rising([...range(1, 16, 1), ...range(18, 32, 2), ...range(36, 64, 4), ...range(72, 128, 8), ...range(144, 256, 16)]);

// Times in a unit, around those of the machine, which are among them.
function timesAround(own, least, most) {
  const per = 28, steps = Math.ceil(Math.log10(most / least) * per);
  return rising([0, ...own, ...Array.from({ length: steps + 1 }, (_, i) => +(least * 10 ** (i / per)).toPrecision(2))]);
}

// The numbers of processors on which all of these algorithms can run.
const processorsFor = (limits) => rising([...COUNTS, ...limits.flatMap((limit) => limit.fixed ?? [])]).filter((n) => fits(n, limits));

// The values of a slider, in the unit that is shown. They stay the same while sliders move.
const listsOf = new Map();
function valuesOf(name) {
  const key = [name, setting.operation, setting.machine, ...chosen(), ...Object.values(machineParams)].join();
  if (!listsOf.has(key)) {
    if (listsOf.size > 200) listsOf.clear();
    listsOf.set(key, makeValues(name));
  }
  return listsOf.get(key);
}

function makeValues(name) {
  const unit = unitOfSetting();
  if (name === "P") return processorsFor(limitsOfP());
  if (name === "size") {
    const { most, least = 1 } = operationOf()?.size ?? { most: 1 };
    const all = [1, 2, 3, 4, 5, 6, 7].flatMap((n) => range(0, 20, 1).map((power) => n * 2 ** power));
    return rising(all.filter((n) => n >= least && n <= Math.min(most, 65536)));
  }
  if (unit.name === "cycles") return rising([...range(0, 20, 1), ...range(22, 40, 2), ...range(45, 100, 5), ...range(110, 200, 10)]);
  // In the machine's own unit: up to ten times its longest time, G up to that of a tenth of the gap.
  const params = machineParams, of = (name) => (params[name] ?? 0) / unit.length;
  const long = Math.max(of("L"), of("o"), of("g")) || 10;
  if (name === "G") return timesAround([of("G")], (of("G") || long / 100) / 20, (of("G") || long / 100) * 50);
  return timesAround([of(name)], long / 200, long * 10);
}

// The place of a value on a list, between two of its values if it is none of them.
function placeOn(list, value) {
  const i = lower(0, list.length, (i) => list[i] >= value);
  if (i === 0) return 0;
  if (i === list.length) return list.length - 1;
  return i - 1 + (value - list[i - 1]) / (list[i] - list[i - 1]);
}
