"""The models stand alone: no simulator, no command line, and a public face that is complete."""

import ast
import importlib
import pkgutil
from pathlib import Path

import airtcp.models
import pytest

ROOT = Path(airtcp.models.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def test_there_are_models() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_models_import_nothing_but_models_and_exceptions(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "airtcp":
                assert name.startswith(("airtcp.models", "airtcp.exceptions")), name


def test_every_public_name_exists_and_is_documented() -> None:
    for info in pkgutil.walk_packages(airtcp.models.__path__, "airtcp.models."):
        module = importlib.import_module(info.name)
        assert module.__doc__, info.name
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if callable(value):
                assert value.__doc__, f"{info.name}.{name}"
