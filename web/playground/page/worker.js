// ---- What runs beside the page, so that the page draws meanwhile: it answers longer questions, and paints pictures.
let loaded = null, beside = null, toldLast = null, hear = null;

addEventListener("message", async ({ data: { id, module, port, request, shape, bytes } }) => {
  try {
    if (module) loaded = load(module);
    const ask = await loaded;
    if (port) {
      beside = port;
      beside.onmessage = ({ data }) => { toldLast = data; hear?.(); };
      postMessage({ isReady: true });
    }
    if (!request) return;
    if (shape) await sendPicture(ask, id, request, shape);
    else postMessage({ id, answer: ask(request, bytes) });
  } catch (error) {
    if (request) postMessage({ id, error: error.message });
  }
});

// What the worker beside this one says of its run of the same picture.
const besideRun = (id) => new Promise((done) => {
  hear = () => toldLast?.id === id && done(toldLast);
  hear();
});

// Sends a run: all of it if that is asked for, or its messages are so few that they are drawn one by one; else its pixels and
// what stands beside them.
async function sendPicture(ask, id, request, { alone, unit, room, most, columns, lines, scale, ink, isWhole }) {
  const begun = performance.now();
  let answer, run = null;
  try {
    answer = ask(request);
    run = decode(answer.page.meta, answer.page.bytes, request.causes);
  } catch (error) {
    answer = { error: error.message, about: error.about };
  }
  const own = { id, end: run ? run.finish * run.quantum : 0, P: run?.P ?? 1 };
  beside?.postMessage(own);
  if (!run) return postMessage({ id, answer });
  hasStreams(run);
  const { meta } = answer.page, buffers = [];
  delete answer.page;
  if (isWhole || run.messages <= most) {
    for (const view of [...Object.values(run), ...run.causes]) if (ArrayBuffer.isView(view)) buffers.push(view.buffer);
  } else {
    const other = alone ? own : await besideRun(id);
    colours = ink;
    place.scale = scale;
    runs[0] = run;
    P = Math.max(own.P, other.P);
    sortRows();
    const pixels = new Uint32Array(columns * lines).fill(colours.paperPixel);
    paint(run, pixels, columns, lines, 0, P, 0, axisEnd(Math.max(own.end, other.end), unit, room) / run.quantum);
    // Without causes there is no path.
    run = { ...meta, shares: run.shares, streams: run.streams, path: { nodes: [], ids: [], times: [] }, parts: "", painted: await createImageBitmap(new ImageData(new Uint8ClampedArray(pixels.buffer), columns)) };
    buffers.push(run.painted);
  }
  postMessage({ id, answer: { ...answer, run, spent: performance.now() - begun } }, [...new Set(buffers)]);
}
