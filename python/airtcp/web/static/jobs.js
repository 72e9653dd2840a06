// Submit, watch and stop runs, each with a progress bar.

import { get, post, Problem } from "./api.js";
import { announce, h, replace } from "./dom.js";

const PAUSE_MS = 250;
// Poll less often if the run is far back in the queue; repeat an unanswered request this many times.
const LONGEST_PAUSE_MS = 2000;
const TRIES = 5;
// The status of a server that has no room for a run.
const FULL = 503;
const PLACES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/**
 * A button that starts a run, a progress bar, and a button that stops it. `begin(true)` starts an automatic run: it
 * waits behind requested ones, and `cancel()` or leaving the page ends it without a message. `ready(false)` disables the
 * button until all that the run needs is known.
 */
export function runner({ label, body, take, done = () => {}, quiet = false }) {
  const start = h("button", { type: "button", class: quiet ? "" : "primary", onclick: () => begin() }, label);
  const shown = h("div", { class: "run" }, start);
  let current = null;

  async function begin(auto = false) {
    cancel();
    const mine = { auto, id: null, stopped: false };
    current = mine;
    const bar = h("progress", { max: 1, value: 0, "aria-label": `${label}: progress` });
    const words = h("span", { class: "muted words" }, "starting …");
    const stop = h("button", { type: "button", class: "stop" }, "Stop");
    replace(shown, bar, words, stop);
    if (!auto) stop.focus({ preventScroll: true });
    stop.addEventListener("click", () => {
      mine.stopped = true;
      stop.disabled = true;
      words.textContent = "stopping …";
      leave(mine);
    });
    const end = (message, bad = false) => {
      const held = shown.contains(document.activeElement);
      replace(shown, start, message && h("p", { class: bad ? "notice bad" : "muted", role: bad ? "alert" : null }, message));
      if (held) start.focus({ preventScroll: true });
      if (message) announce(message);
      if (current === mine) current = null;
    };
    let asked = null;
    try {
      asked = body();
      ({ id: mine.id } = await requested({ ...asked, auto }, words, () => mine === current && !mine.stopped));
      if (mine.stopped || mine !== current) leave(mine);
      let seen = 0;
      while (mine === current) {
        const told = await heard(mine.id, seen, words);
        if (mine !== current) return;
        seen = told.seen;
        for (const message of told.messages) {
          if (message.problem) throw new Problem(message.problem);
          take(message, asked);
        }
        bar.value = told.progress;
        if (!mine.stopped) words.textContent = waiting(told);
        if (told.state !== "waiting" && told.state !== "running") {
          end(told.state === "stopped" ? "Stopped. Showing the finished part." : "");
          if (told.state === "done" && !auto) announce(`${label}: done`);
          done(told.state, asked);
          return;
        }
        // A run that waits in the queue can be requested explicitly.
        if (auto && told.state === "waiting" && !start.isConnected) stop.before(start);
        await pause(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * (1 + told.place)));
      }
    } catch (error) {
      if (mine !== current) return;
      end(error.key ? `${error.key}: ${error.message}` : error.message, !auto);
      done("failed", asked);
    }
  }

  function cancel() {
    if (!current?.auto) return;
    leave(current);
    current = null;
    replace(shown, start);
  }

  addEventListener("pagehide", cancel);
  return Object.assign(shown, { begin, cancel, busy: () => current !== null, ready: (is) => { start.disabled = !is; } });
}

/** Request a run. An automatic one is requested again while it is `wanted` and the server has no room for it. */
async function requested(body, words, wanted) {
  for (;;) {
    try {
      return await post("/api/jobs", body);
    } catch (error) {
      if (!body.auto || error.status !== FULL) throw error;
      words.textContent = "the server has no room; retrying …";
      await pause(LONGEST_PAUSE_MS);
      if (!wanted()) throw error;
    }
  }
}

/** Leave a run; the request arrives even if the page is closed. */
function leave({ id }) {
  if (id) post(`/api/jobs/${id}/stop`, {}, undefined, true).catch(() => {});
}

/** The state of a run; repeats the request if the server does not respond. */
async function heard(id, seen, words) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await get(`/api/jobs/${id}?seen=${seen}`);
    } catch (error) {
      if (error.status || tried === TRIES) throw error;
      words.textContent = "the server does not respond; retrying …";
      await pause(1000 * tried);
    }
  }
}

function waiting({ state, progress, words, place }) {
  if (state === "waiting") return `${PLACES[place] ?? `number ${place + 1}`} in line`;
  return `${Math.floor(100 * progress)} %${words ? `, ${words}` : ""}`;
}

function pause(length) {
  return new Promise((resolve) => setTimeout(resolve, length));
}
