"""Gaps between a measurement and a simulation: what would explain them, and how much of them.

    distance      how far a simulation is from a measurement, over all measured metrics
    causes        changes of a scenario that may explain a gap, each of a strength
    explain       causes tried on the random numbers of the run, ranked by what they close

Knows scenarios and simulations. Reads no file of measurements (`airtcp.importer`), and does not
know how an explanation is told (`airtcp.present`).
"""
