"""Access control: a token, if there is one, and requests from pages of this server only.

On loopback without a token, a request must name a loopback host, so that no other site can reach
the server under its own name (DNS rebinding). Requests that change something must come from a page
of this server.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "airtcp"

_HEADERS: Final = {
    # No resources from other hosts, only our own scripts, and no framing.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_LOGIN: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>airtcp: token</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"></head>
<body><main><h1>airtcp</h1><p>{}</p>
<form method="get" action="/"><p><label>Token <input name="token" type="password"
autocomplete="current-password" required></label> <button>Open</button></p></form>
</main></body></html>
"""


#: A Host header: a name or an IPv4 address, or an IPv6 address in brackets, and a port (RFC 9110,
#: 7.2; RFC 3986, 3.2.2). User, zone and escapes are not allowed here.
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f]*:[0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{1,5})?")


def is_loopback(host: str) -> bool:
    """Whether a name or an address, without brackets and port, is a loopback host."""
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # A zone id is local to a machine, and no loopback address has one.
    return address.is_loopback and "%" not in host


class Guard:
    """Middleware that sees every request first."""

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self._app = app
        self._token = token
        # The cookie is valid only for this run of the server, and does not reveal the token.
        key = secrets.token_bytes(32)
        self._cookie = hmac.new(key, (token or "").encode(), hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on allowed requests, and reject the rest."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, sealed)
        else:
            await refusal(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._token is None and not is_loopback(_host(headers.get("host", ""))):
            return _refused(
                403, "this server accepts only loopback addresses: use http://127.0.0.1"
            )
        if scope["method"] not in ("GET", "HEAD") and not _own(headers):
            return _refused(403, "only pages of this server may send this request")
        if self._token is None:
            return None
        return self._identify(scope, headers)

    def _identify(self, scope: Scope, headers: Headers) -> Response | None:
        assert self._token is not None  # called only with a token
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer ") and _same(bearer[7:], self._token):
            return None
        if _same(HTTPConnection(scope).cookies.get(COOKIE, ""), self._cookie):
            return None
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        page = scope["path"] == "/" and scope["method"] == "GET"
        if page and given and _same(given[0], self._token):
            # Remove the token from the URL, where it could be shared.
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="strict", path="/")
            return response
        if page:
            message = "That is not the token." if given else "This page wants a token."
            return HTMLResponse(_LOGIN.format(message), status_code=401)
        return _refused(401, "a token is missing or wrong; open the page with ?token=...")


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"problem": {"message": message, "key": "", "field": ""}}, status)


def _own(headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin, host = headers.get("origin"), headers.get("host", "")
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def _host(value: str) -> str:
    """Return the host of a Host header, without its port; "" if the header is invalid."""
    found = _HOST.fullmatch(value)
    return "" if found is None else found[1] or found[2]


def _same(one: str, other: str) -> bool:
    """Whether two texts are equal, in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())
