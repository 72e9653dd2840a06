// A field whose value the server accepts or rejects. A rejected value stays in the field with the
// reason, and the scenario does not change.

import { announce, options as choices, fresh, h, marker } from "./dom.js";
import { isAbort } from "./api.js";

/**
 * A labelled field of a key path, with `update(text)`. `options` makes it a choice of words, each a
 * text or [value, text]; "" takes the key out. `take` puts another in the place of the usual edit.
 */
export function entry(app, { path, label, options = null, number = null, placeholder = "", take = null }) {
  const id = fresh("entry");
  const input = options
    ? h("select", { id, "data-key": path, "aria-describedby": `${id}-bad` }, choices(options))
    : h("input", { id, type: number ? "number" : "text", "data-key": path, spellcheck: "false", autocomplete: "off",
      placeholder, "aria-describedby": `${id}-bad`, ...number });
  const reason = h("p", { class: "bad-field", id: `${id}-bad`, role: "alert" });
  const element = h("div", { class: "entry" },
    h("label", { for: id }, label), input, reason);
  const mark = marker(element, input, reason);
  let held = null;
  let present = "";

  input.addEventListener("change", commit);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || held === null) return;
    release();
    input.value = present;
  });

  async function commit() {
    const text = input.value;
    release();
    if (text === present) return;
    try {
      if (take) await take(text);
      else await app.restructure({ op: "set", path, text: text === "" ? "none" : text }, `${path} = ${text || "none"}`);
    } catch (error) {
      if (isAbort(error)) return;
      held = text;
      mark(error.key && error.field !== path ? `${error.key}: ${error.message}` : error.message);
      announce(error.message);
    }
  }

  function release() {
    held = null;
    mark("");
  }

  /** Show the scenario's value; a rejected value stays in the field. */
  function update(text) {
    present = text;
    if (held !== null || (document.activeElement === input && !options)) return;
    if (options && ![...input.options].some((one) => one.value === text)) input.append(h("option", { value: text }, text));
    input.value = text;
  }

  return { element, input, update };
}
