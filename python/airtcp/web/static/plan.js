// Capacity: choose a stop condition and what to increase; shows the answer as a picture, with the
// changes that raise the capacity.

import { remedy, tried } from "./advice.js";
import { newest } from "./api.js";
import { bars } from "./bars.js";
import { curves, legend, responsive } from "./chart.js";
import { builder } from "./condition.js";
import { curve, TARGET } from "./curve.js";
import { bad, field, h, options, replace } from "./dom.js";
import { runner } from "./jobs.js";

const found = new Map();
const conditionsOf = new Map();

export function plan(app) {
  const form = builder({ broken: true, changed: () => choose() });
  const targets = h("select", { id: "plan-target", onchange: () => { form.set(broken(targets.value)); choose(); } });
  const fromTarget = field("From a target of the scenario", targets);
  const sentence = h("p", { class: "asked", "aria-live": "polite" });
  const problem = h("div", { role: "alert" });
  const axisOf = h("select", { id: "plan-axis", onchange: () => app.update((state) => { state.planAxis = axisOf.value; }, { local: true }) });
  const begin = h("select", { id: "plan-from", onchange: () => showCommand() });
  const end = h("select", { id: "plan-to", onchange: () => showCommand() });
  const ends = h("div", { class: "row" }, field("from (condition does not hold)", begin), field("to", end));
  const withRemedies = h("input", { type: "checkbox", id: "plan-remedies", checked: true, onchange: () => showCommand() });
  const result = h("div");
  // Before the search: the curve of the condition's metric, from models and quick simulations.
  const before = curve(app, { chosen: () => ({ axis: axis?.path, metric: metricOf() }) });
  let axis = null;
  let asked = null;
  const asking = newest();
  const search = runner({
    label: "Find the capacity", body,
    take: (message, from) => {
      if (!message.result) return;
      found.set(keyOf(from.source, from.until, from.axis), message.result);
      for (const one of message.result.remedies) tried(app, { line: `${one.title}: ${one.answer ? `capacity ${one.answer.value_text}` : one.words}` });
      show();
    },
  });
  // The stop condition may be that of another scenario, until this one's are known.
  search.ready(false);

  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "Capacity"),
      h("p", { class: "muted" }, "The largest number of stations, or the last value of a slider, before the stop condition holds. The simulator decides."),
      fromTarget, h("h2", {}, "Stop condition"), form.element, problem,
      h("div", { class: "row" }, field("Increase", axisOf)), ends,
      h("div", { class: "switch" }, withRemedies, h("label", { for: "plan-remedies" }, "Also try changes that raise the capacity (takes longer)")),
      sentence,
      h("div", { class: "actions" }, search)),
    before.element, result);

  /** The curve to show: the condition's target, or null for its metric. */
  function metricOf() {
    const listed = conditionsOf.get(JSON.stringify(app.source()));
    const target = [...listed?.targets ?? [], ...listed?.usual ?? []].find((one) => isSame(broken(one.text), parts(app.state.until)));
    return target ? TARGET + target.text : null;
  }

  function body() {
    const made = form.value();
    if (!made) throw new Error("The bound is not valid: see the message at its field.");
    const job = { kind: "plan", source: app.source(), until: app.state.until, axis: axis.path, values: [], names: withRemedies.checked ? ["all"] : [] };
    if (!counts(axis)) job.values = [begin, end].map((one) => axis.options[Number(one.value)].value);
    return job;
  }

  /** Store the chosen condition in the state. */
  function choose() {
    const made = form.value();
    if (!made) return;
    app.update((state) => { state.until = `${made.name} ${made.limit}`; }, { local: true });
  }

  /** Offer the conditions that this scenario can measure. */
  function offer() {
    const id = JSON.stringify(app.source());
    const listed = conditionsOf.get(id);
    search.ready(listed);
    if (listed) {
      const all = [...listed.targets, ...listed.usual.filter((one) => !listed.targets.length)];
      fromTarget.hidden = !all.length;
      replace(targets, options([["", "choose …"], ...all.map((one) => one.text)]));
      form.show(listed.scopes);
      const first = !app.state.until || !form.set(parts(app.state.until));
      if (first) {
        // The condition of another scenario may not exist here, so use the first target.
        if (all.length) form.set(broken(all[0].text));
        const made = form.value();
        app.state.until = made ? `${made.name} ${made.limit}` : "";
      }
      replace(problem);
      return;
    }
    if (asked === id) return;
    asked = id;
    asking("/api/conditions", { source: app.source() }).then((told) => {
      conditionsOf.set(id, told);
      if (id === JSON.stringify(app.source())) show();
    }).catch((error) => {
      asked = null;
      replace(problem, bad(error.message));
    });
  }

  function show() {
    const { axes } = app.scenario;
    axis = axes.find((one) => one.path === app.state.planAxis) ?? axes[0];
    if (!element.contains(document.activeElement) || !form.element.contains(document.activeElement)) offer();
    replace(axisOf, options(axes.map((one) => [one.path, `${one.section}: ${one.label}`]), axis.path));
    ends.hidden = counts(axis);
    // Both ends of a search are numbers, so leave out "unbounded".
    const values = axis.options.flatMap((one, index) => (one.number === null ? [] : [[String(index), one.text]]));
    if (begin.dataset.path !== axis.path) {
      begin.dataset.path = axis.path;
      replace(begin, options(values));
      replace(end, options(values));
      end.selectedIndex = values.length - 1;
    }
    showCommand();
    showResult();
  }

  /** The command that gives the answer of the page. */
  function showCommand() {
    const reach = counts(axis) ? "" : [["--from", begin], ["--to", end]].map(([option, one]) => ` ${option} "${axis.options[Number(one.value)].value}"`).join("");
    const without = withRemedies.checked ? "" : " --no-remedies";
    sentence.textContent = app.state.until ? `As a command: airtcp plan scenario.toml --vary ${axis.path}${reach} --until "${app.state.until}"${without}` : "";
  }

  function showResult() {
    const told = found.get(keyOf(app.source(), app.state.until, axis.path));
    before.element.hidden = Boolean(told);
    if (!told) { replace(result); before.show(); return; }
    const all = told.remedies;
    const carries = (one) => one.verdict === "gains" || one.verdict === "costs others";
    const vain = all.filter((one) => !carries(one));
    const shown = (one) => remedy(app, { ...one, what: shift(one), outcome: { gains: "helps", loses: "harms" }[one.verdict] ?? "" });
    replace(result,
      h("section", { class: "card" }, h("p", { class: "depth" }, "Result"), told.words.map((line, index) => h("p", { class: index ? "" : "lead" }, line)),
        told.stopped === "time" && h("p", { class: "notice" }, "The time limit was reached, so the result is incomplete. Use a longer --run-time of the server, or a shorter run.duration."),
        h("p", { class: "muted" }, told.depth)),
      told.curves.map((curve) => h("section", { class: "card" }, h("h2", {}, curve.condition), picture(told, curve))),
      told.remedies.length > 0 && h("section", { class: "card" }, h("h2", {}, "Changes that raise the capacity"), further(told),
        all.filter(carries).map(shown),
        vain.length > 0 && h("details", {}, h("summary", {}, `${vain.length} without a significant gain`), vain.map(shown)),
        told.left_out.length > 0 && h("details", {}, h("summary", {}, `${told.left_out.length} that do not apply`), h("ul", {}, told.left_out.map((line) => h("li", {}, line))))));
  }

  /** The capacity as it is, and with each change whose capacity was searched. */
  function further(told) {
    const rows = told.remedies.filter((one) => one.answer);
    if (!told.answer || !rows.length) return null;
    const row = (name, answer, tone) => ({ name, tone, mean: answer.value, low: answer.low, high: answer.high, text: interval(answer) });
    return h("div", {}, h("p", { class: "muted" }, `Capacity (${named(told.label)}), with the interval:`),
      bars([row("as it is", told.answer, ""), ...rows.map((one) => row(one.title, one.answer, { gains: "good", "costs others": "mixed", loses: "bad" }[one.verdict] ?? ""))],
        "Capacity, as it is and with changes"));
  }

  /** The name of a key path's slider. */
  function named(path) {
    const slider = app.scenario.axes.find((one) => one.path === path);
    return slider ? `${slider.section}: ${slider.label}` : path;
  }

  function picture(told, curve) {
    const simulated = curve.simulation.map((one) => ({ x: one.x, y: one.mean ?? NaN, low: one.low ?? NaN, high: one.high ?? NaN, text: one.text }));
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

  return { element, show, leave: () => { asking.stop(); before.leave(); } };
}

/** True if two conditions are equal. A group with one direction may be named with or without it, a fraction with or without %. */
function isSame(one, other) {
  const plain = ({ name, limit }) => name.replace(/\/(down|up)load/, "") + limit.replace(/([-+0-9.e]+) ?%/, (_, number) => Number((number / 100).toPrecision(6)));
  return plain(one) === plain(other) && (one.name === other.name || !(one.name.includes("/") && other.name.includes("/")));
}

/** A condition's name and bound. */
function parts(text) {
  const [, name, limit] = /^\s*(.*?)\s*([<>].*)$/.exec(text) ?? [null, "", ""];
  return { name, limit };
}

/** The stop condition that is the opposite of a target. */
function broken(text) {
  const { name, limit } = parts(text);
  return { name, limit: limit.startsWith("<") ? `>${limit.slice(1)}` : `<${limit.slice(1)}` };
}

function interval(answer) {
  if (answer.low_text === null && answer.high_text === null) return answer.value_text;
  return `${answer.value_text} (${answer.low_text ?? "?"} to ${answer.high_text ?? "?"})`;
}

function shift(one) {
  return [one.moved && `supports ${one.moved}`, one.limited_by && `limited by ${one.limited_by}`].filter(Boolean).join("; ");
}

/** The models' values within the simulated range; beyond it their curve would dwarf the rest. */
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
