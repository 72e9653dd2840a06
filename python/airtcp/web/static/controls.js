// The controls of a scenario: sliders, choices, and the file. Each change calls `changed(path, value,
// field, option)`; `show` displays the server's description of the scenario.

import { field as labelled, fresh, h, marker, options as choices, replace } from "./dom.js";

const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The controls, with `show(description)`, `problem(error)` and `clear()`. */
export function controls({ changed }) {
  const element = h("div", { class: "fields" });
  let shown = new Map();

  function show({ fields }) {
    const structure = fields.map((field) => `${field.section}|${field.path}|${field.kind}`).join("\n");
    if (element.dataset.structure !== structure) rebuild(fields, structure);
    for (const field of fields) shown.get(field.path)?.update(field);
  }

  function rebuild(fields, structure) {
    const focused = document.activeElement?.dataset?.path;
    const open = new Set([...element.querySelectorAll("details[open]")].map((one) => kind(one.dataset.section)));
    const first = !element.dataset.structure;
    element.dataset.structure = structure;
    shown = new Map();
    const sections = Map.groupBy(fields, (field) => field.section);
    replace(element, [...sections].map(([section, members], index) => h("details", {
      class: "section", "data-section": section, open: first ? opensFirst(section, index, sections.size) : open.has(kind(section)),
    }, h("summary", {}, h("span", {}, section)), members.map((field) => {
      const one = field.kind === "choice" ? choice(field, changed) : slider(field, changed);
      shown.set(field.path, one);
      return one.element;
    }))));
    if (focused) element.querySelector(`[data-path="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function problem(error) {
    clear();
    const names = [error.field, ...(error.more ?? []).map((one) => one.key)];
    let found = false;
    for (const name of names) {
      const path = [...shown.keys()].filter((key) => name === key || name?.startsWith(`${key}.`)).sort((a, b) => b.length - a.length)[0];
      if (path === undefined) continue;
      shown.get(path).bad(error.message);
      found = true;
      break;
    }
    return found;
  }

  function clear() {
    for (const one of shown.values()) one.bad("");
  }

  return { element, show, problem, clear };
}

/** A slider over the values of a field, with the current value as text. */
export function slider(field, changed, { large = false } = {}) {
  const id = fresh("slider");
  const output = h("output", { for: id, class: "value" });
  const input = h("input", { type: "range", id, min: 0, step: 1, "data-path": field.path, "aria-describedby": `${id}-bad` });
  const message = h("p", { class: "bad-field", id: `${id}-bad` });
  let options = [];

  function said(index) {
    const text = options[index]?.text ?? "";
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
  }
  input.addEventListener("input", () => {
    said(input.valueAsNumber);
    changed(field.path, options[input.valueAsNumber].value, field);
  });
  const element = labelled(field.label, input, { beside: output, below: message, large });

  function update(now) {
    field = now;
    if (document.activeElement === input && same(options[input.valueAsNumber]?.value, now.value)) return;
    options = now.options;
    input.max = options.length - 1;
    const index = options.findIndex((option) => same(option.value, now.value));
    input.value = index < 0 ? 0 : index;
    said(input.valueAsNumber);
  }
  update(field);
  return { element, update, bad: marker(element, input, message) };
}

function choice(field, changed) {
  const id = fresh("choice");
  const select = h("select", { id, "data-path": field.path, "aria-describedby": `${id}-bad` });
  const message = h("p", { class: "bad-field", id: `${id}-bad` });
  select.addEventListener("change", () => {
    const option = field.options[select.selectedIndex];
    changed(field.path, option.value, field, option);
  });
  const element = labelled(field.label, select, { below: message });

  function update(now) {
    field = now;
    replace(select, choices(now.options.map((option, index) => [String(index), option.text])));
    select.selectedIndex = now.options.findIndex((option) => same(option.value, now.value));
  }
  update(field);
  return { element, update, bad: marker(element, select, message) };
}

/** The subject of a section, independent of its group's name. */
function kind(section) {
  return section.split(":")[0];
}

function opensFirst(section, index, count) {
  if (window.matchMedia("(max-width: 60rem)").matches) return index === 0;
  return index < 2 || (count < 8 && !section.startsWith("Simulation") && !section.startsWith("Access"));
}
