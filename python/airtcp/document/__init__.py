"""An answer as a tree of headings, paragraphs, tables, code and notes, rendered anywhere.

    tree        the parts
    terminal    on a terminal or in a pipe, at any width
    page        as HTML for reports

`airtcp.messages` provides the text; this package only renders it.
"""

from airtcp.document.tree import (
    Code,
    Column,
    Heading,
    Items,
    Lines,
    Note,
    Pairs,
    Part,
    Table,
    listing,
)

__all__ = [
    "Code",
    "Column",
    "Heading",
    "Items",
    "Lines",
    "Note",
    "Pairs",
    "Part",
    "Table",
    "listing",
]
