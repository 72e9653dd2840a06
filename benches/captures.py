"""Measure the speed and memory of importing captures.

    python benches/captures.py [MEGABYTES ...]

Makes one capture of eight stations that browse the web (802.11n, CUBIC, 256 bytes per frame),
repeats it with shifted timestamps up to the given size, and imports each file in its own process.
Prints frames per second of CPU time and the largest resident set. Also measures dpkt,
python-pcapng and scapy if they are installed; these only read records and dissect nothing.
"""

from __future__ import annotations

import importlib.util
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import airtcp
from airtcp.scenario import loads

SCENARIO = """
[phy]
standard = "802.11n"
mcs = 5
[[stations]]
name = "s"
count = 8
[[flows]]
stations = "s"
direction = "download"
tcp = { preset = "linux" }
[flows.application]
kind = "web"
size = { distribution = "exponential", mean = "100 kB" }
think_time = { distribution = "exponential", mean = "2 s" }
[run]
warmup = "0 s"
duration = "60 s"
replications = 1
"""
IMPORT = """
import resource, sys, time
from pathlib import Path
from airtcp.importer.capture.draft import add_capture, read_capture
from airtcp.importer.draft import Draft
begin = time.process_time()
network = read_capture(Path(sys.argv[1]))
add_capture(network, Draft())
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(network.frames, time.process_time() - begin, memory)
"""
RECORDS = {
    "airtcp": "from airtcp.importer.capture.blocks import *\n"
    "count = sum(1 for _ in records(Path(sys.argv[1]), Damage()))",
    "dpkt": "import dpkt\ncount = sum(1 for _ in dpkt.pcap.Reader(open(sys.argv[1], 'rb')))",
    "scapy": "from scapy.utils import RawPcapReader\n"
    "count = sum(1 for _ in RawPcapReader(sys.argv[1]))",
}
TIMED = """
import sys, time
from pathlib import Path
begin = time.process_time()
{body}
print(count, time.process_time() - begin, 0)
"""


def run(script: str, path: Path, python: str = sys.executable) -> tuple[int, float, int]:
    """Return the frames, CPU seconds and peak resident kilobytes of a script."""
    done = subprocess.run(
        [python, "-c", script, str(path)], check=True, capture_output=True, text=True
    )
    frames, seconds, kilobytes = done.stdout.split()
    return int(frames), float(seconds), int(kilobytes)


def repeat(whole: bytes, megabytes: int, path: Path) -> None:
    """Write a capture repeatedly, shifting each copy by 61 s."""
    body = bytearray(whole[24:])
    places, at = [], 0
    while at < len(body):
        places.append(at)
        at += 16 + struct.unpack_from("<I", body, at + 8)[0]
    with path.open("wb") as file:
        file.write(whole[:24])
        while file.tell() < megabytes * 10**6:
            file.write(body)
            for place in places:
                struct.pack_into("<I", body, place, struct.unpack_from("<I", body, place)[0] + 61)


def main() -> None:
    sizes = [int(one) for one in sys.argv[1:]] or [10, 100]
    with tempfile.TemporaryDirectory() as directory:
        air, path = Path(directory) / "air.pcap", Path(directory) / "long.pcap"
        airtcp.simulate(loads(SCENARIO), pcap=str(air))
        print("| capture (MB) | frames | CPU (s) | frames a second | memory (MB) |")
        print("| ---: | ---: | ---: | ---: | ---: |")
        for megabytes in sizes:
            repeat(air.read_bytes(), megabytes, path)
            frames, seconds, kilobytes = run(IMPORT, path)
            memory = kilobytes / 1024
            print(
                f"| {megabytes} | {frames:,} | {seconds:.1f} | {frames / seconds:,.0f} | "
                f"{memory:.0f} |",
                flush=True,
            )
        print("\n| records alone | frames a second |\n| --- | ---: |")
        for name, body in RECORDS.items():
            if name != "airtcp" and importlib.util.find_spec(name) is None:
                continue
            frames, seconds, _ = run(TIMED.format(body=body), air)
            print(f"| {name} | {frames / seconds:,.0f} |")


if __name__ == "__main__":
    main()
