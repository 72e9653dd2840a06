"""The work of workers: questions that models answer, and runs.

Knows the public Python of airtcp. Does not know processes, HTTP or how an answer looks: a question
gives one answer, a run tells what it has so far through `tell`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from airtcp.exceptions import AirtcpError, QuestionError, ScenarioError
from airtcp.plan.axis import STATIONS
from airtcp.scenario import toml_text
from airtcp.web import fields, sources, stores, views
from airtcp.web.bodies import Ask, Curve, Figure, Job, Source

Tell = Callable[[dict[str, Any]], None]

#: Runs of a plan may take this part of the time that a run has, so that it ends by itself.
_PART: Final = 0.8


def question(
    name: str, body: Mapping[str, Any], uploads: Path, known: Mapping[str, Path]
) -> dict[str, Any]:
    """The answer to a question by name; `known` are the stores by theirs. Raises AirtcpError."""
    if name == "stores":
        return stores.listed(known)
    if name == "look":
        return stores.look(body, known)
    return _QUESTIONS[name](body, uploads)


def run(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Do what a job asks for. Raises AirtcpError, and KeyboardInterrupt before anything ended."""
    _RUNS[job.kind](job, uploads, limit_s, tell)


def problem(error: AirtcpError) -> dict[str, Any]:
    """An error as a page shows it: the message, the key, and the control that it is about."""
    if isinstance(error, ScenarioError):
        more = [{"key": key, "message": message} for key, message in error.more[:5]]
        return {
            "message": error.message,
            "key": error.key,
            "field": sources.field_of(error.key),
            "more": more,
        }
    return {"message": str(error), "key": "", "field": "", "more": []}


def _scenario(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Everything that a page needs to show the scenario itself."""
    from airtcp.present.subject import subject

    source = Ask.model_validate(body).source
    read = sources.read(source, uploads)
    changes = dict(source.changes)
    if source.stations is not None:
        changes |= {f"stations.{one.name}.count": one.count for one in read.scenario.stations}
    controls = fields.fields(read.scenario, read.written)
    return {
        "title": read.scenario.title,
        "subject": subject(read.scenario),
        "fields": controls,
        "axes": fields.axes(controls),
        "toml": toml_text.dumps(read.written) if changes else _text(source),
        "commands": _commands(source, changes),
        "hash": read.scenario.hash(),
    }


def _predict(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    from airtcp.prediction import predict

    scenario = sources.read(Ask.model_validate(body).source, uploads).scenario
    return views.prediction(predict(scenario))


def _point(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """The answers of the models, or of a glance, at one value of an axis."""
    from airtcp.prediction import predict

    asked = Curve.model_validate(body)
    source = sources.at(asked.source, asked.axis, asked.values[0])
    scenario = sources.read(source, uploads).scenario
    return views.prediction(predict(scenario))


def _remedies(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """The remedies that fit a scenario, and why others do not."""
    from airtcp.remedies import Changed, catalogue, changed, named

    scenario = named(sources.read(Ask.model_validate(body).source, uploads).scenario)
    listed = []
    for remedy in catalogue():
        found = changed(scenario, remedy)
        fits = isinstance(found, Changed)
        listed.append(
            {
                "name": remedy.name,
                "title": remedy.title,
                "source": remedy.source,
                "where": list(remedy.where),
                "fits": fits,
                "reason": "" if isinstance(found, Changed) else found,
                "sets": [_setting(path, value) for path, value in found.changes.items()]
                if isinstance(found, Changed)
                else [],
            }
        )
    return {"remedies": listed}


def _papers(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """All items that can be reproduced, and what of them can be moved."""
    from airtcp.reproduce.catalogue import SOURCES, items
    from airtcp.reproduce.sliders import WITHOUT
    from airtcp.web.papers import catalogue

    listed = [
        {
            "item": one.name,
            "paper": one.paper,
            "title": one.title,
            "caption": one.caption,
            "states": one.states,
            "still": WITHOUT.get(one.name, ""),
        }
        for one in items().values()
    ]
    cited = [
        {"paper": letter, "heading": paper.heading, "citation": paper.citation}
        for letter, paper in SOURCES.items()
    ]
    return {"figures": catalogue(), "items": listed, "papers": cited}


def _figure(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    from airtcp.web.papers import figure

    asked = Figure.model_validate(body)
    return figure(asked.item, asked.values)


def _run(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    from airtcp.compare import compare

    scenario = sources.read(job.source, uploads).scenario
    result = compare(scenario, progress=lambda part: tell({"progress": part}))
    tell({"result": views.comparison(result)})


def _points(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Simulate at values of an axis, and tell of each as soon as it is there."""
    from airtcp.run.simulate import simulate

    if job.axis is None or not job.values:
        raise QuestionError("an axis and values are missing; allowed: a curve's")
    for index, value in enumerate(job.values):
        scenario = sources.read(sources.at(job.source, job.axis, value), uploads).scenario

        def part(fraction: float, index: int = index) -> None:
            tell({"progress": (index + fraction) / len(job.values)})

        result = simulate(scenario, progress=part)
        simulation = result.simulation
        told = {"value": value, "metrics": views.point(simulation)}
        tell({"point": told | {"confidence": simulation.confidence}})
        if simulation.stopped == "interrupted":
            raise KeyboardInterrupt
    tell({"result": {"points": len(job.values)}})


def _compare_remedies(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """A scenario without and with some remedies, on common random numbers."""
    from airtcp.difference import diff
    from airtcp.remedies import Changed, catalogue, changed, named, together

    scenario = named(sources.read(job.source, uploads).scenario)
    known = {remedy.name: remedy for remedy in catalogue()}
    unknown = [name for name in job.names if name not in known]
    if unknown or not job.names:
        what = f'there is no remedy "{unknown[0]}"' if unknown else "no remedy is switched on"
        raise QuestionError(f"{what}; allowed: {', '.join(known)}")
    chosen = [known[name] for name in job.names]
    new = changed(scenario, chosen[0]) if len(chosen) == 1 else together(scenario, chosen)
    if not isinstance(new, Changed):
        raise QuestionError(f"{' and '.join(one.title for one in chosen)}: {new}")
    found = diff(scenario, new.scenario, progress=lambda part: tell({"progress": part}))
    sets = [_setting(path, value) for path, value in new.changes.items()]
    tell({"result": views.changes(found) | {"names": job.names, "sets": sets}})


def _plan(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    from airtcp.plan import plan

    if not job.until:
        raise QuestionError('no condition; allowed: such as "p90 transfer_time > 2 s"')
    ends: list[Any] = [None, None]
    if len(job.values) == 2:
        ends = job.values
    found = plan(
        sources.read(job.source, uploads).scenario,
        vary=job.axis or STATIONS,
        until=[job.until],
        begin=ends[0],
        end=ends[1],
        remedies=job.names == ["all"] or (list(job.names) if job.names else False),
        limit_s=_PART * limit_s,
        progress=lambda part: tell({"progress": part}),
        tell=lambda words: tell({"words": words}),
    )
    tell({"result": views.plan(found)})


def _timeline(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    from airtcp.web.timeline import timeline

    scenario = sources.read(job.source, uploads).scenario
    tell({"result": timeline(scenario, job.begin_ms / 1e3, job.length_ms / 1e3)})


def _reproduce(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """A figure or table of a paper as `airtcp reproduce --quick` makes it."""
    import tempfile
    from importlib import resources

    from airtcp.present import drawing
    from airtcp.reproduce.bench import Bench, Settings
    from airtcp.reproduce.catalogue import SOURCES, items
    from airtcp.web.papers import points

    known = items()
    if len(job.names) != 1 or job.names[0] not in known:
        raise QuestionError("there is no such figure or table; allowed: one of airtcp reproduce")
    item = known[job.names[0]]
    with tempfile.TemporaryDirectory() as store:
        bench = Bench(
            folder=Path(str(resources.files("airtcp"))) / "reproduce" / SOURCES[item.paper].package,
            store=Path(store),
            settings=Settings(quick=True),
            on_run=lambda part: tell({"progress": part}),
        )
        outcome = item.make(bench)
    rows = [["" if cell is None else cell for cell in row] for row in outcome.data.rows[:200]]
    tell(
        {
            "result": {
                "item": item.name,
                "found": outcome.found,
                "svg": None if outcome.figure is None else drawing.svg(outcome.figure),
                "head": list(outcome.data.columns),
                "rows": rows,
                "points": points(item.name, outcome),
            }
        }
    )


def _commands(source: Source, changes: Mapping[str, Any]) -> dict[str, str]:
    """The command line and the Python that give this result."""
    file = f"{source.example or 'scenario'}.toml"
    sets = [f"--set {shlex.quote(_setting(path, one))}" for path, one in changes.items()]
    shell = " \\\n  ".join([f"airtcp run {file}", *sets])
    python = f'scenario = airtcp.load("{file}")'
    if sets:
        inner = "".join(f"    {path!r}: {value!r},\n" for path, value in changes.items())
        python += f".vary({{\n{inner}}})"
    return {
        "example": f"airtcp example {source.example}" if source.example and sets else "",
        "file": file,
        "shell": shell,
        "python": f"import airtcp\n\n{python}\nprint(airtcp.predict(scenario))\n"
        "print(airtcp.simulate(scenario))\n",
    }


def _setting(path: str, value: Any) -> str:
    """The argument of `--set` for a change."""
    return f"{path}={toml_text.option_text(value)}"


def _text(source: Source) -> str:
    if source.text is not None:
        return source.text
    from airtcp.examples import directory

    return (directory() / f"{source.example}.toml").read_text(encoding="utf-8")


_QUESTIONS: Final = {
    "scenario": _scenario,
    "predict": _predict,
    "point": _point,
    "remedies": _remedies,
    "papers": _papers,
    "figure": _figure,
}
_RUNS: Final = {
    "run": _run,
    "points": _points,
    "remedies": _compare_remedies,
    "plan": _plan,
    "timeline": _timeline,
    "figure": _reproduce,
}
