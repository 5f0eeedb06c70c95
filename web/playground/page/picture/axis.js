// ---- What the page and the workers that paint for it must agree on.

// The end of the axis for runs until a moment, both in ps: a round number of units, so that a run grows on it while a slider
// moves. `room` is how much of it is more.
const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12];
function axisEnd(last, unit, room) {
  const number = Math.max(last / unit, 1e-3) * room, power = 10 ** Math.floor(Math.log10(number));
  return ROUND.find((n) => n * power >= number * 1.01) * power * unit;
}

// Whether a run has messages of several words that arrive one after the other.
const hasStreams = (run) => run.streams ??= run.arrival.some((at, m) => at > run.out[m]);
