// Elements from parts of the server, `[tag, attributes, ...children]` or lists of these. Text is never parsed.

import { curves, legend, responsive } from "./chart.js";
import { h, s } from "./dom.js";

/** The elements of a part; `curves` is a chart, whose attributes are the arguments of `curves`. */
export function made(part, make = h) {
  if (!Array.isArray(part)) return part;
  const [tag, attributes, ...children] = part;
  if (typeof tag !== "string" || attributes?.constructor !== Object) return part.map((one) => made(one, make));
  if (tag === "curves") {
    return h("div", {}, responsive((width, height) => curves(attributes, width, height), attributes.height),
      attributes.legend && legend(attributes.series));
  }
  const inside = tag === "svg" ? s : make;
  return inside(tag, attributes, children.map((child) => made(child, inside)));
}
