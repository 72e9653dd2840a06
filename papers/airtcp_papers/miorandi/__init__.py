"""Paper M: Miorandi, Kherani and Altman 2006, downloads and web traffic through one AP."""

#: The modules with items.
ITEMS = (
    "backlog",
    "chains",
    "contention",
    "remarks",
    "remedies",
    "sessions",
    "text",
    "throughput",
    "timer",
)
