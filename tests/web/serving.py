"""Start a server as users do, and send it requests."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from children import Children

#: A scenario whose simulation takes a moment only.
QUICK = {"run.duration": "5 s", "run.warmup": "1 s", "run.replications": 3}
#: One whose simulation takes minutes.
LONG = {"run.duration": "100000 s", "run.replications": 20}


@dataclass
class Web:
    """A server and its process."""

    url: str
    process: subprocess.Popen[str]
    temporary: Path
    children: Children

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, Any]:
        """Return the status and the response: parsed JSON, or a text."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        all_headers = {"content-type": "application/json"} if data is not None else {}
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers=all_headers | (headers or {})
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return response.status, taken(response.read(), response.headers)
        except urllib.error.HTTPError as error:
            return error.code, taken(error.read(), error.headers)

    def run(self, body: dict[str, Any], seconds: float = 300.0) -> dict[str, Any]:
        """Run a job to its end: return its state and all messages."""
        status, told = self.ask("api/jobs", body)
        assert status == 202, told
        return self.ended(told["id"], seconds)

    def ended(self, job: str, seconds: float = 300.0) -> dict[str, Any]:
        """Wait until a run has ended, and return its state."""
        return self.until(job, lambda state: state not in ("waiting", "running"), seconds)

    def memory_mib(self, *kinds: str) -> float:
        """Return the private memory of the server process, or of its workers of some kinds."""
        pids = [pid for kind in kinds for pid in self.workers(kind)] or [self.process.pid]
        rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
        lines = [line.split() for text in rollups for line in text.splitlines()]
        return sum(int(line[1]) for line in lines if line[0].startswith("Private_")) / 1024

    def far(self, job: str, seconds: float = 300.0) -> None:
        """Wait until a run has made progress."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.ask(f"api/jobs/{job}")[1]["progress"] > 0:
                return
            time.sleep(0.05)
        raise AssertionError(f"no progress after {seconds} s")

    def until(self, job: str, there: Any, seconds: float = 300.0) -> dict[str, Any]:
        """Wait until `there` accepts the state of a run, and return the run."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            _, told = self.ask(f"api/jobs/{job}")
            if there(told["state"]):
                return dict(told)
            time.sleep(0.05)
        raise AssertionError(f"still {told['state']} after {seconds} s")

    def workers(self, kind: str) -> list[int]:
        """Return the process ids of workers of a kind."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
                parent = (path.parent / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            is_one = b"airtcp.web.worker" in words and kind.encode() in words
            if is_one and int(parent) == self.process.pid:
                found.append(int(path.parent.name))
        return found


def taken(content: bytes, headers: Any) -> Any:
    if headers.get("content-type", "").startswith("application/json"):
        return json.loads(content)
    return content.decode()


def started(*options: str, folder: Path) -> Web:
    """Start `airtcp web` with options, on a free port."""
    mine = Children()
    try:
        with (folder / "stderr").open("w") as stderr:
            process = mine.start(
                [sys.executable, "-m", "airtcp", "web", "--port", "0", *options],
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=os.environ | {"TMPDIR": str(folder)},
            )
        assert process.stdout is not None
        return Web(process.stdout.readline().strip(), process, folder, mine)
    except BaseException:
        mine.end()
        raise


def ended(web: Web) -> str:
    """Stop a server with Ctrl-C, and return its stderr."""
    try:
        web.process.send_signal(signal.SIGINT)
        assert web.process.wait(timeout=30) == 0
    finally:
        web.children.end()
    return (web.temporary / "stderr").read_text()
