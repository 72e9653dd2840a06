"""Profiles of applications, above whose keys a file's own stand, and the names of all profiles.

Knows what is measured of the traffic of today, and from where. Does not know what the keys mean.

**web-2025**: a home page on a desktop as the Web Almanac 2025 (HTTP Archive, chapter "Page weight")
has them: 607, 1275, 2412, 4570 and 9179 kB at the 10th, 25th, 50th, 75th and 90th percentile, about
70 objects. The size of a page is log-normal, fitted to the five quantiles by least squares of the
logarithms: mu = ln 2392 kB and sigma = 1.035, which gives 635, 1190, 2392, 4808 and 9013 kB (within
7 %). Its objects share it in proportion to log-normal draws with sigma = 1.80: over all pages an
object has 8, 31 and 110 kB at the 50th, 75th and 90th percentile, beside 8, 52 and 186 kB that are
reported of images, and 59 and 165 kB at the 90th of HTML and scripts. How long a reader thinks and
how long a request is are not in that report: 30 s and 500 B are assumptions.
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
    """The names of profiles of a kind, for the JSON Schema; `expand` refuses all others."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "enum": names(self._kind)}
