"""Results in notebooks: small HTML tables and pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a caption and a table as HTML; all arguments are plain text."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<p>{escape(caption)}</p><table>{f'<tr>{top}</tr>' if top else ''}{body}</table>"


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return rows as a pandas frame. Needs pandas, which airtcp does not require."""
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))
