"""Measure the page of `airtcp web` under load and abuse, with server and clients on one machine.

The server runs with its defaults. Twenty client threads send the requests of 20 pages, and cancel
those that a newer slider position replaces; 20 browsers would mostly measure themselves. Paint and
slider times of one page are measured in Chromium, if it is installed.

    .venv/bin/python benches/web.py            # measure and print; status 1 if over budget
    .venv/bin/python benches/web.py --write    # and update benches/README.md
    .venv/bin/python benches/web.py --seconds 20
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))
from readme import processor, replace
from serving import LONG, QUICK, Web, ended, started

PAGES = 20
RUNS_AT_ONCE = 50
EXAMPLES = ("web-hotspot", "persistent-downloads", "office-uploads", "home-wifi6")
#: Queue and running simulations, by default of `airtcp web`.
QUEUE, WORKERS = 20, 2

#: A measured value as text, its budget, and whether it meets the budget.
Row = tuple[str, str, str, bool]


class Client:
    """A client that moves the sliders of a page; the newest position wins."""

    def __init__(self, web: Web, number: int) -> None:
        self.chance = random.Random(number)
        self.http = httpx.AsyncClient(base_url=web.url, timeout=60)
        # Each page has its own scenario, so no result is cached.
        self.source: dict[str, Any] = {
            "example": EXAMPLES[number % len(EXAMPLES)],
            "changes": {"run.seed": number + 1},
        }
        self.sliders: list[dict[str, Any]] = []
        self.axis: dict[str, Any] = {}
        self.asking: list[asyncio.Task[None]] = []
        self.answers: list[float] = []
        self.overtaken = 0
        self.failures: list[str] = []

    async def begin(self) -> None:
        """Open the page and find its sliders."""
        told = (await self.http.post("api/scenario", json={"source": self.source})).json()
        self.axis = told["axes"][0]
        self.sliders = [one for one in told["fields"] if one["kind"] == "stops" and one["axis"]]

    def move(self) -> None:
        """Move a slider; in half of the cases, the one whose curve is shown."""
        for task in self.asking:
            self.overtaken += not task.done()
            task.cancel()
        slider = self.axis if self.chance.random() < 0.5 else self.chance.choice(self.sliders)
        options = [one["value"] for one in slider["options"] if one["number"] is not None]
        value = self.chance.choice(options)
        changes = dict(self.source["changes"])
        if slider["path"] == "stations":
            self.source = self.source | {"stations": value}
        else:
            if slider["path"].endswith(".count"):
                self.source.pop("stations", None)
            changes[slider["path"]] = value
        self.source = self.source | {"changes": changes}
        self.asking = [
            asyncio.create_task(self.answer(time.perf_counter())),
            asyncio.create_task(self.rest()),
        ]

    async def answer(self, moved: float) -> None:
        """Request the estimate of the models."""
        if await self.ask("api/predict", {"source": self.source}):
            self.answers.append(time.perf_counter() - moved)

    async def rest(self) -> None:
        """Request the scenario's text and controls, then the curve."""
        if not await self.ask("api/scenario", {"source": self.source}):
            return
        values = [one["value"] for one in self.axis["options"] if one["number"] is not None]
        asked = {"source": self.source, "axis": self.axis["path"], "values": values}
        await self.ask("api/curve", asked)

    async def ask(self, path: str, body: dict[str, Any]) -> bool:
        try:
            response = await self.http.post(path, json=body)
        except httpx.HTTPError as error:
            self.failures.append(repr(error))
            return False
        # Some combinations of sliders are invalid; an error message is a valid response.
        if response.status_code not in (200, 422):
            self.failures.append(f"{path}: {response.status_code} {response.text[:200]}")
        return response.status_code == 200


async def sliders(web: Web, seconds: float) -> list[Row]:
    """Run `pages` pages, each moving a slider once a second."""
    clients = [Client(web, number) for number in range(PAGES)]
    await asyncio.gather(*(one.begin() for one in clients))

    async def drive(client: Client) -> None:
        await asyncio.sleep(client.chance.random())
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            client.move()
            await asyncio.sleep(1.0)
        await asyncio.gather(*client.asking, return_exceptions=True)
        await client.http.aclose()

    await asyncio.gather(*(drive(one) for one in clients))
    answers = sorted(one for client in clients for one in client.answers)
    failures = [one for client in clients for one in client.failures]
    for one in failures[:5]:
        print(one, file=sys.stderr)
    middle = 1e3 * statistics.median(answers)
    worst = 1e3 * answers[round(0.95 * (len(answers) - 1))]
    return [
        (f"{PAGES} pages, a slider each second: answer, median", f"{middle:.0f} ms", "300 ms",
         middle < 300),
        ("the same, 95th percentile", f"{worst:.0f} ms", "", True),
        (f"of {len(answers)} answers, failed", f"{len(failures)}", "0", not failures),
    ]  # fmt: skip


def memory_mib(web: Web) -> float:
    """Return the memory of the server and its workers, by proportional set size."""
    total = 0
    for pid in (web.process.pid, *web.workers("models"), *web.workers("runs")):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
    return total / 1024


def abuse(web: Web) -> list[Row]:
    """Start many runs at once, and kill a worker."""
    before = memory_mib(web)

    def asked_with(seed: int) -> dict[str, Any]:
        # Identical requests would share one run.
        changes = LONG | {"run.seed": seed + 1}
        return {"kind": "run", "source": {"example": "saturated-stations", "changes": changes}}

    told = [web.ask("api/jobs", asked_with(number)) for number in range(RUNS_AT_ONCE)]
    taken = [answer["id"] for status, answer in told if status == 202]
    refused = [answer for status, answer in told if status == 503]
    told_why = all("wait already" in one["problem"]["message"] for one in refused)
    most = 0.0
    for _ in range(20):
        time.sleep(0.25)
        most = max(most, memory_mib(web))
    begin = time.perf_counter()
    alive, _ = web.ask("api/predict", {"source": {"example": "web-hotspot"}})
    answered = 1e3 * (time.perf_counter() - begin)
    running = web.workers("runs")
    os.kill(running[0], signal.SIGKILL)
    time.sleep(3)
    states = [web.ask(f"api/jobs/{one}")[1]["state"] for one in taken]
    failed = states.count("failed")
    for one in taken:
        web.ask(f"api/jobs/{one}/stop", {})
    quick = {"kind": "run", "source": {"example": "saturated-stations", "changes": QUICK}}
    after = web.run(quick, 120)["state"]
    return [
        (f"{RUNS_AT_ONCE} simulations at once: taken, refused with a message",
         f"{len(taken)}, {len(refused)}", f"{QUEUE + WORKERS} at most",
         len(taken) + len(refused) == RUNS_AT_ONCE and told_why
         and len(taken) <= QUEUE + WORKERS),
        ("memory before, and the most meanwhile", f"{before:.0f} MiB, {most:.0f} MiB",
         "2048 MiB", most < 2048),
        ("an answer of the models meanwhile", f"{answered:.0f} ms", "300 ms",
         alive == 200 and answered < 300),
        ("runs lost with a worker that was killed", f"{failed}", "1", failed == 1),
        ("a run afterwards", after, "done", after == "done"),
    ]  # fmt: skip


#: Move a slider as a person does, and return the milliseconds until the next response.
MOVED = """async ([path, value]) => {
  const input = document.querySelector(`.controls [data-path="${path}"]`);
  const first = document.querySelector(".first");
  const before = first.innerText;
  const begin = performance.now();
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  while (performance.now() - begin < 5000) {
    await new Promise(requestAnimationFrame);
    const waits = first.closest("[aria-busy]") || first.innerText === before;
    if (!waits) return performance.now() - begin;
  }
  return null;
}"""


def browser(web: Web) -> list[Row]:
    """Measure one page in Chromium: its paint, first response, decision, and sliders."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return [("one page in a browser", "not measured", "chromium is not here", True)]
    from playwright.sync_api import sync_playwright

    hosts, paints, firsts = set(), [], []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = opened.new_page()
        page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        begin = time.perf_counter()
        page.goto(web.url)
        page.locator(".verdict-head").wait_for()
        cold = time.perf_counter() - begin
        page.locator('.first[data-depth="simulation"]').wait_for(timeout=300_000)
        decided = time.perf_counter() - begin
        for _ in range(5):
            context = opened.new_context()
            page = context.new_page()
            begin = time.perf_counter()
            page.goto(web.url)
            page.locator(".verdict-head").wait_for()
            firsts.append(time.perf_counter() - begin)
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            if len(firsts) < 5:
                context.close()
        sliders = page.locator(".controls input[type=range]").evaluate_all(
            "all => all.map((one) => [one.dataset.path, Number(one.max)])"
        )
        chance = random.Random(1)
        answers = []
        for _ in range(24):
            path, most = chance.choice(sliders)
            answered = page.evaluate(MOVED, [path, chance.randrange(most + 1)])
            # Setting a slider to its current value changes nothing.
            if answered is not None:
                answers.append(answered / 1e3)
        opened.close()
    paint, warm = statistics.median(paints) / 1e3, statistics.median(firsts)
    moved = statistics.median(answers)
    return [
        ("a page is painted", f"{paint:.1f} s", "1.5 s", paint < 1.5),
        ("its first answer", f"{warm:.1f} s", "2.5 s", warm < 2.5),
        ("the first answer of a server just started", f"{cold:.1f} s", "2.5 s", cold < 2.5),
        ("the office decided, of a server just started", f"{decided:.1f} s", "10 s", decided < 10),
        (f"a slider of the office to its answer, median of {len(answers)}", f"{moved:.2f} s",
         "0.6 s", moved < 0.6),
        ("hosts that a page asks beside its own", f"{len(hosts) - 1}", "0", len(hosts) == 1),
    ]  # fmt: skip


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the table in the README")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        web = started("--queue", str(QUEUE), "--runs", str(WORKERS), folder=Path(folder))
        try:
            rows = browser(web)
            rows += asyncio.run(sliders(web, arguments.seconds))
            rows += abuse(web)
        finally:
            said = ended(web)
    if "Traceback" in said:
        print(said, file=sys.stderr)
        rows.append(("tracebacks in the server's log", "some", "none", False))
    lines = ["| what | measured | budget |", "| --- | --- | --- |"]
    lines += [f"| {what} | {measured} | {budget} |" for what, measured, budget, _ in rows]
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        machine = f"{os.cpu_count()} cores of {processor()}, load {load:.1f} before."
        replace("web", f"{machine}\n\n{table}")
    over = [what for what, _, _, kept in rows if not kept]
    if over:
        sys.exit(f"Over budget (load {load:.1f}): {'; '.join(over)}")


if __name__ == "__main__":
    main()
