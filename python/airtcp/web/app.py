"""The HTTP interface of the server: pages, questions, runs and uploads.

Workers handle scenarios, models and simulations, so that these cannot block the server. Every
rejection is JSON with one message.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from airtcp.extensions import views
from airtcp.web.bodies import (
    Ask,
    Curve,
    Job,
    Lights,
    Look,
    Restructure,
    Search,
    Shown,
    Typed,
    first_problem,
)
from airtcp.web.guard import Guard
from airtcp.web.jobs import FullError, Jobs, Question
from airtcp.web.limits import Limits
from airtcp.web.pool import ModelPool
from airtcp.web.stores import stamp
from airtcp.web.uploads import UploadError, Uploads

_Body = TypeVar("_Body", bound=BaseModel)

_STATIC: Final = Path(__file__).parent / "static"
#: The server discards the rest of a body that is too large, up to this multiple of the limit, so
#: that the client can read the refusal.
_MOST_DRAINED: Final = 4
#: The interval of checks whether a page is still waiting for its response.
_LOOK_S: Final = 0.1
_QUESTIONS: Final[dict[str, type[BaseModel]]] = {
    "scenario": Ask,
    "edit": Restructure,
    "keys": Search,
    "complete": Typed,
    "predict": Ask,
    "lights": Lights,
    "conditions": Ask,
    "remedies": Ask,
    "stores": Shown,
    "look": Look,
}
#: The cookie with the name that this server gave a browser. It identifies browsers that share an
#: address.
_BROWSER: Final = "airtcp-browser-{port}"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class _RefusedError(Exception):
    """A request that cannot be answered: its status code and message."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.problem = {"message": message, "key": "", "field": "", "more": []} | more


class Holding:
    """Middleware that limits the total size of request bodies held at a time."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app, self._left = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Provide `scope["airtcp.hold"]` to reserve bytes; release them after the response."""
        held = 0

        def hold(size: int) -> None:
            nonlocal held
            if size > self._left:
                raise _RefusedError(
                    503, "too many bytes of requests at a time; try again in a moment"
                )
            self._left -= size
            held += size

        scope["airtcp.hold"] = hold
        try:
            await self._app(scope, receive, send)
        finally:
            self._left += held


class Server:
    """The state of the server."""

    def __init__(
        self, folder: Path, limits: Limits, models: int, stores: Mapping[str, Path]
    ) -> None:
        self.limits, self.stores = limits, stores
        for name in ("uploads", "scratch"):
            (folder / name).mkdir()
        self.uploads = Uploads(folder / "uploads", limits)
        self.pool = ModelPool(models, folder, limits, stores)
        self.jobs = Jobs(folder, limits)
        self._key = secrets.token_bytes(32)
        of_views = {name: one.body for view in views() for name, one in view.questions.items()}
        #: The schema of each question's body, by the name of the question.
        self.questions: Mapping[str, type[BaseModel]] = _QUESTIONS | of_views
        self._scripts = {view.script.name: view.script for view in views()}

    async def page(self, request: Request) -> Response:
        """Return the page itself."""
        response = _file("index.html")
        if not self._browser(request):
            name = secrets.token_urlsafe(9)
            response.set_cookie(
                _cookie(request), f"{name}.{self._mark(name)}", httponly=True, samesite="strict"
            )
        return response

    def _browser(self, request: Request) -> str:
        """Return the name that this server gave a browser; "" without a valid one."""
        name, _, mark = request.cookies.get(_cookie(request), "").partition(".")
        return name if hmac.compare_digest(mark.encode(), self._mark(name).encode()) else ""

    def _mark(self, name: str) -> str:
        return hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()

    async def static(self, request: Request) -> Response:
        """Return scripts and styles, also those that extensions add."""
        name = request.path_params["name"]
        return _file(name, self._scripts.get(name))

    async def start(self, request: Request) -> Response:
        """Return the data that a page needs at its start."""
        from airtcp.web.views import start

        return JSONResponse(start(self.limits))

    async def ask(self, request: Request, name: str) -> Response:
        """Answer a question with models, by the name of the question."""
        body = (await self._body(request, self.questions[name])).model_dump()
        if name in ("stores", "look"):
            # Include the version of each store, so that answers from before a change are not
            # reused.
            body["made"] = {one: stamp(path) for one, path in self.stores.items()}
        return _said(await self._unless_gone(request, self.pool.ask(name, body)))

    async def _unless_gone(
        self, request: Request, question: Coroutine[Any, Any, dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the answer to a question; cancel it if the client disconnects."""
        task = asyncio.create_task(question)
        try:
            while not (await asyncio.wait([task], timeout=_LOOK_S))[0]:
                if await request.is_disconnected():
                    raise ClientDisconnect
            return task.result()
        finally:
            task.cancel()

    async def curve(self, request: Request) -> Response:
        """Stream the models' answers along an axis: one line of JSON per value, as it arrives."""
        body = await self._body(request, Curve)
        about = {"source": body.source.model_dump(), "axis": body.axis, "times": body.times}

        async def at(index: int) -> str:
            said = await self.pool.ask("point", about | {"values": [body.values[index]]})
            return json.dumps({"index": index} | _shown(said)) + "\n"

        async def lines() -> AsyncIterator[str]:
            tasks = [asyncio.create_task(at(index)) for index in _coarse(len(body.values))]
            try:
                for task in asyncio.as_completed(tasks):
                    yield await task
            finally:
                # The page has requested another curve: cancel the questions not yet started.
                for task in tasks:
                    task.cancel()

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def add_job(self, request: Request) -> Response:
        """Submit a run."""
        body = (await self._body(request, Job)).model_dump()
        said = await self._unless_gone(request, self.pool.ask("alike", body))
        # An unreadable scenario still becomes a run, which reports the error.
        key = said["answer"]["key"] if "answer" in said else _digest(body)
        try:
            address = request.client.host if request.client else ""
            question = self.jobs.add(
                body,
                key=key,
                address=address,
                browser=self._browser(request),
                auto=body["auto"],
            )
        except FullError as error:
            raise _RefusedError(503, str(error)) from None
        return JSONResponse({"id": question.id}, 202)

    async def job(self, request: Request) -> Response:
        """Return the state of a run, and its messages since the last request."""
        question = self._question(request)
        job = question.job
        seen = request.query_params.get("seen", "0")
        first = int(seen) if seen.isdecimal() and len(seen) < 9 else 0
        return JSONResponse(
            {
                "state": question.state,
                "progress": job.progress,
                "words": job.words,
                "place": self.jobs.place(question),
                "messages": [json.loads(one) for one in job.messages[first:]],
                "seen": len(job.messages),
            }
        )

    async def stop_job(self, request: Request) -> Response:
        """Stop a run; it keeps its results so far."""
        question = self._question(request)
        self.jobs.stop(question)
        return JSONResponse({"state": question.state})

    def _question(self, request: Request) -> Question:
        """Return the run that a page asks about. Raises _RefusedError."""
        question = self.jobs.get(request.path_params["id"])
        if question is None:
            raise _RefusedError(
                404, "run not found: it ended long ago, or the server was restarted"
            )
        return question

    async def upload(self, request: Request) -> Response:
        """Store an uploaded file that a scenario may name."""
        content = await _content(request, self.limits.upload_bytes)
        try:
            identifier = await asyncio.to_thread(self.uploads.add, content)
        except UploadError as error:
            raise _RefusedError(422, str(error)) from None
        return JSONResponse({"id": identifier, "bytes": len(content)}, 201)

    async def _body(self, request: Request, form: type[_Body]) -> _Body:
        """Return the validated body of a request. Raises _RefusedError."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            raise _RefusedError(415, "unsupported content type; allowed: application/json")
        content = await _content(request, self.limits.body_bytes)
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            raise _RefusedError(422, first_problem(error, form)) from None


def create(
    folder: Path,
    *,
    token: str | None = None,
    limits: Limits | None = None,
    models: int = 2,
    stores: Mapping[str, Path] | None = None,
) -> Starlette:
    """Create the application.

    Args:
        folder: an empty temporary folder; nothing is written elsewhere.
        token: the access token; without one, requests must come from this machine.
        limits: resource limits of the pages.
        models: the number of processes that answer questions with models.
        stores: stores of sweeps that pages may read, by name.
    """
    server = Server(folder, limits or Limits(), models, stores or {})

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.pool.start()
        server.jobs.start()
        try:
            yield
        finally:
            await server.jobs.close()
            await server.pool.stop()

    app = Starlette(
        routes=[
            Route("/", server.page),
            Route("/static/{name}", server.static),
            Route("/api/start", server.start),
            *(
                Route(f"/api/{name}", partial(server.ask, name=name), methods=["POST"])
                for name in server.questions
            ),
            Route("/api/curve", server.curve, methods=["POST"]),
            Route("/api/jobs", server.add_job, methods=["POST"]),
            Route("/api/jobs/{id}", server.job),
            Route("/api/jobs/{id}/stop", server.stop_job, methods=["POST"]),
            Route("/api/uploads", server.upload, methods=["POST"]),
        ],
        middleware=[
            Middleware(Guard, token=token),
            Middleware(Holding, most=server.limits.held_bytes),
        ],
        exception_handlers={
            _RefusedError: _refused,
            HTTPException: _http_refused,
            ClientDisconnect: _gone,
        },
        lifespan=lifespan,
    )
    app.state.server = server
    return app


async def _content(request: Request, most: int) -> bytes:
    """Read the body of a request up to a size. Raises _RefusedError."""
    content = bytearray()
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= most:
            request.scope["airtcp.hold"](len(part))
            content += part
        elif size > _MOST_DRAINED * most:
            break
    if size > most:
        # Read it to its end, within reason: a client cut off while sending never sees the response.
        raise _RefusedError(413, f"the request is too large; allowed: {most / 2**20:g} MiB")
    return bytes(content)


def _file(name: str, script: Path | None = None) -> Response:
    """Return a file of the page, or the script of an extension.

    Only files of the page's folder exist.
    """
    path = {path.name: path for path in _STATIC.iterdir()}.get(name, script)
    if path is None:
        raise _RefusedError(404, "there is no such page")
    return Response(
        path.read_bytes(),
        media_type=_TYPES.get(path.suffix, "text/plain; charset=utf-8"),
        # Browsers request the icon again for every new URL.
        headers={"Cache-Control": "max-age=3600" if path.suffix == ".svg" else "no-cache"},
    )


def _said(said: dict[str, Any]) -> Response:
    """Return a worker's reply, with the matching status code."""
    if "answer" in said:
        return JSONResponse(said["answer"])
    if "problem" in said:
        return JSONResponse({"problem": said["problem"]}, 422)
    raise _RefusedError(503, said["failed"])


def _shown(said: dict[str, Any]) -> dict[str, Any]:
    if "failed" in said:
        return {"problem": {"message": said["failed"], "key": "", "field": "", "more": []}}
    return said


def _cookie(request: Request) -> str:
    """Return the name of the cookie. It has the port, as cookies are shared by a host's ports."""
    return _BROWSER.format(port=request.url.port or "")


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


def _coarse(count: int) -> list[int]:
    """Return all indices in an order that shows a curve's shape early: ends first, then halves."""
    order = [0, count - 1]
    step = count - 1
    while step > 1:
        step = (step + 1) // 2
        order += range(0, count, step)
    return list(dict.fromkeys(index for index in [*order, *range(count)] if index < count))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, _RefusedError)  # registered for it
    return JSONResponse({"problem": error.problem}, error.status)


async def _http_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # registered for it
    problem = {"message": error.detail, "key": "", "field": "", "more": []}
    return JSONResponse({"problem": problem}, error.status_code, headers=error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=400)
