// The most reliable verdict on each scenario, by its key: from a quick simulation, the trial of a change, or a run.

const verdictOf = new Map();
const DEPTHS = ["glance", "trial", "sofar", "simulation"];

/** The most reliable verdict on a scenario with its depth, if there is one. */
export function best(key) {
  return verdictOf.get(key);
}

/** Keep the verdict on a scenario if it is the most reliable so far. */
export function keep(key, verdict, depth) {
  const before = verdictOf.get(key);
  const rank = DEPTHS.indexOf(depth);
  if (!verdict || (before && (rank < before.rank || isLess(verdict, before.verdict)))) return;
  verdictOf.set(key, { verdict, depth, rank });
}

/** True if a verdict is inconclusive about a target that another one meets, and misses none. */
function isLess(now, before) {
  const met = new Set(before.targets.filter((one) => one.state === "holds").map((one) => one.target));
  return !(now.state === "fails" && before.state !== "fails")
    && now.targets.some((one) => one.state === "unknown" && met.has(one.target));
}
