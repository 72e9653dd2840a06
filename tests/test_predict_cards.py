"""No model ignores a key silently: what model cards claim is checked against the models.

For each key of a resolved scenario, a card reads it, makes an assumption about it, or declares it
harmless. A harmless key changes nothing; any other key changes something.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
from airtcp.predict import predict
from airtcp.predict.card import covers
from airtcp.predict.cards import cards
from airtcp.scenario import ResolvedScenario
from asked_of_cards import OTHERS, SCENARIOS
from pydantic import ValidationError

CARDS = cards()

#: Keys that cannot change without another flow or group.
NAMED = {"flows.stations", "flows.application.kind", "stations.cell"}
#: Keys that decide which other keys exist: changing one gives another model's scenario.
KINDS = {"kind", "discipline", "scheme", "modulation"}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield each key of a resolved scenario: its name without list indices, and its path."""
    name = ".".join(step for step in path if isinstance(step, str))
    is_whole = name in OTHERS or (isinstance(value, dict) and ("bps" in value or "mean" in value))
    if isinstance(value, dict) and not is_whole:
        for key, inner in value.items():
            if key not in KINDS and not (key == "stations" and isinstance(inner, str)):
                yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and name in {"stations", "flows"}:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield name, path


def varied(
    before: ResolvedScenario, name: str, path: tuple[Any, ...]
) -> Iterator[ResolvedScenario]:
    """Yield the scenario with other valid values of one key."""
    now = before.to_dict()
    *way, last = path
    if name == "ap.scheduler" and at(now, path) is None:
        return  # one packet per access: no round robin, and no model covers airtime
    for other in others(name, at(now, path)):
        changed = json.loads(before.to_json())
        if name == "mac.beacon":
            other = {**other, "rate": at(now, ("phy", "control_rate"))}
        at(changed, tuple(way))[last] = other
        try:
            yield ResolvedScenario.from_dict(changed)
        except ValidationError:
            continue


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def others(name: str, value: Any) -> list[Any]:
    if name in OTHERS:
        return [other for other in OTHERS[name] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value + 1, 8 * value + 8]
    if isinstance(value, float):
        return [value / 2, value * 1.5]
    if isinstance(value, dict) and "bps" in value:
        high = value.get("high")
        slower = None if high is None else {**high, "mcs": max(0, high["mcs"] - 1)}
        return [{**value, "bps": value["bps"] // 2, "high": slower}]
    if isinstance(value, dict) and "mean" in value:
        return [{**value, "mean": value["mean"] / 3}]
    if isinstance(value, str) and name == "title":
        return [f"{value}x"]
    return []


Said: TypeAlias = dict[str, dict[tuple[str, str], tuple[object, list[str]]]]
TEXTS = {tuple(assumption.text for assumption in card.assumes): card.name for card in CARDS}


def said(of: ResolvedScenario) -> Said:
    """Return the values and broken assumptions of each card's model for a scenario."""
    answers: Said = {}
    for metric, entries in predict(of).model.items():
        for entry in entries:
            own = answers.setdefault(card_of(entry.assumes), {})
            own[metric, entry.source] = (entry.value, entry.broken)
    return answers


def card_of(assumes: list[str]) -> str:
    """Return the name of the card with these assumptions, the last of which may be a bound's."""
    whole = tuple(assumes)
    return TEXTS[whole if whole in TEXTS else whole[:-1]]


def test_cards_are_told_apart_by_what_they_assume() -> None:
    assert len(TEXTS) == len({card.name for card in CARDS}) == len(CARDS)


def test_each_card_answers_the_metrics_that_it_names() -> None:
    answers: dict[str, set[str]] = {card.name: set() for card in CARDS}
    for asked in SCENARIOS:
        for name, entries in said(asked).items():
            answers[name] |= {metric for metric, _ in entries}
    assert answers == {card.name: set(card.answers) for card in CARDS}


def test_every_key_is_read_assumed_about_or_harmless() -> None:
    by_name = {card.name: card for card in CARDS}
    for asked in SCENARIOS:
        keys = {name for name, _ in leaves(asked.to_dict())}
        for card in map(by_name.__getitem__, said(asked)):
            silent = {key for key in keys if not card.knows(key) and card.ignores(key) is None}
            assert silent == set(), f"{card.name}: read, assume about or call harmless"


def test_no_key_is_known_to_a_card_and_harmless_to_it() -> None:
    for card in CARDS:
        assert [key for key in card.harmless if card.knows(key)] == [], card.name


@pytest.mark.verify
@pytest.mark.timeout(1800)
def test_cards_are_true() -> None:
    """Harmless keys change no text and no number; each declared key does in some scenario."""
    by_name = {card.name: card for card in CARDS}
    there, changed = ({name: set[str]() for name in by_name} for _ in range(2))
    for asked in SCENARIOS:
        before = said(asked)
        for name, path in leaves(asked.to_dict()):
            for one in before:
                there[one].add(name)
            if all(by_name[one].knows(name) and name in changed[one] for one in before):
                continue
            for other in varied(asked, name, path):
                now = said(other)
                for one in (one for one, entries in before.items() if entries != now.get(one)):
                    assert by_name[one].knows(name), f"{name} is harmless to {one}, and is not"
                    changed[one].add(name)
    idle = {
        card.name: sorted(
            key
            for key in {*card.reads, *(key for one in card.assumes for key in one.keys)} - NAMED
            if any(covers((key,), name) for name in there[card.name])
            and not any(covers((key,), name) for name in changed[card.name])
        )
        for card in CARDS
    }
    found = {name: keys for name, keys in idle.items() if keys}
    assert found == {}, found
