"""What is written about scenario files is what holds."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from airtcp import standards
from airtcp.scenario import loads, resolved, schema
from airtcp.units import format_time_ns

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scenario-files.md"
CONTRACT = ROOT / "docs" / "resolved-form.md"


def test_the_table_of_keys_is_that_of_the_schema(make_keys: ModuleType) -> None:
    page = PAGE.read_text()

    assert page == make_keys.with_table(page, "keys"), "run: python docs/make_keys.py"


def test_the_scenarios_of_the_page_resolve() -> None:
    """The second is a part of one."""
    example, categories = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)

    assert loads(example).title == "Web users in a hot spot"
    edca = loads(example + categories).mac.edca
    assert edca is not None
    assert (edca.ap["AC_VO"].aifs_ns, edca.stations["AC_BE"].aifs_ns) == (50_000, 90_000)


def test_every_table_of_the_schema_is_on_the_page() -> None:
    """Every key of every table, those of times standing for those of sizes."""
    page = PAGE.read_text()
    tables = [schema(), *schema()["$defs"].values()]
    assert len(tables) > 20
    for table in tables:
        for name in table["properties"]:
            assert f"| `{name}` |" in page


def properties() -> list[tuple[str, str, dict[str, Any]]]:
    """(table, key, its schema) of the whole written form."""
    tables = {"": schema(), **schema()["$defs"]}
    return [
        (table, name, key)
        for table, content in tables.items()
        for name, key in content["properties"].items()
    ]


def test_every_key_is_described() -> None:
    """All but the tags, which say themselves which table it is."""
    for table, name, key in properties():
        if name not in ("kind", "distribution"):
            assert key["description"].endswith("."), (table, name)


def test_every_key_is_required_or_has_a_default() -> None:
    tables = {"": schema(), **schema()["$defs"]}
    for table, name, key in properties():
        required = name in tables[table].get("required", [])
        assert required != ("x-default" in key), (table, name)


def test_every_quantity_has_its_unit_and_an_example() -> None:
    quantities = [key for _, _, key in properties() if "pattern" in key and "x-unit" in key]

    assert len(quantities) > 30
    for key in quantities:
        for example in key["examples"]:
            assert re.fullmatch(key["pattern"], example)


def test_nothing_unknown_is_let_in() -> None:
    for table in [schema(), *schema()["$defs"].values()]:
        assert table["additionalProperties"] is False


def default(table: str, name: str) -> str:
    where = schema() if not table else schema()["$defs"][table]
    text = where["properties"][name]["x-default"]
    assert isinstance(text, str)
    return text


MINIMAL = """
stations = [{ name = "a", count = 1 }]
flows = [{ stations = "a", direction = "download", application = { kind = "bulk" } }]
[phy]
"""
B, SHORT, A, G = (
    loads(f'{MINIMAL}standard = "{standard}"\n{more}').phy
    for standard, more in (
        ("802.11b", ""),
        ("802.11b", 'preamble = "short"'),
        ("802.11a", ""),
        ("802.11g", ""),
    )
)


def us(time_ns: int) -> str:
    assert time_ns % 1000 == 0
    return f"{time_ns // 1000} us"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("slot_time", f"{us(B.slot_time_ns)} (b), {us(A.slot_time_ns)} (a, g)"),
        ("sifs", f"{us(B.sifs_ns)} (b, g), {us(A.sifs_ns)} (a)"),
        ("difs", f"{us(B.difs_ns)} (b), {us(A.difs_ns)} (a), {us(G.difs_ns)} (g)"),
        ("eifs", f"{us(B.eifs_ns)} (b), {us(A.eifs_ns)} (a), {us(G.eifs_ns)} (g)"),
        (
            "ack_timeout",
            f"{us(B.ack_timeout_ns)} (b, long), {us(SHORT.ack_timeout_ns)} (b, short), "
            f"{us(A.ack_timeout_ns)} (a), {us(G.ack_timeout_ns)} (g); "
            f"with rules of ns-2 SIFS + ACK + {us(standards.NS2_ROUND_TRIP_NS)}",
        ),
        (
            "preamble_time",
            f"{us(B.dsss.preamble_time_ns)} (long), {us(SHORT.dsss.preamble_time_ns)} (short), "
            f"{us(A.ofdm.preamble_time_ns)} (OFDM)",
        ),
        (
            "plcp_header_time",
            f"{us(B.dsss.plcp_header_time_ns)} (long), "
            f"{us(SHORT.dsss.plcp_header_time_ns)} (short), "
            f"{us(A.ofdm.plcp_header_time_ns)} (OFDM)",
        ),
        ("cw_min", f"{B.cw_min} (b), {A.cw_min} (a, g)"),
        ("cw_max", f"{B.cw_max}"),
        ("rts_bits", f"{B.rts_bits}"),
        ("cts_bits", f"{B.cts_bits}"),
        ("ack_bits", f"{B.ack_bits}"),
        ("mac_header_bits", f"{B.mac_header_bits}"),
        ("llc_bits", f"{B.llc_bits}"),
    ],
)
def test_defaults_of_the_physical_layer(name: str, text: str) -> None:
    assert default("Phy", name).endswith(text)


def test_the_same_holds_where_two_standards_share_a_default() -> None:
    assert G.sifs_ns == B.sifs_ns
    assert (G.slot_time_ns, G.cw_min, G.cw_max) == (A.slot_time_ns, A.cw_min, A.cw_max)
    assert (A.cw_max, G.ofdm.preamble_time_ns) == (B.cw_max, A.ofdm.preamble_time_ns)


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("Tcp", "flows = [{{ {flow}, tcp.{key} }}]"),
        ("Aimd", "flows = [{{ {flow}, tcp.aimd.{key} }}]"),
        ("TcpRules", "flows = [{{ {flow}, tcp.rules.{key} }}]"),
        ("DelayedAck", "flows = [{{ {flow}, tcp.delayed_ack.{key} }}]"),
    ],
)
def test_a_default_may_be_written_and_changes_nothing(table: str, where: str) -> None:
    """All that the schema gives as a value; the words of the others say what follows from what."""
    flow = MINIMAL[MINIMAL.index("[{ stations") + 3 : MINIMAL.index(" }]\n[phy]")]
    standard = 'phy.standard = "802.11b"\nstations = [{ name = "a", count = 1 }]\n'
    tried = [
        f"{name} = {key['x-default']}"
        for name, key in schema()["$defs"][table]["properties"].items()
        if "default" in key
    ]

    assert tried
    for key in tried:
        assert loads(standard + where.format(flow=flow, key=key)) == loads(
            standard + f"flows = [{{ {flow} }}]"
        )


def test_other_defaults() -> None:
    run = standards.RUN
    run_defaults = {
        "warmup": f'"{format_time_ns(run.warmup_ns)}"',
        "duration": f'"{format_time_ns(run.duration_ns)}"',
        "replications": str(run.replications),
        "seed": str(run.seed),
        "confidence": str(run.confidence),
        "max_replications": str(run.max_replications),
    }
    for name, text in run_defaults.items():
        assert default("Run", name) == text, name
    assert default("Mac", "short_retry_limit") == str(standards.SHORT_RETRY_LIMIT)
    assert default("Mac", "long_retry_limit") == str(standards.LONG_RETRY_LIMIT)


def test_the_rules_of_the_page_are_the_presets() -> None:
    page = PAGE.read_text()
    for preset in get_args(resolved.TcpRules.model_fields["preset"].annotation):
        tcp = (
            loads(
                MINIMAL.replace("} }]", f'}}, tcp.rules.preset = "{preset}" }}]')
                + 'standard = "802.11b"'
            )
            .flows[0]
            .tcp
        )
        once = str(tcp.rules.fast_retransmit_once_per_window).lower()
        assert f'| `"{preset}"` | `"{tcp.rules.loss_window}"` | {once} |' in page
    for name, rules in standards.MAC_RULES.items():
        cells = [
            str(rules.immediate_access).lower(),
            str(rules.post_backoff).lower(),
            str(rules.post_backoff_after_drop).lower(),
            f'`"{rules.after_collision}"`',
            f'`"{rules.colliders}"`',
            f'`"{rules.arrival_before_own_ack}"`',
        ]
        assert f'| `"{name}"` | {" | ".join(cells)} |' in page


@pytest.mark.parametrize(
    "model",
    [
        getattr(resolved, name)
        for name in resolved.__all__
        if isinstance(getattr(resolved, name), type)
    ],
)
def test_the_resolved_form_is_the_one_agreed_on(model: type) -> None:
    """Each field is named, in quotes, on the page that the core is written against."""
    page = CONTRACT.read_text()
    for name in model.model_fields:
        assert f'"{name}"' in page, name
