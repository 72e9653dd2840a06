"""The models that this package adds to `airtcp.predict`: cards and families, by paper.

Nothing is imported before `predict` asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from airtcp.predict.families import Family, Kind, Models, under_dcf

if TYPE_CHECKING:
    from airtcp.predict.card import Card
    from airtcp.scenario import ResolvedScenario


def _cards(folder: str) -> Sequence[Card]:
    from airtcp_papers.common.cards import cards

    return tuple(cards(folder).values())


def _of_l(kind: Kind, _: ResolvedScenario) -> Sequence[Family]:
    if kind != "endless":
        return ()
    from airtcp_papers.leith.predict import best, bottleneck, uploads

    return (
        Family(10, "L, section 5.1", bottleneck.predict),
        Family(20, "L (9)", uploads.predict),
        Family(70, "L (9), best CWmin", best.window, is_setting=True),
    )


def _of_b(kind: Kind, _: ResolvedScenario) -> Sequence[Family]:
    if kind in ("saturated", "cells"):
        return ()
    from airtcp_papers.bruno.predict import best

    star = Family(80, "B (1), m*", best.bursts, is_setting=True)
    if kind != "endless":
        return (star,)
    from airtcp_papers.bruno.predict import bursts, cycles

    return (
        Family(40, "B (8), cycles", bursts.predict),
        Family(50, "paper B", under_dcf(cycles.predict, silent=True)),
        star,
    )


def _of_g(kind: Kind, _: ResolvedScenario) -> Sequence[Family]:
    if kind != "saturated":
        return ()
    from airtcp_papers.gopal.predict import saturated

    return (Family(20, "G (1)", under_dcf(saturated, silent=True)),)


def _of_h(kind: Kind, scenario: ResolvedScenario) -> Sequence[Family]:
    """Return paper H's family, before paper M's (rank 20) if it fits the windows better."""
    if kind not in ("web", "ftp", "once"):
        return ()
    from airtcp_papers.hoekstra import predict

    ask = {"web": predict.web, "ftp": predict.ftp, "once": predict.alone}[kind]
    rank = 15 if predict.fits(scenario) else 25
    return (Family(rank, "paper H", under_dcf(ask, silent=True)),)


def _of_m(kind: Kind, scenario: ResolvedScenario) -> Sequence[Family]:
    if kind == "saturated":
        return ()
    if kind == "cells":  # its equations import SciPy
        from airtcp_papers.miorandi.predict import cells

        return (Family(20, "coupled queues", cells.predict),)
    from airtcp_papers.miorandi.predict import arrivals, downloads, lone, web

    if kind == "endless":
        if idle := downloads.idle_by_timers(scenario):
            return (Family(30, "models of a full air", lambda *_: idle, rules_out=True),)
        return (Family(30, "paper M", under_dcf(downloads.predict)),)
    ask = {"web": web.predict, "ftp": arrivals.predict, "once": lone.predict}[kind]
    return (Family(20, "paper M", under_dcf(ask)),)


BRUNO: Final = Models(partial(_cards, "bruno"), _of_b)
GOPAL: Final = Models(partial(_cards, "gopal"), _of_g)
HOEKSTRA: Final = Models(partial(_cards, "hoekstra"), _of_h, ("models.hoekstra.service_time",))
LEITH: Final = Models(partial(_cards, "leith"), _of_l)
MIORANDI: Final = Models(partial(_cards, "miorandi"), _of_m)
