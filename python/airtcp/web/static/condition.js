// Choose a condition that a scenario can measure: scope, statistic, metric and bound. Only possible
// choices are offered. A bound out of range stays in its field, with the reason.

import { field, fresh, h, marker, options, replace } from "./dom.js";

/**
 * A builder of conditions, with `show(scopes)`, `set(condition)` and `value()`. `broken`: a stop
 * condition (must not hold), otherwise a target. `changed` is called after each choice.
 */
export function builder({ broken = false, changed = () => {} } = {}) {
  const scope = select("of", () => { showMetrics(); changed(); });
  const metric = select("metric", () => { showMetric(); changed(); });
  const statistic = select("statistic", changed);
  const sign = h("span", { class: "sign" });
  const bound = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", id: fresh("bound"), class: "bound-value", oninput: check, onchange: () => check() && changed() });
  const unit = select("unit", () => check() && changed());
  const reason = h("p", { class: "bad-field", id: fresh("bound-bad") });
  bound.setAttribute("aria-describedby", reason.id);
  const boundField = h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: bound.id }, "Bound")),
    h("div", { class: "bound-field" }, sign, bound, unit.select), reason);
  const mark = marker(boundField, bound, reason);
  unit.select.setAttribute("aria-label", "Unit of the bound");
  const element = h("div", { class: "row condition" }, scope.field("Of"), metric.field("Metric"), statistic.field("Statistic"), boundField);
  let scopes = [];

  const here = () => scopes.find((one) => one.value === scope.select.value);
  const about = () => here()?.metrics.find((one) => one.metric === metric.select.value);
  const factor = () => about()?.units.find((one) => one.text === unit.select.value)?.factor ?? 1;

  function show(listed, preferred = null) {
    scopes = listed;
    const before = value();
    scope.fill(scopes.map((one) => [one.value, one.text]), preferred ?? scope.select.value);
    showMetrics();
    if (before && preferred === null) set(before);
  }

  function showMetrics() {
    const listed = here()?.metrics ?? [];
    const group = (label, some) => some.length > 0 && h("optgroup", { label }, options(some.map((one) => [one.metric, one.label])));
    const was = metric.select.value;
    replace(metric.select, group("Most common", listed.filter((one) => one.first)), group("More", listed.filter((one) => !one.first)));
    if (listed.some((one) => one.metric === was)) metric.select.value = was;
    showMetric();
  }

  function showMetric() {
    const one = about();
    if (!one) return;
    statistic.fill(one.statistics.map((word) => [word, word === "mean" ? "mean" : `${word} (${word.slice(1)} % are below)`]), one.usually);
    unit.fill(one.units.map(({ text }) => [text, text || "(none)"]), one.units.find(({ factor: by }) => one.begin >= by && one.begin / by < 1000)?.text ?? one.units[0].text);
    unit.select.disabled = one.units.length < 2;
    sign.textContent = one.above === broken ? "<" : ">";
    sign.title = sign.textContent === "<" ? "below" : "above";
    bound.value = plain(one.begin / factor());
    check();
  }

  /** Check the bound and show the error at its field; true if there is none. */
  function check() {
    const one = about();
    const number = Number(bound.value.trim().replace(",", "."));
    const most = one?.most ?? Infinity;
    const asIs = number * factor();
    let wrong = "";
    if (!bound.value.trim() || !Number.isFinite(number)) wrong = "a number is needed";
    else if (number < 0) wrong = "the metric is never below 0; allowed: 0 or more";
    else if (sign.textContent === "<" && asIs === 0) wrong = "the metric is never below 0; allowed: more than 0";
    else if (asIs > most || (asIs === most && sign.textContent === ">")) wrong = `allowed: 0 to ${plain(most / factor())}${unit.select.value ? ` ${unit.select.value}` : ""}`;
    mark(wrong);
    return !wrong;
  }

  /** Show a condition, as `name` and `bound` or as a text; true if it can be chosen here. */
  function set({ name, limit }) {
    const words = name.split(" ");
    const short = words.pop();
    const word = ["mean", "p50", "p90", "p95", "p99"].includes(words.at(-1)) ? words.pop() : "mean";
    // A group, or "cell" and its name.
    const group = words.join(" ");
    // A group with one direction is listed without the direction.
    const of = scopes.find((each) => each.value === group) ?? scopes.find((each) => each.value === group.split("/")[0]);
    const one = of?.metrics.find((each) => each.metric === short.replace(/_(s|bps)$/, ""));
    if (!one || !one.statistics.includes(word)) return false;
    scope.select.value = of.value;
    showMetrics();
    metric.select.value = one.metric;
    showMetric();
    statistic.select.value = word;
    const [, number, written] = /^[<>]?\s*([-+0-9.e]+)\s*(.*)$/.exec(limit) ?? [];
    if (number === undefined) return false;
    if (one.units.some(({ text }) => text === written)) unit.select.value = written;
    else if (one.units.length === 1 && one.units[0].text === "%") { bound.value = plain(100 * Number(number)); return check(); }
    bound.value = number;
    return check();
  }

  /** The condition as { name, limit }, null while it is incomplete. */
  function value() {
    const one = about();
    if (!one || !check()) return null;
    const word = statistic.select.value;
    const name = [scope.select.value, word === "mean" ? "" : word, one.metric].filter(Boolean).join(" ");
    const number = bound.value.trim().replace(",", ".");
    return { name, limit: `${sign.textContent} ${number}${unit.select.value ? ` ${unit.select.value}` : ""}` };
  }

  return { element, show, set, value, focus: () => scope.select.focus() };
}

function select(kind, changed) {
  const one = h("select", { id: fresh(kind), onchange: () => changed() });
  return {
    select: one,
    field: (label) => field(label, one),
    fill: (listed, chosen) => {
      replace(one, options(listed));
      one.value = listed.some(([value]) => value === chosen) ? chosen : listed[0]?.[0] ?? "";
    },
  };
}

/** The name and the bound of a condition as a text. */
export function parts(text) {
  const [, name, limit] = /^\s*(.*?)\s*([<>].*)$/.exec(text) ?? [null, "", ""];
  return { name, limit };
}

function plain(number) {
  return String(Number(number.toPrecision(6)));
}
