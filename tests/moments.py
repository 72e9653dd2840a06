"""Runs `airtcp` and sends it a signal at a moment that is named: when a function is called.

    python moments.py MODULE:FUNCTION NUMBER SIGNAL ARGUMENT ...

The moment is the NUMBERth call of the function in the main thread, so it is hit on any machine
and however busy that is. With `*` as the function it is the NUMBERth call of any function of
airtcp, and with the number 0 nothing is sent. How many calls there were, before the signal or in
all, is in the file that the environment names as MOMENTS. Knows nothing of commands.
"""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any


def at(where: str, number: int, signal_number: int) -> None:
    """Send this process the signal at that moment."""
    module, _, function = where.partition(":")
    calls = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        if event != "call":
            return
        name = frame.f_globals.get("__name__", "")
        if function == "*":
            # Not what runs while a module is imported, which is different the next time.
            here = name.startswith("airtcp.") and frame.f_code.co_name != "<module>"
        else:
            here = name == module and frame.f_code.co_qualname == function
        if not here:
            return
        calls += 1
        if calls == number:
            sys.setprofile(None)
            tell(calls)
            os.kill(os.getpid(), signal_number)

    def tell(count: int) -> None:
        Path(os.environ["MOMENTS"]).write_text(str(count))

    def told() -> None:
        sys.setprofile(None)
        if calls < number or number == 0:
            tell(calls)

    import atexit

    atexit.register(told)
    sys.setprofile(watch)


if __name__ == "__main__":
    where, number, name, *arguments = sys.argv[1:]
    sys.argv = ["airtcp", *arguments]
    at(where, int(number), signal.Signals[name])
    from airtcp.cli import main

    main()
