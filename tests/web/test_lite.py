"""The page that needs no server (`make lite`): the WebAssembly core, and the page in Chromium."""

import functools
import http.server
import json
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp import _core
from airtcp.examples import directory, examples
from browsing import Page, packed

pytestmark = [pytest.mark.verify, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
SITE = ROOT / "out" / "lite"
SEED, REPLICATION = 7, 3
#: The examples, and three of them again with other seeds.
AGAIN = ("office-wifi6", "three-cells", "web-hotspot")

#: Answers each request of a file, and writes replies and lengths; prints the total time.
NODE = """
import { readFileSync, writeFileSync } from "node:fs";
const [core, requests, replies] = process.argv.slice(2);
let shares = 0;
const watch = (share) => { shares += share >= 0 && share <= 1; return 1; };
const { instance } = await WebAssembly.instantiate(readFileSync(core), { airtcp: { watch } });
const { memory, input, reply, output } = instance.exports;
let spent = 0;
const said = JSON.parse(readFileSync(requests)).map((request) => {
  const bytes = new TextEncoder().encode(request);
  const place = input(bytes.length);
  new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
  const start = process.cpuUsage().user;
  const length = reply();
  spent += (process.cpuUsage().user - start) / 1e6;
  return Buffer.from(new Uint8Array(memory.buffer, output(), length).slice());
});
writeFileSync(replies, Buffer.concat(said.flatMap((one) => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(one.length);
  return [length, one];
})));
console.log(JSON.stringify({ spent, shares }));
"""


@pytest.fixture(scope="module")
def site() -> Path:
    subprocess.run(["make", "lite"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return SITE


def blobs(reply: bytes) -> dict[str, bytes]:
    found, place = {}, 0
    while place < len(reply):
        of_name, of_content = struct.unpack_from("<II", reply, place)
        place += 8
        name = reply[place : place + of_name].decode()
        found[name] = reply[place + of_name : place + of_name + of_content]
        place += of_name + of_content
    return found


def test_twenty_scenarios_have_the_same_bits_in_webassembly(site: Path, tmp_path: Path) -> None:
    assert (site / "core.wasm").stat().st_size < 3e6
    names = [(one.name, SEED) for one in examples()] + [(one, SEED + 1) for one in AGAIN]
    assert len(names) >= 20
    requests, spent = [], 0.0
    native: list[Any] = []
    for name, seed in names:
        scenario = airtcp.load(str(directory() / f"{name}.toml"))
        resolved = scenario.vary({"run.warmup": "1 s", "run.duration": "2 s"}).for_core()
        simulation = _core.Simulation(resolved)
        start = time.process_time()
        native.append(
            simulation.run_recorded(
                seed,
                REPLICATION,
                _core.RunControl(),
                sample_interval_ns=10**8,
                pcap=tmp_path / f"{len(native)}.pcap",
                snaplen=100,
                transfers=True,
                samples_only=False,
            )
        )
        spent += time.process_time() - start
        run = {"seed": seed, "replication": REPLICATION, "sample_interval_ns": 10**8}
        run |= {"samples_only": False, "transfers": True, "snaplen": 100}
        requests.append(json.dumps({"scenario": resolved, "run": run}))
    (tmp_path / "requests.json").write_text(json.dumps(requests))
    (tmp_path / "node.mjs").write_text(NODE)
    done = subprocess.run(
        ["node", "node.mjs", site / "core.wasm", "requests.json", "replies"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    said = json.loads(done.stdout)
    # Progress is reported at least every 1 %.
    assert said["shares"] >= 99 * len(names)
    # The core must reach at least a fifth of the native speed.
    print(f"{said['spent']:.2f} s of CPU, {spent:.2f} s by the native core")
    assert said["spent"] < 5 * spent
    replies, place = (tmp_path / "replies").read_bytes(), 0
    for index, (text, times, accounts, trace, transfers) in enumerate(native):
        (length,) = struct.unpack_from("<I", replies, place)
        found = blobs(replies[place + 4 : place + 4 + length])
        place += 4 + length
        assert found["outcome"] == text.encode()
        assert found["transfer_times_s"] == times
        assert found["capture"] == (tmp_path / f"{index}.pcap").read_bytes()
        assert trace is not None
        assert transfers is not None
        tables = {name: one for name, one in trace.items() if isinstance(one, dict)}
        for table, columns in ({"accounts": accounts, "transfers": transfers} | tables).items():
            assert columns
            for name, content in columns.items():
                assert found[f"{table}.{name}"] == content, (table, name)


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves files like any web server, without a log."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def page(site: Path, browser: Any) -> Iterator[Page]:
    handler = functools.partial(_Files, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    one = Page(browser, f"http://127.0.0.1:{server.server_port}/index.html")
    yield one
    # All requests went to the site, and none failed.
    assert not one.complaints
    assert {host for host in one.hosts if host} == {f"127.0.0.1:{server.server_port}"}
    server.shutdown()
    server.server_close()


def decided(page: Page) -> str:
    """Return the verdict once the run and its trials of changes have ended."""
    page.page.locator(".card.first [data-apply]:visible").first.wait_for(timeout=600_000)
    return str(page.page.locator(".verdict-head").inner_text())


def test_an_office_is_decided_without_a_server_as_with_one(page: Page) -> None:
    native = airtcp.run(str(directory() / "office-wifi6.toml"))
    assert native.verdict is not None
    missed = sum(one.state == "fails" for one in native.verdict.targets)
    assert 0 < missed < len(native.verdict.targets)

    assert f"MISSES {missed} of {len(native.verdict.targets)} targets" in decided(page)
    found = native.simulation.metrics["goodput_bps"]
    shown = page.page.locator("#answer").inner_text()
    assert f"All flows get {found.mean / 1e6:.0f} Mb/s" in shown


def test_a_run_stops_and_runs_again_without_a_server(page: Page) -> None:
    page.page.evaluate("hash => { location.hash = hash; }", packed({"example": "home-wifi6"}))
    stop = page.page.get_by_role("button", name="Stop", exact=True).first
    stop.click()
    stop.wait_for(state="detached")
    page.page.get_by_role("button", name="Simulate", exact=True).click()
    page.page.locator(".verdict-head", has_text="targets").wait_for()
    stop.wait_for(state="detached")
    assert "Quick" not in page.page.locator(".verdict-head").inner_text()


def test_a_report_is_drawn_without_a_server(page: Page) -> None:
    button = page.page.get_by_role("button", name="Save report")
    with page.page.expect_download(timeout=600_000) as download:
        button.click()
    assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")
