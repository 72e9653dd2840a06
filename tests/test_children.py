"""What tests start has the signals of a terminal, and is gone when the test is over."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from children import IGNORED_IN_BACKGROUND, Children, children, stay_deaf_alone

SIGNALS = "import signal; print(*(int(signal.getsignal(n) == signal.SIG_DFL) for n in {0}))"
WAIT = "import time; print(1, flush=True); time.sleep(600)"
#: A process that has another one, in a session of its own, which ends with nobody. It tells of that
#: one when it runs: a process that has just begun may have no environment yet.
GRANDCHILD = f"""
import subprocess, sys, time
command = [sys.executable, "-c", {WAIT!r}]
other = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
other.stdout.readline()
print("there", flush=True)
time.sleep(600)
"""


@pytest.fixture
def in_background() -> Iterator[None]:
    """This process as `nohup` and the background of a shell have it."""
    before = {number: signal.getsignal(number) for number in IGNORED_IN_BACKGROUND}
    for number in before:
        signal.signal(number, signal.SIG_IGN)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("in_background")
def test_children_have_the_signals_of_a_terminal(started: Children) -> None:
    numbers = (*map(int, IGNORED_IN_BACKGROUND), int(signal.SIGPIPE))
    code = SIGNALS.format(numbers)
    told = []
    for _ in range(2):
        process = started.start([sys.executable, "-c", code], stdout=subprocess.PIPE)
        told.append(process.communicate(timeout=60)[0].split())
        stay_deaf_alone()

    # Python itself handles SIGINT if it is not ignored, and always ignores SIGPIPE.
    assert told == [["0", "0", "0", "0"], ["0", "1", "1", "0"]]
    asked = started.start(
        [sys.executable, "-c", WAIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    asked.stdout.readline()
    asked.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in asked.communicate(timeout=60)[1]
    # The tests themselves go on.
    signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
def test_nothing_outlives_a_test_that_fails() -> None:
    def fail() -> None:
        with children() as mine:
            found.append(mine)
            process = mine.start([sys.executable, "-c", GRANDCHILD], stdout=subprocess.PIPE)
            assert process.stdout.readline() == "there\n"
            assert len(mine.left()) == 2
            raise ZeroDivisionError

    found: list[Children] = []
    with pytest.raises(ZeroDivisionError):
        fail()

    assert found[0].left() == []
