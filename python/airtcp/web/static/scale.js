// Axes of pictures: ticks at round values, suitable units, logarithmic if values span decades.

const PREFIXES = {
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
  "b/s": [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]],
  B: [[1e6, "MB"], [1e3, "kB"], [1, "B"]],
};

/** Factor and name of a unit that suits the largest of some values. */
export function unitOf(largest, unit) {
  const choices = PREFIXES[unit];
  if (!choices) return [1, unit === "1" ? "" : unit];
  return choices.find(([factor]) => largest >= factor) ?? choices.at(-1);
}

/** Round values from 0 (or the least) to at least the largest. */
export function ticks(least, largest, most = 6) {
  const span = largest - least || Math.abs(largest) || 1;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let at = Math.floor(least / step + 1e-9); at * step <= largest + step * 0.999; at += 1) found.push(at * step);
  return found;
}

/** Powers of ten, with values in between if there are few powers. */
export function logTicks(least, largest) {
  const found = [];
  const decades = Math.log10(largest / least);
  const parts = decades > 4 ? [1] : decades > 1.7 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 8];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(largest)); power += 1) {
    for (const part of parts) {
      const value = part * 10 ** power;
      if (value >= least * 0.999 && value <= largest * 1.001) found.push(value);
    }
  }
  return found;
}

/** A number with as few digits as needed. */
export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-4) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** A function from values to positions. */
export function scale(from, to, log = false) {
  const by = log ? Math.log : (value) => value;
  const [a, b] = from.map(by);
  const width = b - a || 1;
  return (value) => to[0] + ((by(value) - a) / width) * (to[1] - to[0]);
}
