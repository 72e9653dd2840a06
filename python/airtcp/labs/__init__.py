"""Lab sheets of a course: their files, notebooks, and checks of answers.

    sheet      the sheets, their questions, and notebooks of them
    judge      checks answers by simulation

A sheet consists of three files of this package: NAME.md is the text for students, NAME.toml the
scenario, and NAME.questions.toml the questions with the runs that check their answers. No file
contains answers; they follow from the runs.
"""

from __future__ import annotations

__all__ = ["check", "sheets", "write"]

from airtcp.labs.judge import check
from airtcp.labs.sheet import sheets, write
