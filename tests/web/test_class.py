"""Many browsers on one server: equal runs are simulated once, and browsers take turns."""

import time
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from airtcp.web import work
from airtcp.web.bodies import Job
from airtcp.web.jobs import FullError, Jobs
from airtcp.web.limits import Limits
from bases import cell
from serving import LONG, QUICK, Web

TEXT = cell(3, title="Class", warmup="1 s", duration="3 s", replications=3)


def asked(seed: int, changes: dict[str, Any] = QUICK) -> dict[str, Any]:
    source = {"example": "saturated-stations", "changes": changes | {"run.seed": seed}}
    return {"kind": "run", "source": source}


@cache
def cookie(web_url: str, browser: str) -> str:
    """Return the server's cookie for a browser; the same name gets the same cookie."""
    with urllib.request.urlopen(web_url) as page:
        return str(page.headers["set-cookie"]).partition(";")[0]


def post(web: Web, body: dict[str, Any], browser: str) -> Any:
    status, told = web.ask("api/jobs", body, headers={"cookie": cookie(web.url, browser)})
    assert status == 202, told
    return told["id"]


def jobs(**limits: Any) -> Jobs:
    """Return a queue of jobs without workers."""
    return Jobs(Path(), Limits(**limits), clock=lambda: 0.0)


def test_equal_runs_are_made_once_and_each_may_leave() -> None:
    several = jobs()
    one, other = (several.add({}, key="k", browser=name) for name in "AB")
    assert one.job is other.job
    assert one.id != other.id
    several.stop(one)
    assert (one.state, other.state) == ("stopped", "waiting")
    assert not one.job.stop.is_set()
    several.stop(other)
    assert (one.state, other.state) == ("stopped", "stopped")
    # A new request of this browser starts a run of its own.
    assert several.add({}, key="k", browser="A").job is not one.job


@pytest.mark.parametrize("state", ["done", "failed"])
def test_a_run_that_is_done_answers_who_asks_later_and_a_failed_one_does_not(state: Any) -> None:
    several = jobs()
    first = several.add({}, key="k", browser="A")
    several._end(first.job, state)
    assert (several.add({}, key="k", browser="B").job is first.job) == (state == "done")


def test_one_browser_may_not_fill_the_queue() -> None:
    several = jobs(own=2, queue=4)
    for number in range(2):
        several.add({}, key=str(number), browser="A")
    with pytest.raises(FullError, match="2 runs of this browser wait already"):
        several.add({}, key="2", browser="A")
    # Joining a run that another browser has requested adds no work.
    shared = several.add({}, key="shared", browser="B")
    assert several.add({}, key="shared", browser="A").job is shared.job
    several.add({}, key="4", browser="B")
    with pytest.raises(FullError, match="2 runs of this browser wait already"):
        several.add({}, key="5", browser="B")


def test_browsers_of_one_address_take_the_place_of_no_other_address() -> None:
    several = jobs(queue=6, own=2)
    many = [
        several.add({}, key=str(number), address="one", browser=str(number // 2))
        for number in range(6)
    ]

    few = [several.add({}, key=f"few {number}", address="other") for number in range(2)]

    # The newest runs of two browsers were dropped.
    left = [one for one in many if one.state == "waiting"]
    assert [many.index(one) for one in left] == [0, 1, 2, 4]
    assert [one.state for one in few] == ["waiting"] * 2
    # Addresses take turns, and so do the browsers of one address.
    assert [several.place(one) for one in (*left, *few)] == [0, 5, 2, 4, 1, 3]


def test_a_browser_without_runs_takes_the_place_of_one_with_several() -> None:
    several = jobs(queue=4, own=3)
    many = [several.add({}, key=str(number), browser="A") for number in range(3)]
    several.add({}, key="B", browser="B")

    assert several.add({}, key="C", browser="C").state == "waiting"
    assert [one.state for one in many] == ["waiting", "waiting", "failed"]
    # Now every browser has equally few.
    several.add({}, key="D", browser="D")
    with pytest.raises(FullError, match="4 runs wait already"):
        several.add({}, key="E", browser="E")


def test_a_run_that_a_page_starts_by_itself_gives_way() -> None:
    several = jobs(queue=3, workers=1)
    own = several.add({}, browser="A", auto=True)
    asked = several.add({}, browser="B")
    shared = several.add({}, key="k", browser="C", auto=True)
    assert several._waiting() == [one.job.id for one in (asked, own, shared)]
    # A browser requests a run that a page has started: it becomes a requested run.
    later = several.add({}, key="k", browser="D")
    assert several._waiting() == [one.job.id for one in (asked, shared, own)]
    several.stop(later)
    assert several._waiting()[-1] == shared.job.id
    # In a full queue it displaces no other run, and is the first to be dropped.
    with pytest.raises(FullError):
        several.add({}, browser="E", auto=True)
    several.add({}, browser="B")
    assert (asked.state, own.state, shared.state) == ("waiting", "waiting", "failed")


def test_names_that_a_client_invents_are_one_browser(web: Web) -> None:
    blockers = [post(web, asked(60 + number, LONG), f"blocker {number}") for number in range(2)]
    asks = []
    try:
        for number in range(11):
            invented = {"x-airtcp-browser": str(number), "cookie": f"airtcp-browser={number}.0"}
            asks.append(web.ask("api/jobs", asked(70 + number), headers=invented))
        assert [status for status, _ in asks] == [202] * 10 + [503]
        assert web.ask("api/jobs", asked(90), headers={"cookie": cookie(web.url, "A")})[0] == 202
    finally:
        for one in [*blockers, *(told["id"] for status, told in asks if status == 202)]:
            web.ask(f"api/jobs/{one}/stop", {})


def test_what_waits_is_bounded_in_bytes() -> None:
    several = jobs(held_bytes=1000)
    several.add({"text": "x" * 600}, browser="A")
    with pytest.raises(FullError, match="too large together"):
        several.add({"text": "x" * 600}, browser="B")


def test_a_run_is_left_for_who_does_not_ask_and_goes_on_for_who_does() -> None:
    now = 0.0
    several = Jobs(Path(), Limits(forgotten_s=60.0), clock=lambda: now)
    one, other = (several.add({}, key="k", browser=name) for name in "AB")
    now = 50.0
    assert several.get(other.id) is other
    now = 70.0
    several.forget()
    assert (one.left, other.left) == (True, False)
    assert not other.job.ended
    now = 200.0
    several.forget()
    assert other.job.state == "stopped"


def test_questions_and_runs_are_forgotten_together() -> None:
    now = 0.0
    several = Jobs(Path(), Limits(kept_s=900.0), clock=lambda: now)
    questions = [several.add({}, key=str(number % 5), browser=str(number)) for number in range(30)]
    for one in questions:
        several._end(one.job, "done")
    now = 1000.0
    several.forget()
    assert [several.get(one.id) for one in questions] == [None] * 30
    assert [several._jobs, several._questions, several._alike] == [{}] * 3
    for turns in several._turns.values():
        assert [turns.addresses.rounds, turns.browsers] == [{}] * 2


def key(source: dict[str, Any], **more: Any) -> Any:
    body = {"kind": "run", "source": source} | more
    return work.question("alike", Job.model_validate(body).model_dump(), Path(), {})["key"]


def test_runs_that_tell_something_else_are_not_alike() -> None:
    base = key({"text": TEXT})
    assert key({"text": f"# noted\n{TEXT}"}) == base
    assert key({"text": TEXT, "changes": {"stations.laptop.count": 3}}) == base
    targeted = TEXT + '\n[targets]\ngoodput = "> 1 Mb/s"\n'
    others = [
        key({"text": TEXT, "changes": {"run.seed": 2}}),
        key({"text": TEXT.replace("Class", "Another")}),
        key({"text": targeted}),
        key({"text": TEXT}, kind="timeline"),
        key({"text": TEXT}, kind="timeline", begin_ms=2000),
        key({"text": TEXT}, kind="remedies", names=["x"]),
    ]
    assert len({base, *others}) == 7


def test_predictions_are_answered_while_runs_take_all_processors(web: Web) -> None:
    runs = [post(web, asked(30 + number, LONG), str(number)) for number in range(4)]
    try:
        for one in runs[:2]:
            web.until(one, lambda state: state == "running")
        slowest = 0.0
        for count in range(1, 9):
            changes = {"stations.sensor.count": count, "run.seed": 4711}
            begin = time.perf_counter()
            source = {"example": "saturated-stations", "changes": changes}
            assert web.ask("api/predict", {"source": source})[0] == 200
            slowest = max(slowest, time.perf_counter() - begin)
        # A starting worker, or another test, may need a processor too.
        assert slowest < 2.0
    finally:
        for one in runs:
            web.ask(f"api/jobs/{one}/stop", {})
