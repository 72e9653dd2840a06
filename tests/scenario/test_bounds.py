"""A number out of bounds gives an error at its own key, whether it is written or a default."""

import time
import tomllib
from typing import Any

import airtcp
import pytest
from airtcp.exceptions import ScenarioError
from airtcp.scenario import ResolvedScenario, loads, toml_text
from airtcp.scenario.errors import scenario_error
from bases import cell
from pydantic import ValidationError

WRITTEN = tomllib.loads("""
phy.standard = "802.11ax"
mac.aggregation.ppdu_time = "2 ms"
stations = [{ name = "laptop", count = 1 }]
[[flows]]
stations = "laptop"
direction = "upload"
application = { kind = "bulk" }
tcp = { max_rto = "30 s" }
""")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("mac.aggregation.block_ack_window", 1025, "1025 is too large; allowed: 1024 at most"),
        # For a written key the error shows the value in the file.
        ("flows[0] (laptop).tcp.max_rto", -1, '"30 s" is too small; allowed: '),
    ],
)
def test_a_number_out_of_bounds_has_its_key(path: str, value: int, said: str) -> None:
    data: Any = airtcp.load(WRITTEN).to_dict()
    if path.startswith("mac"):
        data["mac"]["aggregation"]["block_ack_window"] = value
    else:
        data["flows"][0]["tcp"]["max_rto_ns"] = value
    with pytest.raises(ValidationError) as caught:
        ResolvedScenario.from_dict(data)
    error = scenario_error("office.toml", WRITTEN, caught.value)
    assert error.key == path
    assert str(error).startswith(f"office.toml: {path}: {said}")


DEEP = "a." * 60_000


@pytest.mark.parametrize(
    "line",
    [
        f"{DEEP}b = 1",
        '"a" . ' * 60_000 + "b = 1",
        '"\u2028".' * 60_000 + "b = 1",
        f"[{DEEP}b]",
        f"x = {{ {DEEP}b = 1 }}",
        "a." * toml_text.MOST_PARTS + "b = 1",
    ],
    ids=["bare", "quoted", "other line ends", "header", "inline", "one too many"],
)
def test_a_key_has_few_parts(line: str) -> None:
    with pytest.raises(ScenarioError, match="more than 32 parts") as error:
        loads(f"{cell(1)}\n{line}\n")
    assert error.value.key == ""


@pytest.mark.parametrize("sign", ['"', "'", '"""', "'''"])
def test_dots_in_texts_and_comments_are_no_parts(sign: str) -> None:
    assert loads(f"title = {sign}{DEEP}{sign}\n# {DEEP}\n{cell(1)}").title == DEEP


def test_signs_of_texts_that_do_not_end_are_looked_at_once() -> None:
    begin = time.process_time()
    with pytest.raises(ScenarioError, match="not TOML"):
        loads('\\"""' * 100_000 + "." * 100)
    assert time.process_time() - begin < 2.0


def test_the_mistakes_of_a_file_are_worked_out_up_to_a_number() -> None:
    lines = "".join(f"unknown{one} = 1\n" for one in range(20_000))
    with pytest.raises(ScenarioError) as error:
        loads(lines + cell(1))
    assert len(error.value.more) == 999


FLOW = """
[[flows]]
stations = "g{}"
direction = "download"
application = {{ kind = "bulk" }}
"""


@pytest.mark.verify
@pytest.mark.parametrize(("group", "flow"), [("count = 1", FLOW), ('profile = "phone"', "")])
def test_groups_take_time_in_proportion_to_their_number(group: str, flow: str) -> None:
    def taken_s(groups: int) -> float:
        text = 'phy = { standard = "802.11ax" }\n' + "".join(
            f'[[stations]]\nname = "g{one}"\n{group}\n{flow.format(one)}' for one in range(groups)
        )
        begin = time.process_time()
        scenario = loads(text)
        assert len(scenario.stations) == groups
        assert scenario.to_toml().count("[[stations]]") == groups
        return time.process_time() - begin

    taken_s(10)
    # Eight times as many groups. Searching all flows for each group took 24 and 41 times as long,
    # searching all comments for each key 50 times.
    assert taken_s(4000) < 16.0 * min(taken_s(500) for _ in range(3))
