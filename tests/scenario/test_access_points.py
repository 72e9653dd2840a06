"""Profiles of access points: what they set, what overrides them, and how screens name them."""

from typing import Any

import pytest
from airtcp import predict, simulate
from airtcp.document import Heading
from airtcp.exceptions import ScenarioError
from airtcp.messages.access_point import access_point_words
from airtcp.messages.run import predicted, simulated
from airtcp.scenario import Scenario, load, resolve
from airtcp.scenario.profiles import access_points

FLOW = {"stations": "laptop", "direction": "download", "application": {"kind": "bulk"}}
VENDOR = {"queue": {"discipline": "fifo", "limit": 1000}, "scheduler": "oldest"}


def network(ap: Any, standard: str = "802.11ax", **more: Any) -> Scenario:
    return resolve(
        {
            "phy": {"standard": standard},
            "stations": [{"name": "laptop", "count": 2}],
            "flows": [FLOW],
            "ap": ap,
            **more,
        }
    )


def cells(ap: Any, **own: Any) -> dict[str, Any]:
    """The queues and schedulers of two cells, of which each may have an access point of its own."""
    flows = [{**FLOW, "stations": f"of-{name}"} for name in ("left", "right")]
    found = network(
        ap,
        cells={
            name: {"channel": channel, **own.get(name, {})}
            for name, channel in (("left", 36), ("right", 149))
        },
        stations=[{"name": f"of-{name}", "count": 1, "cell": name} for name in ("left", "right")],
        flows=flows,
    )
    return {cell.name: (cell.ap.queue, cell.ap.scheduler) for cell in found.cells}


def test_a_vendor_has_a_fifo_of_1000_packets_served_in_order() -> None:
    assert network({"profile": "vendor"}).to_json() == network(VENDOR).to_json()


def test_openwrt_has_what_mac80211_does() -> None:
    ap = network({"profile": "openwrt"}).ap

    assert (ap.queue.discipline, ap.queue.limit) == ("fq-codel", 8192)
    assert (ap.queue.codel.target_ns, ap.queue.codel.interval_ns) == (20_000_000, 100_000_000)
    assert ap.queue.codel.ecn
    assert ap.queue.fq.quantum_bytes == 300
    assert ap.scheduler.kind == "airtime"
    assert (ap.scheduler.quantum_ns, ap.scheduler.aql_ns) == (2_048_000, 5_000_000)


@pytest.mark.parametrize("name", access_points())
@pytest.mark.parametrize("standard", ["802.11b", "802.11g", "802.11n", "802.11be"])
def test_each_profile_fits_each_standard(name: str, standard: str) -> None:
    ap = network({"profile": name}, standard).ap

    assert ap.queue.limit is not None
    assert set(access_points()[name].keys) <= set(access_points()[name].source)
    if name == "vendor" and standard in ("802.11b", "802.11g"):
        assert ap.scheduler is None


@pytest.mark.parametrize(
    ("ap", "wanted"),
    [
        ({"profile": "vendor", "queue": {"limit": 64}}, {"queue": {"limit": 64}}),
        ({"profile": "vendor", "queue": {"limit": "unlimited"}}, {"queue": {"limit": "unlimited"}}),
        # Another discipline has nothing of the profile's queue.
        (
            {"profile": "openwrt", "queue": {"discipline": "fifo"}, "scheduler": "oldest"},
            {},
        ),
        # Flows that take turns leave nothing to a scheduler.
        (
            {"profile": "openwrt", "queue": {"discipline": "per-flow", "limit": 50}},
            {"queue": {"discipline": "per-flow", "limit": 50}},
        ),
    ],
)  # fmt: skip
def test_a_key_overrides_the_profile(ap: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert network(ap).to_json() == network(wanted).to_json()


@pytest.mark.parametrize(
    ("standard", "queue", "limit"),
    [
        ("802.11ax", {}, 1000),
        ("802.11n", {"discipline": "fifo"}, 1000),
        ("802.11n", {"limit": "unlimited"}, None),
        ("802.11ax", {"discipline": "codel"}, None),
        ("802.11g", {}, None),
    ],
)
def test_an_access_point_that_is_sold_today_has_the_queue_of_a_vendor(
    standard: str, queue: dict[str, Any], limit: int | None
) -> None:
    assert network({"queue": queue}, standard).ap.queue.limit == limit
    assert network({}).to_json() == network({"profile": "vendor"}).to_json()


def test_the_rules_of_a_simulator_have_its_queue() -> None:
    assert network({}, mac={"rules": {"preset": "ns-3"}}).ap.queue.limit is None


def test_a_ring_of_the_driver_takes_the_place_of_its_limit_in_airtime() -> None:
    ap = network({"profile": "openwrt", "queue": {"mac_limit": 64}}).ap

    assert ap.queue.mac_limit == 64
    assert ap.scheduler.kind == "airtime"
    assert ap.scheduler.aql_ns is None
    assert ap.queue.codel.target_ns == 20_000_000


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
    ("ap", "message"),
    [
        ({"profile": "mac80211"}, 'there is no access point "mac80211" (did you mean "openwrt"?)'),
        ({"profile": 5}, "is not a text"),
    ],
)
def test_a_profile_that_is_none_is_refused(ap: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        network(ap)

    assert caught.value.key == "ap.profile"
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("ap", "words"),
    [
        ({"profile": "vendor"}, "vendor FIFO (1000 packets)"),
        ({"profile": "openwrt"}, "OpenWrt (FQ-CoDel, airtime)"),
        ({"queue": {"limit": 100}}, "FIFO (100 packets)"),
        ({"queue": {"limit": "unlimited"}}, "FIFO (unlimited)"),
        ({"queue": {"limit": 1000, "mac_limit": 64}}, "FIFO (1000 packets, 64 in the driver)"),
        (
            {"queue": {"discipline": "fq-codel"}, "scheduler": "airtime"},
            "FQ-CoDel (10240 packets, airtime)",
        ),
    ],
)
@pytest.mark.parametrize("standard", ["802.11b", "802.11ac"])
def test_an_access_point_has_its_words(standard: str, ap: dict[str, Any], words: str) -> None:
    assert access_point_words(network(ap, standard)) == words


def test_the_first_line_of_an_answer_names_the_access_point() -> None:
    scenario = network({"profile": "openwrt"}, run={"warmup": "1 s", "duration": "2 s"})

    for parts in (predicted(predict(scenario)), simulated(simulate(scenario))):
        first = next(iter(parts))
        assert isinstance(first, Heading)
        assert "OpenWrt (FQ-CoDel, airtime)" in first.aside


def test_access_points_that_differ_are_named_with_their_cells() -> None:
    found = network(
        {"profile": "vendor"},
        cells={"left": {"channel": 36}, "right": {"channel": 149, "ap": {"profile": "openwrt"}}},
        stations=[{"name": f"of-{name}", "count": 1, "cell": name} for name in ("left", "right")],
        flows=[{**FLOW, "stations": f"of-{name}"} for name in ("left", "right")],
    )
    assert access_point_words(found) == (
        "vendor FIFO (1000 packets) in left; OpenWrt (FQ-CoDel, airtime) in right"
    )


def test_fixed_bursts_have_half_of_their_window_by_default() -> None:
    found = network({"access": {"scheme": "fixed-burst"}}, standard="802.11b")

    bursts = {"scheme": "fixed-burst", "window_slots": 32, "packets": 16}
    assert found.ap.access.model_dump() == bursts
    assert Scenario.from_json(found.to_json()).ap.access == found.ap.access


def test_fixed_bursts_are_sent() -> None:
    """A packet a window leaves most slots idle; sixteen do not."""
    goodput = []
    for packets in (1, 16):
        access = {"scheme": "fixed-burst", "packets": packets}
        run = {"warmup": "2 s", "duration": "5 s", "replications": 2}
        found = network(
            {"access": access},
            standard="802.11b",
            stations=[{"name": "laptop", "count": 10}],
            run=run,
        )
        goodput.append(simulate(found).metrics["goodput_bps"].mean)

    assert goodput[1] > 1.15 * goodput[0]
