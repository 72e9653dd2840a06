"""Scenarios for testing the card of every model, and other values for their keys."""

from __future__ import annotations

from typing import Any

from airtcp.scenario import ResolvedScenario, loads

RUN = '[run]\nwarmup = "1 s"\nduration = "10 s"\nreplications = 2\n'
STATIONS = '[[stations]]\nname = "sta"\ncount = {count}\n'
FLOW = '[[flows]]\nstations = "sta"\ndirection = "{direction}"\napplication = {application}\n'
SIZE = '{ distribution = "exponential", mean = "30 kB" }'
PAUSE = '{ distribution = "exponential", mean = "10 s" }'
BULK = '{ kind = "bulk" }'
ONE = f'{{ kind = "bulk", size = {SIZE} }}'
WEB = f'{{ kind = "web", size = {SIZE}, think_time = {PAUSE}, request = "300 B" }}'
FTP = f'{{ kind = "ftp", size = {SIZE}, interarrival = {PAUSE}, control = true }}'
UDP = '{ kind = "udp", packet = "1000 B", rate = "saturated" }'


def category(of: str, aifs_us: int, cw_min: int, cw_max: int) -> str:
    times = f'aifs = "{aifs_us} us"\ntxop_limit = "0 us"\n'
    return f"\n[mac.edca.{of}]\n{times}cw_min = {cw_min}\ncw_max = {cw_max}\n"


EDCA = category("ap.AC_VO", 50, 0, 0) + category("stations.AC_BE", 90, 31, 1023)
EDCA += '[mac.classify]\ntcp_ack = "AC_VO"\n'
CLASSES = category("ap.AC_BE", 50, 15, 255) + category("stations.AC_BE", 70, 31, 1023)


def scenario(
    application: str, standard: str = "b", count: int = 6, direction: str = "download", **told: str
) -> ResolvedScenario:
    """`mac` may begin with keys of the PHY, `more` goes into the stations, `also` comes last."""
    text = f'[phy]\nstandard = "802.11{standard}"\n{told.get("mac", "")}\n{told.get("top", "")}'
    text += STATIONS.format(count=count) + told.get("more", "")
    text += FLOW.format(direction=direction, application=application)
    if "tcp" in told:
        text += f"tcp = {{ {told['tcp']} }}\n"
    if "path" in told:
        text += f"path = {told['path']}\n"
    return loads(text + told.get("also", "") + RUN)


def wire(rate: str, more: str = "") -> dict[str, Any]:
    """Return arguments of `scenario` that route its flows over a wired link."""
    link = f'[links.up]\nrate = "{rate}"\ndelay = "2 ms"\nqueue = 30\n'
    return {"path": '["up"]', "top": link + more}


#: EDCA whose AIFS fit into the slots of 802.11g.
SHORT = CLASSES.replace("50 us", "28 us").replace("70 us", "46 us")
SHORT_PRIORITY = EDCA.replace("50 us", "28 us").replace("90 us", "46 us")
FAST = wire("100 Mb/s")
LINKS = '[ap]\nlinks = ["5 GHz/20 MHz", "6 GHz/80 MHz"]\n'
RTS = '[mac]\nrts_threshold = "0 B"\n'
LONG_RTS = '[mac]\nrts_threshold = "3 kB"'
NS3 = '[mac]\nrules = { preset = "ns-3" }'
#: An ACK for each segment.
EACH = "delayed_ack = { every = 1 }"
#: Uploads next to downloads.
BACK = FLOW.format(direction="upload", application=UDP) + 'name = "back"\n'
SLOW = "initial_ssthresh = { segments = 4 }"
SMALL = "receive_window = { segments = 2 }"
SINGLE = '[mac.aggregation]\nampdu = "0 B"'
#: A window so wide that m* depends visibly on every duration.
BURSTS = '[ap]\naccess = { scheme = "adaptive-burst", window_slots = 2048 }\n'


def far(application: str, rate: str = "mcs = 0", more: str = "") -> str:
    """Two stations in a group of their own, by default at the lowest MCS, with the same traffic."""
    group = STATIONS.format(count=2) + f"{rate}\n{more}"
    flow = FLOW.format(direction="download", application=application)
    return (group + flow).replace('"sta"', '"far"')


def of_cells(
    application: str, standard: str = "a", count: int = 2, mac: str = ""
) -> ResolvedScenario:
    """Two cells that hear each other, one with two groups of stations and one with a station."""
    groups, flows = "", ""
    for name, cell in (("near", "left"), ("far", "right")):
        groups += f'[[stations]]\nname = "{name}"\ncount = 1\ncell = "{cell}"\n'
        flow = FLOW.format(direction="download", application=application)
        flows += flow.replace('"sta"', f'"{name}"')
    air = '[cells.left]\n[cells.right]\n[air]\nheard = [["left", "right"]]\n'
    more = f'cell = "left"\n{groups}'
    return scenario(application, standard, count, mac=mac, top=air, more=more, also=flows)


#: A weight below that of the others.
LIGHT = "airtime_weight = 100\n"
AIRTIME = '[ap]\nscheduler = "airtime"\n'
#: They ask every card, use RTS, OFDM and wired links, and break each assumption at least once.
SCENARIOS = [
    scenario(UDP, direction="upload"),
    scenario(UDP, direction="upload", mac=RTS),
    scenario(UDP, "g", 60, "upload"),
    scenario(UDP, direction="upload", **wire("9 Mb/s")),
    scenario(UDP, count=1),
    scenario(UDP, "ax", 4, mac="[mac.ofdma]"),
    scenario(UDP, "ax", 4, mac='[mac.ofdma]\nacknowledgment = "bar-sequence"'),
    scenario(UDP, "be", top=LINKS),
    scenario(UDP, "be", 60, "upload", mac='ack_timeout = "150 us"\n', top=LINKS),
    scenario(UDP, "be", top=f'{LINKS}scheduler = "airtime"\n', also=far(UDP, more=LIGHT)),
    scenario(UDP, count=1, mac=RTS),
    scenario(UDP, "a", 1),
    scenario(UDP, "b", 1, "upload", **wire("9 Mb/s")),
    scenario(UDP, top=CLASSES, also=BACK),
    scenario(UDP, "g", 70, top=RTS + SHORT, also=BACK),
    scenario(UDP, direction="upload", **wire("9 Mb/s", CLASSES)),
    scenario(BULK, tcp=SMALL),
    scenario(BULK, count=40),
    scenario(BULK, mac=RTS),
    scenario(BULK, "g"),
    scenario(
        BULK,
        top='[ap]\nqueue = { discipline = "red", limit = 100 }\n',
        path=FAST["path"],
        also=FAST["top"],
    ),
    scenario(BULK, count=1),
    scenario(BULK, count=1, tcp=SMALL),
    scenario(BULK, count=1, tcp=f"receive_window = {{ segments = 9 }}, {EACH}"),
    scenario(BULK, count=1, tcp=EACH, mac=RTS),
    scenario(BULK, "a", 1, **FAST),
    scenario(BULK, "a", 1, tcp=EACH, **FAST),
    scenario(BULK, mac=NS3),
    scenario(BULK, "g", mac=RTS + NS3.removeprefix("[mac]\n")),
    scenario(BULK, mac=NS3.replace(" }", ', after_collision = "eifs" }')),
    scenario(BULK, top=BURSTS),
    scenario(BULK, "g", top=BURSTS),
    scenario(BULK, top=BURSTS, mac=RTS),
    scenario(BULK, top=BURSTS, also=far(BULK, 'data_rate = "1 Mb/s"')),
    scenario(UDP, "n", direction="upload"),
    scenario(UDP, "n", 60, "upload", mac='ack_timeout = "150 us"\n'),
    scenario(
        UDP,
        "ac",
        1,
        "upload",
        more='frame_errors = { rate = "5 %", of = "500 B" }\n',
        **wire("900 Mb/s"),
    ),
    scenario(UDP, "ax", mac=LONG_RTS, also=far(UDP)),
    scenario(UDP, "n", 30, "upload", mac=RTS),
    scenario(UDP, "n", 30, "upload", mac=SINGLE),
    scenario(UDP, "n", mac=SINGLE, also=far(UDP)),
    scenario(UDP, "n", top=AIRTIME, also=far(UDP, more=LIGHT)),
    scenario(UDP, "n", top=AIRTIME, also=far(UDP, more=LIGHT) + BACK),
    scenario(UDP, "n", 1, mac=SINGLE),
    scenario(BULK, "n", 2, mac=SINGLE),
    scenario(UDP, "n", also=BACK),
    scenario(BULK, "n"),
    scenario(BULK, "n", 40, tcp="receive_window = { segments = 400 }"),
    scenario(BULK, "n", 1, **wire("900 Mb/s")),
    scenario(BULK, "ax", direction="upload", mac=LONG_RTS, more='frame_errors = "5 %"\n'),
    scenario(BULK, **wire("9 Mb/s", 'loss = "1 %"\n')),
    scenario(
        BULK, count=1, tcp='congestion = "cubic"', **wire("9 Mb/s", "loss = { every = 1000 }\n")
    ),
    scenario(BULK, "n", **wire("900 Mb/s", 'loss = "1 %"\n')),
    scenario(BULK, "ac", also=far(BULK)),
    scenario(BULK, "n", top=AIRTIME, also=far(BULK, more=LIGHT)),
    scenario(BULK, "g", 60, "upload", top=SHORT_PRIORITY),
    scenario(BULK, "g", direction="upload", top=SHORT_PRIORITY),
    scenario(BULK, direction="upload"),
    scenario(BULK, direction="upload", tcp=SMALL),
    scenario(BULK, direction="upload", top=EDCA),
    scenario(BULK, direction="upload", tcp=SMALL, top=EDCA + FAST["top"], path=FAST["path"]),
    scenario(BULK, direction="upload", **wire("1 Mb/s")),
    scenario(WEB),
    scenario(WEB, count=2, tcp=SLOW, **FAST),
    scenario(WEB, mac=RTS, tcp=SMALL),
    scenario(FTP, tcp=SLOW, **FAST),
    scenario(ONE, count=1, tcp=SLOW, **FAST),
    scenario(WEB, count=1),
    scenario(WEB, mac=RTS),
    scenario(WEB, "a", tcp='handshake = "two-way"'),
    scenario(FTP),
    scenario(FTP, "g", mac=RTS),
    scenario(FTP, tcp="initial_window = 1"),
    of_cells(UDP),
    of_cells(BULK),
    of_cells(WEB),
    of_cells(WEB, "b", 40, RTS),
    of_cells(FTP),
    scenario(ONE, count=1),
    scenario(ONE, count=1, mac=RTS),
    scenario(ONE, "g", 1),
]

#: At the control rate, which every PHY has.
BEACON = {"interval_ns": 102_400_000, "size_bits": 584}
CODEL = {
    "target_ns": 5_000_000,
    "interval_ns": 100_000_000,
    "ecn": False,
    "control_law": "square-root",
}
RED = {
    "min_threshold": 1.0,
    "max_threshold": 9.0,
    "max_probability": 0.1,
    "weight": 0.002,
    "idle_packet_time_ns": 1_000_000,
}
#: The cell of each class of nodes in `of_cells`: access points, then three groups of stations.
CELL_OF = (0, 1, 0, 0, 1)
PLAIN = {"mac_limit": None, "ack_filter": None}
SLOW_LINK = {
    "rate_bps": 900_000,
    "delay_ns": 5_000_000,
    "queue": {**PLAIN, "discipline": "fifo", "limit": None},
}
#: New values of a key, where its type does not imply them.
OTHERS: dict[str, list[Any]] = {
    # Both follow from other keys.
    "air.powers_known": [],
    "stations.cell": [],
    "air.received_dbm": [[[-50.0 if a == b else None for b in CELL_OF] for a in CELL_OF]],
    "cells": [
        [
            {
                "name": name,
                "streams": streams,
                "channel": None,
                "ap": {
                    "queue": {**PLAIN, "discipline": "fifo", "limit": limit},
                    "access": {"scheme": "standard"},
                    "scheduler": None,
                },
            }
            for name, streams, limit in (("left", "ap", 3), ("right", None, None))
        ]
    ],
    "mac.beacon": [BEACON],
    "mac.edca": [None],
    # Long enough to change a whole number too.
    "phy.propagation_delay_ns": [0, 50_000],
    "mac.rts_threshold_bytes": [0, None, 500],
    "mac.short_retry_limit": [1, 3],
    "mac.rules.after_collision": ["difs", "eifs", "eifs+difs"],
    "mac.rules.colliders": ["ack-timeout+difs", "as-others"],
    "mac.rules.arrival_before_own_ack": ["busy", "idle"],
    "classify.tcp_ack": ["AC_BE", "AC_VO"],
    "classify.tcp_data": ["AC_BE", "AC_VO"],
    "classify.udp": ["AC_BE", "AC_VO"],
    "ap.queue": [
        {**PLAIN, "discipline": "fifo", "limit": 3},
        {**PLAIN, "discipline": "per-flow", "limit": None},
        {**PLAIN, "discipline": "red", "limit": None, "red": RED},
        {**PLAIN, "discipline": "codel", "limit": None, "codel": CODEL},
    ],
    "ap.links": [
        scenario(UDP, "be", top=LINKS.replace("20 MHz", "40 MHz")).to_dict()["ap"]["links"]
    ],
    "mac.ofdma.acknowledgment": ["mu-bar", "bar-sequence"],
    "ap.scheduler": [{"kind": "round-robin"}, {"kind": "oldest"}],
    "mac.rules.failed_block_ack": ["resend", "block-ack-request"],
    "mac.rules.delivery": ["mpdu", "ppdu"],
    "mac.rules.weaker_before": ["interferes", "unnoticed"],
    "mac.rules.narrow_collider": ["lost", "received"],
    "ap.access": [{"scheme": "adaptive-burst", "window_slots": 32, "target_active": 8}],
    "stations.queue": [{**PLAIN, "discipline": "fifo", "limit": 1}],
    "stations.frame_errors": [{"rate": 0.1, "of_bytes": None, "least_bytes": 0}],
    "links.up.rate_bps": [800_000, 100_000_000],
    "links.up.queue": [
        {**PLAIN, "discipline": "fifo", "limit": 3},
        {**PLAIN, "discipline": "fifo", "limit": None},
        {**PLAIN, "discipline": "per-flow", "limit": 30},
    ],
    "links.up.loss": [{"rate": 0.01, "every": None, "acks": False}],
    "flows.direction": ["upload", "download"],
    "flows.application.rate_bps": [300_000],
    "flows.application.size": [{"kind": "deterministic", "value": 90_000.0}],
    "flows.application.control": [None],
    # Slower than the channel for one station, and for all together.
    "flows.path": [
        [],
        [{**SLOW_LINK, "loss": None}],
        [{**SLOW_LINK, "rate_bps": 90_000, "loss": None}],
    ],
    "flows.tcp.handshake": ["three-way", "two-way", "none"],
    "flows.tcp.initial_ssthresh_bytes": [None, 4_000],
    "flows.tcp.initial_rto_ns": [3_000_000],
    "flows.tcp.min_rto_ns": [3_000_000],
    "flows.tcp.max_rto_ns": [30_000_000_000],
    "flows.tcp.initial_window_bytes": [1, 9_000],
    "flows.tcp.receive_window_bytes": [1_460, 2_920, 200_000],
    "flows.tcp.delayed_ack.policy": ["mine"],
    "flows.tcp.delayed_ack.thresholds": [[[0, 1]], [[0, 4]], [[0, 1], [9, 3]]],
    "flows.tcp.ack_skip": [None, {"skip": 2, "after_segment": 9, "adaptive": None}],
    "flows.tcp.mac_feedback": [{"give_up": "retransmit"}],
    "flows.tcp.slow_start": ["hystart", "hystart++"],
    "flows.tcp.tack": [{"every": 2, "beta": 4}],
    "flows.tcp.variant": ["reno", "sack", "rack"],
    "flows.tcp.congestion": ["cubic"],
    "flows.tcp.rules.loss_window": ["flight-size", "cwnd"],
}
