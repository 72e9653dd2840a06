// The map: access points and stations, walls, who hears whom, and each cell's share of its isolated
// goodput, by the Markov chain and as simulated. An access point with a position can be dragged or moved
// by arrow keys, and the chain's shares follow if it has any. Two clicks draw a wall.

import { announce, dragging, fresh, h, replace, s } from "./dom.js";

const WIDTH = 560, HEIGHT = 260, EDGE = 44, STEP_M = 1;
// Text keeps its size on a narrow card, and the map its height on a wide one.
const LARGEST = 1.35;
// Loss of a drawn wall if the file has no other wall.
const LOSS = "8 dB";

/** The card of the map, with `show(map, shares)`; hidden for a scenario without cells. */
export function floor(app) {
  const body = h("div");
  const notes = h("div");
  const pen = h("button", { type: "button", class: "quiet small", "aria-pressed": "false", onclick: () => take(pen.ariaPressed !== "true") }, "Draw a wall");
  const chosen = h("input", { type: "file", accept: "image/*", id: fresh("plan"), class: "visually-hidden", onchange: () => lay() });
  const metres = h("input", { type: "number", min: 1, step: "any", value: 30, onchange: () => draw(...drawn) });
  const width = h("label", { class: "metres", hidden: true }, "Width in metres ", metres);
  const tools = h("div", { class: "buttons" }, pen, chosen, h("label", { for: chosen.id, class: "button quiet small" }, "Floor plan …"), width);
  const element = h("section", { class: "card", hidden: true, "aria-label": "Map of cells" }, body, tools,
    h("details", { class: "more" }, h("summary", {}, "Who hears whom"), notes));
  let shown = "";
  let dragged = null;
  let wide = WIDTH;
  let drawn = null;
  // Start of the wall being drawn, in metres and in the picture.
  let corner = null;
  // The image below the map, with its height as a part of its width. Its upper left corner is at 0, 0.
  let plan = null;

  /** Show an image below the map. It exists only on this page: a scenario has no key for it. */
  async function lay() {
    const [file] = chosen.files;
    if (!file) return;
    const image = new Image();
    image.src = await new Promise((resolve) => { Object.assign(new FileReader(), { onload: (event) => resolve(event.target.result) }).readAsDataURL(file); });
    await image.decode().then(() => { plan = { url: image.src, part: image.height / image.width }; }, () => { announce("This file is not an image."); });
    width.hidden = !plan;
    if (plan) draw(...drawn);
  }

  /** The size of the image in metres. */
  const sizeOfPlan = () => (plan && metres.valueAsNumber > 0 ? { width: metres.valueAsNumber, height: metres.valueAsNumber * plan.part } : null);

  /** Start or stop drawing a wall. */
  function take(now) {
    pen.ariaPressed = String(now);
    corner = null;
    body.classList.toggle("drawing", now);
    body.querySelector(".drawn")?.remove();
    if (now) announce("Click both ends of the wall.");
  }

  /** Position of an event: in the picture, and in whole metres. */
  function placeOf(event, svg, frame) {
    const box = svg.getBoundingClientRect();
    const [px, py] = [(event.clientX - box.left) * wide / box.width, (event.clientY - box.top) * HEIGHT / box.height];
    return { px, py, x: Math.round(frame.x + (px - frame.left) / frame.scale), y: Math.round(frame.y + (py - frame.top) / frame.scale) };
  }

  /** An end of a wall: the first or the last one. */
  function cornered(event, svg, map, frame) {
    if (pen.ariaPressed !== "true") return;
    const spot = placeOf(event, svg, frame);
    if (!corner) {
      corner = spot;
      svg.append(s("line", { class: "wall drawn", x1: spot.px, y1: spot.py, x2: spot.px, y2: spot.py }));
      return;
    }
    if (spot.x === corner.x && spot.y === corner.y) return;
    const walls = [...map.walls, [corner.x, corner.y, spot.x, spot.y, map.walls.at(-1)?.[4] ?? LOSS]];
    take(false);
    app.change({ "air.path_loss.walls": walls.map(([x, y, x2, y2, loss]) => ({ from: [x, y], to: [x2, y2], loss })) }, "a wall");
    announce(`Added a wall of ${walls.at(-1)[4]} from ${walls.at(-1).slice(0, 2)} to ${walls.at(-1).slice(2, 4)} metres`);
  }

  new ResizeObserver(([entry]) => {
    const { width } = entry.contentRect;
    const now = Math.round(width / Math.min(Math.max(width / WIDTH, 1), LARGEST));
    if (now < 50 || now === wide) return;
    wide = now;
    if (drawn && !dragged) draw(...drawn);
  }).observe(body);

  function show(map, shares = {}) {
    element.hidden = !map;
    tools.hidden = !map?.placed;
    const now = JSON.stringify([map, shares]);
    if (!map || now === shown) return;
    shown = now;
    if (!dragged) draw(map, shares);
    else update(map, shares);
  }

  function draw(map, shares) {
    drawn = [map, shares];
    replace(body, picture(map, shares));
    replace(notes, h("p", { class: "muted" }, map.about),
      h("ul", { class: "legend", "aria-hidden": "true" }, map.hears.length > 0 && key("hears", "access points that hear each other"), map.deaf.length > 0 && key("deaf", "do not hear each other"), map.walls.length > 0 && key("wall", "wall")),
      h("ul", { class: "shares" }, listed(map, shares)));
  }

  /** While an access point is dragged it follows the pointer, and lines and text are updated. */
  function update(map, shares) {
    const fresh_ = picture(map, shares, dragged.frame);
    const old = body.querySelector("svg");
    for (const layer of ["lines", "dots", "told"]) old.querySelector(`.${layer}`).replaceWith(fresh_.querySelector(`.${layer}`));
    replace(notes.querySelector("p"), map.about);
    replace(notes.querySelector(".shares"), listed(map, shares));
  }

  function picture(map, shares, frame = frameOf(map, wide, sizeOfPlan())) {
    const at = placer(map, frame, wide);
    const spots = map.nodes.map((node, place) => at(node, place));
    const line = (kind) => ([one, other]) => s("line", { class: kind, x1: spots[one].x, y1: spots[one].y, x2: spots[other].x, y2: spots[other].y });
    const grips = map.cells.map((cell, place) => {
      const node = map.nodes[place];
      const ap = s("rect", { class: "ap", x: spots[place].x - 8, y: spots[place].y - 8, width: 16, height: 16, rx: 4, ...map.placed && {
        tabindex: 0, role: "button", "aria-label": `Access point of ${cell.name}: arrow keys move it by a metre`,
        onkeydown: (event) => {
          const [x, y] = { ArrowLeft: [-STEP_M, 0], ArrowRight: [STEP_M, 0], ArrowUp: [0, -STEP_M], ArrowDown: [0, STEP_M] }[event.key] ?? [];
          if (x === undefined) return;
          event.preventDefault();
          put(cell, node.x + x, node.y + y, place);
        },
        onpointerdown: (event) => {
          if (pen.ariaPressed === "true") return;
          event.preventDefault();
          dragged = { frame };
          dragging((move) => {
            const spot = placeOf(move, ap.ownerSVGElement, frame);
            ap.setAttribute("x", spot.px - 8);
            ap.setAttribute("y", spot.py - 8);
            put(cell, spot.x, spot.y);
          }, () => {
            dragged = null;
            shown = "";
            app.update(() => {}, { local: true });
          });
        },
      } });
      return ap;
    });
    const svg = s("svg", {
      viewBox: `0 0 ${wide} ${HEIGHT}`, class: "floor", role: "group", "aria-label": map.about, onclick: (event) => cornered(event, svg, map, frame),
      onpointermove: (event) => {
        const end = corner && svg.querySelector(".drawn");
        const spot = end && placeOf(event, svg, frame);
        for (const [name, value] of end ? [["x2", spot.px], ["y2", spot.py]] : []) end.setAttribute(name, value);
      },
    },
      frame && plan && s("image", { href: plan.url, x: at({ x: 0, y: 0 }).x, y: at({ x: 0, y: 0 }).y, width: frame.scale * (sizeOfPlan()?.width ?? 0) }),
      s("g", { class: "lines" }, map.walls.map(([x, y, x2, y2]) => { const [from, to] = [at({ x, y }), at({ x: x2, y: y2 })]; return s("line", { class: "wall", x1: from.x, y1: from.y, x2: to.x, y2: to.y }); }),
        map.hears.map(line("hears")), map.deaf.map(line("deaf"))),
      s("g", { class: "dots" }, map.nodes.map((node, place) => !node.ap && [
        s("line", { class: "own", x1: spots[place].x, y1: spots[place].y, x2: spots[node.cell].x, y2: spots[node.cell].y }),
        s("circle", { class: "sta", cx: spots[place].x, cy: spots[place].y, r: 4 }, s("title", {}, node.name))])),
      s("g", { class: "grips" }, grips),
      s("g", { class: "told" }, map.cells.map((cell, place) => s("text", { x: spots[place].x, y: spots[place].y - 14, "text-anchor": "middle" }, cell.channel ? `${cell.name} (${cell.channel})` : cell.name))));
    return svg;
  }

  let last = "";
  function put(cell, x, y, focus = null) {
    const place = `${cell.name} ${x} ${y}`;
    if (place === last) return;
    last = place;
    app.change({ [`cells.${cell.name}.position`]: [x, y] }, `${cell.name} moved`);
    if (focus !== null) announce(`${cell.name} at ${x}, ${y} metres`);
  }

  return { element, show };
}

/** List each cell's share of its isolated goodput. */
function listed(map, shares) {
  const told = map.cells.filter((cell) => share(cell, shares));
  return told.length ? [h("li", {}, "Share of isolated goodput:"), ...told.map((cell) => h("li", {}, h("strong", {}, cell.name), ` ${share(cell, shares)}`))] : [];
}

function share(cell, shares) {
  const percent = (value) => `${(100 * value).toPrecision(value < 0.1 ? 2 : 3)} %`;
  const parts = [cell.share !== null && `${percent(cell.share)} (Markov chain)`, shares[cell.name]].filter(Boolean);
  return parts.join(", ");
}

function key(kind, text) {
  return h("li", {}, s("svg", { class: "floor key", width: 22, height: 8, viewBox: "0 0 22 8" }, s("line", { class: kind, x1: 1, x2: 21, y1: 4, y2: 4 })), text);
}

/** The visible part of the floor, and its scale. */
function frameOf(map, wide, plan) {
  if (!map.placed) return null;
  const xs = [...map.nodes.map((one) => one.x), ...map.walls.flatMap((one) => [one[0], one[2]]), ...plan ? [0, plan.width] : []];
  const ys = [...map.nodes.map((one) => one.y), ...map.walls.flatMap((one) => [one[1], one[3]]), ...plan ? [0, plan.height] : []];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const scale = Math.min((wide - 2 * EDGE) / Math.max(Math.max(...xs) - x, 1), (HEIGHT - 2 * EDGE) / Math.max(Math.max(...ys) - y, 1));
  return { x, y, scale, left: (wide - scale * (Math.max(...xs) - x)) / 2, top: (HEIGHT - scale * (Math.max(...ys) - y)) / 2 };
}

/** A function from nodes to positions in the picture: their own, or those that the server chose. */
function placer(map, frame, wide) {
  if (map.placed) return ({ x, y }) => ({ x: frame.left + (x - frame.x) * frame.scale, y: frame.top + (y - frame.y) * frame.scale });
  return (_node, place) => {
    const [part, right, down] = map.spots[place];
    return { x: part * wide + right, y: HEIGHT / 2 + down };
  };
}
