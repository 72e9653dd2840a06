"""`airtcp web`: start the web page on the loopback interface."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.outcome import outcome, parsed
from airtcp.cli.process import note
from airtcp.extras import needed

Host = Annotated[
    str, typer.Option("--host", help="Address to listen on; any but loopback needs --token.")
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Password that each request must carry. Better set as AIRTCP_WEB_TOKEN, which other "
        "users of this machine cannot see.",
    ),
]
Runs = Annotated[
    int, typer.Option("--runs", min=1, max=64, help="Simulations run at the same time.")
]
Waiting = Annotated[
    int,
    typer.Option(
        "--queue", min=1, max=10000, help="Simulations that may be queued; more are rejected."
    ),
]
RunTime = Annotated[
    str, typer.Option("--run-time", metavar="TIME", help="Longest time of a simulation.")
]
Memory = Annotated[
    int,
    typer.Option(
        "--memory", min=512, metavar="MIB", help="Memory limit of a worker process, in MiB."
    ),
]
Stores = Annotated[
    list[Path] | None,
    typer.Option("--store", metavar="DIR", help="Show the results of this sweep, too. Repeatable."),
]


def web(
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token: Token = None,
    runs: Runs = 2,
    queue: Waiting = 100,
    run_time: RunTime = "10 min",
    memory: Memory = 4096,
    store: Stores = None,
) -> None:
    """Open a page in the browser to explore scenarios with models and simulation."""
    with outcome():
        for package in ("starlette", "tomlkit", "uvicorn"):
            needed(package, "web", "the page")
        from airtcp.units import parse_time_s
        from airtcp.web.limits import Limits
        from airtcp.web.serve import serve

        token = token or os.environ.get("AIRTCP_WEB_TOKEN")
        seconds = parsed(run_time, parse_time_s, "--run-time")
        if seconds < 1.0:
            raise typer.BadParameter("must be at least 1 s", param_hint="--run-time")
        serve(
            host=host,
            port=port,
            token=token,
            stores=store or [],
            limits=Limits(workers=runs, queue=queue, run_s=seconds, memory_mib=memory),
            ready=lambda address: _tell(address, token is not None),
        )


def _tell(address: str, guarded: bool) -> None:
    wants = "?token=... behind it" if guarded else "open it in a browser"
    print(address, flush=True)
    note(f"{wants}; Ctrl-C ends it")
