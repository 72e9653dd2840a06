"""How many replications can run at a time."""

from __future__ import annotations

import os
import sys


def processors() -> int:
    """Return the processors available to this process; a container may allow fewer than exist."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def has_threads() -> bool:
    """Whether this Python can start threads; one in a browser cannot."""
    return sys.platform != "emscripten"
