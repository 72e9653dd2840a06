"""Files of thousands of groups: the time that they take to be read grows with their number."""

from __future__ import annotations

import time

import pytest
from airtcp.scenario import loads


def text(count: int, group: str, flow: str) -> str:
    groups = "".join(
        f'[[stations]]\nname = "g{one}"\n{group}\n{flow.format(one)}' for one in range(count)
    )
    return f'phy = {{ standard = "802.11ax" }}\n{groups}'


FLOW = """
[[flows]]
stations = "g{}"
direction = "download"
application = {{ kind = "bulk" }}
"""


@pytest.mark.verify
@pytest.mark.parametrize(
    ("group", "flow"), [("count = 1", FLOW), ('profile = "phone"', "")], ids=["flows", "profiles"]
)
def test_eight_times_as_many_groups_take_about_eight_times_as_long(group: str, flow: str) -> None:
    def cpu_s(count: int) -> float:
        begin = time.process_time()
        scenario = loads(text(count, group, flow))
        assert len(scenario.stations) == count
        return time.process_time() - begin

    cpu_s(10)
    # With lists that were gone through for each group it was 24 and 41 times as long.
    assert cpu_s(4000) < 16.0 * min(cpu_s(500) for _ in range(3))
