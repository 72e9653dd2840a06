"""Define the scenarios of the grids on which models are compared with simulations."""

from __future__ import annotations

_PHY = """
[phy]
standard = "802.11b"
control_rate = "2 Mb/s"
"""
#: The assumptions of most models: a backoff before every frame, DIFS after collisions.
BARE = '[mac]\nrules = { preset = "bianchi" }\n'


def _run(duration_s: float, replications: int = 8, warmup_s: float = 5) -> str:
    return (
        f'[run]\nwarmup = "{warmup_s:g} s"\nduration = "{duration_s:g} s"\n'
        f"replications = {replications}\nseed = 1\n"
    )


def _group(name: str, count: int, rate: str = "11 Mb/s") -> str:
    return f'[[stations]]\nname = "{name}"\ncount = {count}\ndata_rate = "{rate}"\n'


def _flow(group: str, application: str, direction: str = "download", **keys: str) -> str:
    lines = [f'stations = "{group}"', f'direction = "{direction}"', f"application = {application}"]
    if '"bulk"' in application or '"saturated"' in application:
        # Models describe the steady state, not the start.
        lines.append('start_spread = "0 s"')
    lines += [f"{key} = {value}" for key, value in keys.items()]
    return "[[flows]]\n" + "\n".join(lines) + "\n"


def _tcp(window: int, every: int = 2, mss: int = 1460) -> str:
    return (
        f'{{ mss = "{mss} B", initial_window = {min(4, window)}, '
        f"receive_window = {{ segments = {window} }}, delayed_ack = {{ every = {every} }} }}"
    )


UDP = '{ kind = "udp", packet = "1500 B", rate = "saturated" }'
ENDLESS = '{ kind = "bulk" }'


def _web(mean: str, think_s: float, law: str = '"exponential"') -> str:
    return (
        f'{{ kind = "web", size = {{ distribution = {law}, mean = "{mean}" }}, '
        f'think_time = {{ distribution = "exponential", mean = "{think_s:g} s" }} }}'
    )


def saturated(count: int, mac: str = "") -> str:
    return _PHY + mac + _group("sta", count) + _flow("sta", UDP, "upload") + _run(60)


def cell(standard: str, count: int, rate: str, application: str, **phy: int) -> str:
    """Return uploads in a cell of some standard, with these settings as defaults."""
    text = f'[phy]\nstandard = "{standard}"\n'
    text += "".join(f"{key} = {value}\n" for key, value in phy.items())
    return text + _group("sta", count, rate) + _flow("sta", application, "upload") + _run(20, 4)


def rates(near: int) -> str:
    text = _PHY + _group("near", near) + _group("far", 1, "1 Mb/s")
    return text + _flow("near", UDP, "upload") + _flow("far", UDP, "upload") + _run(60)


def categories(ap: tuple[int, int, int], stations: tuple[int, int, int], count: int = 5) -> str:
    text = _PHY
    for side, (aifsn, cw_min, cw_max) in (("ap", ap), ("stations", stations)):
        text += (
            f"[mac.edca.{side}.AC_BE]\naifsn = {aifsn}\ncw_min = {cw_min}\ncw_max = {cw_max}\n"
            'txop_limit = "0 us"\n'
        )
    text += _group("sta", count) + _flow("sta", UDP, "upload", name='"up"')
    return text + _flow("sta", UDP, "download", name='"down"') + _run(60)


def downloads(count: int, window: int, every: int, mac: str) -> str:
    flow = _flow("sta", ENDLESS, tcp=_tcp(window, every, 1000))
    return _PHY + mac + _group("sta", count) + flow + _run(60)


_PRIORITY = """
[mac.edca.ap.AC_VO]
aifs = "50 us"
cw_min = 0
cw_max = 0
txop_limit = "0 us"
[mac.edca.stations.AC_BE]
aifs = "90 us"
cw_min = 31
cw_max = 1023
txop_limit = "0 us"
[mac.classify]
tcp_ack = "AC_VO"
"""


def uploads(count: int, every: int) -> str:
    flow = _flow("sta", ENDLESS, "upload", tcp=_tcp(44, every))
    return _PHY + _PRIORITY + _group("sta", count) + flow + _run(60)


def wired(far_ms: float) -> str:
    text = _PHY + _PRIORITY + '[links.up]\nrate = "2 Mb/s"\ndelay = "10 ms"\nqueue = 20\n'
    for name, more in (("near", ""), ("far", f', {{ delay = "{far_ms:g} ms" }}')):
        tcp, path = _tcp(200, 1), f'["up"{more}]'
        text += _group(name, 1) + _flow(name, ENDLESS, "upload", tcp=tcp, path=path)
    return text + _run(1000, warmup_s=50)


def browsing(
    count: int,
    mean: str,
    think_s: float,
    window: int,
    every: int,
    law: str = '"exponential"',
    duration_s: float = 3000,
) -> str:
    flow = _flow("sta", _web(mean, think_s, law), tcp=_tcp(window, every))
    return _PHY + _group("sta", count) + flow + _run(duration_s, warmup_s=100)


def ftp(every_s: float) -> str:
    application = (
        '{ kind = "ftp", size = { distribution = "exponential", mean = "200 kB" }, control = true, '
        f'interarrival = {{ distribution = "exponential", mean = "{every_s:g} s" }} }}'
    )
    flow = _flow("sta", application, tcp=_tcp(6))
    return _PHY + _group("sta", 1) + flow + _run(3000, warmup_s=100)


def one_transfer(size: str, window: int) -> str:
    sized = f'{{ kind = "bulk", size = {{ distribution = "deterministic", value = "{size}" }} }}'
    flow = _flow("sta", sized, tcp=_tcp(window))
    return _PHY + _group("sta", 1) + flow + _run(30, replications=100, warmup_s=0)


def aggregates(
    letter: str, count: int, application: str, direction: str = "upload", errors: str = "0 %"
) -> str:
    mcs = {"n": 7, "ac": 9, "ax": 11}[letter]
    text = f'[phy]\nstandard = "802.11{letter}"\nband = "5 GHz"\nmcs = {mcs}\n'
    if letter != "n":
        text += 'channel_width = "80 MHz"\n'
    text += f'[[stations]]\nname = "sta"\ncount = {count}\n'
    if errors != "0 %":
        text += f'frame_errors = "{errors}"\n'
    return text + _flow("sta", application, direction) + _run(20, 4)


def crowded_uploads(count: int, window: int) -> str:
    text = '[phy]\nstandard = "802.11n"\nmcs = 7\n'
    text += f'[[stations]]\nname = "sta"\ncount = {count}\n'
    return text + _flow("sta", ENDLESS, "upload", tcp=_tcp(window)) + _run(10, 4)


def one_slow(direction: str, scheduler: str = "oldest") -> str:
    text = f'[phy]\nstandard = "802.11n"\nmcs = 7\n[ap]\nscheduler = "{scheduler}"\n'
    text += '[[stations]]\nname = "fast"\ncount = 3\n'
    text += '[[stations]]\nname = "slow"\ncount = 1\nmcs = 0\n'
    flows = _flow("fast", ENDLESS, direction) + _flow("slow", ENDLESS, direction)
    return text + flows + _run(10, 4)
