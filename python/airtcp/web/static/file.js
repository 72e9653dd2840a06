// The scenario file as an editor. Text is applied after a pause in typing; an error marks its line.

import { fresh, h, replace, save } from "./dom.js";

const REST_MS = 500;
const EMPTY = "# An office, a home, a class: one group of stations to begin with.\n\n";

/** The text of a new scenario. */
export const BLANK = `${EMPTY}phy = { standard = "802.11ax", channel_width = "40 MHz" }
stations = [
  { profile = "office-laptop", name = "laptop", count = 1 },
]
`;

/** The card of the file, with `show(text)`, `problem(error)` and `take()`. */
export function file(app) {
  const said = fresh("file");
  const area = h("textarea", {
    id: "toml", spellcheck: "false", wrap: "off", rows: 26, autocapitalize: "off", autocomplete: "off",
    "aria-label": "Scenario file (TOML)", "aria-describedby": said, oninput: typed,
  });
  const trouble = h("div", { id: said });
  const copy = h("button", { type: "button", class: "quiet", onclick: () => app.copied(area.value, copy) }, "Copy");
  const element = h("section", { class: "card file-card", "aria-labelledby": "file-head" },
    h("div", { class: "card-head" }, h("h2", { id: "file-head" }, "The file"),
      h("div", { class: "buttons" }, copy,
        h("button", { type: "button", class: "quiet", onclick: () => save(area.value, "scenario.toml", "application/toml") }, "Download"))),
    area, trouble);
  let resting = 0;

  function typed() {
    clearTimeout(resting);
    resting = setTimeout(take, REST_MS);
  }

  /** Apply typed text at once, if there is any. */
  function take() {
    if (!resting) return;
    clearTimeout(resting);
    resting = 0;
    app.edit(area.value, "the file");
  }

  function show(text) {
    mark(null);
    replace(trouble);
    put(text);
  }

  /** Replace the text, unless the user is typing. */
  function put(text) {
    if (resting || area.value === text) return;
    const { selectionStart, selectionEnd, scrollTop } = area;
    area.value = text;
    if (document.activeElement === area) area.setSelectionRange(selectionStart, selectionEnd);
    area.scrollTop = scrollTop;
  }

  function problem(error) {
    const text = error.text ?? app.state.text;
    if (text !== null) put(text);
    mark(error.line ?? null);
    const key = error.key ? `${error.key}: ` : "";
    replace(trouble, h("p", { class: "bad-field" },
      error.line ? h("button", { type: "button", class: "line", onclick: () => go(error.line) }, `Line ${error.line}`) : null,
      ` ${key}${error.message}`));
  }

  function mark(line) {
    area.classList.toggle("marked", line !== null);
    area.style.setProperty("--line", line === null ? 0 : line - 1);
    if (line === null) area.removeAttribute("aria-invalid");
    else {
      area.setAttribute("aria-invalid", "true");
      const height = parseFloat(getComputedStyle(area).lineHeight);
      const top = (line - 1) * height;
      if (document.activeElement !== area && (top < area.scrollTop || top > area.scrollTop + area.clientHeight - height)) {
        area.scrollTop = Math.max(0, top - area.clientHeight / 2);
      }
    }
  }

  function go(line) {
    const lines = area.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    area.focus();
    area.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
  }

  return { element, show, problem, take };
}
