"""Nothing from the network is trusted: files, sizes, bodies, origins."""

import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from airtcp.examples import directory
from airtcp.exceptions import ScenarioError
from airtcp.web import bodies, sources
from bases import BULK, two_cells
from serving import LONG, QUICK, Web, ended, started

SIZES = {"distribution": "empirical", "file": "sizes.csv", "column": "size"}
APPLICATION = "flows.laptop.application"
SIZE = f"{APPLICATION}.size"
LOG = "semicomplete-2015-05.access.log.gz"
KINDS = ["run", "points", "plan", "remedies", "timeline", "figure", "no"]


def message(told: Any) -> str:
    assert set(told) == {"problem"}, told
    text = told["problem"]["message"]
    assert isinstance(text, str)
    assert text
    assert "Traceback" not in text
    return text


def refused(web: Web, path: str, source: dict[str, Any]) -> dict[str, Any]:
    """Return the error for a rejected source, which reveals nothing about the server."""
    status, told = web.ask(path, {"source": source})
    assert status == 422
    message(told)
    assert str(web.temporary) not in json.dumps(told)
    return dict(told["problem"])


def given(web: Web, content: bytes) -> str:
    """Upload a file and return its name."""
    status, told = web.ask("api/uploads", raw=content, method="POST")
    assert status == 201, told
    return str(told["id"])


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../etc/passwd", "sizes.csv", "pyproject.toml", "/proc/self/environ"]
)
def test_a_scenario_from_the_network_names_no_file_of_the_server(web: Web, name: str) -> None:
    (web.temporary / "sizes.csv").write_text("size\n1000\n")
    replay = {"kind": "replay", "file": name}
    sources: list[dict[str, Any]] = [
        {"example": "web-hotspot", "changes": {SIZE: SIZES | {"file": name}}},
        {"example": "web-hotspot", "changes": {APPLICATION: replay}},
        {"text": powers_from(name)},
    ]
    for path, source in product(("api/scenario", "api/predict"), sources):
        problem = refused(web, path, source)
        assert "was not uploaded" in problem["message"]
        assert "root:" not in str(problem)
    # An error is shown at the control that causes it.
    none = {"example": "web-hotspot", "changes": {"stations.laptop.count": 0}}
    assert refused(web, "api/predict", none)["field"] == "stations.laptop.count"


def powers_from(name: str) -> str:
    """Return the text of two cells with powers from a file."""
    down = f"application = {BULK}"
    run: dict[str, str | int] = {"warmup": "100 ms", "duration": "500 ms", "replications": 2}
    return two_cells(f'received = "{name}"', reader=down, clerk=down, **run)


def test_an_uploaded_file_is_what_a_scenario_may_name(web: Web) -> None:
    sizes = given(web, b"size\n" + b"1000\n3000\n" * 50)
    source = {"example": "web-hotspot", "changes": {SIZE: SIZES}, "files": {"sizes.csv": sizes}}
    rows = b"from,to,dbm\nleft,reader,-50\nright,clerk,-50\nleft,right,-70\n"
    powers = {"text": powers_from("powers.csv"), "files": {"powers.csv": given(web, rows)}}
    for asked, told in (
        (source, "2 kB on average (100 measured values)"),
        (powers, "reception by signal power"),
    ):
        status, scenario = web.ask("api/scenario", {"source": asked})
        assert status == 200, scenario
        assert told in "; ".join(scenario["subject"])
        assert str(web.temporary) not in json.dumps(scenario)
        assert web.ask("api/predict", {"source": asked})[0] == 200

    wrong = source | {"changes": {SIZE: SIZES | {"column": "bytes"}}}
    assert '"sizes.csv"' in refused(web, "api/scenario", wrong)["message"]
    gone = source | {"files": {"sizes.csv": "0" * 64}}
    assert "upload it again" in refused(web, "api/scenario", gone)["message"]
    nobody = powers | {"files": {"powers.csv": given(web, rows + b"left,nobody,-50\n")}}
    said = refused(web, "api/scenario", nobody)["message"]
    assert '"powers.csv", line 5: there is no node "nobody"' in said


def test_an_uploaded_table_is_replayed_and_a_log_may_be_compressed(web: Web) -> None:
    content = b"time,size\n" + b"".join(b"%d.5,%d\n" % (at, 1000 + at) for at in range(60))
    changes = {APPLICATION: {"kind": "replay", "file": "my.csv"}} | QUICK
    files = {"my.csv": given(web, content)}
    source = {"example": "web-hotspot", "changes": changes, "files": files}

    run = web.run({"kind": "points", "source": source, "axis": "run.seed", "values": [1]})
    assert run["state"] == "done", run["messages"]
    # One transfer of little more than a kilobyte each second: 8 kb/s.
    (point,) = (one["point"] for one in run["messages"] if "point" in one)
    goodput = point["metrics"]["goodput_bps"]["mean"]
    assert goodput == pytest.approx(8000, rel=0.1)

    files = {"my.log.gz": given(web, Path(str(directory() / LOG)).read_bytes())}
    changes = {SIZE: {"distribution": "empirical", "file": "my.log.gz"}}
    source = {"example": "web-hotspot", "changes": changes, "files": files}
    _, mine = web.ask("api/predict", {"source": source})
    _, packaged = web.ask("api/predict", {"source": {"example": "web-hotspot"}})
    assert mine["values"] == packaged["values"]


def test_no_answer_has_what_a_log_says_of_people(web: Web) -> None:
    line = b'198.51.100.7 - wombat [29/Nov/2026:12:00:0%d +0000] "GET /zebra HTTP/1.1" 200 3000 '
    line += b'"http://quokka.example/" "02:c0:ff:ee:00:01"\n'
    changes = {SIZE: {"distribution": "empirical", "file": "my.log"}} | QUICK
    source = {"example": "web-hotspot", "changes": changes}

    for log in (b"".join(line % n for n in range(9)), b"wombat 198.51.100.7 quokka\n" * 9):
        source |= {"files": {"my.log": given(web, log)}}
        said = [web.ask(f"api/{one}", {"source": source}) for one in ("scenario", "predict")]
        run = web.run({"kind": "run", "source": source}) if said[0][0] == 200 else {}
        assert not re.search(r"wombat|quokka|zebra|198\.51|c0:ff", json.dumps([*said, run]))
    assert [status for status, _ in said] == [422, 422]


def test_uploads_are_bounded_and_stay_in_their_folder(web: Web) -> None:
    bomb = gzip.compress(bytes(200 * 2**20), 9)
    for raw, said in (
        (bytes(17 * 2**20), "too large"),
        (bomb, "too large unpacked"),
        (b"", "empty"),
        (bomb[:1000], "whole .gz"),
        (b"\x1f\x8bnonsense", "gzip"),
    ):
        assert said in message(web.ask("api/uploads", raw=raw, method="POST")[1])
    for path in ("api/uploads/../../x", "static/../app.py", "static/..%2fapp.py", "static/%2e%2e"):
        assert web.ask(path)[0] in (404, 405)
    there = {path.name for path in web.temporary.iterdir()}
    assert all(name.startswith("airtcp-web-") or name in ("stderr", "sizes.csv") for name in there)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("dropped", [False, True])
def test_a_body_that_takes_long_to_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, dropped: bool
) -> None:
    """Even if Python drops the exception of the first signal."""
    monkeypatch.setattr(sources, "_MOST_CPU_S", 0.05)
    groups = "".join(f'[[stations]]\nname = "g{one}"\ncount = 1\n' for one in range(2000))
    edit = bodies.Edit(op="copy", path="stations.g1", name="h")

    def spin() -> None:
        end = time.process_time() + 1.0
        while time.process_time() < end:
            pass

    class Finalized:
        def __del__(self) -> None:
            spin()  # the first signal comes here, and Python drops its exception

    @sources._within_bounds()
    def read() -> None:
        Finalized()
        spin()

    begin = time.process_time()
    with pytest.raises(ScenarioError, match=r"more than 0\.05 s to read"):
        read() if dropped else sources.rebuilt(bodies.Source(text=groups), edit, Path())

    # Both spins together take two seconds.
    assert time.process_time() - begin < 1.0


def test_other_sites_cannot_ask(web: Web) -> None:
    body = {"source": {"example": "web-hotspot"}}
    assert web.ask("api/predict", body, headers={"origin": "http://evil.example"})[0] == 403
    assert web.ask("api/predict", body, headers={"sec-fetch-site": "cross-site"})[0] == 403
    assert web.ask("api/start", headers={"host": "evil.example"})[0] == 403
    assert web.ask("api/predict", body, headers={"content-type": "text/plain"})[0] == 415
    assert web.ask("api/start", headers={"host": "localhost:1"})[0] == 200


@pytest.fixture
def small() -> Iterator[Web]:
    """A server with one run at a time, two waiting runs, and six seconds for each."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--runs", "1", "--queue", "2", "--run-time", "6 s", "--memory", "2048")
        server = started(*options, folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said


def test_runs_queue_are_refused_stop_and_end_in_time(small: Web) -> None:
    changes = LONG | {"run.replications": 5}
    asked = {"kind": "run", "source": {"example": "saturated-stations", "changes": changes}}
    _, first = small.ask("api/jobs", asked)
    small.until(first["id"], lambda state: state == "running")

    def another(seed: int) -> tuple[int, dict[str, Any]]:
        source = asked["source"] | {"changes": changes | {"run.seed": seed}}
        return small.ask("api/jobs", asked | {"source": source})

    waiting = [another(seed) for seed in (2, 3, 4)]

    assert [status for status, _ in waiting] == [202, 202, 503]
    assert "wait already" in message(waiting[2][1])
    _, second = waiting[1]
    assert small.ask(f"api/jobs/{second['id']}")[1]["place"] == 1
    small.ask(f"api/jobs/{second['id']}/stop", {})
    assert small.ended(second["id"], 1)["state"] == "stopped"

    # The first job ends at its time limit, and the next one begins.
    late = small.ended(first["id"], 30)
    assert late["state"] == "failed"
    assert "longer than the limit of 6 s" in late["messages"][-1]["problem"]["message"]
    small.until(waiting[0][1]["id"], lambda state: state != "waiting")


def test_a_token_is_wanted_for_everything() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = started("--host", "0.0.0.0", "--token", "open-sesame", folder=Path(folder))
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        try:
            for path in ("api/start", "static/main.js", "api/jobs/x"):
                status, told = server.ask(path)
                assert status == 401
                assert "token" in message(told)
            status, page = server.ask("")
            assert status == 401
            assert "wants a token" in page
            assert "not the token" in server.ask("?token=wrong")[1]
            wrong = {"authorization": "Bearer open-sesam", "cookie": "airtcp=open-sesame"}
            assert server.ask("api/start", headers=wrong)[0] == 401
            right = {"authorization": "Bearer open-sesame"}
            assert server.ask("api/start", headers=right)[0] == 200
            assert server.ask("static/main.js", headers=right)[0] == 200
        finally:
            ended(server)


CASES = [pytest.param(500, 1), pytest.param(4500, 2, marks=pytest.mark.verify)]


@pytest.mark.parametrize(("number", "seed"), CASES)
def test_mutated_bodies_never_break_the_server(web: Web, number: int, seed: int) -> None:
    chance = random.Random(seed)
    examples = ("web-hotspot", "home-wifi6", "saturated-stations")
    texts = [(directory() / f"{name}.toml").read_text() for name in examples]
    logs = [
        gzip.decompress((directory() / LOG).read_bytes())[:4000],
        b"time,size\n" + b"".join(b"%d.5,%d\n" % (at, 1000 + at) for at in range(60)),
    ]
    before = set(Path(tempfile.gettempdir()).iterdir())
    statuses: dict[int, int] = {}
    begin = time.monotonic()
    for at in range(number):
        if at % 5 == 0:
            statuses[0] = statuses.get(0, 0) + uploaded(web, chance, logs)
            continue
        path, content = mutated(chance, texts)
        status, told = web.ask(path, raw=content, method="POST")
        statuses[status] = statuses.get(status, 0) + 1
        text = told if isinstance(told, str) else json.dumps(told)
        assert status != 500, (path, content)
        assert "an internal error of airtcp" not in text, (path, content)
        assert "Traceback" not in text
        if status == 202:
            web.ask(f"api/jobs/{told['id']}/stop", {})
    assert statuses.get(422, 0) > number / 10
    assert statuses.get(200, 0) > number / 50, statuses
    # Some uploads are valid enough for a question.
    assert statuses[0] > number / 500, statuses
    new = set(Path(tempfile.gettempdir()).iterdir()) - before
    assert not [path for path in new if "airtcp" in path.name]
    assert not [
        path.name
        for path in web.temporary.iterdir()
        if not path.name.startswith(("airtcp-web-", "stderr", "sizes.csv"))
    ]
    print(statuses, f"{time.monotonic() - begin:.1f} s")


def uploaded(web: Web, chance: random.Random, logs: list[bytes]) -> bool:
    """Whether a question about a scenario with a damaged log or table succeeds."""
    log = bytearray(chance.choice(logs))
    for _ in range(chance.randrange(12)):
        at = chance.randrange(len(log))
        log[at : at + chance.randrange(30)] = chance.randbytes(chance.randrange(30))
    content = bytes(log)
    if chance.random() < 0.3:
        content = gzip.compress(content)
        if chance.random() < 0.5:
            at = chance.randrange(len(content))
            content = content[:at] + chance.randbytes(2) + content[at + chance.randrange(20) :]
    status, told = web.ask("api/uploads", raw=content, method="POST")
    if status != 201:
        assert status == 422
        assert message(told)
        return False
    name = chance.choice(["my.log", "my.csv", "../my.csv", "/etc/passwd", "my.log.gz"])
    size = {"distribution": "empirical", "file": name}
    replay = {"kind": "replay", "file": name, "begin": chance.choice(["0 s", "1 h", 7])}
    changes: dict[str, Any] = chance.choice(
        [{SIZE: size}, {SIZE: size | {"column": "size"}}, {APPLICATION: replay}]
    )
    source = {"example": "web-hotspot", "changes": changes, "files": {name: told["id"]}}
    status, told = web.ask(chance.choice(["api/predict", "api/scenario"]), {"source": source})
    assert status in (200, 422), told
    assert "Traceback" not in json.dumps(told)
    assert str(web.temporary) not in json.dumps(told)
    assert "an internal error of airtcp" not in json.dumps(told), (content, changes)
    return status == 200


def mutated(chance: random.Random, texts: list[str]) -> tuple[str, bytes]:
    """Return a damaged request body, and the path that it is for."""
    text = chance.choice(texts)
    for _ in range(chance.randrange(3)):
        text = damaged(chance, text)
    source: dict[str, Any] = chance.choice(
        [{"text": text}, {"text": text}, {"example": "saturated-stations"}]
    )
    paths = ["stations.sensor.count", "phy.data_rate", "flows", "stations", "run.seed", "a.b", ""]
    values: list[Any] = [0, -1, 1e400, None, True, "11 Mb/s", [], {}, [[{}]], 2**70, "\x00", "é"]
    if chance.random() < 0.5:
        source["changes"] = {chance.choice(paths): chance.choice(values)}
    if chance.random() < 0.1:
        source["stations"] = chance.choice(values)
    path, body = chance.choice(
        [
            ("api/scenario", {"source": source}),
            ("api/predict", {"source": source}),
            ("api/remedies", {"source": source}),
            ("api/curve", {"source": source, "axis": chance.choice(paths), "values": [1, None]}),
            (
                "api/jobs",
                {
                    "kind": chance.choice(KINDS),
                    "source": source,
                    "axis": chance.choice([*paths, None]),
                    "until": chance.choice(["p90 transfer_time > 2 s", "x", None]),
                },
            ),
            ("api/figure", {"item": "M.fig1", "values": {"w0": chance.choice([64, *values])}}),
            (
                "api/look",
                {
                    "store": "small",
                    "y": chance.choice(["goodput_bps", "seed", "laptop.goodput_bps"]),
                    "x": chance.choice([*paths, "stations.station.count"]),
                    "by": chance.choice([None, "phy.data_rate", "point"]),
                    "kind": chance.choice(["line", "heat"]),
                    "where": chance.choice([{}, {"phy.data_rate": chance.choice(values)}]),
                },
            ),
        ]
    )
    content = json.dumps(body)
    if chance.random() < 0.2:
        content = damaged(chance, content)
    return path, content.encode("utf-8", "replace")


def damaged(chance: random.Random, text: str) -> str:
    """Return the text with a part cut, doubled, swapped or inserted."""
    if not text:
        return text
    a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    b = min(b, a + 40)
    piece = chance.choice(["", text[a:b] * 2, "-", "nan", "1e999", '"', "{", "[", "\x00", "0" * 50])
    return text[:a] + piece + text[b:]
