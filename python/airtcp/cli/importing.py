"""`airtcp import`: write a scenario from configurations and measurements."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp.cli.options import Force, Quiet
from airtcp.cli.outcome import outcome
from airtcp.cli.process import note
from airtcp.cli.traffic import write_scenario
from airtcp.exceptions import one_line

if TYPE_CHECKING:
    from airtcp.importer.draft import Draft

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="hostapd.conf or OpenWrt's wireless; a capture (pcap, pcapng), the JSON of iperf3 -J, "
        "a data file of flent, a site survey (CSV), a scan (iw, netsh, nmcli), iw station dump, "
        "a log of ping; or an access log of a web server.",
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


KeepNames = Annotated[
    bool,
    typer.Option(
        "--keep-names",
        help="Keep addresses in the scenario; by default they are on stderr only.",
    ),
]
#: Smaller files are read in less than a second.
_LARGE_BYTES = 10**7
_MOST_NAMES = 8
_MOST_IGNORED = 5


def import_(
    files: Files,
    out: Target = None,
    radio: Radio = None,
    keep_names: KeepNames = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a scenario from a capture, a configuration, or results of iperf3 or flent."""
    with outcome():
        from airtcp.cli.progress import progress_bar
        from airtcp.exceptions import OutputError
        from airtcp.files import write_files
        from airtcp.importer.files import drafts_of
        from airtcp.scenario.requests import is_access_log

        if len(files) == 1 and is_access_log(files[0]):
            write_scenario(files[0], out, force=force)
            return
        is_large = any(os.path.exists(one) and one.stat().st_size > _LARGE_BYTES for one in files)
        with progress_bar(quiet or not is_large, "reading") as progress:
            drafts = drafts_of(files, radio, keep_names=keep_names, progress=progress)
        if out is None:
            if len(drafts) > 1:
                raise OutputError(
                    "--out is missing: the tests ran one after the other, so each has a "
                    "scenario; use --out FILE.toml"
                )
            if drafts[0].files:
                raise OutputError(
                    "--out is missing: the distributions of this traffic are files next to "
                    "the scenario; use --out FILE.toml"
                )
            print(drafts[0].text(), end="")
            _tell_names(drafts, quiet=quiet)
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
                    f"cannot write to {path}: file exists; use another name, or --force"
                )
        write_files(out.parent, written)
        for draft, path in zip(drafts, outs, strict=True):
            laws = f", and {len(draft.files)} distributions next to it" if draft.files else ""
            print(f"wrote {path}{laws}")
            if not quiet:
                _tell_doubts(draft)
        print(f"try: airtcp run {out}")
        _tell_names(drafts, quiet=quiet)


def _tell_doubts(draft: Draft) -> None:
    """Print what the scenario ignores of its files, and how many things it assumes."""
    for line in draft.unread[:_MOST_IGNORED]:
        print(f"  ignored: {one_line(line)}")
    ignored, assumed = len(draft.unread) - _MOST_IGNORED, len(draft.unknown)
    more = [f"{ignored} more ignored"] if ignored > 0 else []
    more += [f"{assumed} assumption{'s'[: assumed > 1]}"] if assumed else []
    if more:
        print(f"  {', '.join(more)}: see the top of the file")


def _tell_names(drafts: list[Draft], *, quiet: bool) -> None:
    """Print which stations the neutral names stand for; to stderr only, as files get shared."""
    for draft in drafts:
        for neutral, names in draft.legend.items() if not quiet else ():
            shown = ", ".join(names[:_MOST_NAMES])
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            note(f"{neutral}: {shown}{more}")
