// The verdict as a headline, and a row for each target, which can be set, changed and removed.

import { isAbort, post } from "./api.js";
import { builder, parts } from "./condition.js";
import { announce, h, replace, s } from "./dom.js";

const DEPTHS = { glance: "Quick simulation", trial: "Trial of this change", sofar: "Simulation", simulation: "Simulation" };

const MARKS = { holds: "✓", fails: "✗", unknown: "?" };
const STATES = { holds: "met", fails: "missed", unknown: "inconclusive" };
const WIDE = 200;

/** A bar with the bound in the middle. It ends at twice the bound, open for larger values and lower bounds. */
function against(one) {
  const value = one.value ?? one.low;
  const length = Number.isFinite(value) && one.bound > 0 ? Math.min(value / one.bound, 2) * WIDE / 2 : 0;
  return s("svg", { class: `against ${one.state} ${one.value === null ? "open" : ""}`, viewBox: `0 0 ${WIDE} 16`, preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "whole", width: WIDE, height: 8, y: 4 }), s("rect", { class: "part", width: Math.max(length, length && 2), height: 8, y: 4 }),
    s("path", { class: "bound", d: `M${WIDE / 2} 0V16` }));
}

/** The name of a target as in `[targets]`, and its bound. */
const nameOf = (target) => parts(target.text ?? target.target);

/** Headline (`head`), targets and editor, with `show(verdict, depth)`; `look(text)` shows a target's curve. */
export function verdict(app, { look }) {
  const head = h("div", { class: "verdict-head" });
  const lights = h("ul", { class: "lights" });
  const folded = h("ul", { class: "lights" });
  const more = h("summary");
  const rest = h("details", { class: "more", hidden: true }, more, folded);
  const form = builder();
  const choices = h("fieldset", { class: "plain", "aria-label": "Target" }, form.element);
  const save = h("button", { type: "submit", class: "primary" }, "Set this target");
  const cancel = h("button", { type: "button", onclick: () => open(null) }, "Cancel");
  const wrong = h("p", { class: "bad-field", role: "alert" });
  const editor = h("form", { class: "editor", hidden: true, onsubmit: (event) => { event.preventDefault(); keep(); } },
    h("h2", {}, "Target"), choices, wrong, h("div", { class: "buttons" }, save, cancel));
  const add = h("button", { type: "button", class: "quiet", onclick: () => open({}) }, "Set a target …");
  const element = h("div", { class: "verdict-box" }, lights, rest, h("div", { class: "buttons" }, add), editor);
  let told = null;
  let editing = null;
  let opened = "";

  /** Grey out the verdict on the previous scenario until this one has an answer. */
  function stay(other = true) {
    for (const one of [head, element]) one.classList.toggle("before", other);
  }

  function show(now, depth, result) {
    stay(false);
    told = now;
    head.className = `verdict-head ${now?.state ?? "none"}`;
    replace(head, now ? [h("p", { class: "headline" }, now.headline), h("span", { class: "muted" }, DEPTHS[depth], depth === "glance" && now.state === "unknown" && ": too short to decide")]
      : h("p", { class: "headline" }, result ?? "No targets yet"));
    replace(lights, now?.targets.slice(0, now.shown).map(light));
    replace(folded, now?.targets.slice(now.shown).map(light));
    rest.hidden = !folded.childElementCount;
    more.textContent = `${folded.childElementCount} more`;
    add.hidden = !editor.hidden;
  }

  function light(one) {
    const button = (label, act) => h("button", { type: "button", class: "quiet small", "aria-label": `${label}: ${one.about}`, onclick: act }, label);
    const menu = h("details", { class: "menu", name: "target", open: opened === one.target,
      onkeydown: (event) => { if (event.key === "Escape") { opened = ""; menu.open = false; menu.firstChild.focus(); } } },
    h("summary", { "aria-label": `Options: ${one.about}`, onclick: () => { opened = menu.open ? "" : one.target; } }, "⋯"),
    h("div", { class: "menu-list" }, button("Curve", () => look(one.target)), button("Change", () => open(one)), button("Remove", () => remove(one))));
    return h("li", { class: one.state }, h("span", { class: `mark ${one.state}`, role: "img", "aria-label": STATES[one.state] }, MARKS[one.state]),
      h("span", { class: "light-about" }, one.about), against(one),
      h("span", { class: "light-told", title: one.by || null }, h("strong", {}, one.measured), ` target ${one.wanted}`), menu);
  }

  /** Open the editor for a target, or for a new one ({}), or close it (null). */
  function open(one) {
    editing = one;
    opened = "";
    editor.hidden = one === null;
    add.hidden = one !== null;
    wrong.textContent = "";
    if (one === null) { add.focus(); return; }
    save.textContent = one.target ? "Change this target" : "Set this target";
    // The choices are not loaded yet.
    save.disabled = choices.disabled = true;
    post("/api/conditions", { source: app.source() }).then((listed) => {
      save.disabled = choices.disabled = false;
      // Most targets are about a group, so select one first.
      form.show(listed.scopes, (listed.scopes.find((of) => of.metrics[0]?.metric === "packet_delay" && of.value) ?? listed.scopes[1] ?? listed.scopes[0]).value);
      if (one.target) form.set(nameOf(one));
      form.focus();
    }).catch((error) => { if (!isAbort(error)) { wrong.textContent = error.message; } });
  }

  function keep() {
    const made = form.value();
    if (!made) return;
    const listed = all();
    if (editing.target) listed.delete(nameOf(editing).name);
    listed.set(made.name, made.limit);
    write(listed, `target ${made.name} ${made.limit}`);
    announce(`Target set: ${made.name} ${made.limit}`);
    open(null);
  }

  function remove(one) {
    const listed = all();
    listed.delete(nameOf(one).name);
    write(listed, `target ${nameOf(one).name} removed`);
    announce(`Target removed: ${one.about}`);
    add.focus();
  }

  /** All judged targets. Changing a default target writes all of them to the file. */
  function all() {
    return new Map((told?.targets ?? []).map((one) => Object.values(nameOf(one))));
  }

  function write(listed, what) {
    app.change({ targets: listed.size ? Object.fromEntries(listed) : null }, what);
  }

  return { head, element, show, stay };
}
