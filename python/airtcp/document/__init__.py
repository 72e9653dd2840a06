"""An answer as a tree: headings, paragraphs, tables, code, notes, built once and rendered anywhere.

    tree        the parts
    terminal    on a terminal or in a pipe, at any width
    markup      as HTML for reports

The words come from `airtcp.messages`; nothing here knows what an answer is about.
"""

from airtcp.document.tree import Code, Column, Heading, Lines, Note, Part, Table

__all__ = ["Code", "Column", "Heading", "Lines", "Note", "Part", "Table"]
