"""List the items of this room: importing this module registers them."""

from airtcp_papers.leith import convergence as convergence
from airtcp_papers.leith import fairness as fairness
from airtcp_papers.leith import text as text
from airtcp_papers.leith import throughput as throughput
from airtcp_papers.leith import wired as wired
