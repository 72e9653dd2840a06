"""Paper G: Gopal, Paul and Raychaudhuri 2004, uploads with omitted TCP ACKs."""

#: The modules with items.
ITEMS = ("contention", "further", "lengths", "skipping", "steady", "text", "windows")
