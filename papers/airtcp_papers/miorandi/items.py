"""List the items of this room: importing this module registers them."""

from airtcp_papers.miorandi import backlog as backlog
from airtcp_papers.miorandi import chains as chains
from airtcp_papers.miorandi import contention as contention
from airtcp_papers.miorandi import remarks as remarks
from airtcp_papers.miorandi import remedies as remedies
from airtcp_papers.miorandi import sessions as sessions
from airtcp_papers.miorandi import text as text
from airtcp_papers.miorandi import throughput as throughput
from airtcp_papers.miorandi import timer as timer
