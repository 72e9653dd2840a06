// A curve over one slider, shown at once: models if they apply, otherwise quick simulations, which
// become longer while the user does nothing. Simulated points are added as they arrive.

import { isAbort, stream } from "./api.js";
import { curves, legend, responsive } from "./chart.js";
import { slider } from "./controls.js";
import { fold, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";

const MODEL_METRICS = ["goodput_bps", "flow_goodput_bps", "transfer_time_s"];
const POINTS = 7;
// Each idle period repeats the quick simulations with this many times the work.
const SHARPER = [3, 9];
const REST_MS = 2500;
export const TARGET = "target: ";

// Answers are kept while the page is open: by curve, then by value, { model, glance, point }.
const answersOf = new Map();

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
      told(idOf(asked.source, asked.axis), message.point.value).point = message.point;
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

  /** What is known at a value of the slider. */
  function at(value) {
    return told(idOf(app.source(), axis.path), value);
  }

  const known = () => [...answersOf.get(idOf(app.source(), axis.path))?.values() ?? []];

  /** The models' answer at the current value, or null. */
  function current() {
    if (!axis) return null;
    const value = axis.path === "stations" ? app.state.stations : app.state.changes[axis.path];
    const one = value !== undefined && value !== null && at(value).model;
    return one?.words ? one : null;
  }

  /** Add a run of the scenario itself as a point of the curve. */
  function keep(from, { metrics, verdict }) {
    if (axis && axis.value !== null) told(idOf(from, axis.path), axis.value).point = { metrics, verdict };
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
    const all = known().flatMap(({ model, glance, point }) => [glance, point, model].flatMap((one) => one?.verdict?.targets ?? []));
    return all.find((each) => each.target === text) ?? { target: text, label: text, about: text, unit: "", bound: null };
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
        app.scenario.axes.map((candidate) => h("option", { value: candidate.path, selected: candidate.path === axis.path }, candidate.name)))));
  }

  /** Metrics with a value from a model, a quick simulation or a simulation. */
  function metrics() {
    const all = known().flatMap(({ model, glance, point }) => [model?.values, model?.glance, glance?.glance, point?.metrics]);
    const names = new Set([...MODEL_METRICS, ...[...all, predicted()?.seen].flatMap((one) => Object.keys(one ?? {}))]);
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
    app.state.axis = path;
    app.move(path, value, field);
    axis = { ...field, value };
    slid();
    picture.redraw();
  }

  /** Request the curve, point by point; the newest request wins. Then, while idle, longer simulations. */
  function ask() {
    clearTimeout(resting);
    if (!axis) return;
    const id = idOf(app.source(), axis.path);
    if (reading?.id === id) return;
    reading?.controller.abort();
    reading = null;
    if (read(id, 0) || !needsGlance() || read(id, 1)) return;
    const next = SHARPER.find((times) => missing(times).length);
    if (next !== undefined && !document.hidden) resting = setTimeout(() => axis && read(id, next), REST_MS);
  }

  /** True if models lack the shown metric at some value of the slider. */
  function needsGlance() {
    const name = metric();
    return name.startsWith(TARGET) || known().some(({ model }) => model && !model.values[name]);
  }

  const numbered = () => axis.options.filter((option) => option.number !== null);

  /** Values without an answer of models (`times` is 0), or of quick simulations of at least this work. */
  function missing(times) {
    return numbered().map((option) => option.value).filter((value) => !(at(value)[times ? "glance" : "model"]?.times >= times));
  }

  function read(id, times) {
    const wanted = missing(times);
    if (!wanted.length) return false;
    const part = times ? "glance" : "model";
    const path = axis.path;
    const controller = new AbortController();
    const mine = { id, controller, times };
    reading = mine;
    refused = "";
    // Show the note about refinement before the first line arrives.
    soon();
    stream("/api/curve", { source: base(), axis: path, values: wanted, times }, controller.signal, ({ index, answer, problem }) => {
      const there = told(id, wanted[index]);
      // Do not ask again for a value without an answer.
      there[part] = { ...answer ?? there[part] ?? { values: {}, glance: {}, verdict: null }, times };
      refused = problem?.message ?? refused;
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
  function said(one) {
    const name = metric();
    if (!one || !name.startsWith(TARGET)) return (one?.metrics ?? one?.glance)?.[name];
    const goal = one.verdict?.targets.find((each) => each.target === name.slice(TARGET.length));
    return goal && { mean: goal.value, low: goal.low, high: goal.high, text: goal.measured };
  }

  /** The longest quick simulation's value if no model has one. */
  function glanceAt({ model, glance }) {
    return model?.values[metric()] ? undefined : said(glance) ?? said(model);
  }

  function series() {
    const point = (x, one) => ({ x, y: one?.mean, low: one?.low, high: one?.high, text: one?.text, unsteady: one?.unsteady });
    const simulated = [...answersOf.get(idOf(app.source(), axis.path)) ?? []]
      .map(([value, one]) => point(numberOf(JSON.parse(value)), said(one.point))).filter((one) => Number.isFinite(one.x));
    const modelled = numbered().map(({ number, value }) => {
      const one = at(value).model?.values[metric()];
      return { x: number, y: one?.value, text: one?.text };
    });
    const glanced = needsGlance() ? numbered().map(({ number, value }) => point(number, glanceAt(at(value)))) : [];
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
    return curves({
      series: shown,
      x: { label: axis.name, unit: axis.unit, all: numbered().map((option) => option.number) },
      // No metric is negative, though an interval may reach below.
      y: { label, unit: about.unit === "1" ? "" : about.unit, floor: 0 },
      bound: goal?.bound != null ? { y: goal.bound, text: goal.wanted } : null,
      mark: { x, y: shown[0].data.find((point) => point.x === x)?.y },
      label: `${label} over ${axis.name}: ${shown.map((one) => one.name).join(" and ")}. The values are in the table below.`,
    }, width, height);
  }

  function waiting(label) {
    if (reading) return "Computing models or quick simulations …";
    if (refused) return `No point of this curve is available yet: ${refused}`;
    return `A quick simulation is too short to measure ${label} here. “Simulate the curve” runs as long as the file says.`;
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
    const rows = axis.options.map(({ value, text }) => {
      const one = at(value);
      const point = said(one.point);
      return [text, one.model?.values[metric()]?.text ?? "", (needsGlance() && glanceAt(one)?.text) || "",
        point ? `${point.text}${point.unsteady ? " (not steady)" : ""}` : ""];
    }).filter(([, ...texts]) => texts.some(Boolean));
    replace(values, caption,
      table([axis.name, "models", "quick simulation", "simulation"], rows, { numbers: [0, 1, 2, 3], caption: "Values of the curve" }));
  }

  return {
    element, show, known: current, keep, redraw: () => picture.redraw(),
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

function idOf(source, path) {
  return JSON.stringify([without(source, path), path]);
}

/** The answers of a curve at a value, which may be added to. */
function told(id, value) {
  if (!answersOf.has(id)) answersOf.set(id, new Map());
  const answers = answersOf.get(id);
  const text = JSON.stringify(value);
  if (!answers.has(text)) answers.set(text, {});
  return answers.get(text);
}

/** Some of the values of a slider, ends included. */
function spread(options) {
  const values = options.filter((option) => option.number !== null).map((option) => option.value);
  if (values.length <= POINTS) return values;
  return [...new Set(Array.from({ length: POINTS }, (_, index) => Math.round((index * (values.length - 1)) / (POINTS - 1))))].map((index) => values[index]);
}
