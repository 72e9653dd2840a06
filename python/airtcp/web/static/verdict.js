// The verdict as headline, and a light for each target: set, changed and removed by choosing.

import { isAbort, post } from "./api.js";
import { builder } from "./condition.js";
import { announce, h, replace } from "./dom.js";

const DEPTHS = { glance: "Quick simulation", trial: "Trial of this change", sofar: "Simulation", simulation: "Simulation" };

/** The name of a target as `[targets]` has it, and its bound. */
export function nameOf(target) {
  const [, name, limit] = /^(.*?)\s*([<>].*)$/.exec(target.text ?? target.target);
  return { name, limit };
}

/** Headline, lights and editor, with `show(verdict, depth)`; `look(text)` shows a target's curve. */
export function verdict(app, { look }) {
  const head = h("div", { class: "verdict-head" });
  const lights = h("ul", { class: "lights" });
  const form = builder();
  const choices = h("fieldset", { class: "plain", "aria-label": "What shall hold" }, form.element);
  const save = h("button", { type: "submit", class: "primary" }, "Set this target");
  const cancel = h("button", { type: "button", onclick: () => open(null) }, "Cancel");
  const wrong = h("p", { class: "bad-field", role: "alert" });
  const editor = h("form", { class: "editor", hidden: true, onsubmit: (event) => { event.preventDefault(); keep(); } },
    h("h2", {}, "What shall hold"), choices, wrong, h("div", { class: "buttons" }, save, cancel));
  const add = h("button", { type: "button", class: "quiet", onclick: () => open({}) }, "Set a target …");
  const element = h("div", { class: "verdict-box" }, head, lights, h("div", { class: "buttons" }, add), editor);
  let told = null;
  let editing = null;

  /** Grey what was said of another scenario, while there is no answer to this one. */
  function stay() {
    element.classList.add("before");
  }

  function show(now, depth) {
    element.classList.remove("before");
    told = now;
    head.className = `verdict-head ${now?.state ?? "none"}`;
    replace(head, now
      ? [h("p", { class: "headline" }, h("span", { class: `light ${now.state}`, "aria-hidden": "true" }), now.headline),
        h("p", { class: "muted" }, DEPTHS[depth], ...now.lines.map((line) => ` ${line}`))]
      : h("p", { class: "muted" }, "Nothing is asked of this scenario yet: a target says what shall hold."),
    now?.growth.map((line) => h("p", {}, line)));
    replace(lights, now?.targets.map(light));
    add.hidden = !editor.hidden;
  }

  function light(one) {
    const button = (label, act) => h("button", { type: "button", class: "quiet small", "aria-label": `${label}: ${one.about}`, onclick: act }, label);
    return h("li", { class: one.state }, h("span", { class: `light ${one.state}`, "aria-hidden": "true" }),
      h("span", { class: "light-about" }, h("strong", {}, one.about), ` ${one.wanted}`),
      h("span", { class: "light-told" }, one.by ? `${one.measured} (${one.by})` : one.measured),
      h("span", { class: "light-buttons" }, button("Curve", () => look(one.target)), button("Change", () => open(one)), button("Remove", () => remove(one))));
  }

  /** Open the editor for a target, or for a new one ({}), or close it (null). */
  function open(one) {
    editing = one;
    editor.hidden = one === null;
    add.hidden = one !== null;
    wrong.textContent = "";
    if (one === null) { add.focus(); return; }
    save.textContent = one.target ? "Change this target" : "Set this target";
    // Nobody chooses from what is not there yet.
    save.disabled = choices.disabled = true;
    post("/api/conditions", { source: app.source() }).then((listed) => {
      save.disabled = choices.disabled = false;
      // A group is what people ask about first.
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

  /** All targets that are judged: usual ones are written down as soon as one of them is changed. */
  function all() {
    return new Map((told?.targets ?? []).map((one) => { const { name, limit } = nameOf(one); return [name, limit]; }));
  }

  function write(listed, what) {
    app.change({ targets: listed.size ? Object.fromEntries(listed) : null }, what);
  }

  return { element, show, stay };
}
