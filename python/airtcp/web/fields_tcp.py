"""The controls of a TCP connection, and the keys that a choice changes along with it.

`airtcp.scenario` rejects some keys together. So that no choice ends in an error, choosing a
congestion control also sets or removes the keys that conflict with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from airtcp.choices import CONGESTION, RECOVERY, of_airtcp
from airtcp.scenario.keys.tcp import Tcp
from airtcp.units import format_size
from airtcp.web.controls import Field, choice, slider

if TYPE_CHECKING:
    from airtcp.scenario.keys.traffic import Flow

_WINDOWS: Final = tuple(f"{size} KiB" for size in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024))
_SEGMENTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
#: Values of disputed keys that every congestion control accepts.
_PLAIN: Final = {"pacing": False, "slow_start": "standard"}
_DISPUTED: Final = ("variant", "pacing", "slow_start", "ecn", "aimd")


def tcp_fields(
    entry: Mapping[str, Any], flow: Flow, section: str, path: str, *, marked: bool
) -> Iterator[Field]:
    """Yield the controls for rules, congestion control, window and ACKs of a flow.

    `entry` is the flow as written. `marked`: a queue on its path marks packets, which ECN requires.
    Options have `also`, the key paths that are removed with them, and `back`, the key paths that an
    earlier choice may have removed and that are valid again.
    """
    tcp = flow.tcp
    assert tcp is not None  # asked only of flows that have one
    now = entry.get("tcp") or {}
    if not isinstance(now, Mapping):
        return
    presets: list[tuple[Any, str]] = [(None, "the RFCs"), ("linux", "Linux")]
    preset = now.get("preset")
    if preset not in [value for value, _ in presets]:
        presets.append((preset, str(preset)))
    chosen = now.get("congestion")
    rules = choice(section, f"{path}.preset", "Rules of", preset, preset or "the RFCs", presets)
    for option in rules["options"]:
        _settle(option, path, now, chosen, option["value"], marked=marked)
    yield rules
    congestion = str(tcp.congestion)
    algorithms: list[tuple[Any, str]] = [
        (None, default(chosen, CONGESTION[congestion].label)),
        *((one.word, one.label) for one in of_airtcp(CONGESTION)),
    ]
    control = choice(
        section, f"{path}.congestion", "Congestion control", chosen, congestion, algorithms
    )
    for option in control["options"]:
        _settle(option, path, now, option["value"], preset, marked=marked)
    yield control
    # A receiver with its own settings has its own table in the file.
    apart = tcp.sending_end is not None
    end, of_end = (f"{path}.receiver", now["receiver"]) if apart else (path, now)
    window = of_end.get("receive_window")
    if isinstance(window, Mapping) and "segments" in window:
        segments = window["segments"]
        yield slider(
            section, f"{end}.receive_window.segments", "Receive window (segments)", segments,
            f"{segments}", _SEGMENTS,
        )  # fmt: skip
    else:
        shown = format_size(tcp.receive_window_bytes)
        yield slider(
            section, f"{end}.receive_window", "Receive window", window, shown, _WINDOWS,
            present=shown,
        )  # fmt: skip
    delayed = of_end.get("delayed_ack")
    every = {1: "every segment", 2: "every second segment"}.get(tcp.delayed_ack.every, "")
    acks: list[tuple[Any, str]] = [
        (None, default(delayed, every)),
        ({"every": 1}, "every segment"),
        ({"every": 2, "timeout": "200 ms"}, "every second segment"),
        ({"every": 4, "timeout": "200 ms"}, "every fourth segment"),
    ]
    if delayed not in [value for value, _ in acks]:
        acks.append((delayed, "as in the file"))
    policy = choice(section, f"{end}.delayed_ack", "TCP ACKs", delayed, "", acks)
    for option in policy["options"]:
        if option["value"] is not None and option["value"] != delayed and "tack" in of_end:
            option["also"] = [f"{end}.tack"]
    yield policy


def default(chosen: Any, present: str) -> str:
    """Return the label of the default; with its value if no other value is chosen."""
    return f"default: {present}" if chosen is None and present else "default"


def _settle(
    option: dict[str, Any],
    path: str,
    tcp: Mapping[str, Any],
    congestion: Any,
    preset: Any,
    *,
    marked: bool,
) -> None:
    """Set which keys conflict with this congestion control under these rules."""
    named = Tcp.presets.get(preset, {})
    control = CONGESTION[congestion or named.get("congestion", "reno")]
    recovery = RECOVERY[tcp.get("variant") or named.get("variant", "newreno")]
    clashing = set()
    if control.needs:
        wanted = {**control.needs, "ecn": False}
        clashing |= {key for key, value in wanted.items() if tcp.get(key, value) != value}
    elif not recovery.times_segments:
        clashing |= {key for key, plain in _PLAIN.items() if tcp.get(key, plain) != plain}
    if not control.has_aimd and "aimd" in tcp:
        clashing.add("aimd")
    option["also"] = [f"{path}.{key}" for key in _DISPUTED if key in clashing]
    # Restore keys that another congestion control excluded, if this one and the variant have them.
    back = set()
    if not control.needs:
        back |= {"variant"} | ({"ecn"} if marked else set())
        back |= set(_PLAIN) if recovery.times_segments else set()
    if control.has_aimd:
        back.add("aimd")
    option["back"] = [f"{path}.{key}" for key in _DISPUTED if key in back]
