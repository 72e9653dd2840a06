"""Wrong scenario files: one message each, which names file, key and what is allowed."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from airtcp.exceptions import AirtcpError, ScenarioError
from airtcp.scenario import ResolvedScenario, load, loads, resolve
from hypothesis import given, settings
from hypothesis import strategies as st

SCENARIOS = Path(__file__).parents[1] / "scenarios"
INVALID = sorted((SCENARIOS / "invalid").glob("*.toml"))


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


@pytest.mark.parametrize("path", INVALID, ids=names(INVALID))
def test_wrong_files_say_what_is_wrong(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is that of the file of the same name that ends in .expected."""
    monkeypatch.chdir(path.parent)

    with pytest.raises(ScenarioError) as caught:
        load(path.name)

    assert str(caught.value) + "\n" == path.with_suffix(".expected").read_text()
    assert caught.value.file == path.name
    assert str(caught.value).startswith(f"{path.name}: {caught.value.key}")


def test_each_wrong_file_has_its_message_and_no_more() -> None:
    expected = sorted((SCENARIOS / "invalid").glob("*.expected"))

    assert names(expected) == names(INVALID)
    assert len(INVALID) > 100


def test_messages_say_what_is_allowed() -> None:
    """All but the two kinds where TOML itself has failed."""
    for path in (SCENARIOS / "invalid").glob("*.expected"):
        for line in path.read_text().splitlines():
            says_what_is_allowed = any(
                word in line for word in ("allowed", "expected", " more prob")
            )
            assert says_what_is_allowed or "is not TOML" in line, line


def test_messages_do_not_show_the_tools_behind() -> None:
    for path in (SCENARIOS / "invalid").glob("*.expected"):
        text = path.read_text().lower()
        for word in (
            "pydantic",
            "traceback",
            "validation",
            "valueerror",
            "nonetype",
            "dict",
            "literal",
        ):
            assert word not in text, path.name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda tmp: tmp / "nowhere.toml", "there is no such file"),
        (lambda tmp: tmp, "is a directory"),
        (lambda tmp: "null\0byte.toml", "is not a file name"),
        (lambda tmp: tmp / ("x" * 5000), "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(make, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=message) as caught:
        load(make(tmp_path))
    assert caught.value.key == ""


def test_a_file_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with chmod: the super-user reads everything."""

    def refuse(path: str, mode: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", refuse)

    with pytest.raises(ScenarioError, match="cannot be read: Permission denied"):
        load("minimal.toml")


def test_a_data_file_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (SCENARIOS / "valid" / "every_distribution.toml").read_text()

    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(ScenarioError, match=r"size\.file: .* cannot be read: Permission denied"):
        loads(text, base=SCENARIOS / "valid")


def test_three_problems_at_most() -> None:
    error = ScenarioError(
        "a.toml", "x", "is bad", [("y", "too"), ("", "odd"), ("z", "2"), ("w", "1")]
    )

    assert str(error) == (
        "a.toml: x: is bad\na.toml: y: too\na.toml: odd\na.toml: and 2 more problems"
    )
    assert isinstance(error, AirtcpError)


def test_a_problem_is_one_line_whatever_is_written() -> None:
    with pytest.raises(ScenarioError) as caught:
        loads('title = "x"\nphy = { standard = "802.11b\\n\\u0007" }\nstations = []\nflows = []')

    assert str(caught.value).splitlines()[0] == (
        r'scenario: phy.standard: "802.11b\n\x07" is unknown (did you mean "802.11b"?); '
        'allowed: "802.11b", "802.11a", "802.11g"'
    )


def test_a_message_has_an_end_whatever_is_written() -> None:
    """At most three problems and a last line, of at most a thousand characters each."""
    keys = [json.dumps(letter + "\x1b" * 100_000) for letter in "abcd"]
    with pytest.raises(ScenarioError) as caught:
        loads("".join(f"{key} = 1\n" for key in keys))

    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 1000
    assert lines[0].startswith(r"scenario: a\x1b\x1b")
    assert lines[0].endswith("allowed: title, phy, mac, ap, stations, links, flows, run")


def test_a_scenario_file_has_a_bound(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="is too large; allowed: 32 MiB at most"):
        load("/dev/zero")


def test_a_file_name_that_is_no_text_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.toml")
    path.write_bytes((SCENARIOS / "valid" / "minimal.toml").read_bytes())

    scenario = load(path)

    assert scenario.title == "caf?"
    assert len(scenario.hash()) == 64


def test_nesting_without_end_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="not TOML"):
        loads("title = " + "[" * 100_000)


base_data = tomllib.loads((SCENARIOS / "valid" / "every_key.toml").read_text())
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["20 us", "11 Mb/s", "30 kB", "2 %", "saturated", "laptop", "uplink"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["kind", "distribution", "mean", "x"]), st.text(max_size=3)),
    st.dates(),
)


def paths(node: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The way to everything in the data."""
    items: list[tuple[object, object]] = []
    if isinstance(node, dict):
        items = list(node.items())
    elif isinstance(node, list):
        items = list(enumerate(node))
    return [path, *[way for key, value in items for way in paths(value, (*path, key))]][
        0 if path else 1 :
    ]


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(paths(base_data)), odd_values, st.sampled_from(["replace", "delete", "add"]))
def test_any_change_gives_a_scenario_or_one_message(path, value, how: str) -> None:
    """Nothing but ScenarioError comes out; what is accepted round-trips and is finite."""
    data = json.loads(json.dumps(base_data))
    here = data
    for key in path[:-1]:
        here = here[key]
    match how:
        case "replace":
            here[path[-1]] = value
        case "delete":
            del here[path[-1]]
        case "add" if isinstance(here, dict):
            here["unheard-of"] = value
    outcome = scenario_or_message(data)

    if isinstance(outcome, str):
        assert outcome.startswith("odd.toml: ")
        assert len(outcome.splitlines()) <= 4
    else:
        assert ResolvedScenario.from_json(outcome.to_json()) == outcome


def scenario_or_message(data: dict[str, object]) -> ResolvedScenario | str:
    try:
        return resolve(data, name="odd.toml")
    except ScenarioError as error:
        return str(error)
