"""The contents of a log: sizes, tails, requests of clients, and a scenario of it.

    study     quantiles, tail index, fits, think times
    write     a scenario with the sizes and think times of a log

What is read of a log is `airtcp.scenario.requests`. Simulates nothing.
"""
