// The first view: the answer in words, a curve over one slider, simulation beside the models.

import { isAbort, post, stream } from "./api.js";
import { airtime, curves, legend, responsive } from "./chart.js";
import { slider } from "./controls.js";
import { announce, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";
import { remedies } from "./remedies.js";
import { change, source } from "./state.js";

const MODEL_METRICS = ["goodput_bps", "flow_goodput_bps", "transfer_time_s"];
const POINTS = 7;
// So many lines of a scenario's description stand open below the answer.
const MOST_LINES = 4;

// What was computed stays while the page is open: going back costs nothing.
const curveOf = new Map();
const pointsOf = new Map();
const resultOf = new Map();

export function explore(app) {
  const words = h("div", { class: "answer", id: "answer" });
  const picker = h("div", { class: "pickers" });
  const picture = responsive(draw);
  const key = h("div");
  const large = h("div", { class: "main-slider" });
  const values = h("details", { class: "values" });
  const models = h("section", { class: "card" });
  const result = h("div");
  const command = h("section", { class: "card" });
  let prediction = null;
  let axis = null;
  let mover = null;
  let reading = null;
  let predicting = 0;
  let asked = null;
  let drawing = 0;

  const one = runner({
    label: "Simulate", body: () => ({ kind: "run", source: app.source() }),
    take: (message, asked) => {
      if (!message.result) return;
      resultOf.set(JSON.stringify(asked.source), message.result);
      keepPoint(asked.source, message.result);
      show();
      announce(message.result.words[0]);
    },
  });
  const several = runner({
    label: "Simulate the curve", quiet: true,
    body: () => ({ kind: "points", source: base(), axis: axis.path, values: spread(axis.options) }),
    take: (message, asked) => {
      if (!message.point) return;
      put(curveKey(asked.source, asked.axis), message.point.value, message.point.metrics);
      show();
    },
  });
  const helped = remedies(app);

  const element = h("div", {},
    h("section", { class: "card first", "aria-labelledby": "answer-head" },
      h("h1", { id: "answer-head", class: "visually-hidden" }, "The answer"), words,
      h("div", { class: "actions" }, one)),
    h("section", { class: "card", "aria-labelledby": "curve-head" },
      h("div", { class: "card-head" }, h("h2", { id: "curve-head" }, "Along one slider"), picker),
      picture, key, large, h("div", { class: "actions" }, several), values),
    result, models, helped.element, command);

  /** The source without what the slider under the curve says. */
  function base() {
    const now = structuredClone(app.source());
    if (axis?.path === "stations") now.stations = null;
    else if (axis) delete now.changes[axis.path];
    return now;
  }

  function curveKey(from, path) {
    const now = structuredClone(from);
    if (path === "stations") now.stations = null;
    else delete now.changes[path];
    return JSON.stringify([now, path]);
  }

  function put(curve, value, metrics) {
    if (!pointsOf.has(curve)) pointsOf.set(curve, new Map());
    pointsOf.get(curve).set(JSON.stringify(value), metrics);
  }

  function keepPoint(from, told) {
    if (axis && axis.value !== null) put(curveKey(from, axis.path), axis.value, told.metrics);
  }

  /** A slider was moved: what is known is shown at once, the rest is asked for. */
  function moved(signal) {
    prediction = known();
    if (prediction) {
      showWords();
      picture.redraw();
      return;
    }
    const mine = ++predicting;
    asked = JSON.stringify(app.source());
    words.setAttribute("aria-busy", "true");
    post("/api/predict", { source: app.source() }, signal).then((told) => {
      if (mine !== predicting) return;
      prediction = told;
      showWords();
      if (app.scenario) show();
    }).catch((error) => {
      if (mine === predicting) asked = null;
      if (isAbort(error) || mine !== predicting) return;
      prediction = null;
      words.removeAttribute("aria-busy");
      replace(words, h("p", { class: "lead" }, error.field || error.key ? "This is not a scenario yet: see what is said of it." : error.message));
    });
  }

  function known() {
    if (!axis) return null;
    const curve = curveOf.get(curveKey(app.source(), axis.path));
    const value = axis.path === "stations" ? app.state.stations : app.state.changes[axis.path];
    return (value !== undefined && value !== null && curve?.get(JSON.stringify(value))) || null;
  }

  function show() {
    const { axes } = app.scenario;
    axis = axes.find((candidate) => candidate.path === app.state.axis) ?? axes[0] ?? null;
    if (axis?.path === "stations" && app.state.stations !== null) axis = { ...axis, value: app.state.stations };
    prediction ??= known();
    // Whoever comes from another view finds nothing asked yet.
    if (!prediction && asked !== JSON.stringify(app.source())) moved();
    showWords();
    showPickers();
    showSlider();
    ask();
    showResult();
    showModels();
    showCommand();
    helped.show();
    redraw();
  }

  function showWords() {
    if (prediction) words.removeAttribute("aria-busy");
    const told = resultOf.get(JSON.stringify(app.source()));
    if (told) {
      replace(words, h("p", { class: "depth" }, "The simulation says"),
        told.words.map((line, index) => h("p", { class: index ? "" : "lead" }, line)),
        prediction && h("p", { class: "muted" }, prediction.words[0]));
    } else if (prediction) {
      replace(words, h("p", { class: "depth" }, alone(prediction) ? "A glance says (simulated)" : "The models say"),
        prediction.words.map((line, index) => h("p", { class: index ? "" : "lead" }, line)),
        subject());
    } else if (!words.childElementCount) replace(words, h("p", { class: "lead loading" }, "Asking the models …"));
  }

  /** The scenario in words; one of many flows folds what follows its first line. */
  function subject() {
    const [network, ...more] = app.scenario?.subject ?? [""];
    if (more.length <= MOST_LINES) return h("p", { class: "muted" }, [network, ...more].join("; "));
    return h("details", { class: "muted" }, h("summary", {}, network),
      more.map((line) => h("p", {}, line)));
  }

  function showPickers() {
    const { axes } = app.scenario;
    const offered = metrics();
    replace(picker,
      h("label", {}, "show ", h("select", {
        id: "metric", onchange: (event) => app.update((state) => { state.metric = event.target.value; }, { local: true }),
      }, offered.map((name) => h("option", { value: name, selected: name === metric() }, app.start.metrics[name]?.label ?? name)))),
      h("label", {}, "over ", h("select", {
        id: "axis", onchange: (event) => app.update((state) => { state.axis = event.target.value; }, { local: true }),
      }, axes.map((candidate) => h("option", { value: candidate.path, selected: candidate.path === axis?.path },
        nameOf(candidate))))));
  }

  function nameOf(candidate) {
    const many = app.scenario.axes.filter((other) => other.label === candidate.label).length > 1;
    return many ? `${candidate.section}: ${candidate.label}` : candidate.label;
  }

  /** Metrics that a model or a simulation has here. */
  function metrics() {
    const names = new Set(MODEL_METRICS);
    const curve = axis && curveOf.get(curveKey(app.source(), axis.path));
    for (const told of curve?.values() ?? []) for (const name of [...Object.keys(told.values), ...Object.keys(told.glance)]) names.add(name);
    for (const told of pointsHere().values()) for (const name of Object.keys(told)) names.add(name);
    names.add(metric());
    const order = Object.keys(app.start.metrics);
    return order.filter((name) => names.has(name));
  }

  function metric() {
    if (Object.hasOwn(app.start.metrics, app.state.metric ?? "")) return app.state.metric;
    const values_ = { ...prediction?.glance, ...prediction?.values };
    return "transfer_time_s" in values_ ? "transfer_time_s" : "goodput_bps";
  }

  function pointsHere() {
    return (axis && pointsOf.get(curveKey(app.source(), axis.path))) ?? new Map();
  }

  function showSlider() {
    if (!axis) return;
    if (mover?.path !== axis.path) {
      mover = { path: axis.path, ...slider(axis, moveAxis, { large: true }) };
      replace(large, mover.element);
    } else mover.update(axis);
  }

  function moveAxis(path, value, field) {
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
    });
    axis = { ...field, value };
    prediction = known() ?? prediction;
    showWords();
    picture.redraw();
  }

  /** Ask the models for the curve, point by point; the newest curve wins. */
  function ask() {
    if (!axis) return;
    const curve = curveKey(app.source(), axis.path);
    const there = curveOf.get(curve) ?? new Map();
    const options = axis.options.filter((option) => option.number !== null);
    const missing = options.map((option) => option.value).filter((value) => !there.has(JSON.stringify(value)));
    if (reading?.curve === curve || !missing.length) return;
    reading?.controller.abort();
    const controller = new AbortController();
    const mine = { curve, controller };
    reading = mine;
    curveOf.set(curve, there);
    stream("/api/curve", { source: base(), axis: axis.path, values: missing }, controller.signal, (line) => {
      if (line.answer) there.set(JSON.stringify(missing[line.index]), line.answer);
      if (reading === mine) soon();
    }).then(() => { if (reading === mine) { reading = null; show(); } })
      .catch((error) => { if (reading === mine) reading = null; if (!isAbort(error)) app.problem(error); });
  }

  function numberOf(value) {
    const text = JSON.stringify(value);
    return axis.options.find((option) => JSON.stringify(option.value) === text)?.number ?? (typeof value === "number" ? value : NaN);
  }

  function series() {
    const name = metric();
    const curve = curveOf.get(curveKey(app.source(), axis.path)) ?? new Map();
    const modelled = axis.options.filter((option) => option.number !== null).map((option) => {
      const told = curve.get(JSON.stringify(option.value))?.values[name];
      return { x: option.number, y: told?.value ?? NaN, text: told?.text };
    });
    const simulated = [...pointsHere()].map(([value, told]) => ({ x: numberOf(JSON.parse(value)), value, told: told[name] }))
      .filter((one_) => one_.told && Number.isFinite(one_.x))
      .map(({ x, told }) => ({ x, y: told.mean, low: told.low ?? NaN, high: told.high ?? NaN, text: told.text }));
    const glanced = axis.options.filter((option) => option.number !== null).map((option) => {
      const told = curve.get(JSON.stringify(option.value))?.glance[name];
      return { x: option.number, y: told?.mean ?? NaN, low: told?.low ?? NaN, high: told?.high ?? NaN, text: told?.text };
    });
    return [
      { name: "models", kind: "line", colour: "model", data: modelled },
      { name: "a glance (simulated), with interval", kind: "both", joined: true, cut: true, colour: "glanced", data: glanced },
      { name: "simulation, with interval", kind: "points", colour: "simulated", data: simulated },
    ].filter((one_) => one_.data.some((point) => Number.isFinite(point.y)));
  }

  function draw(width, height) {
    if (!axis) return h("p", { class: "muted" }, "This scenario has no slider that a curve could run over.");
    const name = metric();
    const about = app.start.metrics[name];
    const shown = series();
    if (!shown.length) {
      const waiting = reading !== null;
      return h("p", { class: "empty" }, waiting ? "Asking the models, or simulating for a moment …" : `No model says anything of ${about.label} here. “Simulate the curve” does.`);
    }
    const x = numberOf(axis.value);
    const told = prediction?.values[name];
    const at = shown[0].data.find((point) => point.x === x);
    return curves({
      series: shown,
      x: { label: nameOf(axis), unit: unitOfAxis(), all: axis.options.map((option) => option.number).filter((one_) => one_ !== null) },
      // No metric is negative, though an interval may reach below.
      y: { label: about.label, unit: about.unit === "1" ? "" : about.unit, floor: 0 },
      mark: { x, y: at?.y ?? told?.value ?? prediction?.glance[name]?.mean ?? NaN },
      label: `${about.label} over ${nameOf(axis)}: ${shown.map((one_) => one_.name).join(" and ")}. The values are in the table below.`,
    }, width, height);
  }

  function unitOfAxis() {
    const text = axis.options.find((option) => typeof option.value === "string")?.value ?? "";
    if (/b\/s$/.test(text)) return "b/s";
    if (/[KM]?i?B$/i.test(text) && !/b\/s/.test(text)) return "B";
    return /(s|min|h)$/.test(text) ? "s" : "";
  }

  /** Draw once for all points that have come since the last frame. */
  function soon() {
    if (drawing) return;
    drawing = requestAnimationFrame(() => {
      drawing = 0;
      redraw();
    });
  }

  function redraw() {
    if (!app.scenario || !axis) return;
    picture.redraw();
    replace(key, legend(series()));
    const name = metric();
    const curve = curveOf.get(curveKey(app.source(), axis.path)) ?? new Map();
    const here = pointsHere();
    const rows = axis.options.map((option) => {
      const text = JSON.stringify(option.value);
      const told = curve.get(text);
      return [option.text, told?.values[name]?.text ?? "", told?.glance[name]?.text ?? "", here.get(text)?.[name]?.text ?? ""];
    }).filter(([, ...told]) => told.some(Boolean));
    const open = values.open;
    replace(values, h("summary", {}, "The values as a table"),
      table([nameOf(axis), "models", "a glance (simulated)", "simulation"], rows, { numbers: [0, 1, 2, 3], caption: "Values of the curve" }));
    values.open = open;
  }

  function showResult() {
    const told = resultOf.get(JSON.stringify(app.source()));
    if (!told) { replace(result); return; }
    const groups = Object.entries(told.group_airtime);
    replace(result,
      told.groups && h("section", { class: "card" }, h("h2", {}, "By group"),
        table(told.groups.head, told.groups.rows, { numbers: told.groups.head.map((_, index) => index).slice(1), caption: "Results by group" })),
      h("section", { class: "card" }, h("h2", {}, "Where the airtime goes"), airtime([{ name: "all", parts: told.airtime }]),
        groups.length > 1 && airtime(groups.map(([name, parts]) => ({ name, parts })))),
      told.times && h("section", { class: "card" }, h("h2", {}, "How long transfers take"), distribution(told.times)),
      h("section", { class: "card" }, h("h2", {}, "Models beside simulation"),
        table(["metric", "model", "source", "simulation", "difference", ""], told.rows, { numbers: [1, 3, 4], mark: 5, caption: "Models beside simulation" }),
        told.cautions.map((line) => h("p", { class: "notice" }, line)),
        h("details", {}, h("summary", {}, "Does it make sense?"), h("dl", {}, told.sanity.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))))));
  }

  function distribution(times) {
    const data = times.parts.map((part, index) => ({ x: Math.max(times.seconds[index], 1e-6), y: part }));
    return responsive((width, height) => curves({
      series: [{ name: "transfers", kind: "line", colour: "simulated", data }],
      x: { label: "transfer time", unit: "s", log: true }, y: { label: "done by then", unit: "share" },
      label: `Distribution of ${times.count} transfer times`,
    }, width, height), 260);
  }

  function showModels() {
    models.hidden = !prediction || !prediction.best.length;
    if (models.hidden) { replace(models); return; }
    const broken = prediction.broken;
    if (alone(prediction)) {
      replace(models, h("h2", {}, "What a glance says (simulated)"),
        table(["metric", "value", "source"], prediction.best, { numbers: [1], caption: "What a glance says" }));
      return;
    }
    replace(models, h("h2", {}, Object.keys(prediction.glance).length ? "What the models and a glance say" : "What the models say"),
      table(["metric", "value", "source"], prediction.best, { numbers: [1], caption: "What the best model says" }),
      prediction.rows.length > prediction.best.length && h("details", {}, h("summary", {}, `All ${prediction.rows.length} values of models`),
        table(["metric", "value", "source"], prediction.rows, { numbers: [1], caption: "What every model says" })),
      broken.length
        ? h("details", { open: broken.length < 4 }, h("summary", {}, `Assumptions that this scenario breaks: ${broken.length}`),
          h("ul", {}, broken.map(([, sentence, sources]) => h("li", {}, sentence, sources.length ? h("span", { class: "muted" }, ` (${sources.join("; ")})`) : null))))
        : h("p", { class: "muted" }, "The scenario meets every assumption of the models."));
  }

  function showCommand() {
    const { commands } = app.scenario;
    const shell = [commands.example, commands.shell].filter(Boolean).join("\n");
    const block = (label, text) => {
      const button = h("button", { type: "button", class: "quiet", onclick: () => app.copied(text, button) }, "Copy");
      return h("div", { class: "code" }, h("div", { class: "code-head" }, h("h3", {}, label), button), h("pre", { tabindex: "0", "aria-label": label }, h("code", {}, text)));
    };
    replace(command, h("h2", {}, "As a command"),
      commands.file === "scenario.toml" && h("p", { class: "muted" }, "With the scenario file of this page, downloaded as scenario.toml:"),
      block("On a terminal", shell), block("In Python", commands.python));
  }

  return {
    element, show, moved,
    leave: () => {
      cancelAnimationFrame(drawing);
      reading?.controller.abort();
    },
  };
}

/** True where no model has a word and a glance answers. */
function alone(prediction) {
  return prediction.uncovered !== null && Object.keys(prediction.glance).length > 0;
}

/** Some of the values of a slider, ends included. */
function spread(options) {
  const values = options.filter((option) => option.number !== null).map((option) => option.value);
  if (values.length <= POINTS) return values;
  return [...new Set(Array.from({ length: POINTS }, (_, index) => Math.round((index * (values.length - 1)) / (POINTS - 1))))].map((index) => values[index]);
}
