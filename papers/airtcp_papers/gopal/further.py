"""Reproduce paper G, section V: what the authors leave to future work.

ACK skipping adapted to the MAC's experience (`ack_skip.adaptive`), TCP reacting to frames that the
MAC gives up (`mac_feedback`), and polling (`mac.pcf`), each on the network of the paper's own
figures. The paper has only expectations for them, no numbers.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from airtcp_papers.common.bench import Bench, Changes
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import Answer, least, mean, most
from airtcp_papers.gopal.observed import TO_TELL_FROM_NOTHING, Uploads, gain, observe

#: The adaptive variant is compared with the best of these.
_FIXED = (0, 1, 2, 3, 4)
_TCP = "flows.node.tcp"
_ADAPTIVE: Changes = {f"{_TCP}.ack_skip": {"adaptive": {}, "after_segment": 50}}
#: Replications per case, enough to distinguish a gain of 2 % from zero.
_OFTEN: Changes = {"run.replications": 160}
#: With MAC retries some uploads with fixed numbers stall: one flow needs this many runs.
_ONE: Changes = {"run.replications": TO_TELL_FROM_NOTHING}
#: Three flows gain least over the best fixed number; either of the two below may be best.
_THREE: Changes = {"run.replications": 800}
_BEST_OF_THREE: Final = (0, 4)
#: The rate for frames as long as a full segment; others in proportion to their length.
_NOISE: Changes = {"stations.node.frame_errors": {"rate": "5 %", "of": "1076 B"}}
#: Contention-free periods as long as beacons at the default interval allow, rounded: 10.4.4 of IEEE
#: 802.11-2016 leaves the rest to one exchange.
_POLLING: Changes = {"mac.pcf": {"interval": "102.4 ms", "max_duration": "100 ms"}}


def _told(how: str) -> Changes:
    return {f"{_TCP}.mac_feedback": {"give_up": how}}


def _case(flows: int, *, retries: bool) -> str:
    who = "one upload" if flows == 1 else f"{flows} uploads"
    return f"{who}, {'MAC retries' if retries else 'no MAC retries'}"


@item("G.adaptive")
def adaptive(bench: Bench) -> Found:
    rows: list[list[Cell]] = []
    over_one, over_best, ends = [], [], []
    for retries, flows in product((False, True), (1, 3)):

        def run(
            skip: int, changes: Changes, flows: int = flows, retries: bool = retries
        ) -> Uploads:
            near = bool(changes) or skip in _BEST_OF_THREE
            if flows == 1:
                often = _ONE if retries else _OFTEN
            else:
                often = _THREE if retries and near else {}
            varied = {**often, **changes}
            return observe(bench, skip, flows=flows, retries=retries, varied=varied)

        fixed = [run(skip, {}) for skip in _FIXED]
        chosen = run(0, _ADAPTIVE)
        best = max(fixed, key=lambda one: mean(one.goodputs()))
        over_one.append(gain(chosen, fixed[1]))
        over_best.append(gain(chosen, best))
        ends.append(chosen.finished())
        goodputs = [mean(one.goodputs()) for one in (*fixed, chosen)]
        rows.append([_case(flows, retries=retries), *goodputs, mean(chosen.finished())])
    head = ["", *(f"skip {skip} (Mb/s)" for skip in _FIXED), "adaptive (Mb/s)", "share that ends"]
    return Found(
        data=Data(head, rows),
        values={
            "over_one": least(over_one),
            "over_best": least(over_best),
            "finished": least(ends),
        },
        told={"each": dict(zip(_names(rows), over_best, strict=True))},
    )


@item("G.feedback")
def feedback(bench: Bench) -> Found:
    rows: list[list[Cell]] = []

    def run(name: str, changes: Changes, *, retries: bool = False) -> Uploads:
        uploads = observe(bench, 0, retries=retries, varied={**_OFTEN, **changes})
        rows.append([name, mean(uploads.goodputs()), mean(uploads.timeouts())])
        return uploads

    plain = run("not told", {})
    told = run("told", _told("retransmit"))
    noisy = run("noise, not told", _NOISE)
    noisy_told = run("noise, told", {**_NOISE, **_told("retransmit")})
    frozen = run("noise, told, window kept", {**_NOISE, **_told("freeze")})
    values: dict[str, Value] = {
        "gain": gain(told, plain),
        "timeouts": gain(told, plain, _timeouts),
        "gain_noise": gain(noisy_told, noisy),
        "freeze": gain(frozen, noisy_told),
    }
    return Found(data=Data(["", "goodput (Mb/s)", "timeouts"], rows), values=values)


def _timeouts(answer: Answer) -> float:
    return float(answer["metrics"]["tcp_timeouts"])


@item("G.polling")
def polling(bench: Bench) -> Found:
    rows: list[list[Cell]] = []
    gains, failures, together = [], [], []
    for retries, flows in product((False, True), (1, 3)):
        contending, polled = (
            observe(bench, 0, flows=flows, retries=retries, varied=varied)
            for varied in ({}, _POLLING)
        )
        gains.append(gain(polled, contending))
        failures.append(gain(polled, contending, "collisions"))
        together.append(gain(polled, contending, "simultaneous_sends"))
        rows.append(
            [
                _case(flows, retries=retries),
                *(mean(one.goodputs()) for one in (contending, polled)),
                mean(failures[-1]),
                mean(together[-1]),
                *(mean(one.timeouts()) for one in (contending, polled)),
            ]
        )
    head = [
        "",
        "contending (Mb/s)",
        "polled (Mb/s)",
        "change of collisions",
        "of simultaneous sends",
        "timeouts, contending",
        "polled",
    ]
    return Found(
        data=Data(head, rows),
        values={
            "gain": least(gains),
            "failures": most(failures),
            "together": most(together),
        },
        told={"each": dict(zip(_names(rows), gains, strict=True))},
    )


def _names(rows: list[list[Cell]]) -> list[str]:
    return [str(row[0]) for row in rows]
