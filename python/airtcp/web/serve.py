"""The server process: host, port, and temporary folder."""

from __future__ import annotations

import contextlib
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from airtcp.exceptions import OutputError, QuestionError
from airtcp.web.limits import Limits

#: The default port of the page.
PORT = 8765
#: The most open connections; beyond, uvicorn answers with status 503.
_MOST_CONNECTIONS = 512
#: A browser may use an idle connection again until then. If the server closes it just then, as
#: after uvicorn's 5 s a page's next change, the request is lost.
_KEEP_ALIVE_S = 75


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    limits: Limits | None = None,
    models: int = 2,
    stores: Sequence[Path] = (),
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the page until the process is asked to end.

    `port` 0 selects a free port; `ready` is called with the address of the page. `models` is the
    number of processes that answer questions with models. `stores` are folders with results of
    sweeps that pages may read.

    Raises QuestionError for a host other than loopback without a token, and OutputError if the
    server cannot listen there, or a folder is not a store.
    """
    import uvicorn

    from airtcp.web.app import create
    from airtcp.web.guard import is_loopback
    from airtcp.web.stores import named

    if token is None and not is_loopback(host):
        raise QuestionError(
            f"--host {host}: other machines could use the page; allowed: with --token TEXT, which "
            "is then required for everything"
        )
    known = named(stores)
    limits = limits or Limits()
    listener = _listener(host, port)
    with listener, _temporary() as folder:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        config = uvicorn.Config(
            create(Path(folder), token=token, limits=limits, models=models, stores=known),
            http="h11",
            loop="asyncio",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=64 * 1024,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        server = uvicorn.Server(config)
        if ready is not None:
            ready(address)
        # Ctrl-C is the normal way to end.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder, removed at the end. Raises OutputError."""
    try:
        return tempfile.TemporaryDirectory(prefix="airtcp-web-")
    except OSError as error:
        raise OutputError(f"cannot make a temporary folder: {error.strerror or error}") from error


def _listener(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OutputError."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise OutputError(f"cannot listen on {host}: {error.strerror or error}") from error
    try:
        # Allow reuse of the port right after a previous server has ended.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise OutputError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; allowed: --port "
            "with another, or 0 for one that is free"
        ) from error
    return listener
