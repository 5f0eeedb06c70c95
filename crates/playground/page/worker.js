// ---- What runs beside the page, so that the page draws meanwhile: it answers the longer questions.
let ask = null;

addEventListener("message", async ({ data: { id, module, request } }) => {
  try {
    if (module) ask = await load(module);
    else postMessage({ id, answer: ask(request) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
});
