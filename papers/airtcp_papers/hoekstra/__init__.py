"""Paper H: Hoekstra, van der Mei and Diaz-Feraren 2013, processor sharing."""

#: The modules with items.
ITEMS = ("concurrent", "lengths", "real", "sizes", "standards", "tables", "tails", "terms", "times")
