"""Make the table of accuracy.md: which scripts of google/packetdrill pass, and why others fail.

The scripts are GPL-2.0 and not part of airtcp. `AIRTCP_PACKETDRILL` is their location (the
directory with `gtests`). Without it the page is not changed.

    AIRTCP_PACKETDRILL=DIR .venv/bin/python docs/make_packetdrill.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import tables

PAGE = Path(__file__).parent / "explanation" / "accuracy.md"
ROOT = PAGE.parents[1]

#: The data-path scripts: directories of `gtests/net/tcp`.
GROUPS = (
    "slow_start",
    "cubic",
    "sack",
    "fast_retransmit",
    "fast_recovery",
    "limited_transmit",
    "cwnd_moderation",
    "ts_recent",
    "close",
)

#: Reasons of scripts that fail.
REASONS = {
    "cubic/cubic-bulk-166k-idle-restart": "Linux gathers segments for its card, so that the "
    "window counts as not used before the pause; here it was full, and the acknowledgment before "
    "the pause counts for its growth after it. Linux 6.18 without `fq` fails, too, at line 52.",
    "cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data": "A queue of no packets makes the "
    "local host refuse to send. Queues are not the endpoint's here. Linux 6.18 passes.",
    "fast_retransmit/fr-4pkt-fack-last-mss": "A quarter of the least round trip, 25 ms, 2 ms and "
    "a tick. Linux 6.18 with ticks of 4 ms needs 31 ms and fails here, too, by packetdrill's own "
    "tolerance; 40 ms are those of kernels that added two ticks.",
    "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700": "An acknowledgment "
    "that advances and tells of no loss lets one segment more go: 5 by RFC 9937, and 5 is what "
    "Linux 6.18 says, which fails here, too.",
}


def results(of: Path) -> str:
    """Return one row per group, then one per failing script."""
    scripts = [path for group in GROUPS for path in sorted((of / group).glob("*.pkt"))]
    subprocess.run(["cargo", "build", "-q", "--release", "-p", "airtcp-packetdrill"], cwd=ROOT)
    runner = ROOT / "target/release/airtcp-packetdrill"
    ran = subprocess.run([runner, *scripts], capture_output=True, text=True, check=False)
    failed = {}
    for line in ran.stdout.splitlines():
        if found := re.fullmatch(r"failed (.*)\.pkt:(\d+): (.*)", line):
            path, number, said = found.groups()
            failed[str(Path(path).relative_to(of))] = (number, said)
    rows = []
    for group in GROUPS:
        count = sum(path.parent.name == group for path in scripts)
        lost = sum(name.startswith(f"{group}/") for name in failed)
        rows.append([f"`{group}`", f"{count - lost} of {count} pass", ""])
    rows.append(["all", f"{len(scripts) - len(failed)} of {len(scripts)} pass", ""])
    for name, (number, said) in failed.items():
        rows.append([f"`{name}`", f"line {number}: {said}".replace("|", "\\|"), REASONS[name]])
    return tables.markdown(["scripts", "result", "why"], rows)


if __name__ == "__main__":
    given = os.environ.get("AIRTCP_PACKETDRILL")
    if given is None:
        sys.stderr.write(f"{PAGE.name} stays as it is: AIRTCP_PACKETDRILL is not set\n")
    else:
        tables.remake(PAGE, {"packetdrill": partial(results, Path(given) / "gtests/net/tcp")})
