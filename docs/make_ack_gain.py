"""Make picture and table of docs/ack-gain.md from the item that `airtcp reproduce acks` makes.

Seeds are fixed, so that whoever runs this gets the same numbers.

    .venv/bin/python docs/make_ack_gain.py   # two minutes on two cores
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tables
from airtcp.reproduce.bench import Settings
from airtcp.reproduce.catalogue import find
from airtcp.reproduce.make import make, record_of

DOCS = Path(__file__).parent
PAGE = DOCS / "ack-gain.md"
PICTURE = DOCS / "images" / "ack-gain.png"


def gains(record: dict[str, Any]) -> str:
    """A row for each PHY and number of downloads: goodput with one ACK each, then gains."""
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


def main() -> None:
    """Make the item in a folder of its own, and take picture and numbers from there."""
    (item,) = find("acks")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (made,) = make([item], Settings(), out)
        if made.how != "made":
            raise RuntimeError(made.reason)
        record = record_of(item, out)
        assert record is not None
        PICTURE.write_bytes((out / "acks" / "acks.png").read_bytes())
    tables.remake(PAGE, {"gains": lambda: gains(record), "found": lambda: record["found"]})


if __name__ == "__main__":
    main()
