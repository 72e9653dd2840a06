"""Declare the keys of a scenario, and derive both forms of a table from the declarations.

A table is a class derived from `Table`, and that class is its resolved form. Each field is declared
with `key`: its meaning, default, bounds and source. `written` makes the written form from the same
declarations: a field `mss_bytes` is the key `mss` of a file, a text with a unit, because the name
of the field ends in a unit. `file_only` and `derived` declare what only one of the forms has.

`resolve` computes defaults that follow from other keys.
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
    """The default of a key: in words, and as a file would write it.

    Without a value, `resolve` computes the default, or None represents it.
    """

    words: str
    value: JsonValue = None
    of_preset: Mapping[str, JsonValue] | None = None
    """For each `preset` of the table, if the default depends on it; "standard" is for all
    others."""


NEEDED = Default("must be given")


def none(meaning: str = "") -> Default:
    """Return a default of "none"; `meaning` says what none means for the key."""
    return Default(f"none: {meaning}" if meaning else "none")


def follows(words: str) -> Default:
    """Return a default that depends on other keys, as `words` say and `resolve` computes."""
    return Default(words)


def by_preset(standard: JsonValue, others: Mapping[str, JsonValue]) -> Default:
    """Return a default that differs from `standard` with some values of the table's `preset`."""
    named: dict[str, list[str]] = {}
    for preset, value in others.items():
        named.setdefault(text(value), []).append(preset)
    told = "; ".join(f"{', '.join(presets)}: {value}" for value, presets in named.items())
    return Default(f"{text(standard)} ({told})", of_preset={"standard": standard, **others})


def text(value: JsonValue) -> str:
    """Return a value as a file writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Key:
    """The declaration of a key."""

    meaning: str
    default: Default
    source: str = ""
    """Document and clause of the default."""
    unit: str = ""
    """The unit of a plain number."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Bounds of the written value: `ge`, `le`, `gt`, `lt` as in pydantic."""
    reads: Any = None
    """The type of the written value, if it does not follow from the type of the field."""
    forms: Literal["both", "file", "resolved"] = "both"
    sparse: bool = False
    """Whether the resolved form, of a `Sparse` table, omits the key if it is None."""


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
    """Declare a field of a table that files may write.

    Args:
        meaning: one or more sentences for the documentation.
        default: as a file would write it, or the result of `none`, `follows` or `by_preset`.
            Without it, the key is required.
        source: document and clause that the default comes from.
        unit: the unit of a plain number.
        reads: the type of the written value, if it does not follow from the type of the field.
        ge: bounds of the written value, as in pydantic: at least; `gt`, `le`, `lt` likewise.
        gt: more than.
        le: at most.
        lt: less than.
        sparse: the resolved form omits it if it is None.
    """
    given = {"ge": ge, "gt": gt, "le": le, "lt": lt}
    bounds = {name: bound for name, bound in given.items() if bound is not None}
    declared = Key(meaning, _default(default), source, unit, bounds, reads, sparse=sparse)
    # If the written value has another type than the field, its bounds do not apply to the field.
    return _field(declared, {} if reads else bounds)


def file_only(
    reads: Any,
    meaning: str,
    *,
    default: Default | JsonValue = NEEDED,
    source: str = "",
    unit: str = "",
) -> Key:
    """Declare a key that only files have: other fields of the resolved form follow from it.

    `reads` is the type of the written value, including its bounds. The rest is the same as for
    `key`.
    """
    return Key(meaning, _default(default), source, unit, reads=reads, forms="file")


def derived(meaning: str, *, unit: str = "", sparse: bool = False) -> Any:
    """Declare a field that files do not have, because it follows from other keys."""
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
        # The scenario builds the validators of all its tables together, and validates them
        # together.
        defer_build=True,
        revalidate_instances="always",
    )

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For values of the key `preset`: the written values that it sets, unless the file gives
    them."""

    @classmethod
    def of(cls, table: Written, **computed: object) -> Self:
        """Return the resolved table of a written one, which the scenario validates later.

        Keys have their written value or their default. `computed` are the fields that do not follow
        only from their own key.
        """
        values: dict[str, Any] = dict(computed)
        for name, declared in declarations(cls).items():
            if name not in values and declared.forms == "both":
                values[name] = _resolved(table, name_in_files(name), declared)
        return cast("Self", cls.model_construct(**values))

    @classmethod
    def default(cls) -> Self:
        """Return the table of a file without it. Its defaults may not depend on other tables."""
        return cls.of(cls.written_default())

    @classmethod
    def written_default(cls) -> Written:
        """Return the written form of the table if a file says nothing about it."""
        return written(cls).model_validate({})


class Sparse(Table):
    """A table that omits fields that are None and declared as `sparse`.

    So scenarios without newer keys keep the resolved form that they had before these keys existed.
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
    """Return the keys of a table by the names of their fields, in the order of declaration."""
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
    """Return the written form of a table; with `others` a form with the keys of all of them."""
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


@cache
def name_in_files(name: str) -> str:
    """Return the key in files for a field of the resolved form: its name without the unit."""
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
        # Bounds apply to the written value, so they come before its conversion.
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
    """Describe what the presets of the whole table set a key to."""
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
    """Return the type of the written value, from the type and the name of the resolved field."""
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
