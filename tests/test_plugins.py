"""Plug-ins: one equal to a built-in algorithm gives the same bits, and failures are reported."""

import json
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp import _core
from airtcp.choices import CONGESTION
from airtcp.plugins import carried
from airtcp.scenario import Scenario, loads
from airtcp.sweep.work import Often, Work
from children import Children, CpuOfChildren
from commands import call

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "airtcp"]
TEXT = """
title = "Losses of every kind"
phy = { standard = "802.11g", data_rate = "54 Mb/s" }
ap = { queue = { limit = 15 } }
stations = [{ name = "desk", count = 3, frame_errors = { rate = "40 %", of = "1500 B" } }]
run = { warmup = "1 s", duration = "8 s", replications = 4 }
[[flows]]
stations = "desk"
direction = "download"
application = { kind = "bulk" }
tcp = { congestion = "WORD", receive_window = "64 KiB", rules = { loss_window = "flight-size" } }
path = [{ delay = "10 ms" }]
[[flows]]
stations = "desk"
name = "pages"
direction = "upload"
tcp = { congestion = "WORD", variant = "sack", receive_window = "64 KiB" }
application = { kind = "web", size = { distribution = "exponential", mean = "300 kB" }, \
think_time = { distribution = "exponential", mean = "500 ms" } }
"""


def scenario(word: str) -> Scenario:
    """The scenario with a congestion control."""
    return loads(TEXT.replace("WORD", word))


#: Numbers for unique plug-in names: a name keeps its code until the process ends.
NUMBERS = count()


def registered(tmp_path: Path, name: str, body: str, base: str = "congestion.Reno") -> str:
    """Register a class from a file that extends a base class by methods."""
    file = tmp_path / f"{name}.py"
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    file.write_text(
        f"import airtcp\n\nclass Own(airtcp.{base}):\n    pass\n{indented}\n\n"
        f'airtcp.{base.partition(".")[0]}.register("{name}", Own)\n'
    )
    airtcp.plugins.load(file)
    return name


def outcomes(one: Scenario, threads: int) -> Any:
    """Return two replications of the scenario from the core, bit by bit, and all estimates."""
    core = _core.Simulation(one.to_json())
    runs = [core.run(1, index, _core.RunControl()) for index in range(2)]
    return runs, airtcp.simulate(one, threads=threads).metrics


def assert_fails(one: Scenario, threads: int, word: str, told: str) -> None:
    """Simulate with a plug-in that fails: the message names it and says what is wrong."""
    with pytest.raises(airtcp.PluginFailedError) as failed:
        airtcp.simulate(one, threads=threads)
    assert told in str(failed.value)
    assert f'the plug-in "{word}@' in str(failed.value)


@pytest.mark.parametrize("name", ["reno", "cubic"])
def test_a_twin_in_python_gives_the_bits_of_the_core_on_one_thread_and_on_two(
    tmp_path: Path, name: str
) -> None:
    """Cubic uses what Reno does not: the clock, the round-trip time and floating point."""
    airtcp.plugins.load(Path(__file__).parent / "plugins" / "cubic.py")
    twin = registered(tmp_path, "twin", "") if name == "reno" else "cubic-twin"
    ours = outcomes(scenario(name), 1)
    assert outcomes(scenario(twin), 1) == ours
    assert outcomes(scenario(twin), 2) == ours
    assert name == "reno" or ours != outcomes(scenario("reno"), 1)


def test_the_resolved_form_names_the_code(tmp_path: Path) -> None:
    twin = registered(tmp_path, "coded", "")
    word = json.loads(scenario(twin).to_json())["flows"][0]["tcp"]["congestion"]

    assert word == CONGESTION["coded"].resolved
    name, _, digits = word.partition("@")
    assert (name, len(digits)) == ("coded", 12)
    # A file with the hash in the name accepts only this code.
    assert scenario(word).to_json() == scenario(twin).to_json()
    with pytest.raises(airtcp.ScenarioError, match="coded@0000"):
        scenario("coded@000000000000")


ON_ACK, ON_LOSS, AVOID = (
    f"def {name}(self, window, event):\n    " for name in ("on_ack", "on_loss", "avoid")
)

#: The body of a method that uses 1.1 s of CPU time.
COMPUTES = """import time
    until = time.thread_time() + 1.1
    while time.thread_time() < until:
        pass"""


@pytest.mark.parametrize(("body", "told"), [
    (ON_ACK + "return 1 // 0", "line 6, on_ack: Zero"),
    (ON_ACK + "event.packet", "packet"),
    (AVOID + "window.cwnd = -3", "cwnd = -3 B: at least a segment, 1460 B (RFC 5681, section 3.1)"),
    (AVOID + "window.cwnd *= 1.5", "allowed: a whole number of bytes"),
    (ON_LOSS + "window.ssthresh = 0", "ssthresh = 0 B: at least a segment"),
    (ON_LOSS + COMPUTES, " s of CPU time; allowed: a second"),
])  # fmt: skip
def test_a_wrong_call_ends_the_run_with_the_users_line(
    tmp_path: Path, body: str, told: str
) -> None:
    word = registered(tmp_path, f"wrong-{next(NUMBERS)}", body)
    for threads in (1, 2):
        assert_fails(scenario(word), threads, word, told)


def test_a_call_may_wait_for_longer_than_it_may_compute(tmp_path: Path) -> None:
    """A busy machine makes a call wait for the CPU; sleeping has the same effect."""
    first = "import time\n    time.sleep(0 if hasattr(Own, 'waited') else 1.1)\n    "
    waits = first + "Own.waited = True\n    "
    word = registered(tmp_path, "waits", ON_LOSS + waits + "super().on_loss(window, event)")

    assert outcomes(scenario(word), 1) == outcomes(scenario("reno"), 1)


LATE = "class Own(airtcp.congestion.Reno):\n    {} on_ack(self, *_):\n        {} 1\n"
LATE += "airtcp.congestion.register('late', Own)"
NO_RESULT = "Own.on_ack is a coroutine or a generator"


@pytest.mark.parametrize(("text", "told"), [
    ("x = (", "line 2: SyntaxError"),
    ("1 // 0", "line 2, <module>: ZeroDivisionError"),
    ("class A: pass\nairtcp.congestion.register('a', A)",
     "A has no on_ack, on_loss, on_timeout, on_idle"),
    ("airtcp.congestion.register('reno', airtcp.congestion.Reno)", "taken by airtcp itself"),
    ("airtcp.congestion.register('A b', int)", "small letters"),
    (LATE.format("async def", "return"), NO_RESULT),
    (LATE.format("def", "yield"), NO_RESULT),
    (LATE.format("async def", "yield"), NO_RESULT),
])  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"import airtcp\n{text}")
    with pytest.raises(airtcp.PluginError) as wrong:
        airtcp.plugins.load(file)
    assert told in str(wrong.value)


def test_a_package_that_is_not_there_is_told() -> None:
    with pytest.raises(airtcp.PluginError, match="no such file"):
        airtcp.plugins.load("nothing-of-that-name")


@pytest.mark.slow
def test_workers_get_the_code_with_their_work(tmp_path: Path) -> None:
    word = registered(tmp_path, "carried", "def avoid(self, window, event):\n    pass")
    resolved = scenario(word).to_json()
    work = Work(("goodput",), Often(2), carried())
    expected = _core.Simulation(resolved).run(1, 0, _core.RunControl())[1]
    code = (
        "import pickle, sys\n"
        "from airtcp import _core\n"
        "from airtcp.plugins import take\n"
        "work = pickle.load(sys.stdin.buffer)\n"
        "take(work.plugins)\n"
        f"core = _core.Simulation({resolved!r})\n"
        "sys.stdout.buffer.write(core.run(1, 0, _core.RunControl())[1])\n"
    )
    # The worker does not have the file.
    (tmp_path / "carried.py").unlink()
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(work), capture_output=True, check=True
    )
    assert done.stdout == expected


@pytest.mark.parametrize("name", ["scalable", "delay_based"])
def test_the_examples_of_the_guide_do_otherwise_than_reno(name: str) -> None:
    airtcp.plugins.load(ROOT / "docs" / "plugins" / f"{name}.py")
    text = TEXT.replace('congestion = "WORD"', 'congestion = "WORD", variant = "rack"', 1)
    one, other = (loads(text.replace("WORD", word)) for word in (name.replace("_", "-"), "reno"))

    runs = [_core.Simulation(each.to_json()).run(1, 0, _core.RunControl()) for each in (one, other)]
    assert runs[0][1] != runs[1][1]


def written(tmp_path: Path, name: str, body: str) -> list[str]:
    """Return a command that simulates the scenario with a plug-in."""
    (tmp_path / "own.py").write_text(
        "import airtcp\nclass Own(airtcp.congestion.Reno):\n"
        f"    def on_ack(self, window, event):\n        {body}\n"
        f'airtcp.congestion.register("{name}", Own)\n'
    )
    (tmp_path / "own.toml").write_text(TEXT.replace("WORD", name))
    return [*COMMAND, "simulate", str(tmp_path / "own.toml"), "--plugin", str(tmp_path / "own.py")]


def test_the_command_line_says_which_line_raised(tmp_path: Path) -> None:
    _, _, _, *arguments = written(tmp_path, "raising", "return window.size")
    done = call(*arguments)

    assert done.exit_code == 1
    assert "own.py, line 4, on_ack: AttributeError" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("replications", "waits"), [(1, "while True: pass"), (4, "__import__('time').sleep(100)")]
)
def test_ctrl_c_ends_a_plug_in_that_never_returns_within_two_seconds_of_cpu(
    tmp_path: Path, replications: int, waits: str, started: Children
) -> None:
    body = f"open({str(tmp_path / 'begun')!r}, 'w').close()\n        {waits}"
    command = written(tmp_path, "endless", body)
    with CpuOfChildren() as cpu:
        process = started.start(
            [*command, "--replications", str(replications)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell's background commands hear no Ctrl-C, nor do their children.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        cpu.mark(process.pid)
        # The process ends well before a sleeping plug-in wakes up.
        process.communicate(timeout=60)
    assert cpu.spent_s < 2.0
    assert process.returncode == 130


def test_what_a_plug_in_prints_is_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registered(tmp_path, "speaks", 'print("loaded")\nprint("raw", file=__import__("sys").stdout)')

    assert capsys.readouterr() == ("raw\n", "loaded\n")


def test_what_a_plug_in_prints_while_it_runs_is_no_json(tmp_path: Path) -> None:
    _, _, _, *arguments = written(tmp_path, "chatty", 'print("an ACK")')

    done = call(*arguments, "--json")

    assert done.exit_code == 0, done.stderr
    assert "metrics" in json.loads(done.stdout)["simulation"]
    assert "an ACK" in done.stderr
