// Completion in the text of a scenario: keys and values of the schema, by keyboard and mouse.

import { newest } from "./api.js";
import { announce, fresh, h, replace } from "./dom.js";

const REST_MS = 120;

/** The list of completions of a text area; `place()` is the position below its caret in pixels. */
export function completion(area, place) {
  const list = h("ul", { id: fresh("completions"), class: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
  const asking = newest();
  let resting = 0;
  let told = { typed: 0, options: [] };
  let chosen = -1;

  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", list.id);
  area.addEventListener("input", () => rest(REST_MS));
  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) rest(0);
    else if (list.hidden) return;
    else if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") mark(chosen + (event.key === "ArrowDown" ? 1 : -1));
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(told.options[chosen]);
    else {
      if (event.key.startsWith("Arrow")) close();
      return;
    }
    event.preventDefault();
  });

  function close() {
    clearTimeout(resting);
    asking.stop();
    list.hidden = true;
    chosen = -1;
    area.removeAttribute("aria-activedescendant");
  }

  /** Ask for completions after a pause; at once if the user asks for them, who then need not have typed anything. */
  function rest(pause) {
    close();
    const before = area.value.slice(0, area.selectionStart);
    if (pause && !/[\w"'.]$|[=[{,] ?$/.test(before)) return;
    resting = setTimeout(async () => {
      told = await asking("/api/complete", { before }).catch(() => ({ typed: 0, options: [] }));
      if (!told.options.length || document.activeElement !== area) return;
      replace(list, told.options.map((one, index) => h("li", { id: `${list.id}-${index}`, role: "option", "aria-selected": "false",
        onpointerdown: (event) => { event.preventDefault(); take(one); } }, h("code", {}, one.text), h("span", {}, one.about))));
      list.hidden = false;
      const { x, y, line } = place();
      const { top } = area.getBoundingClientRect();
      const isBelow = top + y + list.offsetHeight < innerHeight || top + y - line < list.offsetHeight;
      list.style.left = `${Math.max(0, Math.min(x, area.clientWidth - list.offsetWidth))}px`;
      list.style.top = `${isBelow ? y : y - line - list.offsetHeight}px`;
      list.scrollTop = 0;
      announce(`${told.options.length} completions; the down arrow chooses one`);
      if (!pause) mark(0);
    }, pause);
  }

  function mark(index) {
    chosen = (index + told.options.length) % told.options.length;
    [...list.children].forEach((one, place) => { one.ariaSelected = String(place === chosen); });
    list.children[chosen].scrollIntoView({ block: "nearest" });
    area.setAttribute("aria-activedescendant", list.children[chosen].id);
  }

  /** Insert a completion as if it were typed, so that the browser's undo reverts it. */
  function take(one) {
    area.setSelectionRange(area.selectionStart - told.typed, area.selectionStart);
    close();
    document.execCommand("insertText", false, one.insert);
  }

  return list;
}
