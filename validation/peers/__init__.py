"""Read the stored results of the real ns-2 and ns-3, and simulate the same points in airtcp.

`references` reads the rows, `ns2` and `ns3` build the scenario of a point under the peer's rules,
`table` compares. Tests check the differences; nothing here judges.
"""
