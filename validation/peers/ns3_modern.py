"""Build the scenarios of ns-3 points on 802.11n, ac, ax and be under ns-3's rules.

tests/reference/README.md describes the groups of ns3_modern.csv and ns3_be.csv. The rows
of validation/ns3/modern.csv, group `long`, are from runs that continued until the interval of
their goodput was 1 %.
"""

from __future__ import annotations

from math import isnan
from statistics import fmean

from airtcp.amendments import AMENDMENTS
from airtcp.amounts import percent

from peers.references import REFERENCE, VALIDATION, Point, Reference, by_point, read
from peers.samples import Answer, answers

WARMUP_S = 2
#: Measured time: enough for a steady state with thousands of PPDUs per second. Without
#: aggregation and at 11 Mb/s there are a hundred times fewer.
MEASURED_S, MEASURED_11B_S = 6, 20
REPLICATIONS = 2

TCP = """
[flows.tcp]
mss = "1448 B"
header_bits = 416
receive_window = {window}
delayed_ack = {{ every = {every}, timeout = "{timer_ms:g} ms" }}
variant = "{variant}"
congestion = "{congestion}"
initial_window = 10
min_rto = "200 ms"
"""


#: The server is behind the access point: all transfers share one wired link.
WIRE = """
[links.wire]
rate = "10 Gb/s"
delay = "{:g} ms"
"""
#: ns-3's default path loss and power, and noise in 20 MHz with a noise figure of 7 dB.
AIR = """
[air]
path_loss = { at_1m = "46.6777 dB", exponent = 3 }
power = "16.0206 dBm"
noise = "-93.97 dBm"
"""
#: Rate controls by ns-3's names.
MANAGERS = {
    "Ideal": 'rate_control = "ideal"\n',
    "MinstrelHt": 'rate_control = "minstrel-ht"\n',
}
#: Bands by ns-3's names.
BANDS = {"2": "2.4"}
#: Congestion controls by ns-3's names.
CONGESTION = {"NewReno": "reno", "Cubic": "cubic", "Bbr": "bbr1"}
#: BBR requires per-segment timing, and has its own rules.
BBR = 'rules = { preset = "ns-3" }\n'
#: Acknowledgment of the users of a PPDU, by ns-3's names.
ACKNOWLEDGMENT = {"mu": "mu-bar", "ba": "bar-sequence"}
#: The AIMD period at a queue lasts for seconds.
SETTLED_S, PERIODS_S, PERIODS_REPLICATIONS = 10, 60, 8
#: Runs for comparison with rows of 1 % precision.
LONG_S, LONG_REPLICATIONS = 20, 4
TRIGGERED_REPLICATIONS = 12
#: Between runs of 6 s, the ratio of failed PPDUs of eight stations varies by a tenth.
SINGLE_USER_REPLICATIONS = 24
#: A PPDU of 5 ms on one link delays the traffic of the other: failures come in clusters.
LINKS_REPLICATIONS = 12
#: While Minstrel-HT is still sampling, single runs vary widely: rows average several.
SAMPLED_AFTER_S, SAMPLED_S, SAMPLED_REPLICATIONS = 1, 12, 8


def scenario(point: Point) -> str:
    """Return a point as the text of a scenario file."""
    settings = point.settings
    standard = settings["standard"]
    return "".join(
        [
            _phy(settings, standard),
            '[mac]\nrules = { preset = "ns-3" }\n',
            _mac(settings) if f"802.11{standard}" in AMENDMENTS else "",
            _access_point(settings),
            AIR if "distance" in settings else "",
            *_stations(settings),
            *_flows(settings),
            "" if "udp" in settings else WIRE.format(_delay_ms(settings)),
            _run(point),
        ]
    )


def _has_several_links(settings: dict[str, str]) -> bool:
    return "+" in settings.get("links", "")


def _run(point: Point) -> str:
    warmup_s, measured_s, replications = WARMUP_S, MEASURED_S, REPLICATIONS
    if point.group == "long":
        measured_s, replications = LONG_S, LONG_REPLICATIONS
    elif _has_several_links(point.settings):
        replications = LINKS_REPLICATIONS
    elif "+" in point.settings.get("ofdma", ""):
        # Triggers of the access point sometimes collide, which doubles its contention window.
        replications = TRIGGERED_REPLICATIONS
    elif point.group == "ofdma" and "ofdma" not in point.settings:
        replications = SINGLE_USER_REPLICATIONS
    elif point.group == "queue":
        warmup_s, measured_s, replications = SETTLED_S, PERIODS_S, PERIODS_REPLICATIONS
    elif point.settings.get("manager") == "MinstrelHt":
        warmup_s, measured_s, replications = SAMPLED_AFTER_S, SAMPLED_S, SAMPLED_REPLICATIONS
    elif point.settings["standard"] == "b":
        measured_s = MEASURED_11B_S
    return (
        f'[run]\nwarmup = "{warmup_s} s"\nreplications = {replications}\nseed = 1\n'
        f'duration = "{measured_s} s"\n'
    )


def _phy(settings: dict[str, str], standard: str) -> str:
    control = {"g": "24 Mb/s", "b": "2 Mb/s"}.get(standard)
    lines = [f'[phy]\nstandard = "802.11{standard}"\n']
    if control:
        lines.append(f'control_rate = "{control}"\n')
    if "width" in settings:
        lines.append(f'channel_width = "{settings["width"]} MHz"\n')
    if "links" in settings:
        if "+" not in settings["links"]:
            band, _, width = settings["links"].partition(":")
            lines.append(f'band = "{BANDS.get(band, band)} GHz"\nchannel_width = "{width} MHz"\n')
        if "mode" in settings:
            lines.append(f"mcs = {_mcs(settings['mode'])}\n")
    if "streams" in settings:
        lines.append(f"spatial_streams = {settings['streams']}\n")
    if settings.get("short_gi") == "0":
        lines.append('guard_interval = "800 ns"\n')
    return "".join(lines)


def _mac(settings: dict[str, str]) -> str:
    txop_us = float(settings.get("txop", "0")) * 1e6
    best_effort = f'{{ cw_min = 15, cw_max = 1023, aifsn = 3, txop_limit = "{txop_us:g} us" }}'
    limits = []
    if "ampdu" in settings:
        limits.append(f'ampdu = "{settings["ampdu"]} B"')
    if "amsdu" in settings:
        limits.append(f'amsdu = "{settings["amsdu"]} B"')
    if "ba_buffer" in settings:
        limits.append(f"block_ack_window = {settings['ba_buffer']}")
    ofdma = ""
    if "ofdma" in settings:
        acknowledgment, _, uplink = settings["ofdma"].partition("+")
        ofdma = f'[mac.ofdma]\nacknowledgment = "{ACKNOWLEDGMENT[acknowledgment]}"\n'
        if uplink:
            ofdma += 'uplink = "trigger"\n'
        if float(settings.get("access", 0)):
            ofdma += f'access_interval = "{1e3 * float(settings["access"]):g} ms"\n'
    return (
        f"{ofdma}[mac.edca]\nap.AC_BE = {best_effort}\nstations.AC_BE = {best_effort}\n"
        f"[mac.aggregation]\n" + "\n".join(limits) + "\n"
    )


def _access_point(settings: dict[str, str]) -> str:
    limit, links = settings.get("ap_queue"), settings.get("links", "").split("+")
    lines = []
    if settings.get("queue") == "fqcodel":
        # On top of a MAC queue with the limit of the row.
        lines.append(f'queue = {{ discipline = "fq-codel", mac_limit = {limit} }}\n')
    elif limit:
        lines.append(f"queue = {{ limit = {limit} }}\n")
    if len(links) > 1:
        channels = (link.split(":") for link in links)
        names = ", ".join(f'"{band} GHz/{width} MHz"' for band, width in channels)
        lines.append(f"links = [{names}]\n")
    return f"[ap]\n{''.join(lines)}" if lines else ""


def _mcs(mode: str) -> str:
    return mode.partition("Mcs")[2]


def _radios(settings: dict[str, str]) -> list[str]:
    """Return the keys for standard and rate of each station."""
    if "mix" not in settings:
        slow = int(settings.get("slow", "0"))
        return ["mcs = 0\n"] * slow + [""] * (int(settings.get("stations", "1")) - slow)
    radios = []
    for station in settings["mix"].split(";"):
        standard, _, radio = station.partition(":")
        width, _, mode = radio.partition(":")
        lines = f'standard = "802.11{standard}"\n' if standard != settings["standard"] else ""
        if "Mcs" in mode:
            lines += f'channel_width = "{width} MHz"\nmcs = {_mcs(mode)}\n'
        radios.append(lines)
    return radios


def _delay_ms(settings: dict[str, str]) -> float:
    return 1e3 * float(settings.get("delay", "0.001"))


def _stations(settings: dict[str, str]) -> list[str]:
    errors = ""
    if "per" in settings:
        least = 40 if settings.get("per_acks") == "1" else 500
        rate = 100 * float(settings["per"])
        errors = f'frame_errors = {{ rate = "{rate:g} %", least = "{least} B" }}\n'
    queue = f"queue = {{ limit = {settings.get('station_queue', '1000')} }}\n"
    far = _far(settings) if "distance" in settings else ""
    return [
        f'[[stations]]\nname = "sta{place}"\ncount = 1\n{queue}{errors}{far}{radio}'
        for place, radio in enumerate(_radios(settings))
    ]


def _far(settings: dict[str, str]) -> str:
    """Return the keys of a group for its distance and rate control."""
    return f'distance = "{settings["distance"]} m"\n{MANAGERS[settings["manager"]]}'


def _flows(settings: dict[str, str]) -> list[str]:
    """Return a flow per station and direction; transfers start 10 ms apart, as in `modern.cc`."""
    directions = {"down": ["download"], "up": ["upload"], "both": ["download", "upload"]}
    return [
        f'[[flows]]\nname = "sta{place}-{direction}"\nstations = "sta{place}"\n'
        f'direction = "{direction}"\n'
        + _application(settings, start_ms=10 * (2 * place + (direction == "upload")))
        for direction in directions[settings.get("dir", "down")]
        for place in range(len(_radios(settings)))
    ]


def _application(settings: dict[str, str], start_ms: int) -> str:
    if settings.get("udp") == "1":
        return (
            'start_spread = "0 s"\n'
            'application = { kind = "udp", packet = "1500 B", rate = "saturated" }\n'
        )
    window = settings.get("window")
    congestion = CONGESTION[settings.get("tcp", "NewReno")]
    return (
        f'application = {{ kind = "bulk", start = "{start_ms} ms" }}\npath = ["wire"]\n'
        + TCP.format(
            variant="rack" if congestion == "bbr1" else "sack",
            congestion=congestion,
            window=f"{{ segments = {window} }}" if window else '"32 MiB"',
            every=settings.get("every", "2"),
            timer_ms=1e3 * float(settings.get("delack", "0.2")),
        )
        + (BBR if congestion == "bbr1" else "")
    )


def at(point: Point) -> list[Answer]:
    """Return airtcp's results at a point, replication by replication."""
    return answers(scenario(point))


ROWS = by_point(read(REFERENCE / "ns3_modern.csv"))
ROWS_MIXED = by_point(read(REFERENCE / "ns3_mixed.csv")) | by_point(
    read(VALIDATION / "ns3" / "mixed.csv")
)
ROWS_RATES = by_point(read(REFERENCE / "ns3_rates.csv")) | by_point(
    read(VALIDATION / "ns3" / "rates.csv")
)
ROWS_BE = by_point(read(REFERENCE / "ns3_be.csv"))
ROWS_OFDMA = by_point(read(REFERENCE / "ns3_ofdma.csv"))
_LINKS = by_point(read(VALIDATION / "ns3" / "links.csv"))
_LONGER = {point.parameters for point in _LINKS}
#: If two rows have the same point, that of the longer run.
ROWS_LINKS = {
    point: rows
    for point, rows in by_point(read(REFERENCE / "ns3_links.csv")).items()
    if point.parameters not in _LONGER
} | _LINKS
LONG = by_point(read(VALIDATION / "ns3" / "modern.csv"))

#: Tolerance of each metric (with airtcp's name for it), in addition to the interval of the row:
#: relative, and absolute.
NEAR = {
    "goodput_bps": ("goodput_bps", 0.02, 0.0),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.03, 0.0),
    "failed_ppdu_ratio_ap": ("failed_ppdu_ratio_ap", 0.0, 0.01),
    "mean_rtt_s": ("rtt_s", 0.1, 0.0),
    "ap_data_sojourn_s": ("ap_queue_delay_s", 0.1, 0.0),
}
_SHOWN = ("goodput_bps", "mpdus_per_data_ppdu_ap", "failed_ppdu_ratio_ap")


def beyond(theirs: str, row: Reference, found: float) -> float:
    """Return the excess of airtcp's difference over `NEAR` and the row's interval; 0 within."""
    _, share, least = NEAR[theirs]
    half_width = 0.0 if isnan(row.half_width) else row.half_width
    return max(0.0, abs(found - row.mean) - half_width - share * row.mean - least)


def reason(point: Point) -> str:
    """Return why airtcp does not report all of ns-3's metrics at a point; empty if it does."""
    settings = point.settings
    if point.group == "queue":
        return "queue"
    if settings.get("delay") == "0.02":
        return "windows"
    full = settings.get("dir") == "up" and settings.get("window") == "128"
    return "timeouts" if full and int(settings["stations"]) >= 5 else ""


def markdown() -> str:
    """Compare all points: goodput, MPDUs per PPDU and ratio of PPDUs without response."""
    head = ("point", "Mb/s, theirs", "ours", "", "MPDUs", "ours", "failed", "ours", "differs")
    table = [head, ("---",) * len(head)]
    for point, rows in ROWS.items():
        runs = at(point)
        cells, is_beyond = [], False
        for theirs in _SHOWN:
            row, found = rows.get(theirs), _found(runs, NEAR[theirs][0])
            if row is not None and found is not None:
                is_beyond |= beyond(theirs, row, found) > 0.0
            cells += _cells(theirs, row, found)
        assert not is_beyond or reason(point), point
        table.append(
            (f"{point.group}: {point.parameters}", *cells, reason(point) if is_beyond else "")
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in table)


def _found(runs: list[Answer], name: str) -> float | None:
    values = [run["metrics"][name] for run in runs]
    return None if None in values else fmean(values)


def _cells(theirs: str, row: Reference | None, found: float | None) -> list[str]:
    """Format both values; for goodput also the difference."""
    scale, digits = {"goodput_bps": (1e6, 2), "mpdus_per_data_ppdu_ap": (1.0, 1)}.get(
        theirs, (1.0, 3)
    )
    shown = [
        ""
        if row is None
        else f"{row.mean / scale:.{digits}f} ± {row.half_width / scale:.{digits}f}",
        "" if row is None or found is None else f"{found / scale:.{digits}f}",
    ]
    if theirs == "goodput_bps" and row is not None and found is not None:
        shown.append(percent(found / row.mean - 1, signed=True))
    return shown
