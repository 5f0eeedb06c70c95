// ---- Drawing a chain of causes.

// Draws a chain of causes. Its nodes are sorted by time, so those in the window are contiguous. Many nodes within a few pixels
// become a bar over the rows that they pass. If steep lines and bars, which take BAR pixels each, leave less than CLEAR of the
// chain's width, they would be a fence: then a dot at each place says in which row it is, and only the part that is pointed at has
// lines. All of it has a rim, so that it is seen on every colour.
const BAR = 8, MANY = 4, CLEAR = 0.6, FENCE = 12, NEAR = 6;

function drawChain(run, { ids, times }, thick) {
  const q = ratio(run), { left, width } = place, pixels = (width - left) / (view.until - view.from);
  // There may be hundreds of thousands.
  const x = (i) => left + (times[i] * q - view.from) * pixels, y = (i) => yOf(run, ids[i]);
  const find = (x0, from) => lower(from, times.length, (i) => x(i) <= x0);
  const first = Math.max(0, find(width, 0) - 1), last = Math.min(times.length - 1, find(left, first) + 1), lines = [[]], bars = [];
  for (let i = first; i <= last;) {
    const right = x(i);
    let next = i, high = y(i), low = high;
    for (; next <= last && x(next) > right - BAR; next++) {
      const here = y(next);
      if (here < high) high = here;
      if (here > low) low = here;
    }
    lines.at(-1).push([right, y(i)]);
    if (next - i > MANY && high === low) {
      lines.at(-1).push([x(next - 1), low]);
      i = next;
    } else if (next - i > MANY) {
      bars.push([right - BAR / 2, high, low]);
      lines.push([[x(next - 1), y(next - 1)]]);
      i = next;
    } else i++;
  }
  const steep = lines.flatMap((line) => line.filter(([x, y], i) => i && line[i - 1][0] - x < BAR && Math.abs(y - line[i - 1][1]) > BAR)).length;
  const turns = steep + bars.length, isFence = turns > FENCE && turns * BAR > (1 - CLEAR) * (x(first) - x(last));
  if (isFence) {
    const here = cursor(), at = find(here, 0);
    lines.length = bars.length = 0;
    for (let x0 = left + BAR / 2; x0 < width; x0 += BAR) {
      const i = find(x0, 0);
      if (i > 0 && i < times.length) bars.push([x0, y(i), y(i)]);
    }
    if (here > left) lines.push([]);
    for (let i = Math.max(0, at - NEAR); here > left && i < Math.min(times.length, at + NEAR); i++) lines[0].push([x(i), y(i)]);
  }
  over.lineJoin = "bevel";
  for (const [colour, wide] of [[colours.halo, thick + 3], [colours.path, thick]]) {
    Object.assign(over, { lineWidth: wide, fillStyle: colour });
    for (const line of lines) if (line.length > 1) stroke(over, colour, ...line);
    // Whole pixels, which have no mixed colours around them.
    const half = Math.round(wide / 2) + isFence;
    for (const [x, high, low] of bars) over.fillRect(Math.round(x) - half, Math.round(high) - half, 2 * half + 1, Math.round(low - high) + 2 * half + 1);
  }
}

// The place in time that is pointed at.
const cursor = () => state.hover?.event >= 0 ? xOf((state.hover.run.start[state.hover.event] + state.hover.run.end[state.hover.event]) / 2 * ratio(state.hover.run)) : state.at ?? -1;
