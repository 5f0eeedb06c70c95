// ---- What runs beside the page, so that the page draws meanwhile: it answers the longer questions.
let loaded = null;

addEventListener("message", async ({ data: { id, module, request } }) => {
  try {
    if (module) loaded = load(module);
    else {
      const ask = await loaded;
      postMessage({ id, answer: ask(request) });
    }
  } catch (error) {
    if (request) postMessage({ id, error: error.message });
  }
});
