"""Measure a class on the page of `airtcp web`: 30 browsers simulate at once, in three rounds.

Every other browser asks for the same run as the one before it, as in a class that follows a
teacher. Before that, ten browsers with ten different runs give the baseline. Meanwhile one more
browser moves a slider. Each round has its own seeds, so no result is cached.

    .venv/bin/python benches/classroom.py            # measure and print; status 1 if over budget
    .venv/bin/python benches/classroom.py --write    # and update benches/README.md
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))
from readme import processor, replace
from serving import Web, ended, started
from web import Row, memory_mib

BROWSERS, ROUNDS, TEN = 30, 3, 10
EXAMPLE = "home-wifi6"
#: Allowed memory growth from the first round to the last, as a ratio.
LEVEL = 1.1
PATIENCE_S = 600.0


class Browser:
    """A browser that presses `Simulate` and waits for the result."""

    def __init__(self, web: Web) -> None:
        # The page gives each client a cookie with its name.
        self.http = httpx.AsyncClient(
            base_url=web.url, timeout=60, cookies=httpx.get(web.url).cookies
        )

    async def simulate(self, seed: int) -> float | str:
        """Return the response time in seconds, or the reason for a failure."""
        begin = time.perf_counter()
        source = {"example": EXAMPLE, "changes": {"run.seed": seed}}
        told = await self.http.post("api/jobs", json={"kind": "run", "source": source})
        if told.status_code != 202:
            return str(told.json()["problem"]["message"])
        name = told.json()["id"]
        while time.perf_counter() - begin < PATIENCE_S:
            stands = (await self.http.get(f"api/jobs/{name}")).json()
            if stands["state"] == "done":
                return time.perf_counter() - begin
            if stands["state"] not in ("waiting", "running"):
                return str(stands["state"])
            # As on the page, clients far back in the queue poll less often.
            await asyncio.sleep(min(2.0, 0.25 * (1 + stands["place"])))
        return "no answer"

    async def slide(self, stop: asyncio.Event, answers: list[float]) -> None:
        """Move a slider to new positions twice a second until stopped."""
        count = 0
        while not stop.is_set():
            count += 1
            answers.append(await self.predict(count))
            await asyncio.sleep(0.5)

    async def predict(self, count: int) -> float:
        """Return the seconds that the models take for an uncached prediction."""
        begin = time.perf_counter()
        seed = 1_000_000 + random.randrange(10**9)
        changes = {"stations.sensor.count": 1 + count % 60, "run.seed": seed}
        source = {"example": "saturated-stations", "changes": changes}
        told = await self.http.post("api/predict", json={"source": source})
        return time.perf_counter() - begin if told.status_code == 200 else PATIENCE_S


async def at_once(web: Web, seeds: list[int], answers: list[float]) -> list[float | str]:
    """Return the response time of each of `number` browsers that ask at once."""
    browsers = [Browser(web) for _ in range(len(seeds) + 1)]
    stop = asyncio.Event()
    slider = asyncio.create_task(browsers[-1].slide(stop, answers))
    asked = zip(browsers[:-1], seeds, strict=True)
    waited = await asyncio.gather(*(one.simulate(seed) for one, seed in asked))
    stop.set()
    await slider
    for one in browsers:
        await one.http.aclose()
    return waited


async def warm(web: Web) -> None:
    """Start all workers; the first request waits for them, and `web.py` measures that."""
    browsers = [Browser(web) for _ in range(8)]
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(one.predict(number) for number, one in enumerate(browsers)))
    for one in browsers:
        await one.http.aclose()


def seeds_of(number: int) -> list[int]:
    """Return the seeds of a round; every other browser repeats the seed before it."""
    return [1000 * number + browser // 2 for browser in range(BROWSERS)]


def measure(web: Web) -> list[Row]:
    """Measure ten browsers with ten runs, then the class in three rounds."""
    answers: list[float] = []
    asyncio.run(warm(web))
    ten = numbers(asyncio.run(at_once(web, list(range(1, TEN + 1)), answers)))
    memory, medians, lost = [memory_mib(web)], [], 0
    slowest: list[float] = []
    for number in range(1, ROUNDS + 1):
        waited = asyncio.run(at_once(web, seeds_of(number), answers))
        lost += sum(isinstance(one, str) for one in waited)
        medians.append(statistics.median(numbers(waited)))
        slowest.append(max(numbers(waited)))
        memory.append(memory_mib(web))
    base = statistics.median(ten)
    answers.sort()
    late = answers[round(0.95 * (len(answers) - 1))]
    slider = (statistics.median(answers), late, answers[-1])
    return [
        (f"{BROWSERS} browsers at once, {ROUNDS} times: not answered", f"{lost}", "0", lost == 0),
        (f"{TEN} different runs: answer, median and last", f"{base:.1f} s, {max(ten):.1f} s", "",
         True),
        (f"{BROWSERS} browsers, half of whom ask what another asks: median, by round",
         ", ".join(f"{one:.1f} s" for one in medians), f"{2 * base:.1f} s: twice that of {TEN}",
         max(medians) <= 2 * base),
        ("the last answer, by round", ", ".join(f"{one:.1f} s" for one in slowest), "", True),
        (f"a slider meanwhile, {len(answers)} answers: median, 95th percentile, slowest",
         ", ".join(f"{1e3 * one:.0f} ms" for one in slider),
         "500 ms", answers[-1] <= 0.5),
        ("memory of the server and its workers, after the ten and each round",
         ", ".join(f"{one:.0f}" for one in memory) + " MiB", f"{LEVEL:g} times that of the first",
         memory[-1] <= LEVEL * memory[1]),
    ]  # fmt: skip


def numbers(waited: list[float | str]) -> list[float]:
    """Return the response times of the requests that succeeded."""
    return [one for one in waited if isinstance(one, float)]


def main() -> None:
    """Measure, print, and with `--write` update the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update the table in the README")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        web = started(folder=Path(folder))
        try:
            rows = measure(web)
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
        replace("classroom", f"{machine}\n\n{table}")
    over = [what for what, _, _, kept in rows if not kept]
    if over:
        sys.exit(f"Over budget (load {load:.1f}): {'; '.join(over)}")


if __name__ == "__main__":
    main()
