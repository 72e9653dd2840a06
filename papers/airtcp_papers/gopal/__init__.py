"""Reproduce paper G: Gopal, Paul and Raychaudhuri 2004, uploads with omitted TCP ACKs."""

from airtcp_papers.gopal import contention as contention
from airtcp_papers.gopal import further as further
from airtcp_papers.gopal import lengths as lengths
from airtcp_papers.gopal import skipping as skipping
from airtcp_papers.gopal import steady as steady
from airtcp_papers.gopal import text as text
from airtcp_papers.gopal import windows as windows
