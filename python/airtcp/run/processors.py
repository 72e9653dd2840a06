"""The number of replications to run at a time. Knows the machine, not what runs on it."""

from __future__ import annotations

import os


def processors() -> int:
    """Processors that this process may use; a container often allows fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
