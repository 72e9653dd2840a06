"""The resolved form of a whole scenario: every field present, integer units, no defaults.

It has the tables of a file's first level (`keys` has the others), canonical JSON, and the hash. All
classes are immutable. A change makes a new scenario (`with_run`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, ValidationError

from .declare import Default, Key, Sparse, derived, file_only, follows, key, none, written
from .errors import scenario_error
from .keys.air import NO_CELLS, Air, Cell
from .keys.mac import Classify, Mac
from .keys.phy import Phy
from .keys.queue import AccessPoint
from .keys.run import Run
from .keys.stations import StationGroup
from .keys.traffic import Flow, Link
from .quantities import Name

if TYPE_CHECKING:
    from ..conditions import Condition


def _canonical(data: object) -> str:
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def hash_of(canonical: str) -> str:
    """Return the SHA-256 of canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical.encode()).hexdigest()


class ResolvedScenario(Sparse):
    """An airtcp scenario."""

    title: str = key(
        "Title of the scenario.", default=follows("the name of the file, without its ending")
    )
    phy: Phy = key("The physical layer, `[phy]`.")
    mac: Mac = key("Medium access.", default={})
    classify: Classify = derived("The classification of `[mac]`; only used with EDCA.")
    ap: AccessPoint = key("Access point; with several cells the first cell's.", default={})
    cells: tuple[Cell, ...] | None = key(
        "Cells by name, `[cells.NAME]`: several access points. The resolved form has none if "
        "there is one cell in which all nodes hear each other.",
        default=NO_CELLS,
        reads=dict[Name, written(Cell)],  # type: ignore[misc]
        sparse=True,
    )
    air: Air | None = key(
        "Who hears whom, `[air]`.",
        default=none("all stations and the access point hear each other"),
        sparse=True,
    )
    stations: tuple[StationGroup, ...] = key(
        "Groups of stations, `[[stations]]`.",
        reads=Annotated[list[written(StationGroup)], Field(min_length=1)],  # type: ignore[misc]
    )
    links: dict[str, Link] = key(
        "Wired links by name, shared by all flows whose `path` names them.",
        default=Default("none", {}),
    )
    flows: tuple[Flow, ...] = key(
        "Flows, `[[flows]]`: one for every station of a group; or `traffic` of the groups.",
        reads=Annotated[list[written(Flow)], Field(min_length=1)],  # type: ignore[misc]
    )
    targets_: ClassVar[Key] = file_only(
        dict[str, str],
        'Targets: conditions to meet, as `"GROUP/DIRECTION p95 METRIC" = "< QUANTITY"`. They do '
        "not affect the simulation, so the resolved form does not contain them.",
        default=Default("the targets of its traffic profiles", {}),
    )
    run: Run = key("Run length, replications and precision.", default={})

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, regardless of the file."""
        return isinstance(other, ResolvedScenario) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, object]:
        """Return the scenario as plain JSON data."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> str:
        """Return canonical JSON: keys sorted, no white space, numbers in shortest exact form."""
        return _canonical(self.to_dict())

    def for_core(self) -> str:
        """Return the JSON for the core, in which rows of powers that are mostly null are objects.

        The text of N cells that do not hear each other is N times as long as that of one.
        """
        data = self.model_dump(mode="json", by_alias=True, exclude={"air": {"received_dbm"}})
        if self.air is not None:
            data["air"]["received_dbm"] = [
                {str(to): power for to, power in enumerate(row) if power is not None}
                if row.count(None) > len(row) / 2
                else row
                for row in self.air.received_dbm
            ]
        return _canonical(data)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the scenario of a JSON text, canonical or not.

        Raises:
            pydantic.ValidationError: the text is not JSON, or not a resolved scenario.
        """
        return cls.model_validate_json(text, by_alias=True)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Return the scenario of plain JSON data.

        Raises:
            pydantic.ValidationError: the data is not a resolved scenario.
        """
        return cls.from_json(json.dumps(data))

    def as_file(self) -> str | None:
        """Return the scenario as TOML; None if only the resolved form is known."""
        return None

    def hash(self) -> str:
        """Return the SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
        return hash_of(self.to_json())

    def group(self, name: str) -> StationGroup:
        """Return the station group with a name.

        Raises:
            KeyError: there is none.
        """
        for group in self.stations:
            if group.name == name:
                return group
        raise KeyError(name)

    def link_rate_bps(self, group: StationGroup) -> int:
        """Return the rate of data frames with a group; of several links the sum.

        With one radio for all links it is the highest of their rates.
        """
        if self.ap.links is None:
            return group.data_rate.bps
        place = self.stations.index(group)
        links = [link.stations[place] for link in self.ap.links]
        rates = [one.data_rate.bps for one in links if one is not None]
        return sum(rates) if group.emlsr is None else max(rates)

    def phy_of(self, group: StationGroup) -> Phy:
        """Return the PHY of frames between a group and its access point."""
        return self.phy.shared_with(group.pair)

    def access_point(self, group: str) -> str:
        """Return the node name of a group's access point. Raises KeyError."""
        cell = self.group(group).cell
        return "ap" if self.cells is None else self.cells[cell or 0].name

    @property
    def access_points(self) -> tuple[AccessPoint, ...]:
        """The access point of each cell."""
        return (self.ap,) if self.cells is None else tuple(cell.ap for cell in self.cells)

    def path_links(self, flow: Flow) -> tuple[Link, ...]:
        """Return the wired links of a flow from the access point to the server, names resolved."""
        return tuple(self.links[link] if isinstance(link, str) else link for link in flow.path)

    @property
    def targets(self) -> tuple[Condition, ...]:
        """The targets of the file; none if only the resolved form is known."""
        return ()

    @property
    def purposes(self) -> dict[str, str]:
        """The purposes of flows by their names; none if no written form is known."""
        return {}

    @property
    def called(self) -> str:
        """The name for messages: the title, because no file is known."""
        return self.title

    def __repr__(self) -> str:
        stations = sum(group.count for group in self.stations)
        flows = len(self.flows)
        return (
            f"<Scenario {self.title!r}: {stations} station{'s' if stations > 1 else ''}, "
            f"{self.phy.standard}, {flows} kind{'s' if flows > 1 else ''} of flows>"
        )

    def with_run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        warmup_ns: int | None = None,
        duration_ns: int | None = None,
    ) -> Self:
        """Return the scenario with another seed, run length, or fixed number of replications.

        Raises:
            ScenarioError: a negative seed, fewer than one replication, or no whole number.
        """
        run = self.run.model_dump()
        if seed is not None:
            run["seed"] = seed
        if warmup_ns is not None:
            run["warmup_ns"] = warmup_ns
        if duration_ns is not None:
            run["duration_ns"] = duration_ns
        if replications is not None:
            run["replications"] = replications
            run["precision"] = None
        try:
            return self.model_copy(update={"run": Run.model_validate(run)})
        except ValidationError as error:
            raise scenario_error("scenario", {"run": run}, error, table=("run",)) from None
