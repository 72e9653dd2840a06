"""Distributions of sizes and times as files write them: by their moments.

A plain quantity is a distribution, too. The resolved form has the parameters of the laws
(`airtcp.distributions`). `resolve_laws` computes them.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from ..quantities import (
    MeanCount,
    MeanSizeBytes,
    PositiveCount,
    PositiveSizeBytes,
    PositiveTimeS,
    SizeBytes,
    TimeS,
    Written,
    needed,
    optional,
)

SCV_MAX = 1e6


class Empirical(Written):
    """Draws from the values of a file."""

    distribution: Literal["empirical"]
    file: Annotated[str, Field(min_length=1)] = needed(
        "A CSV file with a header line, or (sizes only) a web server's access log in Common or "
        "Combined Log Format, of which the sizes above 0 with status 200 count. Ending .gz: "
        "compressed. Relative to the scenario file."
    )
    column: Annotated[str, Field(min_length=1)] | None = optional(
        "The column of a CSV file; its numbers are bytes or seconds.",
        default="none: the file is an access log",
    )


def _laws(of: str, value: Any, mean: Any, low: Any) -> Any:
    """Return the distributions of one kind of quantity.

    Args:
        of: the kind, for the names of the tables.
        value: the type of a single value.
        mean: the type of a mean, above 0.
        low: the type of a lower bound, which may be 0.
    """

    def law(tag: Any, meaning: str, **keys: tuple[Any, Any]) -> type[Written]:
        (name,) = tag.__args__
        fields: dict[str, Any] = {"distribution": (tag, ...), **keys}
        return create_model(name.capitalize() + of, __base__=Written, __doc__=meaning, **fields)

    the_mean = (mean, needed("The mean."))
    laws = (
        law(
            Literal["deterministic"],
            "Always the same.",
            value=(
                value | None,
                optional("The value.", default="must be given, here or as `mean`"),
            ),
            mean=(
                value | None,
                optional("Another name of `value`.", default="must be given, here or as `value`"),
            ),
        )
        | law(Literal["exponential"], "P(X > x) = exp(-x / mean).", mean=the_mean)
        | law(
            Literal["pareto"],
            "P(X > x) = (scale / x)^shape; the scale follows from mean and shape.",
            mean=the_mean,
            shape=(
                Annotated[float, Field(gt=1, le=1000)],
                needed(
                    "The tail index: above 1, or there is no mean; up to 2 there is no variance."
                ),
            ),
        )
        | law(
            Literal["hyperexponential"],
            "A mixture of two exponentials that contribute equally to the mean (balanced means).",
            mean=the_mean,
            scv=(
                Annotated[float, Field(gt=1, le=SCV_MAX)],
                needed("Squared coefficient of variation, above 1 (1 is the exponential)."),
            ),
        )
        | law(
            Literal["lognormal"],
            "The logarithm is normal.",
            mean=the_mean,
            scv=(
                Annotated[float, Field(gt=0, le=SCV_MAX)],
                needed("Squared coefficient of variation."),
            ),
        )
        | law(
            Literal["uniform"],
            "Uniform between two bounds.",
            low=(low, needed("The lower bound.")),
            high=(mean, needed("The upper bound, above `low`.")),
        )
        | Empirical
    )
    return Annotated[
        laws,
        Field(discriminator="distribution"),
        BeforeValidator(_DistributionInput()),
        _OrText(value.__metadata__[-1]),
    ]


_DISTRIBUTIONS = [
    "deterministic",
    "exponential",
    "pareto",
    "hyperexponential",
    "lognormal",
    "uniform",
    "empirical",
]


class _DistributionInput:
    """Turns a plain quantity into the deterministic distribution, and checks the tag by name."""

    def __call__(self, value: object) -> object:
        if isinstance(value, Written):
            return value
        if not isinstance(value, dict):
            return {"distribution": "deterministic", "value": value}
        return checked_tag(value, "distribution", _DISTRIBUTIONS)


class _OrText:
    """Says in the JSON Schema that a quantity may also be a text."""

    def __init__(self, text: Any) -> None:
        self._text = text

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = self._text.json_schema
        return {"anyOf": [handler(schema), text], "x-unit": text["x-unit"]}


def checked_tag(value: dict[str, object], tag: str, allowed: list[str]) -> dict[str, object]:
    """Return the table after a check of the key that gives its kind."""
    if tag not in value:
        raise PydanticCustomError("no_tag", "", {"key": tag, "allowed": allowed})
    name = value[tag]
    if name not in allowed:
        raise PydanticCustomError("bad_tag", "", {"key": tag, "value": name, "allowed": allowed})
    return value


CountDistribution: Any = _laws("Count", PositiveCount, MeanCount, MeanCount)
SizeDistribution: Any = _laws("Size", PositiveSizeBytes, MeanSizeBytes, SizeBytes)
TimeDistribution: Any = _laws("Time", TimeS, PositiveTimeS, TimeS)
