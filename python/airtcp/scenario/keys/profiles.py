"""Profiles of applications, which keys in a file override, and the names of all profiles.

**web-2025**: a desktop home page with the numbers of the Web Almanac 2025 (HTTP Archive, chapter
"Page weight"): 607, 1275, 2412, 4570 and 9179 kB at the 10th, 25th, 50th, 75th and 90th percentile,
and about 70 objects. The size of a page is log-normal, fitted to the five quantiles by least
squares of the logarithms: mu = ln 2392 kB and sigma = 1.035, which gives 635, 1190, 2392, 4808 and
9013 kB (within 7 %). Its objects share the size in proportion to log-normal draws with sigma =
1.80. Over all pages an object then has 8, 31 and 110 kB at the 50th, 75th and 90th percentile. The
report has 8, 52 and 186 kB for images, and 59 and 165 kB at the 90th percentile for HTML and
scripts. It does not have think times and request sizes: 30 s and 500 B are assumptions.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..profiles import Kind, names

PROFILES: Final[Mapping[str, Mapping[str, Any]]] = {
    "web-2025": {
        "kind": "web",
        "page": {
            "objects": 70,
            "size": {"distribution": "lognormal", "mean": "4087 kB", "scv": 1.92},
            "connections": 6,
        },
        "size": {"distribution": "lognormal", "mean": "58 kB", "scv": 24.5},
        "think_time": {"distribution": "exponential", "mean": "30 s"},
        "request": "500 B",
    },
    "call": {"kind": "call"},
}


class NameOf:
    """The names of profiles of a kind, for the JSON Schema; `expand` rejects all others."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "enum": names(self._kind)}
