"""Extensions: found by their entry points, left out if they fail, and never needed."""

import asyncio
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import httpx
import pytest
from airtcp import extensions
from airtcp.examples import directory
from airtcp.extensions import Question, Verb, View, verbs, views
from airtcp.web.app import create
from pydantic import BaseModel

SCRIPT = "export function view(app) { return { element: document.body, show() {} }; }\n"


class Empty(BaseModel):
    """No parameter."""


def say() -> None:
    """Say it."""


VERB = Verb("say", say)
NO_VERB = "a text"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Extensions are loaded once per process; each test loads its own."""
    monkeypatch.delenv("AIRTCP_EXTENSIONS", raising=False)
    extensions.loaded.cache_clear()
    yield
    extensions.loaded.cache_clear()


#: The module from which the tests import their extensions: this one.
MINE = "an_extension"


def install(monkeypatch: pytest.MonkeyPatch, group: str, **values: str) -> None:
    monkeypatch.setitem(sys.modules, MINE, sys.modules[__name__])
    found = [EntryPoint(name, value, group) for name, value in values.items()]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [one for one in found if one.group == group],
    )


def test_an_extension_that_fails_is_left_out_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = "no_such_package:VERB"
    install(monkeypatch, "airtcp.verbs", say=f"{MINE}:VERB", text=f"{MINE}:NO_VERB", absent=absent)

    with pytest.warns(RuntimeWarning) as told:
        found = verbs()

    assert found == (VERB,)
    for one, words in zip(
        told,
        (("'absent' (airtcp.verbs)", "no_such_package"), ("'text' (airtcp.verbs)", "is no Verb")),
        strict=True,
    ):
        assert all(word in str(one.message) for word in words)
    # Nothing is loaded if extensions are switched off.
    monkeypatch.setenv("AIRTCP_EXTENSIONS", "0")
    extensions.loaded.cache_clear()
    assert (verbs(), views()) == ((), ())


def test_a_view_has_a_script_and_questions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "mine.js"
    script.write_text(SCRIPT)
    mine = View("mine", "Mine", script, {"mine": Question(Empty, lambda body, uploads: {"a": 1})})
    monkeypatch.setattr(sys.modules[__name__], "VIEW", mine, raising=False)
    install(monkeypatch, "airtcp.views", mine=f"{MINE}:VIEW")
    (tmp_path / "server").mkdir()

    app = create(tmp_path / "server")

    async def asked() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [
                await client.get("/api/start"),
                await client.get("/static/mine.js"),
                await client.get("/static/other.js"),
                await client.post("/api/mine", content="no"),
            ]

    start, own, other, form = asyncio.run(asked())
    assert start.json()["views"] == [{"name": "mine", "title": "Mine", "script": "mine.js"}]
    assert own.text == SCRIPT
    assert other.status_code == 404
    # The view has a route, and its worker accepts only JSON.
    assert form.status_code == 415


#: No package but airtcp and what it depends on: `airtcp_papers` cannot be imported.
ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "airtcp_papers":
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
from airtcp.cli import main
main()
"""


def alone(*arguments: str) -> str:
    command = [sys.executable, "-c", ALONE, *arguments]
    without = os.environ | {"AIRTCP_EXTENSIONS": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=without)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_airtcp_works_alone() -> None:
    commands = alone("--help")
    assert "\n  run " in commands
    assert "reproduce" not in commands
    assert "Make papers again" not in commands
    # Covered by a model of airtcp, by one of the papers, by none; `make verify` tests the others.
    for name in ("saturated-stations", "persistent-downloads", "office-wifi6"):
        told: dict[str, Any] = json.loads(
            alone("predict", str(directory() / f"{name}.toml"), "--json")
        )
        assert told["model"] or told["uncovered"], name
