// The first view: verdict, results in words, a curve over one slider, causes and fixes.

import { advice } from "./advice.js";
import { isAbort, newest, post } from "./api.js";
import { best as bestOf, keep } from "./best.js";
import { sendable } from "./card.js";
import { curve } from "./curve.js";
import { announce, bad, fileName, fold, h, replace, save } from "./dom.js";
import { floor } from "./floor.js";
import { runner } from "./jobs.js";
import { network } from "./network.js";
import { made } from "./parts.js";
import { remedies } from "./remedies.js";
import { verdict } from "./verdict.js";

// Lines of a scenario's description that are not collapsed.
const MOST_LINES = 4;
// After this time without a change, the scenario is simulated until its targets are decided.
const REST_MS = 1000;
// While a slider moves there is no quick simulation of targets; the answer comes first.
const SETTLED_MS = 200;

// Results are cached while the page is open.
// Results of runs are kept by scenario; `unwanted` are those whose run was stopped.
const resultOf = new Map();
const unwanted = new Set();
const lightsOf = new Map();
const predictionOf = new Map();
const MOST_PREDICTIONS = 100;

export function explore(app) {
  const words = h("div", { class: "answer", id: "answer" });
  const models = h("section");
  const result = h("div");
  const commands = h("div");
  let prediction = null;
  let predicting = 0;
  let asked = null;
  const looking = newest();
  let resting = 0;

  const one = runner({
    label: "Simulate", body: () => ({ kind: "run", source: app.source() }),
    take: (message, asked) => {
      const told = message.result ?? message.sofar;
      if (!told) return;
      resultOf.set(keyOf(asked.source), { ...told, depth: message.result ? "simulation" : "sofar" });
      for (const trial of told.advice?.remedies ?? []) keep(trial.key, trial.verdict, "trial");
      along.keep(asked.source, told);
      show();
      if (message.result) announce(told.headline);
    },
    // If a run was stopped while it tried remedies, keep its simulation.
    done: (state, asked) => {
      const told = resultOf.get(keyOf(asked.source));
      if (told?.depth === "sofar") told.depth = "simulation";
      if (state !== "done") unwanted.add(keyOf(asked.source));
      show();
    },
  });
  const along = curve(app, { predicted: lit, slid: () => {
    prediction = along.known() ?? prediction;
    showWords();
  } });
  const judged = verdict(app, { look: along.look });
  const wrong = advice(app);
  const helped = remedies(app);
  const card = sendable(() => (picture.element.hidden ? map : picture).element.querySelector("svg"));
  const report = runner({
    label: "Save report", quiet: true, body: () => ({ kind: "report", source: app.source() }),
    take: ({ result }) => {
      if (result) save(result.html, `${fileName(result.title)}.html`, "text/html");
    },
  });
  report.hidden = true;
  const paper = h("p", { class: "on-paper" });
  const map = floor(app);
  const picture = network(app);
  const fixes = h("div", { class: "fixes" });
  const air = h("div");
  const share = fold("Share", h("div", { class: "actions" }, card.element, report), commands);
  const first = h("section", { class: "card first", "aria-labelledby": "answer-head" },
    h("h1", { id: "answer-head", class: "visually-hidden" }, "Result"),
    h("div", { class: "decision" }, judged.head, one),
    h("div", { class: "split" }, h("div", {}, picture.element, map.element), judged.element), fixes, air);
  const all = fold("All results", result, models);
  const element = h("div", {}, paper, first, fold("Summary", words), wrong.element, along.element, all, helped.element, share);

  const here = () => JSON.stringify(app.source());
  const keyOf = (source) => app.keys.get(JSON.stringify(source)) ?? JSON.stringify(source);
  const key = () => keyOf(app.source());

  /** A slider was moved: show cached results at once, and request the rest. */
  function moved(signal) {
    clearTimeout(resting);
    looking.stop();
    one.cancel();
    first.dataset.depth = "";
    prediction = along.known() ?? predictionOf.get(here()) ?? null;
    if (prediction) {
      showWords();
      along.redraw();
      return;
    }
    const mine = ++predicting;
    asked = here();
    const id = asked;
    words.setAttribute("aria-busy", "true");
    post("/api/predict", { source: app.source() }, signal).then((told) => {
      if (mine !== predicting) return;
      prediction = told;
      predictionOf.set(id, told);
      if (predictionOf.size > MOST_PREDICTIONS) predictionOf.delete(predictionOf.keys().next().value);
      showWords();
      if (app.scenario) show();
    }).catch((error) => {
      if (mine === predicting) asked = null;
      if (isAbort(error) || mine !== predicting) return;
      prediction = null;
      words.removeAttribute("aria-busy");
      judged.stay();
      replace(words, error.status === 0 ? bad(error.message)
        : h("p", { class: "lead" }, error.field || error.key ? "This scenario is not valid yet: see the message at the key." : error.message));
    });
  }

  function show() {
    paper.replaceChildren(h("strong", {}, app.scenario.title), ["", ...app.scenario.subject].join("; "));
    prediction ??= along.known() ?? predictionOf.get(here()) ?? null;
    // After another view was shown, nothing has been requested yet.
    if (!prediction && asked !== here()) moved();
    along.show();
    showWords();
    look();
    showResult();
    showModels();
    replace(commands, made(app.scenario.commands.parts));
    helped.show();
  }

  /** The immediate answer, with the target states of the longest quick simulation so far. */
  function lit() {
    const lights = lightsOf.get(here());
    return prediction && {
      ...prediction, seen: lights?.glance, verdict: lights?.verdict ?? prediction.verdict,
      words: lights?.words ?? prediction.words, models: lights?.words ? lights.models : prediction.models,
    };
  }

  /** If models answered, run a quick simulation for the targets; then simulate until they are decided. */
  function look() {
    clearTimeout(resting);
    if (!prediction || resultOf.has(key())) return;
    const id = here();
    if (prediction.verdict || Object.keys(prediction.glance).length || lightsOf.has(id)) {
      resting = setTimeout(() => {
        const wanted = !one.busy() && !unwanted.has(key()) && app.keys.has(here());
        if (wanted && !document.hidden && !app.trouble) one.begin(true);
      }, REST_MS);
      return;
    }
    resting = setTimeout(() => {
      looking("/api/lights", { source: app.source() }).catch(() => ({})).then((told) => {
        lightsOf.set(id, told);
        if (id === here()) { showWords(); if (told.cells) showResult(); if (told.words) showModels(); along.show(); look(); }
      });
    }, SETTLED_MS);
  }

  function showWords() {
    if (prediction) words.removeAttribute("aria-busy");
    const told = resultOf.get(key());
    keep(key(), lit()?.verdict, "glance");
    keep(key(), told?.verdict, told?.depth);
    const best = bestOf(key());
    if (best || told || prediction) judged.show(best?.verdict ?? null, best?.depth, told?.headline);
    first.dataset.depth = told?.depth ?? "";
    card.show(told?.card ?? null);
    report.hidden = !told?.card;
    wrong.show(told?.advice ?? null, { busy: told?.depth === "sofar" });
    const differs = told && best && best.verdict.headline !== told.headline;
    replace(fixes, told && [h("p", { class: "depth" }, "The simulation says"), differs && h("p", {}, told.headline), made(told.answer.first)],
      told?.depth === "sofar" ? h("p", { class: "muted loading" }, "Trying changes …") : made(told?.advice?.first));
    replace(air, made(told?.airtime_bar));
    if (prediction) {
      replace(words, made(told?.answer.all), h("p", { class: "depth" }, alone(prediction) ? "A quick simulation says" : "The models say"),
        lit().words.map((line, index) => h("p", { class: index ? "" : "lead" }, line)), subject());
    } else if (!words.childElementCount) replace(words, h("p", { class: "lead loading" }, "Computing models …"));
  }

  /** The scenario in words; with many flows, all but the first line are collapsed. */
  function subject() {
    const [network, ...more] = app.scenario?.subject ?? [""];
    if (more.length <= MOST_LINES) return h("p", { class: "muted" }, [network, ...more].join("; "));
    return h("details", { class: "muted" }, h("summary", {}, network),
      more.map((line) => h("p", {}, line)));
  }

  function showResult() {
    const told = resultOf.get(key());
    const cells = told ? told.cells : (lightsOf.get(here()) ?? prediction)?.cells;
    showPicture(cells?.shares);
    replace(result, made(told ? told.parts : cells?.part));
  }

  /** The network as a picture, or the map of its cells. */
  function showPicture(shares) {
    const { structure } = app.scenario;
    const told = resultOf.get(key());
    const missed = bestOf(key())?.verdict.targets.filter((one) => one.state === "fails").map((one) => one.group) ?? [];
    picture.show(structure.network, { airtime: told?.airtime, loads: told?.loads, missed: new Set(missed) });
    map.show(structure.network ? null : structure.map, shares);
  }

  function showModels() {
    // Simulated results replace a quick simulation.
    models.hidden = !prediction || !prediction.models.length || (alone(prediction) && resultOf.has(key()));
    replace(models, models.hidden ? null : made(lit().models));
  }

  return {
    element, show, moved,
    leave: () => {
      clearTimeout(resting);
      looking.stop();
      one.cancel();
      along.leave();
    },
  };
}

/** True if no model has a value and a quick simulation answers. */
function alone(prediction) {
  return prediction.uncovered !== null && Object.keys(prediction.glance).length > 0;
}
