// The network of one cell as a picture: groups of stations at a distance from the access point, with link rates and
// missed targets, wired links with their load, and the airtime as a ring. A click on a group adds a station; a drag or
// an arrow key moves the group if its file has a place or a distance.

import { put } from "./advice.js";
import { responsive } from "./chart.js";
import { announce, dragging, h, s } from "./dom.js";

const ROW = 58, EDGE = 12, NEAREST = 64, RING = 26, MOST_DOTS = 24, DRAG_PX = 5, LABEL = 112;

/** The picture, with `show(network, { airtime, missed, loads })`: `missed` are names of groups. */
export function network(app) {
  const box = h("div", { title: "Click a group to add a station. Drag it nearer or farther." });
  const element = h("section", { class: "card network", hidden: true, "aria-label": "The network" }, box);
  let net = null;
  let about = {};
  let picture = null;
  let rows = 0;
  let dragged = false;

  function show(now, told) {
    const isOther = JSON.stringify([now, told]) !== JSON.stringify([net, about]);
    [net, about] = [now, told];
    element.hidden = !net;
    if (!net || !isOther || dragged) return;
    if (!picture || rows !== net.groups.length) {
      rows = net.groups.length;
      picture = responsive(draw, Math.max(3, rows) * ROW);
      box.replaceChildren(picture);
    } else again();
  }

  /** Redraw; the focus stays at its group. */
  function again() {
    const path = box.contains(document.activeElement) && document.activeElement.dataset.path;
    picture.redraw();
    if (path) box.querySelector(`[data-path="${CSS.escape(path)}"]`)?.focus({ preventScroll: true });
  }

  function draw(width, height) {
    const ap = { x: EDGE + (net.links.length ? 96 : RING), y: height / 2 };
    const span = width - ap.x - NEAREST - LABEL - EDGE;
    const stations = net.groups.reduce((sum, one) => sum + one.count, 0);
    return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "network-picture", role: "group", "aria-label": `Access point and ${stations} stations` },
      net.links.map((link, index) => wire(link, ap, index)),
      ring(ap), s("text", { class: "ap-name", x: ap.x, y: ap.y + 4, "text-anchor": "middle" }, "AP"),
      net.groups.map((one, index) => group(one, ap, span, height * (index + 0.5) / net.groups.length)));
  }

  function wire(link, ap, index) {
    const load = about.loads?.[link.name];
    return s("g", { class: load > 0.9 ? "wire full" : "wire" },
      s("line", { x1: 0, y1: ap.y + 6 * index, x2: ap.x - RING, y2: ap.y + 6 * index }),
      s("text", { x: 0, y: ap.y - 26 + 44 * index }, link.name),
      s("text", { x: 0, y: ap.y - 10 + 44 * index }, [link.rate, load !== undefined && `${Math.round(100 * load)} %`].filter(Boolean).join(", ")));
  }

  /** The airtime around the access point. */
  function ring({ x, y }) {
    const around = { cx: x, cy: y, r: RING - 4, pathLength: 100 };
    let left = 0;
    return [s("circle", { class: "ring", ...around }), Object.entries(about.airtime ?? {}).map(([key, share]) => {
      const part = 100 * share;
      left += part;
      return part > 0 && s("circle", { class: `ring ring-${key}`, ...around, "stroke-dasharray": `${part} 100`, "stroke-dashoffset": part - left, transform: `rotate(-90 ${x} ${y})` });
    })];
  }

  function group(one, ap, span, y) {
    const at = (far) => ap.x + NEAREST + far * span;
    const x = at(one.far);
    const missed = about.missed.has(one.name);
    const size = 5 * Math.sqrt(Math.min(one.count, MOST_DOTS));
    const dots = Array.from({ length: Math.min(one.count, MOST_DOTS) }, (_, index) => {
      const [far, turn] = [5 * Math.sqrt(index), index * 2.4];
      return s("circle", { class: "sta", cx: x + far * Math.cos(turn), cy: y + far * Math.sin(turn), r: 3.6 });
    });
    const line = s("line", { class: `radio speed-${one.speed}`, x1: ap.x + RING, y1: ap.y, x2: x, y2: y });
    const name = `${missed ? "✗ " : ""}${one.count} ${one.name}`;
    const where = one.moves?.steps[one.moves.place]?.value;
    const shape = s("g", {
      class: missed ? "stations missed" : "stations", tabindex: 0, role: "button", "data-path": one.path,
      "aria-label": `${name} ${one.rate}${where ? `, ${where}` : ""}${missed ? ", misses a target" : ""}. Enter adds one, minus removes one${one.moves ? ", left and right arrows move them" : ""}.`,
      onkeydown: (event) => {
        const act = { Enter: () => count(one, 1), " ": () => count(one, 1), "+": () => count(one, 1), "-": () => count(one, -1),
          ArrowLeft: () => move(one, one.moves?.place - 1), ArrowRight: () => move(one, one.moves?.place + 1) }[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      },
      onpointerdown: (event) => grip(event, one, at, x, shape, line),
    }, s("rect", { class: "area", x: x - size - 8, y: y - ROW / 2 + 3, width: 2 * size + 16 + LABEL - 24, height: ROW - 6, rx: 8 }), dots,
    s("text", { x: x + size + 8, y: y - 2 }, `${name} `),
    s("text", { class: "rate", x: x + size + 8, y: y + 14 }, one.rate));
    return [line, shape];
  }

  function count(one, more) {
    if (app.isPending() || one.count + more < 1) return;
    put(app, { [`${one.path}.count`]: one.count + more }, `${one.name}.count`);
    announce(`${one.name}: ${one.count + more}`);
  }

  function move(one, place) {
    const step = one.moves?.steps[place];
    if (!step || app.isPending()) return;
    put(app, { [one.moves.path]: step.value }, one.moves.path);
    announce(`${one.name}: ${step.value}`);
  }

  /** Handle a press on a group: a drag moves the group, a click adds a station. */
  function grip(event, one, at, x, shape, line) {
    event.preventDefault();
    shape.focus({ preventScroll: true });
    let place = one.moves?.place;
    dragging((now) => {
      const by = now.clientX - event.clientX;
      if (!one.moves || (!dragged && Math.abs(by) < DRAG_PX)) return;
      dragged = true;
      const far = (x + by - at(0)) / (at(1) - at(0));
      const best = one.moves.steps.reduce((least, step, index) => (Math.abs(step.far - far) < Math.abs(one.moves.steps[least].far - far) ? index : least), 0);
      const spot = at(one.moves.steps[best].far);
      shape.setAttribute("transform", `translate(${spot - x})`);
      line.setAttribute("x2", spot);
      if (best !== place) { place = best; move(one, best); }
    }, (last) => {
      if (!dragged && last.type === "pointerup") count(one, 1);
      dragged = false;
      again();
    });
  }

  return { element, show };
}
