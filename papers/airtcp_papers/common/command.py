"""`airtcp reproduce`: reproduce the figures, tables and stated numbers of the papers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from airtcp.cli.options import Force, Json, Quiet, Replications, Seed, Threads
from airtcp.cli.outcome import outcome
from airtcp.cli.process import Status, note
from airtcp.cli.progress import bar
from airtcp.extras import how_to_get, is_installed

if TYPE_CHECKING:
    from airtcp.document.tree import State

    from airtcp_papers.common.claims import Judgement
    from airtcp_papers.common.item import Item
    from airtcp_papers.common.make import Made, Progress

_CLAIM_STATES: Final[Mapping[str, State]] = {
    "met": "good",
    "met in a reading": "good",
    "not met": "bad",
    "at the bound": "open",
    "not made": "dim",
}


def _items(incomplete: str) -> list[str]:
    """Complete items, papers and claims in the shell."""
    from airtcp_papers.common import catalogue
    from airtcp_papers.common.claims import load_claims

    known = catalogue.items().values()
    words = [*dict.fromkeys(item.paper for item in known), *(item.name for item in known)]
    words += [claim.id for claim in load_claims()]
    listed = dict.fromkeys((*words, "all", "claims"))
    return [word for word in listed if word.startswith(incomplete)]


def reproduce(
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ITEM",
            help=(
                "An item (M.fig5), a paper (M), `all`, a claim (M.window-negligible), or "
                "`claims`: whether statements are met."
            ),
            autocompletion=_items,
        ),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List the items, or with `claims` the claims, and end.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run shorter simulations, with wider intervals.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Write pages, pictures and data into this directory."
        ),
    ] = Path("out/reproduce"),
    json: Json = False,
    seed: Seed = None,
    replications: Replications = None,
    threads: Threads = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce figures and tables of five papers, and check what these papers state."""
    with outcome():
        from airtcp.cli.outputs import check_pages

        from airtcp_papers.common import catalogue
        from airtcp_papers.common.bench import Settings
        from airtcp_papers.common.catalogue import CLAIMS, UnknownItemError

        judged = [word for word in wanted or () if word.lower() == CLAIMS]
        if listing or not wanted:
            _list(claims=bool(judged), json=json)
            return
        named = {word: claim.id for word in wanted if (claim := catalogue.claim_of(word))}
        try:
            chosen = {
                word: _of_claims() if word in judged else catalogue.find(word) for word in wanted
            }
        except UnknownItemError as error:
            raise typer.BadParameter(str(error), param_hint="ITEM") from error
        check_pages(out, force=force)
        settings = Settings(quick=quick, seed=seed, replications=replications, threads=threads)
        items = list({item.name: item for some in chosen.values() for item in some}.values())
        made = _make(items, settings, out, quiet=quiet)
        whole = {item.name for word in wanted if word not in named for item in chosen[word]}
        about = _judgements(out, whole, set(named.values()), everything=bool(judged))
        as_table = bool(judged or named)
        _answer(made, about, out, claims=bool(judged), table=as_table, json=json, quiet=quiet)


def _of_claims() -> list[Item]:
    from airtcp_papers.common.catalogue import items
    from airtcp_papers.common.claims import load_claims

    needed = {claim.item for claim in load_claims()}
    return [item for name, item in items().items() if name in needed]


def _judgements(
    out: Path, items: set[str], claims: set[str], *, everything: bool
) -> list[Judgement]:
    """Return the verdicts on claims: those of the given items, the named ones, or all."""
    from airtcp_papers.common.pages import judgements

    return [
        one
        for one in judgements(out)
        if everything or one.claim.item in items or one.claim.id in claims
    ]


def _list(*, claims: bool, json: bool) -> None:
    from airtcp.results import canonical_json

    from airtcp_papers.common import catalogue
    from airtcp_papers.common.claims import load_claims

    listed: list[dict[str, str]]
    if claims:
        words = ("claim", "says")
        hint = "airtcp reproduce CLAIM makes what one needs and judges it."
        listed = [
            {"claim": one.id, "item": one.item, "where": one.where, "says": one.says}
            for one in load_claims()
        ]
    else:
        words = ("item", "title")
        hint = "airtcp reproduce ITEM makes one; a letter stands for a paper, `all` for everything."
        listed = [
            {"item": one.name, "paper": one.paper, "title": one.title}
            for one in catalogue.items().values()
        ]
    if json:
        print(canonical_json(listed))
        return
    name, told = words
    width = max(len(one[name]) for one in listed)
    for one in listed:
        print(f"{one[name]:{width}}  {one[told]}")
    print(f"\n{hint}")


def _make(chosen: list[Item], settings: Any, out: Path, *, quiet: bool) -> list[Made]:
    """Make the items. The pages are written even if the user interrupts the work."""
    from airtcp_papers.common.make import make
    from airtcp_papers.common.pages import write_pages

    try:
        with _progress(len(chosen), quiet) as progress:
            made = make(chosen, settings, out, progress)
    except KeyboardInterrupt:
        # Before the first item begins there is no folder yet, so nothing can be lost.
        if out.is_dir():
            write_pages(out)
            note("finished items are kept; run the same command to continue")
        raise
    write_pages(out, {one.item.name: one.reason for one in made if one.reason is not None})
    return made


def _answer(
    made: list[Made],
    about: list[Judgement],
    out: Path,
    *,
    claims: bool,
    table: bool,
    json: bool,
    quiet: bool,
) -> None:
    from airtcp.results import canonical_json

    from airtcp_papers.common.claims import tally

    if json and claims:
        print(canonical_json([judged.to_dict() for judged in about]))
    elif json:
        listed = [{"item": one.item.name, "how": one.how, "reason": one.reason} for one in made]
        verdicts = [judged.to_dict() for judged in about]
        print(canonical_json({"items": listed, "claims": verdicts}))
    else:
        if table:
            _show(about)
        elif not quiet:
            for one in made:
                print(f"{one.item.name}: {one.how}")
        print(tally(about))
        print(f"pages: {out / 'index.html'}")
    for one in made:
        if one.reason is not None:
            note(f"{one.item.name} {one.how}: {one.reason}")
    if not is_installed("pyarrow"):
        note(how_to_get("pyarrow", "sweeps", f"the table of runs in {out}"))
    failed = [one for one in made if one.how == "failed"]
    if failed:
        sys.stdout.flush()
        raise typer.Exit(Status.FAILED)


def _show(judgements: Sequence[Judgement]) -> None:
    """Print verdicts on what the papers state, on stdout."""
    from airtcp.cli import show
    from airtcp.document import Column, Table

    from airtcp_papers.common.measure import words

    rows = []
    for judged in judgements:
        claim = judged.claim
        ours = "–" if judged.ours is None else words(judged.ours, claim.unit)
        verdict = f"{judged.verdict}: {judged.about}" if judged.about else judged.verdict
        what = f"{claim.quantity} ({claim.where}: {claim.says})"
        bound = f"{claim.states}: {claim.reason}; made with {claim.made_with}"
        rows.append((claim.id, what, bound, ours, verdict))
    names = max((len(row[0]) for row in rows), default=0)
    columns = [Column("claim", least=names)]
    columns += [Column(name, least=16) for name in ("what", "paper", "ours", "verdict")]
    states = [_CLAIM_STATES.get(judged.verdict, "") for judged in judgements]
    show.parts([Table(columns, rows, states, narrow="lines")] if rows else [])


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Progress | None]:
    """Show a progress bar over items with the name of the current one, if stderr is a terminal."""
    with bar(quiet, "", "{task.description}", "bar", "count", "elapsed", total=total) as update:
        yield None if update is None else _Bar(update)


class _Bar:
    """A progress bar over items. Its text shows the simulations of the current item."""

    def __init__(self, update: Callable[..., None]) -> None:
        self._update = update
        self._name = ""
        self._runs = 0
        self._last = 1.0

    def begin(self, item: Item) -> None:
        self._name, self._runs, self._last = item.name, 0, 1.0
        self._update(description=item.name)

    def run(self, fraction: float) -> None:
        if fraction < self._last:
            self._runs += 1
        self._last = fraction
        words = f"{self._name}, simulation {self._runs}: {100 * fraction:3.0f} %"
        self._update(description=words)

    def end(self, item: Item, how: str) -> None:
        self._update(advance=1)
