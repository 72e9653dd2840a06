"""A scenario in both of its forms: written and resolved.

`load` reads scenario files.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, ValidationError

from ..conditions import Condition
from ..exceptions import ScenarioError
from .declare import written
from .errors import InvalidError, phrase, scenario_error
from .errors import Path as KeyPath
from .expand import Expanded, copied, expand, has_profiles, is_of_profiles
from .keys.traffic import Flow
from .measured import read_targets
from .resolve import resolve_scenario
from .resolve_traffic import entries
from .resolved import ResolvedScenario
from .shown import shown
from .vary import shared_out, varied, varied_with_profiles


class Scenario(ResolvedScenario):
    """A resolved scenario that knows the written form that it comes from.

    With the `cafe` of `airtcp.load`:

    >>> cafe.vary({"phy.standard": "802.11b"}).written["phy"]
    {'standard': '802.11b'}
    """

    _written: dict[str, Any] | None = PrivateAttr(default=None)
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)
    _origins: dict[KeyPath, str] = PrivateAttr(default_factory=dict)
    _changes: dict[str, Any] = PrivateAttr(default_factory=dict)
    _entries: list[tuple[str, int]] = PrivateAttr(default_factory=list)
    _targets: tuple[Condition, ...] = PrivateAttr(default=())
    _name: str = PrivateAttr(default="scenario")
    _base: Path = PrivateAttr(default=Path())

    @classmethod
    def from_written(cls, data: Mapping[str, Any], *, name: str, base: Path) -> Self:
        """Return the scenario of a written form, such as `tomllib` returns.

        Args:
            data: the written form.
            name: the name for messages. Without its extension it is the title if the data has none.
            base: the directory that file names in it are relative to.

        Raises:
            ScenarioError: the scenario is wrong.
        """
        try:
            given = copied(dict(data))
        except RecursionError:
            raise ScenarioError(name, "", phrase("file.too_deep_tables")) from None
        data = given
        try:
            expanded = expand(given)
            data = expanded.data
            form = written(ResolvedScenario).model_validate(data)
            resolved = resolve_scenario(form, title=_title(name), base=base)
            scenario = cls.model_validate(dict(resolved))
            scenario._entries = entries(form.flows)
            scenario._targets = read_targets(form.targets, scenario)
        except (ValidationError, InvalidError) as error:
            raise scenario_error(name, data, error) from None
        scenario._written, scenario._name, scenario._base = data, name, base
        scenario._given, scenario._origins = given, expanded.origins
        return scenario

    def _repr_html_(self) -> str:
        """Return a summary and the scenario file as HTML for notebooks."""
        file = f"<pre>{escape(self.to_toml())}</pre>" if self.is_written else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{file}"

    @property
    def is_written(self) -> bool:
        """True if the scenario has a written form; one read from its resolved form has none."""
        return self._written is not None

    @property
    def written(self) -> dict[str, Any]:
        """A copy of the written form: tables, texts with units, profiles replaced by their keys.

        Raises ValueError for a scenario that was read from its resolved form.

        With the `cafe` of `airtcp.load`:

        >>> cafe.written["stations"]
        [{'name': 'laptop', 'count': 5}]
        """
        if self._written is None:
            raise ValueError(phrase("file.no_written_form"))
        return copied(self._written)

    @property
    def targets(self) -> tuple[Condition, ...]:
        """The targets of the scenario: the conditions of `[targets]`.

        With the `cafe` of `airtcp.load`:

        >>> cafe.vary({"targets": {"laptop flow_goodput": "> 2 Mb/s"}}).targets[0].bound
        2000000.0
        """
        return self._targets

    @property
    def flow_entries(self) -> list[tuple[str, tuple[Flow, ...]]]:
        """The name of each entry of `[[flows]]` as written, and its resolved flows.

        A call with video has two flows. An entry in both directions has twice as many.

        With the `cafe` of `airtcp.load`:

        >>> [(name, len(flows)) for name, flows in cafe.flow_entries]
        [('laptop', 1)]
        """
        found, begin = [], 0
        for name, count in self._entries:
            found.append((name, self.flows[begin : begin + count]))
            begin += count
        return found

    @property
    def origins(self) -> Mapping[KeyPath, str]:
        """The sources of keys of the written form that a profile set, by their path."""
        return self._origins

    @property
    def purposes(self) -> dict[str, str]:
        """The purposes of flows by name, for flows that have one: what users wait for.

        With the `cafe` of `airtcp.load`:

        >>> cafe.vary({"flows.laptop.purpose": "backup"}).purposes
        {'laptop': 'backup'}
        """
        entries = (self._written or {}).get("flows", [])
        return {
            flow.name: entry["purpose"]
            for entry, (_, flows) in zip(entries, self.flow_entries, strict=True)
            for flow in flows
            if entry.get("purpose")
        }

    def to_toml(self) -> str:
        """Return the scenario as TOML, with profiles replaced by their keys, and their sources.

        It loads to an equal scenario. Raises ValueError for one that was read from its resolved
        form.

        With the `cafe` of `airtcp.load`:

        >>> print(cafe.to_toml().splitlines()[3])
        standard = "802.11g"
        """
        return shown(self.written, self._origins, title=self.title, base=self._base)

    def as_file(self) -> str | None:
        """Return `to_toml()`; None for a scenario that was read from its resolved form."""
        return None if self._written is None else self.to_toml()

    def rewritten(self, data: Mapping[str, Any]) -> Self:
        """Return the scenario of another written form, with the same name. Raises ScenarioError."""
        return type(self).from_written(data, name=self._name, base=self._base)

    def vary(self, changes: Mapping[str, Any]) -> Self:
        """Return the scenario with other values at some key paths, in a file's names and units.

        `scenario.vary({"stations.laptop.count": 40, "flows.laptop.tcp.mss": "536 B"})`. A group is
        addressed by its name. A flow is addressed by its own name, or by its stations if no other
        flow has them. None removes a key, so that its default applies.

        Raises:
            ScenarioError: a path that is not a key of this scenario, or an invalid value.
            ValueError: the scenario was read from its resolved form.

        With the `cafe` of `airtcp.load`:

        >>> cafe.vary({"stations.laptop.count": 40}).stations[0].count
        40
        """
        together = {key: one for key, one in self._changes.items() if key not in changes}
        together |= changes
        try:
            among = has_profiles(self._given)
            if any(is_of_profiles(key, among=among) for key in changes):
                # Other profiles set other keys, so all changes since loading are applied again.
                expanded = varied_with_profiles(self._given, together)
            else:
                now = Expanded(self.written, dict(self._origins))
                expanded = now.changed(varied(now.data, changes))
        except InvalidError as error:
            raise scenario_error(self._name, self._given, error) from None
        changed = self.rewritten(expanded.data)
        changed._given, changed._changes = self._given, together
        changed._origins = expanded.origins
        return changed

    def with_stations(self, total: int) -> Self:
        """Return the scenario with `total` stations, all groups in proportion.

        Raises ScenarioError if that number is not allowed, ValueError as `vary` does.

        With the `cafe` of `airtcp.load`:

        >>> cafe.with_stations(12).stations[0].count
        12
        """
        counts = shared_out(total, [group.count for group in self.stations])
        if total < len(counts):
            groups = f"{len(counts)} group{'s' if len(counts) > 1 else ''}"
            raise ScenarioError(
                self._name,
                "stations",
                phrase("file.few_stations", total=total, groups=groups),
            )
        names = [group.name for group in self.stations]
        return self.vary(
            {f"stations.{name}.count": count for name, count in zip(names, counts, strict=True)}
        )

    @property
    def called(self) -> str:
        """The name for messages: the name of the file."""
        return self._name

    def with_run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        warmup_ns: int | None = None,
        duration_ns: int | None = None,
    ) -> Self:
        """Do the same as `ResolvedScenario.with_run`, in both forms.

        With the `cafe` of `airtcp.load`:

        >>> cafe.with_run(seed=7, replications=20).run.seed
        7
        """
        changed = super().with_run(
            seed=seed, replications=replications, warmup_ns=warmup_ns, duration_ns=duration_ns
        )
        if self._written is None:
            return changed
        run = dict(self._written.get("run", {}))
        if seed is not None:
            run["seed"] = seed
        if warmup_ns is not None:
            run["warmup"] = f"{warmup_ns} ns"
        if duration_ns is not None:
            run["duration"] = f"{duration_ns} ns"
        if replications is not None:
            run["replications"] = replications
            run.pop("precision", None)
            run.pop("max_replications", None)
        changed._written = {**self._written, "run": run}
        changed._given = {**self._given, "run": run}
        changed._changes = {
            key: one for key, one in self._changes.items() if not f"{key}.".startswith("run.")
        }
        return changed


def _title(name: str) -> str:
    """Return the title of a scenario without one. The file name may contain invalid characters."""
    return Path(name).stem.encode(errors="replace").decode()
