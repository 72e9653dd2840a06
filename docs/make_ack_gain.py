"""Make the picture and the table of acks.md from the item of `airtcp reproduce acks`.

Seeds are fixed, so every run gives the same numbers.

    .venv/bin/python docs/make_ack_gain.py   # two minutes on two cores
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import tables
from airtcp_papers.common.bench import Settings
from airtcp_papers.common.catalogue import find
from airtcp_papers.common.make import make, record_of

DOCS = Path(__file__).parent
PAGE = DOCS / "papers" / "acks.md"
PICTURE = DOCS / "images" / "ack-gain.png"


def gains(record: dict[str, Any]) -> str:
    """List the goodput with one ACK per segment, then gains, by PHY and number of downloads."""
    rows: dict[tuple[str, int], dict[str, list[float]]] = {}
    for phy, count, acks, *numbers in record["rows"]:
        rows.setdefault((phy, count), {})[acks] = numbers
    (first, *_), *_ = rows.values()
    columns = list(next(iter(rows.values())))
    head = ["PHY, downloads", f"{first}, Mb/s", *columns[1:]]
    return tables.markdown(
        head,
        [
            [
                f"{phy}, {count}",
                "{1:.1f} ({0:.1f})".format(*cells[first]),
                *("{4:+.1f} ({3:+.1f})".format(*cells[acks]) for acks in columns[1:]),
            ]
            for (phy, count), cells in rows.items()
        ],
    )


@cache
def made() -> tuple[dict[str, Any], bytes]:
    """Make the item in a temporary folder. Return its record and its picture."""
    (item,) = find("acks")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (one,) = make([item], Settings(), out)
        if one.how != "made":
            raise RuntimeError(one.reason)
        record = record_of(item, out)
        assert record is not None
        return record, (out / "acks" / "acks.png").read_bytes()


TABLES: Mapping[str, Callable[[], str]] = {
    "gains": lambda: gains(made()[0]),
}

if __name__ == "__main__":
    tables.remake(PAGE, TABLES)
    PICTURE.write_bytes(made()[1])
