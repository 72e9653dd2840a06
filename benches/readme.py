"""Write measurements into `benches/README.md` or another page, between their markers."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

README = Path(__file__).with_name("README.md")


def replace(name: str, text: str, page: Path = README) -> None:
    """Replace the text between the markers of the table `name`; exit if there are none."""
    begins, ends = f"<!-- {name}: begins -->", f"<!-- {name}: ends -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begins)
    _, end, after = rest.partition(ends)
    if not found or not end:
        sys.exit(f"{page} has no table {name}")
    page.write_text(f"{before}{begins}\n{text}\n{ends}{after}", encoding="utf-8")


def processor() -> str:
    """Return the processor's name as the system reports it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
