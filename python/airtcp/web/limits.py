"""Resource limits of the web page, which the operator can set."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources that all pages together may use.

    Runs: `workers` is the number of concurrent runs, `queue` the number of waiting runs, `own` the
    waiting runs of one browser, and `questions` the open requests for runs. `run_s` is the longest
    duration of a run (wall clock), and `memory_mib` the address space of a worker.

    Requests: `answer_s` is the longest time for an answer of the models. `body_bytes` limits a
    request, `upload_bytes` one uploaded file, and `uploads_bytes` all uploads. `held_bytes` limits
    all requests in progress together.

    Memory: `known_bytes` limits the cached answers of models, and separately the messages of
    completed runs, as JSON. A run that no page has asked about for `forgotten_s` is stopped.
    Completed runs are kept for `kept_s`, at most `most_kept` of them.
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
