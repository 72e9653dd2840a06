"""Request logs: the lines used and skipped, their statistics, and the scenario they become."""

import gzip
import json
import math
import random
from pathlib import Path

import airtcp
import numpy as np
import pytest
from airtcp.exceptions import QuestionError
from airtcp.scenario import loads
from airtcp.scenario.requests import Requests, read_requests
from airtcp.traffic.study import THOUGHT_S, VISIT_S, study, survivals
from bases import cell, refused
from commands import call as command
from imported import written
from typer.testing import Result

LOG = """\
10.0.0.1 - - [18/May/2015:10:00:00 +0000] "GET /a HTTP/1.1" 200 1000 "-" "Mozilla"
10.0.0.1 - - [18/May/2015:10:00:05 +0000] "GET /b HTTP/1.1" 200 3000 "-" "Mozilla"
10.0.0.1 - - [18/May/2015:10:00:05 +0000] "GET /c HTTP/1.1" 404 300
10.0.0.2 - - [18/May/2015:10:00:06 +0000] "GET /d HTTP/1.1" 200 -
10.0.0.2 - - [18/May/2015:12:00:06 +0200] "GET /e HTTP/1.1" 200 2000
nonsense
"""
JSON = """\
{"remote_addr": "a", "time": "2026-01-01T10:00:00Z", "status": 200, "body_bytes_sent": 500}
{"remote_addr": "a", "time": "2026-01-01T10:00:04Z", "status": 200, "body_bytes_sent": 700}
{"remote_addr": "a", "time": "2026-01-01T10:00:05Z", "status": 301, "body_bytes_sent": 1}
{"request": {"remote_ip": "b"}, "ts": 1767261605.5, "status": 200, "size": 900}
not json
"""
CSV = "time, size, client\n0, 100, x\n2.5, 300, x\n3, 0, y\n4, many, y\n"


def call(*arguments: object) -> Result:
    return command("traffic", *arguments)


def test_an_access_log_is_used_line_by_line_with_reasons(tmp_path: Path) -> None:
    """Three of six lines are used; a client's two requests are 5 s apart, across time zones."""
    found = read_requests(written(tmp_path, LOG))

    assert found.sizes == [1000.0, 3000.0, 2000.0]
    assert dict(found.skipped) == {
        "with a status other than 200": 1,
        "without a size": 1,
        "in no known format": 1,
    }
    assert found.times_s[1] - found.times_s[0] == 5.0
    assert found.times_s[2] - found.times_s[0] == 6.0
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(LOG.encode()))
    assert read_requests(packed).sizes == found.sizes


@pytest.mark.parametrize(
    ("text", "form", "sizes", "think"),
    [(JSON, "JSON lines", [500.0, 700.0, 900.0], 4.0), (CSV, "CSV", [100.0, 300.0], 2.5)],
)
def test_other_forms_are_read_too(
    tmp_path: Path, text: str, form: str, sizes: list[float], think: float
) -> None:
    found = read_requests(written(tmp_path, text))

    assert (found.form, found.sizes) == (form, sizes)
    assert study(found).think_mean_s == think


def test_a_study_is_arithmetic() -> None:
    """The mean of 100, 200, 300 and 400 bytes is 250 and the variance 12,500.

    A gap counts as think time if it is neither too short nor the end of a visit: here only the
    second one.
    """
    gaps = (0.0, THOUGHT_S - 0.01, THOUGHT_S, VISIT_S)
    times: list[float | None] = [sum(gaps[: n + 1]) for n in range(4)]
    found = study(Requests("made", [100, 300, 200, 400], times, ["x"] * 4))
    other = study(Requests("made", [100, 300, 200, 400], [7, None, 5, 6], ["x", "x", "y", ""]))

    told = [found.mean, found.scv, found.quantiles["p50"], found.think_mean_s]
    assert told == pytest.approx([250, 0.2, 250, THOUGHT_S])
    assert (found.clients, found.requests_per_client, found.think_times) == (1, 4, 1)
    assert (other.clients, other.requests_per_client, other.span_s) == (2, 2, 2)
    assert (other.think_times, other.think_mean_s) == (0, None)


def test_a_hyperexponential_fit_has_balanced_means() -> None:
    """Sizes 1 and 9 with weights 9 and 1: mean 1.8, second moment 9, so SCV = 9 / 3.24 - 1."""
    found = study(Requests("made", [1.0] * 9 + [9.0], [None] * 10, [""] * 10))

    scv = 9 / 3.24 - 1
    first = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    parts = [share * math.exp(-2 * share * 2.7 / 1.8) for share in (first, 1 - first)]
    above = survivals(found)["hyperexponential"](np.array([2.7]))
    assert found.scv == pytest.approx(scv)
    assert above[0] == pytest.approx(sum(parts))


def test_fits_find_the_law_that_was_drawn_from() -> None:
    """5,000 sizes of each law: the true law ranks first, within 2 %, at a distance below 1.63 /
    sqrt(n), which chance exceeds once in a hundred."""
    draw = random.Random(3)
    drawn = {
        "lognormal": [draw.lognormvariate(9.0, 1.2) for _ in range(5000)],
        "pareto": [1000.0 * draw.paretovariate(1.4) for _ in range(5000)],
        "exponential": [draw.expovariate(1e-4) for _ in range(5000)],
    }
    for law, sizes in drawn.items():
        found = study(Requests("made", sizes, [None] * 5000, [""] * 5000))
        assert found.fits[0].distance < 1.63 / math.sqrt(5000)
        best = [fit.law for fit in found.fits if fit.distance < 2 * found.fits[0].distance]
        assert law in best
        if law == "pareto":
            # Hill's index of 250 values has a standard deviation of 1.4 / sqrt(250) = 0.09.
            assert found.tail_index == pytest.approx(1.4, abs=0.3)
            assert found.fits[0].parameters["shape"] == pytest.approx(1.4, rel=0.05)
        if law == "lognormal":
            assert found.fits[0].parameters["mu"] == pytest.approx(9.0, rel=0.02)


@pytest.mark.parametrize(("text", "says"), [
    ("", "is empty"),
    ("nonsense\nmore of it\n", "has no usable line (2 in no known format)"),
    ('1.2.3.4 - - [x] "GET /" 404 12\n', "has no usable line (1 with a status other than 200"),
    ("size\nmany\n", "has no usable line (1 without a size)"),
])  # fmt: skip
def test_a_log_of_no_use_ends_with_status_2(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)

    with pytest.raises(QuestionError) as error:
        read_requests(path)
    assert says in str(error.value)
    result = call("show", path)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_an_access_log_is_imported_as_it_is(tmp_path: Path) -> None:
    log, other = tmp_path / "a.log", tmp_path / "b.log"
    log.write_text(LOG)
    # Other formats need `airtcp traffic`: `import` could not tell them from its own JSON files.
    other.write_text(JSON)

    assert command("import", log).stdout == call("scenario", log).stdout != ""
    assert command("import", other).exit_code == 2


def test_what_is_shown_and_drawn(tmp_path: Path) -> None:
    log = written(tmp_path, LOG)

    shown = call("show", log, "--out", tmp_path / "sizes.png")
    told = json.loads(call("show", log, "--json").stdout)

    assert shown.exit_code == 0
    assert "3 of 6 lines" in shown.stdout
    assert told["quantiles"]["p50"] == 2000.0
    assert told["clients"] == 2
    assert (tmp_path / "sizes.png").read_bytes().startswith(b"\x89PNG")
    assert call("show", log, "--out", tmp_path / "sizes.png").exit_code == 2


@pytest.mark.parametrize("text", [LOG, CSV.replace("0, 100", "0,100").replace(", ", ",")])
def test_the_scenario_has_the_traffic_of_the_log(tmp_path: Path, text: str) -> None:
    text = text.replace("3,0,y\n4,many,y\n", "")
    log = written(tmp_path, text)

    assert call("scenario", log, "--out", tmp_path / "s.toml").exit_code == 0

    scenario = airtcp.load(tmp_path / "s.toml")
    application = scenario.flows[0].application
    assert application.size.mean() == pytest.approx(study(read_requests(log)).mean)
    assert application.think_time.mean() == study(read_requests(log)).think_mean_s


@pytest.mark.parametrize("time", ["1e999", "-1e999", "NaN", "1e300"])
def test_a_time_beyond_the_calendar_is_none(time: str, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(f'{{"size": 100, "time": {time}}}\n{{"size": 100, "time": 5}}\n')

    shown = call("show", file)

    assert shown.exit_code == 0, shown.output
    assert read_requests(file).times_s == [None, 5.0]


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59+00:00", "1e11"])
def test_a_replay_lasts_no_longer_than_a_run_can(time: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"time,size\n0,100\n{time},100\n")
    replay = f'{{ kind = "replay", file = {json.dumps(str(file))} }}'

    with refused("scenario.traffic.long_log", at="flows[0] (laptop).application.file"):
        loads(cell(application=replay))
