"""List the items of this room: importing this module registers them."""

from airtcp_papers.gopal import contention as contention
from airtcp_papers.gopal import further as further
from airtcp_papers.gopal import lengths as lengths
from airtcp_papers.gopal import skipping as skipping
from airtcp_papers.gopal import steady as steady
from airtcp_papers.gopal import text as text
from airtcp_papers.gopal import windows as windows
