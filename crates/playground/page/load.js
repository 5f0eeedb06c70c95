// Starts the module and then the page's script, which is in one scope with the parts of the timeline's that draw: the module
// has those, for the whole page of a timeline. Of the parts, these need no window of their own.
const SHARED = "kinds,run,rows,pixels,causes,words,flight,frame,choice,sheet";

async function begin() {
  const holder = document.getElementById("module"), script = document.getElementById("script");
  const stream = new Blob([Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0))]).stream();
  holder.remove();
  const module = await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(), ask = await load(module);
  const shared = new TextDecoder().decode(ask({ do: "script", name: SHARED }).script);
  await new Function("ask", "module", `"use strict"; ${shared}${script.textContent}; return open();`)(ask, module);
}

begin().catch((error) => {
  document.getElementById("trouble").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
