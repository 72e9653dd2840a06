"""Published metadata agree everywhere: versions, dependencies, steps of a release."""

import importlib.util
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def table(name: str) -> Any:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


FILE = table("pyproject.toml")
PROJECT, GROUPS = FILE["project"], FILE["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKED = [
    Requirement(line)
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def test_developers_have_the_packages_of_every_extra() -> None:
    extras = {one for extra in EXTRAS.values() for one in extra}
    assert {one for one in extras if not one.startswith("airtcp[")} <= set(GROUPS["dev"])


def module(path: str) -> ModuleType:
    """Import a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_lock_has_a_version_that_satisfies_each_requirement() -> None:
    listed = [PROJECT["dependencies"], *EXTRAS.values(), *GROUPS.values()]
    for one in (Requirement(one) for part in listed for one in part):
        if one.name != "airtcp":
            same = (each for each in LOCKED if each.name == one.name)
            (here,) = (each for each in same if not each.marker or each.marker.evaluate())
            (exact,) = here.specifier
            assert exact.operator == "=="
            assert one.specifier.contains(exact.version), one.name


def test_both_locks_have_the_same_versions() -> None:
    packages = (one for one in table("uv.lock")["package"] if "version" in one)
    versions = {(one["name"], f"=={one['version']}") for one in packages}
    assert versions == {(one.name, str(one.specifier)) for one in LOCKED}


def test_each_command_has_a_manual_page_with_all_of_its_options(tmp_path: Path) -> None:
    from airtcp.cli.commands import app
    from typer.main import get_command

    pages = dict(module("docs/man.py").pages())
    commands = get_command(app).commands  # type: ignore[attr-defined]

    shown = {f"airtcp-{name}": one for name, one in commands.items() if not one.hidden}
    assert set(pages) == {"airtcp", *shown}
    for name, command in shown.items():
        assert f"{name}(1)".replace("-", "\\-") in pages["airtcp"]
        for one in command.params:
            for option in one.opts if one.param_type_name == "option" else ():
                assert option.replace("-", "\\-") in pages[name]
    for name, text in pages.items() if shutil.which("groff") else ():
        (tmp_path / name).write_text(text, encoding="utf-8")
        command = ["groff", "-man", "-Tutf8", "-ww", "-z", tmp_path / name]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        assert told.stderr == ""
