// A heat map: a number for each pair of steps of two axes, as a colour, and as text if there is room.

import { fresh, h, s } from "./dom.js";
import { short, unitOf } from "./scale.js";

// From dark blue to yellow with increasing lightness, so that it is readable without colours.
const STOPS = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
const TOP = 8, BOTTOM = 48, RIGHT = 8, ROW = 40;

/** The map at a width. */
export function heat(told, width) {
  const { across, up, cells } = told;
  const [least, most] = range(cells);
  const [factor, unit] = unitOf(Math.max(Math.abs(least), Math.abs(most)), told.unit);
  const left = Math.min(150, 34 + 7.5 * Math.max(...up.steps.map((one) => one.length)));
  const wide = (width - left - RIGHT) / across.steps.length;
  const tall = Math.max(16, Math.min(ROW, 420 / up.steps.length));
  const bottom = TOP + tall * up.steps.length;
  const every = Math.ceil(40 / wide);
  const rows = Math.ceil(14 / tall);
  return s("svg", { viewBox: `0 0 ${width} ${bottom + BOTTOM}`, width, height: bottom + BOTTOM, role: "img", class: "chart heat",
    "aria-label": `${told.label} over ${across.label} and ${up.label}: from ${short(least / factor)} to ${short(most / factor)} ${unit}. The values are in the table below.` },
  cells.map((row, j) => row.map((cell, i) => {
    const x = left + wide * i, y = bottom - tall * (j + 1);
    if (!cell) return s("rect", { class: "empty", x, y, width: Math.max(1, wide - 1), height: tall - 1 }, s("title", {}, "no value"));
    const colour = colourAt(most > least ? (cell.value - least) / (most - least) : 0.5);
    const text = Number((cell.value / factor).toPrecision(3)).toString();
    return [
      s("rect", { x, y, width: Math.max(1, wide - 1), height: tall - 1, fill: css(colour) },
        s("title", {}, `${up.label} ${up.steps[j]}, ${across.label} ${across.steps[i]}: ${cell.text}`)),
      wide > 7.5 * text.length + 4 && tall >= 16 && s("text", { class: "cell", x: x + wide / 2, y: y + tall / 2 + 4, "text-anchor": "middle",
        fill: isDark(colour) ? "#ffffff" : "#101317" }, text)];
  })),
  across.steps.map((one, i) => i % every === 0 && s("text", { x: left + wide * (i + 0.5), y: bottom + 16, "text-anchor": "middle" }, one)),
  up.steps.map((one, j) => j % rows === 0 && s("text", { x: left - 6, y: bottom - tall * (j + 0.5) + 4, "text-anchor": "end" }, one.length > 15 ? `${one.slice(0, 14)}…` : one)),
  s("text", { class: "name", x: left + (width - left) / 2, y: bottom + 38, "text-anchor": "middle" }, across.label),
  s("text", { class: "name", transform: `translate(12 ${(TOP + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up.label));
}

/** The colour scale of a map. */
export function scaleOf(told) {
  const [least, most] = range(told.cells);
  const [factor, unit] = unitOf(Math.max(Math.abs(least), Math.abs(most)), told.unit);
  const id = fresh("scale");
  return h("p", { class: "heat-scale", "aria-hidden": "true" }, short(Number((least / factor).toPrecision(3))),
    s("svg", { width: 160, height: 12 },
      s("defs", {}, s("linearGradient", { id }, STOPS.map((colour, index) => s("stop", { offset: index / (STOPS.length - 1), "stop-color": css(colour) })))),
      s("rect", { width: 160, height: 12, rx: 3, fill: `url(#${id})` })),
    `${short(Number((most / factor).toPrecision(3)))} ${unit}`);
}

function range(cells) {
  const values = cells.flat().filter(Boolean).map((cell) => cell.value);
  return values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
}

function colourAt(part) {
  const place = part * (STOPS.length - 1);
  const below = Math.min(Math.floor(place), STOPS.length - 2);
  return STOPS[below].map((one, index) => Math.round(one + (place - below) * (STOPS[below + 1][index] - one)));
}

function css(colour) {
  return `rgb(${colour.join(" ")})`;
}

/** Whether white is more readable on it than black: relative luminance of WCAG 2. */
function isDark(colour) {
  const [red, green, blue] = colour.map((one) => {
    const part = one / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179;
}
