"""Paper L: Leith and Clifford 2005, uploads that share an access point fairly."""

#: The modules with items.
ITEMS = ("convergence", "fairness", "text", "throughput", "wired")
