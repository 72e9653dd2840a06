"""Study a log of requests (sizes, tails, pauses), and write a scenario from it.

    study     quantiles, tail index, fits, think times, and a scenario with them

`airtcp.scenario.requests` reads logs.
"""
