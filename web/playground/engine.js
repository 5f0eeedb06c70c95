// The module and its answers: README.md has the contract.

// Returns a request as lines: a name and a value each, `x.over` for what is within another.
export const linesOf = (request, within = "") => Object.entries(request).map(([name, value]) =>
  value === undefined || value === null ? ""
    : typeof value === "object" && !Array.isArray(value) ? linesOf(value, `${within}${name}.`)
      : `${within}${name} ${String(value).replace(/\s+/g, " ")}\n`).join("");

// Starts the module from its bytes, or once it is compiled, and returns the function that asks it: `ask(request, bytes)` returns
// the answer with typed arrays of its own where the columns were, and throws an Error with a sentence if something was wrong.
export async function load(bytes) {
  const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes), types = { f64: Float64Array, i32: Int32Array, u8: Uint8Array };
  let { exports } = await WebAssembly.instantiate(module, {});
  const fill = (value, columns) => {
    if (!value || typeof value !== "object") return value;
    const Type = types[value.type];
    if (Type && "at" in value) return new Type(exports.memory.buffer, columns + value.at, value.length).slice();
    for (const key in value) value[key] = fill(value[key], columns);
    return value;
  };
  const answerTo = (request, file) => {
    const { memory, alloc, free, call } = exports;
    const line = new TextEncoder().encode(linesOf(request) + "\n");
    const length = line.length + (file?.length ?? 0);
    const at = alloc(length), room = new Uint8Array(memory.buffer, at, length);
    room.set(line);
    if (file) room.set(file, line.length);
    const answer = call(at, length);
    free(at, length);
    const size = new DataView(memory.buffer).getUint32(answer, true);
    const json = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer + 8, size)));
    if (json.error) throw Object.assign(new Error(json.error), { about: json.about });
    return fill(json, answer + ((8 + size + 7) & ~7));
  };
  return (request, file) => {
    try {
      return answerTo(request, file);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      // A trace that breaks the rules of the machine, or more memory than the browser gives. The module starts anew.
      exports = new WebAssembly.Instance(module, {}).exports;
      throw new Error(`${file ? `${request.name || "the file"} breaks the rules of the machine, or ` : ""}it takes more memory `
        + "than there is here; the command loggp says more");
    }
  };
}
