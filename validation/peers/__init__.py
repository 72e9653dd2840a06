"""The stored results of the real ns-2 and ns-3, and the same points in airtcp under their rules.

`references` reads the rows, `ns2` and `ns3` know which scenario a point is, `table` sets theirs and
ours side by side. The tests hold the differences to bounds; nothing here judges.
"""
