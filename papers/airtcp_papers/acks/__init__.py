"""Study ACKs: the gain of delayed ACKs from 802.11b to 802.11ax."""

#: The modules with items.
ITEMS = ("gain",)
