"""Everything listed on the page of the Python reference has an example that runs."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import airtcp
import airtcp.models
import pytest
from wing import with_papers

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "library.md"
DIRECTIVE = re.compile(r"^\.\. auto(function|class):: ([\w.]+)$", re.MULTILINE)

NAMES = sorted(name for _, name in DIRECTIVE.findall(PAGE.read_text(encoding="utf-8")))


def listed(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def cafe() -> Any:
    """Return the scenario from the example of `airtcp.load`, with which others begin."""
    (load,) = doctest.DocTestFinder(recurse=False).find(airtcp.load, "load", globs={})
    doctest.DocTestRunner().run(load, clear_globs=False)
    return load.globs["cafe"]


def marks(name: str) -> Any:
    """Return a test parameter: examples with models of the papers need their package."""
    needs = "airtcp-papers" in (inspect.getdoc(listed(name)) or "")
    return pytest.param(name, marks=with_papers if needs else ())


@pytest.mark.parametrize("name", [marks(name) for name in NAMES])
def test_what_is_listed_has_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some examples write
    thing = listed(name)
    known = {thing.__name__: thing, "airtcp": airtcp, "cafe": cafe()}
    tests = doctest.DocTestFinder().find(thing, name, module=inspect.getmodule(thing), globs=known)

    assert sum(len(test.examples) for test in tests) > 0
    said: list[str] = []
    for test in tests:
        doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


def test_every_public_name_and_every_module_of_models_is_on_the_page() -> None:
    functions = {
        f"airtcp.{name}" for name in airtcp.__all__ if inspect.isfunction(getattr(airtcp, name))
    }
    assert functions <= set(NAMES)
    shown = re.findall(r"^\.\. automodule:: airtcp\.models\.(\w+)$", PAGE.read_text(), re.M)
    modules = {info.name for info in pkgutil.iter_modules(airtcp.models.__path__)}
    assert {name for name in modules if not name.startswith("_")} == set(shown)


def test_functions_next_to_equations_exist() -> None:
    page = (PAGE.parents[1] / "explanation" / "equations.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)\.(\w+)`", page.replace("`airtcp.models`", ""))
    assert len(named) > 25
    for module, name in named:
        assert callable(getattr(getattr(airtcp.models, module), name))
