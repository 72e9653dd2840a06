"""What is in a log: sizes, tails, who asks how often, and a scenario of it.

    read      requests in a file
    study     quantiles, tail index, fits, think times
    write     a scenario with the sizes and think times of a log

Knows files of requests; simulates nothing.
"""
