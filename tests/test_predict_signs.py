"""Each sentence about a broken assumption that gives a sign or a size is held by a simulation.

`HELD` has a scenario for each: what of the model's value is said to be too high or too low is
compared with the simulation, in per cent of it. Where the effect is smaller than others that the
scenario has, `base` is the scenario without it, and the difference of both is compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import airtcp
import pytest
from airtcp import predict, simulate
from airtcp.scenario import loads

BULK = '{ kind = "bulk" }'
UDP = '{ kind = "udp", packet = "1500 B", rate = "saturated" }'
N = "mcs = 7\n"
AP_QUEUE = '[ap]\nqueue = {{ discipline = "{}", limit = {} }}\n'


def cell(
    count: int,
    standard: str = "802.11b",
    *,
    direction: str = "download",
    application: str = BULK,
    phy: str = "",
    top: str = "",
    group: str = "",
    tcp: str = "",
    path: str = "",
    also: str = "",
    run: tuple[int, int, int] = (5, 20, 3),
) -> str:
    text = f'[phy]\nstandard = "{standard}"\n{phy}{top}'
    text += f'[[stations]]\nname = "sta"\ncount = {count}\n{group}'
    text += f'[[flows]]\nstations = "sta"\ndirection = "{direction}"\napplication = {application}\n'
    text += f"tcp = {{ {tcp} }}\n" if tcp else ""
    text += f"path = [{path}]\n" if path else ""
    warmup, duration, replications = run
    text += also + f'[run]\nwarmup = "{warmup} s"\nduration = "{duration} s"\nseed = 1\n'
    return text + f"replications = {replications}\n"


def window(segments: int, every: int = 2) -> str:
    return f"receive_window = {{ segments = {segments} }}, delayed_ack = {{ every = {every} }}"


def web(law: str = '"exponential", mean = "100 kB"') -> str:
    return (
        f'{{ kind = "web", size = {{ distribution = {law} }}, '
        'think_time = { distribution = "exponential", mean = "5 s" } }'
    )


def one_slow(direction: str, scheduler: str) -> str:
    flow = f'direction = "{direction}"\napplication = {BULK}\n'
    more = '[[stations]]\nname = "slow"\ncount = 1\nmcs = 0\n[[flows]]\nstations = "slow"\n' + flow
    top = f'[ap]\nscheduler = "{scheduler}"\n'
    return cell(3, "802.11n", phy=N, top=top, direction=direction, also=more)


@dataclass(frozen=True)
class Held:
    """A scenario whose `source` breaks an assumption in `words`; its error is `low` to `high` %."""

    scenario: str
    words: str
    low: float
    high: float
    source: str = ""
    metric: str = "goodput_bps"
    base: str | None = None


MORE = f'[[flows]]\nname = "more"\nstations = "sta"\ndirection = "download"\napplication = {BULK}\n'
UPLOADS = cell(5, direction="upload")
LONG = (20, 2000, 3)
SATURATED = {"direction": "upload", "application": UDP}
DIFS = '[mac]\nrules = { preset = "standard", after_collision = "difs" }\n'


def priority(count: int, rules: str = "") -> str:
    """Uploads beside an access point whose TCP ACKs go first."""
    top = (
        '[mac.edca.ap.AC_VO]\naifs = "50 us"\ncw_min = 0\ncw_max = 0\n'
        'txop_limit = "0 us"\n[mac.edca.stations.AC_BE]\naifs = "90 us"\ncw_min = 31\n'
        'cw_max = 1023\ntxop_limit = "0 us"\n[mac.classify]\ntcp_ack = "AC_VO"\n'
    )
    return cell(count, direction="upload", top=rules + top, tcp=window(44, 1), run=(5, 60, 4))


PRIORITY = priority(5)


def one(top: str = "", tcp: str = "") -> str:
    """The only transfer of a scenario, of 1 MB."""
    size = '{ kind = "bulk", size = { distribution = "deterministic", value = "1 MB" } }'
    return cell(1, application=size, top=top, tcp=tcp or window(6), run=(0, 30, 40))


HELD = {
    "frame errors": Held(cell(5, group='frame_errors = "10 %"\n'), "are lost otherwise", 3, 20),
    "CWmax": Held(cell(2, "802.11n", phy=N), "here CWmax is", -3, 3),
    "window below d": Held(cell(3, tcp=window(1)), "delayed-ACK timer", 100, 1e5),
    "windows of downloads": Held(cell(3), "the effect is small", -3, 3, "M (12), corrected"),
    "small window": Held(
        cell(1, tcp=window(6)),
        "the collision probability is too high",
        5,
        100,
        "M (6) over (8)",
        "collision_probability",
    ),
    "small window, goodput": Held(cell(1, tcp=window(6)), "goodput off by little", -4, 4),
    "queue of ACKs": Held(
        cell(5, direction="upload", top=AP_QUEUE.format("fifo", 5)),
        "TCP ACKs are dropped",
        -8,
        -2,
        base=UPLOADS,
    ),
    "queue of ACKs, 802.11g": Held(
        cell(5, "802.11g", direction="upload", top=AP_QUEUE.format("fifo", 5)),
        "TCP ACKs are dropped",
        -8,
        -2,
        base=cell(5, "802.11g", direction="upload"),
    ),
    "queue": Held(
        cell(10, top=AP_QUEUE.format("fifo", 5)), "packets are dropped, TCP retransmits", 1, 10
    ),
    "RED": Held(cell(10, top=AP_QUEUE.format("red", 100)), "random early detection", 0, 10),
    "CoDel": Held(
        cell(10, top=AP_QUEUE.format("codel", 1000), run=(10, 60, 3)), "here CoDel drops", 0, 10
    ),
    "retry limit": Held(
        cell(5, top="[mac]\nshort_retry_limit = 2\n"), "are given up", -2, 2, base=cell(5)
    ),
    "delay": Held(
        cell(1, tcp=window(8), path='{ delay = "8 ms" }'), "a wired path takes up to", 3, 30
    ),
    "uploads": Held(UPLOADS, "the total goodput is off by -3 to 5 %", -3, 5),
    "uploads, 802.11g": Held(
        cell(5, "802.11g", direction="upload"), "too high by 2 to 11 %", 2, 11
    ),
    "several connections": Held(cell(3, also=MORE), "stations have several", -3, 3),
    "backoff": Held(cell(3, tcp=window(1, 1)), "a backoff before every", -6, 0),
    "limit": Held(cell(3), "this is a limit, the goodput is too high", 5, 30, "B, section 2, with"),
    "no ACKs": Held(cell(3), "TCP ACKs are neglected", 20, 80, "B, section 2"),
    "half a backoff": Held(cell(3), "half of what CWmin makes", 3, 20, "Heusse et al. (2003), TCP"),
    "losses on wires": Held(
        cell(1, path='{ delay = "20 ms", loss = "1 %" }', run=(20, 200, 3)),
        "here a wired link loses",
        10,
        1000,
        "M (8), corrected",
    ),
    "losses on wires, aggregates": Held(
        cell(1, "802.11n", phy=N, path='{ delay = "5 ms", loss = "0.1 %" }'),
        "here a wired link loses",
        10,
        200,
    ),
    "regular losses": Held(
        cell(
            1,
            "802.11g",
            path='{ delay = "100 ms", loss = { every = 400 } }',
            tcp="receive_window = { segments = 500 }",
            run=(20, 200, 3),
        ),
        "by 15 % at windows of 20 segments",
        5,
        16,
        "Mathis",
    ),
    "losses at random": Held(
        cell(
            1,
            "802.11g",
            path='{ delay = "100 ms", loss = "0.25 %" }',
            tcp="receive_window = { segments = 500 }",
            run=(20, 200, 3),
        ),
        "off by up to 15 %",
        -15,
        15,
        "Mathis",
    ),
    "head start": Held(
        cell(20, "802.11g", **SATURATED),  # type: ignore[arg-type]
        "collisions are too frequent, goodput too low",
        -26,
        -7,
        "Bianchi, Tinnirello",
    ),
    "a slot of few": Held(
        cell(6, phy="cw_min = 3\n", **SATURATED),  # type: ignore[arg-type]
        "by 6 % where it is 3",
        -12,
        -3,
        "Bianchi, Tinnirello",
    ),
    "printed waits": Held(
        cell(20, **SATURATED),
        "all wait DIFS after",
        1,
        10,
        "Bianchi (2000) (13)",  # type: ignore[arg-type]
    ),
    "any two": Held(
        cell(20, **SATURATED),  # type: ignore[arg-type]
        "two equal backoffs are a collision",
        50,
        300,
        "G (1)",
        "collision_probability",
    ),
    "charged to all": Held(
        cell(20, **SATURATED),  # type: ignore[arg-type]
        "charged to every sender",
        -30,
        -5,
        "Heusse et al. (2003), whole",
    ),
    "CW that stays": Held(
        cell(50, **SATURATED),  # type: ignore[arg-type]
        "the collision probability is too high with many",
        10,
        100,
        "Heusse et al. (2003), whole",
        "collision_probability",
    ),
    "no access of ACKs": Held(
        cell(1, "802.11n", phy=N), "this is a bound", 3, 40, "TCP over A-MPDUs, no ACK access"
    ),
    "rests of backoffs": Held(
        cell(1, "802.11ac", phy='channel_width = "80 MHz"\nmcs = 9\n', tcp=window(44)),
        "by 1 or 2 % with one station",
        -2.5,
        0,
    ),
    "queue, aggregates": Held(
        cell(5, "802.11n", phy=N, top=AP_QUEUE.format("fifo", 50), run=(10, 60, 3)),
        "packets are dropped, TCP slows down",
        1,
        40,
    ),
    "queue of ACKs, aggregates": Held(
        cell(5, "802.11n", phy=N, direction="upload", top=AP_QUEUE.format("fifo", 5)),
        "or too few come: goodput is off by up to 20 %",
        -20,
        20,
    ),
    "several connections, aggregates": Held(
        cell(3, "802.11n", phy=N, also=MORE), "their windows are taken for one", -3, 3
    ),
    "wire and air alike": Held(
        cell(1, "802.11n", phy=N, tcp=window(112), path='{ delay = "7 ms" }'),
        "too high, by up to 25 %",
        5,
        25,
    ),
    "wires and air alike": Held(
        cell(5, "802.11n", phy=N, tcp=window(16), path='{ delay = "5 ms" }', direction="upload"),
        "goodput is off by up to 10 %",
        -10,
        10,
    ),
    "rates, uploads": Held(one_slow("upload", "oldest"), "too high, by up to 30 %", 5, 30),
    "rates, oldest": Held(one_slow("download", "oldest"), "too low, by up to 20 %", -20, -5),
    "rates, in turn": Held(one_slow("download", "round-robin"), "the effect is small where", -3, 3),
    "99th percentile": Held(
        cell(20, application=web(), run=LONG),
        "the 99th percentile is too high",
        20,
        300,
        "H (26)",
        "transfer_time_p99_s",
    ),
    "equal sizes": Held(
        cell(20, application=web('"deterministic", value = "100 kB"'), run=LONG),
        "which is better for all; the model is too pessimistic",
        5,
        50,
        "H (19), few",
        "transfer_time_s",
    ),
    "ACK for each": Held(
        cell(20, application=web(), tcp=window(1, 1), run=LONG),
        "each waits for its ACK; times are too low",
        -40,
        -3,
        "H (19), few",
        "transfer_time_s",
    ),
    "set by few": Held(
        cell(1, "802.11n", phy=N, path='{ rate = "30 Mb/s" }'),
        "the value is too high",
        100,
        1e4,
        metric="mpdus_per_ppdu_ap",
    ),
    "next transmission": Held(
        cell(10, **SATURATED),  # type: ignore[arg-type]
        "too low with up to 20 nodes",
        -70,
        -10,
        "G (1), next",
        "collision_probability",
    ),
    "EIFS": Held(
        cell(10, run=(5, 100, 4)),
        "collisions cost a frame and SIFS; here",
        -0.3,
        5,
        base=cell(10, top=DIFS, run=(5, 100, 4)),
    ),
    "EIFS, Heusse": Held(
        cell(5, **SATURATED),  # type: ignore[arg-type]
        "a collision costs as much as an exchange",
        0,
        15,
        "Heusse et al. (2003), whole",
        base=cell(5, top=DIFS, **SATURATED),  # type: ignore[arg-type]
    ),
    "queue of a station, aggregates": Held(
        cell(
            3,
            "802.11n",
            phy=N,
            direction="upload",
            group='queue = { discipline = "fifo", limit = 20 }\n',
        ),
        "packets are dropped there",
        1,
        60,
    ),
    "no block ACK": Held(
        cell(2, "802.11n", phy=N, group='frame_errors = "85 %"\n', **SATURATED),  # type: ignore[arg-type]
        "which have no Block ACK then",
        0,
        100,
    ),
    "AIFS left out": Held(PRIORITY, "the stations' AIFS is left out", 0.5, 30, "L, simplified"),
    "a slot of L": Held(PRIORITY, "in every slot with one probability", -20, -0.5, "L (9), L4"),
    "EIFS, uploads": Held(
        PRIORITY, "go on after AIFS; here after", 0, 5, "L (9)", base=priority(5, DIFS)
    ),
    "timeouts": Held(priority(20), "the paper's own simulations have timeouts", 0, 20, "L (9)"),
    "RTS": Held(
        one('[mac]\nrts_threshold = "0 B"\n'),
        "exchanges take longer; times are too low",
        -60,
        -5,
        "H (19)",
        "transfer_time_s",
    ),
    "ACKs of one": Held(
        one(tcp=window(6, 1)),
        "there are more of them; times are too low",
        -40,
        -3,
        "H (19)",
        "transfer_time_s",
    ),
}


def off(text: str, held: Held) -> tuple[float, list[str]]:
    """The model less the simulation in per cent, and what is broken."""
    scenario = loads(text)
    entries = predict(scenario).model[held.metric]
    entries = [one for one in entries if one.source.startswith(held.source)]
    said = [one for one in entries if any(held.words in text for text in one.broken)]
    entry = (said or entries)[0]
    measured = simulate(scenario).metrics[held.metric].mean
    assert isinstance(entry.value, float)
    assert measured
    return 100.0 * (entry.value / measured - 1.0), entry.broken


#: Transfers that think take long to be many.
SLOW = {name for name, held in HELD.items() if f'"{LONG[1]} s"' in held.scenario}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.verify] * (name in SLOW)) for name in HELD]
)
def test_the_simulation_has_the_sign_and_the_size(name: str) -> None:
    held = HELD[name]

    error, broken = off(held.scenario, held)

    assert any(held.words in text for text in broken), broken
    if held.base is not None:
        error -= off(held.base, held)[0]
    assert held.low <= error <= held.high


WORDING = {
    "OPTIMISTIC": "the model is too optimistic: goodput too high, times too low",
    "PESSIMISTIC": "the model is too pessimistic: goodput too low, times too high",
}
SIGN = re.compile(
    r"too (high|low|optimistic|pessimistic|frequent)|by up to|\d %|the effect is small|by little"
)
#: Parts of sentences that no simulation holds yet. None is added: a row in HELD takes one out.
PENDING: tuple[str, ...] = (
    "the time; the model is too optimistic: goodput too high, times too low",
    "and 802.11b stations have another CWmin: the model is too optimistic",
    "frames have the rate of `mcs`, and none is lost; here",
    "it follows without contention; goodput is too low where PPDUs are short",
    "one frame for each access; here a TXOP may last",
    "in a Block ACK window; goodput is too low, far too low without A-MPDUs",
    "an access more for each collision; goodput is too high by 1 or 2 %",
    "overlap; the model is too pessimistic: goodput too low, times too high",
    "than that is left over at the end the last ACK waits for the timer of",
    "segments that an ACK waits for: each transfer starts with the timer of",
    "of sizes; the model is too optimistic: goodput too high, times too low",
    "to share; the model is too pessimistic: goodput too low, times too high",
    "then on; the model is too optimistic: goodput too high, times too low",
    "where fewer of them go on the air, and goodput is a little too low",
    "ACKs wait, fewer of them go on the air, and goodput is a little too low",
    "short there are more ACKs than that, and goodput is a little too high",
    "for moves on by retransmission timeouts alone (goodput far too high);",
    "the shared link is the bottleneck; here some flow also passes one of",
    "the link's queue never runs empty; here it holds",
    "fit follow without contention; goodput is too low, collisions too high",
    "0.1 % of a transfer's time, measured with a lone one",
    "0.2 % of a transfer's time, measured with a lone one",
    "is the third of the handshake; times are too high, by a packet's time",
    "of three packets; here of two; times are too high, by a packet's time",
    "those who hear a collision wait",
    "frame that caused it may go at once; times are too high, by about 1 %",
    "goodput (is )?(a little )?too low",
    "a frame is never given up; here about",
    "after those who heard it; goodput is off by little",
    "where 0.78 collide, by 6 % where 0.86 or 0.93 do, by 33 % where 0.97 do",
    "a loss; the model is too optimistic: goodput too high, times too low",
    "ACKs wait and are lost; goodput too high, and it is shared less equally",
    "(goodput too high) and collisions less (too low); the effect is unknown",
    "attempts, which TCP takes for congestion; goodput is too high",
    "and AIFS; here as long as those who heard it; goodput is off by little",
    "the stations' queues hold what path and TCP's pauses need; here",
    "segments are on their way at the model's rate, and the window is",
)


def sentences() -> Iterator[str]:
    """All texts of `predict` with a sign or a size, what is put into them left out."""
    for path in sorted((Path(airtcp.__file__).parent / "predict").glob("*.py")):
        if path.name == "wording.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        inner |= {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        for node in ast.walk(tree):
            # Shorter ones are put into others.
            if id(node) not in inner and SIGN.search(text := static(node)) and len(text) > 10:
                yield text


def static(node: ast.AST) -> str:
    """The text of a string, with the words that sentences share."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = (
        value.value if isinstance(value, ast.FormattedValue) else value for value in node.values
    )
    return "".join(
        WORDING.get(one.id, "...")
        if isinstance(one, ast.Name)
        else static(one)
        if isinstance(one, ast.Constant)
        else "..."
        for one in parts
    )


def test_every_sentence_with_a_sign_or_a_size_is_held_or_pending() -> None:
    words = [held.words for held in HELD.values()]
    told = list(sentences())

    missing = [text for text in told if not any(one in text for one in (*words, *PENDING))]
    assert not missing, "no simulation holds these: give each a row in HELD"
    held = [text for text in told if any(one in text for one in words)]
    assert not [one for one in PENDING if any(one in text for text in held)]
    assert not [one for one in PENDING if not any(one in text for text in told)]
