"""Clauses of IEEE 802.11 are cited from one edition: that of 2020, and later amendments.

The 2016 edition is the last one with the point coordination function (deviations.md); files about
that function cite it.
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALLOWED = {"802.11-2020", "802.11ax-2021", "802.11be-2024"}
OF_THE_PCF = re.compile(r"pcf|contention-free|point coordinat", re.IGNORECASE)


def others(text: str) -> set[str]:
    """Return the editions that a text cites but must not."""
    # A PHY's name may have the year of its amendment, which is not a citation.
    cited = set(re.findall(r"802\.11[a-z]*-(?:19|20)\d\d(?! DSSS PHY)", text)) - ALLOWED
    return cited - {"802.11-2016"} if OF_THE_PCF.search(text) else cited


def test_clauses_are_those_of_one_edition() -> None:
    assert others("IEEE 802.11-2012, 9.3") == {"802.11-2012"}
    assert others("IEEE 802.11-2016, 9.3") == {"802.11-2016"}
    assert others("mac.pcf: IEEE 802.11-2016, 10.4") == set()
    kinds = ["*.rs", "*.py", "*.md", "*.toml"]
    command = ["git", "ls-files", *kinds, f":!{Path(__file__).relative_to(ROOT)}"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    files = [name for name in listed.stdout.split() if (ROOT / name).exists()]
    assert len(files) > 400
    found = {name: others((ROOT / name).read_text("utf-8", errors="replace")) for name in files}

    assert {name: some for name, some in found.items() if some} == {}
