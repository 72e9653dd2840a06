"""The commands that this package adds to `airtcp`."""

from __future__ import annotations

from typing import Final

from airtcp.extensions import EXPLORE, PAPERS, Verb

from airtcp_papers.common.command import reproduce
from airtcp_papers.common.share_command import share, split

REPRODUCE: Final = Verb("reproduce", reproduce, PAPERS)
SHARE: Final = Verb("share", share, EXPLORE)
SPLIT: Final = Verb("split", split, EXPLORE)
