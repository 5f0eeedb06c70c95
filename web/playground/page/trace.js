// ---- An own trace: its JSON becomes lines for the module, a word, numbers and a text each.

// Returns the lines of a trace that `loggp run --trace FILE.json` wrote.
function linesOfTrace(name, text) {
  const whence = "give what `loggp run --trace FILE.json` wrote", fail = (why) => { throw new Error(`${name}: ${why}; ${whence}`); };
  let file = null;
  try {
    file = JSON.parse(text);
  } catch (error) {
    fail(`it is no JSON: ${error.message.replace(/\s+/g, " ")}`);
  }
  const { otherData: machine, traceEvents: events, "loggp trace": version = 1 } = file ?? {};
  if (!machine?.ports || !Array.isArray(events)) fail("it is JSON, and not the trace of a run");
  if (version !== 1) fail("it has another version of its form, and only version 1 is read");
  const lines = ["trace"], add = (...parts) => lines.push(parts.map((part) => typeof part === "number" ? whole(part) : part).join(" ").replace(/[\r\n]+/g, ", "));
  const whole = (number) => Number.isInteger(number) ? BigInt(number) : number;
  // With LogP, and beside the parameters of LogGPS, the file's G is none.
  const params = ({ LogGPS, model, barrier, out_of_order, ...fields }) => Object.entries({ ...fields, ...LogGPS })
    .filter(([name, value]) => typeof value === "number" && (name !== "G" || !LogGPS && model !== "LogP")).flat();
  const id = ({ from, number }) => [from, number], tag = ({ number, name = "" }) => [number, name];
  const transfer = ({ message, rendezvous: both }) => [...id(message), ...both ? [1, ...id(both.request), ...id(both.reply)] : [0]];
  const kind = ({ cat, name, args }) => cat === "work" ? ["work", name] : [name, ...{ send: id, receive: id, post: ({ request }) => [request], wait: ({ request }) => [request] }[name]?.(args) ?? []];
  const calls = {
    send: ({ bytes, sent, tag: its }) => ["send", bytes, ...transfer(sent), ...tag(its)],
    isend: ({ request, bytes, tag: its }) => ["isend", request, bytes, ...tag(its)],
    wait: ({ request, sends, transfer: it }) => sends && ["wait", request, ...transfer(it)],
  };
  calls.send_recv = calls.send;
  const other = ({ tag: its }) => its && ["tag", ...tag(its)];
  try {
    const { levels = [], ports, noise, run } = machine;
    add("machine", ...params(machine));
    add("ports", ports);
    for (const level of levels) add("level", level.ports, level.one_port ? 1 : 0, ...params(level));
    if (noise) add("noise", noise.seed, noise.together ? 1 : 0, noise.record ? 1 : 0, ...(noise.record ?? noise.periods).flat());
    for (const name of ["title", "about", "unit", "formula"]) if (run?.[name] !== undefined) add(name, run[name]);
    for (const event of events) {
      const { ph, cat, tid, args } = event;
      if (ph === "X" && cat === "call") {
        const [what, parts] = Object.entries(args.call)[0], call = parts.tag || parts.transfer ? (calls[what] ?? other)(parts) : null;
        if (call) add("call", tid, ...call);
      } else if (ph === "X") add("activity", tid, args.start, args.end, ...kind(event));
      else if (ph === "b" && cat === "request") add("progress", args.request, tid, args.start, args.end, ...kind(event));
      else if (ph === "b" && cat === "transit") {
        const { from, to, words, place = from, enter, first, latency = first - enter, arrival } = args;
        add("message", ...id(args), to, words, place, latency, enter, first, arrival);
      }
    }
  } catch {
    fail("an event lacks something");
  }
  return lines.join("\n");
}
