"""The direction of imports: every room of the package imports only from the rooms below it."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import airtcp
import pytest

ROOT = Path(airtcp.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name != "__main__.py")

_GROUND = """
_version airtime amendments amounts channels choices conditions data distributions error_rates
exceptions extensions extras files high_rate labels metrics phrases pictured sensitivity standards
stats units
"""
GROUND = set(_GROUND.split())
"""Modules of the ground floor, which may import each other."""

_BOTH = """
_core models predict run present prediction answer compare difference plan sweep document judge
messages gaps remedies traffic importer testbed
"""
ANSWERS = GROUND | {"scenario", "estimates", "results"}
BOTH_DEPTHS = ANSWERS | set(_BOTH.split())

ROOMS = {
    "plugins": {"choices", "exceptions", "files", "_core"},
    **{one: {"choices", "plugins"} for one in ("acks", "congestion", "queues", "schedulers")},
    "models": {
        "airtime",
        "amendments",
        "exceptions",
        "extensions",
        "high_rate",
        "phrases",
        "standards",
    },
    "scenario": GROUND,
    "estimates": GROUND | {"scenario"},
    "results": GROUND | {"scenario", "estimates"},
    "predict": ANSWERS | {"models"},
    "run": ANSWERS | {"_core"},
    "remedies": ANSWERS,
    "judge": ANSWERS | {"_core", "remedies", "run"},
    "document": GROUND,
    "messages": ANSWERS | {"document", "judge"},
    "gaps": ANSWERS | {"remedies", "run"},
    "present": ANSWERS | {"document", "judge", "messages"},
    "prediction": ANSWERS | {"predict", "run"},
    "compare": ANSWERS | {"judge", "predict", "run"},
    "answer": ANSWERS | {"compare", "judge"},
    "difference": ANSWERS | {"judge", "run"},
    "sweep": ANSWERS | {"_core", "plugins", "predict", "run"},
    "traffic": ANSWERS,
    "importer": ANSWERS,
    "testbed": ANSWERS | {"_core", "run"},
    "plan": ANSWERS | {"judge", "models", "predict", "run", "remedies"},
    "examples": set(),
    "labs": ANSWERS | {"run"},
    "web": BOTH_DEPTHS | {"examples"},
    "cli": BOTH_DEPTHS | {"examples", "labs", "plugins", "web"},
}
"""The other rooms, and what each may import beside itself; what is in functions counts too."""


def imports(path: Path) -> Iterator[str]:
    """Yield the rooms of `airtcp` that a module imports from, once for each import."""
    package = ["airtcp", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = [*above, *(node.module.split(".") if node.module else [])]
            # `from airtcp import present`: the name is the room.
            names = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for name in names:
            if name[0] == "airtcp":
                yield name[1] if len(name) > 1 else "airtcp"


def room(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if parts != ("__init__",) else "airtcp"


def test_every_module_belongs_to_a_room() -> None:
    assert {room(path) for path in MODULES} == {"airtcp", *GROUND, *ROOMS}


@pytest.mark.parametrize("name", [*sorted(GROUND), *ROOMS])
def test_a_room_imports_from_below_alone(name: str) -> None:
    allowed = ROOMS.get(name, GROUND) | {name}

    own = [path for path in MODULES if room(path) == name]
    used = {(path.name, other) for path in own for other in imports(path)}
    assert {one for one in used if one[1] not in allowed} == set()


def test_the_rooms_have_an_order() -> None:
    """There is no cycle: a room may import only from rooms that are listed before it."""
    below = set(GROUND) | {"_core"}
    for name, allowed in ROOMS.items():
        assert allowed <= below, name
        below.add(name)


SIMULATOR = Path(__file__).parents[1] / "crates/sim/src"


def product(path: Path) -> str:
    """The code of a Rust file, without comments and the tests at its end."""
    code = path.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod tests")[0]
    return re.sub(r"^\s*//.*$", "", code, flags=re.MULTILINE)


def test_the_modules_of_the_simulator_have_an_order() -> None:
    """No circle of `use`. A scenario and its applications know each other, and count as one."""
    below: dict[str, set[str]] = {}
    for path in SIMULATOR.rglob("*.rs"):
        own, *rest = path.relative_to(SIMULATOR).with_suffix("").parts
        if own in ("lib", "testing") or "tests" in rest:
            continue
        own = own.replace("app", "scenario")
        used = {
            name.replace("app", "scenario") for name in re.findall(r"crate::(\w+)", product(path))
        }
        below.setdefault(own, set()).update(used - {own})

    order = [*TopologicalSorter(below).static_order()]
    assert order.index("medium") < order.index("world") < order.index("replication")


def test_the_ledger_does_not_know_the_world() -> None:
    for path in (SIMULATOR / "world/ledger.rs", *(SIMULATOR / "world/ledger").glob("*.rs")):
        assert "World" not in product(path), path
