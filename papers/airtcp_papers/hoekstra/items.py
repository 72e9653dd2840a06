"""List the items of this room: importing this module registers them."""

from airtcp_papers.hoekstra import concurrent as concurrent
from airtcp_papers.hoekstra import lengths as lengths
from airtcp_papers.hoekstra import real as real
from airtcp_papers.hoekstra import sizes as sizes
from airtcp_papers.hoekstra import standards as standards
from airtcp_papers.hoekstra import tables as tables
from airtcp_papers.hoekstra import tails as tails
from airtcp_papers.hoekstra import terms as terms
from airtcp_papers.hoekstra import times as times
