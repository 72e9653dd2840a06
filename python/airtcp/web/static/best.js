// The best verdict that exists for each scenario, by its key: of a quick simulation, of the trial of a change, of a run.

const verdictOf = new Map();
const DEPTHS = ["glance", "trial", "sofar", "simulation"];

/** The best verdict of a scenario with its depth, if there is one. */
export function best(key) {
  return verdictOf.get(key);
}

/** Keep the verdict of a scenario if it is the best so far. */
export function keep(key, verdict, depth) {
  const before = verdictOf.get(key);
  const rank = DEPTHS.indexOf(depth);
  if (!verdict || (before && (rank < before.rank || isLess(verdict, before.verdict)))) return;
  verdictOf.set(key, { verdict, depth, rank });
}

/** True if a verdict leaves a target open that another one meets, and finds no miss. */
function isLess(now, before) {
  const met = new Set(before.targets.filter((one) => one.state === "holds").map((one) => one.target));
  return !(now.state === "fails" && before.state !== "fails")
    && now.targets.some((one) => one.state === "unknown" && met.has(one.target));
}
