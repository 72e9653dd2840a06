"""Reproduce paper G: Gopal, Paul and Raychaudhuri 2004, uploads with omitted TCP ACKs."""

from airtcp.reproduce.gopal import contention as contention
from airtcp.reproduce.gopal import further as further
from airtcp.reproduce.gopal import lengths as lengths
from airtcp.reproduce.gopal import skipping as skipping
from airtcp.reproduce.gopal import steady as steady
from airtcp.reproduce.gopal import text as text
from airtcp.reproduce.gopal import windows as windows
