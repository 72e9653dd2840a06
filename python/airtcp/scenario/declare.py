"""How a key of a scenario is declared, and how both forms of a table follow from its declarations.

A table is a class derived from `Table`, and that class is its resolved form. Each field is declared
with `key`: what it means, its default, bounds and source. The written form is made from the same
declarations by `written`: a field `mss_bytes` is the key `mss` of a file, a text with a unit,
because its name ends in a unit. What only one of the forms has is declared
with `file_only` or `derived`.

Knows what can be said of a key. Does not know any key, nor how defaults follow from other keys:
`resolve` does.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, Union, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
)

from .quantities import Dbm, Decibels, Name, RateBps, SizeBytes, TimeNs, Written


@dataclass(frozen=True)
class Default:
    """What holds where a key is left out: in words, and as a file would write it.

    Without a value `resolve` says what follows, or None stands for it.
    """

    words: str
    value: JsonValue = None
    of_preset: Mapping[str, JsonValue] | None = None
    """For each `preset` of the table, where it depends on that; "standard" stands for others."""


NEEDED = Default("must be given")


def none(meaning: str = "") -> Default:
    """There is nothing, which means what `meaning` says."""
    return Default(f"none: {meaning}" if meaning else "none")


def follows(words: str) -> Default:
    """The default depends on other keys, as `words` say and as `resolve` works out."""
    return Default(words)


def by_preset(values: Mapping[str, JsonValue]) -> Default:
    """The default depends on the `preset` of the table; "standard" stands for those not named."""
    standard = values["standard"]
    others: dict[str, list[str]] = {}
    for preset, value in values.items():
        if value != standard:
            others.setdefault(text(value), []).append(preset)
    named = "; ".join(f"{', '.join(presets)}: {value}" for value, presets in others.items())
    return Default(f"{text(standard)} ({named})", of_preset=values)


def text(value: JsonValue) -> str:
    """A value as a file writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Key:
    """What is declared of a key."""

    meaning: str
    default: Default
    source: str = ""
    """Document and clause of the default."""
    unit: str = ""
    """Of a plain number."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Of what a file holds: `ge`, `le`, `gt`, `lt` as in pydantic."""
    reads: Any = None
    """The type of what a file holds, where it does not follow from the type of the field."""
    forms: Literal["both", "file", "resolved"] = "both"
    sparse: bool = False
    """The resolved form, of a `Sparse` table, leaves it out where it is None."""


def key(
    meaning: str,
    *,
    default: Default | JsonValue = NEEDED,
    source: str = "",
    unit: str = "",
    reads: Any = None,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    sparse: bool = False,
) -> Any:
    """A field of a table that files may write.

    Args:
        meaning: one or more sentences for the documentation.
        default: as a file would write it, or what `none`, `follows` or `by_preset` gives; left out:
            the key must be given.
        source: document and clause that the default comes from.
        unit: what a plain number counts.
        reads: the type of what a file holds, where it does not follow from that of the field.
        ge: bounds of what a file holds, as in pydantic: at least; `gt`, `le`, `lt` likewise.
        gt: more than.
        le: at most.
        lt: less than.
        sparse: the resolved form leaves it out where it is None.
    """
    given = {"ge": ge, "gt": gt, "le": le, "lt": lt}
    bounds = {name: bound for name, bound in given.items() if bound is not None}
    declared = Key(meaning, _default(default), source, unit, bounds, reads, sparse=sparse)
    # The bounds of another type than the field's are not those of the field.
    return _field(declared, {} if reads else bounds)


def file_only(
    reads: Any,
    meaning: str,
    *,
    default: Default | JsonValue = NEEDED,
    source: str = "",
    unit: str = "",
) -> Key:
    """A key that files have and the resolved form has not: other fields follow from it.

    `reads` is the type of what a file holds, bounds included; all else is as with `key`.
    """
    return Key(meaning, _default(default), source, unit, reads=reads, forms="file")


def derived(meaning: str, *, unit: str = "", sparse: bool = False) -> Any:
    """A field that files do not have: it follows from other keys."""
    return _field(Key(meaning, NEEDED, unit=unit, forms="resolved", sparse=sparse), {})


def _default(default: Default | JsonValue) -> Default:
    if isinstance(default, Default):
        return default
    return Default("all defaults" if default == {} else text(default), default)


def _field(declared: Key, bounds: Mapping[str, Any]) -> Any:
    if declared.sparse:
        bounds = {**bounds, "default": None}
    field = Field(description=declared.meaning, **bounds)
    field.metadata.append(declared)
    return field


class Table(BaseModel):
    """A table of the resolved form: every field present, integer units, nothing left to default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        # A scenario builds the validators of its tables with its own, and checks them all at once.
        defer_build=True,
        revalidate_instances="always",
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For values of the key `preset`: what a file would say with it; what it says itself wins."""

    @classmethod
    def of(cls, table: Written, **computed: object) -> Self:
        """The resolved table of a written one; the scenario that it goes into checks it.

        Keys are as written or by default; `computed` are the fields that do not follow from
        a key of their own alone.
        """
        values: dict[str, Any] = dict(computed)
        for name, declared in declarations(cls).items():
            if name not in values and declared.forms == "both":
                values[name] = _resolved(table, name_in_files(name), declared)
        return cast("Self", cls.model_construct(**values))

    @classmethod
    def default(cls) -> Self:
        """The table where a file says nothing of it; none of its keys depends on others."""
        return cls.of(cls.written_default())

    @classmethod
    def written_default(cls) -> Written:
        """The written form of it where a file says nothing."""
        return written(cls).model_validate({})


class Sparse(Table):
    """A table that leaves out those of its fields that are None and declared as `sparse`.

    Where nobody asks for what they say, its resolved form is that of a time before they were known.
    """

    @model_serializer(mode="wrap")
    def _without_nothing(self, as_ever: SerializerFunctionWrapHandler) -> dict[str, Any]:
        said: dict[str, Any] = as_ever(self)
        for name, declared in declarations(type(self)).items():
            if declared.sparse and said.get(name, ...) is None:
                del said[name]
        return said


def _resolved(table: Written, name: str, declared: Key) -> object:
    value = getattr(table, name)
    if isinstance(value, Written):
        assert value.table is not None, name
        return value.table.of(value)
    presets = declared.default.of_preset
    if value is None and presets:
        return presets.get(table.preset, presets["standard"])
    return tuple(value) if isinstance(value, list) else value


@cache
def declarations(table: type[Table]) -> Mapping[str, Key]:
    """The keys of a table by the names of their fields, in the order of their declaration."""
    known: dict[str, Key] = {}
    for base in reversed(table.__mro__):
        for name in inspect.get_annotations(base):
            found = vars(table).get(name)
            if name in table.model_fields:
                metadata = table.model_fields[name].metadata
                found = next(item for item in metadata if isinstance(item, Key))
            if isinstance(found, Key):
                known[name] = found
    return known


@cache
def written(table: type[Table], *others: type[Table]) -> type[Written]:
    """The written form of a table; with `others` of one that has the keys of them all."""
    fields: dict[str, Any] = {}
    for each in (table, *others):
        for name, declaration in declarations(each).items():
            in_file = name_in_files(name)
            if declaration.forms != "resolved" and in_file not in fields:
                fields[in_file] = _written_field(each, name, declaration)
    form = create_model(
        table.__name__,
        __base__=Written,
        __module__=table.__module__,
        __doc__=inspect.getdoc(table),
        **fields,
    )
    form.table = table
    return form


_UNITS: dict[str, Any] = {
    "_ns": TimeNs,
    "_bps": RateBps,
    "_bytes": SizeBytes,
    "_dbm": Dbm,
    "_db": Decibels,
}


def name_in_files(name: str) -> str:
    """The key of a file for a field of the resolved form: its name without the unit."""
    for suffix in _UNITS:
        name = name.removesuffix(suffix)
    return name.removesuffix("_")


def _written_field(table: type[Table], name: str, key: Key) -> tuple[Any, Any]:
    extra: dict[str, JsonValue] = {}
    for label, said in (("unit", key.unit), ("source", key.source)):
        if said:
            extra[f"x-{label}"] = said
    reads = key.reads if key.reads else _reads(name, table.model_fields[name].annotation)
    if key.bounds:
        # Bounds hold for what is read, and go before the reading of it.
        kind, *how = get_args(reads) if get_origin(reads) is Annotated else (reads,)
        reads = Annotated[kind, Field(**key.bounds), *how]  # type: ignore[call-overload]
    default = key.default
    if default is NEEDED:
        return reads, Field(description=key.meaning, json_schema_extra=extra)
    extra["x-default"] = default.words
    if presets := _of_presets(table, name_in_files(name)):
        extra["x-presets"] = presets
    field = Field(
        default=default.value,
        validate_default=True,
        description=key.meaning,
        json_schema_extra=extra,
    )
    return reads | None if default.value is None else reads, field


def _of_presets(table: type[Table], name: str) -> str:
    """In words: what presets of the whole table set a key to."""
    return ", ".join(
        f"{preset}: {_in_line(values[name])}"
        for preset, values in table.presets.items()
        if name in values
    )


def _in_line(value: Any) -> str:
    if not isinstance(value, Mapping):
        return text(value)
    return "{ " + ", ".join(f"{name} = {_in_line(item)}" for name, item in value.items()) + " }"


def _reads(name: str, field: Any) -> Any:
    """The type of what a file holds, by the type of a field of the resolved form and its name."""
    if get_origin(field) in (Union, types.UnionType):
        (field,) = (choice for choice in get_args(field) if choice is not type(None))
    if get_origin(field) is tuple:
        return list[_reads(name, get_args(field)[0])]  # type: ignore[misc]
    if get_origin(field) is dict:
        return dict[Name, _reads(name, get_args(field)[1])]  # type: ignore[misc]
    if isinstance(field, type) and issubclass(field, Table):
        return written(field)
    for suffix, quantity in _UNITS.items():
        if name.endswith(suffix):
            return quantity
    return field
