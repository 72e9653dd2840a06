"""Paper L: Leith and Clifford 2005, uploads that share an access point fairly."""

from airtcp.reproduce.leith import convergence as convergence
from airtcp.reproduce.leith import fairness as fairness
from airtcp.reproduce.leith import text as text
from airtcp.reproduce.leith import throughput as throughput
from airtcp.reproduce.leith import wired as wired
