"""Reproduce paper H, Tables I and II: the parameters, and the origin of stated numbers."""

from __future__ import annotations

from dataclasses import fields

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data
from airtcp_papers.hoekstra.model import TABLE_1, TABLE_1_PROVENANCE, Dialogue, Parameters, Radio
from airtcp_papers.hoekstra.testbed import GAPS_S, service_s

_MICRO = 1e-6
_LOWEST_OFDM_BPS = 6e6


@item("H.table1")
def table1(bench: Bench) -> Found:
    names = [one.name for one in fields(TABLE_1["802.11b"])]
    rows: list[list[Cell]] = []
    for name in names:
        cells: list[Cell] = [getattr(radio, name) for radio in TABLE_1.values()]
        rows.append([name, *cells, TABLE_1_PROVENANCE.get(name, "")])
    b, g = TABLE_1["802.11b"], TABLE_1["802.11g"]
    difs = b.sifs_s + 2.0 * b.slot_s
    eifs = b.sifs_s + b.difs_s + b.phy_s + b.ack_bits / b.management_rate_bps
    others = [TABLE_1[name] for name in ("802.11a", "802.11g", "802.11n")]
    return Found(
        data=Data(["parameter", *TABLE_1, "source"], rows),
        values={
            "difs_b": difs,
            "eifs_b": eifs,
            "difs_others_off": max(
                abs(one.difs_s - one.sifs_s - 2.0 * one.slot_s) for one in others
            ),
            "eifs_others_off": max(abs(one.eifs_s - _eifs(one)) for one in others),
            "columns": float(len(TABLE_1)),
        },
        told={
            "difs_us": difs / _MICRO,
            "eifs_us": eifs / _MICRO,
            "eifs_of_g_us": g.eifs_s / _MICRO,
        },
    )


def _eifs(radio: Radio) -> float:
    """Return SIFS, DIFS and an ACK at the lowest rate: 1 Mb/s with 802.11b, else 6 Mb/s."""
    if radio is TABLE_1["802.11g"]:
        b = TABLE_1["802.11b"]
        ack_s = b.phy_s + b.ack_bits / b.management_rate_bps
    else:
        assert radio.symbol_s is not None
        bits = _LOWEST_OFDM_BPS * radio.symbol_s
        ack_s = radio.phy_s + radio.symbol_s * -(-radio.ack_bits // bits)
    return radio.sifs_s + radio.difs_s + ack_s


@item("H.table2")
def table2(bench: Bench) -> Found:
    testbed = Parameters.testbed()
    application = bench.scenario("downloads").flows[0].application
    assert application.kind == "ftp"
    assert application.control is not None
    messages = application.control.model_dump()
    dialogue = Dialogue()
    same = all(
        8 * messages[f"{name}_bytes"] == getattr(dialogue, f"{name}_bits")
        for name in ("pasv", "reply_227", "retr", "reply_150", "reply_226")
    )
    gap = GAPS_S[200e3][4]
    with_beacons, without = service_s("exponential"), service_s("exponential", beacons=False)
    basic = service_s("exponential", model="basic", beacons=False)
    rows: list[list[Cell]] = []
    for name in dialogue.__dataclass_fields__:
        rows.append([name, getattr(dialogue, name), "bits"])
    for size, gaps in GAPS_S.items():
        rows.append([f"1/lambda, {size / 1e3:g} kB", ", ".join(map(str, gaps)), "s"])
    rows += [
        ["mss_bits", testbed.mss_bits, "bits"],
        ["upper_bits", testbed.upper_bits, "bits, LLC included"],
        ["mac_ack_s", testbed.mac_ack_s, "s"],
        ["beta_eff, refined, without beacons", without, "s"],
        ["beta_eff, refined, with beacons (22)", with_beacons, "s"],
        ["beta_eff, basic", basic, "s"],
        ["rho_eff, refined, without beacons", without / gap, ""],
        ["rho_eff, refined, with beacons (22)", with_beacons / gap, ""],
    ]
    return Found(
        data=Data(["parameter", "value", "unit"], rows),
        values={
            "beta": with_beacons,
            "beta_without_beacons": without,
            "rho": with_beacons / gap,
            "rho_without_beacons": without / gap,
            "messages_differ": 0.0 if same else 1.0,
        },
        told={"gap": gap, "each": "those of the table." if same else "not those of the table."},
    )
