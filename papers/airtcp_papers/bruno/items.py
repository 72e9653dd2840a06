"""List the items of this room: importing this module registers them."""

from airtcp_papers.bruno import bursts as bursts
from airtcp_papers.bruno import cells as cells
from airtcp_papers.bruno import mixed as mixed
from airtcp_papers.bruno import slots as slots
from airtcp_papers.bruno import supply as supply
from airtcp_papers.bruno import text as text
