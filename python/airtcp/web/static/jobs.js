// Runs: handed in, watched, stopped. Each has a bar that shows how far it is.

import { get, post, Problem } from "./api.js";
import { announce, h, replace } from "./dom.js";

const PAUSE_MS = 250;

/** A button that starts a run, a bar while it is under way, a button that stops it. */
export function runner({ label, body, take, done = () => {}, quiet = false }) {
  const start = h("button", { type: "button", class: quiet ? "" : "primary", onclick: () => go() }, label);
  const shown = h("div", { class: "run" }, start);
  let current = null;

  async function go() {
    const mine = {};
    current = mine;
    const bar = h("progress", { max: 1, value: 0, "aria-label": `${label}: progress` });
    const words = h("span", { class: "muted words" }, "starting …");
    const stop = h("button", { type: "button", class: "stop" }, "Stop");
    replace(shown, bar, words, stop);
    stop.focus({ preventScroll: true });
    let id = null;
    let stopped = false;
    stop.addEventListener("click", () => {
      stopped = true;
      stop.disabled = true;
      words.textContent = "stopping …";
      if (id) post(`/api/jobs/${id}/stop`, {}).catch(() => {});
    });
    const end = (message, bad = false) => {
      replace(shown, start, message && h("p", { class: bad ? "notice bad" : "muted", role: bad ? "alert" : null }, message));
      if (message) announce(message);
      if (current === mine) current = null;
    };
    try {
      const asked = body();
      ({ id } = await post("/api/jobs", asked));
      if (stopped) await post(`/api/jobs/${id}/stop`, {});
      let seen = 0;
      for (;;) {
        const told = await get(`/api/jobs/${id}?seen=${seen}`);
        seen = told.seen;
        for (const message of told.messages) {
          if (message.problem) throw new Problem(message.problem);
          take(message, asked);
        }
        bar.value = told.progress;
        if (!stopped) words.textContent = waiting(told);
        if (told.state !== "waiting" && told.state !== "running") {
          end(told.state === "stopped" ? "Stopped: what had ended is shown." : "");
          if (told.state === "done") announce(`${label}: done`);
          done(told.state, asked);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch (error) {
      end(error.key ? `${error.key}: ${error.message}` : error.message, true);
    }
  }

  return shown;
}

function waiting({ state, progress, words, place }) {
  if (state === "waiting") return place > 0 ? `waiting behind ${place} other${place > 1 ? "s" : ""}` : "waiting";
  return `${Math.floor(100 * progress)} %${words ? `, ${words}` : ""}`;
}
