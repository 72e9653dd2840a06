"""Explain gaps between a measurement and a simulation.

    distance      how far a simulation is from a measurement, over all measured metrics
    causes        scenario changes of variable strength that may explain a gap
    explain       tries causes on the run's random numbers and ranks them by the gap they close

`airtcp.importer` reads measurements, and `airtcp.present` prints explanations.
"""
