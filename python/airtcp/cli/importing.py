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
        from airtcp.importer.files import drafts_of

        drafts = drafts_of(files, radio)
        if out is None:
            if len(drafts) > 1:
                raise OutputError(
                    "--out is missing: the tests ran one after the other, and have a scenario "
                    "each; allowed: --out FILE.toml"
                )
            if drafts[0].files:
                raise OutputError(
                    "--out is missing: the laws of this traffic are files beside the scenario; "
                    "allowed: --out FILE.toml"
                )
            print(drafts[0].text(), end="")
            return
        outs = [out, *(out.with_stem(f"{out.stem}-{n}") for n in range(2, len(drafts) + 1))]
        written: dict[str, bytes] = {}
        for draft, path in zip(drafts, outs, strict=True):
            draft.put_beside(path.stem)
            written |= {**draft.files, path.name: draft.text().encode()}
        is_source = os.path.exists(out) and any(out.samefile(file) for file in files)
        for path in (out.parent / name for name in written):
            if os.path.exists(path) and (not force or is_source):
                raise OutputError(
                    f"cannot write to {path}: it is there; allowed: another name, or --force"
                )
        write_files(out.parent, written)
        for draft, path in zip(drafts, outs, strict=True):
            laws = f", and {len(draft.files)} laws beside it" if draft.files else ""
            print(f"wrote {path}{laws}")
        print(f"try: airtcp run {out}")
