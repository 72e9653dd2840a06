// Pictures: curves with points and intervals, bars of airtime, distributions. SVG, in the colours of
// the style sheet; each has a label that describes it in words.

import { fresh, h, s } from "./dom.js";
import { logTicks, scale, short, ticks, unitOf } from "./scale.js";

const LEFT = 62, RIGHT = 16, TOP = 14, BOTTOM = 44;

/** A picture that is redrawn if the width of its box changes. */
export function responsive(draw, height = 320) {
  const box = h("div", { class: "picture" });
  let width = 0;
  const redraw = () => {
    if (width < 50) return;
    const tall = width < 480 ? Math.min(height, 250) : height;
    box.replaceChildren(draw(width, tall));
  };
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now !== width) {
      width = now;
      redraw();
    }
  }).observe(box);
  box.redraw = redraw;
  return box;
}

/**
 * Lines, points with intervals, bounds and marks over an axis.
 * `series`: { name, kind: "line"|"points"|"both", colour, dash, joined, data: [{x, y, low, high}] };
 * The y axis covers all intervals, but only the means of a series that is `cut`.
 * `x.names`: the labels at 0, 1, ... of an axis of texts;
 * `mark`: { x, y, text }, the current value; `bound`: { y, text }; `band`: { low, high } of x.
 */
export function curves({ series, x, y, mark = null, bound = null, band = null, label, least = 0 }, width, height) {
  const values = series.flatMap((one) => one.data);
  const xs = values.map((one) => one.x).concat(x.all ?? []);
  const reach = series.flatMap((one) => one.data.map((point) => (one.cut ? Math.min(point.high ?? point.y, 1.3 * Math.max(...one.data.map((other) => other.y).filter(Number.isFinite))) : point.high ?? point.y)));
  const tops = reach.concat(values.map((one) => (Number.isFinite(one.y) ? one.y : one.low)), bound ? [bound.y] : []);
  if (mark && Number.isFinite(mark.y)) tops.push(mark.y);
  const finite = tops.filter(Number.isFinite);
  const most = finite.length ? Math.max(...finite) : 1;
  const low = Math.min(least, ...values.map((one) => one.low ?? one.y).filter(Number.isFinite));
  const [factor, unit] = y.unit === "share" ? [0.01, "%"] : unitOf(most, y.unit);
  const yTicks = ticks(Math.max(low, y.floor ?? low) / factor, (most || 1) / factor, height < 280 ? 4 : 6);
  const right = width - RIGHT, bottom = height - BOTTOM;
  const names = x.names ?? null;
  const xMin = names ? -0.5 : Math.min(...xs), xMax = names ? names.length - 0.5 : Math.max(...xs);
  const log = x.log ?? (xMin > 0 && xMax / xMin > 8);
  const [xFactor, xUnit] = unitOf(xMax, x.unit ?? "");
  const px = scale([xMin / xFactor, xMax === xMin ? xMin / xFactor + 1 : xMax / xFactor], [LEFT, right], log);
  const py = scale([yTicks[0], yTicks.at(-1)], [bottom, TOP]);
  const at = (value) => px(value / xFactor);
  const up = (value) => py(value / factor);
  const xTicks = names ? names.map((_, index) => index) : thin(log ? logTicks(xMin / xFactor, xMax / xFactor)
    : ticks(xMin / xFactor, xMax / xFactor, width < 480 ? 4 : 8)
      .filter((one) => one >= (xMin / xFactor) * 0.999 && one <= (xMax / xFactor) * 1.001), px, 34);
  const clip = fresh("clip");
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" },
    s("defs", {}, s("clipPath", { id: clip }, s("rect", { x: LEFT - 6, y: 0, width: right - LEFT + 12, height: bottom + 5 }))),
    band && s("rect", { class: "band", x: at(band.low), width: Math.max(1, at(band.high) - at(band.low)), y: TOP, height: bottom - TOP }),
    yTicks.map((one) => [
      s("line", { class: "grid", x1: LEFT, x2: right, y1: py(one), y2: py(one) }),
      s("text", { class: "tick", x: LEFT - 8, y: py(one) + 4, "text-anchor": "end" }, short(one)),
    ]),
    xTicks.map((one) => s("text", { class: "tick", x: px(one), y: bottom + 18, "text-anchor": "middle" }, names ? names[one] : short(one))),
    s("line", { class: "frame", x1: LEFT, x2: right, y1: bottom, y2: bottom }),
    s("text", { class: "name", x: (LEFT + right) / 2, y: height - 6, "text-anchor": "middle" }, xUnit ? `${x.label} (${xUnit})` : x.label),
    s("text", { class: "name", transform: `translate(14 ${(TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
      unit ? `${y.label} (${unit})` : y.label),
    bound && [
      s("line", { class: "bound", x1: LEFT, x2: right, y1: up(bound.y), y2: up(bound.y) }),
      s("text", { class: "boundname", x: right, y: up(bound.y) - 6, "text-anchor": "end" }, bound.text),
    ],
    mark && Number.isFinite(mark.x) && [
      s("line", { class: "mark", x1: at(mark.x), x2: at(mark.x), y1: TOP, y2: bottom }),
      Number.isFinite(mark.y) && s("circle", { class: "here", cx: at(mark.x), cy: up(mark.y), r: 6 }),
    ],
    s("g", { "clip-path": `url(#${clip})` }, [...series].sort((a, b) => Boolean(b.dash) - Boolean(a.dash)).map((one) => drawn(one, at, up))));
}

/** The legend of lines and points. */
export function legend(series) {
  return h("ul", { class: "legend", "aria-hidden": "true" }, series.map((one) => h("li", {},
    s("svg", { width: 26, height: 12, class: "chart" },
      one.kind !== "points" && s("line", { class: `line ${one.colour} ${one.dash ? "dashed" : ""}`, x1: 0, x2: 26, y1: 6, y2: 6 }),
      one.kind !== "line" && s("g", { class: `points ${one.colour}` }, one.mark !== "diamond" && s("path", { d: "M13 0V12" }), marked(one, 13, 6, 4))),
    one.name)));
}

/** The mark of a point: a dot, or a hollow diamond for a number printed in a paper. */
function marked(series, x, y, r, ...children) {
  if (series.mark !== "diamond") return s("circle", { cx: x, cy: y, r }, ...children);
  const half = 1.4 * r;
  return s("path", { class: "diamond", d: `M${x} ${y - half}L${x + half} ${y}L${x} ${y + half}L${x - half} ${y}Z` }, ...children);
}

function drawn(one, at, up) {
  const data = one.data.filter((point) => Number.isFinite(point.y)).sort((a, b) => a.x - b.x);
  const path = data.map((point, index) => `${index ? "L" : "M"}${at(point.x).toFixed(2)} ${up(point.y).toFixed(2)}`).join("");
  const line = s("path", { class: `line ${one.colour} ${one.dash ? "dashed" : ""}`, d: path });
  if (one.kind !== "line") {
    // A lower bound is an arrow.
    const isBound = (point) => Number.isFinite(point.low) && !Number.isFinite(point.high);
    const bounds = one.data.filter(isBound);
    return [one.kind === "both" && one.joined && line, s("g", { class: `points ${one.colour}` }, bounds.map((point) => s("path", {
      class: "at-least", d: `M${at(point.x) - 5} ${up(point.low)}h10m-5 0v-16m-4 5l4 -6l4 6` }, point.text && s("title", {}, point.text))),
    data.filter((point) => !isBound(point)).map((point) => s("g", { class: point.unsteady ? "unsteady" : null },
      Number.isFinite(point.low) && Number.isFinite(point.high) && s("path", { d: `M${at(point.x)} ${up(point.low)}V${up(point.high)}m-5 0h10M${at(point.x) - 5} ${up(point.low)}h10` }),
      marked(one, at(point.x), up(point.y), 4.5, point.text && s("title", {}, point.text)))))];
  }
  return line;
}

/** Ticks without overlaps. */
function thin(values, place, room) {
  const kept = [];
  for (const value of values) {
    if (!kept.length || place(value) - place(kept.at(-1)) >= room) kept.push(value);
  }
  return kept;
}
