"""The page on scenario files is correct and complete."""

import re
from pathlib import Path

import pytest
import tables
from airtcp.scenario import loads, schema
from airtcp.scenario.declare import written as form
from airtcp.scenario.keys.queue import Red

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "keys.md"


def test_the_scenarios_of_the_page_resolve() -> None:
    """All blocks but the first are parts of a scenario."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    example, categories, polling, ofdma, cells, high_rate, radio_links = blocks
    rest = example[example.index("[[stations]]") :]
    flow = (
        'flows = [{ stations = "laptop", direction = "upload", application = { kind = "bulk" } }]'
    )

    assert loads(example).title == "Web users in a hot spot"
    edca = loads(example + categories).mac.edca
    assert (edca.ap["AC_VO"].aifs_ns, edca.stations["AC_BE"].aifs_ns) == (50_000, 90_000)
    polls = loads(example + polling).mac
    assert polls.pcf.interval_ns == polls.beacon.interval_ns == 25_600_000
    hall = loads(f'{flow}\nphy = {{ standard = "802.11ax" }}\n{cells}')
    assert hall.cells[0].channel == 36
    several = loads(f'phy = {{ standard = "802.11ax" }}\n{ofdma}\n{rest}').mac.ofdma
    assert several.acknowledgment == "mu-bar"
    assert loads(f'phy = {{ standard = "802.11be" }}\n{radio_links}\n{rest}').ap.links
    assert loads(high_rate + rest).phy.standard == "802.11ax"


def test_every_table_of_the_schema_is_on_the_page_and_complete() -> None:
    """Every key of every table; keys of times also stand for those of sizes."""
    page = tables.whole(PAGE)
    whole = {"": schema(), **schema()["$defs"]}
    assert len(whole) > 20
    quantities = 0
    for table, content in whole.items():
        assert content["additionalProperties"] is False
        for name, key in content["properties"].items():
            assert f"| `{name}` |" in page
            # Except for tags of distributions, which only name their table.
            assert name == "distribution" or key["description"].endswith("."), (table, name)
            required = name in content.get("required", [])
            assert required != ("x-default" in key), (table, name)
            if "pattern" in key and "x-unit" in key:
                quantities += 1
                assert all(re.fullmatch(key["pattern"], one) for one in key["examples"])
    assert quantities > 30


WHERE = {
    "Phy": "phy.{key}",
    "Mac": "mac.{key}",
    "Rules": "mac.rules.{key}",
    "AnyQueue": 'ap.queue = {{ discipline = "{discipline}", {key} }}',
    "StandardAccess": "ap.access.{key}",
    "Run": "run.{key}",
    "Tcp": "flows = [{{ {flow}, tcp.{key} }}]",
    "Aimd": "flows = [{{ {flow}, tcp.aimd.{key} }}]",
    "TcpRules": "flows = [{{ {flow}, tcp.rules.{key} }}]",
    "DelayedAck": "flows = [{{ {flow}, tcp.delayed_ack.{key} }}]",
}
"""Where a key of each table stands in a file. Not here: tables that switch something on."""


#: Keys that 802.11b does not have.
OF_HIGH_RATES = {"spatial_streams"}


@pytest.mark.parametrize("table", WHERE)
def test_a_default_may_be_written_and_changes_nothing(table: str) -> None:
    """All defaults that are values; the others say in words what they follow from."""
    flow = 'stations = "a", direction = "download", application = { kind = "bulk" }'
    always = 'phy.standard = "802.11b"\nstations = [{ name = "a", count = 1 }]\n'
    flows = f"flows = [{{ {flow} }}]\n"
    keys = {
        name: key["x-default"]
        for name, key in schema()["$defs"][table]["properties"].items()
        if "default" in key and name != "discipline"
    }
    if table == "Run":
        del keys["max_replications"]  # only with precision

    assert keys
    for name, words in keys.items():
        discipline = "red" if name in form(Red).allowed_keys() else "fq-codel"
        key = f"{name} = {words}"
        written = WHERE[table].format(flow=flow, key=key, discipline=discipline)
        head = always.replace("802.11b", "802.11n") if name in OF_HIGH_RATES else always
        left_out = f'ap.queue.discipline = "{discipline}"\n' if table == "AnyQueue" else ""
        assert loads(head + written + ("" if "flows" in written else "\n" + flows)) == loads(
            head + left_out + flows
        )
