"""Profiles of access points: what they set, what overrides them, and their text on screens."""

from typing import Any

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.messages.access_point import access_point_words
from airtcp.scenario import Scenario, load, resolve
from airtcp.scenario.keys.queue import AirtimeScheduler
from airtcp.scenario.profiles import access_points
from bases import refused

FLOW = {"stations": "laptop", "direction": "download", "application": {"kind": "bulk"}}
CODEL = {"queue": {"discipline": "fq-codel"}, "scheduler": "airtime"}
TURNS = {"discipline": "per-flow", "limit": 50}
VENDOR = {"queue": {"discipline": "fifo", "limit": 1000}, "scheduler": "oldest"}


def network(ap: Any, standard: str = "802.11ax", **more: Any) -> Scenario:
    stations = [{"name": "laptop", "count": 2}]
    tables = {"phy": {"standard": standard}, "stations": stations, "flows": [FLOW], "ap": ap}
    return resolve(tables | more)


CELLS = {"left": {"channel": 36}, "right": {"channel": 149}}


def of_cells(ap: Any, **own: Any) -> Scenario:
    """Return two cells; each may have its own [cells.NAME.ap]."""
    return network(
        ap,
        cells={name: cell | own.get(name, {}) for name, cell in CELLS.items()},
        stations=[{"name": f"of-{name}", "count": 1, "cell": name} for name in CELLS],
        flows=[{**FLOW, "stations": f"of-{name}"} for name in CELLS],
    )


def cells(ap: Any, **own: Any) -> dict[str, Any]:
    """Return the queues and schedulers of two cells."""
    return {one.name: (one.ap.queue, one.ap.scheduler) for one in of_cells(ap, **own).cells}


def test_openwrt_has_what_mac80211_does() -> None:
    ap = network({"profile": "openwrt"}).ap
    assert (ap.queue.discipline, ap.queue.limit) == ("fq-codel", 8192)
    codel = ap.queue.codel
    assert (codel.target_ns, codel.interval_ns, codel.ecn) == (20_000_000, 100_000_000, True)
    assert ap.queue.fq.quantum_bytes == 300
    airtime = AirtimeScheduler(kind="airtime", quantum_ns=2_048_000, aql_ns=5_000_000)
    assert ap.scheduler == airtime
    # A driver's ring replaces its airtime limit (AQL).
    ring = network({"profile": "openwrt", "queue": {"mac_limit": 64}}).ap
    assert ring.queue.mac_limit == 64
    assert ring.scheduler == airtime.model_copy(update={"aql_ns": None})
    assert ring.queue.codel == codel
    with pytest.raises(ScenarioError, match="openwrt"):
        network({"profile": "mac80211"})
    with refused("scenario.profiles.not_a_text", at="ap.profile"):
        network({"profile": 5})


@pytest.mark.parametrize(
    ("ap", "wanted"),
    [
        ({"profile": "vendor"}, VENDOR),
        # By default today's access points have a vendor's queue.
        ({"profile": "vendor"}, {}),
        ({"profile": "vendor", "queue": {"limit": 64}}, {"queue": {"limit": 64}}),
        ({"profile": "vendor", "queue": {"limit": "unlimited"}}, {"queue": {"limit": "unlimited"}}),
        # Another discipline takes nothing from the profile's queue.
        ({"profile": "openwrt", "queue": {"discipline": "fifo"}, "scheduler": "oldest"}, {}),
        # Per-flow round robin leaves nothing to a scheduler.
        ({"profile": "openwrt", "queue": TURNS}, {"queue": TURNS}),
    ],
)
def test_a_key_overrides_the_profile(ap: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert network(ap).to_json() == network(wanted).to_json()


@pytest.mark.parametrize(
    ("keys", "limit"),
    [
        ({"ap": {"queue": {"discipline": "fifo"}}}, 1000),
        ({"ap": {"queue": {"limit": "unlimited"}}}, None),
        ({"ap": {"queue": {"discipline": "codel"}}}, None),
        ({"ap": {}, "standard": "802.11g"}, None),
        ({"ap": {}, "mac": {"rules": {"preset": "ns-3"}}}, None),
        ({"ap": {"profile": "vendor"}, "standard": "802.11b"}, 1000),
    ],
)
def test_access_points_without_a_profile_have_its_limit_or_none(
    keys: dict[str, Any], limit: int | None
) -> None:
    ap = network(**keys).ap
    assert ap.queue.limit == limit
    # Without aggregation there is nothing to schedule.
    assert (ap.scheduler is None) == ("standard" in keys)


def test_a_cell_takes_the_profile_of_all_or_has_its_own() -> None:
    vendor, openwrt = (cells({"profile": name})["left"] for name in ("vendor", "openwrt"))
    assert vendor != openwrt
    for of_all, own in (("vendor", "openwrt"), ("openwrt", "vendor")):
        found = cells({"profile": of_all}, left={"ap": {"profile": own}})
        by_name = {"vendor": vendor, "openwrt": openwrt}
        assert found == {"left": by_name[own], "right": by_name[of_all]}


def test_a_cell_with_a_profile_takes_nothing_of_the_written_queue_of_all() -> None:
    codel = {"queue": {"discipline": "codel", "target": "9 ms"}, "scheduler": "airtime"}
    found = cells(
        codel,
        left={"ap": {"profile": "vendor"}},
        right={"ap": {"queue": {"limit": 70}}},
    )
    queue, scheduler = found["right"]
    assert found["left"] == cells({"profile": "vendor"})["left"]
    assert (queue.discipline, queue.limit, queue.codel.target_ns) == ("codel", 70, 9_000_000)
    assert scheduler.kind == "airtime"


def test_a_profile_is_varied_by_its_key() -> None:
    scenario = network({"profile": "vendor"})
    changed = scenario.vary({"ap.profile": "openwrt"})
    assert changed.to_json() == network({"profile": "openwrt"}).to_json()
    assert changed.vary({"ap.profile": "vendor"}).to_json() == scenario.to_json()
    codel = scenario.vary({"ap.queue": {"discipline": "codel"}})
    assert codel.ap.queue.discipline == "codel"


@pytest.mark.parametrize("name", access_points())
def test_what_is_shown_has_the_source_of_each_key(name: str) -> None:
    scenario = network({"profile": name})
    shown = scenario.to_toml()
    assert load(shown).to_json() == scenario.to_json()
    assert f"# access point {name}: " in shown
    assert scenario.origins[("ap", "queue")].startswith(f"access point {name}: ")


@pytest.mark.parametrize(
    ("ap", "words"),
    [
        ({"profile": "vendor"}, "vendor FIFO (1000 packets)"),
        ({"profile": "openwrt"}, "OpenWrt (FQ-CoDel, airtime)"),
        ({"queue": {"limit": "unlimited"}}, "FIFO (unlimited)"),
        ({"queue": {"limit": 1000, "mac_limit": 64}}, "FIFO (1000 packets, 64 in the driver)"),
        (CODEL, "FQ-CoDel (10240 packets, airtime)"),
    ],
)
def test_an_access_point_has_its_words(ap: dict[str, Any], words: str) -> None:
    assert access_point_words(network(ap, "802.11ac")) == words


def test_access_points_that_differ_are_named_with_their_cells() -> None:
    found = of_cells({"profile": "vendor"}, right={"ap": {"profile": "openwrt"}})
    said = "vendor FIFO (1000 packets) in left; OpenWrt (FQ-CoDel, airtime) in right"
    assert access_point_words(found) == said


def test_fixed_bursts_have_half_of_their_window_by_default() -> None:
    found = network({"access": {"scheme": "fixed-burst"}}, standard="802.11b")
    bursts = {"scheme": "fixed-burst", "window_slots": 32, "packets": 16}
    assert found.ap.access.model_dump() == bursts
    assert Scenario.from_json(found.to_json()).ap.access == found.ap.access
