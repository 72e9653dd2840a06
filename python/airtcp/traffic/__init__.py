"""What is in a log: sizes, tails, who asks how often, and a scenario of it.

    study     quantiles, tail index, fits, think times
    write     a scenario with the sizes and think times of a log

What is read of a log is `airtcp.scenario.requests`. Simulates nothing.
"""
