"""Types of the written form: quantities with units, and tables that check their keys.

`errors` turns the errors raised here into messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from .. import units
from ..choices import own_names, own_word
from ..exceptions import UnitError
from ..phrases import phrase


def in_any_case(*words: str) -> BeforeValidator:
    """Return a validator that ignores case: "802.11G" becomes "802.11g"."""
    known = {word.lower(): word for word in words}

    def read(value: object) -> object:
        return known.get(value.lower(), value) if isinstance(value, str) else value

    return BeforeValidator(read)


def own(kind: str) -> WrapValidator:
    """Return a validator that accepts registered algorithms of a kind as well as the known ones.

    A registered name becomes the word of its resolved form.
    """

    def read(value: Any, known: ValidatorFunctionWrapHandler) -> Any:
        return own_word(kind, value) or known(value)

    return WrapValidator(read)


def only_own(kind: str) -> BeforeValidator:
    """Return a validator that accepts only registered algorithms of a kind.

    A registered name becomes the word of its resolved form.
    """

    def read(value: Any) -> Any:
        if (word := own_word(kind, value)) is not None:
            return word
        known = ", ".join(f'"{one}"' for one in own_names(kind)) or phrase(
            "scenario.values.plugin_word", kind=kind
        )
        raise PydanticCustomError(
            "unknown_own",
            phrase("scenario.values.unknown_word"),
            {"found": json.dumps(value, default=str), "known": known},
        )

    return BeforeValidator(read)


class Written(BaseModel):
    """A TOML table. Its keys are its fields. Other keys are rejected by name."""

    table: ClassVar[Any] = None
    """The resolved table with this written form, if `declare` made it from one."""

    if TYPE_CHECKING:  # the keys of a table made from declarations are known only at run time

        def __getattr__(self, name: str) -> Any: ...

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=False,
        defer_build=True,  # the scenario builds all its tables together, once
    )

    @classmethod
    def allowed_keys(cls) -> list[str]:
        """Return the names of the keys in a file, in the order of the documentation."""
        return list(cls.model_fields)

    def given(self, name: str) -> bool:
        """Return whether the file has the key; otherwise the key has its default."""
        return name in self.model_fields_set

    def filled(self, **defaults: object) -> Self:
        """Return the same table with values for keys that the file does not have."""
        filled = self.model_copy()
        left_out = {name: value for name, value in defaults.items() if not self.given(name)}
        filled.__dict__.update(left_out)
        return filled

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            raise PydanticCustomError("not_a_table", "", {"keys": cls.allowed_keys()})
        # TOML has no null. In Python, None omits a key.
        data = {name: value for name, value in data.items() if value is not None}
        presets = cls.table.presets if cls.table is not None else {}
        if presets and isinstance(preset := data.get("preset"), str):
            data = _over(presets.get(preset, {}), data)
        allowed, required = _keys(cls)
        if unknown := [name for name in data if name not in allowed]:
            keys = {"unknown": unknown, "allowed": list(allowed)}
            raise PydanticCustomError("unknown_keys", "", keys)
        if missing := [name for name in required if name not in data]:
            wanted = {name: _wanted(cls.model_fields[name]) for name in missing}
            raise PydanticCustomError("missing_keys", "", {"missing": wanted})
        return data


@cache
def _keys(table: type[Written]) -> tuple[Mapping[str, None], tuple[str, ...]]:
    """Return the keys of a table in order, and those without a default."""
    fields = table.model_fields
    return dict.fromkeys(fields), tuple(name for name in fields if fields[name].is_required())


def over(below: Written, above: Written) -> Written:
    """Return the table `below` overridden by keys of `above`; nested tables merge key by key."""
    together = below.model_copy()
    for name in above.model_fields_set:
        value, other = getattr(above, name), getattr(below, name)
        if isinstance(value, Written) and type(value) is type(other):
            value = over(other, value)
        together.__dict__[name] = value
    together.__pydantic_fields_set__.update(above.model_fields_set)
    return together


def _over(preset: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a preset's values overridden by the file's; nested tables merge key by key."""
    together = dict(preset)
    for name, value in data.items():
        below = preset.get(name)
        if isinstance(below, Mapping) and isinstance(value, dict):
            value = _over(below, value)
        together[name] = value
    return together


def _wanted(field: FieldInfo) -> str:
    """Return what a missing key contains: "; allowed: ..." or its description in brackets."""
    names = [name for name in get_args(field.annotation) if isinstance(name, str)]
    if names:
        return "; allowed: " + ", ".join(f'"{name}"' for name in names)
    what = (field.description or "").rstrip(".")
    # "How many stations" begins a sentence in the reference; "SNR at the station" stays as it is.
    return f" ({what if what[:2].isupper() else what[:1].lower() + what[1:]})"


def optional(description: str, *, default: str) -> Any:
    """Declare an optional key, which is None if omitted; `default` describes what that means."""
    extra: dict[str, JsonValue] = {"x-default": default}
    return Field(default=None, description=description, json_schema_extra=extra)


def text_or_table(value: object) -> str:
    """Return "table" or "text", the form of a value that may be either."""
    return "table" if isinstance(value, dict | Written) else "text"


def number_or_table(value: object) -> str:
    """Return "table" or "number", the form of a value that may be either."""
    return "table" if isinstance(value, dict | Written) else "number"


def one_of(values: Iterable[float], unit: str) -> Any:
    """Return the type of a key with one of a few quantities: "80 MHz" in a file becomes 80."""
    known = {f"{value} {unit}": value for value in values}
    return Annotated[Literal.__getitem__(tuple(known)), AfterValidator(known.__getitem__)]


def needed(description: str) -> Any:
    """Declare a required key."""
    return Field(description=description)


def _quantity(
    parse: Callable[[object], float], quantity: units.Quantity, example: str = ""
) -> tuple[BeforeValidator, WithJsonSchema]:
    schema = {
        "type": "string",
        "pattern": quantity.pattern,
        "examples": [example or quantity.example],
        "x-unit": ", ".join(quantity.shown),
    }
    return BeforeValidator(parse), WithJsonSchema(schema)


def positive(value: float) -> float:
    """Reject 0, for quantities whose parsers accept it."""
    if value <= 0:
        raise PydanticCustomError("not_positive", phrase("scenario.values.not_positive"))
    return value


def up_to_a_second(value: int) -> int:
    """Reject more than a second, for times of a frame exchange; the standard's are below 10 ms.

    Models and the simulator add many of these times, and do not check times of up to a second.
    """
    if value > units.NS_PER_S:
        raise PydanticCustomError("too_long", phrase("scenario.values.up_to_a_second"))
    return value


_TIME_NS = _quantity(units.parse_time_ns, units.TIME)
_TIME_S = _quantity(units.parse_time_s, units.TIME, "10 s")
_RATE = _quantity(units.parse_rate_bps, units.RATE)
_SIZE = _quantity(units.parse_size_bytes, units.SIZE, "1460 B")
_MEAN_SIZE = _quantity(units.parse_mean_size_bytes, units.SIZE)
_PERCENT = _quantity(units.parse_percent, units.PERCENT)
_DECIBELS = _quantity(units.parse_decibels, units.DECIBELS)
_POWER = _quantity(units.parse_power_dbm, units.POWER)
_LENGTH = _quantity(units.parse_length_m, units.LENGTH)


def time_or(word: str) -> tuple[object, ...]:
    """Return the type of a key with a time or a word: nanoseconds, or the word."""
    return _or_word(word, units.parse_time_ns, _TIME_NS)


def rate_or(word: str) -> tuple[object, ...]:
    """Return the type of a key with a rate or a word: bits per second above 0, or the word."""
    return _or_word(word, lambda value: positive(units.parse_rate_bps(value)), _RATE)


def _or_word(
    word: str,
    parse: Callable[[object], float],
    quantity: tuple[BeforeValidator, WithJsonSchema],
) -> tuple[object, ...]:
    def read(value: object) -> object:
        if value == word:
            return value
        try:
            return parse(value)
        except UnitError as error:
            raise PydanticCustomError(
                "bad_quantity",
                phrase("scenario.values.or_word"),
                {"reason": str(error), "word": word},
            ) from None

    schema = quantity[1].json_schema or {}
    known = {"anyOf": [schema, {"const": word}], "x-unit": schema["x-unit"]}
    return BeforeValidator(read), WithJsonSchema(known)


TimeNs = Annotated[int, *_TIME_NS]
PositiveTimeNs = Annotated[int, AfterValidator(positive), *_TIME_NS]
ExchangeTimeNs = Annotated[int, AfterValidator(up_to_a_second), *_TIME_NS]
TimeS = Annotated[float, *_TIME_S]
PositiveTimeS = Annotated[float, AfterValidator(positive), *_TIME_S]
RateBps = Annotated[int, AfterValidator(positive), *_RATE]
SizeBytes = Annotated[int, *_SIZE]
PositiveSizeBytes = Annotated[int, AfterValidator(positive), *_SIZE]
MeanSizeBytes = Annotated[float, AfterValidator(positive), *_MEAN_SIZE]
#: The maximum number of objects of a page. No real page has more.
MOST_COUNTED = 10_000
PositiveCount = Annotated[
    int,
    Field(ge=1, le=MOST_COUNTED),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_COUNTED, "x-unit": ""}),
]
MeanCount = Annotated[
    float,
    Field(gt=0, le=MOST_COUNTED),
    WithJsonSchema(
        {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_COUNTED, "x-unit": ""}
    ),
]
Percent = Annotated[float, AfterValidator(positive), *_PERCENT]
Share = Annotated[float, *_PERCENT]
"""A percentage that may be 0."""
Decibels = Annotated[float, *_DECIBELS]
Dbm = Annotated[float, *_POWER]
Metres = Annotated[float, AfterValidator(positive), *_LENGTH]

# No "/" and no ".": `group/0` is a station, `stations.group.count` a key path.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]*$", max_length=64)]
