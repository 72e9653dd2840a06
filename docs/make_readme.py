"""Make the picture and the table of the README from the demo's own run.

Knows: which example the demo runs, and the markers in README.md between which the table stands.
Knows no numbers: scenario and seed decide them, so that whoever runs this gets the same table.

    .venv/bin/python docs/make_readme.py
"""

from __future__ import annotations

import re
from pathlib import Path

from airtcp import compare, load
from airtcp.present import drawing, plot, summary
from airtcp.results import Comparison

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "web-hotspot.png"
SCENARIO = ROOT / "python" / "airtcp" / "examples" / "web-hotspot.toml"

_TABLE = re.compile(r"(<!-- table: begins -->\n).*?(<!-- table: ends -->)", re.DOTALL)


def demo() -> Comparison:
    """What `make demo` computes."""
    return compare(load(SCENARIO))


def cells(result: Comparison) -> list[list[str]]:
    """The comparison as the demo prints it: the head, then a list of texts for each line."""
    head = ["metric", "model", "source", f"simulation, {100 * result.simulation.confidence:g} %"]
    lines = [
        [line.metric, line.model, line.source, line.simulation, line.difference, line.verdict]
        for line in summary.comparison_lines(result)
    ]
    return [[*head, "difference", ""], *lines]


def table(result: Comparison) -> str:
    """The comparison in Markdown."""
    head, *lines = cells(result)
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def with_table(readme: str, result: Comparison) -> str:
    """The README with the table of `result`."""
    return _TABLE.sub(lambda match: f"{match[1]}\n{table(result)}\n\n{match[2]}", readme)


def main() -> None:
    """Write both."""
    result = demo()
    README.write_text(with_table(README.read_text(encoding="utf-8"), result), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(drawing.png(plot.pictures(result)["comparison"]))


if __name__ == "__main__":
    main()
