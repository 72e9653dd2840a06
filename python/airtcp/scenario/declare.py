"""Declare the keys of a scenario, and derive both forms of a table from the declarations.

A table is a class derived from `Table`, and that class is its resolved form. Python has the name
and the type of each field, which is declared with `key`, `file_only` or `derived`: both forms of
the table have it, or only one. The TOML file next to the module has the rest of the declaration,
under the names of table and field:

    meaning   one or more sentences for the documentation
    default   as a file writes it; `presets` has other defaults by the table's `preset`
    words     the default in words, if they are not the value
    none      the default is "none"; the text says what none means for the key
    follows   the default depends on other keys, as the text says and `resolve` computes
    ge, gt, le, lt   bounds of the written value, as in pydantic
    unit      the unit of a plain number
    source    document and clause of the default
    sparse    the resolved form omits the key if it is None

Without default, none and follows, the key is required. A `$word` in a text is replaced by the
table's `computed` text of that name.

`written` makes the written form from the same declarations: a field `mss_bytes` is the key `mss` of
a file, a text with a unit, because the name of the field ends in a unit.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Template
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

from ..data import beside
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


@dataclass(frozen=True)
class _Form:
    """A field of a table before its declaration is read: its form, and the written type."""

    forms: Literal["both", "file", "resolved"]
    reads: Any = None


def key(reads: Any = None) -> Any:
    """Declare a field of a table that files may write.

    `reads` is the type of the written value, if it does not follow from the type of the field.
    """
    return _Form("both", reads)


def file_only(reads: Any) -> Any:
    """Declare a key that only files have: other fields of the resolved form follow from it.

    `reads` is the type of the written value, including its bounds.
    """
    return _Form("file", reads)


def derived() -> Any:
    """Declare a field that files do not have, because it follows from other keys."""
    return _Form("resolved")


def _declared(form: _Form, record: Mapping[str, Any], computed: Mapping[str, str]) -> Key:
    """Return the declaration of a field from its record in the TOML file."""
    said = record
    if computed:
        said = {
            name: Template(record[name]).substitute(computed)
            for name in ("meaning", "words", "none", "follows")
            if name in record
        }
    return Key(
        said["meaning"],
        _default(record, said),
        record.get("source", ""),
        record.get("unit", ""),
        {name: record[name] for name in ("ge", "gt", "le", "lt") if name in record},
        form.reads,
        form.forms,
        record.get("sparse", False),
    )


def _default(record: Mapping[str, Any], said: Mapping[str, str]) -> Default:
    if "none" in said:
        return Default(f"none: {said['none']}" if said["none"] else "none")
    if "follows" in said:
        return Default(said["follows"])
    if "default" not in record:
        return NEEDED
    value = record["default"]
    if "presets" in record:
        return _by_preset(value, record["presets"])
    return Default(said.get("words", "all defaults" if value == {} else text(value)), value)


def _by_preset(standard: JsonValue, others: Mapping[str, JsonValue]) -> Default:
    """Return a default that differs from `standard` with some values of the table's `preset`."""
    named: dict[str, list[str]] = {}
    for preset, value in others.items():
        named.setdefault(text(value), []).append(preset)
    told = "; ".join(f"{', '.join(presets)}: {value}" for value, presets in named.items())
    return Default(f"{text(standard)} ({told})", of_preset={"standard": standard, **others})


def _field(declared: Key) -> Any:
    """Return the field of the resolved form."""
    # If the written value has another type than the field, its bounds do not apply to the field.
    bounds: dict[str, Any] = {} if declared.reads else dict(declared.bounds)
    if declared.sparse:
        bounds["default"] = None
    field: Any = Field(description=declared.meaning, **bounds)
    field.metadata.append(declared)
    return field


@cache
def _records(module: str) -> Mapping[str, Any]:
    """Return the declarations next to a module, by table and field."""
    return beside(str(sys.modules[module].__file__))


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

    computed: ClassVar[Mapping[str, str]] = {}
    """Texts that replace `$word` in the declarations."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For values of the key `preset`: the written values that it sets, unless the file gives
    them."""

    def __init_subclass__(cls, **config: Any) -> None:
        """Complete the fields of a table by their declarations."""
        super().__init_subclass__(**config)
        forms = {name: one for name, one in vars(cls).items() if isinstance(one, _Form)}
        for name, form in forms.items():
            record = _records(cls.__module__)[cls.__name__][name]
            declared = _declared(form, record, cls.computed)
            setattr(cls, name, declared if form.forms == "file" else _field(declared))

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
        """Return the table if a file says nothing about it. No key of it may depend on others."""
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
