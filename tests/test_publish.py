"""What is published says the same everywhere: versions, what is needed, what a release does."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
    "version"
]
#: What conda-forge calls some packages of PyPI.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}


def bounds(dependencies: list[str]) -> dict[str, str]:
    """The least versions of packages, under the names that Conda has for them."""
    pairs = (re.fullmatch(r"([\w-]+)(>=.*)", one).groups() for one in dependencies)
    return {CONDA_NAMES.get(name, name): bound for name, bound in pairs}


def test_developers_have_the_packages_of_every_extra() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "dependency-groups"
    ]
    extras = (one for extra in PROJECT["optional-dependencies"].values() for one in extra)

    assert {one for one in extras if not one.startswith("airtcp[")} <= set(groups["dev"])


def test_the_conda_recipe_has_our_version_and_needs_what_we_need() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with Dask")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))

    assert recipe["context"]["version"] == VERSION
    run = dict(line.split(" ") for line in recipe["requirements"]["run"])
    assert run.pop("python") == PROJECT["requires-python"]
    assert run == bounds(PROJECT["dependencies"])
    if_there = dict(line.split(" ") for line in recipe["requirements"]["run_constraints"])
    assert if_there == bounds(PROJECT["optional-dependencies"]["sweeps"])


def test_a_release_has_wheels_for_all_platforms_and_tries_them() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with Dask")
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]

    names = {one["name"] for one in jobs["wheels"]["strategy"]["matrix"]["platform"]}
    assert names == {
        "manylinux-x86_64",
        "manylinux-aarch64",
        "macos-x86_64",
        "macos-aarch64",
        "windows-x86_64",
    }
    tried = {one["name"] for one in jobs["same"]["strategy"]["matrix"]["platform"]}
    assert tried <= names
    assert set(jobs["publish"]["needs"]) == {"wheels", "same", "source"}
    # It runs what is there.
    assert (ROOT / "validation" / "same" / "same.py").exists()


def test_the_paper_cites_what_its_bibliography_has() -> None:
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = re.findall(r"(?m)^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text())

    assert set(re.findall(r"@(\w+)", text)) == set(entries)
    for section in ("Summary", "Statement of need", "State of the field", "Software design"):
        assert f"# {section}\n" in text
    assert "# AI usage disclosure\n" in text
