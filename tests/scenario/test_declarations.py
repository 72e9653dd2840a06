"""Both forms of a table follow from one declaration per key, shown on an invented table."""

from typing import Annotated, ClassVar, Literal

import pytest
from airtcp.scenario.declare import (
    Key,
    Table,
    by_preset,
    derived,
    file_only,
    follows,
    key,
    name_in_files,
    none,
    written,
)
from airtcp.scenario.quantities import Percent
from pydantic import Field, ValidationError


class Inner(Table):
    """A nested table."""

    factor: float = key("A factor.", default=0.5, gt=0, le=1)


class Example(Table):
    """A table."""

    preset: Literal["standard", "peer"] = key("A set.", default="standard")
    switch: bool = key("A rule.", default=by_preset(True, {"peer": False}))
    timeout_ns: int = key("A time.", default="200 ms", gt=0, source="RFC 1122, 4.2.3.2")
    rate_bps: int | None = key("A rate.", default=none("no limit"))
    share: float | None = key("A share.", default=none(), reads=Percent)
    count: int = key("A number.", ge=1, unit="packets")
    every_: ClassVar[Key] = file_only(Annotated[int, Field(ge=1)], "In files alone.", default=2)
    pairs: tuple[int, ...] = derived("In the resolved form alone.")
    inner: Inner = key("A table.", default={})
    limit: int = key("Three counts.", default=follows("3 `count`"))


def test_keys_of_files_have_no_unit_in_their_names() -> None:
    names = [name_in_files(name) for name in ("mss_bytes", "min_rto_ns", "rate_bps", "rts_bits")]
    assert names == ["mss", "min_rto", "rate", "rts_bits"]
    known = "preset switch timeout rate share count every inner limit"
    assert written(Example).allowed_keys() == known.split()


@pytest.mark.parametrize(
    ("keys", "type_"),
    [
        ({"count": 0}, "greater_than_equal"),
        ({"count": 1, "timeout": "0 s"}, "greater_than"),
        ({"count": 1, "inner": {"factor": 1.5}}, "less_than_equal"),
        ({"count": 1, "every": 0}, "greater_than_equal"),
        ({"count": 1, "timeout_ns": 5}, "unknown_keys"),
        ({"count": 1, "pairs": [1]}, "unknown_keys"),
        ({}, "missing_keys"),
    ],
)
def test_bounds_and_names_hold_for_files(keys: dict[str, object], type_: str) -> None:
    with pytest.raises(ValidationError) as caught:
        written(Example).model_validate(keys)
    assert caught.value.errors()[0]["type"] == type_


def test_the_schema_says_what_was_declared() -> None:
    keys = written(Example).model_json_schema()["properties"]
    said = {name: keys[name].get("x-default") for name in keys}
    assert said == {
        "preset": '"standard"',
        "switch": "true (peer: false)",
        "timeout": '"200 ms"',
        "rate": "none: no limit",
        "share": "none",
        "count": None,
        "every": "2",
        "inner": "all defaults",
        "limit": "3 `count`",
    }
    assert keys["timeout"]["x-source"] == "RFC 1122, 4.2.3.2"
    assert keys["timeout"]["description"] == "A time."
    assert (keys["count"]["x-unit"], keys["count"]["minimum"]) == ("packets", 1)
