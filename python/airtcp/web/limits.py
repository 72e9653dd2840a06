"""What one page may cost: bounds that the one who serves it can set.

Knows numbers and their reasons. Does not know who keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine the pages may take, all together.

    `workers` are runs under way at a time, `queue` how many more may wait, `own` how many of them
    of one browser, `questions` how many may have asked for them; `run_s` is the longest that one
    may take (wall clock), `memory_mib` the address space of a worker. `answer_s` is the longest
    for an answer of the models. `body_bytes` bounds what a request may hold, `upload_bytes` one
    uploaded file, and `uploads_bytes` all of them; `held_bytes` is what all requests that are read
    or answered may hold together. Of answers of the models that are known, and of what runs that
    ended have told, `known_bytes` are kept each, as JSON. A run that no page has asked about for
    `forgotten_s` is stopped; how one ended is kept for `kept_s`, of at most `most_kept` runs.
    """

    workers: int = 2
    queue: int = 100
    own: int = 10
    questions: int = 10_000
    run_s: float = 600.0
    memory_mib: int = 4096
    answer_s: float = 30.0
    body_bytes: int = 2 * _MIB
    upload_bytes: int = 16 * _MIB
    uploads_bytes: int = 256 * _MIB
    held_bytes: int = 64 * _MIB
    known_bytes: int = 64 * _MIB
    forgotten_s: float = 60.0
    kept_s: float = 900.0
    most_kept: int = 200
