"""airtcp predicts TCP performance over Wi-Fi: models and a packet-level simulator, side by side.

    airtcp.run("office.toml")    # simulation, verdict on the targets, cause, recommendation
    airtcp.predict("office.toml")     # models, or a quick simulation, in under a second
    airtcp.simulate("office.toml")    # the packet-level simulation
    airtcp.compare("office.toml")     # models and simulation, and how far they are apart
    airtcp.diff("a.toml", "b.toml")   # paired differences on common random numbers
    airtcp.plan("office.toml")        # how many stations it supports, and what raises that
    airtcp.sweep("office.toml", axes, to)  # a grid of scenarios, into a table for queries

Each verb takes a file name, a text or a scenario (`airtcp.load`).

The bare model functions are in `airtcp.models`. Importing airtcp is cheap: NumPy, SciPy and the
compiled core are imported by what needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from airtcp.compare import compare
from airtcp.exceptions import (
    AirtcpError,
    ConvergenceError,
    ModelError,
    OutputError,
    PluginError,
    PluginFailedError,
    QuestionError,
    ScenarioError,
    SimulationError,
)
from airtcp.pictured import drawn_by
from airtcp.plan import plan
from airtcp.prediction import predict
from airtcp.sweep import sweep

if TYPE_CHECKING:
    # `airtcp.results.open`
    from airtcp import (  # noqa: F401
        acks,
        congestion,
        models,
        plugins,
        queues,
        results,
        scenario,
        schedulers,
        stats,
    )
    from airtcp._version import __version__
    from airtcp.difference import diff
    from airtcp.run.glance import glance
    from airtcp.run.simulate import simulate
    from airtcp.scenario.load import load

__all__ = [
    "AirtcpError",
    "ConvergenceError",
    "ModelError",
    "OutputError",
    "PluginError",
    "PluginFailedError",
    "QuestionError",
    "ScenarioError",
    "SimulationError",
    "__version__",
    "advise",
    "compare",
    "diff",
    "glance",
    "load",
    "plan",
    "predict",
    "run",
    "simulate",
    "sweep",
    "verdict",
]

#: Public packages and modules: `airtcp.results.open` works without an import of its own.
_ROOMS: Final = (
    "acks",
    "congestion",
    "models",
    "plugins",
    "queues",
    "results",
    "scenario",
    "schedulers",
    "stats",
)


def _figure(result: Any, /, **options: Any) -> Any:
    """Draw a picture of a result. Matplotlib is imported on first use."""
    from airtcp.present.report import figure

    return figure(result, **options)


drawn_by(_figure)


def __getattr__(name: str) -> Any:
    """Import a public name on first access."""
    value: Any
    if name == "load":
        from airtcp.scenario import load as value
    elif name == "advise":
        from airtcp.judge.recommend import advise as value
    elif name == "verdict":
        from airtcp.judge.verdicts import verdict as value
    elif name == "diff":
        from airtcp.difference import diff as value
    elif name == "glance":
        from airtcp.run.glance import glance as value
    elif name == "simulate":
        from airtcp.run.simulate import simulate as value
    elif name == "__version__":
        from airtcp._version import __version__ as value
    elif name in _ROOMS or name == "run":
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
