// A few milliseconds of the channel: one row per node with frames, backoff and collisions, and the TCP
// windows. It can be played, stepped and slowed down.

import { responsive } from "./chart.js";
import { field, fresh, h, options, replace, s } from "./dom.js";
import { runner } from "./jobs.js";
import { made } from "./parts.js";

const NAME = 92, LEFT = 10, ROW = 34, HEAD = 26, RIGHT = 12;
const LENGTHS = [2, 5, 10, 20, 50, 100];
const SPEEDS = [[0.0002, "5000 times slower"], [0.001, "1000 times slower"], [0.004, "250 times slower"], [0.02, "50 times slower"]];
// The latest time that a server simulates for a timeline.
const LATEST_MS = 5000;
// After this time without a change, the timeline starts automatically, unless its run was stopped or failed.
const REST_MS = 500;
const found = new Map();
const unwanted = new Set();

export function timeline(app) {
  const begin = h("input", { type: "number", id: "begin", min: 0, max: LATEST_MS, step: "any", "aria-describedby": "begin-bad", onchange: taken });
  const reason = h("p", { class: "bad-field", id: "begin-bad", role: "alert" });
  const length = h("select", { id: "length", onchange: () => set("length", Number(length.value)) }, options(LENGTHS.map((one) => [String(one), `${one} ms`])));
  const result = h("div");
  let told = null;
  let drawn = null;
  let at = 0;
  let playing = 0;
  let speed = SPEEDS[1][0];
  let resting = 0;

  const run = runner({
    label: "Show",
    body: () => {
      if (reason.textContent) throw new Error("The start time is not valid: see the message at its field.");
      return { kind: "timeline", source: app.source(), begin_ms: app.state.timeline.begin, length_ms: app.state.timeline.length };
    },
    take: (message, asked) => {
      if (!message.result) return;
      found.set(idOf(asked.source, asked.begin_ms, asked.length_ms), message.result);
      show();
    },
    done: (state, asked) => { if (state !== "done" && asked) unwanted.add(idOf(asked.source, asked.begin_ms, asked.length_ms)); },
  });
  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "A few milliseconds of the channel"),
      h("p", { class: "muted" }, "Backoff, transmissions, collisions and TCP windows of one replication, frame by frame."),
      h("div", { class: "row" },
        field("From (ms after the start)", begin, { below: reason }), field("Length", length)),
      h("div", { class: "actions" }, run)),
    result);

  function set(name, value) {
    app.update((state) => { state.timeline[name] = value; }, { local: true });
  }

  /** Apply a start time, or show the error at its field. */
  function taken() {
    const good = begin.value !== "" && begin.validity.valid;
    begin.setAttribute("aria-invalid", String(!good));
    replace(reason, good ? "" : `allowed: 0 to ${LATEST_MS} ms`);
    if (good) set("begin", Number(begin.value));
  }

  function show() {
    const { timeline: asked } = app.state;
    if (document.activeElement !== begin && !reason.textContent) begin.value = asked.begin;
    length.value = String(asked.length);
    const id = idOf(app.source(), asked.begin, asked.length);
    const now = found.get(id) ?? null;
    clearTimeout(resting);
    if (!now && !unwanted.has(id) && !run.busy()) {
      resting = setTimeout(() => {
        if (!run.busy() && !app.trouble && !document.hidden && !reason.textContent && id === idOf(app.source(), asked.begin, asked.length)) run.begin(true);
      }, REST_MS);
    }
    if (now === told && (now || !result.childElementCount)) return;
    stop();
    told = now;
    if (!told) { replace(result); return; }
    at = Math.min(Math.max(0, asked.at), told.length_us);
    draw();
  }

  function draw() {
    const label = h("p", { class: "now", "aria-live": "polite" });
    const play = h("button", { type: "button", class: "primary", onclick: () => (playing ? stop() : start()) }, "Play");
    const slider = h("input", { type: "range", min: 0, max: told.length_us, step: "any", "aria-label": "Time", class: "time", oninput: () => { stop(); move(slider.valueAsNumber); } });
    const pace = fresh("pace");
    const box = responsive((width) => {
      drawn = picture(told, Math.max(width, 640) - NAME);
      move(at);
      // The names stay in place while the rest scrolls.
      return h("div", { class: "with-names" }, namesOf(told),
        h("div", { class: "film", tabindex: "0", role: "region", "aria-label": "Timeline of the channel" }, drawn.element));
    });
    replace(result, h("section", { class: "card" },
      h("div", { class: "actions player" }, play,
        h("button", { type: "button", onclick: () => { stop(); move(step(-1)); } }, "◀ Step back"),
        h("button", { type: "button", onclick: () => { stop(); move(step(1)); } }, "Step ▶"),
        h("label", { for: pace, class: "visually-hidden" }, "Speed"),
        h("select", { id: pace, onchange: (event) => { speed = Number(event.target.value); } }, options(SPEEDS, speed))),
      slider, label, box, made(told.parts)));
    element.controls = { label, play, slider };
    move(at);
  }

  function move(time) {
    at = Math.min(Math.max(0, time), told.length_us);
    const { label, slider } = element.controls ?? {};
    if (!label || !drawn) return;
    slider.value = at;
    label.textContent = `${(at / 1000).toFixed(3)} ms: ${told.moments.findLast(([time]) => time <= at + 1e-6)?.[1] ?? ""}`;
    slider.setAttribute("aria-valuetext", `${(at / 1000).toFixed(3)} ms`);
    drawn.cursor(at);
  }

  /** The next time at which a frame or gap begins or ends. */
  function step(direction) {
    return direction > 0 ? told.steps.find((one) => one > at + 1e-6) ?? told.length_us : told.steps.findLast((one) => one < at - 1e-6) ?? 0;
  }

  function start() {
    if (at >= told.length_us) at = 0;
    element.controls.play.textContent = "Pause";
    let last = performance.now();
    const tick = (now) => {
      move(at + (now - last) * 1000 * speed);
      last = now;
      if (at >= told.length_us) stop();
      else playing = requestAnimationFrame(tick);
    };
    playing = requestAnimationFrame(tick);
  }

  function stop() {
    if (!playing) return;
    cancelAnimationFrame(playing);
    playing = 0;
    element.controls.play.textContent = "Play";
    app.update((state) => { state.timeline.at = Math.round(at); }, { local: true });
  }

  /** End the automatic run, because the scenario has changed. */
  function moved() {
    clearTimeout(resting);
    run.cancel();
  }

  return { element, show, moved, leave: () => { moved(); stop(); } };
}

function idOf(source, begin, length) {
  return JSON.stringify([source, begin, length]);
}

/** The names of the nodes, one per row. */
function namesOf(told) {
  const height = HEAD + ROW * told.nodes.length + 6;
  return s("svg", { viewBox: `0 0 ${NAME} ${height}`, width: NAME, height, class: "chart air names", "aria-hidden": "true" },
    told.nodes.map((name, node) => s("text", { class: "node", x: NAME - 8, y: HEAD + ROW * node + 20, "text-anchor": "end" }, name.length > 13 ? `${name.slice(0, 12)}…` : name)));
}

/** The picture, and a function that moves its cursor. */
function picture(told, width) {
  const height = HEAD + ROW * told.nodes.length + 6;
  const x = (time) => LEFT + (time / told.length_us) * (width - LEFT - RIGHT);
  const row = (node) => HEAD + ROW * node;
  const most = told.length_us;
  const stepUs = [100, 200, 500, 1000, 2000, 5000, 10000, 20000].find((one) => most / one <= 10) ?? 50000;
  const ticks = Array.from({ length: Math.floor(most / stepUs) + 1 }, (_, index) => index * stepUs);
  const cursor = s("line", { class: "cursor", x1: x(0), x2: x(0), y1: HEAD - 6, y2: height });
  const element = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart air", role: "img",
    "aria-label": `Frames of ${told.nodes.length} nodes in ${most / 1000} ms. Step through them with the buttons above; each step is described in words.` },
  ticks.map((time) => [
    s("line", { class: "grid", x1: x(time), x2: x(time), y1: HEAD - 4, y2: height }),
    s("text", { class: "tick", x: x(time), y: 14, "text-anchor": time === 0 ? "start" : "middle" }, `${time / 1000}${time === 0 ? " ms" : ""}`)]),
  told.nodes.map((_, node) => s("line", { class: "frame", x1: LEFT, x2: width - RIGHT, y1: row(node) + ROW - 4, y2: row(node) + ROW - 4 })),
  told.gaps.map((gap) => {
    const room = x(gap.end) - x(gap.begin);
    return Object.entries(gap.left).map(([node, left]) => [
      gap.count < gap.end && s("rect", { class: "count", x: x(gap.count), width: Math.max(0.5, x(gap.end) - x(gap.count)), y: row(Number(node)) + 22, height: 6 }),
      room > 13 && s("text", { class: "left", x: x(gap.begin) + room / 2, y: row(Number(node)) + 18, "text-anchor": "middle" }, String(left))]);
  }),
  told.frames.map((frame) => ["heard", "lost", "sensed"].map((how) => (frame[how] ?? []).map((node) => {
    const from = Math.max(x(frame.begin), LEFT);
    const wide = Math.min(x(frame.end), width - RIGHT) - from;
    return wide > 0 && s("rect", { class: `ear ${how}`, x: from, width: Math.max(1, wide), y: row(node) + ROW - 12, height: 6 });
  }))),
  told.frames.map((frame) => {
    const from = Math.max(x(frame.begin), LEFT);
    const wide = Math.max(1.5, Math.min(x(frame.end), width - RIGHT) - from);
    if (x(frame.end) < LEFT) return null;
    const { name } = frame;
    return s("g", { class: `air-frame k-${frame.kind.replaceAll(" ", "-")} ${frame.bad ? "bad" : ""}` },
      s("title", {}, frame.said),
      s("rect", { x: from, width: wide, y: row(frame.node) + 3, height: ROW - 9, rx: Math.min(3, wide / 3) }),
      wide > 8 * name.length && s("text", { x: from + wide / 2, y: row(frame.node) + 20, "text-anchor": "middle" }, frame.mpdus > 1 && wide > 8 * name.length + 40 ? `${name} × ${frame.mpdus}` : name));
  }), cursor);
  return {
    element,
    cursor: (time) => {
      cursor.setAttribute("x1", x(time));
      cursor.setAttribute("x2", x(time));
      const box = element.parentElement;
      if (box && box.scrollWidth > box.clientWidth) box.scrollLeft = Math.max(0, x(time) - box.clientWidth / 2);
    },
  };
}
