"""List the items of this room: importing this module registers them."""

from airtcp_papers.acks import gain as gain
