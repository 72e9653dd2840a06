"""`airtcp import`: configurations and measurements in, a scenario out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.options import Force
from airtcp.cli.outcome import outcome

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="hostapd.conf or OpenWrt's wireless; a capture (pcap, pcapng), the JSON of iperf3 -J, "
        "or a data file of flent.",
    ),
]
Target = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="TOML", help="Write the scenario to this file instead of stdout."
    ),
]
Radio = Annotated[
    str | None,
    typer.Option(
        "--radio",
        metavar="NAME",
        help="The radio of OpenWrt's wireless; by default the first that is not disabled.",
    ),
]


def import_(files: Files, out: Target = None, radio: Radio = None, force: Force = False) -> None:
    """Write a scenario of a capture, a configuration, or what iperf3 or flent measured."""
    with outcome():
        from airtcp.exceptions import OutputError
        from airtcp.files import write_files
        from airtcp.importer.files import draft_of

        draft = draft_of(files, radio)
        if out is None:
            if draft.files:
                raise OutputError(
                    "--out is missing: the laws of this traffic are files beside the scenario; "
                    "allowed: --out FILE.toml"
                )
            print(draft.text(), end="")
            return
        draft.put_beside(out.stem)
        text = draft.text()

        is_source = os.path.exists(out) and any(out.samefile(file) for file in files)
        for path in (out, *(out.parent / name for name in draft.files)):
            if os.path.exists(path) and (not force or is_source):
                raise OutputError(
                    f"cannot write to {path}: it is there; allowed: another name, or --force"
                )
        write_files(out.parent, {**draft.files, out.name: text.encode()})
        laws = f", and {len(draft.files)} laws beside it" if draft.files else ""
        print(f"wrote {out}{laws}")
        print(f"try: airtcp run {out}")
