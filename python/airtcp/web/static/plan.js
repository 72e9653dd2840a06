// How far a scenario carries: a condition that must not happen yet, what grows, and the answer.

import { curves, legend, responsive } from "./chart.js";
import { fresh, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";

const SUGGESTED = [
  "p90 transfer_time > 2 s", "transfer_time > 1 s", "flow_goodput < 1 Mb/s", "p95 packet_delay > 150 ms",
  "packet_loss > 1 %", "collision_probability > 20 %",
];
const found = new Map();

export function plan(app) {
  const condition = h("input", { type: "text", id: "until", list: "conditions", autocomplete: "off", spellcheck: "false", onchange: () => app.update((state) => { state.until = condition.value; }, { local: true }) });
  const axisOf = h("select", { id: "plan-axis", onchange: () => app.update((state) => { state.planAxis = axisOf.value; }, { local: true }) });
  const begin = h("select", { id: "plan-from" });
  const end = h("select", { id: "plan-to" });
  const ends = h("div", { class: "row" }, field("from, where nothing happens yet", begin), field("to", end));
  const withRemedies = h("input", { type: "checkbox", id: "plan-remedies" });
  const result = h("div");
  let axis = null;

  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "How far does it carry?"),
      h("p", { class: "muted" }, "The last number of stations, or value of a slider, at which the condition does not hold yet; the simulator decides."),
      h("div", { class: "row" }, field("The condition that must not happen", condition), field("What grows", axisOf)),
      h("datalist", { id: "conditions" }, SUGGESTED.map((one) => h("option", { value: one }))),
      ends,
      h("div", { class: "switch" }, withRemedies, h("label", { for: "plan-remedies" }, "Try remedies, too: which ones carry it further (takes longer)")),
      h("div", { class: "actions" }, runner({
        label: "Find the end", body,
        take: (message, asked) => {
          if (!message.result) return;
          found.set(keyOf(asked.source, asked.until, asked.axis), message.result);
          show();
        },
      }))),
    result);

  function body() {
    const asked = { kind: "plan", source: app.source(), until: condition.value, axis: axis.path, values: [], names: withRemedies.checked ? ["all"] : [] };
    if (!counts(axis)) asked.values = [begin, end].map((one) => axis.options[Number(one.value)].value);
    return asked;
  }

  function show() {
    const { axes } = app.scenario;
    axis = axes.find((one) => one.path === app.state.planAxis) ?? axes[0];
    if (document.activeElement !== condition) condition.value = app.state.until;
    replace(axisOf, axes.map((one) => h("option", { value: one.path, selected: one.path === axis.path }, `${one.section}: ${one.label}`)));
    ends.hidden = counts(axis);
    const options = axis.options.map((one, index) => h("option", { value: String(index) }, one.text));
    if (begin.dataset.path !== axis.path) {
      begin.dataset.path = axis.path;
      replace(begin, options.map((one) => one.cloneNode(true)));
      replace(end, options);
      end.selectedIndex = options.length - 1;
    }
    showResult();
  }

  function showResult() {
    const told = found.get(keyOf(app.source(), app.state.until, axis.path));
    if (!told) { replace(result); return; }
    replace(result,
      h("section", { class: "card" }, h("p", { class: "depth" }, "The answer"), told.words.map((line, index) => h("p", { class: index ? "" : "lead" }, line)),
        told.stopped === "time" && h("p", { class: "notice" }, "The time was over: shown is what is known."),
        h("p", { class: "muted" }, told.depth)),
      told.curves.map((curve) => h("section", { class: "card" }, h("h2", {}, curve.condition), picture(told, curve))),
      told.remedies && h("section", { class: "card" }, h("h2", {}, "Remedies"),
        table(told.remedies.head, told.remedies.rows, { numbers: [1, 2], mark: 3, caption: "Remedies" })));
  }

  /** What a key path is called among the sliders. */
  function named(path) {
    const slider = app.scenario.axes.find((one) => one.path === path);
    return slider ? `${slider.section}: ${slider.label}` : path;
  }

  function picture(told, curve) {
    const simulated = curve.simulation.map((one) => ({ x: one.x, y: one.mean, low: one.low ?? NaN, high: one.high ?? NaN }));
    const shown = [
      ...Object.values(curve.model).map((data) => ({ name: "models", kind: "line", dash: true, colour: "model", data: near(data, simulated) })),
      { name: "simulation, with interval", kind: "points", colour: "simulated", data: simulated },
    ].filter((one) => one.data.length);
    const { answer } = told;
    const sure = answer && answer.low !== null && answer.high !== null;
    return h("div", {}, responsive((width, height) => curves({
      series: shown,
      x: { label: named(told.label), unit: answer?.unit ?? "" },
      y: { label: curve.label, unit: curve.unit === "1" ? "" : curve.unit, floor: 0 },
      bound: { y: curve.bound, text: curve.bound_text },
      band: sure ? { low: answer.low, high: Math.max(answer.high, answer.low) } : null,
      mark: answer ? { x: answer.value, y: NaN } : null,
      label: `${curve.label} over ${named(told.label)}, with the bound ${curve.bound_text}. ${told.words[0]}`,
    }, width, height)), legend(shown));
  }

  return { element, show };
}

/** What models say where something was simulated: beyond it their curve would hide the rest. */
function near(data, simulated) {
  const xs = simulated.map((one) => one.x);
  return data.filter((one) => one.x >= Math.min(...xs) && one.x <= Math.max(...xs));
}

function keyOf(source, until, path) {
  return JSON.stringify([source, until, path]);
}

function counts(axis) {
  return axis.path === "stations" || /^stations\.[^.]+\.count$/.test(axis.path);
}

function field(label, input) {
  input.id ||= fresh("plan");
  return h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: input.id }, label)), input);
}
