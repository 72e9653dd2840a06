// Bars on a common scale from zero, with intervals, such as values before and after.

import { h, s } from "./dom.js";

const WIDE = 1000, HIGH = 20;

/**
 * Rows of { name, mean, low, high, text, tone }: a bar to the mean, a whisker from low to high. With
 * only a lower bound, the bar ends at `low` and is open.
 */
export function bars(rows, label) {
  const ends = rows.flatMap((one) => [one.mean, one.low, one.high]).filter(Number.isFinite);
  const most = Math.max(...ends, 0) * 1.04 || 1;
  const at = (value) => (WIDE * Math.min(Math.max(value, 0), most)) / most;
  return h("div", { class: "bars", role: "img", "aria-label": `${label}: ${rows.map((one) => `${one.name} ${one.text}`).join(", ")}` },
    rows.map((one) => h("div", { class: "bars-row", "aria-hidden": "true" },
      h("span", { class: "bars-name" }, one.name), drawn(one, at), h("span", { class: "bars-text" }, one.text))));
}

function drawn(one, at) {
  const known = Number.isFinite(one.mean) ? one.mean : one.low;
  return s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", class: `bars-bar ${one.tone ?? ""}` },
    Number.isFinite(known) && s("rect", { class: Number.isFinite(one.mean) ? "" : "open", x: 0, y: 3, width: Math.max(2, at(known)), height: HIGH - 6 }),
    Number.isFinite(one.mean) && Number.isFinite(one.low) && Number.isFinite(one.high) && s("path", {
      class: "whisker", d: `M${at(one.low)} 10H${at(one.high)}M${at(one.low)} 5V15M${at(one.high)} 5V15` }));
}
