"""Dictionaries of results by metric, which suggest the right name for a wrong one."""

from __future__ import annotations

import difflib
from typing import NoReturn, TypeVar

from airtcp.metrics import METRICS

_Value = TypeVar("_Value")


class ByMetric(dict[str, _Value]):
    """Values by the name of their metric. The KeyError for another name says which one is meant.

    >>> ByMetric({"goodput_bps": 1e6})["goodput"]
    Traceback (most recent call last):
        ...
    KeyError: '"goodput" is not a metric here; use "goodput_bps"'
    """

    def __missing__(self, name: object) -> NoReturn:
        short = [one for one in self if one in METRICS and METRICS[one].short == name]
        near = short or difflib.get_close_matches(str(name), self, n=1, cutoff=0.6)
        hint = f'use "{near[0]}"' if near else f"allowed: {', '.join(self)}"
        raise KeyError(f'"{name}" is not a metric here; {hint}')
