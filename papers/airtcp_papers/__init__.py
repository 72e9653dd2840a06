"""Reproduce the figures, tables and stated numbers of five papers with airtcp.

A room for each paper, with its items next to the scenario files that they simulate:

- `miorandi`: paper M, downloads and web traffic through one access point
- `bruno`: paper B, a hot spot, and bursts of the access point
- `leith`: paper L, uploads with prioritized TCP ACKs
- `hoekstra`: paper H, file transfers as processor sharing
- `gopal`: paper G, uploads with omitted TCP ACKs
- `acks`: a study of our own, the gain of delayed ACKs

`common` has what they share: items, claims and their verdicts, charts, pages, the commands
`reproduce`, `share` and `split`, and the page's view. airtcp finds the commands and the view by
their entry points; nothing in airtcp imports this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from airtcp_papers.common.sharing import share, split
    from airtcp_papers.common.sharing.cells import share_cells

__all__ = ["share", "share_cells", "split"]

_MODULES: Final = {"share": "sharing", "split": "sharing", "share_cells": "sharing.cells"}


def __getattr__(name: str) -> Any:
    """Import a public function at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"airtcp_papers.common.{_MODULES[name]}"), name)
