"""Paper M: Miorandi, Kherani and Altman 2006, downloads and web traffic through one AP."""

from airtcp.reproduce.miorandi import backlog as backlog
from airtcp.reproduce.miorandi import chains as chains
from airtcp.reproduce.miorandi import contention as contention
from airtcp.reproduce.miorandi import remarks as remarks
from airtcp.reproduce.miorandi import remedies as remedies
from airtcp.reproduce.miorandi import sessions as sessions
from airtcp.reproduce.miorandi import text as text
from airtcp.reproduce.miorandi import throughput as throughput
from airtcp.reproduce.miorandi import timer as timer
