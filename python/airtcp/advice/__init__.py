"""Advice: what is wrong in a simulation, and what was tried against it.

    reading       a simulation as its groups feel it
    thresholds    the values beyond which something is a problem, each with its reason
    problems      causes and their signs, in the order in which they are told
    trials        remedies, simulated on the random numbers of the run

Knows simulations and the catalogue of remedies. How advice is told is the business of
`airtcp.present`.
"""
