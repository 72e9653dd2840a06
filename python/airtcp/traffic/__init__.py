"""Study a log of requests (sizes, tails, pauses), and write a scenario from it.

    study     quantiles, tail index, fits, think times
    write     a scenario with the sizes and think times of a log

`airtcp.scenario.requests` reads logs.
"""
