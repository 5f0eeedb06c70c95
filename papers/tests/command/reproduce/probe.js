// Replaces the document with a report of the layout of the page in its frame.
addEventListener("load", () => {
  const frame = document.querySelector("iframe");
  const page = frame.contentDocument;
  const root = page.documentElement;
  const problems = [];
  const say = (what, element) => problems.push(`${what}: ${element.textContent.trim().slice(0, 60)}`);
  if (root.scrollWidth > root.clientWidth) problems.push(`the page is ${root.scrollWidth} wide`);
  for (const element of page.querySelectorAll("body *:not(svg *)")) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.right > root.clientWidth + 1 || box.left < -1)) say("reaches over the side", element);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth && element.tagName != "A" &&
        frame.contentWindow.getComputedStyle(element).display != "inline") say("does not fit", element);
  }
  // Some pictures have another version for narrow screens, and one of the two is visible.
  const figures = [...page.querySelectorAll("figure svg")].filter((svg) => svg.getBoundingClientRect().width);
  for (const svg of figures) {
    const box = svg.getBoundingClientRect();
    if (box.width < 100 || box.height < 30) say("too small", svg.parentElement);
    for (const text of svg.querySelectorAll("text")) {
      const at = text.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        say("cut off in a picture", text);
    }
  }
  const channels = frame.contentWindow.getComputedStyle(page.body).backgroundColor.match(/\d+/g).map(Number);
  const seen = { figures: figures.length, is_dark: channels[0] < 128, problems: problems.slice(0, 20) };
  document.body.textContent = "";
  const pre = document.body.appendChild(document.createElement("pre"));
  pre.textContent = JSON.stringify(seen);
});
