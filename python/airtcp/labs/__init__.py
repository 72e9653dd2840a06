"""Lab sheets of a course: what there is, its files, and a notebook of each.

    sheet      the sheets of the package and the questions of each
    judge      answers to questions, judged by simulating what they say
    notebook   a sheet as a notebook

A sheet is three files of this package: NAME.md is what students read, NAME.toml the scenario that
it begins with, NAME.questions.toml what is asked and by which runs an answer is judged. No file
has an answer: it comes out of the runs.
"""

from __future__ import annotations

__all__ = ["check", "sheets", "write"]

from airtcp.labs.judge import check
from airtcp.labs.sheet import sheets, write
