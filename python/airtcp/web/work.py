"""The work of workers: questions that models answer, and runs.

A question gives one answer. A run reports its progress and results through `tell`.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp import extensions
from airtcp.exceptions import AirtcpError, QuestionError, ScenarioError
from airtcp.extensions import Tell
from airtcp.plan.axis import STATIONS
from airtcp.scenario import Scenario, toml_text
from airtcp.scenario.expand import named
from airtcp.web import fields, judged, parts, planned, sources, stores, views
from airtcp.web.bodies import Ask, Curve, Job, Lights, Restructure, Search, Shown, Source, Typed

if TYPE_CHECKING:
    from airtcp.results import Comparison

#: The fraction of the time limit that a plan may use, so that it ends by itself.
_PART: Final = 0.8
#: The shares of the progress bar for the run and for the trials of remedies, which cost at most as
#: much.
_OF_RUN: Final = 0.5
_OF_TRIALS: Final = 0.5


def question(
    name: str, body: Mapping[str, Any], uploads: Path, known: Mapping[str, Path]
) -> dict[str, Any]:
    """Answer a question by name; `known` are the stores by name. Raises AirtcpError."""
    if name == "stores":
        return stores.listed(known, Shown(asked=body.get("asked", {})).asked.model_dump())
    if name == "look":
        return stores.look(body, known)
    if name not in _QUESTIONS:
        asked = (view.questions[name] for view in extensions.views() if name in view.questions)
        return next(asked).answer(body, uploads)
    return _QUESTIONS[name](body, uploads)


def run(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Do a job. Raises AirtcpError, and KeyboardInterrupt if interrupted before any result."""
    if job.kind not in _RUNS:
        of_views = (view.runs[job.kind] for view in extensions.views() if job.kind in view.runs)
        next(of_views)(job.names, tell)
        return
    _RUNS[job.kind](job, uploads, limit_s, tell)


def problem(error: AirtcpError, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error in the form that a page shows.

    It has the message, the key, and the control that it concerns. For errors in a scenario it also
    has the text of the file and the line, or None.
    """
    if not isinstance(error, ScenarioError):
        return {"message": str(error), "key": "", "field": "", "more": []}
    text, line = sources.where(error, body.get("source"))
    return {
        "message": error.message,
        "key": error.key,
        "field": sources.field_of(error.key),
        "more": [{"key": key, "message": message} for key, message in error.more[:5]],
        "text": text,
        "line": line,
    }


def _scenario(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return everything that a page needs to show a scenario."""
    from airtcp.present.subject import subject
    from airtcp.web.structure import outline

    source = Ask.model_validate(body).source
    read = sources.read(source, uploads)
    changes = dict(source.changes)
    mix: list[int] = []
    if source.stations is not None:
        base = sources.read(source.model_copy(update={"stations": None}), uploads).scenario
        mix = [one.count for one in base.stations]
        changes |= {f"stations.{one.name}.count": one.count for one in read.scenario.stations}
    controls = fields.fields(read.scenario, read.written)
    return {
        "title": read.scenario.title,
        "subject": subject(read.scenario),
        "fields": controls,
        "axes": fields.axes(controls, mix),
        "structure": outline(read.scenario, read.text),
        "toml": read.text,
        "commands": _commands(source, changes),
        "hash": read.scenario.hash(),
        "key": judged.key(read.scenario),
    }


def _edit(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the text of a scenario after an edit of a group or flow."""
    asked = Restructure.model_validate(body)
    text, path = sources.rebuilt(asked.source, asked.edit, uploads)
    # Reject an edit whose text is not a valid scenario; the page keeps the old text.
    sources.read(Source(text=text, files=asked.source.files), uploads)
    return {"text": text, "path": path}


def _keys(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the keys of a scenario that match words."""
    from airtcp.web.catalogue import keys

    asked = Search.model_validate(body)
    read = sources.read(asked.source, uploads)
    return keys(read.scenario, named(tomllib.loads(read.text)), asked.words)


def _complete(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the keys or values that may stand at a place of a text."""
    from airtcp.web.complete import complete

    return complete(Typed.model_validate(body).before)


def _predict(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    from airtcp.prediction import predict

    scenario = sources.read(Ask.model_validate(body).source, uploads).scenario
    return views.prediction(predict(scenario))


def _point(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the answers of the models, or of a quick simulation, at one value of an axis."""
    from airtcp.prediction import predict

    asked = Curve.model_validate(body)
    source = sources.at(asked.source, asked.axis, asked.values[0])
    scenario = sources.read(source, uploads).scenario
    if not asked.times:
        return views.prediction(predict(scenario))
    return views.lights(predict(scenario, glance=True, times=asked.times))


def _lights(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the verdict of a quick simulation on a scenario's targets."""
    from airtcp.prediction import predict

    asked = Lights.model_validate(body)
    scenario = sources.read(asked.source, uploads).scenario
    return views.lights(predict(scenario, glance=True, times=asked.times))


def _conditions(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the conditions that can be chosen for targets and for a plan."""
    from airtcp.web.choices import choices

    return choices(sources.read(Ask.model_validate(body).source, uploads).scenario)


def _remedies(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the remedies that fit a scenario, and why others do not."""
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
                "reason": "" if fits else found,
            }
        )
    return {"remedies": listed}


def _alike(body: Mapping[str, Any], uploads: Path) -> dict[str, Any]:
    """Return the key of a run: runs with the same key have the same result.

    It contains the resolved form, and the written form, which determines targets, remedies and the
    points of curves. Comments and the order of changes do not count.
    """
    job = Job.model_validate(body)
    read = sources.read(job.source, uploads)
    rest = job.model_dump(exclude={"source", "auto"})
    whole = [read.scenario.hash(), read.written, job.source.files, rest]
    return {"key": hashlib.sha256(json.dumps(whole, default=str).encode()).hexdigest()}


def _run(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    scenario = sources.read(job.source, uploads).scenario
    # The page shows the verdict while remedies are tried.
    told = _simulated(
        scenario, tell, lambda sofar: tell({"sofar": views.comparison(sofar, scenario)})
    )
    tell({"result": views.comparison(told, scenario)})


def _report(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Create the HTML report that `airtcp run --out` writes."""
    from airtcp.present import drawing, plot, report

    read = sources.read(job.source, uploads)
    told = _simulated(read.scenario, tell, lambda _: None)
    tell({"words": "drawing"})
    html = report.html(told, drawing.svgs(plot.pictures(told)), read.text)
    tell({"result": {"title": told.scenario.title, "html": html}})


def _simulated(scenario: Scenario, tell: Tell, sofar: Callable[[Comparison], None]) -> Comparison:
    """Run as `airtcp run` does, with verdict and remedies; `sofar` gets the result before these."""
    from airtcp.compare import compare
    from airtcp.judge.recommend import advise
    from airtcp.judge.verdicts import verdict

    result = compare(scenario, progress=lambda part: tell({"progress": _OF_RUN * part}))
    result = replace(result, verdict=verdict(result))
    if result.simulation.stopped == "interrupted":
        return result
    sofar(result)
    tell({"words": "trying remedies"})
    result = replace(result, verdict=verdict(result, growth=True))
    tried = advise(result, progress=lambda part: tell({"progress": _OF_RUN + _OF_TRIALS * part}))
    return replace(result, advice=tried)


def _points(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Simulate at values of an axis, and report each result as it arrives."""
    from airtcp.judge.verdicts import verdict
    from airtcp.run.simulate import simulate

    if job.axis is None or not job.values:
        raise QuestionError("a curve needs an axis and values")
    for index, value in enumerate(job.values):
        scenario = sources.read(sources.at(job.source, job.axis, value), uploads).scenario

        def part(fraction: float, index: int = index) -> None:
            tell({"progress": (index + fraction) / len(job.values)})

        result = simulate(scenario, progress=part)
        simulation = result.simulation
        told = {"value": value, "metrics": views.point(simulation)}
        told["verdict"] = judged.verdict(verdict(result))
        tell({"point": told | {"confidence": simulation.confidence}})
        if simulation.stopped == "interrupted":
            raise KeyboardInterrupt
    tell({"result": {"points": len(job.values)}})


def _compare_remedies(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    """Compare a scenario without and with some remedies, on common random numbers."""
    from airtcp.difference import diff
    from airtcp.messages.run import equipment, settings
    from airtcp.remedies import Changed, as_written, catalogue, changed, named, together
    from airtcp.remedies.apply import lines_for

    given = sources.read(job.source, uploads).scenario
    scenario = named(given)
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
    written = as_written(given, scenario, new.changes)
    alone = [(one, changed(scenario, one)) for one in chosen]
    wanted = [lines_for(one, each, scenario) for one, each in alone if isinstance(each, Changed)]
    lines = [line for one in wanted for line in equipment(one.by_tool, one.notes)]
    title = " and ".join(one.title for one in chosen)
    told: dict[str, Any] = {
        "title": title,
        "set": written,
        "settings": settings(written),
        "equipment": lines,
    }
    shown = views.changes(found)
    said = []
    for word in ("better", "worse"):
        felt = [one for one in shown["felt"] if one["verdict"] == word]
        texts = [f"{one['label']} {one['a']['text']} → {one['b']['text']}" for one in felt]
        said += [f"{word}: {'; '.join(texts)}"] if texts else []
    told["line"] = f"{title}: {'. '.join(said) or 'no significant difference'}"
    told["parts"] = [parts.remedy(told, picture=shown.pop("pictures")), shown.pop("rest")]
    tell({"result": shown | told})


def _plan(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    from airtcp.plan import plan

    if not job.until:
        raise QuestionError('no condition; allowed: such as "p90 transfer_time > 2 s"')
    ends: list[Any] = [None, None]
    if len(job.values) == 2:
        ends = job.values
    read = sources.read(job.source, uploads)
    scenario = read.scenario
    try:
        found = plan(
            scenario,
            vary=job.axis or STATIONS,
            until=[job.until],
            begin=ends[0],
            end=ends[1],
            remedies=job.names == ["all"] or (list(job.names) if job.names else False),
            limit_s=_PART * limit_s,
            progress=lambda part: tell({"progress": part}),
            tell=lambda words: tell({"words": words}),
        )
    except QuestionError as error:
        raise QuestionError(planned.refusal(str(error), chosen=bool(job.values))) from error
    axes = fields.axes(fields.fields(scenario, read.written), [])
    names = {one["path"]: f"{one['section']}: {one['label']}" for one in axes}
    tell({"result": planned.plan(found, names.get(found.label))})


def _timeline(job: Job, uploads: Path, limit_s: float, tell: Tell) -> None:
    from airtcp.web.timeline import timeline

    scenario = sources.read(job.source, uploads).scenario
    tell({"result": timeline(scenario, job.begin_ms / 1e3, job.length_ms / 1e3)})


def _commands(source: Source, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the command line and the Python code for this result."""
    file = f"{source.example or 'scenario'}.toml"
    sets = [f"--set {shlex.quote(_setting(path, one))}" for path, one in changes.items()]
    shell = " \\\n  ".join([f"airtcp run {file}", *sets])
    python = f'scenario = airtcp.load("{file}")'
    if sets:
        inner = "".join(f"    {path!r}: {value!r},\n" for path, value in changes.items())
        python += f".vary({{\n{inner}}})"
    python = f"import airtcp\n\n{python}\nprint(airtcp.predict(scenario))\n"
    python += "print(airtcp.simulate(scenario))\n"
    example = f"airtcp example {source.example}" if source.example and sets else ""
    note = "With the scenario file of this page, downloaded as scenario.toml:"
    return {
        "example": example,
        "file": file,
        "shell": shell,
        "python": python,
        "parts": [
            None if source.example else parts.muted(note),
            parts.code("On a terminal", "\n".join(filter(None, [example, shell])), "h3"),
            parts.code("In Python", python, "h3"),
        ],
    }


def _setting(path: str, value: Any) -> str:
    """Return the argument of `--set` for a change."""
    return f"{path}={toml_text.option_text(value)}"


_QUESTIONS: Final = {
    "scenario": _scenario,
    "edit": _edit,
    "keys": _keys,
    "complete": _complete,
    "predict": _predict,
    "lights": _lights,
    "conditions": _conditions,
    "point": _point,
    "remedies": _remedies,
    "alike": _alike,
}
_RUNS: Final = {
    "run": _run,
    "points": _points,
    "remedies": _compare_remedies,
    "plan": _plan,
    "timeline": _timeline,
    "report": _report,
}
