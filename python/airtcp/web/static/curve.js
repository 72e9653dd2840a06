// A curve over one slider, shown at once: models if they apply, otherwise quick simulations, which
// become longer while the user does nothing. Simulated points are added as they arrive.

import { isAbort, post, stream } from "./api.js";
import { curves, legend, responsive } from "./chart.js";
import { slider } from "./controls.js";
import { fold, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";
import { change } from "./state.js";

const MODEL_METRICS = ["goodput_bps", "flow_goodput_bps", "transfer_time_s"];
const POINTS = 7;
// Each idle period repeats the quick simulations with this many times the work.
const SHARPER = [3, 9];
const REST_MS = 2500;
export const TARGET = "target: ";

// Results are cached while the page is open.
const modelsOf = new Map();
const glancesOf = new Map();
const pointsOf = new Map();

/**
 * The card of the curve. `predicted()` is the answer at the current value; `slid()` is called when the
 * slider below the curve has moved. `chosen()` fixes { axis, metric, bound }; such a card is open and has no controls.
 */
export function curve(app, { predicted = () => null, slid = () => {}, chosen = null }) {
  const picker = h("div", { class: "pickers" });
  const picture = responsive(draw);
  const key = h("div");
  const large = h("div", { class: "main-slider" });
  const caption = h("summary", {}, "The values as a table");
  const values = h("details", { class: "values" }, caption);
  const depth = h("p", { class: "muted depth-told", "aria-live": "polite" });
  let axis = null;
  let mover = null;
  let reading = null;
  let resting = 0;
  let drawing = 0;
  let refused = "";

  const several = runner({
    label: "Simulate the curve", quiet: true,
    body: () => ({ kind: "points", source: base(), axis: axis.path, values: spread(axis.options) }),
    take: (message, asked) => {
      if (!message.point) return;
      put(keyOf(asked.source, asked.axis), message.point.value, message.point);
      show();
    },
  });
  const element = chosen ? Object.assign(h("section", { class: "card" }, h("h2", {}, "Preliminary: from models and quick simulations"), picture, key, depth, values), { open: true })
    : fold("Along one slider", picker, picture, key, depth, large, h("div", { class: "actions" }, several), values);
  element.addEventListener("toggle", () => element.open && app.scenario && show());

  /** The source without the value of the slider below the curve. */
  function base() {
    return without(app.source(), axis?.path);
  }

  function here(store) {
    const id = keyOf(app.source(), axis.path);
    if (!store.has(id)) store.set(id, new Map());
    return store.get(id);
  }

  /** The curve's answer at the current value, or null. */
  function known() {
    if (!axis) return null;
    const value = axis.path === "stations" ? app.state.stations : app.state.changes[axis.path];
    const told = value !== undefined && value !== null && here(modelsOf).get(JSON.stringify(value));
    return told?.words ? told : null;
  }

  /** Add a run of the scenario itself as a point of the curve. */
  function keep(from, told) {
    if (axis && axis.value !== null) put(keyOf(from, axis.path), axis.value, { metrics: told.metrics, verdict: told.verdict });
  }

  function show() {
    const { axes } = app.scenario;
    axis = axes.find((candidate) => candidate.path === (chosen ? chosen().axis : app.state.axis)) ?? axes[0] ?? null;
    if (axis?.path === "stations" && app.state.stations !== null) axis = { ...axis, value: app.state.stations };
    several.hidden = !axis;
    if (!chosen) {
      showPickers();
      showSlider();
    }
    if (!element.open) return;
    ask();
    redraw();
  }

  function metric() {
    const wanted = (chosen ? chosen().metric : app.state.metric) ?? "";
    if (wanted.startsWith(TARGET) || Object.hasOwn(app.start.metrics, wanted)) return wanted;
    const told = predicted();
    const there = { ...told?.glance, ...told?.values };
    return "transfer_time_s" in there ? "transfer_time_s" : "goodput_bps";
  }

  /** The target whose curve is shown, from the last answer; null for a metric. */
  function target() {
    const name = metric();
    if (!name.startsWith(TARGET)) return null;
    const text = name.slice(TARGET.length);
    const all = [...here(glancesOf).values(), ...here(pointsOf).values(), ...here(modelsOf).values()];
    for (const told of all) {
      const one = told.verdict?.targets.find((each) => each.target === text);
      if (one) return one;
    }
    return { target: text, label: text, about: text, unit: "", bound: null };
  }

  function showPickers() {
    if (!axis) { replace(picker); return; }
    const now = metric();
    const targets = predicted()?.verdict?.targets ?? [];
    const choose = (name, told) => (event) => app.update((state) => { state[name] = event.target.value; }, { local: true });
    replace(picker,
      h("label", {}, "show ", h("select", { id: "metric", onchange: choose("metric") },
        targets.length > 0 && h("optgroup", { label: "Targets" }, targets.map((one) => h("option", { value: TARGET + one.target, selected: TARGET + one.target === now }, `${one.about} ${one.wanted}`))),
        now.startsWith(TARGET) && !targets.some((one) => TARGET + one.target === now) && h("option", { value: now, selected: true }, now.slice(TARGET.length)),
        h("optgroup", { label: "Metrics" }, metrics().map((name) => h("option", { value: name, selected: name === now }, app.start.metrics[name]?.label ?? name))))),
      h("label", {}, "over ", h("select", { id: "axis", onchange: choose("axis") },
        app.scenario.axes.map((candidate) => h("option", { value: candidate.path, selected: candidate.path === axis.path }, nameOf(candidate))))));
  }

  function nameOf(candidate) {
    const many = app.scenario.axes.filter((other) => other.label === candidate.label).length > 1;
    return many ? `${candidate.section}: ${candidate.label}` : candidate.label;
  }

  /** Metrics with a value from a model, a quick simulation or a simulation. */
  function metrics() {
    const names = new Set(MODEL_METRICS);
    for (const told of here(modelsOf).values()) for (const name of [...Object.keys(told.values), ...Object.keys(told.glance)]) names.add(name);
    for (const told of here(glancesOf).values()) for (const name of Object.keys(told.glance)) names.add(name);
    for (const told of here(pointsOf).values()) for (const name of Object.keys(told.metrics)) names.add(name);
    for (const name of Object.keys(predicted()?.seen ?? {})) names.add(name);
    if (!metric().startsWith(TARGET)) names.add(metric());
    return Object.keys(app.start.metrics).filter((name) => names.has(name));
  }

  function showSlider() {
    if (!axis) { replace(large); mover = null; return; }
    if (mover?.path !== axis.path) {
      mover = { path: axis.path, ...slider(axis, move, { large: true }) };
      replace(large, mover.element);
    } else mover.update(axis);
  }

  function move(path, value, field) {
    if (app.isPending()) return;
    app.update((state) => {
      if (path === "stations") state.stations = value;
      else {
        if (path.endsWith(".count") && state.stations !== null) {
          for (const other of app.scenario.fields) if (other.path.endsWith(".count")) state.changes[other.path] = other.value;
          state.stations = null;
        }
        change(state, path, value);
      }
      state.axis = path;
    }, { what: path });
    axis = { ...field, value };
    slid();
    picture.redraw();
  }

  /** Request the curve, point by point; the newest request wins. Then, while idle, longer simulations. */
  function ask() {
    clearTimeout(resting);
    if (!axis) return;
    const id = keyOf(app.source(), axis.path);
    if (reading?.id === id) return;
    reading?.controller.abort();
    reading = null;
    if (read(id, 0, here(modelsOf))) return;
    if (!needsGlance()) return;
    if (read(id, 1, here(glancesOf))) return;
    const next = SHARPER.find((times) => missing(here(glancesOf), times).length);
    if (next !== undefined && !document.hidden) resting = setTimeout(() => axis && read(id, next, here(glancesOf)), REST_MS);
  }

  /** True if models lack the shown metric at some value of the slider. */
  function needsGlance() {
    const name = metric();
    const modelled = [...here(modelsOf).values()];
    return name.startsWith(TARGET) || modelled.some((told) => !told.values[name]);
  }

  function missing(there, times) {
    const options = axis.options.filter((option) => option.number !== null);
    return options.map((option) => option.value).filter((value) => !((there.get(JSON.stringify(value))?.times ?? -1) >= times));
  }

  function read(id, times, there) {
    const wanted = missing(there, times);
    if (!wanted.length) return false;
    const controller = new AbortController();
    const mine = { id, controller, times };
    reading = mine;
    refused = "";
    // Show the note about refinement before the first line arrives.
    soon();
    stream("/api/curve", { source: base(), axis: axis.path, values: wanted, times }, controller.signal, (line) => {
      if (line.answer) there.set(JSON.stringify(wanted[line.index]), { ...line.answer, times });
      else {
        // Do not ask again for a value without an answer.
        if (!there.has(JSON.stringify(wanted[line.index]))) there.set(JSON.stringify(wanted[line.index]), { values: {}, glance: {}, verdict: null, times });
        there.get(JSON.stringify(wanted[line.index])).times = times;
        refused = line.problem?.message ?? refused;
      }
      if (reading === mine) soon();
    }).then(() => { if (reading === mine) { reading = null; show(); } })
      .catch((error) => {
        if (reading === mine) reading = null;
        if (!isAbort(error)) { refused = error.message; redraw(); }
      });
    return true;
  }

  function numberOf(value) {
    const text = JSON.stringify(value);
    return axis.options.find((option) => JSON.stringify(option.value) === text)?.number ?? (typeof value === "number" ? value : NaN);
  }

  /** The shown metric in an answer: { mean, low, high, text }, or undefined. */
  function said(told, name = metric()) {
    if (!told) return undefined;
    if (name.startsWith(TARGET)) {
      const one = told.verdict?.targets.find((each) => each.target === name.slice(TARGET.length));
      return one && { mean: one.value, low: one.low, high: one.high, text: one.measured };
    }
    return told.metrics ? told.metrics[name] : told.glance[name];
  }

  /** The longest quick simulation's value if no model has one. */
  function glanceAt(value) {
    const text = JSON.stringify(value);
    if (here(modelsOf).get(text)?.values[metric()]) return undefined;
    return said(here(glancesOf).get(text)) ?? said(here(modelsOf).get(text));
  }

  function series() {
    const name = metric();
    const options = axis.options.filter((option) => option.number !== null);
    const modelled = options.map((option) => {
      const told = here(modelsOf).get(JSON.stringify(option.value))?.values[name];
      return { x: option.number, y: told?.value ?? NaN, text: told?.text };
    });
    const point = (x, told) => ({ x, y: told?.mean ?? NaN, low: told?.low ?? NaN, high: told?.high ?? NaN, text: told?.text, unsteady: told?.unsteady });
    const simulated = [...here(pointsOf)].map(([value, told]) => point(numberOf(JSON.parse(value)), said(told))).filter((one) => Number.isFinite(one.x));
    const glanced = needsGlance() ? options.map((option) => point(option.number, glanceAt(option.value))) : [];
    return [
      { name: "models", kind: "line", colour: "model", data: modelled },
      { name: "quick simulation, with interval", kind: "both", joined: true, cut: true, colour: "glanced", data: glanced },
      { name: "simulation, with interval", kind: "points", colour: "simulated", data: simulated },
    ].filter((one) => one.data.some((each) => Number.isFinite(each.y) || Number.isFinite(each.low)));
  }

  function draw(width, height) {
    // Sliders are unknown until the first scenario is loaded.
    if (!app.scenario) return h("p", { class: "loading" }, "Reading the scenario …");
    if (!axis) return h("p", { class: "muted" }, "This scenario has no slider for a curve.");
    const goal = target();
    const name = metric();
    const about = goal ?? app.start.metrics[name];
    const label = goal ? goal.about : about.label;
    const shown = series();
    if (!shown.length) return h("p", { class: "empty" }, waiting(label));
    const x = numberOf(axis.value);
    const at = shown[0].data.find((point) => point.x === x);
    return curves({
      series: shown,
      x: { label: nameOf(axis), unit: unitOfAxis(), all: axis.options.map((option) => option.number).filter((one) => one !== null) },
      // No metric is negative, though an interval may reach below.
      y: { label, unit: about.unit === "1" ? "" : about.unit, floor: 0 },
      bound: goal?.bound != null ? { y: goal.bound, text: goal.wanted } : null,
      mark: { x, y: at?.y ?? NaN },
      label: `${label} over ${nameOf(axis)}: ${shown.map((one) => one.name).join(" and ")}. The values are in the table below.`,
    }, width, height);
  }

  function waiting(label) {
    if (reading) return "Computing models or quick simulations …";
    if (refused) return `No point of this curve is available yet: ${refused}`;
    return `A quick simulation is too short to measure ${label} here. “Simulate the curve” runs as long as the file says.`;
  }

  function unitOfAxis() {
    const text = axis.options.find((option) => typeof option.value === "string")?.value ?? "";
    if (/b\/s$/.test(text)) return "b/s";
    if (/[KM]?i?B$/i.test(text) && !/b\/s/.test(text)) return "B";
    return /(s|min|h)$/.test(text) ? "s" : "";
  }

  /** Draw once for all points that have arrived since the last frame. */
  function soon() {
    if (drawing) return;
    drawing = requestAnimationFrame(() => {
      drawing = 0;
      redraw();
    });
  }

  function redraw() {
    if (!app.scenario) return;
    picture.redraw();
    values.hidden = !axis;
    if (!axis) { replace(key); return; }
    const shown = series();
    replace(key, legend(shown));
    const marks = shown.flatMap((one) => one.data);
    const notes = [
      marks.some((one) => !Number.isFinite(one.y) && Number.isFinite(one.low)) && "An arrow is a lower bound.",
      marks.some((one) => one.unsteady) && "A hollow point comes from runs too short for a steady state.",
      reading?.times > 1 && "Refining …",
    ].filter(Boolean);
    depth.textContent = notes.join(" ");
    const name = metric();
    const rows = axis.options.map((option) => {
      const text = JSON.stringify(option.value);
      const point = said(here(pointsOf).get(text));
      return [option.text, here(modelsOf).get(text)?.values[name]?.text ?? "", (needsGlance() && glanceAt(option.value)?.text) || "",
        point ? `${point.text}${point.unsteady ? " (not steady)" : ""}` : ""];
    }).filter(([, ...told]) => told.some(Boolean));
    replace(values, caption,
      table([nameOf(axis), "models", "quick simulation", "simulation"], rows, { numbers: [0, 1, 2, 3], caption: "Values of the curve" }));
  }

  return {
    element, show, known, keep, redraw: () => picture.redraw(),
    look: (text) => {
      element.open = true;
      app.update((state) => { state.metric = TARGET + text; }, { local: true });
      element.scrollIntoView({ block: "nearest" });
    },
    leave: () => {
      cancelAnimationFrame(drawing);
      drawing = 0;
      clearTimeout(resting);
      reading?.controller.abort();
    },
  };
}

function without(source, path) {
  const now = structuredClone(source);
  if (path === "stations") now.stations = null;
  else if (path) delete now.changes[path];
  return now;
}

function keyOf(source, path) {
  return JSON.stringify([without(source, path), path]);
}

function put(id, value, told) {
  if (!pointsOf.has(id)) pointsOf.set(id, new Map());
  pointsOf.get(id).set(JSON.stringify(value), told);
}

/** Some of the values of a slider, ends included. */
function spread(options) {
  const values = options.filter((option) => option.number !== null).map((option) => option.value);
  if (values.length <= POINTS) return values;
  return [...new Set(Array.from({ length: POINTS }, (_, index) => Math.round((index * (values.length - 1)) / (POINTS - 1))))].map((index) => values[index]);
}
