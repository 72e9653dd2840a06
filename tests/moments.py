"""Runs `airtcp` and sends it a signal when a given function is called.

    python moments.py at MODULE:FUNCTION NUMBER SIGNAL ARGUMENT ...
    python moments.py evenly TIMES FOLDER SIGNAL ARGUMENT ...

`at`: the signal comes at the NUMBERth call of the function in the main thread, so it hits the same
moment on any machine, however busy. `evenly`: the command runs once to its end, and then TIMES
times with the signal at moments spread evenly over the first calls of functions that enter another
part of airtcp. Each run is a process forked from one that has imported everything. It works in a
copy of FOLDER/input named NUMBER, and NUMBER.json next to it says how it ended.
"""

import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

#: Modules that commands import at first use.
LATE = (
    *("airtcp.cli.commands", "airtcp.cli.show", "airtcp.cli.outputs"),
    *("airtcp.compare", "airtcp.plan", "airtcp.present.report", "airtcp.present.plan"),
    *("airtcp.sweep.execute", "airtcp.sweep.workers", "airtcp.results.query", "pyarrow.parquet"),
    *("matplotlib.backends.backend_svg", "scipy.stats", "scipy.optimize"),
)


#: Parts of airtcp that read a scenario and compute models.
EAGER = ("scenario", "units", "standards", "airtime", "amounts", "predict", "models", "conditions")
Name = tuple[str, str]


def name_of(frame: FrameType) -> Name:
    """Return module and name of the called function."""
    return frame.f_globals.get("__name__", ""), frame.f_code.co_qualname


def send_at(name: Name, number: int, signal_number: int, told: Path | None = None) -> None:
    """Send this process the signal at the NUMBERth call of a function, and note it in a file."""
    left = number

    def called(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if event == "call" and name_of(frame) == name:
            left -= 1
            if left == 0:
                sys.setprofile(None)
                if told is not None:
                    told.write_text("sent")
                os.kill(os.getpid(), signal_number)

    sys.setprofile(called)


def first_calls() -> list[Name]:
    """Return a list that collects the functions of airtcp in the order of their first calls.

    Code that runs during an import is left out: the module is already imported the next time.
    """
    found: dict[Name, None] = {}
    order: list[Name] = []

    def called(frame: FrameType, event: str, _: Any) -> None:
        name = name_of(frame)
        if event == "call" and name[0].startswith("airtcp.") and name not in found:
            found[name] = None
            if frame.f_code.co_name != "<module>":
                order.append(name)

    sys.setprofile(called)
    return order


def evenly(times: int, folder: Path, number: int, arguments: list[str]) -> None:
    """Run the command to its end, and then `times` times with the signal."""
    for late in LATE:
        __import__(late)
    in_process(folder, 0, None, number, arguments)
    names = phases(json.loads((folder / "0.first").read_text()))
    for index in range(1, times + 1):
        # The middle of one of `times` equal parts of the run.
        module, function = names[len(names) * (2 * index - 1) // (2 * times)]
        in_process(folder, index, (module, function), number, arguments)


def phases(names: list[Name]) -> list[Name]:
    """Keep the functions that enter another part of airtcp.

    Scenarios and models have many small functions that run in a moment: they count as one part.
    """
    found: list[Name] = []
    part = ""
    for module, function in names:
        now = module.split(".")[1]
        now = "scenario" if now in EAGER else now
        if now != part:
            found.append((module, function))
        part = now
    return found


def in_process(
    folder: Path, index: int, at: Name | None, number: int, arguments: list[str]
) -> None:
    """Run the command in a process, and record how it ended."""
    shutil.copytree(folder / "input", folder / str(index))
    child = os.fork()
    if child == 0:
        run_here(folder / str(index), at, number, arguments)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out, err = ((folder / f"{index}.{name}").read_text() for name in ("out", "err"))
    sent = at is not None and (folder / f"{index}.sent").exists()
    told = {"status": status, "at": at and ":".join(at), "sent": sent, "out": out, "err": err}
    (folder / f"{index}.json").write_text(json.dumps(told))


def run_here(work: Path, at: Name | None, number: int, arguments: list[str]) -> NoReturn:
    """Run the command in this process, and end it."""
    status: object = 99
    try:
        os.chdir(work)
        for name, descriptor in (("out", 1), ("err", 2)):
            path = work.with_name(f"{work.name}.{name}")
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        names: list[Name] = []
        if at is None:
            names = first_calls()
        else:
            send_at(at, 1, number, work.with_name(f"{work.name}.sent"))
        try:
            command(arguments)
        except SystemExit as end:
            status = end.code
        sys.setprofile(None)
        work.with_name(f"{work.name}.first").write_text(json.dumps(names))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status or 0))  # type: ignore[call-overload]


def command(arguments: list[str]) -> None:
    """Run the command, which exits."""
    sys.argv = ["airtcp", *arguments]
    from airtcp.cli import main

    main()


if __name__ == "__main__":
    how, first, second, name, *words = sys.argv[1:]
    if how == "at":
        module, _, function = first.partition(":")
        send_at((module, function), int(second), signal.Signals[name])
        command(words)
    else:
        evenly(int(first), Path(second), signal.Signals[name], words)
